"""Predictions: a table with the choice for each question, its margin, the kind of the scores, and all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TextIO

from ramify.errors import FormatError
from ramify.formats.files import Progress, display_name
from ramify.formats.questions import letter
from ramify.formats.tables import Table, read_table, row_writer

COLUMNS = ("id", "choice", "margin", "kind")
SCORE = "score_"


class Measure(StrEnum):
    """What of a filled sentence is a candidate's score."""

    SUM = "sum"  # of all log-probabilities, as in the paper
    MEAN = "mean"  # for each word
    TOUCHED = "touched"  # the sum over those that the candidate can change


@dataclass(frozen=True, slots=True)
class Prediction:
    """A row: the chosen letter, how far it is ahead, what kind of number the scores are, one for each candidate."""

    id: str
    choice: str
    margin: float
    kind: str
    scores: tuple[float, ...]
    source: str = ""
    line: int = 0

    @property
    def name(self) -> str:
        """The id without the q that some files put before it."""
        return self.id.removeprefix("q")

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(map(letter, range(len(self.scores))))


def write_predictions(predictions: Iterable[Prediction], out: TextIO, table: Table) -> None:
    rows = list(predictions)
    most = max(len(each.scores) for each in rows)
    write = row_writer(out, table, [*COLUMNS, *(SCORE + letter(i) for i in range(most))])
    for each in rows:
        missing = [None] * (most - len(each.scores))
        write([each.id, each.choice, each.margin, each.kind, *each.scores, *missing])


def read_predictions(source: str | Path, *, progress: Progress | None = None) -> list[Prediction]:
    """The predictions that an earlier run wrote."""
    name = display_name(source)
    found: dict[str, Prediction] = {}
    for line, values in read_table(source, progress=progress):
        if missing := [column for column in (*COLUMNS, SCORE + "a") if column not in values]:
            message = f"no column {missing[0]}: is this a table that ramify complete wrote?"
            raise FormatError(message, name, line)
        row = _prediction(values, name, line)
        if (other := found.setdefault(row.name, row)) is not row:
            raise FormatError(f"question {row.id} occurs twice, first on line {other.line}", name, line)
    return list(found.values())


def _prediction(values: dict[str, str], name: str, line: int) -> Prediction:
    question = values["id"]
    texts = [value for column, value in values.items() if column.startswith(SCORE)]
    while texts[-1:] == [""]:
        texts.pop()
    try:
        margin, *scores = map(float, (values["margin"], *texts))
        if len(scores) < 2 or not all(map(math.isfinite, scores)):
            raise ValueError
    except ValueError:
        raise FormatError(f"question {question}: its scores are missing, or no numbers", name, line) from None
    choice = values["choice"]
    found = Prediction(question, choice, margin, values["kind"], tuple(scores), name, line)
    if choice not in found.letters:
        raise FormatError(
            f"question {question}: the choice {choice!r} is none of its {len(scores)} candidates", name, line
        )
    return found
