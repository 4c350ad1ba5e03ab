from dataclasses import replace

import pytest
from conllu_samples import GOOD, NEXT, block, place, row
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import FORMS, conllu_texts, random_trees

from ramify.errors import FormatError
from ramify.formats import Sentence, parse_conllu, read_conllu
from ramify.formats.conllu import DEPREL, FORM, HEAD, MISC, UPOS
from ramify.trees import Tree


def parse(text):
    return list(parse_conllu(text, source="dev.conllu"))


def only(text):
    (sentence,) = parse(text)
    return sentence


# --- what is read, and written back to the last byte ----------------------------------------------------------------


@given(conllu_texts())
def test_lossless_and_understood(sample):
    sentences = list(parse_conllu(sample.text))
    assert "".join(sentence.text for sentence in sentences) == sample.text
    for sentence, tree in zip(sentences, sample.trees, strict=True):
        assert sentence.tree == tree
        assert sentence.tree.sent_id == tree.sent_id
        assert [row[FORM] for row in sentence.rows] == list(tree.forms)
        assert [row[HEAD] for row in sentence.rows] == list(map(str, tree.heads))
        assert {len(row) for row in sentence.rows} == {10}
        if sample.text[:1] not in "\r\n\ufeff":
            assert sentence.tree.line == tree.line


FULL = """\
# newdoc id = d
# sent_id = s1
# text = He can't = won't go
# flag
1\tHe\the\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tGloss=a=b==
2\tca\tcan\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\thome\thome\tADV\tRB\t_\t_\t_\t4:advmod\t_
4.2\tnow\tnow\tADV\tRB\t_\t_\t_\t4:advmod\t_

"""


