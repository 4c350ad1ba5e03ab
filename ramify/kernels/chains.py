"""Which row reads which chain of left dependents: each chain has one reader, so its gradient is taken, not summed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.corpus.structure import Array


def readers_of(chain: Array) -> Array:
    """For each chain, numbered from 1, the row that reads it; chain[row] is the chain of a row, 0 for none."""
    rows = np.flatnonzero(chain)
    readers = np.empty(len(rows), np.int32)
    readers[chain[rows] - 1] = rows
    return readers


def read_chains(table: Tensor, chain: Tensor, readers: Tensor) -> Tensor:
    """table[chain]: what each row reads, from row 0 of the table where it has no chain."""
    found: Tensor = _ReadChains.apply(table, chain, readers)  # type: ignore[no-untyped-call]
    return found


class _ReadChains(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, chain: Tensor, readers: Tensor) -> Tensor:
        ctx.save_for_backward(readers)
        return table.index_select(0, chain)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_found: Tensor) -> Any:
        (readers,) = ctx.saved_tensors
        d_table = d_found.new_empty(len(readers) + 1, d_found.shape[1])
        torch.index_select(d_found, 0, readers, out=d_table[1:])
        d_table[0] = d_found.sum(0) - d_table[1:].sum(0)  # all others read row 0
        return d_table, None, None
