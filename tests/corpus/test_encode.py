"""Trees and files to a corpus: by hand, in several processes, and what is refused."""

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from corpus_twins import assert_same_corpus, conllu, corpus_of, plain, random_tree, twin_word, wild_trees
from hypothesis import given
from hypothesis import strategies as st

import ramify.formats
from ramify.corpus import Corpus, Encoding, Vocabulary, encode, encode_trees
from ramify.errors import CallError, FormatError
from ramify.formats.files import total_bytes
from ramify.trees import NonProjective, Tree, levels, lift

OWL = Tree(("The", "owl", "sees", "the", "mouse"), (2, 3, 0, 5, 3), ("det", "nsubj", "root", "det", "obj"))
MICE = Tree(("Mice", "see", "owl"), (2, 0, 2), ("nsubj", "root", "obj"))
CROSSING = Tree(("a", "b", "c", "d"), (3, 4, 0, 3), ("nmod", "det", "root", "obj"))


def up_to_unk(tree: Tree, vocabulary: Vocabulary) -> Tree:
    forms = tuple(vocabulary.words[twin_word(vocabulary, form)] for form in tree.forms)
    labels = tuple(label if label in vocabulary.labels else "<unk>" for label in tree.deprels)
    return Tree(forms, tree.heads, labels)


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    corpus = encode_trees([OWL, MICE], Encoding(min_count=1, lowercase=True))
    assert corpus.vocabulary.words == ("<unk>", "<root>", "the", "owl")
    assert corpus.vocabulary.counts.tolist() == [4, 2, 2, 2]
    assert corpus.vocabulary.labels == ("<unk>", "det", "nsubj", "root", "obj")
    assert corpus.words.tolist() == [2, 3, 0, 2, 0, 0, 0, 3]
    assert corpus.heads.tolist() == [2, 3, 0, 5, 3, 2, 0, 2]
    assert corpus.labels.tolist() == [1, 2, 3, 1, 4, 2, 3, 4]
    assert corpus.lengths.tolist() == [5, 3]
    assert corpus.offsets.tolist() == [0, 5, 8]
    assert corpus.depths.tolist() == [3, 2]
    assert corpus.held_out.tolist() == []
    assert (len(corpus), corpus.n_words) == (2, 8)
    assert corpus.everything.tolist() == corpus.training.tolist() == [0, 1]
    assert corpus.tree(0) == Tree(("the", "owl", "<unk>", "the", "<unk>"), OWL.heads, OWL.deprels)
    assert corpus.about["left_out"] == {"too_long": 0, "malformed": 0, "nonprojective": 0}
    assert (corpus.about["lifted"], corpus.about["multi_root"], corpus.about["types"]) == (0, 0, 6)
    assert corpus.about["sources"] == [{"name": "", "sentences": 2, "words": 8}]


def test_the_default_is_the_minimum_of_one_and_the_case_kept() -> None:
    corpus = encode_trees([OWL, MICE])
    assert corpus.vocabulary.words == ("<unk>", "<root>", "owl")
    assert corpus.vocabulary.counts.tolist() == [6, 2, 2]


@given(trees=st.lists(wild_trees(), min_size=1, max_size=6), min_count=st.integers(0, 2), lowercase=st.booleans())
def test_trees_come_back_up_to_unk(trees: list[Tree], min_count: int, lowercase: bool) -> None:
    corpus = corpus_of(trees, min_count=min_count, lowercase=lowercase)
    expected = [up_to_unk(tree, corpus.vocabulary) for tree in trees]
    assert list(corpus.trees()) == expected
    assert list(corpus.trees([len(trees) - 1, 0])) == [expected[-1], expected[0]]
    assert corpus.depths.tolist() == [max(levels(tree)) for tree in trees]
    assert corpus.about["frequent"] == len(corpus.vocabulary)  # there is no cap


def test_frequent_words_are_counted_before_the_cap() -> None:
    corpus = corpus_of([OWL, MICE], max_vocabulary=4)
    assert (len(corpus.vocabulary), corpus.about["frequent"], corpus.about["types"]) == (4, 9, 7)