def test_all_that_a_sentence_tells():
    sentence = only(FULL)
    assert sentence.tree.forms == ("He", "ca", "n't", "go")
    assert sentence.tree.heads == (4, 4, 4, 0)
    assert sentence.tree.deprels == ("nsubj", "aux", "advmod", "root")
    assert sentence.tree.upos == ("PRON", "AUX", "PART", "VERB")
    assert sentence.tree.xpos == ("PRP", "MD", "RB", "VB")
    assert sentence.tree.address == "dev.conllu:1 (sent_id s1)"
    assert sentence.text == FULL
    assert sentence.lines == FULL.strip("\n").split("\n")
    assert [row[MISC] for row in sentence.rows] == ["_", "_", "_", "SpaceAfter=No"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("top", ["", "\ufeff", "\n\n", "\ufeff\n"])
def test_comments(top, end):
    sentence = only((top + FULL).replace("\n", end))
    assert sentence.comment("newdoc id") == "d"
    assert sentence.comment("text") == "He can't = won't go"
    assert sentence.comment("sent_id") == "s1"
    for key in ("newdoc", "flag", "ext", "2-3", "id", ".*"):
        assert sentence.comment(key) is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bottom", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("top", ["", "\ufeff", "\n\n", "\ufeff\n"])
def test_edits_touch_the_named_field_alone(top, bottom, end):
    text = (top + FULL.rstrip("\n") + bottom).replace("\n", end)
    sentence = only(text)

    edited = sentence.with_comment("text", "Nothing")
    assert edited.text == text.replace("He can't = won't go", "Nothing")
    assert edited.comment("text") == "Nothing"

    edited = sentence.with_comment("lm_logprob", "-3.5")
    assert edited.text == text.replace(f"# flag{end}", f"# flag{end}# lm_logprob = -3.5{end}")
    assert edited.with_comment("lm_logprob", "-4").text == edited.text.replace("-3.5", "-4")

    edited = sentence.with_column(DEPREL, ["nsubj", "aux", "neg", "root"])
    assert edited.text == text.replace("\tadvmod\t_\t_", "\tneg\t_\t_", 1).replace(
        f"\tneg\t_\t_{end}3", f"\tadvmod\t_\t_{end}3"
    )
    assert edited.tree.deprels == ("nsubj", "aux", "neg", "root")

    edited = sentence.with_column(MISC, ["A=1", "_", "_", "SpaceAfter=No"])
    assert edited.text == text.replace("nsubj\t_\t_", "nsubj\t_\tA=1")

    for same in (
        edited.with_column(MISC, ["_", "_", "_", "SpaceAfter=No"]),
        sentence.with_column(HEAD, [str(head) for head in sentence.tree.heads]),
        sentence.with_comment("sent_id", "s1"),
    ):
        assert same == sentence
        assert same.tree.address == sentence.tree.address


@pytest.mark.parametrize("top", ["", "\ufeff"])
@pytest.mark.parametrize("first", ["1-2\tboth" + "\t_" * 8, "0.1\tgone" + "\t_" * 8, ""])
def test_a_first_comment_comes_before_everything(top, first):
    words = "\n".join(filter(None, [first, row("1 She 2"), row("2 sleeps 0")])) + "\n\n"
    assert only(top + words).with_comment("sent_id", "s1").text == top + "# sent_id = s1\n" + words


@given(conllu_texts(), st.data())
def test_edits_of_any_sentence(sample, draws):
    for sentence in parse_conllu(sample.text):
        n = len(sentence.tree)
        assert sentence.with_column(UPOS, sentence.tree.upos) == sentence
        upos = draws.draw(st.lists(FORMS, min_size=n, max_size=n))
        assert sentence.with_column(UPOS, upos).tree == replace(sentence.tree, upos=tuple(upos))
        assert sentence.with_column(UPOS, upos).with_column(UPOS, sentence.tree.upos) == sentence
        commented = sentence.with_comment("lm_logprob", "-3.5")
        assert commented.tree == sentence.tree
        assert commented.comment("lm_logprob") == "-3.5"
        assert commented.text.count("\n") == sentence.text.count("\n") + 1


def test_edits_that_break_the_sentence_are_refused():
    sentence = parse(GOOD + FULL)[1]
    with pytest.raises(ValueError, match="3 values for 4 words"):
        sentence.with_column(HEAD, ["0", "1", "1"])
    with pytest.raises(FormatError, match=r"dev\.conllu:9 \(sent_id s1\): words 1 and 2 form a cycle"):
        sentence.with_column(HEAD, ["2", "1", "4", "0"])
    with pytest.raises(FormatError, match="11 columns instead of 10"):
        sentence.with_column(UPOS, ["a\tb", "_", "_", "_"])


@given(random_trees(), st.sampled_from(["", "s1", "a/k_2"]))
def test_a_tree_as_a_sentence_is_read_back(tree, sent_id):
    tree = replace(tree, sent_id=sent_id)
    sentence = Sentence.from_tree(tree, ["# label = 0", "# sent_id_of = x"])
    again = only(sentence.text)
    assert again.tree == tree
    assert again.tree.sent_id == sent_id
    assert again.comment("label") == "0"
    assert again.comment("text") == " ".join(tree.forms).strip(" \t")


@pytest.mark.parametrize(
    ("tree", "comments", "why"),
    [
        (Tree(["a", "b\tc"], [0, 1]), (), r"the tab or line end in 'b\\tc'"),
        (Tree(["a\nb"], [0]), (), "tab or line end"),
        (Tree(["a\r"], [0]), (), "tab or line end"),
        (Tree(["a"], [0], ["root\t"]), (), "tab or line end"),
        (Tree(["a"], [0], upos=["X\n"]), (), "tab or line end"),
        (Tree(["a"], [0]), ("# label = 0\n1\tb",), "tab or line end"),
        (Tree(["a", ""], [0, 1]), (), "word 2 has an empty form"),
    ],
)
def test_a_tree_that_would_not_be_read_back_is_refused(tree, comments, why):
    with pytest.raises(FormatError, match=r"^here:7 \(sent_id s1\): .*" + why):
        Sentence.from_tree(replace(tree, sent_id="s1", source="here", line=7), comments)


def test_edits_that_change_nothing_on_ewt():
    for sentence in read_conllu("ewt:dev"):
        assert sentence.with_column(HEAD, list(map(str, sentence.tree.heads))) == sentence
        assert sentence.with_comment("sent_id", sentence.tree.sent_id) == sentence


# --- sent_id, wherever it stands ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("comments", "sent_id"),
    [
        (["# sent_id = s1"], "s1"),
        (["#sent_id=s1"], "s1"),
        (["#\tsent_id =  a b  "], "a b"),
        (["# text = on # sent_id = no", "# sent_id = s1"], "s1"),
        (["# text = on # sent_id = no"], ""),
        (["# prev_sent_id = no"], ""),
        (["# sent_id ="], ""),
        (["# sent_id = "], ""),
        (["# sent_id = s1", "# sent_id = s2"], "s1"),
        ([], ""),
    ],
)
def test_sent_id(comments, sent_id):
    sentence = only(block(*comments, "1 She 2", "2 sleeps 0"))
    assert sentence.tree.sent_id == sent_id
    assert (sentence.comment("sent_id") or "") == sent_id


