"""Mix the scores that experiments.msr.run left in scores/: `python -m experiments.msr.mix NAME FIRST SECOND...`.

Weights are tuned on the answers of the odd ids; the accuracy that is kept is that of the cross-validation, in which no
question is answered with weights that have seen its answer.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from experiments.msr.results import HERE, keep, results, table
from ramify.formats.answers import read_answers
from ramify.formats.predictions import read_predictions
from ramify.formats.questions import read_questions
from ramify.tasks.complete import Outcome, from_predictions
from ramify.tasks.mixture import mix, tune


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the mixture")
    parser.add_argument("parts", nargs="+", help="names of rows in results.json")
    parser.add_argument("--material", type=Path, required=True, help="questions.csv and answers.csv")
    asked = parser.parse_args()
    questions = read_questions(asked.material / "questions.csv")
    answers = read_answers(asked.material / "answers.csv", {each.id: each.letters for each in questions})
    models = [from_predictions(read_predictions(HERE / "scores" / f"{part}.csv"), questions) for part in asked.parts]
    tuned = tune(models, answers)
    rows = [row for row in results() if row["name"] in asked.parts]
    facts = {
        "parts": dict(zip(asked.parts, (round(weight, 4) for weight in tuned.weights), strict=True)),
        "parameters": sum(row["parameters"] for row in rows),
        "words_seen": sum(row["words_seen"] for row in rows),
        "minutes": round(sum(row["minutes"] for row in rows), 2),
        "command": shlex.join(["python", "-m", "experiments.msr.mix", asked.name, *asked.parts]),
    }
    keep(asked.name, mix(models, tuned.weights), Outcome.of(tuned.right), "mixture", None, facts)
    print(table())


if __name__ == "__main__":
    main()
