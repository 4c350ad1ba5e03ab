"""Fit: warnings for texts that are unlike the training data."""

from __future__ import annotations

import numpy as np
import pytest
from small_runs import some_trees

from ramify.corpus import Encoding, Vocabulary, encode_trees
from ramify.tasks.fit import Fit
from ramify.tasks.score import SentenceScore
from ramify.trees import Tree

VOCABULARY = encode_trees(some_trees(60), Encoding(min_count=0)).vocabulary


def warnings(trees: list[Tree], vocabulary: Vocabulary = VOCABULARY) -> list[str]:
    fit = Fit(vocabulary)
    for tree in trees:
        unknown = np.array([word == 0 for word in vocabulary.ids(tree.forms)])
        fit.add(SentenceScore(tree, "P(S|T)", np.zeros(len(tree)), unknown))
    assert fit.words == sum(map(len, trees))
    return fit.warnings()


def spelled(trees: list[Tree], change) -> list[Tree]:  # type: ignore[no-untyped-def]
    return [Tree(tuple(map(change, tree.forms)), tree.heads, tree.deprels) for tree in trees]


def test_the_training_data_fit() -> None:
    assert warnings(some_trees(60)) == []


def test_upper_case() -> None:
    high, case = warnings(spelled(some_trees(), str.upper))
    assert high.endswith("of the words are unknown to the model, 0.0% were in its training data")
    assert "known in another case: is the casing the same?" in case


def test_lower_case_of_words_that_have_capitals() -> None:
    names = [form for form in VOCABULARY.words[2:] if form.istitle() and form.lower() not in VOCABULARY.index]
    tree = Tree(tuple(form.lower() for form in names[:30]), (0,) * len(names[:30]))
    assert any("another case" in warning for warning in warnings([tree]))


def test_marks_that_cling_to_words() -> None:
    trees = spelled(some_trees(), lambda form: form + "," if form.isalpha() else form)
    assert any("known without the marks around them: is the text tokenised?" in each for each in warnings(trees))


def test_many_unknown_words_in_training_are_expected_again() -> None:
    vocabulary = encode_trees(some_trees(60)).vocabulary  # singletons are UNK
    assert warnings(some_trees(60), vocabulary) == []


def test_another_language() -> None:
    (found,) = warnings([Tree(("słowo",) * 30, (0,) * 30)])
    assert found == "100.0% of the words are unknown to the model, 0.0% were in its training data"


@pytest.mark.parametrize("n", [0, 1, 19])
def test_few_words_say_nothing(n: int) -> None:
    assert warnings([Tree(("THE",) * n, (0,) * n)] if n else []) == []