# --- accepted, though seldom ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bottom", ["", "\n", "\r", "\r\n"])
def test_a_missing_last_blank_line_loses_nothing(bottom):
    text = GOOD + NEXT.rstrip("\n") + bottom
    sentences = parse(text)
    assert [sentence.tree.forms for sentence in sentences] == [("She", "sleeps"), ("Good", "night")]
    assert "".join(sentence.text for sentence in sentences) == text
    assert sentences[1].rows[1][MISC] == "_"


def test_crlf_and_bom():
    text = "\ufeff" + (GOOD + NEXT).replace("\n", "\r\n")
    sentences = parse(text)
    assert [sentence.tree.address for sentence in sentences] == [
        "dev.conllu:1 (sent_id s1)",
        "dev.conllu:5 (sent_id s9)",
    ]
    assert sentences[0].lines[0] == "# sent_id = s1"
    assert sentences[1].rows[1] == ["2", "night", "_", "_", "_", "_", "1", "dep", "_", "_"]
    assert "".join(sentence.text for sentence in sentences) == text


def test_sizes_without_limit():
    n = 10_000
    forms = ["w"] * n
    forms[0] = "x" * 1_000_000  # a line of a megabyte
    chain_down = block(*(f"{i} {form} {i - 1}" for i, form in enumerate(forms, 1)))
    chain_up = block(*(f"{i} w {(i + 1) % 5_001}" for i in range(1, 5_001)))
    down, up, last = parse(chain_down + chain_up + GOOD)
    assert (len(down.tree), len(up.tree), len(last.tree)) == (n, 5_000, 2)
    assert down.tree.forms[0] == forms[0]
    assert up.tree.roots == (5_000,)


def test_a_space_in_a_form_and_an_underscore_as_a_form():
    tree = only(block("1 _ 2", "2 x 0").replace("\tx\t", "\t1 000\t")).tree
    assert tree.forms == ("_", "1 000")


# --- refused, with file, line and sent_id ---------------------------------------------------------------------------

A, B = "1 a 2", "2 b 0"
COLUMNS = "instead of 10 (separated by tabs)"
MISSING_BLANK = "is the blank line between two sentences missing?"

