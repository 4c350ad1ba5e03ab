"""All tables, each also written to bench/results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

for name, file in (
    ("reading", "reading"),
    ("encoding", "encoding"),
    ("batching", "batching"),
    ("training", "training-cpu"),
):
    run = subprocess.run([sys.executable, "-m", f"bench.{name}"], stdout=subprocess.PIPE, text=True, check=True)
    print(f"\n{run.stdout}")
    (RESULTS / f"{file}.txt").write_text(run.stdout)
