"""The best projective tree with one root word, its score a sum over arcs (Eisner 1996).

complete[h, e]      the best of head h with all its dependents on one side, out to word e (left where e < h)
incomplete[h, m]    the same out to dependent m, without what m has on its far side

A tree is put together in one way only. All spans are of words; ROOT comes last, with one dependent.
"""

from __future__ import annotations

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array


@compiled
def best_tree(scores: Array, heads: Array) -> float:
    """Fill heads [n] with the best tree under the scores of arcs [n + 1, n + 1] (head, dependent); its score."""
    n = len(heads)
    complete, incomplete = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    last = np.zeros((n + 1, n + 1), np.int32)  # of a complete span: its head's last dependent
    meeting = np.zeros((n + 1, n + 1), np.int32)  # of an incomplete span: the last word on the left one's side
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            best, where = -np.inf, i
            for r in range(i, j):
                value = complete[i, r] + complete[j, r + 1]
                if value > best:
                    best, where = value, r
            incomplete[i, j] = best + scores[i, j]
            incomplete[j, i] = best + scores[j, i]
            meeting[i, j] = meeting[j, i] = where
            best, where = -np.inf, j
            for m in range(i + 1, j + 1):
                value = incomplete[i, m] + complete[m, j]
                if value > best:
                    best, where = value, m
            complete[i, j], last[i, j] = best, where
            best, where = -np.inf, i
            for m in range(i, j):
                value = incomplete[j, m] + complete[m, i]
                if value > best:
                    best, where = value, m
            complete[j, i], last[j, i] = best, where
    best, root = -np.inf, 1
    for m in range(1, n + 1):
        value = complete[m, 1] + complete[m, n] + scores[0, m]
        if value > best:
            best, root = value, m
    heads[root - 1] = 0
    _follow(root, last, meeting, heads)
    return best


@compiled
def _follow(root: int, last: Array, meeting: Array, heads: Array) -> None:
    """Fill the heads of all words but the root, from the choices that were made."""
    n = len(heads)
    waiting = np.empty((2 * n + 2, 2), np.int32)  # complete spans
    waiting[0, 0], waiting[0, 1] = root, 1
    waiting[1, 0], waiting[1, 1] = root, n
    top = 2
    while top:
        top -= 1
        head, end = waiting[top, 0], waiting[top, 1]
        if head == end:
            continue
        word = last[head, end]
        heads[word - 1] = head
        left = meeting[head, word]
        nearer, further = (left, left + 1) if head < word else (left + 1, left)
        waiting[top, 0], waiting[top, 1] = word, end
        waiting[top + 1, 0], waiting[top + 1, 1] = head, nearer
        waiting[top + 2, 0], waiting[top + 2, 1] = word, further
        top += 3
