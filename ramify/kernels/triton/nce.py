"""Noise-contrastive estimation on a GPU: losses and all gradients of a row in one program, which reads its words once.

Letters: N rows, M = 1 + k words of each (its target and the noise), D size of a state, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.kept import Kept
from ramify.kernels.triton.by_rows import Places, row_gradient, wait_for

BLOCK = 128  # columns of the rows of W at once


@dataclass(frozen=True, eq=False)
class Drawn:
    """The words of each row, its target first, and where each of them occurs."""

    words: Tensor  # [N, M] int32
    places: Places
    counts: Tensor  # [N] bool: or else it is room that is left over


def loss(h: Tensor, weight: Tensor, z: Tensor, drawn: Drawn, log_noise: Tensor, kept: Kept) -> Tensor:
    """The sum over the rows of -log sigmoid(ratio of the target) - sum log sigmoid(-ratio of the noise).

    The ratio of a word is W_w . h - ln Z - log_noise[w], where log_noise is ln k P_n(w).
    """
    total: Tensor = _Loss.apply(h, weight, z, drawn, log_noise, kept)
    return total


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, z: Tensor, drawn: Drawn, log_noise: Tensor, kept: Kept) -> Tensor:
        n, m = drawn.words.shape
        h = h.contiguous()
        losses, d_log_z = (torch.empty(n, device=h.device) for _ in range(2))
        dh, d_scores = torch.empty_like(h), torch.empty(n, m, device=h.device)
        wait_for(h)
        if n:
            padded = triton.next_power_of_2(m)
            _nce[(n,)](
                h, weight, z, drawn.words, drawn.counts, log_noise, losses, dh, d_scores, d_log_z, m, padded,
                h.shape[1], BLOCK,
            )  # fmt: skip
        ctx.kept, ctx.weight, ctx.places = kept, weight, drawn.places
        ctx.save_for_backward(h, dh, d_scores, d_log_z.sum() / z)
        return losses.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> Any:
        h, dh, d_scores, d_z = ctx.saved_tensors
        ctx.kept.gradients.append(row_gradient(ctx.weight, ctx.places, h, d_scores.view(-1), d_scores.shape[1]))
        return dh * scale.to(dh.dtype), None, d_z * scale, None, None, None


@triton.jit
def _nce(
    h,  # [N, D]
    weight,  # [V, D]
    z,  # [1]
    words,  # [N, M]
    counts,  # [N]
    log_noise,  # [V]
    losses,  # [N]
    dh,  # [N, D]
    d_scores,  # [N, M]
    d_log_z,  # [N]
    M: tl.constexpr,
    PADDED: tl.constexpr,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    m = tl.arange(0, PADDED)
    there = m < M
    word = tl.load(words + row * M + m, there, 0)
    rows = word.to(tl.int64)[:, None] * D
    counting = tl.load(counts + row) != 0
    start = row.to(tl.int64) * D
    scores = tl.zeros((PADDED,), tl.float32)
    for begin in range(0, D, BLOCK):
        columns = begin + tl.arange(0, BLOCK)
        inside = there[:, None] & (columns < D)[None, :]
        x = tl.load(h + start + columns, columns < D, 0.0).to(tl.float32)
        scores += tl.sum(tl.load(weight + rows + columns[None, :], inside, 0.0) * x[None, :], 1)
    ratio = scores - tl.log(tl.load(z)) - tl.load(log_noise + word, there, 0.0)
    ratio = tl.where(m == 0, ratio, -ratio)  # from here on, what should be large
    miss = tl.sigmoid(-ratio)
    # -log sigmoid(x) = max(-x, 0) + log(1 + exp(-|x|))
    each = tl.maximum(-ratio, 0.0) + tl.log(1 + tl.exp(-tl.abs(ratio)))
    d = tl.where(m == 0, -miss, miss)
    d = tl.where(there & counting, d, 0.0)
    tl.store(losses + row, tl.sum(tl.where(there & counting, each, 0.0), 0))
    tl.store(d_log_z + row, -tl.sum(d, 0))
    tl.store(d_scores + row * M + m, d, there)
    for begin in range(0, D, BLOCK):
        columns = begin + tl.arange(0, BLOCK)
        inside = there[:, None] & (columns < D)[None, :]
        w = tl.load(weight + rows + columns[None, :], inside, 0.0)
        total = tl.sum(d[:, None] * w, 0)
        tl.store(dh + start + columns, total.to(dh.dtype.element_ty), columns < D)
