"""The best projective tree with one root word, its score a sum over pairs of adjacent siblings (McDonald and Pereira
2006): a dependent is scored together with its head and its nearer sibling.

Scores are [n + 1, n + 1, n + 1], index (h, m, s):

    scores[h, m, s]     m is a dependent of h, and s its nearer sibling
    scores[h, m, h]     m is the closest dependent of h on its side
    scores[h, h, s]     s is the last dependent of h on its side

A side without dependents has no score of its own: what it should cost can be taken off those of the closest dependents.

The chart is [3, n + 1, n + 1]:

    COMPLETE h, e       head h with all its dependents on one side, out to word e (left where e < h); nothing if e = h
    INCOMPLETE h, m     the same out to dependent m, without what m has on its far side
    SIBLINGS s, m       two neighbours, s < m, with all that stands between them

A tree is put together in one way only, so no two derivations of the k best are the same tree. All spans are of words;
ROOT, COMPLETE 0, n, comes last, with one dependent.
"""

from __future__ import annotations

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array

COMPLETE, INCOMPLETE, SIBLINGS = 0, 1, 2


@compiled
def best_tree(scores: Array, heads: Array) -> float:
    """Fill heads [n] with the best tree; its score."""
    chart, splits = inside(scores)
    follow(splits, heads)
    return float(chart[COMPLETE, 0, len(heads)])


@compiled
def inside(scores: Array) -> tuple[Array, Array]:
    """The best score of everything in the chart, and the split that it comes from."""
    n = len(scores) - 1
    chart, splits = np.zeros((3, n + 1, n + 1)), np.zeros((3, n + 1, n + 1), np.int32)
    complete, incomplete, siblings = chart[COMPLETE], chart[INCOMPLETE], chart[SIBLINGS]
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            best, where = -np.inf, i
            for r in range(i, j):
                value = complete[i, r] + complete[j, r + 1]
                if value > best:
                    best, where = value, r
            siblings[i, j], splits[SIBLINGS, i, j] = best, where
            for h, m in ((i, j), (j, i)):
                best, where = complete[m, h + (1 if h < m else -1)] + scores[h, m, h], h
                for s in range(i + 1, j):
                    value = incomplete[h, s] + siblings[min(s, m), max(s, m)] + scores[h, m, s]
                    if value > best:
                        best, where = value, s
                incomplete[h, m], splits[INCOMPLETE, h, m] = best, where
            for h, e in ((i, j), (j, i)):
                best, where = -np.inf, e
                for m in range(min(h + 1, e), max(h, e + 1)):
                    value = incomplete[h, m] + complete[m, e] + scores[h, h, m]
                    if value > best:
                        best, where = value, m
                complete[h, e], splits[COMPLETE, h, e] = best, where
    best, root = -np.inf, 1
    for m in range(1, n + 1):
        value = complete[m, 1] + complete[m, n] + (scores[0, m, 0] + scores[0, 0, m])
        if value > best:
            best, root = value, m
    complete[0, n], splits[COMPLETE, 0, n] = best, root
    return chart, splits


@compiled
def item(kind: int, a: int, b: int, n: int) -> int:
    """The place of something in the flat chart."""
    return (kind * (n + 1) + a) * (n + 1) + b


@compiled
def place(number: int, n: int) -> tuple[int, int, int]:
    """Kind, a and b of what has this place."""
    rest, b = divmod(number, n + 1)
    kind, a = divmod(rest, n + 1)
    return kind, a, b


@compiled
def parts(kind: int, a: int, b: int, split: int, n: int) -> tuple[int, int]:
    """The two items that something is made of at a split."""
    if kind == COMPLETE:
        if a == 0:
            return item(COMPLETE, split, 1, n), item(COMPLETE, split, n, n)
        return item(INCOMPLETE, a, split, n), item(COMPLETE, split, b, n)
    if kind == SIBLINGS:
        return item(COMPLETE, a, split, n), item(COMPLETE, b, split + 1, n)
    if split == a:  # b is the closest dependent
        return item(COMPLETE, a, a, n), item(COMPLETE, b, a + (1 if a < b else -1), n)
    return item(INCOMPLETE, a, split, n), item(SIBLINGS, min(split, b), max(split, b), n)


@compiled
def follow(splits: Array, heads: Array) -> None:
    """Fill heads [n] from the splits that were chosen."""
    n = len(heads)
    waiting = np.empty(3 * n + 3, np.int32)
    waiting[0] = item(COMPLETE, 0, n, n)
    top = 1
    while top:
        top -= 1
        kind, a, b = place(waiting[top], n)
        if kind == COMPLETE and a == b:
            continue
        split = splits[kind, a, b]
        attach(kind, a, b, split, heads)
        waiting[top], waiting[top + 1] = parts(kind, a, b, split, n)
        top += 2


@compiled
def attach(kind: int, a: int, b: int, split: int, heads: Array) -> None:
    """Set the head of the word that this step of a derivation attaches, if it attaches one."""
    if kind == INCOMPLETE:
        heads[b - 1] = a
    elif kind == COMPLETE and a == 0:
        heads[split - 1] = 0
