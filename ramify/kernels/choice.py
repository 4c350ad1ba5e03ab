"""Which kernel runs the recurrence: `use("reference")` forces one for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from torch import Tensor

from ramify.kernels import eager, reference
from ramify.kernels.rows import Rows


class Kernel(StrEnum):
    REFERENCE = "reference"
    EAGER = "eager"


Recur = Callable[[Tensor, Tensor, float, Rows], Tensor]
_KERNELS: dict[Kernel, Recur] = {Kernel.REFERENCE: reference.recur, Kernel.EAGER: eager.recur}
_chosen = Kernel.EAGER


def recur(inputs: Tensor, weights: Tensor, initial: float, rows: Rows) -> Tensor:
    """The recurrence by the chosen kernel; see `eager.recur`."""
    return _KERNELS[_chosen](inputs, weights, initial, rows)


@contextmanager
def use(kernel: Kernel | str) -> Iterator[None]:
    """Run a block with one kernel."""
    global _chosen
    before, _chosen = _chosen, Kernel(kernel)
    try:
        yield
    finally:
        _chosen = before
