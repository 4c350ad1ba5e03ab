"""How jobs are timed: by turns, round by round, so that all meet the same noise, clock and heat; medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

ROUNDS = 5


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


def median_ms(jobs: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Milliseconds of each job on a GPU, after two rounds that are not counted: they compile and record."""
    import torch

    times: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(rounds + 2):
        for name, job in jobs.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            job()
            end.record()
            torch.cuda.synchronize()
            if turn >= 2:
                times[name].append(start.elapsed_time(end))
    return {name: statistics.median(found) for name, found in times.items()}
