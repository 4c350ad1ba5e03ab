"""Noise-contrastive estimation against a dense twin, its noise, and the gradient that it stands for."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from ramify.kernels import softmax
from ramify.model.output import NoiseContrastive

COUNTS = torch.tensor([40, 7, 25, 12, 6, 3, 2, 1])
WORDS, SIZE, ROWS = len(COUNTS), 4, 6
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def _material(rows: int = ROWS) -> tuple[Tensor, Tensor, Tensor]:
    """States, targets, output matrix."""
    torch.manual_seed(0)
    h = torch.randn(rows, SIZE, dtype=torch.float64, requires_grad=True)
    return h, torch.randint(WORDS, (rows,)), torch.randn(WORDS, SIZE, dtype=torch.float64, requires_grad=True)


def _noise(k: int = 3, **options: float) -> NoiseContrastive:
    return NoiseContrastive(COUNTS, k, **options).double()


def _always(monkeypatch: pytest.MonkeyPatch, words: Tensor) -> None:
    """The noise of each row, drawn in this order."""
    place = 0

    def draw(self: NoiseContrastive, shape: tuple[int, ...]) -> Tensor:
        nonlocal place
        if len(shape) == 1:
            return words
        place += shape[0]
        return words[place - shape[0] : place]

    monkeypatch.setattr(NoiseContrastive, "draw", draw)


def dense_loss(noise: NoiseContrastive, h: Tensor, targets: Tensor, weight: Tensor, drawn: Tensor) -> Tensor:
    """L^NCE of the paper with probabilities, and no regard for overflow."""
    of_noise = noise.k * noise.log_noise.exp()  # k P_n(w)
    total = h.new_zeros(())
    for t in range(len(h)):
        p = (weight @ h[t]).exp() / noise.z  # P^(w | D(w_t))
        p_d = p / (p + of_noise)
        total = total - p_d[targets[t]].log() - (1 - p_d[drawn[t]]).log().sum()
    return total


# --- the loss --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 4 * SIZE, 9 * SIZE, 1 << 24])
@pytest.mark.parametrize("log_z", [0.5, 2.0, 9.0])
def test_equals_the_dense_twin(monkeypatch: pytest.MonkeyPatch, chunk: int, log_z: float) -> None:
    monkeypatch.setattr(softmax, "CHUNK", chunk)
    monkeypatch.setattr(softmax, "LEAST_ROWS", 1)
    h, targets, weight = _material()
    noise = _noise(log_z=log_z)
    drawn = torch.randint(WORDS, (ROWS, 3))
    drawn[0] = targets[0]  # a target among its own noise, and one noise word three times
    _always(monkeypatch, drawn)
    found, expected = (f(h, targets, weight) for f in (noise.loss, lambda *a: dense_loss(noise, *a, drawn)))
    torch.testing.assert_close(found, expected, **CLOSE)
    leaves = [h, weight, noise.z]
    ours, theirs = (torch.autograd.grad(loss / 64, leaves) for loss in (found, expected))
    assert ours[1].is_sparse
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.to_dense(), other, **CLOSE)
        assert other.any()


def test_the_gradient_of_words_that_were_not_drawn_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    h, _, weight = _material(2)
    _always(monkeypatch, torch.tensor([[4, 4, 6], [6, 1, 4]]))
    _noise().loss(h, torch.tensor([1, 2]), weight).backward()
    assert weight.grad is not None
    assert weight.grad.is_sparse
    assert weight.grad.coalesce().indices()[0].tolist() == [1, 2, 4, 6]


def test_a_frozen_matrix_gets_no_gradient() -> None:
    h, targets, weight = _material()
    weight.requires_grad_(False)
    _noise().loss(h, targets, weight).backward()
    assert weight.grad is None
    assert h.grad is not None


def test_no_rows() -> None:
    h, targets, weight = _material()
    for shared in (False, True):
        assert _noise(shared=shared).loss(h[:0], targets[:0], weight) == 0


# --- Z ---------------------------------------------------------------------------------------------------------------


def test_the_parameter_is_z_itself() -> None:
    """With ln Z as the parameter its gradient would be Z = 8103 times as large, and starve the rest when clipped."""
    noise = NoiseContrastive(COUNTS)
    assert [name for name, _ in noise.named_parameters()] == ["z"]
    assert noise.z.shape == ()
    assert noise.z.item() == pytest.approx(math.exp(9), rel=1e-6)
    assert _noise(log_z=2.5).z.item() == pytest.approx(math.exp(2.5), rel=1e-6)
    assert noise.k == 20


def test_buffers_are_not_saved() -> None:
    """They follow from the counts."""
    assert set(NoiseContrastive(COUNTS).state_dict()) == {"z"}


def test_the_gradient_of_z_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """d/dZ of -ln P_d(w) is (1 - P_d(w)) / Z, of -ln(1 - P_d(w')) it is -P_d(w') / Z."""
    h, targets, weight = _material(1)
    drawn = torch.tensor([[3, 0, 5]])
    _always(monkeypatch, drawn)
    noise = _noise(log_z=1.0)
    noise.loss(h, targets, weight).backward()
    p = (weight @ h[0]).exp() / noise.z
    p_d = p / (p + 3 * noise.log_noise.exp())
    expected = ((1 - p_d[targets[0]]) - p_d[drawn[0]].sum()) / noise.z
    torch.testing.assert_close(noise.z.grad, expected.detach(), **CLOSE)


# --- the noise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.75, 1.0, 0.0])
def test_noise_is_the_smoothed_unigram(power: float) -> None:
    smoothed = [count**power for count in COUNTS.tolist()]
    expected = [each / sum(smoothed) for each in smoothed]
    noise = NoiseContrastive(COUNTS, power=power)
    assert noise.log_noise.exp().tolist() == pytest.approx(expected, rel=1e-6)
    assert noise.cumulative.dtype == torch.float64
    assert noise.cumulative.diff(prepend=torch.zeros(1)).tolist() == pytest.approx(expected, rel=1e-12)


def test_noise_is_drawn_from_its_distribution() -> None:
    torch.manual_seed(0)
    noise = NoiseContrastive(COUNTS)
    n = 200_000
    found = torch.bincount(noise.draw((n // 4, 4)).flatten(), minlength=WORDS).double()
    expected = n * noise.log_noise.double().exp()
    chi_square = ((found - expected).square() / expected).sum().item()
    assert chi_square < 24.3  # 7 degrees of freedom, one in a thousand


def test_drawn_words_are_independent() -> None:
    torch.manual_seed(0)
    noise = NoiseContrastive(COUNTS)
    pairs = noise.draw((100_000, 2))
    found = torch.bincount(pairs[:, 0] * WORDS + pairs[:, 1], minlength=WORDS**2).double()
    q = noise.log_noise.double().exp()
    expected = len(pairs) * (q[:, None] * q[None]).flatten()
    assert ((found - expected).square() / expected).sum().item() < 103.4  # 63 degrees of freedom, one in a thousand


@pytest.mark.parametrize(("uniform", "word"), [(0.0, 1), (0.2499, 1), (0.25, 3), (0.9999, 3), (1.0, 4)])
def test_words_without_a_count_are_never_drawn(monkeypatch: pytest.MonkeyPatch, uniform: float, word: int) -> None:
    """UNK has none where every word was kept. (1.0 is not drawn, but rounding can leave the sum below 1.)"""
    noise = NoiseContrastive(torch.tensor([0, 1, 0, 3, 0]), power=1.0)
    monkeypatch.setattr(torch, "rand", lambda shape, **_: torch.full(shape, uniform, dtype=torch.float64))
    assert noise.draw((2,)).tolist() == [word] * 2


def test_each_draw_is_new_and_each_seed_the_same() -> None:
    noise = NoiseContrastive(COUNTS)
    torch.manual_seed(3)
    first, second = noise.draw((50,)), noise.draw((50,))
    torch.manual_seed(3)
    assert torch.equal(first, noise.draw((50,)))
    assert not torch.equal(first, second)


def test_each_word_has_noise_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []
    draw = NoiseContrastive.draw

    def watched(self: NoiseContrastive, shape: tuple[int, ...]) -> Tensor:
        shapes.append(shape)
        return draw(self, shape)

    monkeypatch.setattr(NoiseContrastive, "draw", watched)
    h, targets, weight = _material()
    _noise(k=5).loss(h, targets, weight)
    assert shapes == [(ROWS, 5)]


# --- what it stands for ----------------------------------------------------------------------------------------------

SMALL = torch.tensor([4, 1, 3, 2])  # counts of a vocabulary whose noise can be written out: 10 words are its exact mean


def _expectation(monkeypatch: pytest.MonkeyPatch, times: int) -> Tensor:
    """k = 10 `times` noise words that are the noise distribution itself, so one draw is the mean of all draws."""
    words = torch.repeat_interleave(torch.arange(4), SMALL * times)
    monkeypatch.setattr(
        NoiseContrastive, "draw", lambda self, shape: words if len(shape) == 1 else words.expand(shape[0], -1)
    )
    return words


def _one_row() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    h = torch.randn(1, SIZE, dtype=torch.float64, requires_grad=True)
    return h, torch.tensor([2]), torch.randn(4, SIZE, dtype=torch.float64, requires_grad=True)


def _gradients(loss: Tensor, *leaves: Tensor) -> Tensor:
    return torch.cat([each.to_dense().flatten() for each in torch.autograd.grad(loss, leaves)])


@pytest.mark.parametrize("shared", [False, True])
def test_approaches_the_gradient_of_the_softmax(monkeypatch: pytest.MonkeyPatch, shared: bool) -> None:
    """With Z the row's own normaliser the mean gradient tends to the softmax's as 1 / k."""
    h, targets, weight = _one_row()
    logits = h @ weight.t()
    wanted = _gradients(functional.cross_entropy(logits, targets, reduction="sum"), h, weight)
    distances = []
    for times in (1, 10, 100, 1000):
        noise = NoiseContrastive(SMALL, 10 * times, shared=shared, power=1.0, log_z=logits.logsumexp(1).item()).double()
        noise.z.data = logits.exp().sum().detach()
        _expectation(monkeypatch, times)
        distances.append(float((_gradients(noise.loss(h, targets, weight), h, weight) - wanted).norm() / wanted.norm()))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-3
    assert distances[2] / distances[3] == pytest.approx(10, rel=0.05)


def test_the_best_scores_are_the_true_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where scores are the log of the data's distribution and Z = 1, the mean gradient over that data is nothing."""
    data = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    weight = torch.diag(data.log()).requires_grad_()
    h = torch.ones(4, 4, dtype=torch.float64)  # so y_w = ln P(w) at every row
    noise = NoiseContrastive(SMALL, 10, power=1.0, log_z=0.0).double()
    noise.log_noise = (SMALL.double() / 10).log()  # without the rounding to float32
    _expectation(monkeypatch, 1)
    total = torch.zeros((), dtype=torch.float64)
    for word in range(4):
        total = total + data[word] * noise.loss(h[:1], torch.tensor([word]), weight)
    assert _gradients(total, weight, noise.z).abs().max() < 1e-10


# --- shared noise ----------------------------------------------------------------------------------------------------


def test_shared_noise_equals_the_dense_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row is told from the same words, each of which counts k / K."""
    h, targets, weight = _material()
    words = torch.randint(WORDS, (50,))
    _always(monkeypatch, words)
    noise = _noise(shared=True, log_z=1.5)
    p = (h @ weight.t()).exp() / noise.z
    p_d = p / (p + 3 * noise.log_noise.exp())
    expected = -p_d[torch.arange(ROWS), targets].log().sum() - 3 / 50 * (1 - p_d[:, words]).log().sum()
    found = noise.loss(h, targets, weight)
    torch.testing.assert_close(found, expected, **CLOSE)
    torch.testing.assert_close(_gradients(found, h, weight, noise.z), _gradients(expected, h, weight, noise.z), **CLOSE)


def test_shared_noise_means_the_same_as_noise_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    h, targets, weight = _one_row()
    _expectation(monkeypatch, 7)
    losses = [
        NoiseContrastive(SMALL, 70, shared, 1.0, 1.0).double().loss(h, targets, weight) for shared in (False, True)
    ]
    torch.testing.assert_close(*losses, **CLOSE)


@pytest.mark.parametrize("shared", [False, True])
def test_random_noise_is_right_on_average(shared: bool) -> None:
    """The mean over many draws lies within four standard errors of the expectation."""
    torch.manual_seed(0)
    h, targets, weight = (each.detach() for each in _material())
    noise = _noise(k=20, shared=shared, log_z=1.0)
    q = noise.log_noise.exp()
    p = (h @ weight.t()).exp() / noise.z
    p_d = p / (p + noise.k * q)
    expected = -p_d[torch.arange(ROWS), targets].log().sum() - noise.k * ((1 - p_d).log() @ q).sum()
    with torch.no_grad():
        drawn = torch.stack([noise.loss(h, targets, weight) for _ in range(400)])
    assert abs(drawn.mean() - expected) < 4 * drawn.std() / 20
    assert drawn.std() > 0


# --- large numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("scale", [0.0, 1e3, 1e6, -1e6])
def test_huge_scores_do_not_overflow(shared: bool, scale: float) -> None:
    h, targets, weight = _material()
    h, weight = (h.detach() * scale).float().requires_grad_(), weight.detach().float().requires_grad_()
    noise = NoiseContrastive(COUNTS, 5, shared=shared)
    loss = noise.loss(h, targets, weight)
    loss.backward()
    for each in (loss, h.grad, weight.grad, noise.z.grad):
        assert each is not None
        assert each.to_dense().isfinite().all()


def test_a_target_that_the_noise_never_draws() -> None:
    """It is told from noise with certainty: no loss, and no number that is none."""
    h, _, weight = _material(1)
    noise = NoiseContrastive(torch.tensor([0, 5, 5, 5, 5, 5, 5, 5]), 5).double()
    loss = noise.loss(h, torch.tensor([0]), weight)
    loss.backward()
    assert loss.isfinite()
    assert h.grad is not None
    assert h.grad.isfinite().all()
