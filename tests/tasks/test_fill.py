"""Fill: the shortlist beside all words of the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import small_lm, some_trees

from ramify.corpus.vocabulary import ROOT, UNK
from ramify.errors import CallError
from ramify.model.config import Kind
from ramify.tasks.fill import fillings, likeliest
from ramify.tasks.score import LM
from ramify.trees import Tree

KINDS = list(Kind)


def with_word(tree: Tree, position: int, word: str) -> Tree:
    return Tree((*tree.forms[: position - 1], word, *tree.forms[position:]), tree.heads, tree.deprels)


def all_words(lm: LM) -> list[str]:
    return [word for i, word in enumerate(lm.vocabulary.words) if i not in (UNK, ROOT)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_vocabulary(kind: Kind) -> None:
    """With all words on the shortlist, the log-probabilities are those of all sentences, normalised."""
    lm = small_lm(str(kind), some_trees(6))
    tree, words = some_trees(6)[3], all_words(lm)
    sums = np.array([lm.score(with_word(tree, 2, word)).logprob for word in words])
    expected = dict(zip(words, (sums - np.logaddexp.reduce(sums)).tolist(), strict=True))
    found = lm.fill(tree, 2, top=len(words), shortlist=len(words))
    assert {each.word for each in found} == set(words)
    assert [each.logprob for each in found] == sorted((each.logprob for each in found), reverse=True)
    for word, logprob in found:
        assert logprob == pytest.approx(expected[word], abs=1e-4)
    assert np.logaddexp.reduce([each.logprob for each in found]) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_shortlist_is_of_the_likeliest_in_their_place(kind: Kind) -> None:
    lm = small_lm(str(kind))
    tree = some_trees()[4]
    local = {word: lm.score(with_word(tree, 3, word)).logprobs[2] for word in all_words(lm)}
    assert likeliest(lm, tree, 3, 12) == sorted(local, key=lambda word: -local[word])[:12]
    found = lm.fill(tree, 3, top=5, shortlist=12)
    sums = {word: lm.score(with_word(tree, 3, word)).logprob for word in likeliest(lm, tree, 3, 12)}
    assert [each.word for each in found] == sorted(sums, key=lambda word: -sums[word])[:5]
    total = np.logaddexp.reduce(list(sums.values()))
    np.testing.assert_allclose([each.logprob for each in found], [sums[each.word] - total for each in found], atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_there_does_not_matter(kind: Kind) -> None:
    lm = small_lm(str(kind))
    tree = some_trees()[4]
    first, second = (lm.fill(with_word(tree, 3, word), 3, top=7, shortlist=20) for word in ("the", "_____"))
    assert [each.word for each in first] == [each.word for each in second]
    np.testing.assert_allclose([each.logprob for each in first], [each.logprob for each in second], atol=1e-5)


def test_many_places_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.tasks.score.WINDOW", 25)  # the lists of several questions share windows
    lm = small_lm()
    places = [(tree, 1 + i % len(tree)) for i, tree in enumerate(some_trees(7))]
    for (tree, position), found in zip(places, fillings(lm, places, 4, 10), strict=True):
        alone = lm.fill(tree, position, 4, 10)
        assert [each.word for each in found] == [each.word for each in alone]
        np.testing.assert_allclose([each.logprob for each in found], [each.logprob for each in alone], atol=1e-4)


def test_a_small_vocabulary_has_shorter_lists() -> None:
    trees = [Tree(("a", "b", "a", "b"), (2, 0, 2, 3))]
    lm = small_lm(trees=trees)
    assert {each.word for each in lm.fill(trees[0], 1)} == {"a", "b"}


@pytest.mark.parametrize(("position", "top", "shortlist"), [(0, 1, 10), (99, 1, 10), (1, 0, 10), (1, 11, 10)])
def test_what_is_refused(position: int, top: int, shortlist: int) -> None:
    with pytest.raises(CallError):
        small_lm().fill(some_trees(1)[0], position, top, shortlist)
