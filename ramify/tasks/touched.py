"""Touched: the words whose probability a candidate can change, for each kind of model."""

from __future__ import annotations

from ramify.model.config import Kind
from ramify.tasks.blank import Filled
from ramify.trees import EdgeType, breadth_first, predecessors
from ramify.trees.paths import dependents


def touched(filled: Filled, kind: Kind) -> tuple[int, ...]:
    """The words (1..n, and n + 1 for the end of a sequence) that are the candidate's or are predicted from it.

    Tree models: words whose dependency path passes through the candidate. LD: also the first right dependent of a head
    with the candidate among its left ones, and all that is reached from there. LSTM: all that follows. BiLSTM: all.
    """
    n = len(filled.tree)
    if kind is Kind.LSTM:
        return tuple(range(filled.first, n + 2))
    if kind is Kind.BILSTM:
        return tuple(range(1, n + 2))
    steps, sides = predecessors(filled.tree), dependents(filled.tree)
    candidate = set(range(filled.first, filled.last + 1))
    reached: set[int] = set()  # words whose state knows the candidate
    for word in breadth_first(filled.tree):
        before, edge = steps[word - 1]
        reads = kind is Kind.LDTREE and edge is EdgeType.RIGHT and not candidate.isdisjoint(sides[before].left)
        if before in candidate or before in reached or reads:
            reached.add(word)
    return tuple(sorted(candidate | reached))
