"""The k best trees of `sibling.py`, best first, found lazily (Huang and Chiang 2005, algorithm 3).

Every item of the chart has a list of its derivations, of which the best one is known from the start. A further one is
looked for only where it may be part of a tree that is asked for. A derivation names a split and the ranks of its two
parts, i and j; behind it come those with ranks (i, j + 1) and, if j = 0, (i + 1, 0): so each pair of ranks comes once,
and behind one that is at least as good.
"""

from __future__ import annotations

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.structure import Array
from ramify.parsing.sibling import COMPLETE, INCOMPLETE, SIBLINGS, attach, inside, item, parts, place

SPLIT, FIRST, SECOND, NEXT = 0, 1, 2, 3  # of a derivation; NEXT is another one that waits in the same list
NONE = -1
WORDS = 0  # the list of what has no parts: one derivation
ROOM = 64  # lists and derivations, before the arrays that hold them grow


@compiled
def k_best_trees(scores: Array, heads: Array, totals: Array) -> int:
    """Fill heads [k, n] and totals [k] with the best trees; their number, below k where there are no more."""
    k, n = heads.shape
    chart, splits = inside(scores)
    value = chart.ravel()
    list_of = np.full(len(value), NONE, np.int32)  # NONE: the best is enough, so far
    for word in range(n + 1):
        list_of[item(COMPLETE, word, word, n)] = WORDS
    ranked = np.empty((ROOM, k), np.int32)  # [lists, k] derivations in their order
    count = np.ones(ROOM, np.int32)
    waiting = np.full(ROOM, NONE, np.int32)  # the first derivation that may come next
    exhausted = np.ones(ROOM, np.bool_)
    derivations, worth = np.empty((ROOM, 4), np.int32), np.empty(ROOM)
    n_lists, n_derivations = 1, 0
    root = item(COMPLETE, 0, n, n)
    stack = np.empty(4 * n + 4, np.int32)
    found = 1
    while found < k:
        top = 0
        stack[0] = root
        while top >= 0:  # one more derivation for the item on top, as soon as its parts have what it needs
            this = stack[top]
            kind, a, b = place(this, n)
            while n_derivations + n + 2 > len(worth):
                derivations, worth = _twice(derivations), _twice(worth)
            here = list_of[this]
            if here == NONE:
                if n_lists == len(count):
                    ranked, count = _twice(ranked), _twice(count)
                    waiting, exhausted = _twice(waiting), _twice(exhausted)
                here = list_of[this] = n_lists
                n_lists += 1
                count[here], waiting[here], exhausted[here] = 0, NONE, False
                low, high = _splits(kind, a, b, n)
                for split in range(low, high):
                    first, second = parts(kind, a, b, split, n)
                    worth[n_derivations] = value[first] + value[second] + _weight(scores, kind, a, b, split)
                    _put(derivations, n_derivations, split, 0, 0, waiting, here)
                    n_derivations += 1
            else:
                split, i, j = _derivation(derivations, ranked[here, count[here] - 1])
                first, second = parts(kind, a, b, split, n)
                lacking = _lacking(first, second, i, j, list_of, count, exhausted)
                if lacking != NONE:
                    top += 1
                    stack[top] = lacking
                    continue
                for step in range(2 if j == 0 else 1):
                    one, other = i + step, 0 if step else j + 1
                    if _has(first, one, list_of, count) and _has(second, other, list_of, count):
                        worth[n_derivations] = (
                            _value(first, one, value, list_of, ranked, worth)
                            + _value(second, other, value, list_of, ranked, worth)
                            + _weight(scores, kind, a, b, split)
                        )
                        _put(derivations, n_derivations, split, one, other, waiting, here)
                        n_derivations += 1
            best = _take_best(here, waiting, derivations, worth)
            if best == NONE:
                exhausted[here] = True
            else:
                ranked[here, count[here]] = best
                count[here] += 1
            top -= 1
        if exhausted[list_of[root]]:
            break
        found = max(found, count[list_of[root]])
    for rank in range(found):
        totals[rank] = _value(root, rank, value, list_of, ranked, worth)
        _follow(root, rank, splits, list_of, ranked, derivations, heads[rank])
    return found


