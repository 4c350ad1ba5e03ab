"""Paired comparisons: McNemar's exact test, a permutation test, and bootstrap intervals; all of them seeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.corpus.structure import Array

ROUNDS = 10_000
_DRAWS = 200_000_000  # in all: beyond 20,000 values there are fewer rounds, or else millions would take hours
_AT_ONCE = 5_000_000


@dataclass(frozen=True)
class McNemar:
    """Two systems on the same questions."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @classmethod
    def of(cls, a: Array, b: Array) -> McNemar:
        """From the questions that each has right."""
        return cls(*(int(each.sum()) for each in (a & b, a & ~b, ~a & b, ~a & ~b)))

    @property
    def p(self) -> float:
        """Exact, two-sided: where they differ, each is as likely to be the one that is right."""
        n = self.only_a + self.only_b
        term, tail = 1, 0
        for i in range(min(self.only_a, self.only_b) + 1):
            tail += term
            term = term * (n - i) // (i + 1)
        return float(min(1.0, 2 * tail / 2**n))

    def to_json(self) -> dict[str, Any]:
        return {
            "both_right": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "both_wrong": self.neither,
            "p": self.p,
        }


def bootstrap(values: Array, sizes: Array | None = None, *, seed: int = 1, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of the sum of values over the sum of sizes; of their mean where no sizes are given."""
    values = np.asarray(values, np.float64)
    sizes = np.ones(len(values)) if sizes is None else np.asarray(sizes, np.float64)
    random = np.random.default_rng(seed)
    found = []
    for rounds in _rounds(len(values)):
        drawn = random.integers(len(values), size=(rounds, len(values)))
        found.append(values[drawn].sum(1) / sizes[drawn].sum(1))
    low, high = np.quantile(np.concatenate(found), [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def resampled_sums(table: Array, *, seed: int = 1) -> Array:
    """The sums of a table's columns over rows that are drawn with replacement, in each round as many as there are
    [rounds, columns]. Sums of one round are of the same rows, so they can be compared with each other."""
    n = len(table)
    random = np.random.default_rng(seed)
    found = []
    for rounds in _rounds(n):
        drawn = random.integers(n, size=(rounds, n)) + n * np.arange(rounds)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n)
        found.append(times.astype(np.float64) @ table)
    return np.concatenate(found)


def permutation_p(differences: Array, *, seed: int = 1) -> float:
    """How often the sum of differences is as far from 0 as it is when each of them may as well have the other sign."""
    differences = np.asarray(differences, np.float64)
    random = np.random.default_rng(seed)
    observed = abs(differences.sum())
    slack = 1e-9 * np.abs(differences).sum()  # sums of the same numbers in another order are equal
    as_far = total = 0
    for rounds in _rounds(len(differences)):
        signs = random.integers(0, 2, (rounds, len(differences)), np.int8) * 2 - 1
        as_far += int((np.abs(signs @ differences) >= observed - slack).sum())
        total += rounds
    return (as_far + 1) / (total + 1)


def _rounds(n: int) -> list[int]:
    """So many rounds, in portions that fit the memory."""
    left = max(200, min(ROUNDS, _DRAWS // n))
    portion = max(1, _AT_ONCE // n)
    whole, rest = divmod(left, portion)
    return [portion] * whole + [rest] * (rest > 0)
