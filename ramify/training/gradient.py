"""Gradients between the backward pass and the optimiser: summed over processes, clipped, sparse ones included."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def make_dense(parameters: Iterable[nn.Parameter]) -> None:
    """For optimisers that cannot read sparse gradients."""
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()


def clip(parameters: Iterable[nn.Parameter], most: float) -> Tensor:
    """Scale all gradients so that their norm together is at most `most` (0: no limit); the norm before is returned."""
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:
            continue
        if parameter.grad.is_sparse:  # the norm needs each row once
            parameter.grad = parameter.grad.coalesce()
            gradients.append(parameter.grad.values())
        else:
            gradients.append(parameter.grad)
    norm: Tensor = torch.stack(torch._foreach_norm(gradients)).norm()
    if most:
        torch._foreach_mul_(gradients, (most / norm).clamp(max=1.0))
    return norm
