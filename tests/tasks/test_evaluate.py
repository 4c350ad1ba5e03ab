"""Evaluate: sums over words, perplexities from them, and the three kinds of number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from small_runs import small_corpus, small_lm, some_trees

from ramify.corpus import Encoding, encode_trees
from ramify.tasks import evaluate as module
from ramify.tasks.evaluate import Evaluation, evaluate
from ramify.trees import Tree

KINDS = ["tree", "ldtree", "lstm", "bilstm"]
CORPUS = small_corpus(hold_out=9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_is_the_sum_of_its_words(kind: str) -> None:
    lm = small_lm(kind)
    found = evaluate(lm.model, CORPUS)
    scores = list(lm.scores(some_trees()))
    logprobs = np.concatenate([score.logprobs for score in scores])
    unknown = np.concatenate([score.is_unk for score in scores])
    assert (found.sentences, found.words, found.unknown) == (40, len(logprobs), int(unknown.sum()))
    assert 0 < found.unknown < found.words
    assert found.logprob == pytest.approx(logprobs.sum())
    assert found.logprob_unknown == pytest.approx(logprobs[unknown].sum())
    assert found.ppl == pytest.approx(math.exp(-logprobs.mean()))
    assert found.ppl_known == pytest.approx(math.exp(-logprobs[~unknown].mean()))
    if kind in ("tree", "ldtree"):
        assert found.logprob_ends is None
    else:  # a figure of its own, not in ppl
        assert found.logprob_ends == pytest.approx(sum(score.end or 0.0 for score in scores))
        assert found.logprob_ends < -1


@pytest.mark.parametrize(
    ("kind", "number"), [("tree", "P(S|T)"), ("ldtree", "P(S|T)"), ("lstm", "P(S)"), ("bilstm", "pseudo-likelihood")]
)
def test_three_kinds_of_number(kind: str, number: str) -> None:
    lm = small_lm(kind)
    assert evaluate(lm.model, CORPUS, CORPUS.held_out).kind == lm.kind == lm.score(some_trees(1)[0]).kind == number


@pytest.mark.parametrize("kind", KINDS)
def test_however_batches_are_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_lm(kind).model
    found = []
    for batch_words in (1, 30, 100_000):
        monkeypatch.setattr(module, "BATCH_WORDS", batch_words)
        found.append(evaluate(model, CORPUS))
    for each in found[1:]:
        assert each.logprob == pytest.approx(found[0].logprob, rel=1e-6)
        assert (each.logprob_ends or 0.0) == pytest.approx(found[0].logprob_ends or 0.0, rel=1e-6)
        assert (each.words, each.unknown) == (found[0].words, found[0].unknown)


@pytest.mark.parametrize("kind", KINDS)
def test_some_sentences(kind: str) -> None:
    model = small_lm(kind).model
    whole, some, rest = (evaluate(model, CORPUS, chosen) for chosen in (None, CORPUS.held_out, CORPUS.training))
    assert (some.sentences, rest.sentences) == (9, 31)
    assert some.words + rest.words == whole.words
    assert some.logprob + rest.logprob == pytest.approx(whole.logprob, rel=1e-6)


def test_dropout_is_off_and_then_as_it_was() -> None:
    model = small_lm(dropout_input=0.5, dropout_output=0.5).model
    told: list[int] = []
    quiet = evaluate(model, CORPUS)
    model.train()
    assert evaluate(model, CORPUS, progress=told.append) == quiet
    assert model.training
    assert sum(told) == CORPUS.n_words
    model.eval()
    evaluate(model, CORPUS)
    assert not model.training


def test_a_corpus_of_unknown_words() -> None:
    tree = Tree(("słowo", "słowo"), (0, 1))
    lm = small_lm()
    found = evaluate(lm.model, encode_trees([tree], Encoding(vocabulary=lm.vocabulary)))
    assert (found.words, found.unknown, found.logprob) == (2, 2, found.logprob_unknown)
    assert math.isnan(found.ppl_known)


def test_numbers_beyond_all_measure() -> None:
    found = Evaluation("P(S)", 1, 1, 0, -1e9, 0.0)
    assert math.isfinite(found.ppl)
    assert math.isfinite(found.ppl_known)


def test_json() -> None:
    found = Evaluation("P(S)", 2, 10, 5, -20.0, -15.0, -3.0)
    assert found.to_json() == {
        "kind": "P(S)",
        "ppl": pytest.approx(math.exp(2)),
        "ppl_known": pytest.approx(math.exp(1)),
        "unk_rate": 0.5,
        "sents": 2,
        "words": 10,
        "logprob": -20.0,
        "logprob_ends": -3.0,
    }
