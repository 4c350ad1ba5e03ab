"""Batches ahead of the model: the same ones with threads and without."""

import gc
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from corpus_twins import assert_same_batch, corpus_of, random_tree

from ramify.corpus import Batch, Corpus, Loader, Schedule, build_batch
from ramify.corpus.structure import Array
from ramify.errors import CallError

RANDOM = np.random.default_rng(2)
CORPUS = corpus_of([random_tree(RANDOM, int(n)) for n in RANDOM.integers(1, 25, 400)], hold_out=33)
SCHEDULE = Schedule(batch_size=9, window=4, seed=3)


def assert_same_batches(found: Iterator[Batch], expected: list[Batch]) -> None:
    batches = list(found)
    assert len(batches) == len(expected)
    for ours, theirs in zip(batches, expected, strict=True):
        assert_same_batch(ours, theirs)


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    yield
    gc.collect()
    until = time.monotonic() + 5
    while threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert not threads()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("ramify")]


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("ahead", [0, 1, 8, 1000])
def test_the_batches_of_the_plan(threads: int, ahead: int) -> None:
    loader = Loader(CORPUS, SCHEDULE, threads=threads, ahead=ahead)
    for epoch in (0, 1):
        plan = SCHEDULE.epoch(CORPUS, CORPUS.training, epoch)
        assert_same_batches(loader.epoch(epoch), [build_batch(CORPUS, plan[at]) for at in range(len(plan))])


def test_training_part_when_none_is_named() -> None:
    found = sorted(int(i) for batch in Loader(CORPUS, SCHEDULE).epoch() for i in batch.sentences)
    assert found == CORPUS.training.tolist()
    assert len(found) == 400 - 33
    loader = Loader(CORPUS, SCHEDULE, CORPUS.held_out)
    assert sorted(int(i) for batch in loader.epoch() for i in batch.sentences) == CORPUS.held_out.tolist()


def test_the_default_loader_has_the_default_schedule() -> None:
    loader = Loader(CORPUS)
    assert [len(batch) for batch in loader.epoch()] == [len(sentences) for sentences in loader.plan()]  # type: ignore[attr-defined]
    assert {len(batch) for batch in loader.epoch()} == {64, 400 - 33 - 5 * 64}


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_going_on_where_a_run_stood(threads: int) -> None:
    whole = list(Loader(CORPUS, SCHEDULE, threads=0).epoch(5))
    loader = Loader(CORPUS, SCHEDULE, threads=threads)
    for position in (0, 1, 7, len(whole) - 1, len(whole)):
        assert_same_batches(loader.epoch(5, position), whole[position:])


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("position", [-1, 42, 1000])
def test_a_position_outside_the_epoch(threads: int, position: int) -> None:
    """It comes from other options than those of the run that goes on: to say nothing would skip or repeat batches."""
    loader = Loader(CORPUS, SCHEDULE, threads=threads)
    assert len(loader.plan()) == 41
    with pytest.raises(CallError, match=f"{position} .*41"):
        next(loader.epoch(0, position))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_ranks(rank: int) -> None:
    """Each process builds as many batches as the others, empty ones if need be."""
    schedule = Schedule(batch_size=2, rank=rank, world=3)
    batches = list(Loader(CORPUS, schedule, np.arange(9), threads=2).epoch())
    assert len(batches) == 5
    assert sum(map(len, batches)) == {0: 5, 1: 4, 2: 0}[rank]


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_nothing_to_load(threads: int) -> None:
    assert list(Loader(CORPUS, SCHEDULE, np.empty(0, np.int32), threads=threads).epoch()) == []


@pytest.mark.parametrize("count", [1, 3])
def test_stopping_early_leaves_no_threads(count: int) -> None:
    batches = Loader(CORPUS, SCHEDULE, threads=count, ahead=3).epoch()
    next(batches)
    next(batches)
    assert threads()
    batches.close()  # type: ignore[attr-defined]
    with pytest.raises(StopIteration):
        next(batches)


def test_a_loop_that_breaks_leaves_no_threads() -> None:
    for batch in Loader(CORPUS, SCHEDULE, threads=2).epoch():
        assert len(batch)
        break


def test_an_iterator_that_never_ran_has_no_threads() -> None:
    batches = Loader(CORPUS, SCHEDULE, threads=2).epoch()
    assert not threads()
    del batches


def test_batches_are_built_ahead_but_not_all() -> None:
    built = []

    def building(corpus: Corpus, sentences: Array) -> Batch:
        built.append(len(sentences))
        return build_batch(corpus, sentences)

    batches = Loader(CORPUS, SCHEDULE, threads=2, ahead=5, build=building).epoch()
    next(batches)
    until = time.monotonic() + 5
    while len(built) < 6 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(built) == 6  # the one that was taken, and five that wait
    batches.close()  # type: ignore[attr-defined]


def test_stopping_early_drops_what_was_not_begun() -> None:
    begun, go_on = [], threading.Event()

    def building(corpus: Corpus, sentences: Array) -> Batch:
        begun.append(len(sentences))
        assert len(begun) == 1 or go_on.wait(10)
        return build_batch(corpus, sentences)

    batches = Loader(CORPUS, SCHEDULE, threads=1, ahead=20, build=building).epoch()
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    go_on.set()
    until = time.monotonic() + 5
    while threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert len(begun) <= 2  # the one that was taken and the one in the making


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_errors_of_the_builder_surface_in_their_place(threads: int) -> None:
    fails = set(SCHEDULE.epoch(CORPUS, CORPUS.training)[4].tolist())

    def building(corpus: Corpus, sentences: Array) -> Batch:
        if fails & set(sentences.tolist()):
            raise RuntimeError("the disk is gone")
        return build_batch(corpus, sentences)

    batches = Loader(CORPUS, SCHEDULE, threads=threads, build=building).epoch()
    for _ in range(4):
        next(batches)
    with pytest.raises(RuntimeError, match="the disk is gone"):
        next(batches)


def test_a_sentence_that_the_corpus_does_not_have() -> None:
    with pytest.raises(IndexError):
        list(Loader(CORPUS, SCHEDULE, np.array([0, 400])).epoch())
