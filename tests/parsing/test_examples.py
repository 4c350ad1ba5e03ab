"""Sentences as numbers: the lexicon, batches, and what comes next on each side of a head."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from small_runs import some_trees
from strategies import random_trees

from ramify.errors import ModelError
from ramify.parsing.examples import NOTHING, build, cut, examples_of, shuffled
from ramify.parsing.lexicon import LONGEST, PAD, ROOT, SPECIAL, UNK, Lexicon
from ramify.trees import Tree, dependents

TREE = Tree(["The", "the", "Cat"], [3, 1, 0], ["det", "det", "root"], ["DET", "DET", "NOUN"])


def test_what_a_lexicon_knows(tmp_path: Path) -> None:
    lexicon = Lexicon.of([TREE], 1, ["the", "Cat", "<unk>"])
    assert lexicon.words == (*SPECIAL, "the")
    assert lexicon.characters == (*SPECIAL, "C", "T", "a", "e", "h", "t")
    assert (lexicon.tags, lexicon.labels) == (("DET", "NOUN"), ("det", "root"))
    assert (lexicon.word("THE"), lexicon.word("cat")) == (3, UNK)
    assert [lexicon.vector(form) for form in ("The", "Cat", "cat")] == [2, 3, UNK]
    assert lexicon.spelling("Tax") == [ROOT, 4, 5, UNK, ROOT]
    assert len(lexicon.spelling("a" * 99)) == LONGEST + 2
    lexicon.save(tmp_path / "vocabulary.json")
    assert Lexicon.load(tmp_path / "vocabulary.json") == lexicon


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"words": 3}', "\xff"])
def test_a_damaged_lexicon(text: str, tmp_path: Path) -> None:
    (tmp_path / "vocabulary.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelError, match=r"vocabulary\.json is no vocabulary of a parser"):
        Lexicon.load(tmp_path / "vocabulary.json")


def test_a_batch() -> None:
    trees = [TREE, Tree(["dog"], [0], ["x"], ["NOUN"])]
    batch = build(examples_of(trees, Lexicon.of([TREE], 0)), np.array([0, 1]))
    assert batch.n_words == 4
    assert batch.lengths.tolist() == [4, 2]
    assert batch.words.tolist() == [[ROOT, 3, 3, 4], [ROOT, UNK, PAD, PAD]]
    assert batch.heads.tolist() == [[NOTHING, 3, 1, 0], [NOTHING, 0, NOTHING, NOTHING]]
    assert batch.labels.tolist() == [[NOTHING, 0, 0, 1], [NOTHING, NOTHING, NOTHING, NOTHING]]
    spelled = batch.spellings[batch.forms]
    assert spelled[0, 0].tolist() == [ROOT, PAD, PAD, PAD, PAD]
    assert spelled[1, 1].tolist() == [ROOT, UNK, UNK, UNK, ROOT]


@given(random_trees())
def test_events_are_all_dependents_and_all_ends(tree: Tree) -> None:
    lexicon = Lexicon.of([tree], 0)
    (events,) = build(examples_of([tree], lexicon), np.array([0])).events.tolist()
    wanted = [
        [head, before, side, word]
        for head, both in enumerate(dependents(tree))
        for side in (0, 1)
        if head or side
        for before, word in itertools.pairwise([head, *both[side], head])
    ]
    assert [event for event in events if event[3] != NOTHING] == wanted


def test_every_sentence_once_in_an_epoch() -> None:
    trees = some_trees(40)
    examples = examples_of(trees, Lexicon.of(trees, 0))
    everything = np.arange(40)
    first = shuffled(examples, everything, 60, 1, 0)
    assert sorted(np.concatenate(first).tolist()) == everything.tolist()
    for batch in first:
        lengths = examples.lengths[batch]
        assert (np.diff(lengths) <= 0).all()
        assert len(batch) == 1 or (lengths[0] + 1) * len(batch) <= 60
    assert [batch.tolist() for batch in shuffled(examples, everything, 60, 1, 0)] == [each.tolist() for each in first]
    assert [batch.tolist() for batch in shuffled(examples, everything, 60, 1, 1)] != [each.tolist() for each in first]
    for batch in cut(examples, everything, 500, power=2):
        assert len(batch) == 1 or (examples.lengths[batch].max() + 1) ** 2 * len(batch) <= 500
