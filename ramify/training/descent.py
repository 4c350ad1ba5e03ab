"""Descent: plain SGD on a GPU, from the loss to the new parameters.

The clip makes the step shorter and leaves the gradients alone, and those of the large matrices are used where and how
they were made, so that nothing goes through all parameters more often than it must.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ramify.kernels.kept import Kept
from ramify.model.language_model import LanguageModel
from ramify.training.gradient import factor, norm_of
from ramify.training.recipe import Objective, Precision, Recipe


class Descent:
    """Plain SGD on a model, under a recipe's clip. It is stale once something else has moved the parameters."""

    def __init__(self, model: LanguageModel, recipe: Recipe, optimiser: torch.optim.Optimizer) -> None:
        self.model = model
        self.recipe = recipe
        self.optimiser = optimiser  # for all parameters whose gradients come from autograd
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.lr = torch.tensor(recipe.lr, device=model.embedding.device)  # before the clip shortens the step
        # One matrix with two gradients, or noise that all rows share, is autograd's.
        shares = recipe.tied or (recipe.objective is Objective.NCE and recipe.shared_noise)
        self.kept = None if shares else Kept()
        self.stale = True

    def __call__(self, loss: Tensor) -> Tensor:
        """A step on the loss, summed over a batch; the norm of the gradient for a sentence."""
        loss.backward()
        kept = [] if self.kept is None else self.kept.taken()
        square = norm_of(self.parameters).square() + sum(each.square() for each in kept)
        norm = square.sqrt() / self.recipe.batch_size
        step = self.lr * factor(norm, self.recipe.clip) / self.recipe.batch_size
        self.optimiser.param_groups[0]["lr"].copy_(step)
        self.optimiser.step()
        for each in kept:
            each.take_off(step)
        return norm

    def prepare(self, fits: bool) -> None:
        """Before a step, which keeps gradients if the kernels that make them run."""
        self.model.kept = self.kept if fits else None
        if fits and self.stale and self.kept is not None and self.model.noise is None:
            from ramify.kernels.triton.softmax import keep_columns

            output = self.model.output
            dtype = torch.bfloat16 if self.recipe.precision is Precision.BF16 else output.weight.dtype
            with torch.no_grad():
                keep_columns(output.weight, output.bias, dtype, self.kept)
        self.stale = not fits
