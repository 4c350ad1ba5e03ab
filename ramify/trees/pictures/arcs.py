"""Where words and arcs stand when a tree is drawn along its sentence: geometry alone, in pixels from the left.

Arcs are as high as their nesting asks, not as long as they are: a hundred words need about ten levels. Those that meet
at a word have a port each, side by side, ordered so that in a projective tree no two arcs cross.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ramify.trees.tree import ROOT, Tree

BETWEEN_WORDS = 16
BETWEEN_PORTS = 8  # where the word is wide enough for all; a narrow one is given room for
NARROW_PORT, NARROW_PORTS = 5, 20  # so much each, for up to so many
AROUND_LABEL = 28


class Arc(NamedTuple):
    """From its head (`start`) to its dependent (`end`); the arc of a ROOT dependent starts right above its end."""

    level: int  # 1 for the lowest
    start: float
    end: float


class Layout(NamedTuple):
    centres: list[float]  # of the words
    arcs: list[Arc]  # the arc to each word
    width: float
    levels: int  # arcs of ROOT dependents are on the highest, the others below


def lay_out(tree: Tree, words: Sequence[float], labels: Sequence[float]) -> Layout:
    """Place words and arcs, given how wide the words and the labels of their arcs are."""
    meeting = Counter([*range(1, len(tree) + 1), *tree.heads])
    words = [max(width, NARROW_PORT * min(meeting[word], NARROW_PORTS)) for word, width in enumerate(words, 1)]
    start, end = _ports(tree, words)
    apart: list[dict[int, float]] = [{} for _ in words]  # how far words at the ends of an arc must be, for its label
    for word, head in enumerate(tree.heads, 1):
        if head != ROOT:
            ports = start[word - 1] - end[word - 1]
            apart[max(word, head) - 1][min(word, head) - 1] = (
                (ports if head < word else -ports) + labels[word - 1] + AROUND_LABEL
            )
    centres = [words[0] / 2]
    for here in range(1, len(words)):
        nearest = centres[-1] + (words[here - 1] + words[here]) / 2 + BETWEEN_WORDS
        centres.append(max([nearest, *(centres[left] + distance for left, distance in apart[here].items())]))
    arcs = []
    for word, (head, level) in enumerate(zip(tree.heads, arc_levels(tree), strict=True), 1):
        to = centres[word - 1] + end[word - 1]
        arcs.append(Arc(level, to if head == ROOT else centres[head - 1] + start[word - 1], to))
    return Layout(centres, arcs, centres[-1] + words[-1] / 2, max(arc.level for arc in arcs))


def arc_levels(tree: Tree) -> list[int]:
    """For the arc to each word the lowest level on which nothing shorter is in its way."""
    top = [0] * len(tree)  # the highest level so far between each word and the next
    level = [0] * len(tree)
    arcs = sorted((abs(word - head), word) for word, head in enumerate(tree.heads, 1) if head != ROOT)
    for length, word in arcs:
        left = min(word, tree.heads[word - 1]) - 1
        level[word - 1] = 1 + max(top[left : left + length])
        top[left : left + length] = [level[word - 1]] * length
    highest = max(top) + 1
    return [found or highest for found in level]  # ROOT's arcs come from above


def _ports(tree: Tree, words: Sequence[float]) -> tuple[list[float], list[float]]:
    """How far off the middle of its head each arc starts, and off the middle of its word it ends."""
    start, end = [0.0] * len(tree), [0.0] * len(tree)
    meeting: list[list[tuple[int, int, int]]] = [[] for _ in words]
    for word, head in enumerate(tree.heads, 1):
        meeting[word - 1].append(_order(word, head, word))
        if head != ROOT:
            meeting[head - 1].append(_order(head, word, word))
    for here, (arcs, width) in enumerate(zip(meeting, words, strict=True), 1):
        arcs.sort()
        apart = min(BETWEEN_PORTS, width / len(arcs))
        for i, (_, _, word) in enumerate(arcs):
            (end if word == here else start)[word - 1] = apart * (i - (len(arcs) - 1) / 2)
    return start, end


def _order(here: int, other: int, word: int) -> tuple[int, int, int]:
    """Arcs to the left before those to the right; the longest of both in the middle, where they are the outermost."""
    side = 1 if other == ROOT else 0 if other < here else 2
    return side, here - other, word
