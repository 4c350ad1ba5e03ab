"""Train the four kinds of model on English EWT with three seeds each and evaluate them on its test part.

`python -m experiments.ewt.run [--only KIND]... [--work FOLDER]` repeats the commands of README.md beside this file,
keeps the small outputs under raw/, writes results.json and prints the tables. Kinds that are in results.json and are
not asked for stay as they are. `--table` prints the tables alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ramify.benchmark.about import about

HERE = Path(__file__).parent
RAW, RESULTS = HERE / "raw", HERE / "results.json"
KINDS = ("tree", "ldtree", "lstm", "bilstm")
NAMES = {"tree": "TreeLSTM", "ldtree": "LdTreeLSTM", "lstm": "LSTM", "bilstm": "BiLSTM"}
SEEDS = (1, 2, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=KINDS, help="this kind; can be repeated")
    parser.add_argument("--work", type=Path, help="where the models go (left out: a folder that is removed)")
    parser.add_argument("--table", action="store_true", help="print the tables of results.json")
    asked = parser.parse_args()
    if not asked.table:
        work = asked.work or Path(tempfile.mkdtemp(prefix="ewt-"))
        try:
            for kind in asked.only or KINDS:
                run(kind, work)
        finally:
            if asked.work is None:
                shutil.rmtree(work)
    print("\n\n".join(tables(json.loads(RESULTS.read_text(encoding="utf-8")))))


def run(kind: str, work: Path) -> None:
    """Train and evaluate one kind; raw outputs and results are written as soon as they are there."""
    shutil.rmtree(RAW / kind, ignore_errors=True)
    (RAW / kind).mkdir(parents=True)
    folder = work / kind
    command = ["train", "ewt:train", "--valid", "ewt:dev", "--model", kind, "--seeds", str(len(SEEDS))]
    minutes = _timed([*command, "-o", str(folder), "--force"], RAW / kind / "train.txt", [*command, "-o", kind])
    rows = []
    for seed, spent in zip(SEEDS, minutes, strict=True):
        this, kept = folder / f"seed-{seed}", RAW / kind / f"seed-{seed}"
        kept.mkdir()
        shutil.copy(this / "log.jsonl", kept / "log.jsonl")
        for options, file in ((["--json"], "evaluate.json"), ([], "evaluate.txt")):
            found = _output(["evaluate", "ewt:test", "-m", str(this), *options])
            (kept / file).write_text(found, encoding="utf-8")
        parameters = json.loads(_output(["info", str(this), "--json"]))["parameters"]
        rows.append(_row(seed, parameters, spent, kept))
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    results[kind] = {"about": about("torch", "numpy"), "command": f"ramify {' '.join(command)} -o {kind}", "runs": rows}
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(NAMES[kind], *(f"{row['test_ppl']:.2f}" for row in rows), flush=True)


def _timed(arguments: list[str], target: Path, shown: list[str]) -> list[float]:
    """Run a training, keep what it says, and measure the minutes to the end of each seed by the clock.

    The minutes of the first one have the start of the program and the reading of the treebank in them.
    """
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    started, minutes = time.monotonic(), []
    process = subprocess.Popen(
        [sys.executable, "-m", "ramify", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    here = arguments[arguments.index("-o") + 1]
    with target.open("w", encoding="utf-8") as out:
        out.write(f"$ ramify {' '.join(shown)}\n")
        for line in process.stdout:
            out.write(line.replace(here, Path(here).name))
            out.flush()
            if line.startswith("valid ppl") and " after epoch " in line:
                now = time.monotonic()
                minutes.append((now - started) / 60)
                started = now
    if process.wait():
        raise SystemExit(f"the training failed; see {target}")
    return minutes


def _output(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "ramify", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def _row(seed: int, parameters: int, minutes: float, kept: Path) -> dict[str, Any]:
    log = [json.loads(line) for line in (kept / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    found = json.loads((kept / "evaluate.json").read_text(encoding="utf-8"))
    best = min(log, key=lambda record: float(record["valid_entropy"]))
    return {
        "seed": seed,
        "kind": found["kind"],
        "parameters": parameters,
        "minutes": round(minutes, 2),
        "best_epoch": best["epoch"],
        "valid_ppl": best["valid_ppl"],
        "test_ppl": found["ppl"],
        "test_ppl_known": found["ppl_known"],
        "unk_rate": found["unk_rate"],
        "signature": found["signature"],
    }


def tables(results: dict[str, Any]) -> list[str]:
    """One table for each kind of number, in Markdown."""
    parts = []
    for number in dict.fromkeys(results[kind]["runs"][0]["kind"] for kind in KINDS if kind in results):
        name = number.replace("|", "\\|")
        lines = [
            f"| {name} | ewt:test | UNK rate | without UNK | ewt:dev | parameters | minutes |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        for kind in KINDS:
            if kind in results and results[kind]["runs"][0]["kind"] == number:
                runs = results[kind]["runs"]
                ppl, known, valid = (_spread(runs, key) for key in ("test_ppl", "test_ppl_known", "valid_ppl"))
                minutes = statistics.mean(run["minutes"] for run in runs)
                unk, parameters = f"{runs[0]['unk_rate']:.2%}", f"{runs[0]['parameters']:,}"
                cells = (ppl, unk, known, valid, parameters, f"{minutes:.1f}")
                lines.append(f"| {NAMES[kind]} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return parts


def _spread(runs: list[dict[str, Any]], key: str) -> str:
    values = [run[key] for run in runs]
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


if __name__ == "__main__":
    main()
