"""Parses of questions, found by their ids or by their order."""

from __future__ import annotations

import pytest

from ramify.errors import FormatError
from ramify.formats.parses import Parses, parses_of
from ramify.formats.questions import Question
from ramify.trees import Tree

QUESTIONS = [
    Question("1", "", " b", ("x", "y"), None, "q.csv", 2),
    Question("q2", "", " b", ("x", "y"), None, "q.csv", 3),
]


def tree(sent_id: str, form: str = "x") -> Tree:
    return Tree((form, "b"), (2, 0), sent_id=sent_id, source="p.conllu", line=4)


def ids(found: list[Parses]) -> list[list[list[str]]]:
    return [[[each.sent_id for each in place] for place in (*one.of_candidates, one.of_question)] for one in found]


def test_by_id() -> None:
    given = ["q1a", "1b", "2a", "q2b/2", "q2b/1", "2b/k_1", "q2b", "q2", "1/1", "2"]
    found = parses_of(QUESTIONS, map(tree, given))
    assert ids(found) == [[["q1a"], ["1b"], ["1/1"]], [["2a"], ["q2b/2", "q2b/1", "2b/k_1", "q2b"], ["q2", "2"]]]


def test_strangers_are_told() -> None:
    told: list[str] = []
    found = parses_of(
        QUESTIONS, map(tree, ["q1c", "q1a", "3a", "Q1a"]), on_stranger=lambda each: told.append(each.sent_id)
    )
    assert told == ["q1c", "3a", "Q1a"]
    assert ids(found)[0] == [["q1a"], [], []]


def test_a_slash_may_be_part_of_an_id() -> None:
    questions = [Question("x/1", "", "", ("x", "y")), Question("x", "", "", ("x", "y"))]
    assert ids(parses_of(questions, map(tree, ["x/1", "x/1a", "x/2", "xa/1"]))) == [
        [["x/1a"], [], ["x/1"]],
        [["xa/1"], [], ["x/2"]],
    ]


def test_in_order_where_there_are_no_ids() -> None:
    trees = [tree("", form) for form in "xyxy"]
    found = parses_of(QUESTIONS, trees)
    assert [each.of_candidates for each in found] == [[[trees[0]], [trees[1]]], [[trees[2]], [trees[3]]]]
    found = parses_of(QUESTIONS, trees[:2], shared=True)
    assert [each.of_question for each in found] == [[trees[0]], [trees[1]]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["", "", ""], "3 parses without sent_id for 4 candidates: are some missing?"),
        ([""] * 5, "p.conllu:4: more parses without sent_id than the 4 candidates"),
        (["", "q1b"], "p.conllu:4 (sent_id q1b): this sentence has a sent_id, and those before it have none"),
    ],
)
def test_counts_that_do_not_match(given: list[str], said: str) -> None:
    with pytest.raises(FormatError) as refused:
        parses_of(QUESTIONS, map(tree, given))
    assert str(refused.value) == said


def test_no_parses_at_all() -> None:
    assert ids(parses_of(QUESTIONS, [])) == [[[], [], []], [[], [], []]]


def test_ids_that_two_questions_would_share() -> None:
    questions = [
        Question("1", "", "", ("x", "y"), None, "q.csv", 2),
        Question("1a", "", "", ("x", "y"), None, "q.csv", 3),
    ]
    with pytest.raises(
        FormatError, match=r"q\.csv:3: question 1a: the sent_id q1a would be that of another question, too"
    ):
        parses_of(questions, [tree("q1a")])
