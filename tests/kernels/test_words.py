"""Scores of a few words for each row against plain indexing, with their gradients."""

import pytest
import torch
from torch import Tensor

from ramify.kernels.words import score_words

WORDS, SIZE = 7, 4
CHOSEN = {
    "all different": [[0, 1, 2], [3, 4, 5]],
    "one word twice in a row": [[3, 3, 1], [0, 0, 0]],
    "the same for all rows": [[6, 2], [6, 2], [6, 2]],
    "one word for each row": [[5], [0], [5], [1]],
    "one row": [[2, 4, 2, 6]],
}


def dense(h: Tensor, weight: Tensor, words: Tensor) -> Tensor:
    return (weight[words] * h[:, None]).sum(2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", CHOSEN)
def test_equals_plain_indexing(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    words = torch.tensor(CHOSEN[name])
    h = torch.randn(len(words), SIZE, dtype=dtype, requires_grad=True)
    weight = torch.randn(WORDS, SIZE, dtype=dtype, requires_grad=True)
    close = {"rtol": 0.0, "atol": 1e-12 if dtype == torch.float64 else 1e-5}
    found, expected = (scores(h, weight, words) for scores in (score_words, dense))
    torch.testing.assert_close(found, expected, **close)
    for some in (torch.randn_like(expected), torch.ones(()).expand(expected.shape).to(dtype)):
        ours = torch.autograd.grad(found, [h, weight], some, retain_graph=True)
        theirs = torch.autograd.grad(expected, [h, weight], some, retain_graph=True)
        torch.testing.assert_close(ours[0], theirs[0], **close)
        torch.testing.assert_close(ours[1].to_dense(), theirs[1], **close)


def test_the_gradient_of_the_matrix_is_sparse() -> None:
    weight = torch.ones(WORDS, SIZE, requires_grad=True)
    score_words(torch.ones(2, SIZE), weight, torch.tensor([[4, 1], [4, 4]])).sum().backward()
    assert weight.grad is not None
    gradient = weight.grad.coalesce()
    assert gradient.indices().tolist() == [[1, 4]]
    assert gradient.values().tolist() == [[1.0] * SIZE, [3.0] * SIZE]
    assert weight.grad.shape == weight.shape


def test_two_uses_add_their_gradients() -> None:
    torch.manual_seed(0)
    h = torch.randn(2, SIZE, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(WORDS, SIZE, dtype=torch.float64, requires_grad=True)
    one, other = torch.tensor([[0, 1], [2, 2]]), torch.tensor([[1, 5, 1], [0, 6, 2]])
    (score_words(h, weight, one).sin().sum() + score_words(h, weight, other).square().sum()).backward()
    expected = torch.autograd.grad(
        dense(h, weight, one).sin().sum() + dense(h, weight, other).square().sum(), [h, weight]
    )
    assert h.grad is not None
    assert weight.grad is not None
    torch.testing.assert_close([h.grad, weight.grad.to_dense()], list(expected))


def test_states_that_are_no_plain_block() -> None:
    """A slice of columns, and a transposed matrix: both are ordinary tensors."""
    torch.manual_seed(0)
    words = torch.tensor([[0, 3], [6, 3], [1, 1]])
    weight = torch.randn(WORDS, SIZE, dtype=torch.float64)
    wide = torch.randn(3, 2 * SIZE, dtype=torch.float64)
    for h in (wide[:, :SIZE], wide[:, ::2], torch.randn(SIZE, 3, dtype=torch.float64).t()):
        torch.testing.assert_close(score_words(h, weight, words), dense(h, weight, words))


def test_no_rows() -> None:
    weight = torch.ones(WORDS, SIZE, requires_grad=True)
    h = torch.ones(0, SIZE, requires_grad=True)
    scores = score_words(h, weight, torch.zeros(0, 3, dtype=torch.int64))
    assert scores.shape == (0, 3)
    scores.sum().backward()
    assert weight.grad is not None
    assert not weight.grad.to_dense().any()
