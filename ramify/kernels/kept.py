"""Gradients that stay where and how they were made: of a few rows of a matrix, or inside a wider one.

Autograd would make them as large as the parameter, and go through all of it, to hand them over. Plain SGD wants two
things of a gradient: its norm, and to be taken off. Kept are gradients of the loss itself, where backward starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor


class Gradient(Protocol):
    """Of one or two parameters, which it knows."""

    def square(self) -> Tensor:
        """The sum of its squares."""

    def take_off(self, step: Tensor) -> None:
        """Subtract `step` times the gradient from its parameters."""


@dataclass(eq=False)
class Kept:
    """The gradients of a step, and what their parameters look like to products."""

    gradients: list[Gradient] = field(default_factory=list)
    columns: Tensor | None = None  # W_ho with its biases, as the output layer reads it; each step keeps it in step

    def taken(self) -> list[Gradient]:
        """All of them; none are left."""
        found, self.gradients = self.gradients, []
        return found
