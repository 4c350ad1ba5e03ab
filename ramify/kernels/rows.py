"""Rows: the shape of a recurrence, whatever it runs over.

Row 0 is the initial state. Each further row continues the state of one earlier row, its predecessor. Rows are sorted
by level (a predecessor is one level up) and, within a level, by the set of weights that computes them (edge types for
trees; one set alone for chains of left dependents and for sequences).

What comes in from outside, and its gradient, is in the order of the sets: first all rows of the first set, level by
level, then those of the second. So a set is one slice there, and one matrix product.

Letters: N rows, L levels, Z sets of weights, D hidden size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ramify.corpus import Batch, SequenceBatch
from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array
from ramify.kernels.tiles import best_height, cut


class Tiles(NamedTuple):
    """The rows in pieces for the blocks of a GPU; see `tiles.cut`."""

    height: int
    tiles: Tensor  # [T, 4] int32
    levels: Tensor  # [L + 1] int32


@dataclass(frozen=True, eq=False)
class Rows:
    """Which row continues which, level by level."""

    predecessor: Tensor  # [N + 1] int32; row 0 names itself
    successors: Tensor  # [N + 1, at most 3] int32: the rows that continue each row; 0 where there are fewer
    order: Tensor  # [N] int32: the rows in the order of the sets
    groups: list[int]  # [Z L + 1] rows groups[Z l + z] to groups[Z l + z + 1] are those of level l and weights z
    sets: int  # Z
    tiles: Tiles | None = None  # on a GPU

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

    def tiled(self, height: int | None = None) -> Rows:
        """With tiles; on the host."""
        groups = np.asarray(self.groups, np.int32)
        height = height or best_height(groups, self.sets)
        return replace(self, tiles=Tiles(height, *map(torch.from_numpy, cut(groups, self.sets, height))))

    @property
    def tensors(self) -> list[Tensor]:
        own = [self.predecessor, self.successors, self.order]
        return own if self.tiles is None else [*own, self.tiles.tiles, self.tiles.levels]

    def moved(self, tensors: list[Tensor]) -> Rows:
        """The same rows with other `tensors`, copies of these on another device."""
        tiles = None if self.tiles is None else Tiles(self.tiles.height, *tensors[3:])
        predecessor, successors, order = tensors[:3]
        return Rows(predecessor, successors, order, self.groups, self.sets, tiles)


def make_rows(predecessor: Array, successors: Array, groups: Array, sets: int) -> Rows:
    """Rows on the host."""
    groups = np.ascontiguousarray(groups, np.int32)
    before, after = (torch.from_numpy(np.ascontiguousarray(each, np.int32)) for each in (predecessor, successors))
    return Rows(before, after, torch.from_numpy(_order(groups, sets)), groups.tolist(), sets)


@compiled
def _order(groups: Array, sets: int) -> Array:
    order = np.empty(groups[-1] - 1, np.int32)
    at = 0
    for z in range(sets):
        for group in range(z, len(groups) - 1, sets):
            for row in range(groups[group], groups[group + 1]):
                order[at] = row
                at += 1
    return order


def tree_rows(batch: Batch) -> Rows:
    """The words of a batch of trees under the four edge types."""
    return make_rows(batch.predecessor, batch.successors, batch.groups, 4)


def chain_rows(batch: Batch) -> Rows:
    """The words of a batch's LD chains, a level for each step: row 1 + i is chain_words[i]."""
    return make_rows(*_follow(batch.steps), batch.steps + 1, 1)


@compiled
def _follow(steps: Array) -> tuple[Array, Array]:
    total = steps[-1]
    predecessor = np.zeros(total + 1, np.int32)
    successors = np.zeros((total + 1, 1), np.int32)
    for t in range(1, len(steps) - 1):
        for before in range(steps[t - 1] + 1, steps[t] + 1):
            here = before + steps[t] - steps[t - 1]  # the chains of the step before; those behind them start here
            predecessor[here] = before
            successors[before, 0] = here
    return predecessor, successors


def sequence_rows(batch: SequenceBatch) -> Rows:
    """The steps of a batch of sequences, a level for each place in the sentence."""
    return make_rows(batch.predecessor, batch.successor[:, None], batch.groups, 1)


def send(device: torch.device, rows: list[Rows], arrays: list[Array]) -> tuple[list[Rows], list[Tensor]]:
    """Rows and int32 arrays where the model is; to a GPU they travel together, and nothing waits for them."""
    if device.type == "cuda":
        rows = [each.tiled() for each in rows]
    tensors = [tensor for each in rows for tensor in each.tensors]
    given = len(tensors)
    tensors += [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]
    there = _together(device, tensors) if device.type == "cuda" else [tensor.to(device) for tensor in tensors]
    found, start = [], 0
    for each in rows:
        found.append(each.moved(there[start : start + len(each.tensors)]))
        start += len(each.tensors)
    return found, there[given:]


def _together(device: torch.device, parts: list[Tensor]) -> list[Tensor]:
    """One copy from pinned memory; each part begins at a multiple of 16 bytes, as wide loads want it."""
    starts, total = [], 0
    for part in parts:
        starts.append(total)
        total += -(-part.numel() // 4) * 4
    packed = torch.empty(total, dtype=torch.int32, pin_memory=True)
    for start, part in zip(starts, parts, strict=True):
        packed[start : start + part.numel()] = part.view(-1)
    there = packed.to(device, non_blocking=True)
    return [there[start : start + part.numel()].view(part.shape) for start, part in zip(starts, parts, strict=True)]
