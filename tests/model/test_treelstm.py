"""TreeLSTM and LdTreeLSTM against the recursive scorer, torch.nn.LSTM along a path, and what the paper promises."""

from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, plain, random_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from model_twins import (
    PLAIN_KERNELS,
    by_sentence,
    initial_state,
    layers_of,
    mixed_corpus,
    mixed_trees,
    run_torch_lstm,
    small_model,
    torch_lstm,
    torch_order,
    tree_log_probabilities,
    tree_states,
    with_form,
)
from strategies import random_projective_trees, random_trees
from torch import Tensor

import ramify.formats
from ramify.corpus import Corpus, build_batch
from ramify.kernels import choice
from ramify.model.language_model import LanguageModel
from ramify.trees import EdgeType, Tree, dependency_path, dependents, predecessors

CLOSE = {"rtol": 0.0, "atol": 1e-10}
OPTIONS: dict[str, dict[str, Any]] = {
    "tree": {"kind": "tree"},
    "ldtree": {"kind": "ldtree"},
    "tree, two layers": {"kind": "tree", "layers": 2},
    "ldtree, two layers": {"kind": "ldtree", "layers": 2},
    "ldtree, three layers and three of LD": {"kind": "ldtree", "layers": 3, "ld_layers": 3},
    "two layers of LD": {"kind": "ldtree", "ld_layers": 2},
    "LD of another size": {"kind": "ldtree", "ld_hidden": 2, "ld_layers": 2, "layers": 2},
    "no output bias": {"kind": "ldtree", "output_bias": False},
    "projection": {"kind": "tree", "projection": 2},
    "tied": {"kind": "tree", "tied": True, "embedding": 4},
    "tied with a projection": {"kind": "ldtree", "tied": True, "projection": 3, "output_bias": False},
    "label-aware": {"kind": "tree", "label_aware": True},
    "label-aware ldtree": {"kind": "ldtree", "label_aware": True, "layers": 2},
}


def _parameters(model: LanguageModel) -> dict[str, Tensor]:
    return dict(model.named_parameters())


def _scores(model: LanguageModel, corpus: Corpus, sentences: list[int]) -> list[Tensor]:
    batch = build_batch(corpus, np.array(sentences, np.int32))
    return by_sentence(batch, model.log_probabilities(batch))


# --- the scorer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", PLAIN_KERNELS)
@pytest.mark.parametrize("name", OPTIONS)
def test_equals_the_recursive_scorer(name: str, kernel: choice.Kernel) -> None:
    trees, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    everything = list(range(len(trees)))
    with choice.use(kernel):
        in_one_batch = _scores(model, corpus, everything)
        alone = [_scores(model, corpus, [i])[0] for i in everything]
        backwards = _scores(model, corpus, everything[::-1])[::-1]
    for tree, *found in zip(trees, in_one_batch, alone, backwards, strict=True):
        expected = tree_log_probabilities(_parameters(model), corpus.vocabulary, tree).detach()
        for each in found:
            torch.testing.assert_close(each, expected, **CLOSE)


@pytest.mark.parametrize("name", OPTIONS)
def test_loss_and_gradients_equal_those_of_the_recursive_scorer(name: str) -> None:
    trees, corpus = mixed_corpus(1)
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    parameters = _parameters(model)
    loss = model.loss(model.build(corpus, corpus.everything))
    expected = -sum(tree_log_probabilities(parameters, corpus.vocabulary, tree).sum() for tree in trees)
    torch.testing.assert_close(loss, expected, **CLOSE)
    ours = torch.autograd.grad(loss, list(parameters.values()))
    theirs = torch.autograd.grad(expected, list(parameters.values()))
    for parameter, found, wanted in zip(parameters, ours, theirs, strict=True):
        torch.testing.assert_close(found, wanted, **CLOSE, msg=lambda text, parameter=parameter: f"{parameter}: {text}")
        assert wanted.any(), f"{parameter} takes no part"


