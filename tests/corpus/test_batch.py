"""Batches against a twin that is built from trees with plain sorting, and against what a batch promises."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from corpus_twins import (
    FIELDS,
    assert_same_batch,
    corpus_of,
    plain,
    random_tree,
    shapes,
    twin_batch,
    wild_trees,
)
from hypothesis import given
from hypothesis import strategies as st

import ramify.formats
from ramify.corpus import Batch, Corpus, Encoding, build_batch, encode_trees, open_store, save_store
from ramify.trees import EdgeType, Tree, dependents, levels

SHARED = Path(__file__).parents[3] / "shared"


@cache
def ewt() -> tuple[list[Tree], Corpus]:
    trees = list(ramify.formats.read("ewt:dev"))
    return trees, encode_trees(trees, Encoding(min_count=1, lowercase=True))


def assert_promises(batch: Batch, corpus: Corpus, trees: Sequence[Tree]) -> None:
    """What a batch promises, asked of trees and corpus; no sorting twin is needed for it."""
    n = sum(len(trees[i]) for i in batch.sentences)
    row_fields = ("word", "label", "sentence", "position", "predecessor", "predecessor_word", "successors", "chain")
    assert {name: len(getattr(batch, name)) for name in row_fields} == dict.fromkeys(row_fields, n + 1)
    assert all(getattr(batch, name).dtype == np.int32 for name in FIELDS)
    assert batch.n_words == n
    assert len(batch) == len(batch.sentences)
    level_of = [levels(trees[i]) for i in batch.sentences]
    level = [0] + [level_of[batch.sentence[row]][batch.position[row] - 1] for row in range(1, n + 1)]

    # ROOT
    assert (batch.word[0], batch.predecessor_word[0]) == (1, 1)
    assert (batch.label[0], batch.sentence[0], batch.position[0], batch.predecessor[0]) == (0, -1, 0, 0)
    assert batch.successors[0].tolist() == [0, 0, 0]
    assert batch.chain[0] == 0

    # every word has a row, and the row its word
    found = Counter(zip(batch.sentence[1:].tolist(), batch.position[1:].tolist(), strict=True))
    assert found == Counter((b, k) for b, i in enumerate(batch.sentences) for k in range(1, len(trees[i]) + 1))
    for row in range(1, n + 1):
        at = corpus.offsets[batch.sentences[batch.sentence[row]]] + batch.position[row] - 1
        assert (batch.word[row], batch.label[row]) == (corpus.words[at], corpus.labels[at])

    # predecessors are one level up, in the same sentence
    for row in range(1, n + 1):
        above = batch.predecessor[row]
        assert level[above] == level[row] - 1
        assert above == 0 or batch.sentence[above] == batch.sentence[row]
        assert (above == 0) == (level[row] == 1)
    assert batch.predecessor_word.tolist() == batch.word[batch.predecessor].tolist()

    # groups are slices of one level and one edge type
    assert batch.n_levels == max(level)
    assert len(batch.groups) == 4 * batch.n_levels + 1
    edge: list[EdgeType | None] = [None] * (n + 1)
    rows_seen = []
    for at in range(1, batch.n_levels + 1):
        in_level = []
        for kind in EdgeType:
            rows = range(n + 1)[batch.rows(at, kind)]
            in_level += rows
            for row in rows:
                assert level[row] == at
                edge[row] = kind
        assert list(range(n + 1)[batch.rows(at)]) == in_level
        assert in_level  # no level is empty
        rows_seen += in_level
    assert rows_seen == list(range(1, n + 1))

    # successors are predecessors turned round
    slot = {EdgeType.LEFT: 0, EdgeType.RIGHT: 1, EdgeType.NX_LEFT: 2, EdgeType.NX_RIGHT: 2}
    turned = {(int(batch.predecessor[row]), slot[edge[row]]): row for row in range(1, n + 1) if batch.predecessor[row]}
    named = {(row, k): int(s) for row, three in enumerate(batch.successors) for k, s in enumerate(three) if s}
    assert turned == named
    assert len(set(named.values())) == len(named) == n - sum(at == 1 for at in level)

    # edge types: first dependents follow their head, further ones a sibling on the same side
    head = [0] + [trees[batch.sentences[batch.sentence[row]]].heads[batch.position[row] - 1] for row in range(1, n + 1)]
    for row in range(1, n + 1):
        leftward = batch.position[row] < head[row]
        assert leftward == (edge[row] in (EdgeType.LEFT, EdgeType.NX_LEFT))
        above = batch.predecessor[row]
        if edge[row] in (EdgeType.LEFT, EdgeType.RIGHT):
            assert batch.position[above] == head[row]
        else:
            assert head[above] == head[row]
            assert abs(batch.position[above] - head[row]) < abs(batch.position[row] - head[row])

    assert_chains(batch, corpus, trees, edge)


def assert_chains(batch: Batch, corpus: Corpus, trees: Sequence[Tree], edge: Sequence[EdgeType | None]) -> None:
    """Read the chains as an LSTM does: at each step the first so many chains take one more word."""
    read: dict[int, list[int]] = {number: [] for number in range(1, batch.n_chains + 1)}
    assert batch.steps[0] == 0
    assert batch.steps[-1] == len(batch.chain_words)
    active_before = 0
    for t in range(len(batch.steps) - 1):
        words = batch.chain_words[batch.steps[t] : batch.steps[t + 1]].tolist()
        assert len(words) >= max(active_before, 1)  # once begun, a chain goes on to the last step
        for number, word in enumerate(words, 1):
            read[number].append(word)
        active_before = len(words)
    assert active_before == batch.n_chains
    sizes = [len(read[number]) for number in sorted(read)]
    assert sizes == sorted(sizes, reverse=True)
    used = []
    sides = [dependents(trees[i]) for i in batch.sentences]
    for row in range(1, batch.n_words + 1):
        b, i = batch.sentence[row], batch.sentences[batch.sentence[row]]
        head = trees[i].heads[batch.position[row] - 1]
        left = sides[b][head].left if edge[row] is EdgeType.RIGHT else []
        if left:
            furthest_first = [int(corpus.words[corpus.offsets[i] + k - 1]) for k in sorted(left)]
            assert read[int(batch.chain[row])] == furthest_first
            used.append(int(batch.chain[row]))
        else:
            assert batch.chain[row] == 0
    assert sorted(used) == list(read)  # one row for each chain: only heads with both sides have one
    assert len(used) == sum(bool(of.left and of.right) for side in sides for of in side)


# --- small and random ------------------------------------------------------------------------------------------------


@given(trees=st.lists(wild_trees(), min_size=1, max_size=6), data=st.data())
def test_random_trees(trees: list[Tree], data: st.DataObject) -> None:
    corpus = corpus_of(trees)
    chosen = data.draw(st.permutations(range(len(trees))))[: data.draw(st.integers(0, len(trees)))]
    batch = build_batch(corpus, np.array(chosen, np.int64))
    assert_same_batch(batch, twin_batch(trees, chosen, corpus.vocabulary))
    if chosen:
        assert_promises(batch, corpus, trees)


@pytest.mark.parametrize("size", [1, 2, 17, 64, 200])
def test_random_sentences_of_a_treebank(size: int) -> None:
    trees, corpus = ewt()
    random = np.random.default_rng(size)
    for _ in range(3):
        chosen = random.choice(len(trees), size, replace=False)
        batch = build_batch(corpus, chosen)
        assert_same_batch(batch, twin_batch(trees, chosen.tolist(), corpus.vocabulary))
        assert_promises(batch, corpus, trees)


def test_the_whole_treebank_in_one_batch() -> None:
    trees, corpus = ewt()
    batch = build_batch(corpus, corpus.everything)
    assert_same_batch(batch, twin_batch(trees, range(len(trees)), corpus.vocabulary))
    assert batch.n_words == corpus.n_words == sum(map(len, trees))


def test_a_sentence_may_come_twice() -> None:
    trees = [plain([2, 0, 2]), plain([0])]
    corpus = corpus_of(trees)
    batch = build_batch(corpus, np.array([0, 1, 0]))
    assert_same_batch(batch, twin_batch(trees, [0, 1, 0], corpus.vocabulary))


def test_written_out_by_hand() -> None:
    """`Ada bakes small round cakes daily`: bakes heads Ada, cakes, daily; cakes heads small and round."""
    tree = Tree(
        ("Ada", "bakes", "small", "round", "cakes", "daily"),
        (2, 0, 5, 5, 2, 2),
        ("nsubj", "root", "amod", "amod", "obj", "advmod"),
    )
    corpus = corpus_of([tree])
    assert corpus.vocabulary.words[2:] == tree.forms  # so the ids are 2 to 7, in the order of the text
    ada, bakes, small, round_, cakes, daily = range(2, 8)
    batch = build_batch(corpus, np.array([0]))
    # level 1: bakes | level 2: Ada (LEFT), cakes (RIGHT) | level 3: round (LEFT), daily (NX-RIGHT) | 4: small (NX-LEFT)
    assert batch.word.tolist() == [1, bakes, ada, cakes, round_, daily, small]
    assert batch.position.tolist() == [0, 2, 1, 5, 4, 6, 3]
    assert batch.label.tolist() == [0, 2, 1, 4, 3, 5, 3]
    assert batch.sentence.tolist() == [-1, 0, 0, 0, 0, 0, 0]
    assert batch.predecessor.tolist() == [0, 0, 1, 1, 3, 3, 4]
    assert batch.predecessor_word.tolist() == [1, 1, bakes, bakes, cakes, cakes, round_]
    assert batch.successors.tolist() == [
        [0, 0, 0],
        [2, 3, 0],
        [0, 0, 0],
        [4, 0, 5],
        [0, 0, 6],
        [0, 0, 0],
        [0, 0, 0],
    ]
    assert batch.groups.tolist() == [1, 1, 2, 2, 2, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7]
    assert batch.chain.tolist() == [0, 0, 0, 1, 0, 0, 0]  # only cakes knows of Ada: daily is a further dependent
    assert (batch.chain_words.tolist(), batch.steps.tolist()) == ([ada], [0, 1])
    assert (len(batch), batch.n_words, batch.n_levels, batch.n_chains) == (1, 6, 4, 1)
    assert batch.rows(3) == slice(4, 6)
    assert batch.rows(3, EdgeType.NX_RIGHT) == slice(5, 6)


def test_chains_of_different_lengths_end_together() -> None:
    three = plain([4, 4, 4, 0, 4])  # a b c <- d -> e
    one = plain([2, 0, 2])  # a <- b -> c
    none = plain([2, 0])
    corpus = corpus_of([one, three, none, three])
    a, b, c = (corpus.vocabulary.index[word] for word in "abc")
    batch = build_batch(corpus, np.array([0, 1, 2, 3]))
    assert batch.steps.tolist() == [0, 2, 4, 7]
    assert batch.chain_words.tolist() == [a, a, b, b, c, c, a]
    rows = batch.rows(2, EdgeType.RIGHT)
    assert batch.sentence[rows].tolist() == [0, 1, 3]
    assert batch.chain[rows].tolist() == [3, 1, 2]
    assert batch.n_chains == 3


# --- the edges -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [[], np.empty(0, np.int32), np.empty(0, np.int64)])
def test_empty(empty: Sequence[int]) -> None:
    trees = [plain([2, 0, 2])]
    batch = build_batch(corpus_of(trees), empty)  # type: ignore[arg-type]
    assert_same_batch(batch, twin_batch(trees, [], corpus_of(trees).vocabulary))
    assert (len(batch), batch.n_words, batch.n_levels, batch.n_chains) == (0, 0, 0, 0)
    assert batch.word.tolist() == [1]
    assert batch.successors.shape == (1, 3)


def test_one_word() -> None:
    trees = [plain([0])]
    batch = build_batch(corpus_of(trees), np.array([0]))
    assert_same_batch(batch, twin_batch(trees, [0], corpus_of(trees).vocabulary))
    assert (batch.n_words, batch.n_levels, batch.groups.tolist()) == (1, 1, [1, 1, 2, 2, 2])


def test_a_very_long_sentence_among_short_ones() -> None:
    random = np.random.default_rng(7)
    trees = [random_tree(random, 5), random_tree(random, 10_000, kinds=400), random_tree(random, 1)]
    corpus = corpus_of(trees)
    batch = build_batch(corpus, np.array([2, 1, 0]))
    assert_same_batch(batch, twin_batch(trees, [2, 1, 0], corpus.vocabulary))


@pytest.mark.parametrize("shape", list(shapes(8)))
def test_shapes(shape: str) -> None:
    trees = [shapes(n)[shape] for n in (5, 5_000, 1, 2)]
    corpus = corpus_of(trees)
    batch = build_batch(corpus, corpus.everything)
    assert_same_batch(batch, twin_batch(trees, range(4), corpus.vocabulary))
    if "chain" in shape:
        assert batch.n_levels == 5_000


def test_every_width_of_numbers() -> None:
    """Word ids of 8, 16 and 32 bits, heads of 8 and 16: the same batch."""
    random = np.random.default_rng(5)
    trees = [random_tree(random, n) for n in (9, 30, 2)]
    narrow = corpus_of(trees)
    expected = build_batch(narrow, narrow.everything)
    for bits in (np.uint16, np.uint32):
        wide = Corpus(
            narrow.vocabulary,
            narrow.words.astype(bits),
            narrow.heads.astype(np.uint16),
            narrow.labels,
            narrow.lengths.astype(np.uint16),
            narrow.depths,
            narrow.held_out,
        )
        assert_same_batch(build_batch(wide, wide.everything), expected)


def test_mapped_and_in_memory(tmp_path: Path) -> None:
    trees, corpus = ewt()
    save_store(corpus, tmp_path / "ewt")
    mapped = open_store(tmp_path / "ewt")
    chosen = np.random.default_rng(1).choice(len(trees), 300)
    assert_same_batch(build_batch(mapped, chosen), build_batch(corpus, chosen))


@pytest.mark.parametrize("sentence", [-1, 2, 1_000_000])
def test_a_sentence_that_is_not_there(sentence: int) -> None:
    """Compiled code reads any memory that it is sent to."""
    corpus = corpus_of([plain([0]), plain([2, 0])])
    with pytest.raises(IndexError):
        build_batch(corpus, np.array([0, sentence]))


@pytest.mark.shared
def test_the_novels(tmp_path: Path) -> None:
    """Sentences of the training data of MSR, from a store, against the twin."""
    file = SHARED / "data" / "msr" / "train-09.conllu.xz"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    trees = list(islice(ramify.formats.read(file), 20_000))
    save_store(encode_trees(trees, Encoding(min_count=5, lowercase=True)), tmp_path / "msr")
    corpus = open_store(tmp_path / "msr")
    assert len(corpus) == 20_000
    assert corpus.words.dtype == np.uint16
    random = np.random.default_rng(9)
    for size in (1, 64, 256):
        chosen = random.choice(len(trees), size, replace=False)
        batch = build_batch(corpus, chosen)
        assert_same_batch(batch, twin_batch(trees, chosen.tolist(), corpus.vocabulary))
        assert_promises(batch, corpus, trees)
