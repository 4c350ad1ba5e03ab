"""Batches of sequences against plain Python lists, made from the trees alone."""

import numpy as np
import pytest
from corpus_twins import corpus_of, plain, twin_word, wild_trees
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import SequenceBatch, Vocabulary, build_sequence_batch
from ramify.trees import Tree

COLUMNS = ("word", "before", "sentence", "position", "predecessor", "successor", "mirror")


def twin(trees: list[Tree], sentences: list[int], vocabulary: Vocabulary) -> dict[str, list[int]]:
    """Every column of the batch of trees[i] for i in sentences."""
    texts = [[twin_word(vocabulary, form) for form in trees[i].forms] for i in sentences]
    order = sorted(range(len(texts)), key=lambda b: -len(texts[b]))  # stable: equals as they were named
    longest = max(map(len, texts), default=-1)
    cells = [(at, b) for at in range(1, longest + 2) for b in order if at <= len(texts[b]) + 1]
    row_of = {cell: row for row, cell in enumerate(cells, 1)}
    found: dict[str, list[int]] = {
        "word": [1],
        "before": [1],
        "sentence": [-1],
        "position": [0],
        "predecessor": [0],
        "successor": [0],
        "mirror": [0],
        "groups": [1],
    }
    for at, b in cells:
        text = [1, *texts[b], 1]  # ROOT on both sides
        found["word"].append(text[at])
        found["before"].append(text[at - 1])
        found["sentence"].append(b)
        found["position"].append(at)
        found["predecessor"].append(row_of.get((at - 1, b), 0))
        found["successor"].append(row_of.get((at + 1, b), 0))
        found["mirror"].append(row_of[len(texts[b]) + 2 - at, b])
    for at in range(1, longest + 2):
        found["groups"].append(found["groups"][-1] + sum(place == at for place, _ in cells))
    return found


def assert_equal(batch: SequenceBatch, expected: dict[str, list[int]]) -> None:
    for name in (*COLUMNS, "groups"):
        assert getattr(batch, name).dtype == np.int32, name
        assert getattr(batch, name).tolist() == expected[name], name


@given(st.lists(wild_trees(8), min_size=1, max_size=5), st.data())
def test_equals_the_twin(trees: list[Tree], data: st.DataObject) -> None:
    corpus = corpus_of(trees)
    chosen = data.draw(st.permutations(range(len(trees))))[: data.draw(st.integers(0, len(trees)))]
    batch = build_sequence_batch(corpus, np.array(chosen, np.int32))
    assert_equal(batch, twin(trees, chosen, corpus.vocabulary))
    assert batch.sentences.tolist() == chosen
    assert len(batch) == len(chosen)
    assert batch.n_words == sum(len(trees[i]) for i in chosen)
    assert batch.is_end.tolist() == [place == len(trees[chosen[b]]) + 1 for b, place in _places(batch)]
    assert batch.mirror[batch.mirror].tolist() == list(range(len(batch.word)))


def _places(batch: SequenceBatch) -> list[tuple[int, int]]:
    return list(zip(batch.sentence[1:].tolist(), batch.position[1:].tolist(), strict=True))


def test_reads_as_it_is_written() -> None:
    corpus = corpus_of([plain([0, 1]), plain([0, 1, 2])])  # a b and a b c
    batch = build_sequence_batch(corpus, corpus.everything)
    words = [corpus.vocabulary.words[word] for word in batch.word[1:]]
    #                place 1   place 2   place 3        place 4
    assert words == ["a", "a", "b", "b", "c", "<root>", "<root>"]
    assert batch.sentence[1:].tolist() == [1, 0, 1, 0, 1, 0, 1]
    assert batch.groups.tolist() == [1, 3, 5, 7, 8]
    assert batch.mirror[1:].tolist() == [7, 6, 5, 4, 3, 2, 1]
    assert batch.is_end.tolist() == [False] * 5 + [True] * 2


def test_one_word() -> None:
    corpus = corpus_of([plain([0])])
    batch = build_sequence_batch(corpus, corpus.everything)
    assert batch.word.tolist() == [1, 2, 1]
    assert batch.before.tolist() == [1, 1, 2]
    assert batch.mirror.tolist() == [0, 2, 1]
    assert batch.n_words == 1


def test_no_sentences() -> None:
    corpus = corpus_of([plain([0, 1])])
    batch = build_sequence_batch(corpus, np.zeros(0, np.int32))
    assert [getattr(batch, name).tolist() for name in COLUMNS] == [[1], [1], [-1], [0], [0], [0], [0]]
    assert batch.groups.tolist() == [1]
    assert (len(batch), batch.n_words, batch.is_end.tolist()) == (0, 0, [])


def test_a_sentence_may_come_twice() -> None:
    corpus = corpus_of([plain([0, 1]), plain([0])])
    chosen = [1, 0, 1]
    assert_equal(
        build_sequence_batch(corpus, np.array(chosen)), twin([plain([0, 1]), plain([0])], chosen, corpus.vocabulary)
    )


@pytest.mark.parametrize("sentence", [-2, -1, 2, 99])
def test_sentences_that_are_not_there_are_refused(sentence: int) -> None:
    corpus = corpus_of([plain([0]), plain([0, 1, 2])])
    with pytest.raises(IndexError):
        build_sequence_batch(corpus, np.array([sentence], np.int32))
