"""Which kernel runs, for recurrence and softmax: the fastest that fits, or the one that `use("reference")` forces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from ramify.errors import CallError
from ramify.kernels import eager, reference
from ramify.kernels.rows import Rows


class Kernel(StrEnum):
    REFERENCE = "reference"  # row by row, on anything
    EAGER = "eager"  # level by level, on anything
    TRITON = "triton"  # all levels in one launch, on NVIDIA GPUs


Recur = Callable[[Tensor, Tensor, float, Rows], Tensor]
_forced: Kernel | None = None


def recur(inputs: Tensor, weights: Tensor, initial: float, rows: Rows) -> Tensor:
    """The recurrence by the chosen kernel; see `eager.recur`."""
    kernel = current(weights)
    if kernel is Kernel.TRITON:
        from ramify.kernels.triton import recurrence

        return recurrence.recur(inputs, weights, initial, rows)
    plain: Recur = eager.recur if kernel is Kernel.EAGER else reference.recur
    return plain(inputs, weights, initial, rows)


def current(weights: Tensor) -> Kernel:
    """What computes with these weights: the kernel that is forced, or the best."""
    return _forced or best(weights.device, weights.dtype)


def best(device: torch.device, dtype: torch.dtype = torch.float32) -> Kernel:
    """The fastest that runs there."""
    fits = device.type == "cuda" and dtype == torch.float32 and _has_triton(device)
    return Kernel.TRITON if fits else Kernel.EAGER


@contextmanager
def chosen_kernel(name: str, device: str) -> Iterator[None]:
    """Run a block with the kernel of that name; `auto` is the best. One that cannot run there is refused."""
    kernel = None if name == "auto" else Kernel(name)
    if kernel is Kernel.TRITON and best(torch.device(device)) is not kernel:
        raise CallError("the triton kernel needs an NVIDIA GPU (Ampere or later) and the package triton")
    with use(kernel):
        yield


@cache
def _has_triton(device: torch.device) -> bool:
    return find_spec("triton") is not None and torch.cuda.get_device_capability(device) >= (8, 0)


@contextmanager
def use(kernel: Kernel | str | None) -> Iterator[None]:
    """Run a block with one kernel; None is the fastest that fits."""
    global _forced
    before, _forced = _forced, None if kernel is None else Kernel(kernel)
    try:
        yield
    finally:
        _forced = before
