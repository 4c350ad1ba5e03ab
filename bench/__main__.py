"""All tables, each also written to bench/results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

for name in ("reading", "encoding", "batching"):
    run = subprocess.run([sys.executable, "-m", f"bench.{name}"], stdout=subprocess.PIPE, text=True, check=True)
    print(f"\n{run.stdout}")
    (RESULTS / f"{name}.txt").write_text(run.stdout)
