"""The rule by which a candidate is chosen, and how its two numbers are found on trees that are known.

Among the first K candidates the highest (1 - a) log P_base + a log P_tree wins, and of equals the first. With a = 1
that is the paper's rule: the tree score alone. K and a are tuned together, on UAS by the paper's rule in percent with
two decimals; of equals the largest K is taken, as in the original, and of these the smallest a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import CallError
from ramify.tasks.attachment import columns

MIXES = tuple(i / 100 for i in range(101))
K = 4  # the paper's, on its test part
_NEVER = -1e300  # the score of a candidate that is not there


@dataclass(frozen=True)
class Rule:
    """How many candidates are looked at, and the share of the tree score."""

    k: int = K
    mix: float = 1.0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise CallError(f"k is {self.k}: at least one candidate must be looked at")
        if not 0 <= self.mix <= 1:
            raise CallError(f"the mixture's share is {self.mix}: it lies between 0 and 1")

    def totals(self, tree: Array, base: Array | None) -> Array:
        """The scores of all candidates; without the parser's, the tree's alone."""
        return tree if base is None else (1 - self.mix) * base + self.mix * tree

    def order(self, totals: Array) -> tuple[int, ...]:
        """Best first; candidates beyond the first K keep their places."""
        first = np.argsort(-totals[: self.k], kind="stable")
        return (*first.tolist(), *range(len(first), len(totals)))


def tune(
    tree: Sequence[Array],
    base: Sequence[Array] | None,
    counts: Sequence[Array],
    *,
    k: int | None = None,
    mix: float | None = None,
) -> Rule:
    """The rule that is best on trees that are known: given are scores and counts (tasks/attachment.py) of all
    candidates. A k or mix that is given stays as it is; without the parser's scores mix is 1."""
    right, of = columns("paper_uas")
    longest = max(map(len, counts))
    limit = longest if k is None else min(k, longest)
    shares = [1.0] if base is None else MIXES if mix is None else [mix]
    heads = _padded([table[:, right] for table in counts], 0)
    words = max(1, sum(int(table[0, of]) for table in counts))
    of_tree = _padded(tree, _NEVER)
    of_base = _padded(base, _NEVER) if base is not None else np.zeros_like(of_tree)
    each = np.arange(len(counts))
    best, found = (-1.0, 0, 0.0), Rule()
    for share in shares:
        totals = (1 - share) * of_base + share * of_tree
        leads = np.zeros(len(counts), np.int64)  # the choices among the first candidates, one more at a time
        for size in range(1, limit + 1):
            leads = np.where(totals[:, size - 1] > totals[each, leads], size - 1, leads)
            if k is not None and size < limit:
                continue
            reached = round(100 * float(heads[each, leads].sum()) / words, 2), size, -share
            if reached > best:
                best, found = reached, Rule(k or size, share)
    return found


def _padded(rows: Sequence[Array], fill: float) -> Array:
    """Rows of different lengths as one table."""
    table = np.full((len(rows), max(map(len, rows))), fill, np.float64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
