"""The softmax over a large vocabulary on a GPU: from logits to losses and, in place, to their gradient.

The products around it are cuBLAS's. What lies between them is bound by memory: one kernel reads the logits for their
sum and once more, from the cache as far as that goes, to leave P - 1(target) where they were.

Letters: N rows, D size of a state, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.nn import functional

from ramify.kernels.kept import Kept
from ramify.kernels.products import add_wide_product, aligned, wide_product, with_column

SHARE = 32  # of the GPU's memory, one part holds logits
ROWS = 8  # of W_ho, that are changed by one program
BLOCK, WARPS = 16384, 16  # logits at once: few rows in work, so that the second reading finds them in the cache


def losses_and_gradients(
    h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, dtype: torch.dtype, kept: Kept | None = None
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """The loss of each row [N], and the gradients of their sum for h, weight and bias.

    Those of weight and bias stay in `kept`, where that is given: then they are None.
    """
    columns = _columns(weight, bias, dtype) if kept is None or kept.columns is None else kept.columns
    narrow = _states(h, bias, columns)
    losses = torch.empty(len(h), device=h.device)
    dh = torch.empty_like(narrow)
    d_columns = (torch.empty if len(h) else torch.zeros)(columns.shape, device=h.device)
    for rows, logits in _logits(narrow, columns):
        _losses(logits, targets[rows], losses[rows], len(weight), gradient=True)
        torch.mm(logits, columns, out=dh[rows])
        (add_wide_product if rows.start else wide_product)(logits.t(), narrow[rows].t(), d_columns)
    size = h.shape[1]
    if kept is not None:
        kept.gradients.append(WideGradient(weight, bias, d_columns, columns))
        return losses, dh[:, :size], None, None
    d_weight = d_columns[: len(weight), :size]
    return losses, dh[:, :size], d_weight, None if bias is None else d_columns[: len(weight), size]


def losses_alone(h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, dtype: torch.dtype) -> Tensor:
    """The loss of each row [N]."""
    columns = _columns(weight, bias, dtype)
    losses = torch.empty(len(h), device=h.device)
    for rows, logits in _logits(_states(h, bias, columns), columns):
        _losses(logits, targets[rows], losses[rows], len(weight), gradient=False)
    return losses


@dataclass(frozen=True, eq=False)
class WideGradient:
    """Of W_ho and its biases, as the product made it. What the next step reads is written as it is taken off."""

    weight: Tensor  # [V, D]
    bias: Tensor | None  # [V]
    gradient: Tensor  # [V', D'], 0 in the columns of neither
    columns: Tensor  # likewise: W_ho and its biases

    def square(self) -> Tensor:
        norm: Tensor = torch.linalg.vector_norm(self.gradient)
        return norm.square()

    def take_off(self, step: Tensor) -> None:
        weight, bias = self.weight, self.weight if self.bias is None else self.bias
        words, size = weight.shape
        width = self.gradient.shape[1]
        _take_off[(triton.cdiv(words, ROWS),)](
            weight, bias, self.gradient, self.columns, step, words, size, width, self.bias is not None,
            triton.next_power_of_2(width), ROWS,
        )  # fmt: skip


def _columns(weight: Tensor, bias: Tensor | None, dtype: torch.dtype, out: Tensor | None = None) -> Tensor:
    """W_ho [V', D'] with a column of biases, so that these cost no pass of their own; beside `_states`.

    D' and V' are what the matrix units like; what is added there is 0.
    """
    words, size = weight.shape
    height, width = aligned(words), aligned(size + (bias is not None))
    if out is None:
        if (height, width) == (words, size):
            return weight.to(dtype)
        out = torch.zeros(height, width, dtype=dtype, device=weight.device)
    out[:words, :size] = weight
    if bias is not None:
        out[:words, size] = bias
    return out


def _states(h: Tensor, bias: Tensor | None, columns: Tensor) -> Tensor:
    """h [N, D'] with a column of ones, where there are biases."""
    size, width = h.shape[1], columns.shape[1]
    if size == width:
        return h.to(columns.dtype)
    if bias is not None:
        return with_column(h, 1.0, columns.dtype)
    return functional.pad(h.to(columns.dtype), (0, width - size))


def keep_columns(weight: Tensor, bias: Tensor | None, dtype: torch.dtype, kept: Kept) -> None:
    """What the output layer reads, from now on in step with the parameters as long as only kept gradients move them."""
    words, size = weight.shape
    if kept.columns is None:
        shape = aligned(words), aligned(size + (bias is not None))
        kept.columns = torch.zeros(shape, dtype=dtype, device=weight.device)
    _columns(weight, bias, dtype, kept.columns)


def _logits(h: Tensor, columns: Tensor):
    """Slices of the rows and their logits, as many as memory may hold; always in the same place."""
    step = max(1, min(rows_at_once(h, columns), len(h)))
    space = h.new_empty(step, len(columns))
    for start in range(0, len(h), step):
        rows = slice(start, min(start + step, len(h)))
        yield rows, torch.mm(h[rows], columns.t(), out=space[: rows.stop - rows.start])


def rows_at_once(h: Tensor, columns: Tensor) -> int:
    """So many that their logits fit, and can be numbered in 31 bits."""
    memory = torch.cuda.get_device_properties(h.device).total_memory if h.is_cuda else 1 << 32
    return int(min(memory // SHARE // h.element_size(), (1 << 31) - 1) // len(columns))


def _losses(logits: Tensor, targets: Tensor, losses: Tensor, words: int, gradient: bool) -> None:
    rows, stride = logits.shape
    if rows:
        _softmax[(rows,)](logits, targets, losses, words, stride, gradient, BLOCK, num_warps=WARPS)


@triton.jit
def _softmax(
    logits,  # [N, STRIDE]; becomes the gradient of the losses
    targets,  # [N]; -1 for none
    losses,  # [N]
    V: tl.constexpr,
    STRIDE: tl.constexpr,
    GRADIENT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    logits += row.to(tl.int64) * STRIDE
    target = tl.load(targets + row)
    counts = target >= 0  # or else it is room that is left over
    wanted = tl.load(logits + tl.maximum(target, 0)).to(tl.float32)
    column = tl.arange(0, BLOCK)
    top = -float("inf")
    total = 0.0
    for begin in range(0, V, BLOCK):
        x = tl.load(logits + begin + column, begin + column < V, -float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(x, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(x - higher), 0)
        top = higher
    normaliser = top + tl.log(total)
    tl.store(losses + row, tl.where(counts, normaliser - wanted, 0.0))
    if GRADIENT:
        for begin in range(0, V, BLOCK):
            x = tl.load(logits + begin + column, begin + column < V, -float("inf")).to(tl.float32)
            p = tl.exp(x - normaliser) - (begin + column == target).to(tl.float32)
            p = tl.where(counts, p, 0.0)
            tl.store(logits + begin + column, p.to(logits.dtype.element_ty), begin + column < STRIDE)


@triton.jit
def _take_off(
    weight,  # [V, D]
    bias,  # [V]
    gradient,  # [V', WIDTH]
    columns,  # [V', WIDTH]
    step,
    V,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
    BIAS: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    by = tl.load(step)
    there = (row < V)[:, None] & (column < D)[None, :]
    wide = row.to(tl.int64)[:, None] * WIDTH + column[None, :]
    place = weight + row.to(tl.int64)[:, None] * D + column[None, :]
    found = tl.load(place, there) - by * tl.load(gradient + wide, there)
    tl.store(place, found, there)
    tl.store(columns + wide, found.to(columns.dtype.element_ty), there)
    if BIAS:
        end = row.to(tl.int64) * WIDTH + D
        added = tl.load(bias + row, row < V) - by * tl.load(gradient + end, row < V)
        tl.store(bias + row, added, row < V)
        tl.store(columns + end, added.to(columns.dtype.element_ty), row < V)
