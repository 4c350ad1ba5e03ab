"""Predictions: written, and read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.errors import FormatError
from ramify.formats.predictions import Prediction, read_predictions, write_predictions
from ramify.formats.tables import Table

ROWS = [
    Prediction("1", "b", 1.5, "P(S|T) sum", (-12.25, -10.75, -20.0)),
    Prediction("2", "a", 0.0, "P(S|T) sum", (-3.5, -3.5)),
]


@pytest.mark.parametrize("table", Table)
def test_there_and_back(table: Table, tmp_path: Path) -> None:
    path = tmp_path / f"p.{table}"
    with path.open("w", encoding="utf-8", newline="") as out:
        write_predictions(ROWS, out, table)
    found = read_predictions(path)
    assert [(each.id, each.choice, each.margin, each.kind, each.scores) for each in found] == [
        (each.id, each.choice, each.margin, each.kind, each.scores) for each in ROWS
    ]
    assert [each.line for each in found] == ([1, 2] if table is Table.JSONL else [2, 3])
    assert [each.letters for each in found] == [("a", "b", "c"), ("a", "b")]


def test_the_table(tmp_path: Path) -> None:
    with (tmp_path / "p.csv").open("w", newline="") as out:
        write_predictions(ROWS, out, Table.CSV)
    assert (tmp_path / "p.csv").read_text() == (
        "id,choice,margin,kind,score_a,score_b,score_c\n"
        "1,b,1.500000,P(S|T) sum,-12.250000,-10.750000,-20.000000\n"
        "2,a,0.000000,P(S|T) sum,-3.500000,-3.500000,\n"
    )


HEAD = "id,choice,margin,kind,score_a,score_b\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,choice\n1,a\n", ":2: no column margin: is this a table that ramify complete wrote?"),
        (HEAD, "there is no row in the file"),
        (HEAD + "1,a,0,k,-1,x\n", ":2: question 1: its scores are missing, or no numbers"),
        (HEAD + "1,a,0,k,-1,nan\n", ":2: question 1: its scores are missing, or no numbers"),
        (HEAD + "1,a,0,k,,-1\n", ":2: question 1: its scores are missing, or no numbers"),
        (HEAD + "1,c,0,k,-1,-2\n", ":2: question 1: the choice 'c' is none of its 2 candidates"),
        (HEAD + "1,a,0,k,-1,\n", ":2: question 1: its scores are missing, or no numbers"),
        (HEAD + "1,a,0,k,-1,-2\nq1,a,0,k,-1,-2\n", ":3: question q1 occurs twice, first on line 2"),
    ],
)
def test_what_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(FormatError) as refused:
        read_predictions(tmp_path / "p.csv")
    assert said in str(refused.value)
