"""Decoders on scores of the lengths of EWT test: sentences a second, first and second order, one tree and many.

The scores are random, and given: what a parser needs to make them is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from bench.common import heading
from ramify.benchmark.timing import median_seconds
from ramify.formats import read_sentences
from ramify.parsing.decode import decode


def main() -> None:
    heading("numpy", "numba")
    lengths = [len(sentence.tree) for sentence in read_sentences("ewt:test")]
    print(
        f"data: random scores for {len(lengths):,} sentences of {np.mean(lengths):.1f} words, {max(lengths)} at most\n"
    )
    random = np.random.default_rng(1)
    jobs: dict[str, Callable[[], object]] = {}
    for order in (1, 2):
        scores = [random.standard_normal((n + 1,) * (order + 1), np.float32) for n in lengths]
        for k in (1, 20, 100):
            jobs |= {f"{order} {k} {threads}": partial(decode, scores, k, threads) for threads in (1, 2)}
    print(f"{'order':>5}{'trees':>7}{'threads':>9}{'sentences/s':>14}")
    for name, seconds in median_seconds(jobs).items():
        order_of, k_of, threads_of = name.split()
        print(f"{order_of:>5}{k_of:>7}{threads_of:>9}{len(lengths) / seconds:>14,.0f}")


if __name__ == "__main__":
    main()
