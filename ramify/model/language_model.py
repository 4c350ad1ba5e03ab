"""LanguageModel: what all models share, whatever they read: embeddings, output layer, loss and log-probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.corpus import Corpus
from ramify.corpus.structure import Array
from ramify.kernels.inputs import Inputs
from ramify.kernels.kept import Kept
from ramify.kernels.products import narrow_dtype
from ramify.kernels.rows import Room
from ramify.model.config import ModelConfig
from ramify.model.output import NoiseContrastive, Softmax


class LanguageModel(nn.Module, ABC):
    """A model that has a state for each word to be predicted, and an output layer that predicts from states."""

    def __init__(self, config: ModelConfig, counts: Tensor) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.empty(len(counts), config.embedding))  # W_e [V, S]
        self.projection = nn.Parameter(torch.empty(config.projection, config.state)) if config.projection else None
        tied = self.embedding if config.tied else None
        self.output = Softmax(len(counts), config.before_output, config.output_bias, tied)  # W_ho [V, D]
        self.noise: NoiseContrastive | None = None  # set when the model is trained by NCE
        self.sparse_gradients = False  # of the embeddings: for optimisers that then touch few rows of many
        self.kept: Kept | None = None  # on a GPU, the gradients of the large matrices that autograd need not hand over

    @abstractmethod
    def build(self, corpus: Corpus, sentences: Array) -> Any:
        """The batch of some sentences, as this model reads them."""

    @abstractmethod
    def sizes(self, batch: Any) -> list[Array]:
        """How many rows each set of weights computes, for each of the model's recurrences."""

    @abstractmethod
    def inputs(self, batch: Any, rooms: Sequence[Room] = ()) -> Inputs:
        """What the model reads of a batch, on the host; with room for more, where that is given."""

    @abstractmethod
    def states_of(self, inputs: Inputs) -> Tensor:
        """The state before each prediction [N, D]."""

    def place(self, batch: Any) -> Inputs:
        """A batch as inputs where the model is; inputs stay what they are."""
        return batch if isinstance(batch, Inputs) else self.inputs(batch).to(self.embedding.device)

    def states(self, batch: Any) -> Tensor:
        """The state before each prediction [N, D]."""
        return self.states_of(self.place(batch))

    def targets(self, batch: Any) -> Tensor:
        """The word of each prediction [N]."""
        return self.place(batch).targets

    def initialise(self, scale: float = 0.1) -> None:
        """All parameters uniform in [-scale, scale], as in the paper."""
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-scale, scale)
            for name, parameter in self.named_parameters():
                if name.endswith("bias_x"):
                    size = parameter.shape[1] // 4
                    parameter[:, size : 2 * size] += self.config.forget_bias

    def embed(self, words: Tensor) -> Tensor:
        """W_e e(w) for some words (2a)."""
        if self.kept is not None and torch.is_grad_enabled():
            from ramify.kernels.triton.by_rows import read_words

            return read_words(self.embedding, words, narrow_dtype(self.embedding), self.kept)
        return functional.embedding(words, self.embedding, sparse=self.sparse_gradients)

    def before_output(self, batch: Any) -> Tensor:
        """What the output layer reads: the states, projected where the model does that."""
        h = dropped(self.states(batch), self.config.dropout_output, self.training)
        return h if self.projection is None else functional.linear(h, self.projection)

    def loss(self, batch: Any) -> Tensor:
        """The training loss summed over all predictions: NCE where the model has noise, else the softmax."""
        inputs = self.place(batch)
        if self.noise is None:
            return self.output.loss(self.before_output(inputs), inputs.targets, self.kept)
        if self.kept is None or self.noise.shared:
            return self.noise.loss(self.before_output(inputs), inputs.targets, self.output.weight)
        drawn = self.noise.drawn(inputs.targets)
        return self.noise.loss_of_drawn(self.before_output(inputs), self.output.weight, drawn, self.kept)

    @torch.no_grad()
    def log_probabilities(self, batch: Any) -> Tensor:
        """log P of each prediction [N], normalised over the vocabulary."""
        inputs = self.place(batch)
        return self.output.log_probabilities(self.before_output(inputs), inputs.targets)

    @property
    def n_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def dropped(x: Tensor, rate: float, training: bool) -> Tensor:
    """Dropout, which costs nothing where there is none."""
    return functional.dropout(x, rate) if rate and training else x
