"""`compiled`: the decorator of every inner loop that numba compiles.

Without the interpreter lock (nogil), so that threads build batches while the model runs; compiled once for each
machine, the result is kept beside the source or, where that cannot be written, in the user's cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_njit = numba.njit(nogil=True, cache=True)


def compiled(function: F) -> F:
    return cast(F, _njit(function))
