"""The learning rate by the original's rule: halve when validation stalls, stop when it stalls again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Halving:
    """What an epoch's validation entropy (per word) means for the next one.

    An epoch stalls when its entropy is not below that of the epoch before by the factor `improvement`. The first stall
    (the `patience`-th; from epoch 10 on, any) starts the halving: from then on the rate is halved after every epoch.
    The next stall ends the training. The comparison is with the epoch before even when that was rolled back.
    """

    lr: float
    patience: int = 1
    improvement: float = 1.0001
    min_lr: float = 1e-7
    epoch: int = 0
    before: float = float("inf")
    stalls: int = 0
    halving: bool = False
    done: bool = False

    def after_epoch(self, entropy: float) -> None:
        self.epoch += 1
        stalled = entropy * self.improvement > self.before
        self.before = entropy
        if stalled and self.halving:
            self.done = True
            return
        self.stalls += stalled
        if stalled and self.stalls >= (1 if self.epoch >= 10 else self.patience):
            self.halving = True
        if self.halving:
            self.lr /= 2
            self.done = self.lr < self.min_lr