@settings(max_examples=25)
@given(st.lists(random_trees(8) | random_projective_trees(8), min_size=1, max_size=3), st.sampled_from(sorted(OPTIONS)))
def test_equals_the_recursive_scorer_on_any_trees(trees: list[Tree], name: str) -> None:
    corpus = corpus_of(trees)
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    for tree, found in zip(trees, _scores(model, corpus, list(range(len(trees)))), strict=True):
        expected = tree_log_probabilities(_parameters(model), corpus.vocabulary, tree).detach()
        torch.testing.assert_close(found, expected, **CLOSE)


@pytest.mark.parametrize("kind", ["tree", "ldtree"])
def test_equals_the_recursive_scorer_on_real_sentences(kind: str) -> None:
    trees = list(islice(ramify.formats.read("ewt:dev"), 6))
    corpus = corpus_of(trees, min_count=1)  # some words are UNK
    model = small_model(corpus.vocabulary, kind, layers=2)
    for tree, found in zip(trees, _scores(model, corpus, list(range(6))), strict=True):
        expected = tree_log_probabilities(_parameters(model), corpus.vocabulary, tree).detach()
        torch.testing.assert_close(found, expected, **CLOSE)


@pytest.mark.parametrize("name", OPTIONS)
def test_states_equal_those_of_the_recursive_scorer(name: str) -> None:
    trees, corpus = mixed_corpus(2)
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    batch = model.build(corpus, corpus.everything)
    for tree, found in zip(trees, by_sentence(batch, model.states(batch)), strict=True):
        torch.testing.assert_close(
            found, torch.stack(tree_states(_parameters(model), corpus.vocabulary, tree)), **CLOSE
        )


def test_the_scorer_itself_by_hand() -> None:
    """One word below ROOT, one dimension, every number written out: what the twin rests on."""
    corpus = corpus_of([plain([0])])
    model = small_model(corpus.vocabulary, "tree", hidden=1, embedding=1, output_bias=False)
    p = {name: value.detach() for name, value in model.named_parameters()}
    z = EdgeType.RIGHT
    w_x, w_h = p["gen.layers.0.weight_x"][z, :, 0], p["gen.layers.0.weight_h"][z, :, 0]
    b_x, b_h = p["gen.layers.0.bias_x"][z], p["gen.layers.0.bias_h"][z]
    x = p["embedding"][1, 0]  # ROOT
    i, f, o, u = (float(w_x[k] * x + b_x[k] + w_h[k] * 0.01 + b_h[k]) for k in range(4))
    sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
    h = sigmoid(o) * np.tanh(sigmoid(f) * 0.01 + sigmoid(i) * np.tanh(u))
    y = p["output.weight"][:, 0].numpy() * h
    expected = y[2] - np.log(np.exp(y).sum())
    assert _scores(model, corpus, [0])[0].item() == pytest.approx(expected, abs=1e-12)
    assert tree_log_probabilities(p, corpus.vocabulary, plain([0])).item() == pytest.approx(expected, abs=1e-12)


# --- torch.nn.LSTM ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [1, 2])
def test_a_chain_is_torchs_lstm(layers: int) -> None:
    """Each word the right dependent of the one before it: GEN-R alone, from left to right."""
    n = 7
    corpus = corpus_of([plain(range(n))])
    model = small_model(corpus.vocabulary, "tree", layers=layers)
    parameters = _parameters(model)
    lstm = torch_lstm(parameters, "gen", EdgeType.RIGHT)
    embedding = model.embedding.detach().clone().requires_grad_()
    expected = run_torch_lstm(lstm, embedding[[1, *corpus.words[: n - 1].tolist()]])
    found = model.states(model.build(corpus, corpus.everything))
    torch.testing.assert_close(found, expected, **CLOSE)

    some = torch.randn_like(expected)
    (expected * some).sum().backward()
    (found * some).sum().backward()
    torch.testing.assert_close(model.embedding.grad, embedding.grad, **CLOSE)
    for at in range(layers):
        names = {"weight_x": "weight_ih", "weight_h": "weight_hh", "bias_x": "bias_ih", "bias_h": "bias_hh"}
        for name, theirs in names.items():
            gradient = parameters[f"gen.layers.{at}.{name}"].grad
            assert gradient is not None
            torch.testing.assert_close(
                torch_order(gradient[EdgeType.RIGHT]), getattr(lstm, f"{theirs}_l{at}").grad, **CLOSE
            )
            assert not gradient[[EdgeType.LEFT, EdgeType.NX_LEFT, EdgeType.NX_RIGHT]].any()


