"""The compiled reading of heads against `ramify.trees.paths`."""

import numpy as np
import pytest
from corpus_twins import random_tree, shapes, wild_trees
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus.corpus import depths_of, smallest_unsigned
from ramify.corpus.structure import LEFT, NX_LEFT, NX_RIGHT, RIGHT, read_paths
from ramify.trees import EdgeType, Tree, levels, predecessors

DTYPES = [np.uint8, np.uint16, np.int32]
SHAPES = list(shapes(8))
JUNK = -77


def assert_paths(tree: Tree, dtype: type) -> None:
    """Read into the middle of used arrays: what stands beside must stay, and what was there must not matter."""
    n = len(tree)
    heads = np.array(tree.heads, dtype)
    predecessor, level = np.full(n + 4, JUNK, np.int32), np.full(n + 4, JUNK, np.int32)
    edge = np.full(n + 4, JUNK, np.int8)
    scratch = np.full(n + 5, JUNK, np.int32)
    here = slice(2, n + 2)
    deepest = read_paths(heads, predecessor[here], edge[here], level[here], scratch[2 : n + 3])
    steps = predecessors(tree)
    assert predecessor[here].tolist() == [step.word for step in steps]
    assert edge[here].tolist() == [int(step.edge) for step in steps]
    assert level[here].tolist() == list(levels(tree))
    assert deepest == max(levels(tree))
    for array in (predecessor, level, edge, scratch):
        assert array[:2].tolist() == array[-2:].tolist() == [JUNK, JUNK]


def test_constants_are_the_edge_types() -> None:
    assert tuple(EdgeType) == (LEFT, RIGHT, NX_LEFT, NX_RIGHT)


@pytest.mark.parametrize("dtype", DTYPES)
@given(tree=wild_trees())
def test_random_trees(dtype: type, tree: Tree) -> None:
    assert_paths(tree, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 254, 255])
def test_shapes(shape: str, n: int, dtype: type) -> None:
    assert_paths(shapes(n)[shape], dtype)


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
@pytest.mark.parametrize("shape", SHAPES)
def test_long_shapes(shape: str, dtype: type) -> None:
    assert_paths(shapes(5_000)[shape], dtype)


def test_a_long_random_tree() -> None:
    assert_paths(random_tree(np.random.default_rng(3), 60_000), np.uint16)


@given(trees=st.lists(wild_trees(), min_size=1, max_size=6))
def test_depths_of_sentences(trees: list[Tree]) -> None:
    heads = np.array([head for tree in trees for head in tree.heads], np.int32)
    lengths = np.array([len(tree) for tree in trees], np.int32)
    depths = depths_of(heads, lengths)
    assert depths.tolist() == [max(levels(tree)) for tree in trees]
    assert depths.dtype == np.uint8


def test_depths_need_room() -> None:
    tree = shapes(300)["chain to the right"]
    depths = depths_of(np.array(tree.heads, np.int32), np.array([300], np.int32))
    assert (depths.tolist(), depths.dtype) == ([300], np.dtype(np.uint16))


@pytest.mark.parametrize(
    ("largest", "dtype"),
    [
        (0, np.uint8),
        (255, np.uint8),
        (256, np.uint16),
        (65_535, np.uint16),
        (65_536, np.uint32),
        (2**32 - 1, np.uint32),
    ],
)
def test_smallest_unsigned(largest: int, dtype: type) -> None:
    assert smallest_unsigned(largest) == dtype
