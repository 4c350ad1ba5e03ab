"""Accuracy of trees beside gold ones: heads (UAS), heads with relations (LAS), tags; every word counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ramify.parsing.parser import Annotation
from ramify.trees import Tree


class Accuracy(NamedTuple):
    uas: float
    las: float
    upos: float


def accuracy(pairs: Iterable[tuple[Tree, Annotation]]) -> Accuracy:
    """In percent, over all words of pairs of a gold tree and what was found."""
    words = heads = labelled = tags = 0
    for gold, found in pairs:
        right = [ours == theirs for ours, theirs in zip(found.heads, gold.heads, strict=True)]
        words += len(gold)
        heads += sum(right)
        labelled += sum(map(_both, right, found.deprels, gold.deprels))
        tags += sum(ours == theirs for ours, theirs in zip(found.upos, gold.upos, strict=True))
    return Accuracy(*(100 * count / max(1, words) for count in (heads, labelled, tags)))


def _both(right: bool, ours: str, theirs: str) -> bool:
    return right and ours == theirs
