import pytest
from conllu_samples import place
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_trees

from ramify.errors import FormatError
from ramify.formats import Sentence, read_sentences, write
from ramify.formats.stanford import parse_line, read_stanford, render_stanford
from ramify.trees import Tree

LINE = "0\tnsubj(sleeps-2, She-1) root(ROOT-0, sleeps-2)\n"


def test_a_line_of_tuples():
    sentence = parse_line(LINE, 3, "dev.dep")
    assert sentence.tree == Tree(["She", "sleeps"], [2, 0], ["nsubj", "root"])
    assert sentence.tree.address == "dev.dep:3"
    assert sentence.comment("label") == "0"
    assert render_stanford(sentence) == LINE


@pytest.mark.parametrize(
    "tuples",
    [
        "root(ROOT-0, sleeps-2) nsubj(sleeps-2, She-1)",  # in any order
        "nsubj(sleeps-2, She-1)   root(ROOT-0, sleeps-2) ",
        "nsubj(sleeps-2, She-1) root(root-0, sleeps-2)\r",
    ],
)
def test_liberties(tuples):
    assert parse_line(f"0\t{tuples}\n", 1, "").tree == parse_line(LINE, 1, "").tree


@pytest.mark.parametrize("label", ["", "0", "s1", "my label"])
def test_labels(label):
    sentence = parse_line(f"{label}\troot(ROOT-0, Go-1)\n", 1, "")
    assert sentence.comment("label") == (label or None)
    assert render_stanford(sentence).startswith(f"{label or 0}\t")


AWKWARD = ["a-5,", "-LRB-", "-", ",", "x-1,", "-1", "1", "f(x-2,", "y-3)", ")", "(", "'", "a-2'", "b-3''", "日本-1"]


def check_round_trip(tree):
    line = render_stanford(Sentence.from_tree(tree))
    assert line.count("\n") == 1
    again = parse_line(line, 1, "").tree
    assert (again.forms, again.heads, again.deprels) == (tree.forms, tree.heads, tree.deprels)


@pytest.mark.parametrize("head", AWKWARD)
@pytest.mark.parametrize("dependent", AWKWARD)
def test_awkward_words(head, dependent):
    check_round_trip(Tree([dependent, head, "."], [2, 0, 2], ["nsubj", "root", "punct"]))


@given(random_trees(6), st.data())
def test_any_tree_there_and_back(tree, draws):
    forms = st.text(st.sampled_from("aé日-,.()'05#"), min_size=1, max_size=6)
    n = len(tree)
    check_round_trip(Tree(draws.draw(st.lists(forms, min_size=n, max_size=n)), tree.heads, tree.deprels))


