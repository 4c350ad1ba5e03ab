"""Times on a GPU: every job in turn, round by round, so that all meet the same clock and heat; medians."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

import torch


def median_ms(jobs: Mapping[str, Callable[[], object]], rounds: int = 7) -> dict[str, float]:
    """Milliseconds of each job, after two rounds that are not counted: they compile and record."""
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
