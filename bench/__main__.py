"""All tables, each also written to bench/results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

for file, command in (
    ("reading", ["bench.reading"]),
    ("encoding", ["bench.encoding"]),
    ("batching", ["bench.batching"]),
    ("decoding", ["bench.decoding"]),
    ("train-cpu", ["ramify", "bench", "train", "--device", "cpu"]),
):
    run = subprocess.run([sys.executable, "-m", *command], stdout=subprocess.PIPE, text=True, check=True)
    print(f"\n{run.stdout}")
    (RESULTS / f"{file}.txt").write_text(run.stdout)
