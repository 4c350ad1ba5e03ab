"""The shapes of recurrences against plain lists, made from trees and sentences alone."""

from itertools import accumulate

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, plain, shapes, twin_batch, wild_trees
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import build_batch, build_sequence_batch
from ramify.kernels.rows import Rows, chain_rows, sequence_rows, tree_rows
from ramify.trees import EdgeType, Tree, dependents, predecessors

FORESTS = st.lists(wild_trees(9), min_size=1, max_size=5)


def assert_promises(rows: Rows) -> None:
    """What every kernel relies on."""
    n = len(rows)
    assert rows.predecessor.dtype == rows.successors.dtype == torch.int32
    assert rows.predecessor.shape == (n + 1,)
    assert rows.successors.shape[0] == n + 1
    level = [0] * (n + 1)
    for at in range(rows.n_levels):
        here = range(n + 1)[rows.level(at)]
        assert [row for z in range(rows.sets) for row in range(n + 1)[rows.group(at, z)]] == list(here)
        for row in here:
            level[row] = at + 1
    assert min(level[1:], default=1) > 0  # each row is of some level
    for row in range(1, n + 1):
        above = int(rows.predecessor[row])
        assert above == 0 or level[above] == level[row] - 1
        following = [after for after in range(1, n + 1) if rows.predecessor[after] == row]
        assert sorted(rows.successors[row][rows.successors[row] > 0].tolist()) == following
    assert rows.predecessor[0] == 0
    assert rows.successors[0].tolist() == [0] * rows.successors.shape[1]
    assert rows.order.dtype == torch.int32
    assert rows.order.tolist() == [
        row for z in range(rows.sets) for at in range(rows.n_levels) for row in range(n + 1)[rows.group(at, z)]
    ]
    assert len(rows.of_sets) == rows.sets
    for z, part in enumerate(rows.of_sets):
        here = [row for at in range(rows.n_levels) for row in range(n + 1)[rows.group(at, z)]]
        assert rows.order[part].tolist() == here
        for at in range(rows.n_levels):
            group, start = rows.group(at, z), rows.starts[at, z]
            assert rows.order[start : start + group.stop - group.start].tolist() == list(range(n + 1)[group])


@given(FORESTS)
def test_tree_rows_are_those_of_the_batch(trees: list[Tree]) -> None:
    corpus = corpus_of(trees)
    rows = tree_rows(build_batch(corpus, corpus.everything))
    assert_promises(rows)
    twin = twin_batch(trees, range(len(trees)), corpus.vocabulary)
    assert rows.predecessor.tolist() == twin["predecessor"]
    assert rows.successors.tolist() == twin["successors"]
    assert rows.groups == twin["groups"]
    assert rows.sets == 4
    edges = {(b, word): step.edge for b, tree in enumerate(trees) for word, step in enumerate(predecessors(tree), 1)}
    for edge in EdgeType:
        assert {
            edges[twin["sentence"][row], twin["position"][row]] for row in rows.order[rows.of_sets[edge]].tolist()
        } <= {edge}


@given(FORESTS)
def test_chain_rows_follow_each_chain(trees: list[Tree]) -> None:
    corpus = corpus_of(trees)
    batch = build_batch(corpus, corpus.everything)
    rows = chain_rows(batch)
    assert_promises(rows)
    lengths = sorted((len(left) for tree in trees for left, right in dependents(tree) if left and right), reverse=True)
    longest = max(lengths, default=0)
    # a table of all chains by step: they end together, so a chain of k words starts at step `longest - k`
    cells = [(step, chain) for step in range(longest) for chain, k in enumerate(lengths) if step >= longest - k]
    row_of = {cell: row for row, cell in enumerate(cells, 1)}
    assert rows.predecessor.tolist() == [0] + [row_of.get((step - 1, chain), 0) for step, chain in cells]
    assert rows.successors[:, 0].tolist() == [0] + [row_of.get((step + 1, chain), 0) for step, chain in cells]
    in_step = [sum(k >= longest - step for k in lengths) for step in range(longest)]
    assert rows.groups == list(accumulate(in_step, initial=1))
    assert rows.sets == 1
    assert len(rows) == sum(lengths) == len(batch.chain_words)


@given(FORESTS)
def test_sequence_rows_follow_each_sentence(trees: list[Tree]) -> None:
    corpus = corpus_of(trees)
    rows = sequence_rows(build_sequence_batch(corpus, corpus.everything))
    assert_promises(rows)
    order = sorted(range(len(trees)), key=lambda i: -len(trees[i]))
    longest = max(len(tree) for tree in trees) + 1
    cells = [(step, i) for step in range(longest) for i in order if step <= len(trees[i])]
    row_of = {cell: row for row, cell in enumerate(cells, 1)}
    assert rows.predecessor.tolist() == [0] + [row_of.get((step - 1, i), 0) for step, i in cells]
    assert rows.successors[:, 0].tolist() == [0] + [row_of.get((step + 1, i), 0) for step, i in cells]
    assert rows.groups == list(accumulate((sum(step <= len(t) for t in trees) for step in range(longest)), initial=1))
    assert rows.sets == 1


@pytest.mark.parametrize("name", shapes(7))
def test_extreme_shapes(name: str) -> None:
    corpus = corpus_of([shapes(7)[name], plain([0]), shapes(6)[name]])
    batch = build_batch(corpus, corpus.everything)
    for rows in (tree_rows(batch), chain_rows(batch), sequence_rows(build_sequence_batch(corpus, corpus.everything))):
        assert_promises(rows)


def test_no_sentences_have_no_rows() -> None:
    corpus = corpus_of([plain([0, 1])])
    nothing = np.zeros(0, np.int32)
    batch = build_batch(corpus, nothing)
    for rows in (tree_rows(batch), chain_rows(batch), sequence_rows(build_sequence_batch(corpus, nothing))):
        assert_promises(rows)
        assert len(rows) == rows.n_levels == 0


def test_one_word_has_one_row_and_no_chain() -> None:
    corpus = corpus_of([plain([0])])
    batch = build_batch(corpus, corpus.everything)
    assert tree_rows(batch).groups == [1, 1, 2, 2, 2]  # RIGHT of ROOT
    assert len(chain_rows(batch)) == 0
    assert sequence_rows(build_sequence_batch(corpus, corpus.everything)).groups == [1, 2, 3]  # the word, the end


def test_a_chain_of_left_dependents_nobody_reads_is_not_run() -> None:
    corpus = corpus_of([plain([2, 3, 0])])  # left dependents only
    assert len(chain_rows(build_batch(corpus, corpus.everything))) == 0
