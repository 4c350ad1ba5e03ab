"""Slow and obvious twins of the models, from the equations of the paper and from torch.nn.LSTM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from corpus_twins import corpus_of, plain, random_tree, twin_word
from torch import Tensor, nn

from ramify.corpus import Batch, Corpus, SequenceBatch, Vocabulary, build_batch, build_sequence_batch
from ramify.kernels.choice import Kernel
from ramify.kernels.rows import Rows, chain_rows, sequence_rows, tree_rows
from ramify.model.config import Kind, ModelConfig
from ramify.model.folder import make_model
from ramify.model.language_model import LanguageModel
from ramify.trees import EdgeType, Tree, dependents, predecessors

Parameters = Mapping[str, Tensor]
State = list[tuple[Tensor, Tensor]]  # h and c of each layer

KINDS = list(Kind)
PLAIN_KERNELS = [Kernel.REFERENCE, Kernel.EAGER]  # those that run anywhere
EMBEDDING, HIDDEN = 3, 4

# --- models and material ---------------------------------------------------------------------------------------------


def small_model(vocabulary: Vocabulary, kind: Kind | str, *, seed: int = 0, **options: Any) -> LanguageModel:
    """A model in float64 whose weights are large enough for every one of them to matter."""
    torch.manual_seed(seed)
    config = ModelConfig(kind=Kind(kind), **{"hidden": HIDDEN, "embedding": EMBEDDING, **options})
    model = make_model(config, vocabulary).double().eval()
    model.initialise(0.7)
    return model


def rows_of(what: str, trees: list[Tree]) -> Rows:
    """The rows of "trees", of their LD "chains", or of "sequences"."""
    corpus = corpus_of(trees)
    if what == "sequences":
        return sequence_rows(build_sequence_batch(corpus, corpus.everything))
    batch = build_batch(corpus, corpus.everything)
    return tree_rows(batch) if what == "trees" else chain_rows(batch)


def mixed_trees(seed: int = 0) -> list[Tree]:
    """Trees of all shapes: one word, a chain, several roots, far-off dependents on both sides, anything."""
    random = np.random.default_rng(seed)
    wild = [random_tree(random, int(n), 9) for n in random.integers(1, 10, 5)]
    return [plain([0]), plain([0, 1, 2, 3]), plain([0, 0, 0]), plain([4, 4, 4, 0, 4, 4, 6, 5]), *wild]


def mixed_corpus(seed: int = 0) -> tuple[list[Tree], Corpus]:
    trees = mixed_trees(seed)
    return trees, corpus_of(trees)


def with_form(tree: Tree, word: int, form: str) -> Tree:
    """The tree with another form at one place."""
    return Tree((*tree.forms[: word - 1], form, *tree.forms[word:]), tree.heads, tree.deprels)


def by_sentence(batch: Batch | SequenceBatch, values: Tensor) -> list[Tensor]:
    """Values of the rows 1 to N in the order of the words, sentence by sentence."""
    assert len(values) == len(batch.word) - 1
    found = []
    for b in range(len(batch)):
        rows = np.flatnonzero(batch.sentence == b)
        rows = rows[np.argsort(batch.position[rows])]
        found.append(values[torch.from_numpy(rows - 1)])
    return found


# --- trees -----------------------------------------------------------------------------------------------------------


def initial_state(layers: int, size: int) -> State:
    start = torch.full((size,), 0.01, dtype=torch.float64)
    return [(start, start)] * layers


def deep_lstm(weights: list[dict[str, Tensor]], x: Tensor, before: State) -> State:
    """LSTM^z of all layers, (3a) to (4b), one step."""
    after = []
    for w, (h, c) in zip(weights, before, strict=True):
        i, f, o, u = (w["weight_x"] @ x + w["bias_x"] + w["weight_h"] @ h + w["bias_h"]).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
        x = torch.sigmoid(o) * torch.tanh(c)
        after.append((x, c))
    return after


def layers_of(parameters: Parameters, stack: str, z: int) -> list[dict[str, Tensor]]:
    """The weights of set z in each layer of a stack."""
    names = ("weight_x", "weight_h", "bias_x", "bias_h")
    count = len([name for name in parameters if name.startswith(f"{stack}.layers.") and name.endswith("weight_x")])
    return [{name: parameters[f"{stack}.layers.{at}.{name}"][z] for name in names} for at in range(count)]


def tree_states(parameters: Parameters, vocabulary: Vocabulary, tree: Tree) -> list[Tensor]:
    """H[:, t] of each word, by recursion to ROOT."""
    steps, sides = predecessors(tree), dependents(tree)
    embedding = parameters["embedding"]
    gen = {edge: layers_of(parameters, "gen", edge) for edge in EdgeType}
    ld = layers_of(parameters, "ld.stack", 0) if "ld.weight_q" in parameters else []
    if ld:  # GEN-R reads [W_e e(w_t'); q_K]
        first = gen[EdgeType.RIGHT][0]
        first["weight_x"] = torch.cat([first["weight_x"], parameters["ld.weight_q"]], 1)

    def embed(word: int) -> Tensor:
        return embedding[1 if word == 0 else twin_word(vocabulary, tree.forms[word - 1])]

    def left_dependents(head: int) -> Tensor:
        state = initial_state(len(ld), ld[0]["weight_h"].shape[1])
        for word in reversed(sides[head].left):  # furthest to closest
            state = deep_lstm(ld, embed(word), state)
        return state[-1][0]

    @cache
    def state_of(word: int) -> State:
        if word == 0:
            return initial_state(len(gen[EdgeType.LEFT]), gen[EdgeType.LEFT][0]["weight_h"].shape[1])
        before, edge = steps[word - 1]
        x = embed(before)
        if "label_embedding" in parameters:
            label = tree.deprels[word - 1]
            x = x + parameters["label_embedding"][vocabulary.labels.index(label) if label in vocabulary.labels else 0]
        if ld and edge == EdgeType.RIGHT:
            x = torch.cat([x, left_dependents(before)])
        return deep_lstm(gen[edge], x, state_of(before))

    return [state_of(word)[-1][0] for word in range(1, len(tree) + 1)]


def log_probability(parameters: Parameters, h: Tensor, word: int) -> Tensor:
    """The softmax of one row."""
    if "projection" in parameters:
        h = parameters["projection"] @ h
    y = parameters.get("output.weight", parameters["embedding"]) @ h
    if "output.bias" in parameters:
        y = y + parameters["output.bias"]
    return y[word] - y.exp().sum().log()


def tree_log_probabilities(parameters: Parameters, vocabulary: Vocabulary, tree: Tree) -> Tensor:
    """ln P(w | D(w)) of each word."""
    words = [twin_word(vocabulary, form) for form in tree.forms]
    states = tree_states(parameters, vocabulary, tree)
    return torch.stack([log_probability(parameters, h, word) for h, word in zip(states, words, strict=True)])


# --- sequences -------------------------------------------------------------------------------------------------------


def torch_order(ours: Tensor) -> Tensor:
    """Gates i, f, o, u as torch has them: i, f, u (there g), o."""
    i, f, o, u = ours.chunk(4)
    return torch.cat([i, f, u, o])


TORCH_NAMES = {"weight_x": "weight_ih", "weight_h": "weight_hh", "bias_x": "bias_ih", "bias_h": "bias_hh"}


def torch_lstm(parameters: Parameters, stack: str, z: int = 0) -> nn.LSTM:
    """torch.nn.LSTM with the weights of one set of a stack."""
    layers = layers_of(parameters, stack, z)
    size, size_in = layers[0]["weight_h"].shape[1], layers[0]["weight_x"].shape[1]
    lstm = nn.LSTM(size_in, size, len(layers), dtype=torch.float64)
    with torch.no_grad():
        for at, layer in enumerate(layers):
            for name, theirs in TORCH_NAMES.items():
                getattr(lstm, f"{theirs}_l{at}").copy_(torch_order(layer[name]))
    return lstm


def run_torch_lstm(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """The top states of one sequence [T, D], from the initial 0.01."""
    start = torch.full((lstm.num_layers, lstm.hidden_size), 0.01, dtype=torch.float64)
    states: Tensor = lstm(x, (start, start))[0]
    return states


def sequence_states(parameters: Parameters, words: Sequence[int]) -> Tensor:
    """The state before each word and before the end [n + 1, D or 2 D], by torch.nn.LSTM."""
    embedding = parameters["embedding"]
    ahead = run_torch_lstm(torch_lstm(parameters, "forward_lstm"), embedding[[1, *words]])
    if not any(name.startswith("backward_lstm") for name in parameters):
        return ahead
    lstm = torch_lstm(parameters, "backward_lstm")
    back = run_torch_lstm(lstm, embedding[[1, *reversed(words)]])  # back[k] has read ROOT and the last k words
    behind = [back[len(words) - t] for t in range(1, len(words) + 1)]  # of word t: the words after it
    behind.append(torch.full((lstm.hidden_size,), 0.01, dtype=torch.float64))  # of the end: nothing, not even ROOT
    return torch.cat([ahead, torch.stack(behind)], 1)


def sequence_log_probabilities(parameters: Parameters, words: Sequence[int]) -> Tensor:
    states = sequence_states(parameters, words)
    targets = [*words, 1]
    return torch.stack([log_probability(parameters, h, word) for h, word in zip(states, targets, strict=True)])