@compiled
def _twice(array: Array) -> Array:
    """The same with room for twice as many."""
    return np.concatenate((array, np.empty_like(array)))


@compiled
def _splits(kind: int, a: int, b: int, n: int) -> tuple[int, int]:
    """Where something of the chart may be split: from the first place to before the second."""
    if kind == COMPLETE and a == 0:
        return 1, n + 1
    if kind == COMPLETE:
        return (a + 1, b + 1) if a < b else (b, a)
    return (a, b) if a < b else (b + 1, a + 1)


@compiled
def _weight(scores: Array, kind: int, a: int, b: int, split: int) -> float:
    """What a step adds to its parts."""
    if kind == SIBLINGS:
        return 0.0
    if kind == INCOMPLETE:
        return float(scores[a, b, split])
    return float(scores[0, split, 0] + scores[0, 0, split]) if a == 0 else float(scores[a, a, split])


@compiled
def _lacking(first: int, second: int, i: int, j: int, list_of: Array, count: Array, exhausted: Array) -> int:
    """The part that must be asked for its next derivation, before those behind ranks (i, j) are known."""
    for part, rank in ((second, j + 1), (first, i + 1 if j == 0 else 0)):
        of = list_of[part]
        if rank and (of == NONE or (count[of] <= rank and not exhausted[of])):
            return part
    return NONE


@compiled
def _has(part: int, rank: int, list_of: Array, count: Array) -> bool:
    return rank == 0 or (list_of[part] != NONE and rank < count[list_of[part]])


@compiled
def _value(part: int, rank: int, value: Array, list_of: Array, ranked: Array, worth: Array) -> float:
    return float(value[part]) if rank == 0 else float(worth[ranked[list_of[part], rank]])


@compiled
def _put(derivations: Array, number: int, split: int, i: int, j: int, waiting: Array, here: int) -> None:
    """Write a derivation, and let it wait in a list."""
    derivations[number, SPLIT], derivations[number, FIRST], derivations[number, SECOND] = split, i, j
    derivations[number, NEXT] = waiting[here]
    waiting[here] = number


@compiled
def _derivation(derivations: Array, number: int) -> tuple[int, int, int]:
    return derivations[number, SPLIT], derivations[number, FIRST], derivations[number, SECOND]


@compiled
def _take_best(here: int, waiting: Array, derivations: Array, worth: Array) -> int:
    """Take the best of those that wait in a list; NONE if nothing does."""
    best, before_best = int(waiting[here]), NONE
    before, at = NONE, waiting[here]
    while at != NONE:
        if worth[at] > worth[best]:
            best, before_best = at, before
        before, at = at, derivations[at, NEXT]
    if best != NONE:
        if before_best == NONE:
            waiting[here] = derivations[best, NEXT]
        else:
            derivations[before_best, NEXT] = derivations[best, NEXT]
    return best


@compiled
def _follow(
    root: int, rank: int, splits: Array, list_of: Array, ranked: Array, derivations: Array, heads: Array
) -> None:
    """Fill heads [n] from a derivation of the root."""
    n = len(heads)
    waiting = np.empty((3 * n + 3, 2), np.int32)
    waiting[0, 0], waiting[0, 1] = root, rank
    top = 1
    while top:
        top -= 1
        this, of_this = waiting[top, 0], waiting[top, 1]
        kind, a, b = place(this, n)
        if list_of[this] == WORDS:
            continue
        split, i, j = splits[kind, a, b], 0, 0
        if list_of[this] != NONE:
            split, i, j = _derivation(derivations, ranked[list_of[this], of_this])
        attach(kind, a, b, split, heads)
        first, second = parts(kind, a, b, split, n)
        waiting[top, 0], waiting[top, 1] = first, i
        waiting[top + 1, 0], waiting[top + 1, 1] = second, j
        top += 2
