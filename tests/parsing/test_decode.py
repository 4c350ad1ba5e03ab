"""The decoders against their slow twin: every projective tree with one root word."""

from __future__ import annotations

import numpy as np
import pytest
from parsing_twins import projective_trees, random_scores, score_of

from ramify.errors import CallError
from ramify.parsing import eisner, sibling
from ramify.parsing.decode import best, decode, without_siblings
from ramify.trees import Tree, is_projective

COUNTS = {1: 1, 2: 2, 3: 7, 4: 30, 5: 143, 6: 728}  # 3n choose n, by 2n + 1, of one word less and its two sides


def test_the_twin_knows_all_trees() -> None:
    assert {n: len(projective_trees(n)) for n in COUNTS} == COUNTS


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n", COUNTS)
def test_k_best_are_all_trees_in_their_order(n: int, order: int, ties: bool) -> None:
    trees = projective_trees(n)
    for seed in range(12):
        scores = random_scores(n, order, seed, ties)
        twin = {tree.heads: score_of(tree, scores) for tree in trees}
        falling = sorted(twin.values(), reverse=True)
        for k in (1, 2, 3, 5, 20, len(trees), len(trees) + 5):
            found = best(scores, k)
            assert [parse.score for parse in found] == falling[:k]
            heads = [tuple(parse.heads.tolist()) for parse in found]
            assert len(set(heads)) == len(heads)
            assert [twin[each] for each in heads] == falling[:k]


@pytest.mark.parametrize("order", [1, 2])
def test_the_best_tree_alone_and_first_of_many(order: int) -> None:
    for n in (7, 12, 30):
        scores = random_scores(n, order, 1)
        heads = np.empty(n, np.int32)
        score = (eisner if order == 1 else sibling).best_tree(scores, heads)
        many = best(scores, 50)
        assert many[0].score == score == score_of(Tree(["w"] * n, heads.tolist()), scores)
        assert many[0].heads.tolist() == heads.tolist()
        assert sorted((parse.score for parse in many), reverse=True) == [parse.score for parse in many]
        assert len({tuple(parse.heads.tolist()) for parse in many}) == 50
        for parse in many:
            tree = Tree(["w"] * n, parse.heads.tolist())
            assert is_projective(tree)
            assert len(tree.roots) == 1
            assert parse.score == score_of(tree, scores)


def test_k_best_of_long_sentences_are_those_of_more() -> None:
    """The first of many are the few."""
    scores = random_scores(60, 2, 1)
    many = [parse.score for parse in best(scores, 200)]
    for k in (2, 7, 100):
        assert [parse.score for parse in best(scores, k)] == many[:k]


def test_both_orders_agree_where_siblings_count_nothing() -> None:
    for n in (1, 4, 15):
        arcs = random_scores(n, 1, 2)
        assert best(arcs)[0].score == best(without_siblings(arcs))[0].score


def test_arcs_that_are_ruled_out() -> None:
    arcs = np.full((4, 4), -np.inf)
    for word, head in enumerate((2, 0, 2), 1):
        arcs[head, word] = 1.0
    assert best(arcs)[0].heads.tolist() == [2, 0, 2]
    assert best(arcs, 3)[0].heads.tolist() == [2, 0, 2]


def test_float32_scores_are_summed_in_float64() -> None:
    scores = random_scores(20, 2, 3)
    assert best(scores.astype(np.float32), 3)[2].score == best(scores, 3)[2].score


def test_together_as_each_alone() -> None:
    several = [random_scores(1 + seed % 9, 1 + seed % 2, seed) for seed in range(70)]
    for k in (1, 4):
        alone = [best(scores, k) for scores in several]
        for threads in (None, 1, 3):
            together = decode(several, k, threads)
            assert [[(p.heads.tolist(), p.score) for p in each] for each in together] == [
                [(p.heads.tolist(), p.score) for p in each] for each in alone
            ]
    assert decode([], 3) == []


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (3, 3, 4), (3,), (3, 3, 3, 3)])
def test_scores_of_no_sentence(shape: tuple[int, ...]) -> None:
    with pytest.raises(CallError, match=r"scores of sentence 2 are \["):
        decode([np.zeros((2, 2)), np.zeros(shape)])


def test_no_tree_is_asked_for() -> None:
    with pytest.raises(CallError, match="at least 1, not 0"):
        decode([np.zeros((2, 2))], 0)
