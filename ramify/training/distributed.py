"""Several processes that train one model: each takes its share of every batch, and gradients are summed.

Started by torchrun (or anything that sets RANK and WORLD_SIZE), on the CPU with gloo and on GPUs with nccl. The sum of
the shares' gradients is the gradient of the whole batch, so the training is that of one process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Group:
    """This process among its peers; alone, all of this does nothing."""

    rank: int = 0
    world: int = 1

    @property
    def writes(self) -> bool:
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        if self.world > 1:
            distributed.all_reduce(tensor)
        return tensor

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace each gradient by its sum over all processes; a process whose share was empty adds nothing."""
        if self.world == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            elif parameter.grad.is_sparse:
                parameter.grad = parameter.grad.to_dense()
            distributed.all_reduce(parameter.grad)

    def same_everywhere(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give all processes the parameters of the first."""
        if self.world > 1:
            for parameter in parameters:
                distributed.broadcast(parameter.data, 0)

    def most(self, number: int) -> int:
        """The largest of the processes' numbers."""
        if self.world == 1:
            return number
        tensor = torch.tensor(number)
        distributed.all_reduce(tensor, distributed.ReduceOp.MAX)
        return int(tensor.item())

    def wait(self) -> None:
        if self.world > 1:
            distributed.barrier()


@contextmanager
def group(device: str) -> Iterator[Group]:
    """The group that torchrun made, or this process alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Group()
        return
    # What is counted lies on the CPU, gradients lie where the model is.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo")
    try:
        yield Group(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
        # A thread of gloo's may still have to let go of its last tensor, and aborts the process if it asks for the
        # interpreter when that shuts down; here it gets it.
        time.sleep(0.2)
