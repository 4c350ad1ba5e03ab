import copy
import dataclasses
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_trees

from ramify.errors import TreeError
from ramify.trees import EdgeType, Tree, Word, predecessors
from ramify.trees.tree import check_heads


def refusal(heads):
    with pytest.raises(TreeError) as caught:
        Tree([f"w{i}" for i in range(1, len(heads) + 1)], heads)
    return str(caught.value), caught.value.word


# --- what is no tree ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heads", "message", "word"),
    [
        ((), "a tree needs at least one word", 0),
        ((0, 4, 1), "word 2 has head 4, but the words are 1 to 3 and ROOT is 0", 2),
        ((0, 1, -1), "word 3 has head -1, but the words are 1 to 3 and ROOT is 0", 3),
        ((0, 2), "word 2 is its own head", 2),
        ((1,), "word 1 is its own head, and no word has head 0: the sentence has no root", 1),
        ((2, 1), "words 1 and 2 form a cycle, and no word has head 0: the sentence has no root", 1),
        ((0, 3, 4, 2, 2), "words 2, 3 and 4 form a cycle", 2),
        ((0, 5, 1, 3, 2), "words 2 and 5 form a cycle", 2),  # 3 and 4 are well, and nothing hangs on the cycle
        ((2, 3, 4, 3, 0), "words 3 and 4 form a cycle", 3),  # 1 and 2 hang on it but are not of it
        ((0, 3, 2, 5, 4), "words 2 and 3 form a cycle", 2),  # the first of two
        ((0, 3, 4, 5, 6, 7, 8, 2), "words 2, 3, 4 and 4 more form a cycle", 2),
    ],
)
def test_refused(heads, message, word):
    assert refusal(heads) == (message, word)


def test_a_long_cycle_is_found_without_recursion():
    assert refusal((0, *range(3, 10_001), 2)) == ("words 2, 3, 4 and 9996 more form a cycle", 2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"heads": (0,)}, "2 forms but 1 heads"),
        ({"heads": (0, 1, 1)}, "2 forms but 3 heads"),
        ({"heads": ()}, "2 forms but 0 heads"),
        ({"heads": (0, 1), "deprels": ("root",)}, "2 forms but 1 deprels"),
        ({"heads": (0, 1), "upos": ["X"] * 3}, "2 forms but 3 upos"),
        ({"heads": (0, 1), "xpos": ["X"]}, "2 forms but 1 xpos"),
    ],
)
def test_columns_of_wrong_length_are_refused(columns, message):
    with pytest.raises(TreeError, match=f"^{message}$"):
        Tree(("a", "b"), **columns)


def is_tree(heads):
    """The slow twin: n steps up from any word lead to ROOT."""
    n = len(heads)
    for word in range(1, n + 1):
        for _ in range(n):
            if word and 0 <= heads[word - 1] <= n:
                word = heads[word - 1]
        if word:
            return False
    return n > 0


def accepted(heads):
    try:
        check_heads(heads)
    except TreeError:
        return False
    return True


@pytest.mark.parametrize("n", range(6))
def test_every_list_of_heads_is_judged_as_by_walking(n):
    lists = list(itertools.product(range(n + 1), repeat=n))
    trees = sum(is_tree(heads) for heads in lists)
    assert [heads for heads in lists if accepted(heads) != is_tree(heads)] == []
    assert trees == ((n + 1) ** (n - 1) if n else 0)  # Cayley: the labelled trees over ROOT and n words


@given(st.integers(1, 30).flatmap(lambda n: st.lists(st.integers(-1, n + 1), min_size=n, max_size=n)))
def test_any_list_of_heads_is_judged_as_by_walking(heads):
    assert accepted(heads) == is_tree(heads)


@given(st.integers(1, 30).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_the_word_of_a_refusal_lies_on_a_cycle(heads):
    try:
        check_heads(heads)
    except TreeError as error:
        word = error.word
        for _ in heads:
            word = heads[word - 1]
            if word == error.word:
                return
        pytest.fail(f"no cycle through {error.word}")


@given(random_trees())
def test_trees_are_accepted(tree):
    assert is_tree(tree.heads)


# --- what a tree is -------------------------------------------------------------------------------------------------


def test_columns_left_out_are_underscores():
    tree = Tree(["She", "sleeps"], [2, 0])
    assert tree.deprels == tree.upos == tree.xpos == ("_", "_")
    assert tree.words == (Word("She"), Word("sleeps"))
    assert len(tree) == 2


def test_lists_become_tuples():
    tree = Tree(["She", "sleeps"], [2, 0], ["nsubj", "root"], ["PRON", "VERB"], ["PRP", "VBZ"])
    assert tree == Tree(("She", "sleeps"), (2, 0), ("nsubj", "root"), ("PRON", "VERB"), ("PRP", "VBZ"))
    assert {type(column) for column in (tree.forms, tree.heads, tree.deprels, tree.upos, tree.xpos)} == {tuple}
    assert tree.words[0] == Word(form="She", deprel="nsubj", upos="PRON", xpos="PRP")


def test_a_tree_cannot_be_changed():
    tree = Tree(["She", "sleeps"], [2, 0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.heads = (0, 1)
    with pytest.raises(TreeError):
        dataclasses.replace(tree, heads=(2, 1))


def test_equality_looks_at_words_and_heads_not_at_identity():
    tree = Tree(["She", "sleeps"], [2, 0], ["nsubj", "root"], ["PRON", "VERB"], ["PRP", "VBZ"])
    elsewhere = dataclasses.replace(tree, sent_id="s1", source="dev.conllu", line=7)
    assert tree == elsewhere
    assert hash(tree) == hash(elsewhere)
    for column, values in {
        "forms": ("He", "sleeps"),
        "heads": (0, 1),
        "deprels": ("obj", "root"),
        "upos": ("X", "VERB"),
        "xpos": ("X", "VBZ"),
    }.items():
        assert dataclasses.replace(tree, **{column: values}) != tree


@pytest.mark.parametrize(
    ("identity", "address"),
    [
        ({"source": "dev.conllu", "line": 7, "sent_id": "s1"}, "dev.conllu:7 (sent_id s1)"),
        ({"source": "dev.conllu", "line": 7}, "dev.conllu:7"),
        ({"source": "dev.conllu"}, "dev.conllu"),
        ({"sent_id": "s1"}, "(sent_id s1)"),
        ({}, ""),
    ],
)
def test_address(identity, address):
    assert Tree(["a"], [0], **identity).address == address


def test_several_roots_are_accepted_and_further_ones_are_next_to_the_first():
    tree = Tree(["Yes", "we", "can", "!"], [0, 3, 0, 0])
    assert tree.roots == (1, 3, 4)
    assert predecessors(tree) == (
        (0, EdgeType.RIGHT),
        (3, EdgeType.LEFT),
        (1, EdgeType.NX_RIGHT),
        (3, EdgeType.NX_RIGHT),
    )


@given(random_trees())
def test_trees_travel_between_processes(tree):
    tree = dataclasses.replace(tree, sent_id="s1", source="dev.conllu", line=7)
    for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert again == tree
        assert again.address == tree.address
