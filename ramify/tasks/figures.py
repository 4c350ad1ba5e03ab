"""Attachment scores of systems on the same sentences, with bootstrap intervals, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.corpus.structure import Array
from ramify.tasks.attachment import FIGURES, columns
from ramify.tasks.paired import resampled_sums


@dataclass(frozen=True)
class Figure:
    """A share between 0 and 1 with its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} [{100 * self.low:.2f}, {100 * self.high:.2f}]"

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "interval": [self.low, self.high]}


@dataclass(frozen=True)
class Difference:
    """Of two systems' shares; p is how often the resampled difference is not on the side of 0 where it is, twice."""

    value: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        return f"{100 * self.value:+.2f} [{100 * self.low:+.2f}, {100 * self.high:+.2f}] p {self.p:.2g}"

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "interval": [self.low, self.high], "p": self.p}


Figures = dict[str, Figure]  # under the names of FIGURES


@dataclass(frozen=True)
class Measured:
    """The figures of all systems, and the differences of all others from the first."""

    systems: dict[str, Figures]
    differences: dict[str, dict[str, Difference]]


def measure(systems: Mapping[str, Array], *, seed: int = 1) -> Measured:
    """From each system's counts, a table [sentences, counts]. All are resampled together, so differences are paired."""
    tables = list(systems.values())
    resampled = np.split(resampled_sums(np.concatenate(tables, axis=1), seed=seed), len(tables), axis=1)
    shares = [(_shares(table.sum(0)), _shares(drawn)) for table, drawn in zip(tables, resampled, strict=True)]
    first, *others = shares
    found = {
        name: {figure: Figure(float(value[figure]), *_interval(drawn[figure])) for figure in FIGURES}
        for name, (value, drawn) in zip(systems, shares, strict=True)
    }
    differences = {
        name: {
            figure: _difference(value[figure] - first[0][figure], drawn[figure] - first[1][figure])
            for figure in FIGURES
        }
        for name, (value, drawn) in zip(list(systems)[1:], others, strict=True)
    }
    return Measured(found, differences)


def _shares(sums: Array) -> dict[str, Array]:
    """The figures of sums of counts [..., counts]; 0 where there is nothing to be right."""
    found = {}
    for figure in FIGURES:
        right, of = columns(figure)
        found[figure] = sums[..., right] / np.maximum(sums[..., of], 1)
    return found


def _interval(drawn: Array) -> tuple[float, float]:
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return low, high


def _difference(value: Array, drawn: Array) -> Difference:
    sides = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return Difference(float(value), *_interval(drawn), min(1.0, 2 * (sides + 1) / (len(drawn) + 1)))
