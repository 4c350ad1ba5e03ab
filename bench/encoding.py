"""`ramify encode` as a user runs it: seconds, words a second and the memory of all its processes at their peak.

Without arguments it encodes the bundled EWT; `python -m bench.encoding corpus/*.conllu.xz` measures other files.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.common import heading

OPTIONS = "--min-count 5 --lowercase --max-length 100 --max-vocab 65536 --hold-out 4000 --quiet"


def main() -> None:
    files = sys.argv[1:] or ["ewt:train", "ewt:dev", "ewt:test"]
    heading("numpy", "numba")
    print(f"options: {OPTIONS}\n")
    print(f"{'processes':>9}{'seconds':>9}{'words':>13}{'words/s':>12}{'peak memory':>14}")
    for processes in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            call = [sys.executable, "-c", "from ramify.cli import main; main()", "encode", *files, "-o", str(store)]
            start = time.perf_counter()
            run = subprocess.Popen([*call, *OPTIONS.split(), "--processes", str(processes)])
            peak = 0
            while run.poll() is None:
                peak = max(peak, sum(map(_resident, _family(run.pid))))
                time.sleep(0.1)
            seconds = time.perf_counter() - start
            if run.returncode:
                sys.exit(run.returncode)
            meta = json.loads((store / "store.json").read_text())
        words = meta["words"]
        print(f"{processes:>9}{seconds:>9.1f}{words:>13,}{words / seconds:>12,.0f}{peak / 1e6:>11,.0f} MB")
    about = meta["about"]
    print(
        f"\n{meta['sentences']:,} sentences, vocabulary {meta['vocabulary']:,} of {about['frequent']:,} frequent words"
    )
    print(f"left out: {about['left_out']}")


def _family(pid: int) -> list[int]:
    """A process and all that it started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(int(child)))]


def _resident(pid: int) -> int:
    """The memory of a process in bytes; pages that several processes share count in parts."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
