"""Heads to predecessors, edge types and levels: `ramify.trees.paths` once more, compiled, for flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify.corpus.compiled import compiled

Array = np.ndarray[Any, np.dtype[Any]]

LEFT, RIGHT, NX_LEFT, NX_RIGHT = 0, 1, 2, 3  # the values of EdgeType, as constants that can be compiled


@compiled
def read_paths(heads: Array, predecessor: Array, edge: Array, level: Array, scratch: Array) -> int:
    """Fill predecessor, edge and level (index = word - 1) of one sentence and return its deepest level.

    `scratch` needs a place for ROOT and each word.
    """
    n = len(heads)
    nearer = scratch  # the last dependent met on this side of each head
    nearer[: n + 1] = 0
    for word in range(n, 0, -1):  # left dependents, the closest first
        head = heads[word - 1]
        if word < head:
            before = nearer[head]
            predecessor[word - 1] = before if before else head
            edge[word - 1] = NX_LEFT if before else LEFT
            nearer[head] = word
    nearer[: n + 1] = 0
    for word in range(1, n + 1):  # right dependents, the closest first
        head = heads[word - 1]
        if word > head:
            before = nearer[head]
            predecessor[word - 1] = before if before else head
            edge[word - 1] = NX_RIGHT if before else RIGHT
            nearer[head] = word
    trail = scratch
    level[:n] = 0
    deepest = 0
    for word in range(1, n + 1):  # up to a word whose level is known, and back down along the trail
        steps = 0
        at = word
        while at and level[at - 1] == 0:
            trail[steps] = at
            steps += 1
            at = predecessor[at - 1]
        known = level[at - 1] if at else 0
        while steps:
            steps -= 1
            known += 1
            level[trail[steps] - 1] = known
        deepest = max(deepest, known)
    return deepest


@compiled
def deepest_levels(heads: Array, offsets: Array, depths: Array) -> None:
    """The deepest level of each sentence; sentence i has the words offsets[i] to offsets[i + 1] of the corpus."""
    longest = 0
    for i in range(len(depths)):
        longest = max(longest, offsets[i + 1] - offsets[i])
    predecessor, level, scratch = (
        np.empty(longest, np.int32),
        np.empty(longest, np.int32),
        np.empty(longest + 1, np.int32),
    )
    edge = np.empty(longest, np.int8)
    for i in range(len(depths)):
        depths[i] = read_paths(heads[offsets[i] : offsets[i + 1]], predecessor, edge, level, scratch)
