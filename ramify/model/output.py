"""Output layers: the softmax over the whole vocabulary, and noise-contrastive estimation for training.

Both work in chunks of rows, so that memory does not grow with words x V. Validation and scoring always use the softmax.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.kernels.kept import Kept
from ramify.kernels.softmax import chunks, log_probabilities, negative_log_likelihood
from ramify.kernels.words import score_words

if TYPE_CHECKING:
    from ramify.kernels.triton.nce import Drawn


class Softmax(nn.Module):
    """Equations (2d) and (softmax): y = W_ho h, P(w | D(w)) = exp y_w / sum exp y."""

    def __init__(self, vocabulary: int, size: int, bias: bool, weight: nn.Parameter | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, size)) if weight is None else weight  # W_ho [V, D]
        self.bias = nn.Parameter(torch.empty(vocabulary)) if bias else None

    def loss(self, h: Tensor, targets: Tensor, kept: Kept | None = None) -> Tensor:
        """The negative log-likelihood of the targets, summed over the rows."""
        return negative_log_likelihood(h, self.weight, self.bias, targets, kept)

    def log_probabilities(self, h: Tensor, targets: Tensor) -> Tensor:
        """log P of each row's target [N], in float32 or better."""
        return log_probabilities(h, self.weight, self.bias, targets)

    def logits(self, h: Tensor) -> Tensor:
        """[N, V]: for all words at once, so for few rows."""
        return functional.linear(h, self.weight, self.bias)


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
        counts = (targets >= 0).to(h.dtype)  # or else it is room that is left over
        targets = targets.long().clamp(min=0)
        if self.shared:
            return self._loss_with_shared_noise(h, targets, counts, weight)
        total = h.new_zeros(())
        width = (self.k + 1) * (h.shape[1] if h.is_cuda else 1)  # on the CPU no rows of W are copied together
        for rows in chunks(h, width):
            words = torch.cat([targets[rows, None], self.draw((rows.stop - rows.start, self.k))], 1)  # [N, 1 + k]
            ratio = self._log_ratio(score_words(h[rows], weight, words), words)
            gains = functional.logsigmoid(ratio[:, 0]) + functional.logsigmoid(-ratio[:, 1:]).sum(1)
            total = total - (gains * counts[rows]).sum()
        return total

    def drawn(self, targets: Tensor) -> Drawn:
        """On a GPU: the words of all rows, drawn and sorted beside what follows."""
        from ramify.kernels.triton.by_rows import beside, sorted_places
        from ramify.kernels.triton.nce import Drawn

        with beside(targets):
            noise = self.draw((len(targets), self.k)).int()
            words = torch.cat([targets.clamp(min=0)[:, None], noise], 1)  # [N, 1 + k]
            return Drawn(words, sorted_places(words), targets >= 0)

    def loss_of_drawn(self, h: Tensor, weight: Tensor, drawn: Drawn, kept: Kept) -> Tensor:
        """The NCE loss of what was drawn; the gradient of the weight is kept by rows."""
        from ramify.kernels.triton import nce

        return nce.loss(h, weight, self.z, drawn, self.log_noise + math.log(self.k), kept)

    def _loss_with_shared_noise(self, h: Tensor, targets: Tensor, counts: Tensor, weight: Tensor) -> Tensor:
        """The same with one set of noise words for all rows, each weighted so that k words count for every row."""
        words = self.draw((max(self.k, 1024),))
        of_target = self._log_ratio(score_words(h, weight, targets[:, None]), targets[:, None])
        of_noise = self._log_ratio(h @ weight[words].t(), words[None])  # [N, K]
        share = self.k / len(words)
        gains = functional.logsigmoid(of_target[:, 0]) + share * functional.logsigmoid(-of_noise).sum(1)
        return -(gains * counts).sum()

    def _log_ratio(self, scores: Tensor, words: Tensor) -> Tensor:
        """ln P^(w) - ln k P_n(w), whose sigmoid is the probability that w is no noise."""
        return scores - self.z.log() - math.log(self.k) - self.log_noise[words]
