"""Encode: trees to a corpus. Files are read side by side, then one vocabulary is made and every word renumbered."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import numpy as np

from ramify.corpus.corpus import Corpus, depths_of, smallest_unsigned
from ramify.corpus.shard import Reading, Shard, read_shard, shard_of
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import ROOT_WORD, UNK_WORD, Vocabulary
from ramify.errors import CallError, RamifyError
from ramify.formats.files import STDIN, Progress, size_on_disk
from ramify.trees import Tree

NAMED = 100  # skipped sentences that a corpus remembers by name; the rest is counted

Allocate = Callable[[str, "np.dtype[Any]", int], Array]  # an array for a column: in memory, or a file of a store


@dataclass(frozen=True)
class Encoding(Reading):
    """What becomes of words and sentences on their way into a corpus, from the reading of the files on."""

    min_count: int = 1  # words that occur no more often than this become UNK (the paper: 5 for MSR, 1 for PTB)
    max_vocabulary: int | None = None  # the size of the vocabulary at most, UNK and ROOT included
    vocabulary: Vocabulary | None = None  # a given vocabulary, in place of one made from these files
    hold_out: int = 0  # sentences drawn at random that training leaves alone
    seed: int = 1  # of that draw

    def __post_init__(self) -> None:
        if self.max_vocabulary is not None and self.max_vocabulary < 2:
            raise CallError(f"a vocabulary holds UNK and ROOT at least: {self.max_vocabulary} words are too few")
        if self.seed < 0:
            raise CallError(f"a seed is 0 or more, not {self.seed}")


def encode(
    sources: Sequence[str | Path],
    encoding: Encoding | None = None,
    *,
    processes: int = 1,
    progress: Progress | None = None,
    allocate: Allocate | None = None,
) -> Corpus:
    """Encode treebank files. `progress` hears of bytes read; `allocate` decides where the arrays live."""
    encoding = _with_vocabulary_case(encoding or Encoding())
    with contextlib.ExitStack() as stack:
        if min(processes, len(sources)) > 1 and STDIN not in map(str, sources):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ramify-")))
            shards = _read_in_processes(sources, encoding, processes, progress, folder)
        else:
            shards = [read_shard(source, encoding, progress) for source in sources]
        return _join(shards, encoding, allocate or _in_memory)


def encode_trees(trees: Iterable[Tree], encoding: Encoding | None = None) -> Corpus:
    """Encode trees that are already at hand."""
    encoding = _with_vocabulary_case(encoding or Encoding())
    return _join([shard_of(trees, encoding)], encoding, _in_memory)


def _with_vocabulary_case(encoding: Encoding) -> Encoding:
    if encoding.vocabulary is None:
        return encoding
    return replace(encoding, lowercase=encoding.vocabulary.lowercase)


def _in_memory(name: str, dtype: np.dtype[Any], size: int) -> Array:
    return np.empty(size, dtype)


# --- joining ---------------------------------------------------------------------------------------------------------


def _join(shards: list[Shard], encoding: Encoding, allocate: Allocate) -> Corpus:
    counts = _counts(shards)
    vocabulary = encoding.vocabulary or _vocabulary(counts, shards, encoding)
    if not any(len(shard.lengths) for shard in shards):
        raise CallError("there is no sentence to encode: all were left out or skipped")
    lengths = np.concatenate([shard.lengths for shard in shards])
    n_words, longest = int(lengths.sum()), int(lengths.max())
    columns = {
        "words": allocate("words", smallest_unsigned(len(vocabulary) - 1), n_words),
        "heads": allocate("heads", smallest_unsigned(longest), n_words),
        "labels": allocate("labels", smallest_unsigned(len(vocabulary.labels) - 1), n_words),
        "lengths": allocate("lengths", smallest_unsigned(longest), len(lengths)),
    }
    columns["lengths"][:] = lengths
    depths = []
    start = 0
    for shard in shards:
        here = slice(start, start + len(shard.words))
        word_ids = np.array(vocabulary.ids(shard.word_list), columns["words"].dtype)
        label_ids = [vocabulary.label_index.get(label, 0) for label in shard.label_list]
        columns["words"][here] = word_ids[shard.words]
        columns["heads"][here] = shard.heads
        columns["labels"][here] = np.array(label_ids, columns["labels"].dtype)[shard.labels]
        depths.append(depths_of(shard.heads, shard.lengths))
        start = here.stop
    deepest = np.concatenate(depths)
    columns["depths"] = allocate("depths", smallest_unsigned(int(deepest.max())), len(deepest))
    columns["depths"][:] = deepest
    held_out = draw(len(lengths), encoding.hold_out, encoding.seed)
    columns["held_out"] = allocate("held_out", held_out.dtype, len(held_out))
    columns["held_out"][:] = held_out
    return Corpus(vocabulary, **columns, about=_about(shards, counts, encoding))


def _counts(shards: list[Shard]) -> dict[str, int]:
    """How often each word occurs, in the order in which words first occur over all files."""
    counts: dict[str, int] = {}
    for shard in shards:
        for word, count in zip(shard.word_list, shard.counts.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
    return counts


def _vocabulary(counts: dict[str, int], shards: list[Shard], encoding: Encoding) -> Vocabulary:
    labels = dict.fromkeys(label for shard in shards for label in shard.label_list)
    return Vocabulary.from_counts(
        counts,
        sum(shard.sentences_read for shard in shards),
        labels=list(labels),
        lowercase=encoding.lowercase,
        min_count=encoding.min_count,
        max_size=encoding.max_vocabulary,
    )


def draw(sentences: int, number: int, seed: int) -> Array:
    if not 0 <= number < sentences:
        raise CallError(f"cannot hold out {number} of {sentences} sentences: some must remain for training")
    if seed < 0:
        raise CallError(f"a seed is 0 or more, not {seed}")
    chosen = np.random.default_rng(seed).choice(sentences, number, replace=False)
    return np.sort(chosen).astype(np.int32)


def _about(shards: list[Shard], counts: dict[str, int], encoding: Encoding) -> dict[str, Any]:
    return {
        "sources": [
            {"name": shard.name, "sentences": len(shard.lengths), "words": len(shard.words)} for shard in shards
        ],
        "options": {
            "lowercase": encoding.lowercase,
            "min_count": encoding.min_count,
            "max_vocabulary": encoding.max_vocabulary,
            "max_length": encoding.max_length,
            "nonprojective": str(encoding.nonprojective),
            "hold_out": encoding.hold_out,
            "seed": encoding.seed,
            "given_vocabulary": encoding.vocabulary is not None,
        },
        "left_out": {
            "too_long": sum(shard.too_long for shard in shards),
            "malformed": sum(len(shard.errors) for shard in shards),
            "nonprojective": sum(shard.nonprojective for shard in shards) if encoding.nonprojective == "skip" else 0,
        },
        "lifted": sum(shard.nonprojective for shard in shards) if encoding.nonprojective == "lift" else 0,
        "multi_root": sum(shard.multi_root for shard in shards),
        "types": len(counts),
        "frequent": len({UNK_WORD, ROOT_WORD, *(word for word, n in counts.items() if n > encoding.min_count)}),
        "errors": [str(error) for shard in shards for error in shard.errors][:NAMED],
    }


# --- several processes -----------------------------------------------------------------------------------------------

_bytes_read: Synchronized[int]  # in a worker: how much all of them have read


def _read_in_processes(
    sources: Sequence[str | Path], reading: Reading, processes: int, progress: Progress | None, folder: Path
) -> list[Shard]:
    """The shards of all files, in their order. Large arrays come back as files, mapped into memory."""
    context = multiprocessing.get_context("spawn")  # fork is not safe beside the threads of numba and torch
    done = context.Value("q", 0)
    told = 0
    with ProcessPoolExecutor(processes, context, _start_worker, (done,)) as pool:
        try:
            largest_first = sorted(range(len(sources)), key=lambda i: -size_on_disk(sources[i]))
            futures: dict[int, Future[Shard]] = {
                i: pool.submit(_read_to_folder, sources[i], reading, folder / str(i)) for i in largest_first
            }
            waiting: set[Future[Shard]] = set(futures.values())
            while waiting:
                finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()  # a malformed file ends the reading of all
                if progress:
                    now = done.value
                    progress(now - told)
                    told = now
        except BaseException as error:
            workers = list(pool._processes.values())
            for worker in workers:
                worker.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.join()  # the folder they write into is about to go
            if isinstance(error, BrokenProcessPool):
                raise RamifyError(
                    "a process that read files was killed, perhaps for memory: use fewer --processes"
                ) from error
            raise
    return [_mapped(futures[i].result(), folder / str(i)) for i in range(len(sources))]


def _start_worker(done: Synchronized[int]) -> None:
    global _bytes_read
    _bytes_read = done
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle


_LARGE = ("words", "heads", "labels", "lengths")


def _read_to_folder(source: str | Path, reading: Reading, folder: Path) -> Shard:
    def tell(n: int) -> None:
        with _bytes_read.get_lock():
            _bytes_read.value += n

    shard = read_shard(source, reading, tell)
    folder.mkdir()
    for column in _LARGE:
        np.save(folder / f"{column}.npy", getattr(shard, column))
        setattr(shard, column, np.empty(0, np.int32))
    return shard


def _mapped(shard: Shard, folder: Path) -> Shard:
    for column in _LARGE:
        array = np.load(folder / f"{column}.npy", mmap_mode="r" if column != "lengths" else None)
        setattr(shard, column, array)
    return shard