HINT = "is no tuple rel(head-i, dependent-j)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "a line holds a label, one tab, and tuples such as nsubj(sleeps-2, She-1)"),
        ("root(ROOT-0, Go-1)", "a line holds a label, one tab, and tuples such as nsubj(sleeps-2, She-1)"),
        ("0\troot(ROOT-0, Go-1)\t1", "a line holds a label, one tab, and tuples such as nsubj(sleeps-2, She-1)"),
        ("0\t", "a tree needs at least one word"),
        ("0\toops", f"'oops' {HINT}"),
        ("0\troot(ROOT-0, Go-1) oops", f"'oops' {HINT}"),
        ("0\troot(ROOT-0,Go-1)", f"'root(ROOT-0,Go-1)' {HINT}"),
        ("0\troot(ROOT-0, Go-1", f"'root(ROOT-0, Go-1' {HINT}"),
        ("0\troot(ROOT-0, Go)", f"'root(ROOT-0, Go)' {HINT}"),
        ("0\t(ROOT-0, Go-1)", f"'(ROOT-0, Go-1)' {HINT}"),
        ("0\troot(ROOT-0, -1)", f"'root(ROOT-0, -1)' {HINT}"),
        ("0\troot(ROOT-0, Go-" + "1" * 5_000 + ")", f"'root(ROOT-0, Go-{'1' * 24}' {HINT}"),
        ("0\troot(ROOT-0, 1 000-1)", f"'root(ROOT-0, 1 000-1)' {HINT}"),
        (
            "0\troot(ROOT-0, Go-1) conj(Go-1', Go-2)",
            "conj(Go-1', Go-2) has a copied word: basic dependencies are needed",
        ),
        (
            "0\troot(ROOT-0, Go-1) conj(Go-1, Go-1')",
            "conj(Go-1, Go-1') has a copied word: basic dependencies are needed",
        ),
        (
            "0\troot(ROOT-0, Go-1) dep(Go-1, x-2) dep(x-2, Go-1)",
            "word 1 has two heads: basic dependencies are needed",
        ),
        ("0\troot(ROOT-0, Go-1) dep(Go-1, x-3)", "word 2 has no tuple, so it has no head"),
        ("0\troot(Go-1, ROOT-0)", "root(Go-1, ROOT-0) gives ROOT a head: 0 is ROOT, words count from 1"),
        ("0\troot(ROOT-0, Go-1) dep(Gone-1, x-2)", "word 1 is 'Go' and 'Gone'"),
        ("0\tdep(Gone-3, x-1) dep(Go-3, y-2) root(ROOT-0, Go-3)", "word 3 is 'Gone' and 'Go'"),
        ("0\troot(ROOT-0, Go-1) dep(x-3, y-2)", "word 2 has head 3, but the words are 1 to 2 and ROOT is 0"),
        ("0\tdep(x-2, y-1) dep(y-1, x-2)", "words 1 and 2 form a cycle, and no word has head 0: "
         "the sentence has no root"),
    ],
)  # fmt: skip
def test_refused(tmp_path, line, message):
    path = tmp_path / "dev.dep"
    path.write_text(f"{LINE}{line}\n{LINE}")
    faults = []
    assert len(list(read_stanford(path, on_error=faults.append))) == 2
    (error,) = faults
    assert error.message == message
    assert place(error) == (str(path), 2, "")


@pytest.mark.parametrize("text", [LINE * 2, (LINE * 2).rstrip("\n"), "\ufeff" + (LINE * 2).replace("\n", "\r\n")])
def test_files(tmp_path, text):
    path = tmp_path / "dev.dep"
    path.write_text(text, newline="")
    assert [sentence.tree.address for sentence in read_stanford(path)] == [f"{path}:1", f"{path}:2"]
    assert {sentence.comment("label") for sentence in read_stanford(path)} == {"0"}


def test_an_empty_file_is_refused(tmp_path):
    path = tmp_path / "dev.dep"
    path.touch()
    with pytest.raises(FormatError, match=f"^{path}: the file is empty: it has no sentence$"):
        list(read_stanford(path))


def test_ewt_there_and_back(tmp_path):
    path = tmp_path / "dev.tuples.gz"
    faults = []
    count = write(read_sentences("ewt:dev"), path, on_error=faults.append)
    assert count + len(faults) == 2_001
    lost = {fault.sent_id for fault in faults}
    old = [sentence.tree for sentence in read_sentences("ewt:dev") if sentence.tree.sent_id not in lost]
    new = [sentence.tree for sentence in read_sentences(path)]
    assert [(tree.forms, tree.heads, tree.deprels) for tree in new] == [
        (tree.forms, tree.heads, tree.deprels) for tree in old
    ]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree(["1 000"], [0], ["root"]), "Stanford tuples cannot hold the space in '1 000'"),
        (Tree(["1\u00a0000"], [0], ["root"]), r"Stanford tuples cannot hold the space in '1\xa0000'"),
        (Tree(["a"], [0], ["nmod(of)"]), "Stanford tuples cannot hold the relation 'nmod(of)'"),
        (Tree(["a"], [0], [""]), "Stanford tuples cannot hold the relation ''"),
    ],
)
def test_what_tuples_cannot_hold(tree, message):
    with pytest.raises(FormatError) as caught:
        render_stanford(Sentence.from_tree(tree))
    assert caught.value.message == message
