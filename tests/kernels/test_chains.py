"""What the RIGHT rows read of the chains, and its gradient, against plain indexing."""

import numpy as np
import pytest
import torch

from ramify.kernels.chains import read_chains, readers_of


@pytest.mark.parametrize("chain", [[0, 3, 0, 1, 2], [0, 0], [1], []])
def test_reads_and_gives_back_as_indexing_does(chain: list[int]) -> None:
    numbers = np.array(chain, np.int32)
    torch.manual_seed(0)
    table = torch.randn(max(chain, default=0) + 1, 3, dtype=torch.float64, requires_grad=True)
    readers = readers_of(numbers)
    assert [chain[row] for row in readers] == list(range(1, len(table)))
    found = read_chains(table, torch.from_numpy(numbers), torch.from_numpy(readers))
    expected = table[numbers.astype(np.int64)]
    assert torch.equal(found, expected)
    some = torch.randn_like(found)
    ours, theirs = (torch.autograd.grad((each * some).sum(), table)[0] for each in (found, expected))
    torch.testing.assert_close(ours, theirs)
