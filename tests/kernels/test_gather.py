"""Reading states, and putting their gradient back, against plain indexing."""

import pytest
import torch

from ramify.kernels.gather import read_states


@pytest.mark.parametrize("places", [[0, 3, 0, 1, 2], [0, 0], [1], []])
def test_reads_and_gives_back_as_indexing_does(places: list[int]) -> None:
    torch.manual_seed(0)
    states = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    where = torch.tensor(places, dtype=torch.int32)
    found, expected = read_states(states, where), states[where.long()]
    assert torch.equal(found, expected)
    some = torch.randn_like(found)
    ours, theirs = (torch.autograd.grad((each * some).sum(), states)[0] for each in (found, expected))
    torch.testing.assert_close(ours[1:], theirs[1:])  # row 0 is a constant
