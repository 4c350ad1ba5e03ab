"""Which questions does a model get right? Accuracy on the odd ids by the blank's part of speech, depth and dependents.

`python -m experiments.msr.analyse NAME... --material FOLDER` prints a table; trees are those of the right candidates.
`--differ` lists the questions that the first model has right and the second wrong, drawn.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from experiments.msr.results import HERE
from experiments.msr.run import Material
from ramify.formats import read_sentences
from ramify.formats.conllu import UPOS
from ramify.formats.predictions import read_predictions
from ramify.tasks.blank import Filled, own_parses
from ramify.trees.paths import dependency_path, dependents
from ramify.trees.pictures import draw_text

DEPTHS = ((1, 2, "1 or 2"), (3, 4, "3 or 4"), (5, 6, "5 or 6"), (7, 99, "7 and more"))
SHOWN = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", help="of files in scores/")
    parser.add_argument("--material", type=Path, required=True, help="as experiments.msr.run wants it")
    parser.add_argument("--differ", action="store_true")
    asked = parser.parse_args()
    material = Material.read(asked.material)
    chosen = [_choices(name) for name in asked.names]
    print("\n".join(_differ(material, *chosen[:2]) if asked.differ else _table(material, asked.names, chosen)))


def _choices(name: str) -> dict[str, str]:
    return {row.name: row.choice for row in read_predictions(HERE / "scores" / f"{name}.csv")}


def _table(material: Material, names: list[str], chosen: list[dict[str, str]]) -> Iterator[str]:
    tags = _tags(material)
    members: dict[str, list[str]] = defaultdict(list)
    for question, filled in _right_ones(material):
        for group in _groups(filled, tags[filled.tree.sent_id]):
            members[group].append(question)
    yield f"| blank | questions | {' | '.join(names)} |"
    yield f"|---|---:|{'---:|' * len(names)}"
    for group in sorted(members):
        shares = [sum(one[each] == material.answers[each] for each in members[group]) for one in chosen]
        cells = (f"{100 * share / len(members[group]):.1f}" for share in shares)
        yield f"| {group} | {len(members[group])} | {' | '.join(cells)} |"


def _right_ones(material: Material) -> Iterator[tuple[str, Filled]]:
    """Each question whose answer is known, with the right candidate in its own parse."""
    for question, parses in zip(material.questions, material.parses, strict=True):
        if question.id in material.answers:
            place = question.letters.index(material.answers[question.id])
            yield question.id, own_parses(question, parses)[place][0]


def _tags(material: Material) -> dict[str, list[str]]:
    return {each.tree.sent_id: [row[UPOS] for row in each.rows] for each in read_sentences(material.source)}


def _groups(filled: Filled, tags: list[str]) -> Iterator[str]:
    tag = tags[filled.first - 1]
    yield "is a " + (tag if tag in ("NOUN", "VERB", "ADJ", "ADV") else "word of another class")
    depth = len(dependency_path(filled.tree, filled.first))
    yield next(f"has a path of {name}" for low, high, name in DEPTHS if low <= depth <= high)
    left, right = dependents(filled.tree)[filled.first]
    yield "has left dependents" if left else "has no left dependents"
    yield "has right dependents" if right else "has no right dependents"


def _differ(material: Material, a: dict[str, str], b: dict[str, str]) -> Iterator[str]:
    found = [
        (question, filled)
        for question, filled in _right_ones(material)
        if a[question] == material.answers[question] != b[question]
    ]
    by_id = {question.id: question for question in material.questions}
    for question, filled in found[:SHOWN]:
        asked = by_id[question]
        wrong = asked.candidates[asked.letters.index(b[question])]
        yield f"\nquestion {question}: {asked.before.strip()} _____ {asked.after.strip()}"
        yield f"right: {filled.tree.forms[filled.first - 1]}; the second chose: {wrong}"
        yield draw_text(filled.tree)


if __name__ == "__main__":
    main()
