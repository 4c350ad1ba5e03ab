"""Sentence-completion questions: a sentence with a blank, and the candidates for it.

Three forms are told apart by how the text begins. CSV: the header `id,question,a),b),...` and a row for each question
with a blank `_____`. JSON lines: objects with id, question, candidates (a list, or letters to texts) and perhaps an
answer. The original's LM form: a line `<s> ... </s>` for each candidate, five for a question; the blank is where they
differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ramify.errors import FormatError
from ramify.formats.blocks import BOM
from ramify.formats.files import Progress, display_name, text_chunks
from ramify.formats.tables import Table, json_objects, lines_of, table_rows

BLANK = "_____"
_BLANK = re.compile("___+")
_LM_GROUP = 5  # candidates of a question in the LM form, where no blank lines part the questions


@dataclass(frozen=True, slots=True)
class Question:
    """The text on both sides of a blank, and what may stand there; candidates are called a, b, c, ..."""

    id: str
    before: str
    after: str
    candidates: tuple[str, ...] = ()
    answer: str | None = None  # a letter
    source: str = ""
    line: int = 0

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(map(letter, range(len(self.candidates))))

    @property
    def name(self) -> str:
        """The id without the q that some files put before it."""
        return self.id.removeprefix("q")

    def refused(self, message: str) -> FormatError:
        """An error that names the row."""
        return FormatError(f"question {self.id}: {message}", self.source, self.line)


def letter(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    before, last = divmod(number, 26)
    return (letter(before - 1) if before else "") + chr(ord("a") + last)


def read_questions(source: str | Path, *, encoding: str = "utf-8", progress: Progress | None = None) -> list[Question]:
    """The questions of a file in any of the three forms; a question may have no candidates, but not one alone."""
    name = display_name(source)
    chunks = text_chunks(source, encoding, progress)
    start = beginning = ""
    while len(beginning) < len("<s>") and (chunk := next(chunks, "")):
        start += chunk
        beginning = start.lstrip(BOM + " \t\r\n")
    text = chain([start], chunks)
    if beginning.startswith("{"):
        questions = list(_from_json(text, name))
    elif beginning.startswith("<s>"):
        questions = list(_from_lm(text, name))
    else:
        questions = list(_from_csv(text, name))
    seen: dict[str, Question] = {}
    for question in questions:
        if (other := seen.setdefault(question.name, question)) is not question:
            raise question.refused(f"the id occurs twice, first on line {other.line}")
    return questions


# --- CSV and JSON lines ----------------------------------------------------------------------------------------------


def _from_csv(text: Iterable[str], name: str) -> Iterator[Question]:
    for line, values in table_rows(text, Table.CSV, name):
        columns = list(values)
        answer = values.pop("answer", "").strip()
        further = [column for column in values if column not in ("id", "question")]
        called = [column.rstrip(")").lower() for column in further]
        if columns[:2] != ["id", "question"] or called != [letter(i) for i in range(len(called))]:
            raise FormatError(
                f"the header is {','.join(columns)}, and not id,question,a),b),c) and so on: "
                "questions are such a CSV, JSON lines, or lines <s> ... </s>",
                name,
                1,
            )
        cells = [values[column].strip() for column in further]
        while cells and not cells[-1]:  # a question with fewer candidates than others
            cells.pop()
        yield _question(values["id"].strip(), values["question"], cells, answer, name, line)


def _from_json(text: Iterable[str], name: str) -> Iterator[Question]:
    for line, found in json_objects(lines_of(text), name):
        values = [found.get(key) for key in ("id", "question", "answer")]
        if type(values[0]) is int:
            values[0] = str(values[0])
        for key, value in zip(("id", "question"), values, strict=False):
            if type(value) is not str:
                raise FormatError(f"{key!r} is {value!r}, not a text", name, line)
        called, question, answer = values
        if answer is not None and type(answer) is not str:
            raise FormatError(f"question {called}: the answer is {answer!r}, not a letter", name, line)
        candidates = _candidates(found.get("candidates"))
        if candidates is None:
            raise FormatError(
                f"question {called}: the candidates are no list of texts, and no object with a, b, c, ... to texts",
                name,
                line,
            )
        yield _question(str(called).strip(), str(question), candidates, str(answer or "").strip(), name, line)


def _candidates(found: Any) -> list[str] | None:
    if found is None:
        return []
    if type(found) is dict:
        by_letter = {key.rstrip(")").lower(): value for key, value in found.items()}
        letters = [letter(i) for i in range(len(found))]
        if set(by_letter) != set(letters):
            return None
        found = [by_letter[each] for each in letters]
    if type(found) is not list or not all(type(each) is str for each in found):
        return None
    return [each.strip() for each in found]


def _question(id: str, text: str, candidates: list[str], answer: str, name: str, line: int) -> Question:
    sides = _BLANK.split(text)
    question = Question(id, sides[0], sides[-1], tuple(candidates), answer_letter(answer) or None, name, line)
    if not id:
        raise FormatError("the question has no id", name, line)
    if len(sides) != 2:
        found = "no blank" if len(sides) == 1 else f"{len(sides) - 1} blanks"
        raise question.refused(f"it has {found}, and one is needed: {BLANK}")
    return _checked(question)


def answer_letter(text: str) -> str:
    """An answer as candidates are called: c for `C` and `c)`."""
    return text.strip().rstrip(")").lower()


def _checked(question: Question) -> Question:
    if len(question.candidates) == 1:
        raise question.refused(f"one candidate alone, {question.candidates[0]!r}: there is nothing to choose from")
    if "" in question.candidates:
        raise question.refused(f"candidate {letter(question.candidates.index(''))} is empty")
    if question.answer is not None and question.answer not in question.letters:
        raise question.refused(f"the answer {question.answer!r} is none of its candidates")
    return question


# --- the LM form -----------------------------------------------------------------------------------------------------


def _from_lm(text: Iterable[str], name: str) -> Iterator[Question]:
    """Questions are numbered 1, 2, ... Blank lines part them, or else each has five lines."""
    lines = [(number, line.split()) for number, line in enumerate(lines_of(text), 1)]
    for number, words in lines:
        if words and (len(words) < 3 or words[0] != "<s>" or words[-1] != "</s>"):
            raise FormatError("the line does not read <s> ... </s>", name, number)
    for number, group in enumerate(_groups(lines, name), 1):
        yield _checked(_differing(str(number), [words[1:-1] for _, words in group], name, group[0][0]))


def _groups(lines: list[tuple[int, list[str]]], name: str) -> Iterator[list[tuple[int, list[str]]]]:
    filled = [line for line in lines if line[1]]
    if filled[-1][0] - filled[0][0] == len(filled) - 1:  # no blank line among them
        if rest := len(filled) % _LM_GROUP:
            message = f"{len(filled)} lines are not {_LM_GROUP} for each question: the last one has {rest}"
            raise FormatError(message, name, filled[-1][0])
        yield from (filled[i : i + _LM_GROUP] for i in range(0, len(filled), _LM_GROUP))
        return
    group: list[tuple[int, list[str]]] = []
    for line in [*lines, (0, [])]:
        if line[1]:
            group.append(line)
        elif group:
            yield group
            group = []


def _differing(id: str, texts: Sequence[list[str]], name: str, line: int) -> Question:
    """The question behind its filled sentences: they share their first words and their last ones, as long as each has a
    word left for the blank."""
    shortest = min(map(len, texts))
    first = 0
    while first < shortest and len({words[first] for words in texts}) == 1:
        first += 1
    last = 0
    while last < shortest - first and len({words[-1 - last] for words in texts}) == 1:
        last += 1
    if first + last == shortest:
        first, last = (first, last - 1) if last else (first - 1, last)
    candidates = tuple(" ".join(words[first : len(words) - last]) for words in texts)
    before, after = texts[0][:first], texts[0][len(texts[0]) - last :]
    question = Question(id, " ".join([*before, ""]), " ".join(["", *after]), candidates, None, name, line)
    if len(set(candidates)) == 1 and len(texts) > 1:
        raise question.refused(f"its {len(texts)} lines are the same: there is no blank")
    if not before and not after:
        raise question.refused("its lines share neither their first word nor their last: do they belong together?")
    return question
