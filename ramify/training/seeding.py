"""What is random in a step depends on where the step stands alone, so that a resumed run is the unbroken one."""

from __future__ import annotations

import torch


def seed_step(*numbers: int) -> None:
    """Seed dropout and noise of one step."""
    seed = 0
    for number in numbers:
        seed = (seed * 1_000_003 + number + 1) % (1 << 62)
    torch.manual_seed(seed)
