"""Answers: some may be missing, none may be unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ramify.errors import FormatError
from ramify.formats.answers import own_answers, read_answers
from ramify.formats.questions import Question

LETTERS = {"1": ("a", "b"), "q2": ("a", "b", "c"), "x": ("a", "b")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,answer\n1,b\n2,C\n"),
        ("a.csv", "id,answer,source\nq1,b),gold\nq2,c,gold\n"),
        ("a.tsv", "answer\tid\nb\t1\nc\tq2\n"),
        ("a.jsonl", '{"id": 1, "answer": "b"}\n{"id": "q2", "answer": "c"}\n'),
    ],
)
def test_answers(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert read_answers(tmp_path / name, LETTERS) == {"1": "b", "q2": "c"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no row in the file"),
        ("nr,answer\n1,a\n", "a.csv:2: the columns are nr, answer: id and answer are needed"),
        ("id,answer\n1,a\n7,a\n", "a.csv:3: there is no question '7'"),
        ("id,answer\n1,a\nq1,a\n", "a.csv:3: question 1 is answered twice"),
        ("id,answer\n1,c\n", "a.csv:2: question 1: the answer 'c' is none of its candidates"),
        ("id,answer\n1,\n", "a.csv:2: question 1: the answer '' is none of its candidates; leave out what is unknown"),
    ],
)
def test_what_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FormatError) as refused:
        read_answers(tmp_path / "a.csv", LETTERS)
    assert said in str(refused.value)


def test_answers_beside_the_questions() -> None:
    questions = [Question("1", "", "", ("x", "y"), "b"), Question("2", "", "", ("x", "y"))]
    assert own_answers(questions) == {"1": "b"}
