"""Rows: what a picture says of each word besides its form, one value per word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ramify.errors import TreeError
from ramify.trees.paths import levels, predecessors
from ramify.trees.tree import Tree

EDGE = "edge"  # the row by which arcs are coloured


class Row(NamedTuple):
    """One annotation per word, in the order of the sentence, under one name."""

    name: str
    values: tuple[str, ...]


def edge_row(tree: Tree) -> Row:
    """The edge type that ends each word's dependency path."""
    return Row(EDGE, tuple(str(step.edge) for step in predecessors(tree)))


def level_row(tree: Tree) -> Row:
    """The length of each word's dependency path."""
    return Row("level", tuple(map(str, levels(tree))))


def upos_row(tree: Tree) -> Row:
    return Row("upos", known(tree.upos))


def value_row(name: str, values: Sequence[float | str | None], tree: Tree) -> Row:
    """A row of any values: numbers with a fraction get two decimals, None stays empty."""
    return checked([Row(name, tuple(map(_shown, values)))], tree)[0]


def checked(rows: Sequence[Row], tree: Tree) -> Sequence[Row]:
    """The same rows, once it is sure that each has one value per word."""
    for name, values in rows:
        if len(values) != len(tree):
            raise TreeError(f"row {name!r} has {len(values)} values, but the tree has {len(tree)} words")
    return rows


def known(values: Sequence[str]) -> tuple[str, ...]:
    """Empty where a treebank writes `_` for what it does not say."""
    return tuple("" if value == "_" else value for value in values)


def _shown(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float) else str(value)
