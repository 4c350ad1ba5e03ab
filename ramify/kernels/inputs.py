"""Inputs: all that a model reads of a batch, as numbers where it computes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ramify.kernels.rows import Rows


@dataclass(frozen=True, eq=False)
class Inputs:
    """Made on the host by a model, and read by it where it is."""

    rows: list[Rows]
    arrays: list[Tensor]  # int32, what else this kind of model reads
    targets: Tensor  # [N] int32: the word of each prediction; -1 where there is none

    @property
    def tensors(self) -> list[Tensor]:
        return [*(tensor for rows in self.rows for tensor in rows.tensors), *self.arrays, self.targets]

    def moved(self, tensors: list[Tensor]) -> Inputs:
        """The same with other `tensors`."""
        left = list(tensors)
        rows = [each.moved([left.pop(0) for _ in each.tensors]) for each in self.rows]
        return Inputs(rows, left[:-1], left[-1])

    def to(self, device: torch.device) -> Inputs:
        """Where the model is; nobody waits for the copy."""
        if device.type != "cuda":
            return self.moved([tensor.to(device) for tensor in self.tensors])
        tiled = self.tiled()
        return tiled.unpacked(tiled.packed().to(device, non_blocking=True))

    def tiled(self) -> Inputs:
        return Inputs([rows.tiled() for rows in self.rows], self.arrays, self.targets)

    def packed(self) -> Tensor:
        """All numbers one after the other, in memory that a GPU can read while the host goes on."""
        starts, total = self._places()
        packed = torch.empty(total, dtype=torch.int32, pin_memory=torch.cuda.is_available())
        for start, part in zip(starts, self.tensors, strict=True):
            packed[start : start + part.numel()] = part.view(-1)
        return packed

    def unpacked(self, packed: Tensor) -> Inputs:
        """Inputs that read from there."""
        parts = zip(self._places()[0], self.tensors, strict=True)
        return self.moved([packed[start : start + part.numel()].view(part.shape) for start, part in parts])

    def _places(self) -> tuple[list[int], int]:
        """Where each tensor begins: at multiples of 16 bytes, as wide loads want it."""
        starts, total = [], 0
        for part in self.tensors:
            starts.append(total)
            total += -(-part.numel() // 4) * 4
        return starts, total
