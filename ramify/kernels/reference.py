"""The recurrence row by row, as the paper writes it; slow and obvious, with gradients by automatic differentiation."""

from __future__ import annotations

import torch
from torch import Tensor

from ramify.kernels.rows import Rows


def recur(inputs: Tensor, weights: Tensor, initial: float, rows: Rows) -> Tensor:
    """The hidden states of all rows; see `eager.recur`, which must give the same."""
    size = weights.shape[2]
    h = [weights.new_full((size,), initial)]
    c = [weights.new_full((size,), initial)]
    waiting = [list(inputs[part]) for part in rows.of_sets]
    for at in range(rows.n_levels):
        for z in range(rows.sets):
            group = rows.group(at, z)
            for row in range(group.start, group.stop):
                above = int(rows.predecessor[row])
                gates = waiting[z].pop(0) + weights[z] @ h[above]
                i, f, o = torch.sigmoid(gates[: 3 * size]).split(size)  # (3b), (3c), (4a)
                u = torch.tanh(gates[3 * size :])  # (3a)
                c.append(f * c[above] + i * u)  # (3d)
                h.append(o * torch.tanh(c[row]))  # (4b)
    return torch.stack(h)