FAULTS = {  # the lines of a sentence whose first stands on line 5; the line at fault; why
    "9 columns": ([row(A), "2\tb\t_\t_\t_\t_\t0\tdep\t_"], 6, rf"9 columns {COLUMNS}: '2\tb\t_\t_\t_\t_\t0\tdep\t_'"),
    "11 columns": ([row(A) + "\t_", row(B)], 5, rf"11 columns {COLUMNS}: '1\ta\t_\t_\t_\t_\t2\tdep\t_\t_\t_'"),
    "one word": ([row(A), "oops"], 6, f"1 column {COLUMNS}: 'oops'"),
    "9 and 11": ([row(A)[:-2], row(B) + "\t_"], 5, rf"9 columns {COLUMNS}: '1\ta\t_\t_\t_\t_\t2\tdep\t_'"),
    "9 and 11 in the guise of a range": (
        ["1\tx\t_\t_\t_\t_\t0\tr\t_", "7\tx2-2" + "\t_" * 9, row("2 b 1")],
        5,
        rf"9 columns {COLUMNS}: '1\tx\t_\t_\t_\t_\t0\tr\t_'",
    ),
    "spaces": (
        [row(A).replace("\t", "  "), row(B).replace("\t", "  ")],
        5,
        f"1 column {COLUMNS}: the columns are separated by spaces, is this --input-format conllx?",
    ),
    "a line of spaces": ([row(A), row(B), "  "], 7, f"1 column {COLUMNS}: a line of spaces is not a blank line"),
    "a megabyte": (["x" * 1_000_000], 5, f"1 column {COLUMNS}: '{'x' * 39}…'"),
    "a megabyte of tabs": (["\t" * 1_000_000], 5, rf"1000001 columns {COLUMNS}: '{chr(92) + 't'}".rstrip("'")),
    "id is text": ([row("x a 0")], 5, "the id 'x' is no number, range (3-4) or empty node (8.1)"),
    "no id": ([row(A), row(B)[1:]], 6, "the id '' is no number, range (3-4) or empty node (8.1)"),
    "signed id": ([row("+1 a 0")], 5, "the id '+1' is no number, range (3-4) or empty node (8.1)"),
    "other digits": ([row("\u0661 a 0")], 5, "the id '\u0661' is no number, range (3-4) or empty node (8.1)"),
    "0 as id": ([row("0 a 0")], 5, "the first id is 0, not 1"),
    "padded id": ([row("01 a 0")], 5, "the first id is 01, not 1"),
    "starts at 2": ([row("2 a 0")], 5, "the first id is 2, not 1"),
    "twice": ([row(A), row(B), row(B)], 7, "the id 2 occurs twice"),
    "gap": ([row(A), row("3 b 0")], 6, "the id 3 comes after 1: ids go up by one"),
    "back": ([row(A), row(B), row("3 c 1"), row("2 d 1")], 8, "the id 2 comes after 3: ids go up by one"),
    "no blank line": ([row(A), row(B), row(A), row(B)], 7, f"the id 1 comes after 2: {MISSING_BLANK}"),
    "no blank line before a comment": (
        [row(A), row(B), "# sent_id = s3", row(A), row(B)],
        7,
        f"a comment among the words, '# sent_id = s3': {MISSING_BLANK}",
    ),
    "no FORM": ([row(A), row("2  0")], 6, "word 2 has an empty FORM"),
    "HEAD is _": ([row(A), row("2 b _")], 6, "HEAD of word 2 is '_', not a number from 0 to 2"),
    "no HEAD": ([row(A), row("2 b ")], 6, "HEAD of word 2 is '', not a number from 0 to 2"),
    "HEAD beyond": ([row("1 a 3"), row(B)], 5, "HEAD of word 1 is '3', not a number from 0 to 2"),
    "HEAD below": ([row("1 a -1"), row(B)], 5, "HEAD of word 1 is '-1', not a number from 0 to 2"),
    "HEAD far beyond": ([row("1 a 987654321"), row(B)], 5, "HEAD of word 1 is '987654321', not a number from 0 to 2"),
    "padded HEAD": ([row("1 a 02"), row(B)], 5, "HEAD of word 1 is '02', not a number from 0 to 2"),
    "two HEADs": ([row(A), row("2 b 9"), row("3 c x")], 6, "HEAD of word 2 is '9', not a number from 0 to 3"),
    "self": ([row(A), row(B), row("3 c 3")], 7, "word 3 is its own head"),
    "cycle": ([row("1 a 0"), row("2 b 3"), row("3 c 2")], 6, "words 2 and 3 form a cycle"),
    "no root": (
        [row(A), row("2 b 1")],
        5,
        "words 1 and 2 form a cycle, and no word has head 0: the sentence has no root",
    ),
    "range too late": (
        [row(A), row(B), row("1-2 ab _")],
        7,
        "the multiword token 1-2 stands where word 3 is expected: it belongs before word 1",
    ),
    "range too soon": (
        [row("2-3 bc _"), row(A), row(B), row("3 c 1")],
        5,
        "the multiword token 2-3 stands where word 1 is expected: it belongs before word 2",
    ),
    "range beyond": ([row(A), row("2-3 bc _"), row(B)], 6, "the multiword token 2-3 ends beyond the last word, 2"),
    "range backwards": ([row(A), row("2-1 bc _"), row(B)], 6, "the multiword token 2-1 ends before it begins"),
    "ranges overlap": (
        [row("1-2 ab _"), row(A), row("2-3 bc _"), row(B), row("3 c 2")],
        7,
        "the multiword token 2-3 overlaps the one before it",
    ),
    "range twice": (
        [row("1-2 ab _"), row("1-2 ab _"), row(A), row(B)],
        6,
        "the multiword token 1-2 overlaps the one before it",
    ),
    "half a range": ([row("1- ab _"), row(A), row(B)], 5, "the id '1-' is no number, range (3-4) or empty node (8.1)"),
    "range of three": ([row("1-2-3 ab _")], 5, "the id '1-2-3' is no number, range (3-4) or empty node (8.1)"),
    "empty node too soon": ([row("1.1 e _"), row(A), row(B)], 5, "the empty node 1.1 should be 0.1 here"),
    "empty node too late": ([row(A), row(B), row("1.1 e _")], 7, "the empty node 1.1 should be 2.1 here"),
    "empty node skipped": ([row(A), row("1.2 e _"), row(B)], 6, "the empty node 1.2 should be 1.1 here"),
    "empty node twice": ([row(A), row("1.1 e _"), row("1.1 e _"), row(B)], 7, "the empty node 1.1 should be 1.2 here"),
    "half an empty node": ([row(".1 e _"), row(A)], 5, "the id '.1' is no number, range (3-4) or empty node (8.1)"),
    "nothing but an empty node": ([row("0.1 e _")], 5, "comments or empty nodes without a word"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("longer", [False, True], ids=["", "after a longer sentence"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_refused(fault, longer, end):
    lines, line, message = FAULTS[fault]
    good = GOOD
    if longer:  # what was read before must not change the verdict
        good = block(*(f"{i} w {i - 1}" for i in range(1, 21)))
        line += good.count("\n") - GOOD.count("\n")
    text = good + "\n".join(["# sent_id = s2", *lines]) + "\n\n" + NEXT
    faults = []
    sentences = list(parse_conllu(text.replace("\n", end), source="dev.conllu", on_error=faults.append))
    assert [sentence.tree.forms for sentence in sentences[1:]] == [("Good", "night")]  # the reading goes on
    (error,) = faults
    assert error.message.startswith(message) if fault == "a megabyte of tabs" else error.message == message
    assert place(error) == ("dev.conllu", line + 1, "s2")
    assert str(error).startswith(f"dev.conllu:{line + 1} (sent_id s2): ")


def test_by_default_the_first_fault_ends_the_reading():
    sentences = parse_conllu(GOOD + block("1 a 2", "2 b 1") + NEXT, source="dev.conllu")
    assert next(sentences).tree.sent_id == "s1"
    with pytest.raises(FormatError, match=r"^dev\.conllu:5: words 1 and 2 form a cycle"):
        next(sentences)


@pytest.mark.parametrize("comments", [["# sent_id = s2"], ["# text = x", "# sent_id = s2"], ["# sent_id = s2", "#"]])
def test_comments_without_words(comments):
    faults = []
    sentences = list(parse_conllu(GOOD + block(*comments) + NEXT, source="dev.conllu", on_error=faults.append))
    assert len(sentences) == 2
    (error,) = faults
    assert error.message == "comments or empty nodes without a word"
    assert place(error) == ("dev.conllu", 4 + len(comments), "s2")


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_nothing_at_all(text):
    with pytest.raises(FormatError, match=r"^dev\.conllu: the file is empty: it has no sentence$"):
        parse(text)


@given(conllu_texts(), st.data())
def test_one_changed_character_is_read_or_refused_with_an_address(sample, draws):
    """Whatever is not accepted has a reason; the reason for sentences without words is not one for all the others."""
    place = draws.draw(st.integers(0, len(sample.text) - 1))
    new = draws.draw(
        st.sampled_from(["", "\t", "\n", "\n\n", " ", "#", "1", "2-3", ".", "_", "\r", "\ufeff", "\u0661"])
    )
    text = sample.text[:place] + new + sample.text[place + 1 :]
    assume(text.strip("\r\n\ufeff"))
    faults = []
    sentences = list(parse_conllu(text, on_error=faults.append))
    for sentence in sentences:
        assert sentence.text in text
        assert [row[FORM] for row in sentence.rows] == list(sentence.tree.forms)
        assert [row[HEAD] for row in sentence.rows] == list(map(str, sentence.tree.heads))
    for fault in faults:
        assert 1 <= fault.line <= text.count("\n") + 1
        if "without a word" in fault.message:
            line = text.split("\n")[fault.line - 1].lstrip("\ufeff")
            assert line.startswith("#") or "." in line.partition("\t")[0]
