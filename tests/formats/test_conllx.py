import pytest
from conllu_samples import block, place
from hypothesis import given
from strategies import random_trees

from ramify.errors import FormatError
from ramify.formats import Sentence, parse_conllu, read, read_conllu, read_sentences, write
from ramify.formats.conllu import FEATS, FORM, HEAD, LEMMA, UPOS
from ramify.formats.conllx import parse_block, read_conllx, render_conllx

ROWS = ["1 She she PRON PRP Number=Sing 2 nsubj 2 nsubj", "2 sleeps sleep VERB VBZ _ 0 root - -"]


def tabs(row):
    return row.replace(" ", "\t")


@pytest.fixture
def conllx(tmp_path):
    """A file with this text."""

    def write_text(text):
        path = tmp_path / "dev.conllx"
        path.write_text(text, newline="")
        return path

    return write_text


@pytest.mark.parametrize(
    "columns",
    [tabs, lambda row: row, lambda row: row.replace(" ", "   ") + " ", lambda row: " " + row],
    ids=["tabs", "spaces", "runs of spaces", "indented"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("top", ["", "\ufeff", "\n\n"])
@pytest.mark.parametrize("bottom", ["", "\n", "\n\n\n"])
def test_tabs_or_spaces(conllx, columns, end, top, bottom):
    text = top + "\n".join(map(columns, ROWS)) + "\n\n" + "\n".join(map(columns, ROWS)) + bottom
    first, second = read_conllx(conllx(text.replace("\n", end)))
    assert first.tree.forms == ("She", "sleeps")
    assert first.tree.heads == (2, 0)
    assert first.tree.deprels == ("nsubj", "root")
    assert first.tree.line == 1 + top.count("\n")
    assert second.tree.line == 4 + top.count("\n")
    assert first.rows == [
        ["1", "She", "she", "PRON", "PRP", "Number=Sing", "2", "nsubj", "_", "_"],  # PHEAD and PDEPREL are no DEPS
        ["2", "sleeps", "sleep", "VERB", "VBZ", "_", "0", "root", "_", "_"],
    ]


def test_what_is_read_can_be_edited(conllx):
    (sentence,) = read_conllx(conllx("\n\n" + "\n".join(ROWS)))
    edited = sentence.with_comment("sent_id", "s1").with_column(HEAD, ["0", "1"])
    assert edited.tree.heads == (0, 1)
    assert edited.tree.address == f"{sentence.tree.source}:3 (sent_id s1)"


def test_comments_at_the_top_are_kept():
    sentence = parse_block(("# sent_id = s1\n# text = x\n" + "\n".join(ROWS), 1), "dev.conllx", ("# parser_score = 1",))
    assert sentence.tree.sent_id == "s1"
    assert sentence.comment("text") == "x"
    assert sentence.comment("parser_score") == "1"


def test_comments_that_are_added_come_first():
    sentence = parse_block(("# sent_id = s1\n" + "\n".join(ROWS), 1), "dev.conllx", ("# sent_id = s1/k_1",))
    assert sentence.tree.sent_id == "s1/k_1"


@pytest.mark.parametrize("added", [(), ("# sent_id = s1/k_1", "# parser_score = 1")])
@pytest.mark.parametrize("comments", [[], ["# text = x"], ["# text = x", "#", "# y"]])
@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ([ROWS[0], ROWS[1] + " _"], 1, "11 columns instead of 10 (separated by tabs or spaces)"),
        ([ROWS[0], "oops"], 1, "1 column instead of 10 (separated by tabs or spaces)"),
        ([tabs(ROWS[0]), tabs(ROWS[1])[:-2]], 1, "9 columns instead of 10 (separated by tabs or spaces)"),
        ([ROWS[0], ROWS[1].replace("0", "1")], 0, "words 1 and 2 form a cycle, and no word has head 0: "
         "the sentence has no root"),
        ([ROWS[0], ROWS[1].replace("0", "x")], 1, "HEAD of word 2 is 'x', not a number from 0 to 2"),
        ([ROWS[0], ROWS[1].replace("2", "3")], 1, "the id 3 comes after 1: ids go up by one"),
        ([], -1, "comments or empty nodes without a word"),
    ],
)  # fmt: skip
def test_refused_with_the_line_in_the_file(rows, line, message, comments, added):
    if not (rows or comments):
        return
    with pytest.raises(FormatError) as caught:
        parse_block(("\n".join([*comments, *rows]) + "\n\n", 7), "dev.conllx", added)
    assert caught.value.message == message
    assert place(caught.value)[:2] == ("dev.conllx", 7 + len(comments) + line)


def test_the_reading_goes_on_when_faults_are_collected(conllx):
    faults = []
    path = conllx("\n".join(ROWS) + "\n\n1 oops\n\n" + "\n".join(ROWS))
    assert len(list(read_conllx(path, on_error=faults.append))) == 2
    assert list(map(str, faults)) == [f"{path}:4: 2 columns instead of 10 (separated by tabs or spaces)"]


def test_ewt_there_and_back(tmp_path):
    path = tmp_path / "dev.conllx"
    assert write(read_sentences("ewt:dev"), path) == 2_001
    for old, new in zip(read_conllu("ewt:dev"), read_conllx(path), strict=True):
        assert new.tree == old.tree
        assert [row[:8] for row in new.rows] == [row[:8] for row in old.rows]
        again = old.with_column(LEMMA, [row[LEMMA] for row in new.rows]).with_column(
            FEATS, [row[FEATS] for row in new.rows]
        )
        assert again == old
    back = tmp_path / "dev.conllu"
    write(read_sentences(path), back)
    assert list(read(back)) == list(read("ewt:dev"))


@given(random_trees())
def test_any_tree_there_and_back(tree):
    if any(" " in form for form in tree.forms):
        return
    assert parse_block((render_conllx(Sentence.from_tree(tree)), 1), "").tree == tree


def test_a_space_cannot_be_held():
    (sentence,) = parse_conllu(block("# sent_id = s1", "1 a 0").replace("\ta\t", "\t1 000\t"), source="dev.conllu")
    with pytest.raises(FormatError, match=r"^dev\.conllu:1 \(sent_id s1\): CoNLL-X cannot hold the space in '1 000'$"):
        render_conllx(sentence)
    assert render_conllx(sentence.with_column(FORM, ["1000"]).with_column(UPOS, ["NUM"])).startswith("1\t1000\t_\tNUM")
