import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from strategies import all_trees, descends, random_projective_trees, random_trees

from ramify.formats import read
from ramify.trees import NonProjective, Tree, is_projective, lift


def nonprojective_arcs(tree):
    """The definition: (length, dependent) of every arc over a word that does not descend from the head."""
    return [
        (abs(head - word), word)
        for word, head in enumerate(tree.heads, 1)
        if not all(descends(tree, between, head) for between in range(min(word, head) + 1, max(word, head)))
    ]


def slow_lift(tree):
    """Nivre and Nilsson's algorithm: while there are such arcs, the smallest one goes up to the head's head."""
    while arcs := nonprojective_arcs(tree):
        _, word = min(arcs)
        heads = list(tree.heads)
        heads[word - 1] = heads[heads[word - 1] - 1]
        tree = replace(tree, heads=heads)
    return tree


def check_against_twins(tree):
    assert is_projective(tree) == (not nonprojective_arcs(tree))
    lifted = lift(tree)
    assert is_projective(lifted)
    assert lifted == slow_lift(tree)
    assert lifted.words == tree.words
    assert lifted.roots == tree.roots or len(tree.roots) > 1  # an arc across a second root ends at ROOT
    if is_projective(tree):
        assert lifted == tree


def test_all_small_trees_as_defined():
    for tree in all_trees(5):
        check_against_twins(tree)


@given(random_trees(15))
def test_random_trees_as_defined(tree):
    check_against_twins(tree)


@given(random_projective_trees(20))
def test_projective_trees_stay_as_they_are(tree):
    assert is_projective(tree)
    assert lift(tree) is tree


@pytest.mark.parametrize(
    ("heads", "lifted"),
    [
        # Nivre and Nilsson's Figure 1, "Z nich je jen jedna na kvalitu .": Z leaves jedna for je, which stands between.
        ((5, 1, 0, 5, 3, 3, 6, 0), (3, 1, 0, 5, 3, 3, 6, 0)),
        # A hearing is scheduled on the issue today: issue leaves hearing for scheduled.
        ((2, 4, 4, 0, 7, 7, 2, 4), (2, 4, 4, 0, 7, 7, 4, 4)),
        # 1->3 is shorter than 4->1: 3 goes to 4 and stays there; only then 1 goes to 2. The longest first: 2 0 2 2.
        ((4, 0, 1, 2), (2, 0, 4, 2)),
        # 5->2 and 1->4 are equally long: the left one goes first, then 3->2 is well. The right one first: 2 3 0 5 3.
        ((2, 5, 0, 1, 3), (2, 3, 0, 3, 3)),
        # One word goes up twice: 4->1 is over 2 and 3, so is 3->1 then over 2.
        ((4, 0, 2, 3), (2, 0, 2, 3)),
        # An arc across a second root cannot hold: 1 goes up to ROOT itself.
        ((3, 0, 0), (0, 0, 0)),
    ],
)
def test_lifted_by_hand(heads, lifted):
    tree = Tree([f"w{i}" for i in range(len(heads))], heads, sent_id="s1", source="dev.conllu", line=4)
    assert not is_projective(tree)
    assert lift(tree).heads == lifted
    assert lift(tree).address == tree.address


def test_the_non_projective_trees_of_ewt():
    trees = [tree for part in ("train", "dev", "test") for tree in read(f"ewt:{part}")]
    crossed = [tree for tree in trees if not is_projective(tree)]
    assert (len(crossed), len(trees)) == (345, 16_622)
    assert sum(len(tree.roots) > 1 for tree in trees) == 0
    for tree in crossed:
        assert lift(tree) == slow_lift(tree), tree.address


def test_three_ways_to_take_a_tree():
    crossed, plain = Tree("abcd", (4, 0, 1, 2)), Tree("ab", (0, 1))
    assert [rule.value for rule in NonProjective] == ["keep", "lift", "skip"]
    assert NonProjective.KEEP.take(crossed) is crossed
    assert NonProjective.LIFT.take(crossed) == lift(crossed)
    assert NonProjective.SKIP.take(crossed) is None
    for rule in NonProjective:
        assert rule.take(plain) is plain


def test_large_trees_need_no_recursion():
    n = 5_000
    chain = Tree(["w"] * n, (*range(2, n), 0, 1))  # the last word hangs on the first, across the whole chain
    assert not is_projective(chain)
    assert lift(chain) == replace(chain, heads=(*range(2, n), 0, n - 1))  # one step at a time along all of it


def test_a_large_tangle_is_lifted_at_once():
    """Every word on a random earlier one, in a random order of words: thousands of arcs to lift."""
    order = random.Random(1).sample(range(1, 1_501), 1_500)
    heads = [0] * len(order)
    for i, word in enumerate(order[1:], 1):
        heads[word - 1] = order[random.Random(i).randrange(i)]
    start = time.perf_counter()
    assert is_projective(lift(Tree(["w"] * len(order), heads)))
    assert time.perf_counter() - start < 5
