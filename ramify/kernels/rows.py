"""Rows: the shape of a recurrence, whatever it runs over.

Row 0 is the initial state. Each further row continues the state of one earlier row, its predecessor. Rows are sorted
by level (a predecessor is one level up) and, within a level, by the set of weights that computes them (edge types for
trees; one set alone for chains of left dependents and for sequences).

What comes in from outside, and its gradient, is in the order of the sets: first all rows of the first set, level by
level, then those of the second. So a set is one slice there, and one matrix product.

Where a step is recorded once and run for many batches, rows and sets have room for more than they hold: what is left
over stands for row 0, is never computed, and has no gradient.

Letters: N rows (or room for so many), L levels, Z sets of weights, D hidden size, P = N places in the order of the sets
(or room for so many).
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


class Room(NamedTuple):
    """Room for rows, in all and in each set."""

    rows: int
    sets: tuple[int, ...]


class Tiles(NamedTuple):
    """The rows in pieces for the blocks of a GPU; see `tiles.cut`."""

    height: int
    tiles: Tensor  # [T, 4] int32
    levels: Tensor  # [L + 2] int32: how many levels there are, and where the tiles of each begin
    spare: Tensor  # [1 + Z, 2] int32: rows, and places of each set, from and to, that are never computed


@dataclass(frozen=True, eq=False)
class Rows:
    """Which row continues which, level by level."""

    predecessor: Tensor  # [N + 1] int32; row 0 names itself
    successors: Tensor  # [N + 1, at most 3] int32: the rows that continue each row; 0 where there are fewer
    order: Tensor  # [P] int32: the rows in the order of the sets
    of_sets: list[slice]  # the places of each set there
    groups: list[int]  # [Z L + 1] rows groups[Z l + z] to groups[Z l + z + 1] are those of level l and weights z
    roomy: bool = False  # there is room for more rows
    tiles: Tiles | None = None  # on a GPU

    def __len__(self) -> int:
        return len(self.predecessor) - 1

    @property
    def sets(self) -> int:
        return len(self.of_sets)

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
        sizes: Array = np.diff(np.asarray(self.groups)).reshape(-1, self.sets)
        begin = np.array([part.start for part in self.of_sets])
        return np.asarray(np.cumsum(sizes, 0) - sizes + begin)

    def tiled(self, height: int | None = None) -> Rows:
        """With tiles; on the host."""
        height = height or best_height(len(self))
        groups = np.asarray(self.groups, np.int32)
        begin = np.array([0, *(part.stop for part in self.of_sets)], np.int32)
        room = len(self) if self.roomy else -1
        return replace(self, tiles=Tiles(height, *map(torch.from_numpy, cut(groups, begin, height, room))))

    @property
    def tensors(self) -> list[Tensor]:
        own = [self.predecessor, self.successors, self.order]
        return own if self.tiles is None else [*own, *self.tiles[1:]]

    def moved(self, tensors: list[Tensor]) -> Rows:
        """The same rows with other `tensors`, copies of these on another device."""
        tiles = None if self.tiles is None else Tiles(self.tiles.height, *tensors[3:])
        predecessor, successors, order = tensors[:3]
        return Rows(predecessor, successors, order, self.of_sets, self.groups, self.roomy, tiles)


def make_rows(predecessor: Array, successors: Array, groups: Array, sets: int, room: Room | None = None) -> Rows:
    """Rows on the host, as many as there are or with room for more."""
    groups = np.ascontiguousarray(groups, np.int32)
    n = room.rows if room else len(predecessor) - 1
    sizes = np.array(room.sets) if room else set_sizes(groups, sets)
    ends = np.cumsum(sizes).tolist()
    of_sets = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    order = _order(groups, np.array([part.start for part in of_sets], np.int32), ends[-1])
    before, after = (torch.from_numpy(filled(each, n + 1)) for each in (predecessor, successors))
    return Rows(before, after, torch.from_numpy(order), of_sets, groups.tolist(), room is not None)


def set_sizes(groups: Array, sets: int) -> Array:
    """[Z] how many rows each set computes."""
    by_level: Array = np.diff(groups).reshape(-1, sets)
    return np.asarray(by_level.sum(0))


def filled(array: Array, length: int, value: int = 0) -> Array:
    """The array as int32, filled up to a length."""
    if len(array) == length:
        return np.ascontiguousarray(array, np.int32)
    longer = np.full((length, *array.shape[1:]), value, np.int32)
    longer[: len(array)] = array
    return longer


@compiled
def _order(groups: Array, begin: Array, places: int) -> Array:
    order = np.zeros(places, np.int32)
    sets = len(begin)
    for z in range(sets):
        at = begin[z]
        for group in range(z, len(groups) - 1, sets):
            for row in range(groups[group], groups[group + 1]):
                order[at] = row
                at += 1
    return order


def tree_rows(batch: Batch, room: Room | None = None) -> Rows:
    """The words of a batch of trees under the four edge types."""
    return make_rows(batch.predecessor, batch.successors, batch.groups, 4, room)


def chain_rows(batch: Batch, room: Room | None = None) -> Rows:
    """The words of a batch's LD chains, a level for each step: row 1 + i is chain_words[i]."""
    return make_rows(*_follow(batch.steps), batch.steps + 1, 1, room)


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


def sequence_rows(batch: SequenceBatch, room: Room | None = None) -> Rows:
    """The steps of a batch of sequences, a level for each place in the sentence."""
    return make_rows(batch.predecessor, batch.successor[:, None], batch.groups, 1, room)