def test_arrays_cannot_be_changed() -> None:
    corpus = encode_trees([OWL])
    for name in ("words", "heads", "labels", "lengths", "depths", "held_out", "offsets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(corpus, name)[...] = 0


# --- what is dropped -------------------------------------------------------------------------------------------------


def test_too_long_is_dropped_and_counted_and_its_words_count() -> None:
    corpus = encode_trees([OWL, MICE, plain([0])], Encoding(min_count=0, max_length=3))
    assert corpus.lengths.tolist() == [3, 1]
    assert corpus.about["left_out"] == {"too_long": 1, "malformed": 0, "nonprojective": 0}
    assert corpus.about["sources"] == [{"name": "", "sentences": 2, "words": 4}]
    words = dict(zip(corpus.vocabulary.words, corpus.vocabulary.counts.tolist(), strict=True))
    assert words == {"<unk>": 0, "<root>": 3, "The": 1, "owl": 2, "sees": 1, "the": 1, "mouse": 1} | dict.fromkeys(
        ["Mice", "see", "a"], 1
    )
    assert corpus.about["options"]["max_length"] == 3


@pytest.mark.parametrize("rule", list(NonProjective))
def test_nonprojective(rule: NonProjective) -> None:
    corpus = encode_trees([OWL, CROSSING], Encoding(min_count=0, nonprojective=rule))
    expected = {
        NonProjective.KEEP: ([OWL, CROSSING], 0, 0),
        NonProjective.LIFT: ([OWL, lift(CROSSING)], 0, 1),
        NonProjective.SKIP: ([OWL], 1, 0),
    }[rule]
    assert (list(corpus.trees()), corpus.about["left_out"]["nonprojective"], corpus.about["lifted"]) == expected
    assert lift(CROSSING) != CROSSING
    assert corpus.vocabulary.counts.sum() == 9 + 2
    assert corpus.about["options"]["nonprojective"] == rule.value


def test_several_roots_are_kept_and_counted() -> None:
    corpus = encode_trees([plain([0, 0, 2]), plain([0])])
    assert corpus.about["multi_root"] == 1
    assert corpus.heads.tolist() == [0, 0, 2, 0]


# --- held out --------------------------------------------------------------------------------------------------------


def test_hold_out() -> None:
    trees = [plain([0] * (1 + i % 3)) for i in range(50)]
    corpus = corpus_of(trees, hold_out=20, seed=4)
    assert len(set(corpus.held_out.tolist())) == 20
    assert corpus.held_out.tolist() == sorted(corpus.held_out.tolist())
    assert sorted([*corpus.held_out.tolist(), *corpus.training.tolist()]) == list(range(50))
    assert corpus.held_out.tolist() == corpus_of(trees, hold_out=20, seed=4).held_out.tolist()
    assert corpus.held_out.tolist() != corpus_of(trees, hold_out=20, seed=5).held_out.tolist()
    assert corpus.held_out.max() >= 30  # drawn from all over the corpus
    assert corpus.held_out.min() < 20
    assert len(corpus) == 50
    assert corpus.vocabulary == corpus_of(trees).vocabulary  # held-out sentences count as the others do
    assert (corpus.about["options"]["hold_out"], corpus.about["options"]["seed"]) == (20, 4)


@pytest.mark.parametrize("number", [2, 3, -1])
def test_hold_out_too_many(number: int) -> None:
    with pytest.raises(CallError, match=f"hold out {number} of 2"):
        encode_trees([OWL, MICE], Encoding(hold_out=number))
    assert corpus_of([OWL, MICE], hold_out=1).training.size == 1


def test_a_seed_that_is_none() -> None:
    with pytest.raises(CallError, match="seed"):
        encode_trees([OWL, MICE], Encoding(hold_out=1, seed=-1))


# --- nothing left ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        lambda: encode_trees([]),
        lambda: encode([]),
        lambda: encode_trees([OWL], Encoding(max_length=4)),
        lambda: encode_trees([CROSSING], Encoding(nonprojective=NonProjective.SKIP)),
    ],
)
def test_nothing_left(build: Callable[[], Corpus]) -> None:
    with pytest.raises(CallError, match="no sentence to encode"):
        build()


def test_nothing_left_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "bad.conllu"
    file.write_text("1\tb\t_\t_\t_\t_\t7\troot\t_\t_\n\n")
    with pytest.raises(CallError, match="no sentence to encode"):
        encode([file], Encoding(skip_errors=True))


# --- smallest types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "dtype"), [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32)]
)
def test_word_ids_take_the_smallest_type(size: int, dtype: type) -> None:
    kinds = [f"w{k}" for k in range(size - 2)]
    trees = [Tree(tuple(kinds[at : at + 100]), (0,) * len(kinds[at : at + 100])) for at in range(0, len(kinds), 100)]
    corpus = corpus_of(trees)
    assert len(corpus.vocabulary) == size
    assert corpus.words.dtype == dtype
    assert corpus.words.tolist() == list(range(2, size))


@pytest.mark.parametrize(("length", "dtype"), [(255, np.uint8), (256, np.uint16), (65_536, np.uint32)])
def test_heads_and_lengths_take_the_smallest_type(length: int, dtype: type) -> None:
    corpus = corpus_of([plain([2, 0]), plain([length] * (length - 1) + [0])])
    assert (corpus.heads.dtype, corpus.lengths.dtype) == (dtype, dtype)
    assert corpus.lengths.tolist() == [2, length]
    assert corpus.heads.max() == length
    assert (corpus.depths.dtype, corpus.depths.tolist()) == (dtype, [2, length])


def test_labels_take_the_smallest_type() -> None:
    for kinds, dtype in ((255, np.uint8), (256, np.uint16)):  # and the unknown one
        corpus = corpus_of([Tree(("w",) * kinds, (0,) * kinds, tuple(f"r{k}" for k in range(kinds)))])
        assert corpus.labels.dtype == dtype
        assert corpus.labels.tolist() == list(range(1, kinds + 1))


