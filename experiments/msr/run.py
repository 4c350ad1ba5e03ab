"""Train models on the novels of the MSR sentence completion challenge and let them answer its questions.

`python -m experiments.msr.run STORE NAME... --material FOLDER --work FOLDER` trains recipes/NAME.toml, or a row of the
paper's Table 1 (paper-ldtree-400), one after the other, and writes what is kept: predictions/, scores/, curves/ and a
row of results.json for each. A run that was stopped goes on where it stood. The material is questions.csv,
questions.conllu and answers.csv, the answers of the odd ids; those of the even ids are not known here. `--table` prints
results.json.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from experiments.msr.results import keep, table
from ramify.benchmark.about import about, gpu
from ramify.formats import read
from ramify.formats.answers import read_answers
from ramify.formats.parses import Parses, parses_of
from ramify.formats.predictions import write_predictions
from ramify.formats.questions import Question, read_questions
from ramify.formats.tables import Table
from ramify.tasks.complete import CandidateScores, Outcome, choices, right, score_candidates
from ramify.tasks.score import LM
from ramify.training.recipe import Recipe, load_recipe
from ramify.training.session import Plan, can_resume, is_finished, prepare, start
from ramify.training.trainer import Interrupted, Trainer, Watcher

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, nargs="?", help="made by ramify encode, see README.md")
    parser.add_argument("names", nargs="*", help="recipes, by the names of their files")
    parser.add_argument("--material", type=Path, help="questions.csv, questions.conllu(.xz), answers.csv")
    parser.add_argument("--work", type=Path, help="where the models go")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many; the same command goes on")
    parser.add_argument("--epochs", type=int, help="fewer than the recipe has")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=6, help="that build batches")
    parser.add_argument("--table", action="store_true", help="print results.json")
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    material = None if asked.table else Material.read(asked.material)
    for name in asked.names if material is not None else ():
        recipe = recipe_of(name, asked.epochs)
        run(name, recipe, asked.store, material, asked.work / name, asked.device, asked.threads, until)
    print(table())


@dataclass(frozen=True)
class Material:
    """The questions, their parses, and the answers of those with odd ids."""

    questions: list[Question]
    parses: list[Parses]
    answers: dict[str, str]
    source: Path  # of the parses

    @classmethod
    def read(cls, folder: Path) -> Material:
        questions = read_questions(folder / "questions.csv")
        parses = next(path for path in (folder / "questions.conllu", folder / "questions.conllu.xz") if path.is_file())
        answers = read_answers(folder / "answers.csv", {question.id: question.letters for question in questions})
        return cls(questions, parses_of(questions, read(parses)), answers, parses)

    def scores(self, lm: LM, shared: bool) -> CandidateScores:
        """Under the parse of each candidate, or all of them under all."""
        return score_candidates(lm, self.questions, self.parses, shared=shared)

    def outcome(self, found: CandidateScores) -> Outcome:
        return Outcome.of(right(choices(found), self.answers))


def recipe_of(name: str, epochs: int | None) -> Recipe:
    """recipes/NAME.toml, or paper-MODEL-D: a row of the paper's Table 1, at its settings."""
    changes = {} if epochs is None else {"epochs": epochs}
    paper, _, rest = name.partition("-")
    if paper != "paper":
        return load_recipe(HERE / "recipes" / f"{name}.toml", **changes)
    model, _, hidden = rest.partition("-")
    sizes = {"hidden": int(hidden), "embedding": int(hidden) // 2}
    return load_recipe("paper-msr", model=model, precision="bf16", **sizes, **changes)


def run(
    name: str, recipe: Recipe, store: Path, material: Material, folder: Path, device: str, threads: int, until: float
) -> None:
    """Train a recipe to its end, or until the time is up; then keep what it answers."""
    plan = Plan([str(store)], device=device, threads=threads)
    corpora, validation = prepare(plan, recipe)
    curve = folder.parent / f"{name}.curve.jsonl"
    if not is_finished(folder):
        watcher = Watcher(stop=lambda: time.monotonic() > until)
        resume = folder.is_dir() and can_resume(folder)
        trainer = start(plan, recipe, corpora, validation, folder, resume, not resume, watcher=watcher)
        if not resume:
            curve.write_text("", encoding="utf-8")
        watcher.valid = lambda record: _note(trainer, material, record, curve)
        trainer.run()
    shutil.copy(curve, _made("curves") / f"{name}.jsonl")
    _answer(name, recipe, material, folder, store, device, curve)


def _note(trainer: Trainer, material: Material, record: dict[str, Any], curve: Path) -> None:
    """A line for each epoch: what was logged, and what the model answers by now."""
    lm = LM(trainer.model, trainer.corpora[0].vocabulary)
    right_now = {"accuracy": round(material.outcome(material.scores(lm, shared=False)).accuracy, 4)}
    if lm.config.kind.reads_trees:
        right_now["accuracy_shared"] = round(material.outcome(material.scores(lm, shared=True)).accuracy, 4)
    memory = torch.cuda.max_memory_reserved() / 2**30 if torch.cuda.is_available() else 0.0
    line = record | right_now | {"seconds": round(trainer.state.seconds, 1), "memory_gib": round(memory, 1)}
    with curve.open("a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")
    print(trainer.folder.name, json.dumps(line), flush=True)


def _answer(name: str, recipe: Recipe, material: Material, folder: Path, store: Path, device: str, curve: Path) -> None:
    from ramify.tasks.score import load

    lm = load(folder, device)
    lines = [json.loads(line) for line in curve.read_text(encoding="utf-8").splitlines()]
    ways = (False, True) if lm.config.kind.reads_trees else (False,)
    best = min(lines, key=lambda line: float(line["valid_entropy"]))
    for shared in ways:
        found = material.scores(lm, shared)
        called = f"{name}-shared" if shared else name
        with (_made("scores") / f"{called}.csv").open("w", encoding="utf-8") as out:
            write_predictions(found.predictions, out, Table.CSV)
        keep(
            called,
            found,
            material.outcome(found),
            kind="tree" if lm.config.kind.reads_trees else "sequence",
            recipe=recipe,
            facts={
                "parameters": lm.model.n_parameters,
                "epochs": len(lines),
                "words_seen": sum(line["words"] for line in lines),
                "minutes": round(lines[-1]["seconds"] / 60, 2),
                "memory_gib": lines[-1]["memory_gib"],
                "validation_ppl": round(best["valid_ppl"], 2),
                "command": shlex.join(["python", "-m", "experiments.msr.run", "STORE", name, *_asked(name, recipe)]),
                "about": [*about("torch", "triton", "numpy"), gpu()] if torch.cuda.is_available() else about("torch"),
            },
        )


def _asked(name: str, recipe: Recipe) -> list[str]:
    """What the command has beside the name."""
    return [] if recipe == recipe_of(name, None) else ["--epochs", str(recipe.epochs)]


def _made(name: str) -> Path:
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    return folder


if __name__ == "__main__":
    try:
        main()
    except Interrupted as stopped:
        print(stopped)
