"""Rerank the k-best lists of an MSTParser on English EWT with models of several kinds: the paper's Table 2.

`python -m experiments.rerank.run LISTS --vectors GLOVE [--only ROW]... [--seeds N] [--work FOLDER]` trains each row's
models, tunes K and the mixture on dev, reports dev and test, writes results.json and prints the table. LISTS is the
folder with {dev,test}-20-best-mst2ndorder.conll.xz and the scores beside them. Runs of results.json are not repeated.
`--table` prints the table alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ramify
from experiments.rerank.whole_trees import whole
from ramify.benchmark.about import about
from ramify.corpus.structure import Array
from ramify.formats import KBest, Sentence, group, read_sentences, write
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.rerank import Scored, base_logprobs, by_rule, score_lists, tuned_rule
from ramify.tasks.rerank_report import report
from ramify.tasks.rerank_rule import Rule
from ramify.trees import Tree

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
GLOVE = ["--embedding", "100", "--projection", "100", "--vectors"]
WHOLE = ["--hidden", "100", "--embedding", "100", "--projection", "100", "--epochs", "4"]
WHOLE += ["--dropout-input", "0.3", "--dropout-output", "0.3"]
ROWS = {
    "tree": ("TreeLSTM", ["--model", "tree"]),
    "tree-glove": ("TreeLSTM, GloVe", ["--model", "tree", *GLOVE]),
    "ldtree": ("LdTreeLSTM", ["--model", "ldtree"]),
    "ldtree-glove": ("LdTreeLSTM, GloVe", ["--model", "ldtree", *GLOVE]),
    "ldtree-whole": ("LdTreeLSTM of P(S, T)", ["--model", "ldtree", *WHOLE]),
}
PARTS = ("dev", "test")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", type=Path, nargs="?", help="the folder of the k-best lists")
    parser.add_argument("--vectors", type=Path, help="GloVe vectors of 100 dimensions, for the rows that need them")
    parser.add_argument("--only", action="append", choices=ROWS, help="this row; can be repeated")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="where models and scores go (left out: a folder that is removed)")
    parser.add_argument("--table", action="store_true", help="print the table of results.json")
    asked = parser.parse_args()
    if not asked.table:
        if asked.lists is None:
            parser.error("name the folder of the k-best lists")
        rows = asked.only or list(ROWS)
        if asked.vectors is None and any(GLOVE[-1] in ROWS[row][1] for row in rows):
            parser.error("rows with GloVe need --vectors")
        work = asked.work or Path(tempfile.mkdtemp(prefix="rerank-"))
        material = Material(asked.lists)
        try:
            for seed in range(1, asked.seeds + 1):
                for row in rows:
                    run(row, seed, material, asked.vectors, work)
        finally:
            if asked.work is None:
                shutil.rmtree(work)
    print(table(_results()))


class Material:
    """Gold trees, lists and counts of both parts, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: dict[str, tuple[list[Tree], list[KBest], list[Array]]] = {}

    def __getitem__(self, part: str) -> tuple[list[Tree], list[KBest], list[Array]]:
        if part not in self._found:
            gold = list(ramify.read(f"ewt:{part}"))
            lists = list(group(read_sentences(self.folder / f"{part}-20-best-mst2ndorder.conll.xz")))
            self._found[part] = gold, lists, counts_beside_gold(gold, lists)
        return self._found[part]


def run(row: str, seed: int, material: Material, vectors: Path | None, work: Path) -> None:
    """Train one model and rerank with it; the result is written as soon as it is there."""
    if any(each["seed"] == seed for each in _results().get(row, {}).get("runs", [])):
        return
    folder = work / row / f"seed-{seed}"
    command = trained(row, seed, vectors, work, folder)
    for part in PARTS:
        _scored(row, part, material, folder)
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    found: dict[str, Any] = {"seed": seed, "valid_ppl": min(record["valid_ppl"] for record in log)}
    found |= judged({part: mean_scores([folder], part, material) for part in PARTS}, material)
    results = _results()  # as it is now: other rows may have been run beside this one
    kept = results.setdefault(row, {"command": command, "about": about("torch", "numpy"), "runs": []})
    kept["runs"] = sorted([*kept["runs"], found], key=lambda each: int(each["seed"]))
    seeds = [each["seed"] for each in kept["runs"]]
    folders = [work / row / f"seed-{each}" for each in seeds]
    if len(seeds) > 1 and all((each / "scores-test.npz").is_file() for each in folders):
        both = {part: mean_scores(folders, part, material) for part in PARTS}
        kept["together"] = {"seeds": seeds, **judged(both, material)}
    if "base" not in results:
        results["base"] = {part: base(material, part) for part in PARTS}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for way in ("alone", "mixed"):
        print(_line(f"{ROWS[row][0]}, {way}, seed {seed}", [found[way]]), flush=True)


def _results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return found


