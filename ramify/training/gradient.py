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
    gradients = _values(parameters)
    norm = _norm(gradients)
    if most:
        torch._foreach_mul_(gradients, factor(norm, most))
    return norm


def norm_of(parameters: Iterable[nn.Parameter]) -> Tensor:
    """The norm of all gradients together."""
    return _norm(_values(parameters))


def factor(norm: Tensor, most: float) -> Tensor:
    """By what a gradient of this norm is scaled to have a norm of at most `most`."""
    return (most / norm).clamp(max=1.0) if most else torch.ones_like(norm)


def _values(parameters: Iterable[nn.Parameter]) -> list[Tensor]:
    values = []
    for parameter in parameters:
        if parameter.grad is None:
            continue
        if parameter.grad.is_sparse:  # the norm needs each row once
            parameter.grad = parameter.grad.coalesce()
            values.append(parameter.grad.values())
        else:
            values.append(parameter.grad)
    return values


def _norm(gradients: list[Tensor]) -> Tensor:
    norm: Tensor = torch.stack(torch._foreach_norm(gradients)).norm()
    return norm
