"""The parses of questions: which tree of a treebank belongs to which candidate.

`sent_id` tells: `q17c` is candidate c of question 17, `q17` the question itself with any word in its blank; the q may
be missing on either side. Several parses of one are the same id again, or `q17c/1`, `q17c/2`, or a k-best list
`q17c/k_1`. Where no sentence has an id at all, they follow one another as the candidates do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ramify.errors import FormatError
from ramify.formats.questions import Question
from ramify.trees import Tree

_RANK = re.compile(r"/(k_)?\d+$")

Place = list[Tree]  # where the parses of one candidate, or of a question, are gathered


@dataclass(slots=True)
class Parses:
    """The parses of one question: those of each candidate, and those of the question itself."""

    of_candidates: list[Place]
    of_question: Place = field(default_factory=list)


def parses_of(
    questions: Sequence[Question],
    trees: Iterable[Tree],
    *,
    shared: bool = False,
    on_stranger: Callable[[Tree], object] = lambda tree: None,
) -> list[Parses]:
    """The parses of each question. `on_stranger` hears of trees that belong to none.

    `shared` matters where trees have no ids: then they are the parses of the questions and not of the candidates.
    """
    found = [Parses([[] for _ in question.candidates]) for question in questions]
    walk = iter(trees)
    first = next(walk, None)
    if first is not None and not first.sent_id:
        _in_order(found, chain([first], walk), shared)
        return found
    places = _places(questions, found)
    for tree in chain([first] if first else [], walk):
        name = tree.sent_id.removeprefix("q")
        place = places.get(name)
        if place is None:
            place = places.get(_RANK.sub("", name))
        if place is None:
            on_stranger(tree)
        else:
            place.append(tree)
    return found


def _places(questions: Sequence[Question], found: list[Parses]) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for question, parses in zip(questions, found, strict=True):
        names = ["", *question.letters]
        for end, place in zip(names, (parses.of_question, *parses.of_candidates), strict=True):
            if places.setdefault(question.name + end, place) is not place:
                raise question.refused(f"the sent_id q{question.name}{end} would be that of another question, too")
    return places


def _in_order(found: list[Parses], trees: Iterable[Tree], shared: bool) -> None:
    places = [place for each in found for place in ([each.of_question] if shared else each.of_candidates)]
    what = "questions" if shared else "candidates"
    walk = iter(trees)
    for number, place in enumerate(places):
        tree = next(walk, None)
        if tree is None:
            raise FormatError(f"{number} parses without sent_id for {len(places)} {what}: are some missing?")
        if tree.sent_id:
            message = "this sentence has a sent_id, and those before it have none"
            raise FormatError(message, tree.source, tree.line, tree.sent_id)
        place.append(tree)
    further = next(walk, None)
    if further is not None:
        message = f"more parses without sent_id than the {len(places)} {what}"
        raise FormatError(message, further.source, further.line, further.sent_id)
