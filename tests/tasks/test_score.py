"""Score: each word's own number, streamed, in order."""

from __future__ import annotations

import math
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import save_lm, small_lm, some_trees
from strategies import random_trees

import ramify
from ramify.corpus import Encoding, SequenceBatch, encode_trees
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import UNK
from ramify.errors import CallError
from ramify.model.config import ModelConfig
from ramify.model.folder import make_model
from ramify.tasks import score as module
from ramify.tasks.score import LM, SentenceScore, load
from ramify.trees import Tree, predecessors

KINDS = ["tree", "ldtree", "lstm", "bilstm"]


def one_by_one(lm: LM, tree: Tree) -> tuple[Array, float | None]:
    """The slow twin: a batch of its own for a tree, its rows put in place by hand."""
    corpus = encode_trees([tree], lm._encoding)
    batch = lm.model.build(corpus, corpus.everything)
    found = lm.model.log_probabilities(batch).double().numpy()
    by_position = {int(place): float(value) for place, value in zip(batch.position[1:], found, strict=True)}
    logprobs = np.array([by_position.pop(word) for word in range(1, len(tree) + 1)])
    assert list(by_position) == ([len(tree) + 1] if isinstance(batch, SequenceBatch) else [])
    return logprobs, by_position.get(len(tree) + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_model(kind: str) -> None:
    lm = small_lm(kind)
    trees = some_trees()
    for tree, found in zip(trees, lm.scores(trees), strict=True):
        logprobs, end = one_by_one(lm, tree)
        assert found.tree is tree
        np.testing.assert_allclose(found.logprobs, logprobs, rtol=1e-5)
        assert found.end == (None if end is None else pytest.approx(end, rel=1e-5))
        assert found.logprob == pytest.approx(logprobs.sum() + (end or 0.0), rel=1e-5)
        assert found.is_unk.tolist() == [word == UNK for word in lm.vocabulary.ids(tree.forms)]


@pytest.mark.parametrize("kind", KINDS)
@given(trees=st.lists(random_trees(), min_size=1, max_size=5))
@settings(max_examples=15)
def test_any_trees_at_all(kind: str, trees: list[Tree]) -> None:
    lm = small_lm(kind)
    for tree, found in zip(trees, lm.scores(trees), strict=True):
        np.testing.assert_allclose(found.logprobs, one_by_one(lm, tree)[0], rtol=1e-5)


@pytest.mark.parametrize("kind", ["ldtree", "lstm"])
def test_one_tree(kind: str) -> None:
    lm = small_lm(kind)
    tree = some_trees()[3]
    one, (other,) = lm.score(tree), list(lm.scores([tree]))
    assert one.logprobs.tolist() == other.logprobs.tolist()
    assert (one.end, one.tree) == (other.end, other.tree)


@pytest.mark.parametrize("kind", ["ldtree", "lstm"])
def test_rows(kind: str) -> None:
    tree = replace(some_trees()[5], sent_id="s5")
    found = small_lm(kind).score(tree)
    edges = [str(step.edge) for step in predecessors(tree)]
    for i, word in enumerate(found.words):
        assert (word.sent_id, word.id, word.form, word.head) == ("s5", i + 1, tree.forms[i], tree.heads[i])
        assert word.edge == (edges[i] if kind == "ldtree" else "")
        assert word.logprob == found.logprobs[i] == pytest.approx(-word.surprisal * math.log(2))
        assert word.is_unk is bool(found.is_unk[i])
    assert set(edges) == {"LEFT", "RIGHT", "NX-LEFT", "NX-RIGHT"}
    assert len(found.words) == len(tree)


@pytest.mark.parametrize("kind", ["ldtree", "bilstm"])
@pytest.mark.parametrize("window", [1, 7, 40, 1000])
def test_windows_change_nothing(kind: str, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = small_lm(kind)
    trees = [tree for tree in some_trees() for _ in range(2)]
    whole = [found.logprob for found in lm.scores(trees)]
    monkeypatch.setattr(module, "WINDOW", window)
    monkeypatch.setattr(module, "BATCH_WORDS", 60)
    found = list(lm.scores(iter(trees)))
    assert [each.tree for each in found] == trees
    assert [each.logprob for each in found] == pytest.approx(whole, rel=1e-5)


def test_trees_are_taken_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 10)
    taken: list[int] = []

    def trees() -> Iterator[Tree]:
        for number, tree in enumerate(some_trees()):
            taken.append(number)
            yield tree

    scores = iter(small_lm().scores(trees()))
    assert taken == []
    next(scores)
    assert len(taken) == 10
    for _ in range(9):
        next(scores)
    assert len(taken) == 10
    next(scores)
    assert len(taken) == 20


def test_an_error_among_the_trees_comes_through() -> None:
    def trees() -> Iterator[Tree]:
        yield from some_trees(3)
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        list(small_lm().scores(trees()))


def test_no_trees() -> None:
    assert list(small_lm().scores([])) == []


def test_a_lower_cased_vocabulary_reads_any_case() -> None:
    vocabulary = encode_trees(some_trees(), Encoding(lowercase=True)).vocabulary
    lm = LM(make_model(ModelConfig(hidden=8, embedding=8), vocabulary), vocabulary)
    tree = some_trees()[0]
    loud = Tree(tuple(form.upper() for form in tree.forms), tree.heads, tree.deprels)
    np.testing.assert_array_equal(lm.score(tree).logprobs, lm.score(loud).logprobs)


def test_the_sum_of_a_sentence() -> None:
    tree = some_trees(1)[0]
    logprobs = -np.arange(1.0, len(tree) + 1)
    found = SentenceScore(tree, "P(S)", logprobs, np.zeros(len(tree), bool), -2.5)
    assert found.logprob == logprobs.sum() - 2.5
    assert replace(found, end=None).logprob == logprobs.sum()
    np.testing.assert_allclose(found.surprisals, -logprobs / math.log(2))


def test_to_pandas_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CallError, match=r"pip install 'ramify\[tables\]'"):
        small_lm().scores(some_trees(2)).to_pandas()


