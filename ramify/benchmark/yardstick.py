"""The yardstick: a language model of cuDNN's LSTM with Ramify's output layer, on sentences of equal length."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.model.output import Softmax
from ramify.training.gradient import clip

LENGTH = 21  # words of a sentence: the mean of the MSR corpus


class Yardstick(nn.Module):
    """S, D and V of the model that it is measured beside; the LSTM's weights in float32 (TF32) or bfloat16."""

    def __init__(
        self, vocabulary: int, embedding: int, hidden: int, projection: int | None, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.dtype = dtype
        self.embedding = nn.Parameter(torch.empty(vocabulary, embedding).uniform_(-0.1, 0.1))
        self.lstm = nn.LSTM(embedding, hidden, dtype=dtype)
        self.projection = nn.Linear(hidden, projection, bias=False) if projection else None
        self.output = Softmax(vocabulary, projection or hidden, bias=True)
        for parameter in self.output.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def states(self, words: Tensor) -> Tensor:
        """[21, B] words; the states [21 B, D]."""
        x = functional.embedding(words, self.embedding).to(self.dtype)
        with torch.autocast("cuda", enabled=False):
            return self.lstm(x)[0].flatten(0, 1)  # type: ignore[no-any-return]

    def loss(self, words: Tensor) -> Tensor:
        """Each word from those before it; the first from the last, as the speed does not depend on it."""
        h = self.states(words.roll(1, 0))
        if self.projection is not None:
            h = self.projection(h)
        return self.output.loss(h, words.flatten())


class Step:
    """Training steps of the yardstick: all parameters in the clip and in the optimiser."""

    def __init__(self, model: Yardstick, sentences: int) -> None:
        self.model = model
        self.sentences = sentences
        self.optimiser = torch.optim.SGD(model.parameters(), 0.1, fused=True)

    def __call__(self, words: Tensor) -> None:
        with torch.autocast("cuda", torch.bfloat16):
            loss = self.model.loss(words)
        (loss / self.sentences).backward()
        clip(self.model.parameters(), 5.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