@pytest.mark.parametrize("layers", [1, 2])
def test_with_four_equal_lstms_each_path_is_torchs_lstm(layers: int) -> None:
    trees, corpus = mixed_corpus(3)
    model = small_model(corpus.vocabulary, "tree", layers=layers)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.startswith("gen."):
                parameter.copy_(parameter[:1].expand_as(parameter))
    lstm = torch_lstm(_parameters(model), "gen")
    batch = model.build(corpus, corpus.everything)
    for b, (tree, found) in enumerate(zip(trees, by_sentence(batch, model.states(batch)), strict=True)):
        words = corpus.words[corpus.offsets[b] : corpus.offsets[b + 1]]
        for word in range(1, len(tree) + 1):
            path = [1 if step.word == 0 else int(words[step.word - 1]) for step in dependency_path(tree, word)]
            expected = run_torch_lstm(lstm, model.embedding[path])[-1]
            torch.testing.assert_close(found[word - 1], expected, **CLOSE)


def test_q_is_the_last_state_of_torchs_lstm_over_left_dependents() -> None:
    tree = plain([4, 4, 4, 0, 4])  # a b c (d) e: GEN-R of e reads a, b, c
    corpus = corpus_of([tree])
    model = small_model(corpus.vocabulary, "ldtree", ld_layers=2, ld_hidden=2)
    parameters = _parameters(model)
    q = run_torch_lstm(torch_lstm(parameters, "ld.stack"), model.embedding[corpus.words[:3].astype(np.int64)])[-1]
    read: list[Tensor] = []
    model.ld.register_forward_hook(lambda module, given, found: read.append(found[0]))
    model.states(build_batch(corpus, corpus.everything))
    of_root, of_e = read[0]  # the RIGHT rows
    torch.testing.assert_close(of_e, q, **CLOSE)
    torch.testing.assert_close(of_root, initial_state(1, 2)[0][0], **CLOSE)  # for heads without any
    assert len(layers_of(parameters, "ld.stack", 0)) == 2


# --- what depends on what --------------------------------------------------------------------------------------------


def _context(tree: Tree, word: int, ld: bool) -> set[int]:
    """The words that the prediction of a word may know."""
    path = dependency_path(tree, word)
    known = {step.word for step in path} - {0}
    if ld:
        sides = dependents(tree)
        for step in path:
            if step.edge == EdgeType.RIGHT:
                known |= set(sides[step.word].left)
    return known


