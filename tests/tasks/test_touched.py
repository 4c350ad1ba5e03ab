"""Touched words beside brute force: put another word there, and see whose probability changes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import small_lm
from strategies import random_trees

from ramify.corpus.structure import Array
from ramify.model.config import Kind
from ramify.tasks.blank import Filled
from ramify.tasks.score import LM
from ramify.tasks.touched import touched
from ramify.trees import Tree


def scores(lm: LM, tree: Tree) -> Array:
    found = lm.score(tree)
    return found.logprobs if found.end is None else np.append(found.logprobs, found.end)


def changed(lm: LM, tree: Tree, first: int, last: int) -> set[int]:
    words = [word for word in lm.vocabulary.words[2:12] if word not in tree.forms][: last - first + 1]
    other = Tree((*tree.forms[: first - 1], *words, *tree.forms[last:]), tree.heads)
    differ = np.abs(scores(lm, tree) - scores(lm, other)) > 1e-12
    return {int(word) + 1 for word in np.flatnonzero(differ)}


@pytest.mark.parametrize("kind", Kind)
@given(shape=random_trees(9), places=st.tuples(st.integers(1, 9), st.integers(1, 2)), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_what_changes_is_touched(kind: Kind, shape: Tree, places: tuple[int, int], seed: int) -> None:
    """In float64 and with weights of some size every dependence shows."""
    torch.manual_seed(0)
    lm = small_lm(str(kind))
    lm.model.double()
    known = np.random.default_rng(seed).choice(lm.vocabulary.words[12:], len(shape)).tolist()
    tree = Tree(tuple(known), shape.heads)
    first = min(places[0], len(tree))
    last = min(first + places[1] - 1, len(tree))
    assert set(touched(Filled(tree, first, last), kind)) == changed(lm, tree, first, last)


def test_left_dependents_reach_what_is_right() -> None:
    """LD reads a left dependent before the head's first right dependent, so all that follow from there know it."""
    tree = Tree(("a", "b", "c", "d", "e"), (3, 3, 0, 3, 4))
    assert touched(Filled(tree, 1, 1), Kind.TREE) == (1,)
    assert touched(Filled(tree, 1, 1), Kind.LDTREE) == (1, 4, 5)
    assert touched(Filled(tree, 2, 2), Kind.TREE) == (1, 2)
    assert touched(Filled(tree, 3, 3), Kind.TREE) == (1, 2, 3, 4, 5)
    assert touched(Filled(tree, 4, 5), Kind.TREE) == (4, 5)
    assert touched(Filled(tree, 4, 5), Kind.LSTM) == (4, 5, 6)
    assert touched(Filled(tree, 4, 5), Kind.BILSTM) == (1, 2, 3, 4, 5, 6)
