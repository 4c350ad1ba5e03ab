"""Tiles cover every row once, in the order in which a GPU may compute them."""

import numpy as np
import pytest
from corpus_twins import corpus_of, plain, random_tree, shapes
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import build_batch, build_sequence_batch
from ramify.kernels.rows import Rows, chain_rows, sequence_rows, tree_rows
from ramify.kernels.tiles import HEIGHTS, best_height
from ramify.trees import Tree


def _all_rows(trees: list[Tree]) -> list[Rows]:
    corpus = corpus_of(trees)
    batch = build_batch(corpus, corpus.everything)
    return [tree_rows(batch), chain_rows(batch), sequence_rows(build_sequence_batch(corpus, corpus.everything))]


def assert_covers(rows: Rows, height: int) -> None:
    made = rows.tiled(height).tiles
    assert made is not None
    assert made.height == height
    (count, *levels), tiles = made.levels.tolist(), made.tiles.tolist()
    assert count == rows.n_levels
    assert len(levels) == rows.n_levels + 1
    assert (levels[0], levels[-1]) == (0, len(tiles))
    order = rows.order.tolist()
    for at in range(rows.n_levels):
        here = []
        for row, count, start, z in tiles[levels[at] : levels[at + 1]]:
            assert 1 <= count <= height
            assert order[start : start + count] == list(range(row, row + count))
            assert rows.group(at, z).start <= row
            assert row + count <= rows.group(at, z).stop
            here += range(row, row + count)
        assert here == list(range(len(rows) + 1)[rows.level(at)])


@pytest.mark.parametrize("height", [1, 2, 16])
@given(seed=st.integers(0, 10**6), count=st.integers(1, 5))
def test_every_row_is_in_one_tile(height: int, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    for rows in _all_rows([random_tree(random, int(n)) for n in random.integers(1, 12, count)]):
        assert_covers(rows, height)


@pytest.mark.parametrize("name", shapes(7))
def test_extreme_shapes(name: str) -> None:
    for rows in _all_rows([shapes(7)[name], plain([0])]):
        assert_covers(rows, 3)


def test_no_rows_have_no_tiles() -> None:
    corpus = corpus_of([plain([0])])
    batch = build_batch(corpus, np.zeros(0, np.int32))
    for rows in (tree_rows(batch), chain_rows(batch)):
        assert_covers(rows, 16)


def test_more_rows_have_higher_tiles() -> None:
    heights = [best_height(n) for n in (0, 1, 100, 1000, 10_000, 100_000)]
    assert heights == sorted(heights)
    assert [heights[0], heights[-1]] == [min(HEIGHTS), max(HEIGHTS)]