def trained(row: str, seed: int, vectors: Path | None, work: Path, folder: Path) -> str:
    """Train a model, unless an earlier call with the same --work has; the command is returned."""
    options = ROWS[row][1]
    train, valid = "ewt:train", "ewt:dev"
    folder.parent.mkdir(parents=True, exist_ok=True)
    if row.endswith("whole"):
        train, valid = str(work / "whole-train.conllu"), str(work / "whole-dev.conllu")
        for part, file in (("train", train), ("dev", valid)):
            if not Path(file).exists():
                write((Sentence.from_tree(_seen(row)(tree)) for tree in ramify.read(f"ewt:{part}")), file)
    recipe = [*options, str(vectors)] if GLOVE[-1] in options else options
    if not (folder / "trained").exists():
        command = ["train", train, "--valid", valid, *recipe, "--seed", str(seed), "-o", str(folder), "--force"]
        subprocess.run([sys.executable, "-m", "ramify", *command], check=True)
        (folder / "trained").touch()
    shown = [Path(each).name if each == str(vectors) else each for each in recipe]
    return f"ramify train {Path(train).name} --valid {Path(valid).name} {' '.join(shown)} --seed SEED"


def _seen(row: str) -> Callable[[Tree], Tree]:
    """What the models of a row make of a tree."""
    return whole if row.endswith("whole") else lambda tree: tree


def _scored(row: str, part: str, material: Material, folder: Path) -> None:
    """The tree scores of all candidates, one after the other, in a file; unless it is there."""
    file = folder / f"scores-{part}.npz"
    if not file.exists():
        scored = score_lists(material[part][1], [ramify.load(folder)], seen=_seen(row))
        np.savez_compressed(file, np.concatenate([each.tree for each in scored]))


def mean_scores(folders: Sequence[Path], part: str, material: Material) -> list[Scored]:
    """The lists with the mean score of the models in these folders."""
    mean = np.mean([np.load(folder / f"scores-{part}.npz")["arr_0"] for folder in folders], 0)
    _, lists, counts = material[part]
    ends = np.cumsum([len(each) for each in counts])
    each_list = zip(lists, np.split(mean, ends[:-1]), strict=True)
    return [Scored(kbest, tree, base_logprobs(kbest)) for kbest, tree in each_list]


def judged(scored: dict[str, list[Scored]], material: Material) -> dict[str, Any]:
    """Both rules, tuned on dev, and what they come to on dev and test."""
    ways: dict[str, dict[str, Any]] = {}
    for way, mix in (("alone", 1.0), ("mixed", None)):
        rule = tuned_rule(scored["dev"], material["dev"][2], mix=mix)
        ways[way] = {"k": rule.k, "mix": rule.mix}
        ways[way] |= {part: _reported(scored[part], material[part][2], rule) for part in PARTS}
    return ways


def base(material: Material, part: str) -> dict[str, Any]:
    """The parser's first trees, and the best, the worst and a blind choice of all."""
    _, lists, counts = material[part]
    nothing = [Scored(kbest, np.zeros(len(kbest.candidates)), None) for kbest in lists]
    longest = max(map(len, counts))
    found = report(by_rule(nothing, Rule(longest)), counts, longest).to_json()["systems"]
    return {name: _short(found[name]) for name in ("base", "oracle", "worst", "random")}


def _reported(scored: list[Scored], counts: list[Array], rule: Rule) -> dict[str, Any]:
    found = report(by_rule(scored, rule), counts, rule.k).to_json()
    return {
        "reranked": _short(found["systems"]["reranked"]),
        "gain": _short(found["gain"]),
        "p": {name: each["p"] for name, each in found["gain"].items()},
    }


def _short(figures: dict[str, Any]) -> dict[str, str]:
    """In percent, with the interval: a line for each figure."""
    return {
        name: " ".join(f"{100 * number:.3f}" for number in (each["value"], *each["interval"]))
        for name, each in figures.items()
    }


def _value(text: str) -> float:
    return float(text.split()[0])


# --- the table -------------------------------------------------------------------------------------------------------

_COLUMNS = [(part, figure) for part in PARTS for figure in ("paper_uas", "paper_las", "uas", "las")]


def table(results: dict[str, Any]) -> str:
    """The figures of all rows in Markdown: the mean over seeds, and the deviation where there are several."""
    lines = [
        "| | K | A | dev UAS | LAS | UAS, all words | LAS | test UAS | LAS | UAS, all words | LAS |",
        "|---|---|---|" + "---:|" * len(_COLUMNS),
    ]
    for name, system in (("MSTParser", "base"), ("best of all", "oracle")):
        cells = [f"{_value(results['base'][part][system][figure]):.2f}" for part, figure in _COLUMNS]
        lines.append(f"| {name} | | | {' | '.join(cells)} |")
    for way in ("alone", "mixed"):
        for row, (name, _) in ROWS.items():
            if row in results:
                lines.append(_line(f"{name}, {way}", [run[way] for run in results[row]["runs"]]))
                if "together" in results[row]:
                    lines.append(_line(f"{name}, {way}, all seeds together", [results[row]["together"][way]]))
    return "\n".join(lines)


def _line(name: str, runs: list[dict[str, Any]]) -> str:
    ks, mixes = (", ".join(dict.fromkeys(f"{run[key]:g}" for run in runs)) for key in ("k", "mix"))
    cells = []
    for part, figure in _COLUMNS:
        values = [_value(run[part]["reranked"][figure]) for run in runs]
        spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
        cells.append(f"{statistics.mean(values):.2f}{spread}")
    return f"| {name} | {ks} | {mixes} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
