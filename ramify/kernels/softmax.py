"""The softmax over the whole vocabulary: log-probabilities, and the negative log-likelihood with its gradient.

In chunks of rows, so that memory does not grow with words x V. The gradient is made in the same pass as the loss: the
logits are computed once and never kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ramify.kernels.choice import Kernel, current
from ramify.kernels.kept import Kept
from ramify.kernels.products import as_they_are, narrow_dtype, product

CHUNK = 1 << 24  # logits at once: 64 MB in float32
GPU_CHUNK = 1 << 28
LEAST_ROWS = 64  # or the matrix products get slow


def negative_log_likelihood(
    h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, kept: Kept | None = None
) -> Tensor:
    """Of the targets [N], summed: P = softmax(W h + b) for each row of h [N, D]; weight [V, D], bias [V].

    On a GPU the gradients of weight and bias may stay in `kept`.
    """
    dtype = narrow_dtype(weight)
    with as_they_are(weight):
        total: Tensor = _NegativeLogLikelihood.apply(h, weight, bias, targets, dtype, kept)  # type: ignore[no-untyped-call]
    return total


@torch.no_grad()
def log_probabilities(h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
    """log P of each row's target [N]."""
    if current(weight) is Kernel.TRITON:
        from ramify.kernels.triton.softmax import losses_alone

        return -losses_alone(h, weight, bias, targets, narrow_dtype(weight))
    found, h = [], h.to(weight.dtype)
    with as_they_are(weight):
        for rows in chunks(h, len(weight)):
            logits = product(h[rows], weight, bias)
            found.append(logits.gather(1, targets[rows, None].long())[:, 0] - logits.logsumexp(1))
    return torch.cat(found) if found else h.new_empty(0)


class _NegativeLogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        dtype: torch.dtype,
        kept: Kept | None,
    ) -> Tensor:
        needed = any(ctx.needs_input_grad[:3])
        ctx.dtype = h.dtype
        if current(weight) is Kernel.TRITON:
            from ramify.kernels.triton.softmax import losses_alone, losses_and_gradients

            if not needed:
                return losses_alone(h, weight, bias, targets, dtype).sum()
            losses, *ctx.gradients = losses_and_gradients(h, weight, bias, targets, dtype, kept)
            return losses.sum()
        h, targets = h.to(weight.dtype), targets.long()  # autocast narrows h, and the logits; all sums stay wide
        dh = torch.empty_like(h) if needed else None
        d_weight = torch.zeros_like(weight) if needed else None
        d_bias = torch.zeros_like(bias) if needed and bias is not None else None
        narrow, narrow_bias = weight.to(dtype), None if bias is None else bias.to(dtype)
        total = h.new_zeros(())
        for rows in chunks(h, len(weight)):
            logits = product(h[rows].to(dtype), narrow, narrow_bias).to(weight.dtype)
            wanted = targets[rows]
            top = logits.amax(1)
            total -= (logits.gather(1, wanted[:, None])[:, 0] - top).sum()
            unnormalised = logits.sub_(top[:, None]).exp_()
            z = unnormalised.sum(1)
            total += z.log().sum()
            if dh is None or d_weight is None:
                continue
            # The gradient of the logits is P, and P - 1 at the target. The normaliser goes into the small matrices, and
            # the targets are put right one by one, so that the logits are not gone through again.
            by_row = (1 / z)[:, None]
            dh[rows] = product(unnormalised, weight.t()).mul_(by_row).sub_(weight[wanted])
            d_weight = product(unnormalised.t(), (h[rows] * by_row).t(), d_weight)
            d_weight.index_add_(0, wanted, h[rows], alpha=-1)
            if d_bias is not None:
                d_bias.addmv_(unnormalised.t(), by_row[:, 0])
                d_bias.index_add_(0, wanted, torch.ones_like(top), alpha=-1)
        ctx.gradients = dh, d_weight, d_bias
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> Any:
        dh, d_weight, d_bias = ctx.gradients
        ctx.gradients = None  # they are large
        d_weight, d_bias = (None if each is None else _scaled(each, scale) for each in (d_weight, d_bias))
        return _scaled(dh, scale).to(ctx.dtype), d_weight, d_bias, None, None, None


def _scaled(gradient: Tensor, scale: Tensor) -> Tensor:
    """In place, but for a part of a wider matrix, which parameters would copy again."""
    return gradient.mul_(scale) if gradient.is_contiguous() else gradient * scale


def chunks(h: Tensor, width: int) -> list[slice]:
    """The rows of h in slices; so many that `width` numbers for each of them are about a CHUNK."""
    step = max(LEAST_ROWS, (GPU_CHUNK if h.is_cuda else CHUNK) // max(1, width))
    return [slice(start, min(start + step, len(h))) for start in range(0, len(h), step)]
