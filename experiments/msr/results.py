"""results.json and predictions/: a row and a file of choices for each model; `chosen` is one of each kind.

Chosen is the model with the most right answers among the odd ids; of equals the one with the lower perplexity.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from ramify.formats.files import whole_file
from ramify.tasks.complete import CandidateScores, Outcome, choices
from ramify.training.recipe import Recipe

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"


def keep(
    name: str, found: CandidateScores, outcome: Outcome, kind: str, recipe: Recipe | None, facts: dict[str, Any]
) -> None:
    """Write the choices of a model for all questions, and its row."""
    (HERE / "predictions").mkdir(exist_ok=True)
    with whole_file(HERE / "predictions" / f"{name}.csv") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["id", "choice"])
        rows.writerows(choices(found).items())
    row = {"name": name, "kind": kind}
    if recipe is not None:
        row |= {
            "model": str(recipe.model),
            "objective": str(recipe.objective),
            "hidden": recipe.hidden,
            "layers": recipe.layers,
            "projection": recipe.projection,
            "seed": recipe.seed,
        }
    row |= {"accuracy_odd": round(outcome.accuracy, 4), "interval": [round(outcome.low, 4), round(outcome.high, 4)]}
    row |= facts
    others = [each for each in results() if each["name"] != name]
    with whole_file(RESULTS) as out:
        json.dump(_with_chosen([*others, row]), out, indent=1)
        out.write("\n")


def results() -> list[dict[str, Any]]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []


def _with_chosen(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for kind in {row["kind"] for row in rows}:
        of_kind = [row for row in rows if row["kind"] == kind]
        best = max(of_kind, key=lambda row: (row["accuracy_odd"], -float(row.get("validation_ppl") or 0)))
        for row in of_kind:
            row["chosen"] = row is best
    return sorted(rows, key=lambda row: (row["kind"], row["name"]))


def table() -> str:
    """The rows in Markdown."""
    lines = [
        "| name | kind | objective | D | parameters | words seen | minutes | valid ppl | odd ids | |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in results():
        low, high = (f"{100 * each:.1f}" for each in row["interval"])
        cells = [
            row["name"],
            row["kind"],
            row.get("objective", ""),
            str(row.get("hidden", "")),
            f"{row['parameters']:,}" if "parameters" in row else "",
            f"{row['words_seen'] / 1e6:,.0f}M" if "words_seen" in row else "",
            f"{row['minutes']:.1f}" if "minutes" in row else "",
            f"{row['validation_ppl']:.1f}" if row.get("validation_ppl") else "",
            f"{100 * row['accuracy_odd']:.1f} [{low}, {high}]",
            "chosen" if row["chosen"] else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
