"""Tiles: a recurrence cut into pieces of a few rows of one level and one set of weights, the work of one GPU block."""

from __future__ import annotations

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array

HEIGHTS = 16, 32, 64  # rows of a tile at most


def best_height(groups: Array, sets: int) -> int:
    """High tiles use the matrix units well; low ones spread a small batch over more of the GPU."""
    levels = max(1, (len(groups) - 1) // sets)
    rows = (int(groups[-1]) - 1) / (levels * sets)  # of a group, on average
    return next((height for height in HEIGHTS if rows <= 2 * height), HEIGHTS[-1])


@compiled
def cut(groups: Array, sets: int, height: int) -> tuple[Array, Array]:
    """The tiles [T, 4] in the order of the levels, and where those of each level begin [L + 1].

    A tile is its first row, how many rows it has, where they begin in the order of the sets, and its set.
    """
    n_groups = len(groups) - 1
    n_levels = n_groups // sets
    count = 0
    for group in range(n_groups):
        count += (groups[group + 1] - groups[group] + height - 1) // height
    tiles = np.empty((count, 4), np.int32)
    levels = np.empty(n_levels + 1, np.int32)
    start = np.zeros(sets, np.int64)  # where the next rows of each set stand in the order of the sets
    for z in range(1, sets):
        start[z] = start[z - 1]
        for at in range(n_levels):
            start[z] += groups[at * sets + z] - groups[at * sets + z - 1]
    tile = 0
    for at in range(n_levels):
        levels[at] = tile
        for z in range(sets):
            row, end = groups[at * sets + z], groups[at * sets + z + 1]
            while row < end:
                rows = min(height, end - row)
                tiles[tile, 0], tiles[tile, 1], tiles[tile, 2], tiles[tile, 3] = row, rows, start[z], z
                row += rows
                start[z] += rows
                tile += 1
    levels[n_levels] = tile
    return tiles, levels
