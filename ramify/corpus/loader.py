"""Loader: batches built ahead of the model by threads, in the order of the schedule."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ramify.corpus.batch import build_batch
from ramify.corpus.corpus import Corpus
from ramify.corpus.schedule import EpochPlan, Schedule
from ramify.corpus.structure import Array
from ramify.errors import CallError

LARGEST_WEIGHT = 1000  # an epoch's sentences are listed one by one
Build = Callable[[Corpus, Array], Any]  # build_batch, or build_sequence_batch for models that read no trees


@dataclass(frozen=True)
class Loader:
    """The batches of some sentences of a corpus: its training part when none are named.

    `threads=0` builds each batch when it is asked for. To go on where a training run stood, start an epoch at the
    position it had reached.
    """

    corpus: Corpus
    schedule: Schedule = field(default_factory=Schedule)
    sentences: Array | None = None
    threads: int = 1
    ahead: int = 8  # batches that wait, built, for the model
    build: Build = build_batch

    def plan(self, epoch: int = 0) -> EpochPlan:
        chosen = self.corpus.training if self.sentences is None else self.sentences
        return self.schedule.epoch(self.corpus, chosen, epoch)

    def epoch(self, epoch: int = 0, start: int = 0) -> Iterator[Any]:
        """The batches of an epoch from position `start` on."""
        plan = self.plan(epoch)
        jobs = [(self.corpus, plan[position]) for position in _from(start, len(plan))]
        yield from _built_ahead(self.build, jobs, self.threads, self.ahead)


@dataclass(frozen=True)
class Mixture:
    """The training parts of several corpora in one stream of batches, each of one corpus; the vocabulary is shared.

    In an epoch a corpus of weight 2 comes twice, one of weight 0.5 with half of its sentences, drawn anew each time.
    """

    corpora: Sequence[Corpus]
    weights: Sequence[float]
    schedule: Schedule = field(default_factory=Schedule)
    threads: int = 1
    ahead: int = 8
    build: Build = build_batch

    def __post_init__(self) -> None:
        within = all(0 < weight <= LARGEST_WEIGHT for weight in self.weights)
        if not self.corpora or len(self.weights) != len(self.corpora) or not within:
            raise CallError(
                f"{len(self.corpora)} corpora need as many weights, above 0 and at most {LARGEST_WEIGHT}, "
                f"not {list(self.weights)}"
            )
        if any(corpus.vocabulary != self.corpora[0].vocabulary for corpus in self.corpora[1:]):
            raise CallError("corpora in one training need one vocabulary: encode them with --vocabulary of the first")
        both = zip(self.weights, self.corpora, strict=True)
        if not any(round(weight * len(corpus.training)) for weight, corpus in both):
            raise CallError(f"weights of {list(self.weights)} leave no sentence to train on")

    def plan(self, epoch: int = 0) -> list[tuple[Corpus, Array]]:
        jobs = []
        random = np.random.default_rng([self.schedule.seed, epoch, len(self.corpora)])
        for corpus, weight in zip(self.corpora, self.weights, strict=True):
            sentences = corpus.training
            times, part = divmod(weight, 1.0)
            drawn = random.choice(sentences, round(part * len(sentences)), replace=False)
            plan = self.schedule.epoch(corpus, np.concatenate([*[sentences] * int(times), drawn]), epoch)
            jobs += [(corpus, plan[position]) for position in range(len(plan))]
        return [jobs[i] for i in random.permutation(len(jobs))]

    def epoch(self, epoch: int = 0, start: int = 0) -> Iterator[Any]:
        """The batches of an epoch from position `start` on."""
        jobs = self.plan(epoch)
        yield from _built_ahead(self.build, [jobs[i] for i in _from(start, len(jobs))], self.threads, self.ahead)


def _from(start: int, n: int) -> range:
    if not 0 <= start <= n:  # the run that stood there had other sentences or another schedule
        raise CallError(f"cannot start at batch {start} of an epoch of {n} batches")
    return range(start, n)


def _built_ahead(build: Build, jobs: Sequence[tuple[Corpus, Array]], threads: int, ahead: int) -> Iterator[Any]:
    """The batches of all jobs in their order, some of them ready before they are asked for."""
    if not threads:
        for corpus, sentences in jobs:
            yield build(corpus, sentences)
        return
    waiting: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ramify-batches")
    try:
        for corpus, sentences in jobs:
            waiting.append(pool.submit(build, corpus, sentences))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # also when the model stops early
        pool.shutdown(wait=False, cancel_futures=True)
