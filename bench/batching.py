"""Batch building: words a second of the builder alone on one core, and through the loader's threads.

Without arguments on the bundled EWT; `python -m bench.batching STORE` measures any store.
"""

from __future__ import annotations

import sys
import time
from itertools import islice

from bench.common import heading
from ramify.corpus import Corpus, Encoding, Loader, Schedule, build_batch, encode, open_store

WORDS = 8_000_000  # about as many for each row of the table


def main() -> None:
    heading("numpy", "numba")
    corpus = open_store(sys.argv[1]) if sys.argv[1:] else encode(["ewt:train"], Encoding())
    start = time.perf_counter()
    plan = Schedule().epoch(corpus, corpus.training)
    print(f"data: {len(corpus):,} sentences, {corpus.n_words:,} words")
    print(f"the order of one epoch ({len(plan):,} batches of 64): {time.perf_counter() - start:.2f} s\n")
    build_batch(corpus, plan[0])  # compile before the clock runs
    print(f"{'':>10}{'':>8}{'levels':>8}{'':>3}{'million words/s':^48}")
    print(f"{'sentences':>10}{'words':>8}{'sorted':>8}{'random':>8}{'builder':>12}{'1 thread':>12}{'2 threads':>12}")
    for size in (64, 256, 1024):
        sorted_in_windows, random = Schedule(batch_size=size), Schedule(batch_size=size, window=1)
        words, levels, rate = build_alone(corpus, sorted_in_windows)
        _, random_levels, _ = build_alone(corpus, random, most=WORDS // 8)
        threads = "".join(f"{through_loader(corpus, sorted_in_windows, n) / 1e6:>12.1f}" for n in (1, 2))
        print(f"{size:>10}{words:>8.0f}{levels:>8.1f}{random_levels:>8.1f}{rate / 1e6:>12.1f}{threads}")


def build_alone(corpus: Corpus, schedule: Schedule, most: int = WORDS) -> tuple[float, float, float]:
    """Mean words and levels of a batch, and words a second, without threads."""
    words, levels, batches, epoch, seconds = 0, 0, 0, 0, 0.0
    while words < most:
        plan = schedule.epoch(corpus, corpus.training, epoch)
        chosen = [plan[i] for i in range(len(plan))]
        start = time.perf_counter()
        for sentences in chosen:
            batch = build_batch(corpus, sentences)
            words += batch.n_words
            levels += batch.n_levels
            batches += 1
            if words >= most:
                break
        seconds += time.perf_counter() - start
        epoch += 1
    return words / batches, levels / batches, words / seconds


def through_loader(corpus: Corpus, schedule: Schedule, threads: int) -> float:
    """Words a second as a training loop would get them, planning of the epoch not counted."""
    loader = Loader(corpus, schedule, threads=threads)
    words, epoch, seconds = 0, 0, 0.0
    while words < WORDS:
        batches = loader.epoch(epoch)
        next(batches)
        start = time.perf_counter()
        words += sum(batch.n_words for batch in islice(batches, WORDS // 20 // schedule.batch_size))
        seconds += time.perf_counter() - start
        batches.close()
        epoch += 1
    return words / seconds


if __name__ == "__main__":
    main()
