"""The vocabulary: which words it keeps, how it counts, and how it comes back from a file."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from corpus_twins import wild_trees
from hypothesis import given
from hypothesis import strategies as st

from ramify.corpus import Encoding, Vocabulary, encode_trees
from ramify.corpus.vocabulary import ROOT, ROOT_WORD, UNK, UNK_WORD
from ramify.errors import CallError, StoreError
from ramify.trees import NonProjective, Tree


def flat(*forms: str) -> Tree:
    """A sentence whose tree does not matter."""
    return Tree(forms, tuple(range(len(forms))), ("dep",) * len(forms))


def counted(vocabulary: Vocabulary) -> dict[str, int]:
    return dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))


# --- from counts -----------------------------------------------------------------------------------------------------


def test_strictly_more_than_the_minimum() -> None:
    counts = {"once": 1, "twice": 2, "thrice": 3}
    kept = {n: Vocabulary.from_counts(counts, 4, min_count=n).words[2:] for n in range(4)}
    assert kept == {0: ("thrice", "twice", "once"), 1: ("thrice", "twice"), 2: ("thrice",), 3: ()}


@pytest.mark.parametrize(("cap", "kept"), [(2, ""), (3, "b"), (4, "ba"), (5, "bad"), (6, "badc"), (99, "badc")])
def test_cap_counts_unk_and_root_and_drops_the_rarest_then_the_latest(cap: int, kept: str) -> None:
    vocabulary = Vocabulary.from_counts({"a": 3, "b": 5, "d": 1, "c": 1}, 2, max_size=cap)
    assert vocabulary.words == (UNK_WORD, ROOT_WORD, *kept)
    assert len(vocabulary) == 2 + len(kept)
    assert vocabulary.counts.sum() == 10 + 2  # every word of the text, and ROOT


@pytest.mark.parametrize("cap", [1, 0, -3])
def test_cap_too_small(cap: int) -> None:
    with pytest.raises(CallError, match="UNK and ROOT"):
        Vocabulary.from_counts({"a": 3}, 2, max_size=cap)


@given(
    trees=st.lists(wild_trees(), min_size=1, max_size=8),
    min_count=st.integers(0, 4),
    cap=st.none() | st.integers(2, 8),
    lowercase=st.booleans(),
)
def test_against_a_counter(trees: list[Tree], min_count: int, cap: int | None, lowercase: bool) -> None:
    encoding = Encoding(min_count=min_count, max_vocabulary=cap, lowercase=lowercase)
    vocabulary = encode_trees(trees, encoding).vocabulary
    text = [form.lower() if lowercase else form for tree in trees for form in tree.forms]
    counts = Counter(text)  # remembers who came first
    kept = [w for w, n in counts.most_common() if n > min_count and w not in (UNK_WORD, ROOT_WORD)]
    kept = kept if cap is None else kept[: cap - 2]
    assert vocabulary.words == (UNK_WORD, ROOT_WORD, *kept)
    expected = {UNK_WORD: len(text) - sum(counts[w] for w in kept), ROOT_WORD: len(trees)}
    assert counted(vocabulary) == expected | {w: counts[w] for w in kept}
    assert vocabulary.counts.dtype == np.int64
    assert (vocabulary.lowercase, vocabulary.min_count) == (lowercase, min_count)


def test_labels_by_first_occurrence() -> None:
    vocabulary = Vocabulary.from_counts({}, 1, labels=["nsubj", "<unk>", "det"])
    assert vocabulary.labels == (UNK_WORD, "nsubj", "det")
    assert dict(vocabulary.label_index) == {UNK_WORD: 0, "nsubj": 1, "det": 2}


# --- words and ids ---------------------------------------------------------------------------------------------------


def test_ids() -> None:
    vocabulary = Vocabulary.from_counts({"owl": 2, "Owl": 1}, 1)
    assert (UNK, ROOT) == (0, 1)
    assert vocabulary.ids(["owl", "Owl", "OWL", "never", ""]) == [2, 3, 0, 0, 0]


def test_ids_in_lower_case_beyond_ascii() -> None:
    vocabulary = Vocabulary.from_counts({"äpfel": 2, "дом": 1, "straße": 1}, 1, lowercase=True)
    assert vocabulary.ids(["ÄPFEL", "Äpfel", "äpfel", "ДОМ", "Straße"]) == [2, 2, 2, 3, 4]


def test_lower_case_joins_counts() -> None:
    trees = [flat("Ärger", "ÄRGER", "ärger"), flat("Σας", "ΣΑΣ")]
    vocabulary = encode_trees(trees, Encoding(min_count=1, lowercase=True)).vocabulary
    assert counted(vocabulary) == {UNK_WORD: 0, ROOT_WORD: 2, "ärger": 3, "σας": 2}


@pytest.mark.parametrize("lowercase", [False, True])
def test_special_words_in_a_text_are_unknown_words(lowercase: bool) -> None:
    forms = ("<unk>", "<root>", "<UNK>", "<Root>", "owl") * 3
    corpus = encode_trees([flat(*forms)], Encoding(min_count=1, lowercase=lowercase))
    counts = counted(corpus.vocabulary)
    assert ROOT not in corpus.words
    if lowercase:
        assert counts == {UNK_WORD: 12, ROOT_WORD: 1, "owl": 3}
        assert corpus.words.tolist() == [0, 0, 0, 0, 2] * 3
    else:
        assert counts == {UNK_WORD: 6, ROOT_WORD: 1, "<UNK>": 3, "<Root>": 3, "owl": 3}
        assert corpus.words.tolist() == [0, 0, 2, 3, 4] * 3
    assert corpus.vocabulary.ids(["<root>", "<unk>"]) == [UNK, UNK]


def test_root_counts_sentences_that_were_dropped_later() -> None:
    crossing = Tree(("a", "b", "c", "d"), (3, 4, 0, 3))
    trees = [flat("a"), flat("a", "b", "c", "d", "e"), crossing]
    corpus = encode_trees(trees, Encoding(max_length=4, nonprojective=NonProjective.SKIP, min_count=1))
    assert len(corpus) == 1
    assert counted(corpus.vocabulary) == {UNK_WORD: 1, ROOT_WORD: 3, "a": 3, "b": 2, "c": 2, "d": 2}


# --- a vocabulary cannot exist broken --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "counts", "labels"),
    [
        (("a", "b"), (1, 1), (UNK_WORD,)),
        ((ROOT_WORD, UNK_WORD), (1, 1), (UNK_WORD,)),
        ((UNK_WORD, ROOT_WORD, "a"), (1, 1), (UNK_WORD,)),
        ((UNK_WORD, ROOT_WORD, "a", "a"), (1, 1, 1, 1), (UNK_WORD,)),
        ((UNK_WORD, ROOT_WORD, UNK_WORD), (1, 1, 1), (UNK_WORD,)),
        ((UNK_WORD, ROOT_WORD), (1, 1), ()),
        ((UNK_WORD, ROOT_WORD), (1, 1), ("nsubj", UNK_WORD)),
    ],
)
def test_broken(words: tuple[str, ...], counts: tuple[int, ...], labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="vocabulary"):
        Vocabulary(words, np.array(counts, np.int64), labels)


# --- given -----------------------------------------------------------------------------------------------------------


def test_a_given_vocabulary_is_kept_and_decides_the_case() -> None:
    given_one = Vocabulary.from_counts({"owl": 9, "sees": 8}, 7, labels=["nsubj"], lowercase=True, min_count=5)
    tree = Tree(("Owl", "sees", "mice", "MICE"), (2, 0, 2, 2), ("nsubj", "root", "obj", "nsubj"))
    corpus = encode_trees([tree], Encoding(vocabulary=given_one, min_count=0, lowercase=False))
    assert corpus.vocabulary is given_one
    assert counted(corpus.vocabulary) == {UNK_WORD: 0, ROOT_WORD: 7, "owl": 9, "sees": 8}
    assert corpus.words.tolist() == [2, 3, 0, 0]
    assert corpus.labels.tolist() == [1, 0, 0, 1]
    assert corpus.about["options"]["given_vocabulary"] is True
    assert corpus.about["options"]["lowercase"] is True


def test_a_given_vocabulary_that_keeps_case_overrules_lower_casing() -> None:
    given_one = Vocabulary.from_counts({"Owl": 9, "owl": 8}, 7)
    corpus = encode_trees([flat("Owl", "owl")], Encoding(vocabulary=given_one, lowercase=True))
    assert corpus.words.tolist() == [2, 3]


# --- files -----------------------------------------------------------------------------------------------------------

ODD = ["null", '"', "\\", "tab\t", "line\n", "cr\r", "ä", "\U0001f989", "\u2028", "\u00a0", "{", "1", "\x01"]


@given(counts=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 2**62), max_size=8))
def test_any_words_come_back(tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int]) -> None:
    counts = {word: n % 2**40 for word, n in counts.items()}
    vocabulary = Vocabulary.from_counts(counts, 3, labels=list(counts), lowercase=True, min_count=1)
    file = tmp_path_factory.mktemp("vocabulary") / "v.json"
    vocabulary.save(file)
    assert_same(Vocabulary.load(file), vocabulary)


def test_odd_words_come_back_from_a_line_each(tmp_path: Path) -> None:
    vocabulary = Vocabulary.from_counts(dict.fromkeys(ODD, 3), 5, labels=["nsubj:pass", "ü"], lowercase=False)
    file = tmp_path / "vocabulary.json"
    vocabulary.save(file)
    assert_same(Vocabulary.load(file), vocabulary)
    lines = file.read_bytes().decode().split("\n")
    for word, count in counted(vocabulary).items():
        assert sum(line.startswith("[") and json.loads(line.rstrip(",")) == [word, count] for line in lines) == 1
    assert any("ä" in line for line in lines)  # to be read and searched as text
    json.loads(file.read_text(encoding="utf-8"))
    assert [path.name for path in tmp_path.iterdir()] == ["vocabulary.json"]


def assert_same(found: Vocabulary, expected: Vocabulary) -> None:
    assert found == expected
    assert (found.words, found.labels) == (expected.words, expected.labels)
    assert (found.lowercase, found.min_count) == (expected.lowercase, expected.min_count)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.counts.dtype == np.int64
    assert (found.index, found.label_index) == (expected.index, expected.label_index)


@pytest.mark.parametrize(
    "change",
    [
        {"counts": {"a": 2, "b": 1}},
        {"counts": {"b": 1, "c": 1}},
        {"sentences": 8},
        {"lowercase": True},
        {"min_count": 1, "counts": {"a": 2}},
        {"labels": ["det"]},
    ],
)
def test_unequal(change: dict[str, object]) -> None:
    base: dict[str, object] = {"counts": {"a": 1, "b": 1}, "sentences": 7, "labels": ["nsubj"]}
    one, other = (Vocabulary.from_counts(**parts) for parts in (base, base | change))  # type: ignore[arg-type]
    assert one != other
    assert one == Vocabulary.from_counts(**base)  # type: ignore[arg-type]
    assert one != "a vocabulary"


GOOD = {"lowercase": False, "min_count": 0, "labels": ["<unk>"], "words": [["<unk>", 0], ["<root>", 1], ["a", 2]]}


def test_the_good_one_is_good(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_text(json.dumps(GOOD))
    assert Vocabulary.load(file) == Vocabulary.from_counts({"a": 2}, 1)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "the\nof\nand\n",
        '{"words": [',
        "[]",
        "{}",
        "null",
        "3",
        json.dumps({key: value for key, value in GOOD.items() if key != "labels"}),
        json.dumps({key: value for key, value in GOOD.items() if key != "min_count"}),
        json.dumps(GOOD | {"words": []}),
        json.dumps(GOOD | {"words": ["<unk>", "<root>"]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", 1], ["a"]]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", "many"]]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", None]]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", 10**30]]}),
        json.dumps(GOOD | {"words": [["a", 0], ["b", 1]]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", 1], ["a", 2], ["a", 3]]}),
        json.dumps(GOOD | {"words": [["<unk>", 0], ["<root>", 1], [["a"], 2]]}),
        json.dumps(GOOD | {"labels": []}),
        json.dumps(GOOD | {"labels": 3}),
    ],
)
def test_a_foreign_or_broken_file_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_text(content)
    with pytest.raises(StoreError, match=r"vocabulary\.json is no vocabulary"):
        Vocabulary.load(file)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "vocabulary.json"
    file.write_bytes(b"\x93NUMPY\xff\xfe")
    with pytest.raises(StoreError, match="is no vocabulary"):
        Vocabulary.load(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="no such vocabulary"):
        Vocabulary.load(tmp_path / "vocabulary.json")


def test_a_failing_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "vocabulary.json"
    old = Vocabulary.from_counts({"a": 1}, 1)
    old.save(file)
    monkeypatch.setattr(Vocabulary, "to_json", lambda self: {"labels": [], "words": [object()]})
    with pytest.raises(TypeError):
        Vocabulary.from_counts({"b": 1}, 1).save(file)
    monkeypatch.undo()
    assert Vocabulary.load(file) == old
    assert list(tmp_path.iterdir()) == [file]
