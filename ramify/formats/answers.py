"""The answers to questions: a table with the columns id and answer. Some may be missing, none may be unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ramify.errors import FormatError
from ramify.formats.files import display_name
from ramify.formats.questions import Question, answer_letter
from ramify.formats.tables import read_table


def read_answers(
    source: str | Path, letters: Mapping[str, Iterable[str]], *, encoding: str = "utf-8"
) -> dict[str, str]:
    """Letters by id. `letters` has those that each question offers; ids with and without a q before them are one."""
    name = display_name(source)
    known = {each.removeprefix("q"): each for each in letters}
    answers: dict[str, str] = {}
    for line, values in read_table(source, encoding=encoding):
        if not {"id", "answer"} <= set(values):
            raise FormatError(f"the columns are {', '.join(values)}: id and answer are needed", name, line)
        shown, answer = values["id"].strip(), answer_letter(values["answer"])
        question = known.get(shown.removeprefix("q"))
        if question is None:
            raise FormatError(f"there is no question {shown!r}", name, line)
        if question in answers:
            raise FormatError(f"question {question} is answered twice", name, line)
        if answer not in set(letters[question]):
            message = f"question {question}: the answer {answer!r} is none of its candidates; leave out what is unknown"
            raise FormatError(message, name, line)
        answers[question] = answer
    return answers


def own_answers(questions: Iterable[Question]) -> dict[str, str]:
    """The answers that stand with the questions."""
    return {question.id: question.answer for question in questions if question.answer is not None}
