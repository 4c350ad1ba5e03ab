"""The GPU's kernels equal the slow ones: at odd sizes, with any heights of tiles, outputs and every gradient.

On an NVIDIA GPU, or anywhere in Triton's interpreter (TRITON_INTERPRET=1 with the package triton); else skipped.
"""

import math
import os
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, plain, random_tree, shapes
from model_twins import KINDS, mixed_corpus, rows_of, small_model
from torch import Tensor
from torch.nn import functional

from ramify.corpus import build_batch
from ramify.kernels import choice, eager
from ramify.kernels.rows import Room, Rows, tree_rows
from ramify.kernels.softmax import log_probabilities, negative_log_likelihood
from ramify.kernels.tiles import HEIGHTS
from ramify.model.config import Kind
from ramify.model.folder import make_model
from ramify.model.language_model import LanguageModel
from ramify.model.output import NoiseContrastive
from ramify.training.descent import Descent
from ramify.training.gradient import clip
from ramify.training.recipe import Objective, load_recipe
from ramify.trees import Tree

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        find_spec("triton") is None or not (torch.cuda.is_available() or INTERPRETED),
        reason="needs triton with an NVIDIA GPU, or its interpreter: TRITON_INTERPRET=1",
    ),
]
DEVICE = torch.device("cuda" if torch.cuda.is_available() and not INTERPRETED else "cpu")


def _run(kernel: object, rows: Rows, *leaves: Tensor) -> list[Tensor]:
    """States, and the gradients of inputs and weights."""
    inputs, weights, arriving = (each.detach().to(DEVICE).requires_grad_() for each in leaves)
    h = kernel(inputs, weights, 0.01, rows)  # type: ignore[operator]
    return [h, *torch.autograd.grad(h, [inputs, weights], arriving.to(h.dtype).to(h.device))]


def _poison() -> None:
    """Memory that is used before it is written shows."""
    if DEVICE.type == "cuda":
        del [torch.full((1 << 20,), float("nan"), device=DEVICE) for _ in range(64)][:]


def assert_same(rows: Rows, size: int, height: int, tolerance: float = 1e-5) -> None:
    from ramify.kernels.triton.recurrence import recur

    torch.manual_seed(size)
    leaves = [torch.randn(*shape) for shape in ((len(rows), 4 * size), (rows.sets, 4 * size, size))]
    leaves[1] /= size**0.5
    leaves.append(torch.randn(len(rows) + 1, size))
    expected = _run_on_cpu(rows, *leaves)
    tiled = rows.tiled(height)
    tiled = tiled.moved([tensor.to(DEVICE) for tensor in tiled.tensors])
    _poison()
    found = _run(recur, tiled, *leaves)
    for ours, theirs in zip(found, expected, strict=True):
        error = (ours.double().cpu() - theirs).norm() / theirs.norm().clamp(min=1e-9)
        assert error < tolerance


def _run_on_cpu(rows: Rows, *leaves: Tensor) -> list[Tensor]:
    inputs, weights, arriving = (each.detach().double().requires_grad_() for each in leaves)
    h = eager.recur(inputs, weights, 0.01, rows)
    return [h.detach(), *torch.autograd.grad(h, [inputs, weights], arriving)]


def _trees(count: int, longest: int) -> list[Tree]:
    random = np.random.default_rng(count)
    return [random_tree(random, int(n)) for n in random.integers(1, longest, count)]


@pytest.mark.parametrize("what", ["trees", "chains", "sequences"])
@pytest.mark.parametrize("height", HEIGHTS)
def test_equals_the_eager_kernel(what: str, height: int) -> None:
    assert_same(rows_of(what, _trees(12, 9)), 40, height)


@pytest.mark.parametrize("size", [1, 3, 16, 33, 64])
def test_at_any_size(size: int) -> None:
    assert_same(rows_of("trees", _trees(5, 8)), size, 16)


@pytest.mark.parametrize("name", shapes(7))
def test_on_extreme_shapes(name: str) -> None:
    for what in ("trees", "chains", "sequences"):
        assert_same(rows_of(what, [shapes(7)[name], plain([0])]), 8, 16)


def test_no_rows_are_the_initial_state() -> None:
    from ramify.kernels.triton.recurrence import recur

    corpus = corpus_of([plain([0])])
    rows = tree_rows(build_batch(corpus, np.zeros(0, np.int32))).tiled()
    rows = rows.moved([tensor.to(DEVICE) for tensor in rows.tensors])
    h, d_inputs, d_weights = _run(recur, rows, torch.zeros(0, 32), torch.randn(4, 32, 8), torch.ones(1, 8))
    torch.testing.assert_close(h.cpu(), torch.full((1, 8), 0.01))
    assert d_inputs.numel() == 0
    assert not d_weights.any()


