"""What every table says of itself, and how things are timed: in rounds, by turns, so that noise is shared."""

from __future__ import annotations

import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ramify import __version__

ROUNDS = 5


def heading(*packages: str) -> None:
    """Print the command, the versions and the machine."""
    module = sys.modules["__main__"].__spec__
    name = module.name if module else sys.argv[0]
    print(f"command: {shlex.join(['python', '-m', name, *sys.argv[1:]])}")
    print("\n".join(about(*packages)))


def about(*packages: str) -> list[str]:
    """The versions, and the machine."""
    return [
        f"ramify {__version__}, Python {platform.python_version()}, {', '.join(map(_named, packages))}",
        f"machine: {_processor()}, {os.cpu_count()} cores, {_memory()} GiB, {platform.system()}",
    ]


def median_seconds(jobs: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median time of each job over rounds in which all take their turn; the first round only warms up."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(rounds + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if number:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
