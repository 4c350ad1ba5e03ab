"""The paper's own baselines: an LSTM language model and a bidirectional one, on the same corpora as the tree models.

They need no tree. The LSTM gives P(S), plain left-to-right surprisal. The BiLSTM predicts each word from all others, so
the product of its predictions is a pseudo-likelihood and no probability of a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ramify.corpus import Corpus, SequenceBatch, build_sequence_batch
from ramify.corpus.structure import Array
from ramify.kernels.inputs import Inputs
from ramify.kernels.rows import Room, filled, sequence_rows, set_sizes
from ramify.model.config import Kind, ModelConfig
from ramify.model.language_model import LanguageModel, dropped
from ramify.model.treelstm import Stack


class SequenceLSTM(LanguageModel):
    """P(S): each word, and the end, from the words before it. Bidirectional: from the words before and those after."""

    def __init__(self, config: ModelConfig, counts: Tensor) -> None:
        super().__init__(config, counts)
        sizes = config.embedding, config.hidden, config.layers, config.dropout_between
        self.forward_lstm = Stack(1, *sizes)
        self.backward_lstm = Stack(1, *sizes) if config.kind is Kind.BILSTM else None
        self.initialise()

    def build(self, corpus: Corpus, sentences: Array) -> SequenceBatch:
        return build_sequence_batch(corpus, sentences)

    def sizes(self, batch: SequenceBatch) -> list[Array]:
        return [set_sizes(batch.groups, 1)]

    def inputs(self, batch: SequenceBatch, rooms: Sequence[Room] = ()) -> Inputs:
        rows = sequence_rows(batch, *rooms)
        arrays = [batch.before[1:]]
        if self.backward_lstm is not None:
            # From the right, in the same rows: ROOT first, then the last word, and so on. The state that has read all
            # words behind a word is that of the step before its mirror image.
            mirror = batch.mirror[1:]
            arrays += [batch.word[mirror], batch.predecessor[mirror]]
        targets = torch.from_numpy(filled(batch.word[1:], len(rows), -1))
        return Inputs([rows], [torch.from_numpy(filled(each, len(rows))) for each in arrays], targets)

    def states_of(self, inputs: Inputs) -> Tensor:
        """[N + B, D], or [N + B, 2 D] for both directions."""
        (rows,), (before, *more) = inputs.rows, inputs.arrays
        x = dropped(self.embed(torch.cat([before, *more[:1]])), self.config.dropout_input, self.training)
        h: Tensor = self.forward_lstm(x[: len(before)], rows)
        if self.backward_lstm is None:
            return h[1:]
        behind: Tensor = self.backward_lstm(x[len(before) :], rows)
        return torch.cat([h[1:], behind.index_select(0, more[1])], 1)