@pytest.mark.skipif(INTERPRETED, reason="the interpreter's product of bfloat16 matrices is wrong")
def test_in_bfloat16_within_its_error() -> None:
    from ramify.kernels.triton.recurrence import recur

    def narrow(*arguments: object) -> Tensor:
        with torch.autocast(DEVICE.type, torch.bfloat16):
            return recur(*arguments)  # type: ignore[arg-type]

    rows = rows_of("trees", _trees(12, 9))
    torch.manual_seed(0)
    leaves = [torch.randn(len(rows), 128), torch.randn(4, 128, 32) / 6, torch.randn(len(rows) + 1, 32)]
    expected = _run_on_cpu(rows, *leaves)
    tiled = rows.tiled()
    found = _run(narrow, tiled.moved([tensor.to(DEVICE) for tensor in tiled.tensors]), *leaves)
    assert found[0].dtype == torch.bfloat16
    assert found[2].dtype == torch.float32
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.double().cpu() - theirs).norm() / theirs.norm() < 0.02


def test_the_same_again_gives_the_same_bits() -> None:
    from ramify.kernels.triton.recurrence import recur

    rows = rows_of("trees", _trees(12, 9)).tiled()
    rows = rows.moved([tensor.to(DEVICE) for tensor in rows.tensors])
    torch.manual_seed(0)
    leaves = [torch.randn(len(rows), 128), torch.randn(4, 128, 32), torch.randn(len(rows) + 1, 32)]
    first, second = _run(recur, rows, *leaves), _run(recur, rows, *leaves)
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


# --- the softmax -----------------------------------------------------------------------------------------------------


