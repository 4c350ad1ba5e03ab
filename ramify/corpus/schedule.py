"""Schedule: which sentences come together in a batch, epoch by epoch.

Sentences are shuffled, then sorted by length and depth inside windows of some batches, so that the sentences of a
batch are alike (half the levels, little waste) while batches stay random. The same seed gives the same batches,
whatever the number of threads or processes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.corpus import Corpus
from ramify.corpus.structure import Array
from ramify.errors import CallError


@dataclass(frozen=True)
class Schedule:
    """How batches are cut. `batch_words` cuts by words in place of sentences."""

    batch_size: int = 64  # sentences, over all processes
    batch_words: int | None = None  # words at most; a longer sentence is a batch of its own
    window: int = 20  # batches that are sorted together
    shuffle: bool = True
    seed: int = 1
    rank: int = 0  # this process of `world`: each takes its share of every batch
    world: int = 1

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.window < 1 or (self.batch_words is not None and self.batch_words < 1):
            raise CallError("batches and windows hold at least one sentence or word")
        if self.seed < 0:
            raise CallError(f"a seed is 0 or more, not {self.seed}")
        if not 0 <= self.rank < self.world:
            raise CallError(f"rank {self.rank} is not one of {self.world} processes")

    def epoch(self, corpus: Corpus, sentences: Array, epoch: int = 0) -> EpochPlan:
        """The batches of one pass over these sentences of a corpus."""
        order = np.asarray(sentences, np.int32)
        random = np.random.default_rng([self.seed, epoch])
        if self.shuffle:
            order = random.permutation(order)
        size = self.batch_size
        if self.batch_words is not None and len(order):
            size = max(1, round(self.batch_words / float(corpus.lengths[order].mean())))
        window = np.arange(len(order)) // (size * self.window)
        by = np.lexsort((corpus.depths[order], corpus.lengths[order], window))  # the last key is the first
        order = order[by]
        if self.batch_words is None:
            cuts = np.append(np.arange(0, len(order), size), len(order))
        else:
            cuts = _cut_by_words(corpus.lengths[order], self.batch_words)
        batches = np.arange(len(cuts) - 1)
        if self.shuffle:
            random.shuffle(batches)
        return EpochPlan(order, cuts, batches, self.rank, self.world)


@dataclass(frozen=True, eq=False)
class EpochPlan:
    """The batches of an epoch as slices of one order of sentences."""

    order: Array
    cuts: Array
    batches: Array
    rank: int
    world: int

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, position: int) -> Array:
        """The sentences of the batch at a position, as far as they are this process's share."""
        batch = self.batches[position]
        whole: Array = self.order[self.cuts[batch] : self.cuts[batch + 1]]
        return whole[self.rank :: self.world]


@compiled
def _cut_by_words(lengths: Array, most: int) -> Array:
    cuts = np.zeros(len(lengths) + 1, np.int64)
    n, words = 0, 0
    for i, length in enumerate(lengths):
        if words and words + length > most:
            n += 1
            cuts[n] = i
            words = 0
        words += length
    if len(lengths):
        n += 1
        cuts[n] = len(lengths)
    return cuts[: n + 1]
