"""The softmax over a large vocabulary on a GPU: from logits to losses and, in place, to their gradient.

The products around it are cuBLAS's. What lies between them is bound by memory: one kernel reads the logits for their
sum and once more, from the cache as far as that goes, to leave P - 1(target) where they were.

Letters: N rows, D size of a state, V vocabulary.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from ramify.kernels.products import add_wide_product, aligned, wide_product

SHARE = 32  # of the GPU's memory, one part holds logits
BLOCK, WARPS = 16384, 16  # logits at once: few rows in work, so that the second reading finds them in the cache


def losses_and_gradients(
    h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The loss of each row [N], and the gradients of their sum for h, weight and bias."""
    narrow, columns = _with_bias(h, weight, bias, dtype)
    losses = torch.empty(len(h), device=h.device)
    dh = torch.empty_like(narrow)
    d_columns = (torch.empty if len(h) else torch.zeros)(columns.shape, device=h.device)
    for rows, logits in _logits(narrow, columns):
        _losses(logits, targets[rows], losses[rows], len(weight), gradient=True)
        torch.mm(logits, columns, out=dh[rows])
        (add_wide_product if rows.start else wide_product)(logits.t(), narrow[rows].t(), d_columns)
    size = h.shape[1]
    d_weight = d_columns[: len(weight), :size]
    return losses, dh[:, :size], d_weight, None if bias is None else d_columns[: len(weight), size]


def losses_alone(h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, dtype: torch.dtype) -> Tensor:
    """The loss of each row [N]."""
    narrow, columns = _with_bias(h, weight, bias, dtype)
    losses = torch.empty(len(h), device=h.device)
    for rows, logits in _logits(narrow, columns):
        _losses(logits, targets[rows], losses[rows], len(weight), gradient=False)
    return losses


def _with_bias(h: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """h [N, D'] and W [V', D'] with a column of ones and one of biases, so that these cost no pass of their own.

    D' and V' are what the matrix units like; what is added there is 0.
    """
    words, size = weight.shape
    height, width = aligned(words), aligned(size + (bias is not None))
    if (height, width) == (words, size):
        return h.to(dtype), weight.to(dtype)
    states = torch.zeros(len(h), width, dtype=dtype, device=h.device)
    columns = torch.zeros(height, width, dtype=dtype, device=h.device)
    states[:, :size], columns[:words, :size] = h, weight
    if bias is not None:
        states[:, size], columns[:words, size] = 1, bias
    return states, columns


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