def _softmax_twin(h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> tuple[Tensor, list[Tensor]]:
    leaves = [each.detach().double().requires_grad_() for each in (h, weight, bias) if each is not None]
    logits = functional.linear(*leaves)
    losses = functional.cross_entropy(logits, targets.long(), reduction="none")
    return losses.detach(), list(torch.autograd.grad(losses.sum() * 0.5, leaves))


@pytest.mark.parametrize(("rows", "words", "size"), [(5, 40, 8), (7, 5003, 13), (1, 8192, 16), (0, 9, 3), (33, 17, 5)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_softmax_losses_and_gradients(
    rows: int, words: int, size: int, bias: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ramify.kernels.triton import softmax as on_gpu

    torch.manual_seed(words)
    h, weight = torch.randn(rows, size), torch.randn(words, size)
    b = torch.randn(words) if bias else None
    targets = torch.randint(words, (rows,), dtype=torch.int32)
    losses, gradients = _softmax_twin(h, weight, b, targets)
    monkeypatch.setattr(on_gpu, "rows_at_once", lambda h, columns: at_once)
    _poison()
    leaves = [each.to(DEVICE).requires_grad_() for each in (h, weight, b) if each is not None]
    with choice.use("triton"):
        arguments = (*leaves, *([] if bias else [None]), targets.to(DEVICE))
        total = negative_log_likelihood(*arguments)
        found = torch.autograd.grad(total * 0.5, leaves)
        logprobs = log_probabilities(*arguments)
    torch.testing.assert_close(-logprobs.double().cpu(), losses, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(total.detach().double().cpu(), losses.sum(), rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(found, gradients, strict=True):
        torch.testing.assert_close(ours.double().cpu(), theirs, rtol=1e-4, atol=1e-5)


def test_huge_logits_do_not_overflow() -> None:
    h = torch.tensor([[1e4], [-1e4]], device=DEVICE)
    weight = torch.linspace(-1, 1, 50, device=DEVICE)[:, None]
    with choice.use("triton"):
        found = log_probabilities(h, weight, None, torch.tensor([49, 49], dtype=torch.int32, device=DEVICE))
    torch.testing.assert_close(found.cpu(), torch.tensor([0.0, -2e4]), rtol=1e-5, atol=1e-2)


# --- whole models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("more", [None, 0, 5])
def test_losses_and_gradients_of_models(kind: Kind, layers: int, more: int | None) -> None:
    """With the rows that there are, and with room for more, as recorded steps have it."""
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind, layers=layers).float().to(DEVICE)
    batch = model.build(corpus, corpus.everything)
    rooms = [Room(sum(sizes) + more, tuple(sizes + more)) for sizes in model.sizes(batch)] if more is not None else ()
    inputs = model.inputs(batch, rooms).tiled()
    inputs = inputs.moved([tensor.to(DEVICE) for tensor in inputs.tensors])
    _poison()
    parameters = list(model.parameters())
    with choice.use("triton"):
        loss = model.loss(inputs)
        found = torch.autograd.grad(loss, parameters)
        scores = model.log_probabilities(inputs)[: len(model.targets(batch))]
    double = model.double().cpu()
    expected = double.loss(batch)
    torch.testing.assert_close(loss.detach().double().cpu(), expected.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores.double().cpu(), double.log_probabilities(batch), rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(found, torch.autograd.grad(expected, list(double.parameters())), strict=True):
        torch.testing.assert_close(ours.double().cpu(), theirs, rtol=1e-3, atol=1e-4)


# --- gradients that are kept -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("often", [0, 20, 33, 500, 1300])
def test_rows_are_summed_word_by_word(often: int) -> None:
    from ramify.kernels.triton.by_rows import row_gradient, sorted_places

    torch.manual_seed(often)
    words = torch.randint(40, (600, 3), dtype=torch.int32) ** 2 // 40
    words[torch.randperm(1800)[:often] // 3, 0] = 7  # and up to 600 in one piece after the other
    words[: often // 3] = 3
    weight, source, scale = torch.randn(40, 13), torch.randn(600, 13), torch.randn(1800)
    at = sorted_places(words.to(DEVICE))
    _poison()
    found = row_gradient(weight.clone().to(DEVICE), at, source.to(DEVICE), scale.to(DEVICE), 3)
    expected = torch.zeros(40, 13, dtype=torch.float64)
    for place, word in enumerate(words.flatten().tolist()):
        expected[word] += source[place // 3].double() * scale[place]
    torch.testing.assert_close(found.square().cpu().double(), expected.square().sum(), rtol=1e-5, atol=1e-5)
    found.take_off(torch.tensor(0.25, device=DEVICE))
    torch.testing.assert_close(found.weight.cpu().double(), weight - 0.25 * expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{}, {"tied": True, "embedding": 4}, {"projection": 5, "layers": 2}, {"objective": "nce"}, {"clip": 0.0},
     {"objective": "nce", "shared_noise": True}, {"vectors_frozen": True}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("more", [None, 5])
def test_descent_is_plain_gradient_descent(
    kind: Kind, options: dict[str, object], more: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three steps, each from the parameters that the last one left, against float64 and nothing kept."""
    if kind is Kind.BILSTM and "tied" in options:
        pytest.skip("a BiLSTM's states are twice as wide as its embeddings here")
    recipe = load_recipe(
        None, **{"model": kind, "hidden": 4, "embedding": 3, "clip": 2.0, "lr": 0.5, "noise": 3, **options}
    )
    _, corpus = mixed_corpus()
    batch_size = recipe.batch_size
    fixed = torch.randint(len(corpus.vocabulary), (4000,), generator=torch.Generator().manual_seed(3))
    monkeypatch.setattr(
        NoiseContrastive, "draw", lambda self, shape: fixed[: math.prod(shape)].view(shape).to(self.cumulative.device)
    )

    def model_of(dtype: torch.dtype, device: torch.device) -> LanguageModel:
        model = make_model(recipe.config, corpus.vocabulary)
        torch.manual_seed(5)
        model.initialise(0.7)
        if recipe.objective is Objective.NCE:
            counts = torch.from_numpy(corpus.vocabulary.counts.copy()).clamp(min=1)  # any word may be noise
            model.noise = NoiseContrastive(counts, recipe.noise, recipe.shared_noise, log_z=2.0)
        model.embedding.requires_grad_(not recipe.vectors_frozen)
        return model.to(device, dtype).train()

    model = model_of(torch.float32, DEVICE)
    batch = model.build(corpus, corpus.everything)
    rooms = [Room(sum(sizes) + more, tuple(sizes + more)) for sizes in model.sizes(batch)] if more is not None else ()
    inputs = model.inputs(batch, rooms).tiled()
    inputs = inputs.moved([tensor.to(DEVICE) for tensor in inputs.tensors])
    parameters = [each for each in model.parameters() if each.requires_grad]
    descent = Descent(model, recipe, torch.optim.SGD(parameters, torch.tensor(recipe.lr)))
    double = model_of(torch.float64, torch.device("cpu"))
    plainly = [each for each in double.parameters() if each.requires_grad]
    optimiser = torch.optim.SGD(plainly, recipe.lr)
    for _ in range(3):
        with choice.use("triton"):
            descent.prepare(True)
            loss = model.loss(inputs)
            norm = descent(loss)
            model.zero_grad(set_to_none=True)
        expected = double.loss(batch)
        (expected / batch_size).backward()
        before = clip(plainly, recipe.clip)
        optimiser.step()
        optimiser.zero_grad()
        torch.testing.assert_close(loss.detach().cpu().double(), expected.detach(), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(norm.cpu().double(), before, rtol=1e-4, atol=1e-4)
    for ours, theirs in zip(model.parameters(), double.parameters(), strict=True):
        torch.testing.assert_close(ours.detach().cpu().double(), theirs.detach(), rtol=1e-3, atol=1e-4)
    if descent.kept is not None and descent.kept.columns is not None:
        width = model.output.weight.shape[1]
        assert torch.equal(descent.kept.columns[: len(corpus.vocabulary), :width], model.output.weight)
