"""TreeLSTM and LdTreeLSTM of Zhang, Lu and Lapata, "Top-down Tree Long Short-Term Memory Networks" (NAACL 2016).

Read from top to bottom it grows from the weights of one layer to the whole model; numbers in parentheses are the
equations of the paper. Where the paper is silent, the model does what the authors' code does: biases on both sides,
every h and c of ROOT 0.01, gates in the order i, f, o, u.

Letters: N words of a batch, Z = 4 edge types, S embedding size, D hidden size, Q size of the LD LSTM, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ramify.corpus import Batch, Corpus, build_batch
from ramify.corpus.structure import RIGHT, Array
from ramify.kernels.choice import recur
from ramify.kernels.gather import read_states
from ramify.kernels.inputs import Inputs
from ramify.kernels.products import input_products
from ramify.kernels.rows import Room, Rows, chain_rows, filled, set_sizes, tree_rows
from ramify.model.config import Kind, ModelConfig
from ramify.model.language_model import LanguageModel, dropped

INITIAL = 0.01  # H[:, 0], and c of ROOT; also the start of the LD LSTM and its state where there is nothing to read


Extra = dict[int, tuple[Tensor, Tensor]]  # for some sets: what else they read of each row, and its weights


class Layer(nn.Module):
    """The weights of one layer of Z LSTMs: gates = W_x x + b_x + W_h h' + b_h, in the order i, f, o, u."""

    def __init__(self, sets: int, size_in: int, size: int) -> None:
        super().__init__()
        self.weight_x = nn.Parameter(torch.empty(sets, 4 * size, size_in))
        self.weight_h = nn.Parameter(torch.empty(sets, 4 * size, size))
        self.bias_x = nn.Parameter(torch.empty(sets, 4 * size))
        self.bias_h = nn.Parameter(torch.empty(sets, 4 * size))

    def forward(self, x: Tensor, rows: Rows, extra: Extra | None = None) -> Tensor:
        """The states [N + 1, D] of all rows; x [N, size in] in the order of the sets."""
        # Autocast narrows these products, and on a GPU those of the recurrence; cells and sums stay wide.
        inputs = input_products(x, self.weight_x, self.bias_x + self.bias_h, rows, extra or {})
        return recur(inputs, self.weight_h, INITIAL, rows)  # (3), (4): h = LSTM^z(x, H[:, t'])


class Stack(nn.Module):
    """Layers of Z LSTMs, each reading the states of the one below (a deep LSTM^z)."""

    def __init__(self, sets: int, size_in: int, size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        sizes_in = [size_in] + [size] * (layers - 1)
        self.layers = nn.ModuleList(Layer(sets, each, size) for each in sizes_in)
        self.dropout = dropout

    def forward(self, x: Tensor, rows: Rows, extra: Extra | None = None) -> Tensor:
        first, *further = self.layers
        h: Tensor = first(x, rows, extra)
        for layer in further:
            below = dropped(h, self.dropout, self.training)
            h = layer(read_states(below, rows.order), rows)
        return h


class LeftDependents(nn.Module):
    """LD: one LSTM that reads the words of a head's left dependents, furthest to closest (section 2.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        size = config.ld_hidden or config.hidden
        self.stack = Stack(1, config.embedding, size, config.ld_layers)
        self.weight_q = nn.Parameter(torch.empty(4 * config.hidden, size))  # its part of GEN-R's input weights

    def forward(self, x: Tensor, rows: Rows, ends: Tensor) -> tuple[Tensor, Tensor]:
        """q, the last state of its chain, for each RIGHT row [RIGHT rows, Q]; and its weights in their gates.

        x [M, S]: the words of all chains; ends: the row of the last word of each RIGHT row's chain, 0 without one.
        """
        q = read_states(self.stack(x, rows), ends)  # the initial state, where there are no left dependents
        return q, self.weight_q


class TreeLSTM(LanguageModel):
    """P(S | T) = product of P(w | D(w)) over the words of a tree (1); with LD it is the LdTreeLSTM."""

    def __init__(self, config: ModelConfig, counts: Tensor, labels: int = 1) -> None:
        super().__init__(config, counts)
        self.gen = Stack(4, config.embedding, config.hidden, config.layers, config.dropout_between)
        self.ld = LeftDependents(config) if config.kind is Kind.LDTREE else None
        self.label_embedding = nn.Parameter(torch.empty(labels, config.embedding)) if config.label_aware else None
        self.initialise()

    def build(self, corpus: Corpus, sentences: Array) -> Batch:
        return build_batch(corpus, sentences)

    def sizes(self, batch: Batch) -> list[Array]:
        trees = set_sizes(batch.groups, 4)
        return [trees] if self.ld is None else [trees, np.array([len(batch.chain_words)])]

    def inputs(self, batch: Batch, rooms: Sequence[Room] = ()) -> Inputs:
        rows = tree_rows(batch, *rooms[:1])
        order = rows.order.numpy()  # of the sets, as all that comes in from outside
        all_rows, arrays = [rows], [batch.predecessor_word[order]]
        if self.label_embedding is not None:
            arrays.append(batch.label[order])
        if self.ld is not None:
            all_rows.append(chain_rows(batch, *rooms[1:]))
            arrays[0] = np.concatenate([arrays[0], filled(batch.chain_words, len(all_rows[1]))])
            # Chains are numbered from 1 in the order of the last step, in which all of them take part.
            chain = batch.chain[order[rows.of_sets[RIGHT]]]
            arrays.append(np.where(chain > 0, chain + (len(batch.chain_words) - batch.n_chains), 0))
        targets = torch.from_numpy(filled(batch.word[1:], len(rows), -1))
        return Inputs(all_rows, [torch.from_numpy(filled(each, len(each))) for each in arrays], targets)

    def states_of(self, inputs: Inputs) -> Tensor:
        """H[:, t] of every word, top layer [N, D]: all that the model knows before it predicts the word."""
        (rows, *chains), (words, *more) = inputs.rows, inputs.arrays
        x, *x_chains = self.embed(words).split([len(each.order) for each in inputs.rows])  # (2a)
        if self.label_embedding is not None:
            x = x + functional.embedding(more.pop(0), self.label_embedding)
        x = dropped(x, self.config.dropout_input, self.training)
        extra = {RIGHT: self.ld(*x_chains, *chains, *more)} if self.ld is not None else {}
        h: Tensor = self.gen(x, rows, extra)  # (2b), (2c)
        return h[1:]
