"""Output layers: the softmax over the whole vocabulary, and noise-contrastive estimation for training.

Both work in chunks of rows, so that memory does not grow with words x V. Validation and scoring always use the softmax.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from ramify.kernels.products import narrowed, product
from ramify.kernels.words import score_words

CHUNK = 1 << 24  # logits at once: 64 MB in float32
LEAST_ROWS = 64  # or the matrix products get slow


class Softmax(nn.Module):
    """Equations (2d) and (softmax): y = W_ho h, P(w | D(w)) = exp y_w / sum exp y."""

    def __init__(self, vocabulary: int, size: int, bias: bool, weight: nn.Parameter | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, size)) if weight is None else weight  # W_ho [V, D]
        self.bias = nn.Parameter(torch.empty(vocabulary)) if bias else None

    def loss(self, h: Tensor, targets: Tensor) -> Tensor:
        """The negative log-likelihood of the targets, summed over the rows."""
        total: Tensor = _NegativeLogLikelihood.apply(h, self.weight, self.bias, targets)  # type: ignore[no-untyped-call]
        return total

    @torch.no_grad()
    def log_probabilities(self, h: Tensor, targets: Tensor) -> Tensor:
        """log P of each row's target [N], in float32 or better."""
        found = []
        for rows in _chunks(len(h), len(self.weight)):
            logits = product(h[rows], self.weight, self.bias)
            found.append(logits.gather(1, targets[rows, None])[:, 0] - logits.logsumexp(1))
        return torch.cat(found) if found else h.new_empty(0)

    def logits(self, h: Tensor) -> Tensor:
        """[N, V]: for all words at once, so for few rows."""
        return functional.linear(h, self.weight, self.bias)


class _NegativeLogLikelihood(torch.autograd.Function):
    """Loss and gradient in one pass over the logits, so that they are made once and never kept."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor) -> Tensor:
        needed = any(ctx.needs_input_grad[:3])
        h = h.to(weight.dtype)  # autocast narrows it, and the logits; all that is summed stays wide
        dh = torch.empty_like(h) if needed else None
        d_weight = torch.zeros_like(weight) if needed else None
        d_bias = torch.zeros_like(bias) if needed and bias is not None else None
        narrow, narrow_bias = narrowed(weight), None if bias is None else narrowed(bias)
        total = h.new_zeros(())
        for rows in _chunks(len(h), len(weight)):
            logits = product(narrowed(h[rows]), narrow, narrow_bias).to(weight.dtype)
            wanted = targets[rows]
            top = logits.amax(1)
            total -= (logits.gather(1, wanted[:, None])[:, 0] - top).sum()
            unnormalised = logits.sub_(top[:, None]).exp_()
            z = unnormalised.sum(1)
            total += z.log().sum()
            if dh is None or d_weight is None:
                continue
            # The gradient of the logits is P, and P - 1 at the target. The normaliser goes into the small matrices, and
            # the targets are put right one by one, so that the logits are not gone through again.
            by_row = (1 / z)[:, None]
            dh[rows] = product(unnormalised, weight.t()).mul_(by_row).sub_(weight[wanted])
            d_weight = product(unnormalised.t(), (h[rows] * by_row).t(), d_weight)
            d_weight.index_add_(0, wanted, h[rows], alpha=-1)
            if d_bias is not None:
                d_bias.addmv_(unnormalised.t(), by_row[:, 0])
                d_bias.index_add_(0, wanted, torch.ones_like(top), alpha=-1)
        ctx.gradients = dh, d_weight, d_bias
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> Any:
        dh, d_weight, d_bias = ctx.gradients
        ctx.gradients = None  # they are large
        return dh.mul_(scale), d_weight.mul_(scale), None if d_bias is None else d_bias.mul_(scale), None


class NoiseContrastive(nn.Module):
    """NCE: tell each word from k noise words (section 2.4 of the paper).

    P^(w) = exp(y_w) / Z with a learned Z that starts at e^9. The parameter is Z itself, as in the original: learning
    ln Z at the same rate would take over the clipped gradient.
    """

    def __init__(
        self, counts: Tensor, k: int = 20, shared: bool = False, power: float = 0.75, log_z: float = 9.0
    ) -> None:
        super().__init__()
        noise = counts.double().pow(power)
        noise /= noise.sum()
        self.k = k
        self.shared = shared
        self.z = nn.Parameter(torch.tensor(math.exp(log_z)))
        self.log_noise: Tensor
        self.cumulative: Tensor
        self.register_buffer("log_noise", noise.log().float(), persistent=False)
        self.register_buffer("cumulative", noise.cumsum(0), persistent=False)

    def draw(self, shape: tuple[int, ...]) -> Tensor:
        """Noise words, drawn with replacement; a target may be among them."""
        uniform = torch.rand(shape, device=self.cumulative.device, dtype=self.cumulative.dtype)
        return torch.searchsorted(self.cumulative, uniform, right=True).clamp_(max=len(self.cumulative) - 1)

    def loss(self, h: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
        """The NCE loss, summed over the rows."""
        h = h.to(weight.dtype)  # wide again where autocast narrowed it
        if self.shared:
            return self._loss_with_shared_noise(h, targets, weight)
        total = h.new_zeros(())
        width = (self.k + 1) * (h.shape[1] if h.is_cuda else 1)  # on the CPU no rows of W are copied together
        for rows in _chunks(len(h), width):
            words = torch.cat([targets[rows, None], self.draw((rows.stop - rows.start, self.k))], 1)  # [N, 1 + k]
            scores = score_words(h[rows], weight, words)
            ratio = self._log_ratio(scores, words)
            total = total - functional.logsigmoid(ratio[:, 0]).sum() - functional.logsigmoid(-ratio[:, 1:]).sum()
        return total

    def _loss_with_shared_noise(self, h: Tensor, targets: Tensor, weight: Tensor) -> Tensor:
        """The same with one set of noise words for all rows, each weighted so that k words count for every row."""
        words = self.draw((max(self.k, 1024),))
        scores = h @ weight[words].t()  # [N, K]
        target_scores = score_words(h, weight, targets[:, None])
        of_target = self._log_ratio(target_scores, targets[:, None])
        of_noise = self._log_ratio(scores, words[None])
        share = self.k / len(words)
        return -functional.logsigmoid(of_target).sum() - share * functional.logsigmoid(-of_noise).sum()

    def _log_ratio(self, scores: Tensor, words: Tensor) -> Tensor:
        """ln P^(w) - ln k P_n(w), whose sigmoid is the probability that w is no noise."""
        return scores - self.z.log() - math.log(self.k) - self.log_noise[words]


def _chunks(n: int, width: int) -> list[slice]:
    """Rows 0 to n in slices of about CHUNK numbers."""
    step = max(LEAST_ROWS, CHUNK // max(1, width))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
