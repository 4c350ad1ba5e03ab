import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import conllu_texts

from ramify.errors import FormatError
from ramify.formats import blocks as module
from ramify.formats.blocks import blocks

SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=20)


def pieces(text, sizes):
    """The text in chunks of these sizes, over and over."""
    start, i = 0, 0
    while start < len(text):
        yield text[start : start + sizes[i % len(sizes)]]
        start += sizes[i % len(sizes)]
        i += 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb\n\nc\n\n", [("a\nb\n\n", 1), ("c\n\n", 4)]),
        ("a\n\n\n\nb", [("a\n\n\n\n", 1), ("b", 5)]),
        ("\n\na\n\nb\n", [("\n\na\n\n", 1), ("b\n", 5)]),
        ("\ufeff\n\na\n\nb\n\n\n", [("\ufeff\n\na\n\n", 1), ("b\n\n\n", 5)]),
        ("a\r\n\r\nb\r\n", [("a\r\n\r\n", 1), ("b\r\n", 3)]),
        ("a\n\r\nb\r\n\nc", [("a\n\r\n", 1), ("b\r\n\n", 3), ("c", 5)]),
        ("a\rb\n\nc", [("a\rb\n\n", 1), ("c", 3)]),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_cut_at_blank_lines(text, found, size):
    assert list(blocks(pieces(text, [size]))) == found


@given(conllu_texts(), SIZES)
def test_the_same_blocks_whatever_the_chunks(sample, sizes):
    found = list(blocks(pieces(sample.text, sizes)))
    assert found == list(blocks([sample.text]))
    assert "".join(text for text, _ in found) == sample.text
    assert len(found) == len(sample.trees)


@given(st.text(st.sampled_from("ab\n\n\n\r\ufeff"), max_size=30), SIZES)
def test_any_text_is_cut_at_its_blank_lines_and_nowhere_else(text, sizes):
    try:
        found = list(blocks(pieces(text, sizes)))
    except FormatError:
        assert not text.strip("\r\n\ufeff")
        return
    assert found == list(blocks([text]))
    assert "".join(part for part, _ in found) == text
    line = 1
    for part, number in found:
        assert number == line
        assert not re.search(r"\n\r?\n", part.strip("\r\n\ufeff"))
        line += part.count("\n")


@pytest.mark.parametrize("text", ["", "\n", "\n\n\r\n", "\ufeff", "\ufeff\r\n"])
@pytest.mark.parametrize("size", [1, 100])
def test_a_file_without_a_sentence_is_refused(text, size):
    with pytest.raises(FormatError, match=r"^dev\.conllu: the file is empty: it has no sentence$"):
        list(blocks(pieces(text, [size]), "dev.conllu"))


def test_what_has_no_blank_line_must_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(module, "_LONGEST", 1 << 20)
    taken = 0

    def endless():
        nonlocal taken
        yield "a\n\n"
        while True:
            taken += 1
            yield "b" * 50_000 + "\n"

    found = blocks(endless(), "huge.txt")
    assert next(found) == ("a\n\n", 1)
    with pytest.raises(FormatError) as caught:
        next(found)
    assert str(caught.value) == "huge.txt:3: no blank line in 1 million characters: this is no treebank"
    assert taken == 21


def test_sentences_are_handed_on_before_the_text_ends():
    def chunks():
        yield "a\n\nb\n\nc"
        pytest.fail("two sentences could have been read")

    found = blocks(chunks())
    assert [next(found), next(found)] == [("a\n\n", 1), ("b\n\n", 3)]


@pytest.mark.parametrize("end", ["\n\n", "\n\n\n", "\r\n\r\n"])
def test_a_whole_sentence_before_a_fault_of_the_file_is_not_lost(end):
    def chunks():
        yield f"a\n\nb{end}"
        raise FormatError("damaged")

    found = blocks(chunks())
    assert [next(found), next(found)] == [("a\n\n", 1), (f"b{end}", 3)]
    with pytest.raises(FormatError, match="damaged"):
        next(found)


@pytest.mark.parametrize("begun", ["b", "b\n", "", "\n\n", "\ufeff\n\n"])
def test_half_a_sentence_before_a_fault_of_the_file_is_none(begun):
    def chunks():
        yield begun
        raise FormatError("damaged")

    with pytest.raises(FormatError, match="damaged"):
        next(blocks(chunks()))
