"""Clipping: as torch does it, for sparse gradients too."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from ramify.training.gradient import clip, make_dense

SHAPES = [(4, 3), (7,), (), (2, 3, 5)]


def parameters(scale: float) -> list[nn.Parameter]:
    random = torch.Generator().manual_seed(5)
    made = [nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in SHAPES]
    for parameter in made:
        parameter.grad = scale * torch.randn(parameter.shape, generator=random, dtype=torch.float64)
    return [*made, nn.Parameter(torch.zeros(3))]  # one without a gradient


def gradients(made: list[nn.Parameter]) -> list[Tensor]:
    return [parameter.grad.to_dense() for parameter in made if parameter.grad is not None]


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("most", [0.1, 5.0, 1e9])
def test_as_torch_does_it(scale: float, most: float) -> None:
    ours, theirs = parameters(scale), parameters(scale)
    norm = clip(ours, most)
    torch.testing.assert_close(norm, nn.utils.clip_grad_norm_(theirs, most))
    for a, b in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=0)  # torch adds 1e-6 to the norm
    after = torch.stack([each.norm() for each in gradients(ours)]).norm()
    assert after <= min(most, norm) * (1 + 1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_no_limit(scale: float) -> None:
    ours = parameters(scale)
    norm = clip(ours, 0.0)
    assert norm > 0
    for a, b in zip(gradients(ours), gradients(parameters(scale)), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("most", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("rows", [[0, 2, 2, 5, 0, 0], [3], []])
def test_sparse_rows_that_come_again(most: float, rows: list[int]) -> None:
    values = torch.arange(1.0, 1 + 3 * len(rows), dtype=torch.float64).view(-1, 3)
    sparse = nn.Parameter(torch.zeros(6, 3, dtype=torch.float64))
    sparse.grad = torch.sparse_coo_tensor(torch.tensor([rows], dtype=torch.long), values, (6, 3), check_invariants=True)
    dense = nn.Parameter(torch.zeros(6, 3, dtype=torch.float64))
    dense.grad = sparse.grad.to_dense()
    torch.testing.assert_close(clip([sparse, *parameters(1.0)], most), clip([dense, *parameters(1.0)], most))
    assert sparse.grad.is_sparse
    torch.testing.assert_close(sparse.grad.to_dense(), dense.grad)


def test_made_dense() -> None:
    sparse = nn.Parameter(torch.zeros(4, 2))
    sparse.grad = torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.ones(2, 2), (4, 2), check_invariants=True)
    others = parameters(1.0)
    before = gradients(others)
    make_dense([sparse, *others])
    assert sparse.grad is not None
    assert sparse.grad.tolist() == [[0, 0], [2, 2], [0, 0], [0, 0]]
    assert all(map(torch.equal, gradients(others), before))
