"""What every table says of itself: versions and machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ramify import __version__


def about(*packages: str) -> list[str]:
    """The versions, and the machine."""
    return [
        f"ramify {__version__}, Python {platform.python_version()}, {', '.join(map(_named, packages))}",
        f"machine: {_processor()}, {os.cpu_count()} cores, {_memory()} GiB, {platform.system()}",
    ]


def gpu() -> str:
    """The GPU, as its driver calls it."""
    import torch

    memory = round(torch.cuda.get_device_properties(0).total_memory / 2**30)
    return f"GPU: {torch.cuda.get_device_name()}, {memory} GiB, CUDA {torch.version.cuda}"


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