class FakeFrame:
    def __init__(self, rows: list[Any], columns: tuple[str, ...]) -> None:
        self.rows, self.columns = rows, columns

    def astype(self, types: dict[str, type]) -> FakeFrame:
        assert types == {"logprob_end": float}
        return self


@pytest.mark.parametrize("kind", ["ldtree", "lstm"])
def test_to_pandas(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of ramify score, the ends of sentences included."""
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=FakeFrame))
    lm, trees = small_lm(kind), some_trees(3)
    frame = lm.scores(trees).to_pandas()
    columns = ("sent_id", "id", "form", "head", "edge", "logprob", "surprisal", "is_unk", "logprob_end", "kind")
    assert frame.columns == columns
    assert [row[2] for row in frame.rows] == [form for tree in trees for form in tree.forms]
    ends = [[None] * (len(tree) - 1) + [lm.score(tree).end] for tree in trees]
    assert [row[8] for row in frame.rows] == [pytest.approx(end) for each in ends for end in each]


@pytest.mark.parametrize("kind", KINDS)
def test_saving_and_loading_changes_nothing(kind: str, tmp_path: Path) -> None:
    lm = small_lm(kind)
    again = load(save_lm(tmp_path / "m", lm))
    assert (again.config, again.vocabulary, again.kind) == (lm.config, lm.vocabulary, lm.kind)
    for a, b in zip(lm.scores(some_trees()), again.scores(some_trees()), strict=True):
        np.testing.assert_array_equal(a.logprobs, b.logprobs)


def test_from_the_top_of_the_package(tmp_path: Path) -> None:
    folder = save_lm(tmp_path / "m", small_lm())
    assert isinstance(ramify.load(folder), ramify.LM)
    assert ramify.LM is LM
    assert "load" in ramify.__all__
    with pytest.raises(AttributeError, match="has no attribute 'lode'"):
        ramify.lode  # noqa: B018


def test_the_top_of_the_package_does_not_load_torch() -> None:
    check = (
        "import sys, ramify; print({'torch', 'numpy'} & set(sys.modules)); ramify.load; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()", "True"]
