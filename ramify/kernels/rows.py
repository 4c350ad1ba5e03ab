"""Rows: the shape of a recurrence, whatever it runs over.

Row 0 is the initial state. Each further row continues the state of one earlier row, its predecessor. Rows are sorted
by level (a predecessor is one level up) and, within a level, by the set of weights that computes them (edge types for
trees; one set alone for chains of left dependents and for sequences).

What comes in from outside, and its gradient, is in the order of the sets: first all rows of the first set, level by
level, then those of the second. So a set is one slice there, and one matrix product.

Letters: N rows, L levels, Z sets of weights, D hidden size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ramify.corpus import Batch, SequenceBatch
from ramify.corpus.structure import Array


@dataclass(frozen=True, eq=False)
class Rows:
    """Which row continues which, level by level."""

    predecessor: Tensor  # [N + 1] int32; row 0 names itself
    successors: Tensor  # [N + 1, at most 3] int32: the rows that continue each row; 0 where there are fewer
    groups: list[int]  # [Z L + 1] rows groups[Z l + z] to groups[Z l + z + 1] are those of level l and weights z
    sets: int  # Z

    def __len__(self) -> int:
        return self.groups[-1] - 1

    @property
    def n_levels(self) -> int:
        return (len(self.groups) - 1) // self.sets

    def level(self, at: int) -> slice:
        """The rows of a level (counted from 0)."""
        return slice(self.groups[self.sets * at], self.groups[self.sets * (at + 1)])

    def group(self, at: int, z: int) -> slice:
        """The rows of a level that are computed by one set of weights."""
        first = self.sets * at + z
        return slice(self.groups[first], self.groups[first + 1])

    @cached_property
    def starts(self) -> Array:
        """[L, Z] where each group begins in the order of the sets."""
        sizes = np.diff(np.asarray(self.groups)).reshape(-1, self.sets).T  # [Z, L]
        ends = np.cumsum(sizes).reshape(sizes.shape)
        return np.ascontiguousarray((ends - sizes).T)

    @cached_property
    def of_sets(self) -> list[slice]:
        """The slice of each set in the order of the sets."""
        totals = np.diff(np.asarray(self.groups)).reshape(-1, self.sets).sum(0)
        ends = np.cumsum(totals).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def by_set(self) -> Array:
        """[N] the rows in the order of the sets, on the host."""
        if self.sets == 1:
            return np.arange(1, len(self) + 1, dtype=np.int32)
        groups = np.asarray(self.groups)
        sizes = np.diff(groups).reshape(-1, self.sets).T.ravel()  # of the groups, set by set
        begin = groups[:-1].reshape(-1, self.sets).T.ravel()
        before = np.cumsum(sizes) - sizes
        rows: Array = np.arange(len(self)) + np.repeat(begin - before, sizes)
        return rows.astype(np.int32, copy=False)

    @cached_property
    def order(self) -> Tensor:
        """[N] the same beside the other numbers."""
        return torch.from_numpy(self.by_set).to(self.predecessor.device)


def tree_rows(batch: Batch, device: torch.device | str = "cpu") -> Rows:
    """The words of a batch of trees under the four edge types."""
    return Rows(_indices(batch.predecessor, device), _indices(batch.successors, device), batch.groups.tolist(), 4)


def chain_rows(batch: Batch, device: torch.device | str = "cpu") -> Rows:
    """The words of a batch's LD chains, a level for each step: row 1 + i is chain_words[i]."""
    steps = batch.steps
    total = int(steps[-1])
    predecessor = np.zeros(total + 1, np.int32)
    successors = np.zeros((total + 1, 1), np.int32)
    for t in range(1, len(steps) - 1):
        going_on = steps[t] - steps[t - 1]  # the chains of the step before; those behind them start here
        before = np.arange(steps[t - 1], steps[t]) + 1
        here = before + going_on
        predecessor[here] = before
        successors[before, 0] = here
    return Rows(_indices(predecessor, device), _indices(successors, device), (steps + 1).tolist(), 1)


def sequence_rows(batch: SequenceBatch, device: torch.device | str = "cpu") -> Rows:
    """The steps of a batch of sequences, a level for each place in the sentence."""
    successors = batch.successor[:, None]
    return Rows(_indices(batch.predecessor, device), _indices(successors, device), batch.groups.tolist(), 1)


def _indices(array: Array, device: torch.device | str) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.int32)).to(device)
