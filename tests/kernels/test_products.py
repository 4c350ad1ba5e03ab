"""Products against float64, in the layouts that the kernels pass, and the inputs of a recurrence set by set."""

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, random_tree
from torch import Tensor
from torch.nn import functional

from ramify.corpus import build_batch
from ramify.kernels.products import input_products, product
from ramify.kernels.rows import Rows, tree_rows

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.mark.parametrize(("n", "k", "m"), [(1, 1, 1), (3, 5, 7), (64, 200, 33), (257, 31, 129), (0, 4, 3), (4, 3, 0)])
@pytest.mark.parametrize("add", ["nothing", "bias", "matrix"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_product_is_that_of_float64(n: int, k: int, m: int, add: str, dtype: torch.dtype) -> None:
    torch.manual_seed(n)
    x, w = torch.randn(n, k, dtype=dtype), torch.randn(m, k, dtype=dtype)
    more = {"nothing": None, "bias": torch.randn(m, dtype=dtype), "matrix": torch.randn(n, m, dtype=dtype)}[add]
    expected = x.double() @ w.double().t() + (0 if more is None else more.double())
    before = [each.clone() for each in (x, w, *([] if more is None else [more]))]
    layouts = [(x, w), (x.t().contiguous().t(), w), (x, w.t().contiguous().t()), (torch.cat([x, x])[n:], w)]
    for a, b in layouts:
        found = product(a, b, more)
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, **CLOSE)
    for now, then in zip((x, w, *([] if more is None else [more])), before, strict=True):
        assert torch.equal(now, then)


def _some() -> tuple[Rows, list[Tensor]]:
    """x, weights, bias; q and its weights, which set 1 reads too."""
    random = np.random.default_rng(3)
    corpus = corpus_of([random_tree(random, n) for n in (9, 1, 4)])
    rows = tree_rows(build_batch(corpus, corpus.everything))
    torch.manual_seed(0)
    shapes = (len(rows), 3), (4, 8, 3), (4, 8), (rows.of_sets[1].stop - rows.of_sets[1].start, 5), (8, 5)
    return rows, [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def test_each_row_meets_the_weights_of_its_set() -> None:
    rows, leaves = _some()
    x, weights, bias, q, of_q = leaves
    found = input_products(x, weights, bias, rows, {1: (q, of_q)})
    expected = torch.cat([functional.linear(x[part], weights[z], bias[z]) for z, part in enumerate(rows.of_sets)])
    expected = expected.index_add(0, torch.arange(len(rows))[rows.of_sets[1]], q @ of_q.t())
    torch.testing.assert_close(found, expected)
    some = torch.randn_like(found)
    ours, theirs = (torch.autograd.grad((each * some).sum(), leaves) for each in (found, expected))
    torch.testing.assert_close(ours, theirs)


def test_autocast_narrows_the_factors_and_no_more() -> None:
    rows, doubles = _some()
    leaves = [each.detach().float().requires_grad_() for each in doubles]
    x, weights, bias, q, of_q = leaves
    with torch.autocast("cpu", torch.bfloat16):
        found = input_products(x, weights, bias, rows, {1: (q, of_q)})
    wide = input_products(x, weights, bias, rows, {1: (q, of_q)})
    assert found.dtype == torch.float32
    assert not torch.equal(found, wide)
    torch.testing.assert_close(found, wide, rtol=0.02, atol=0.1)
    for gradient in torch.autograd.grad(found.sum(), leaves):
        assert gradient.dtype == torch.float32
