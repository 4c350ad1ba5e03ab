"""Attachment scores as a table: a line for each system, a column for each figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ramify.tasks.figures import Difference, Figure

NAMES = {"uas": "UAS", "las": "LAS", "clas": "CLAS", "paper_uas": "UAS, paper", "paper_las": "LAS, paper"}


def table_of(systems: Mapping[str, Mapping[str, Figure]]) -> list[str]:
    """Figures in percent, with their intervals."""
    rows = [["", *NAMES.values()]]
    rows += [[system, *(str(figures[key]) for key in NAMES)] for system, figures in systems.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def gain_of(differences: Mapping[str, Difference]) -> list[str]:
    """What is gained over the base, a line for each figure."""
    return [f"{name:<12}{differences[key]}" for key, name in NAMES.items()]
