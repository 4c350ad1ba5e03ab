"""The LSTM and BiLSTM baselines against torch.nn.LSTM, and against what each prediction may know."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, plain, twin_word
from model_twins import (
    PLAIN_KERNELS,
    TORCH_NAMES,
    by_sentence,
    mixed_corpus,
    run_torch_lstm,
    sequence_log_probabilities,
    sequence_states,
    small_model,
    torch_lstm,
    torch_order,
    with_form,
)

from ramify.corpus import Encoding, encode_trees
from ramify.kernels import choice
from ramify.trees import Tree

CLOSE = {"rtol": 0.0, "atol": 1e-10}
OPTIONS: dict[str, dict[str, Any]] = {
    "lstm": {"kind": "lstm"},
    "bilstm": {"kind": "bilstm"},
    "lstm, two layers": {"kind": "lstm", "layers": 2},
    "bilstm, two layers": {"kind": "bilstm", "layers": 2},
    "tied": {"kind": "lstm", "tied": True, "embedding": 4},
    "projected": {"kind": "bilstm", "projection": 3, "tied": True, "output_bias": False},
}


@pytest.mark.parametrize("kernel", PLAIN_KERNELS)
@pytest.mark.parametrize("name", OPTIONS)
def test_equals_torchs_lstm(name: str, kernel: choice.Kernel) -> None:
    trees, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    parameters = dict(model.named_parameters())
    with choice.use(kernel), torch.no_grad():
        batch = model.build(corpus, corpus.everything)
        states = by_sentence(batch, model.states(batch))
        scores = by_sentence(batch, model.log_probabilities(batch))
        for i, tree in enumerate(trees):
            words = [twin_word(corpus.vocabulary, form) for form in tree.forms]
            torch.testing.assert_close(states[i], sequence_states(parameters, words), **CLOSE)
            torch.testing.assert_close(scores[i], sequence_log_probabilities(parameters, words), **CLOSE)
            alone = model.build(corpus, np.array([i], np.int32))
            torch.testing.assert_close(by_sentence(alone, model.log_probabilities(alone))[0], scores[i], **CLOSE)


@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_equal_those_of_torchs_lstm(layers: int) -> None:
    trees, corpus = mixed_corpus(1)
    model = small_model(corpus.vocabulary, "lstm", layers=layers)
    parameters = dict(model.named_parameters())
    lstm = torch_lstm(parameters, "forward_lstm")
    embedding = model.embedding.detach().clone().requires_grad_()
    texts = [[twin_word(corpus.vocabulary, form) for form in tree.forms] for tree in trees]
    expected = torch.cat([run_torch_lstm(lstm, embedding[[1, *words]]) for words in texts])
    batch = model.build(corpus, corpus.everything)
    found = torch.cat(by_sentence(batch, model.states(batch)))
    torch.testing.assert_close(found, expected, **CLOSE)
    some = torch.randn_like(expected)
    (expected * some).sum().backward()
    (found * some).sum().backward()
    torch.testing.assert_close(model.embedding.grad, embedding.grad, **CLOSE)
    for at in range(layers):
        for name, theirs in TORCH_NAMES.items():
            gradient = parameters[f"forward_lstm.layers.{at}.{name}"].grad
            assert gradient is not None
            torch.testing.assert_close(torch_order(gradient[0]), getattr(lstm, f"{theirs}_l{at}").grad, **CLOSE)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_fast_kernel_has_the_gradients_of_the_slow_one(name: str) -> None:
    _, corpus = mixed_corpus(2)
    model = small_model(corpus.vocabulary, **OPTIONS[name])
    batch = model.build(corpus, corpus.everything)
    gradients = []
    for kernel in PLAIN_KERNELS:
        with choice.use(kernel):
            gradients.append(torch.autograd.grad(model.loss(batch), list(model.parameters())))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)
        assert ours.any()


# --- what each prediction knows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lstm", "bilstm"])
def test_a_prediction_knows_what_it_may_and_not_its_own_word(kind: str) -> None:
    """Change one word: with the LSTM all later states change, with the BiLSTM all but its own."""
    tree = plain(range(6))
    variants = [tree] + [with_form(tree, word, "other") for word in range(1, 7)]
    corpus = corpus_of(variants)
    model = small_model(corpus.vocabulary, kind, layers=2)
    batch = model.build(corpus, corpus.everything)
    first, *changed = by_sentence(batch, model.states(batch).detach())
    assert len(first) == 7  # six words and the end
    for changed_word, states in enumerate(changed, 1):
        moved = {place for place in range(1, 8) if not torch.allclose(states[place - 1], first[place - 1], atol=1e-12)}
        later = set(range(changed_word + 1, 8))
        assert moved == (later if kind == "lstm" else later | set(range(1, changed_word)))


def test_which_half_of_a_bilstm_state_knows_what() -> None:
    tree = plain(range(5))
    corpus = corpus_of([tree, with_form(tree, 3, "other")])
    model = small_model(corpus.vocabulary, "bilstm")
    batch = model.build(corpus, corpus.everything)
    one, other = by_sentence(batch, model.states(batch).detach())
    moved = (one - other).abs() > 1e-12
    assert moved[:, :4].any(1).tolist() == [False, False, False, True, True, True]
    assert moved[:, 4:].any(1).tolist() == [True, True, False, False, False, False]


def test_the_state_behind_the_last_word_has_read_root_alone() -> None:
    corpus = corpus_of([plain([0]), plain([0, 1, 2])])
    model = small_model(corpus.vocabulary, "bilstm")
    batch = model.build(corpus, corpus.everything)
    short, long = by_sentence(batch, model.states(batch).detach())
    lstm = torch_lstm(dict(model.named_parameters()), "backward_lstm")
    after_root = run_torch_lstm(lstm, model.embedding[[1]])[0].detach()
    torch.testing.assert_close(short[0, 4:], after_root, **CLOSE)  # of the last word
    torch.testing.assert_close(long[2, 4:], after_root, **CLOSE)
    torch.testing.assert_close(short[1, 4:], torch.full((4,), 0.01, dtype=torch.float64), **CLOSE)  # of the end


@pytest.mark.parametrize("kind", ["lstm", "bilstm"])
def test_heads_do_not_matter(kind: str) -> None:
    forms = ("a", "b", "c", "a")
    corpus = corpus_of([Tree(forms, (0, 1, 2, 3)), Tree(forms, (2, 4, 4, 0))])
    model = small_model(corpus.vocabulary, kind)
    batch = model.build(corpus, corpus.everything)
    one, other = by_sentence(batch, model.log_probabilities(batch))
    torch.testing.assert_close(one, other, **CLOSE)


def test_every_sentence_ends_or_goes_on() -> None:
    """After any beginning the probabilities of the end and of all next words sum to one: P(S) is a distribution."""
    texts = [text for n in (1, 2, 3) for text in product(["x", "a", "b"], repeat=n)]
    vocabulary = corpus_of([Tree(("a", "b"), (0, 1))]).vocabulary  # and UNK
    corpus = encode_trees([Tree(text, tuple(range(len(text)))) for text in texts], Encoding(vocabulary=vocabulary))
    model = small_model(vocabulary, "lstm", layers=2)
    batch = model.build(corpus, corpus.everything)
    found = by_sentence(batch, model.log_probabilities(batch).exp())
    of = dict(zip(texts, found, strict=True))
    for text in texts:
        if len(text) < 3:
            end = of[text][-1]
            going_on = sum(of[(*text, word)][len(text)] for word in ("x", "a", "b"))
            assert float(end + going_on) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("kind", ["lstm", "bilstm"])
def test_no_sentences(kind: str) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind, layers=2)
    batch = model.build(corpus, np.zeros(0, np.int32))
    assert model.states(batch).shape == (0, 4 if kind == "lstm" else 8)
    assert model.log_probabilities(batch).shape == (0,)
    loss = model.loss(batch)
    assert loss == 0
    loss.backward()
