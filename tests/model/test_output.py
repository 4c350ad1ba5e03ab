"""The softmax against torch's own cross entropy, whatever the size of its chunks."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.kernels import softmax
from ramify.kernels.products import product
from ramify.model.output import Softmax

WORDS, SIZE, ROWS = 11, 4, 9
CLOSE = {"rtol": 0.0, "atol": 1e-10}
CHUNKS = [1, WORDS, 2 * WORDS + 3, 4 * WORDS, ROWS * WORDS - 1, ROWS * WORDS, 1 << 24]


def _layer(bias: bool = True) -> tuple[Softmax, Tensor, Tensor]:
    """A layer, states and targets, one word a target twice."""
    torch.manual_seed(0)
    layer = Softmax(WORDS, SIZE, bias).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    h = torch.randn(ROWS, SIZE, dtype=torch.float64, requires_grad=True)
    return layer, h, torch.tensor([0, 1, 10, 5, 5, 2, 3, 4, 9])


@pytest.fixture(autouse=True)
def _chunks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softmax, "LEAST_ROWS", 1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_equals_torchs_cross_entropy(monkeypatch: pytest.MonkeyPatch, chunk: int, bias: bool) -> None:
    monkeypatch.setattr(softmax, "CHUNK", chunk)
    layer, h, targets = _layer(bias)
    leaves = [h, *layer.parameters()]
    assert len(leaves) == 2 + bias
    expected = functional.cross_entropy(functional.linear(h, layer.weight, layer.bias), targets, reduction="sum")
    found = layer.loss(h, targets)
    torch.testing.assert_close(found, expected, **CLOSE)
    for scale in (1.0, -0.125):  # the trainer divides by the batch size
        ours = torch.autograd.grad(layer.loss(h, targets) * scale, leaves)
        theirs = torch.autograd.grad(expected * scale, leaves, retain_graph=True)
        torch.testing.assert_close(ours, theirs, **CLOSE)
    torch.testing.assert_close(-layer.log_probabilities(h, targets).sum(), expected.detach(), **CLOSE)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_log_probabilities_are_torchs(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(softmax, "CHUNK", chunk)
    layer, h, targets = _layer()
    found = layer.log_probabilities(h, targets)
    assert not found.requires_grad
    expected = functional.log_softmax(layer.logits(h), 1)[torch.arange(ROWS), targets]
    torch.testing.assert_close(found, expected.detach(), **CLOSE)


def test_probabilities_sum_to_one_at_each_row() -> None:
    layer, h, _ = _layer()
    total = sum(layer.log_probabilities(h, torch.full((ROWS,), word)).exp() for word in range(WORDS))
    torch.testing.assert_close(total, torch.ones(ROWS, dtype=torch.float64), **CLOSE)


def test_a_tied_matrix_gets_both_gradients() -> None:
    """The input embedding is the output matrix: what the two places want is added."""
    torch.manual_seed(0)
    embedding = nn.Parameter(torch.randn(WORDS, SIZE, dtype=torch.float64))
    layer = Softmax(WORDS, SIZE, False, embedding)
    assert list(layer.parameters()) == [embedding]
    read, targets = torch.tensor([3, 1, 3]), torch.tensor([1, 1, 7])
    layer.loss(embedding[read].tanh(), targets).backward()
    ours, embedding.grad = embedding.grad, None
    functional.cross_entropy(embedding[read].tanh() @ embedding.t(), targets, reduction="sum").backward()
    torch.testing.assert_close(ours, embedding.grad, **CLOSE)


@pytest.mark.parametrize("frozen", ["h", "weight", "bias"])
def test_what_needs_no_gradient_gets_none(frozen: str) -> None:
    layer, h, targets = _layer()
    assert layer.bias is not None
    leaves = {"h": h, "weight": layer.weight, "bias": layer.bias}
    leaves[frozen].requires_grad_(False)
    layer.loss(h, targets).backward()
    assert {name for name, leaf in leaves.items() if leaf.grad is None} == {frozen}
    rest = [leaf for leaf in leaves.values() if leaf.requires_grad]
    expected = functional.cross_entropy(layer.logits(h), targets, reduction="sum")
    torch.testing.assert_close([leaf.grad for leaf in rest], list(torch.autograd.grad(expected, rest)), **CLOSE)


def test_without_gradients_none_are_made() -> None:
    layer, h, targets = _layer()
    with torch.no_grad():
        found = layer.loss(h, targets)
    assert not found.requires_grad
    torch.testing.assert_close(found, layer.loss(h, targets).detach(), **CLOSE)


def test_the_same_states_twice_add_their_gradients() -> None:
    layer, h, targets = _layer()
    (layer.loss(h, targets) + layer.loss(h, targets.flip(0))).backward()
    ours = [leaf.grad for leaf in (h, *layer.parameters())]
    logits = layer.logits(h)
    expected = sum(functional.cross_entropy(logits, each, reduction="sum") for each in (targets, targets.flip(0)))
    torch.testing.assert_close(ours, list(torch.autograd.grad(expected, [h, *layer.parameters()])), **CLOSE)


def test_no_rows() -> None:
    layer, h, targets = _layer()
    loss = layer.loss(h[:0], targets[:0])
    assert loss == 0
    loss.backward()
    assert layer.weight.grad is not None
    assert not layer.weight.grad.any()
    assert layer.log_probabilities(h[:0], targets[:0]).shape == (0,)


def test_huge_logits_do_not_overflow() -> None:
    layer, h, targets = _layer()
    layer, h = layer.float(), (h.detach() * 1e4).float().requires_grad_()
    loss = layer.loss(h, targets)
    loss.backward()
    assert loss.isfinite()
    assert h.grad is not None
    assert h.grad.isfinite().all()
    assert layer.log_probabilities(h, targets).isfinite().all()


def test_the_logits_of_a_chunk_are_all_that_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more rows at once than fit: memory does not grow with words x V."""
    seen = []

    def watched(x: Tensor, w: Tensor, *rest: Tensor) -> Tensor:
        found = product(x, w, *rest)
        if w.shape == layer.weight.shape:  # not one of the products with the gradient of the logits
            seen.append(found.numel())
        return found

    monkeypatch.setattr(softmax, "CHUNK", 3 * WORDS)
    layer, h, targets = _layer()
    monkeypatch.setattr(softmax, "product", watched)
    layer.loss(h, targets)
    layer.log_probabilities(h, targets)
    assert seen == [3 * WORDS] * 6
