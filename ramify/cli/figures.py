"""Attachment scores as a table: a line for each system, a column for each figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ramify.tasks.figures import Difference, Figure

NAMES = {"uas": "UAS", "las": "LAS", "clas": "CLAS", "paper_uas": "UAS, paper", "paper_las": "LAS, paper"}


def table_of(systems: Mapping[str, Mapping[str, Figure]]) -> list[str]:
    """Figures in percent, with their intervals."""
    width = max(map(len, systems))
    lines = [f"{'':<{width}}" + "".join(f"  {name:<20}" for name in NAMES.values())]
    for system, figures in systems.items():
        lines.append(f"{system:<{width}}" + "".join(f"  {figures[key]!s:<20}" for key in NAMES))
    return [line.rstrip() for line in lines]


def gain_of(differences: Mapping[str, Difference]) -> list[str]:
    """What is gained over the base, a line for each figure."""
    return [f"{name:<12}{differences[key]}" for key, name in NAMES.items()]
