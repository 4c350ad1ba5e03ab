"""Ledger: the loss and the gradient's norm of each step, read from a GPU some steps later, so that nobody waits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ramify.corpus.structure import Array

LATE = 32  # steps


@dataclass(frozen=True)
class Entry:
    """A step."""

    position: int  # of its batch in the epoch
    sentences: Array
    words: int
    loss: float
    norm: float


class Ledger:
    """Steps that were taken and are not yet accounted for. On the CPU each is known at once."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.open: list[tuple[int, Array, int, Tensor]] = []
        self.under_way: tuple[list[tuple[int, Array, int, Tensor]], Tensor, torch.cuda.Event] | None = None

    def enter(self, position: int, sentences: Array, words: int, values: Tensor) -> list[Entry]:
        """Enter a step, values [loss, norm]; the steps that have become known are returned."""
        self.open.append((position, sentences, words, values))
        if self.device.type != "cuda":
            return self.settle()
        return self._pass_on() if len(self.open) >= LATE else []

    def settle(self) -> list[Entry]:
        """All that is left, if it takes waiting."""
        if self.device.type == "cuda":
            return self._pass_on() + self._pass_on()
        steps, self.open = self.open, []
        return [_entry(*step[:3], step[3].tolist()) for step in steps]

    def _pass_on(self) -> list[Entry]:
        """Read the steps that were sent off the last time, and send off those that came since."""
        found = []
        if self.under_way is not None:
            steps, values, event = self.under_way
            event.synchronize()
            found = [_entry(*step[:3], both) for step, both in zip(steps, values.tolist(), strict=True)]
            self.under_way = None
        if self.open:
            values = torch.stack([step[3] for step in self.open]).to("cpu", non_blocking=True)
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(self.device))
            self.under_way, self.open = (self.open, values, event), []
        return found


def _entry(position: int, sentences: Array, words: int, both: list[float]) -> Entry:
    return Entry(position, sentences, words, *both)