# --- files and processes ---------------------------------------------------------------------------------------------


def test_a_treebank_by_name() -> None:
    encoding = Encoding(min_count=1, lowercase=True)
    trees = list(ramify.formats.read("ewt:test"))
    corpus = encode(["ewt:test"], encoding)
    assert_same_corpus(corpus, encode_trees(trees, encoding), but=["sources"])
    assert corpus.about["sources"] == [{"name": "ewt:test", "sentences": 2077, "words": sum(map(len, trees))}]
    assert list(corpus.trees([0, 2076])) == [up_to_unk(tree, corpus.vocabulary) for tree in (trees[0], trees[2076])]


def three_files(folder: Path) -> tuple[list[Path], list[list[Tree]]]:
    """The largest last and the smallest in the middle; words and labels in another order in each."""
    random = np.random.default_rng(11)
    parts = [[random_tree(random, int(n), kinds=40) for n in random.integers(1, 20, size)] for size in (30, 3, 90)]
    files = []
    for number, trees in enumerate(parts):
        files.append(folder / f"part-{number}.conllu")
        files[-1].write_text(conllu(trees))
    return files, parts


def test_processes_make_no_difference(tmp_path: Path) -> None:
    files, parts = three_files(tmp_path)
    encoding = Encoding(max_length=15, nonprojective=NonProjective.SKIP, min_count=2, hold_out=3)
    heard: list[int] = []
    alone = encode(files, encoding, progress=heard.append)
    size = sum(file.stat().st_size for file in files)
    assert sum(heard) == size == total_bytes(files)
    heard.clear()
    together = encode(files, encoding, processes=2, progress=heard.append)
    assert sum(heard) == size
    assert min(heard) >= 0
    assert_same_corpus(together, alone)
    assert_same_corpus(alone, encode_trees([tree for part in parts for tree in part], encoding), but=["sources"])
    assert [source["name"] for source in together.about["sources"]] == [str(file) for file in files]
    assert together.words.flags.owndata  # nothing of the workers' files is kept


def test_labels_and_ties_follow_the_order_of_the_files(tmp_path: Path) -> None:
    files = []
    for number, word in enumerate("zya"):
        tree = Tree((word, word, "m"), (0, 1, 1), (f"r{word}", f"r{word}", "shared"))
        files.append(tmp_path / f"{number}.conllu")
        files[-1].write_text(conllu([tree] * (3 - number) if number else [tree]))
    corpus = encode(files, Encoding(min_count=0))
    assert corpus.vocabulary.labels == ("<unk>", "rz", "shared", "ry", "ra")
    assert corpus.vocabulary.words[2:] == ("m", "y", "z", "a")  # m 4, y 4, then z 2 and a 2


def test_malformed_in_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, _ = three_files(tmp_path)
    files[1].write_text(conllu([plain([0])]) + "# sent_id = odd\n1\tb\t_\t_\t_\t_\t7\troot\t_\t_\n\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(FormatError) as alone:
        encode(files)
    with pytest.raises(FormatError) as together:
        encode(files, processes=2)
    assert str(together.value) == str(alone.value)
    assert str(files[1]) in together.value.address
    assert (together.value.sent_id, together.value.line) == ("odd", alone.value.line)
    assert_all_gone(scratch)

    heard: list[int] = []
    skipping = Encoding(skip_errors=True)
    corpus = encode(files, skipping, processes=2, progress=heard.append)
    assert corpus.about["left_out"]["malformed"] == 1
    (named,) = corpus.about["errors"]
    assert named == str(alone.value)
    assert corpus.about["sources"][1]["sentences"] == 1
    assert_same_corpus(corpus, encode(files, skipping))
    assert sum(heard) == total_bytes(files)
    assert_all_gone(scratch)


def test_interrupted_with_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, _ = three_files(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def interrupt(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(files, processes=2, progress=interrupt)
    assert_all_gone(scratch)


def assert_all_gone(scratch: Path) -> None:
    assert list(scratch.iterdir()) == []
    until = time.monotonic() + 5
    while multiprocessing.active_children() and time.monotonic() < until:
        time.sleep(0.05)
    assert multiprocessing.active_children() == []
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_a_file_that_is_not_there(tmp_path: Path, processes: int) -> None:
    files, _ = three_files(tmp_path)
    with pytest.raises(CallError, match="no such file: nowhere"):
        encode([files[0], "nowhere.conllu"], processes=processes)


def test_total_bytes() -> None:
    assert total_bytes(["-"]) is None
    assert total_bytes(["ewt:dev", "-"]) is None
    assert total_bytes([]) == 0


def test_corpora_are_compared_by_identity():
    one, other = (encode_trees([Tree(["a"], [0])]) for _ in range(2))
    assert one == one
    assert one != other
    assert len({one, other}) == 2