@pytest.mark.parametrize("ld", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_word_knows_its_path_and_nothing_else(ld: bool, seed: int) -> None:
    """Change one word: exactly the states that may know it change, that before the word itself never."""
    tree = random_tree(np.random.default_rng(seed), 9, 5)
    variants = [tree] + [with_form(tree, word, "other") for word in range(1, 10)]
    corpus = corpus_of(variants)
    model = small_model(corpus.vocabulary, "ldtree" if ld else "tree", layers=2)
    batch = model.build(corpus, corpus.everything)
    first, *changed = by_sentence(batch, model.states(batch).detach())
    contexts = [_context(tree, word, ld) for word in range(1, 10)]
    for changed_word, states in enumerate(changed, 1):
        moved = {word for word in range(1, 10) if not torch.allclose(states[word - 1], first[word - 1], atol=1e-12)}
        assert moved == {word for word in range(1, 10) if changed_word in contexts[word - 1]}
        assert changed_word not in moved


def test_left_dependents_are_known_to_right_ones_alone() -> None:
    tree = plain([3, 3, 0, 3, 3])  # the owl |sees| mice today
    assert [_context(tree, word, False) for word in (2, 1, 4, 5)] == [{3}, {2, 3}, {3}, {3, 4}]
    assert [_context(tree, word, True) for word in (2, 1, 4, 5)] == [{3}, {2, 3}, {1, 2, 3}, {1, 2, 3, 4}]


def test_the_order_of_left_dependents_matters() -> None:
    one, other = Tree(("a", "b", "c", "d"), (3, 3, 0, 3)), Tree(("b", "a", "c", "d"), (3, 3, 0, 3))
    corpus = corpus_of([one, other])
    for kind, same in (("tree", True), ("ldtree", False)):
        model = small_model(corpus.vocabulary, kind)
        batch = model.build(corpus, corpus.everything)
        first, second = by_sentence(batch, model.states(batch).detach())
        assert torch.allclose(first[3], second[3], atol=1e-12) == same


def test_a_label_is_known_to_its_own_word_and_those_below() -> None:
    tree = random_tree(np.random.default_rng(8), 8, 5)
    variants = [tree]
    for word in range(8):
        variants.append(Tree(tree.forms, tree.heads, (*tree.deprels[:word], "other", *tree.deprels[word + 1 :])))
    corpus = corpus_of(variants)
    model = small_model(corpus.vocabulary, "tree", label_aware=True)
    batch = model.build(corpus, corpus.everything)
    first, *changed = by_sentence(batch, model.states(batch).detach())
    for changed_word, states in enumerate(changed, 1):
        moved = {word for word in range(1, 9) if not torch.allclose(states[word - 1], first[word - 1], atol=1e-12)}
        assert moved == {
            word for word in range(1, 9) if word == changed_word or changed_word in _context(tree, word, False)
        }


def test_the_same_heads_on_the_other_side_are_another_tree() -> None:
    """Left and right dependents use different weights."""
    corpus = corpus_of([Tree(("a", "b"), (0, 1)), Tree(("b", "a"), (2, 0))])  # b right, and left, of a
    model = small_model(corpus.vocabulary, "tree")
    right, left = _scores(model, corpus, [0, 1])
    assert right[0] == pytest.approx(left[1].item(), abs=1e-12)  # a, below ROOT
    assert abs(right[1] - left[0]) > 1e-3


# --- LD at the edges -------------------------------------------------------------------------------------------------


def test_without_any_chain_q_is_the_initial_state() -> None:
    trees = [plain([0, 1, 2]), plain([2, 0])]
    corpus = corpus_of(trees)
    model = small_model(corpus.vocabulary, "ldtree", ld_layers=2)
    for tree, found in zip(trees, _scores(model, corpus, [0, 1]), strict=True):
        expected = tree_log_probabilities(_parameters(model), corpus.vocabulary, tree).detach()
        torch.testing.assert_close(found, expected, **CLOSE)
    model.loss(model.build(corpus, corpus.everything)).backward()
    gradient = _parameters(model)["ld.weight_q"].grad
    assert gradient is not None
    assert gradient.any()  # the constant is an input like any other


@pytest.mark.parametrize("kind", ["tree", "ldtree"])
def test_no_sentences(kind: str) -> None:
    corpus = corpus_of(mixed_trees())
    model = small_model(corpus.vocabulary, kind, layers=2, label_aware=True)
    batch = model.build(corpus, np.zeros(0, np.int32))
    assert model.states(batch).shape == (0, 4)
    assert model.log_probabilities(batch).shape == (0,)
    loss = model.loss(batch)
    assert loss == 0
    loss.backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.parameters())


def test_predecessors_of_the_twin_are_those_of_the_paper() -> None:
    """Figure 2: the luxury auto manufacturer last year sold 1,214 cars in the U.S."""
    forms = ["The", "luxury", "auto", "manufacturer", "last", "year", "sold", "1,214", "cars", "in", "the", "U.S."]
    tree = Tree(tuple(forms), (4, 4, 4, 7, 6, 7, 0, 9, 7, 7, 12, 10))
    named = {
        forms[i]: (forms[step.word - 1] if step.word else "ROOT", str(step.edge))
        for i, step in enumerate(predecessors(tree))
    }
    assert named["sold"] == ("ROOT", "RIGHT")
    assert named["year"] == ("sold", "LEFT")
    assert named["manufacturer"] == ("year", "NX-LEFT")
    assert named["cars"] == ("sold", "RIGHT")
    assert named["in"] == ("cars", "NX-RIGHT")
    assert named["The"] == ("luxury", "NX-LEFT")
