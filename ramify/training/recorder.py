"""Recorder: on a GPU, training steps are recorded once for each size of batch, and run again as a single launch.

A step is some hundred small launches, and a host needs longer for those than a GPU for their work. A recorded step (a
CUDA graph) reads its batch from one place in memory, with room for all batches of about that size.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ramify.corpus import Corpus
from ramify.corpus.structure import Array
from ramify.kernels.inputs import Inputs
from ramify.kernels.products import aligned
from ramify.kernels.rows import Room
from ramify.kernels.tiles import MOST_LEVELS
from ramify.model.language_model import LanguageModel

SIZES_PER_OCTAVE = 32  # between a number of rows and twice as many
FEWEST = 32  # rows from one size to the next
SLACK, MARGIN = 1.12, 64  # a set may be larger than its share by this factor, and by so many rows
TRIES = 4  # sizes, until all sets of a batch fit
MOST = 128  # recordings
SAMPLE = 8192  # sentences, from which the shares are known,
GROUPS = 12  # groups of like length


class Rooms:
    """Which sizes there are: rows in steps of some hundredths, and for each set its usual share of them.

    The shares depend on how long sentences are: in short ones, more words are those that ROOT leads to.
    """

    def __init__(self, model: LanguageModel, corpus: Corpus) -> None:
        sample = corpus.training[:: max(1, len(corpus.training) // SAMPLE)]
        by_length = sample[np.argsort(corpus.lengths[sample], kind="stable")]
        groups = [group for group in np.array_split(by_length, GROUPS) if len(group)]
        sizes = [model.sizes(model.build(corpus, group)) for group in groups]
        self.lengths = [each[0].sum() / len(group) for each, group in zip(sizes, groups, strict=True)]
        self.shares = [np.stack([one / first.sum() for first, one in pairs]) for pairs in _paired(sizes)]  # [G, Z] each

    def fit(self, sizes: Sequence[Array], sentences: int) -> tuple[Room, ...] | None:
        """The smallest in which all sets have room; None if there is none."""
        n = int(sizes[0].sum())
        if not n:
            return None
        step = max(FEWEST, (1 << n.bit_length() - 1) // SIZES_PER_OCTAVE)
        least = -(-n // step)
        for times in range(least, least + TRIES):
            rooms = self._of(times * step, sentences)
            if all((each <= room.sets).all() for each, room in zip(sizes, rooms, strict=True)):
                return rooms
        return None

    def _of(self, rows: int, sentences: int) -> tuple[Room, ...]:
        length = rows / sentences
        found = [[np.interp(length, self.lengths, share) for share in shares.T] for shares in self.shares]
        sets = [tuple(aligned(int(np.ceil(rows * SLACK * share))) + MARGIN for share in each) for each in found]
        first = sets[0] if len(sets[0]) > 1 else (rows,)
        return Room(rows, first), *(Room(sum(each), each) for each in sets[1:])


def _paired(sizes: list[list[Array]]) -> list[list[tuple[Array, Array]]]:
    """For each recurrence, group by group: the sizes of the first one, and its own."""
    return [[(group[0], group[k]) for group in sizes] for k in range(len(sizes[0]))]


@dataclass(frozen=True)
class Recording:
    """A step for one size."""

    graph: torch.cuda.CUDAGraph
    batch: Tensor  # where it reads
    values: Tensor  # where it writes


class Recorder:
    """Takes steps: the first of a size as it is, the second while recording it, and all others from the recording."""

    def __init__(self, model: LanguageModel, learn: Callable[[Any], Tensor], corpus: Corpus) -> None:
        self.model = model
        self.learn = learn
        self.rooms = Rooms(model, corpus)
        self.device = model.embedding.device
        self.recordings: dict[tuple[Room, ...], Recording | None] = {}
        self.most = MOST
        self.pool = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream(self.device)  # one, or else recordings would not share memory

    def __call__(self, batch: Any) -> Tensor:
        rooms = self.rooms.fit(self.model.sizes(batch), len(batch))
        if rooms is None:
            return self.learn(batch)
        inputs = self.model.inputs(batch, rooms)
        if any(rows.n_levels > MOST_LEVELS for rows in inputs.rows):
            return self.learn(batch)
        inputs = inputs.tiled()
        packed = inputs.packed()
        if rooms not in self.recordings:
            if len(self.recordings) < self.most:
                self.recordings[rooms] = None
            return self.learn(inputs.unpacked(packed.to(self.device, non_blocking=True)))
        recording = self.recordings[rooms]
        if recording is None:
            try:
                recording = self.recordings[rooms] = self._record(inputs, packed)
            except torch.OutOfMemoryError:  # for one recording more, and not for a step
                self.most = 0
                del self.recordings[rooms]
                self.model.zero_grad(set_to_none=True)
                if self.model.kept is not None:
                    self.model.kept.taken()
                torch.cuda.empty_cache()
                return self.learn(batch)
        recording.batch.copy_(packed, non_blocking=True)
        recording.graph.replay()
        return recording.values.clone()

    def _record(self, inputs: Inputs, packed: Tensor) -> Recording:
        """Nothing is computed yet. All recordings share their memory: they never run at the same time."""
        batch = packed.to(self.device)
        graph, here = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self.device)
        free, total = torch.cuda.mem_get_info(self.device)
        if free < total // 8:
            torch.cuda.empty_cache()  # during a recording nothing is given back
        self.stream.wait_stream(here)
        collecting = gc.isenabled()
        gc.disable()  # what it frees might wait for the GPU, which a recording does not allow
        try:
            with torch.cuda.stream(self.stream):
                graph.capture_begin(self.pool, capture_error_mode="thread_local")
                try:
                    values = self.learn(inputs.unpacked(batch))
                except BaseException:
                    with suppress(RuntimeError):  # it would hide the reason
                        graph.capture_end()
                    raise
                graph.capture_end()
        finally:
            if collecting:
                gc.enable()
        here.wait_stream(self.stream)
        return Recording(graph, batch, values)
