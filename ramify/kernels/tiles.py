"""Tiles: a recurrence cut into pieces of a few rows of one level and one set of weights, the work of one GPU block."""

from __future__ import annotations

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array

HEIGHTS = {16: 0, 64: 3000}  # rows of a tile at most, and from how many rows on there are enough for all
MOST_LEVELS = 128  # for which a recorded step has room


def best_height(rows: int) -> int:
    """High tiles use the matrix units well; low ones spread a small batch over more of the GPU."""
    return max(height for height, least in HEIGHTS.items() if rows >= least)


@compiled
def cut(groups: Array, begin: Array, height: int, room: int) -> tuple[Array, Array, Array]:
    """The tiles [T, 4] in the order of the levels; [L + 2]: L, and where the tiles of each level begin; what is spare.

    A tile is its first row, how many rows it has, where they begin in the order of the sets, and its set. `begin`
    [Z + 1] has the place of each set there. With room for more rows (-1: none) there is room for their tiles, and
    for levels.
    Spare [1 + Z, 2], from here to there, are rows, and places of each set, that nothing is computed for.
    """
    sets = len(begin) - 1
    n_levels = (len(groups) - 1) // sets
    if room >= 0:
        tiles = np.zeros((room // height + sets * MOST_LEVELS, 4), np.int32)
        levels = np.zeros(MOST_LEVELS + 2, np.int32)
    else:
        count = 0
        for group in range(len(groups) - 1):
            count += (groups[group + 1] - groups[group] + height - 1) // height
        tiles = np.zeros((count, 4), np.int32)
        levels = np.zeros(n_levels + 2, np.int32)
    start = begin.copy()  # where the next rows of each set stand in the order of the sets
    tile = 0
    levels[0] = n_levels
    for at in range(n_levels):
        levels[1 + at] = tile
        for z in range(sets):
            row, end = groups[at * sets + z], groups[at * sets + z + 1]
            while row < end:
                rows = min(height, end - row)
                tiles[tile, 0], tiles[tile, 1], tiles[tile, 2], tiles[tile, 3] = row, rows, start[z], z
                row += rows
                start[z] += rows
                tile += 1
    levels[1 + n_levels] = tile
    spare = np.zeros((1 + sets, 2), np.int32)
    spare[0, 0] = groups[-1]
    spare[0, 1] = max(groups[-1], room + 1)
    for z in range(sets):
        spare[1 + z, 0] = start[z]
        spare[1 + z, 1] = begin[z + 1]
    return tiles, levels, spare
