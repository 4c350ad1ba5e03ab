"""One file, or some trees, as numbers of their own."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from corpus_twins import conllu, plain, wild_trees
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import Reading
from ramify.corpus.shard import FirstSeen, Shard, read_shard, shard_of
from ramify.errors import FormatError
from ramify.trees import NonProjective, Tree, is_projective, lift

CROSSING = Tree(("a", "b", "c", "d"), (3, 4, 0, 3), ("nmod", "det", "root", "obj"))


def counts_of(shard: Shard) -> dict[str, int]:
    return dict(zip(shard.word_list, shard.counts.tolist(), strict=True))


def trees_of(shard: Shard) -> list[Tree]:
    """The kept sentences, read back."""
    assert len(shard.words) == len(shard.heads) == len(shard.labels) == shard.lengths.sum()
    trees, start = [], 0
    for length in shard.lengths.tolist():
        here = slice(start, start + length)
        forms = tuple(shard.word_list[k] for k in shard.words[here])
        labels = tuple(shard.label_list[k] for k in shard.labels[here])
        trees.append(Tree(forms, tuple(shard.heads[here].tolist()), labels))
        start += length
    return trees


def test_first_seen() -> None:
    numbers = FirstSeen()
    assert [numbers[key] for key in "abacab"] == [0, 1, 0, 2, 0, 1]
    assert list(numbers) == ["a", "b", "c"]


@given(
    trees=st.lists(wild_trees(), max_size=6),
    lowercase=st.booleans(),
    max_length=st.none() | st.integers(1, 12),
    nonprojective=st.sampled_from(NonProjective),
)
def test_random_trees(trees: list[Tree], lowercase: bool, max_length: int | None, nonprojective: NonProjective) -> None:
    shard = shard_of(trees, Reading(lowercase=lowercase, max_length=max_length, nonprojective=nonprojective), "name")
    text = [form.lower() if lowercase else form for tree in trees for form in tree.forms]
    assert counts_of(shard) == Counter(text)
    assert shard.word_list == list(Counter(text))  # in the order of the text, dropped sentences included
    short = [tree for tree in trees if max_length is None or len(tree) <= max_length]
    crossing = [tree for tree in short if not is_projective(tree)]
    expected = short
    if nonprojective is NonProjective.SKIP:
        expected = [tree for tree in short if is_projective(tree)]
    elif nonprojective is NonProjective.LIFT:
        expected = [lift(tree) for tree in short]
    lowered = [
        Tree(tuple(form.lower() for form in tree.forms) if lowercase else tree.forms, tree.heads, tree.deprels)
        for tree in expected
    ]
    assert trees_of(shard) == lowered
    assert shard.label_list == list(Counter(label for tree in expected for label in tree.deprels))
    assert (shard.name, shard.sentences_read, shard.errors) == ("name", len(trees), [])
    assert shard.too_long == len(trees) - len(short)
    assert shard.nonprojective == (0 if nonprojective is NonProjective.KEEP else len(crossing))
    assert shard.multi_root == sum(len(tree.roots) > 1 for tree in trees)
    assert {array.dtype for array in (shard.words, shard.heads, shard.labels, shard.lengths)} == {np.dtype(np.int32)}


def test_a_sentence_of_just_the_greatest_length_stays() -> None:
    shard = shard_of([plain([0, 1, 2]), plain([0, 1, 2, 3])], Reading(max_length=3))
    assert (shard.lengths.tolist(), shard.too_long, shard.sentences_read) == ([3], 1, 2)
    assert counts_of(shard) == {"a": 2, "b": 2, "c": 2, "d": 1}


def test_what_is_too_long_is_not_counted_as_nonprojective_too() -> None:
    shard = shard_of([CROSSING], Reading(max_length=3, nonprojective=NonProjective.SKIP))
    assert (shard.too_long, shard.nonprojective, len(shard.lengths)) == (1, 0, 0)


def test_no_trees() -> None:
    shard = shard_of([], Reading())
    assert [len(part) for part in (shard.words, shard.lengths, shard.counts, shard.word_list)] == [0, 0, 0, 0]
    assert shard.sentences_read == 0


def test_a_file(tmp_path: Path) -> None:
    trees = [plain([2, 0, 2]), CROSSING, plain([0])]
    file = tmp_path / "three.conllu"
    file.write_text(conllu(trees))
    heard: list[int] = []
    shard = read_shard(file, Reading(), heard.append)
    assert trees_of(shard) == trees
    assert shard.name == str(file)
    assert sum(heard) == file.stat().st_size


BAD = "# sent_id = bad\n1\tb\t_\t_\t_\t_\t7\troot\t_\t_\n\n"
BROKEN = conllu([plain([0])]) + BAD + conllu([plain([0, 1])])


def test_a_malformed_sentence_stops_the_reading(tmp_path: Path) -> None:
    file = tmp_path / "bad.conllu"
    file.write_text(BROKEN)
    with pytest.raises(FormatError, match=r"bad\.conllu:\d+ \(sent_id bad\)"):
        read_shard(file, Reading())


def test_a_malformed_sentence_can_be_skipped_and_is_remembered(tmp_path: Path) -> None:
    file = tmp_path / "bad.conllu"
    file.write_text(BROKEN)
    shard = read_shard(file, Reading(skip_errors=True))
    assert shard.lengths.tolist() == [1, 2]
    assert shard.sentences_read == 2
    assert [error.sent_id for error in shard.errors] == ["bad"]
    assert counts_of(shard) == {"a": 2, "b": 1}


def test_format_and_encoding_are_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "odd.txt"
    file.write_bytes("1\tÄhre\t_\t_\t_\t_\t0\troot\t_\t_\n\n".encode("cp1252"))
    with pytest.raises(FormatError):
        read_shard(file, Reading())
    assert read_shard(file, Reading(encoding="cp1252")).word_list == ["Ähre"]
