"""Questions in their three forms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.errors import FormatError
from ramify.formats.questions import Question, letter, read_questions

CSV = 'id,question,a),b)\n1,I _____ it .,see,have seen\n2,"A cat , _____ .",asleep,gone\n'
LINES = (
    '{"id": 1, "question": "I _____ it .", "candidates": ["see", "have seen"]}\n'
    '{"id": "2", "question": "A cat , _____ .", "candidates": {"B": "gone", "a)": "asleep"}, "answer": "B"}\n'
)
LM = "<s> I see it . </s>\n<s> I have seen it . </s>\n\n\n<s> A cat , asleep . </s>\n<s> A cat , gone . </s>\n"


def read(text: str | bytes, tmp_path: Path) -> list[Question]:
    path = tmp_path / "questions.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_questions(path)


@pytest.mark.parametrize("text", [CSV, LINES, LM, "\ufeff" + CSV, CSV.replace("\n", "\r\n"), "\n" + LM, LM.strip()])
def test_three_forms_of_the_same(text: str, tmp_path: Path) -> None:
    first, second = read(text, tmp_path)
    assert [first.id, first.before, first.after, first.candidates] == ["1", "I ", " it .", ("see", "have seen")]
    assert [second.id, second.before, second.after, second.candidates] == ["2", "A cat , ", " .", ("asleep", "gone")]
    assert second.answer == ("b" if text == LINES else None)
    assert first.letters == ("a", "b")


def test_where_a_question_stands(tmp_path: Path) -> None:
    assert [each.line for each in read(CSV, tmp_path)] == [2, 3]
    assert [each.line for each in read(LINES, tmp_path)] == [1, 2]
    assert [each.line for each in read(LM, tmp_path)] == [1, 5]
    later = read('id,question,a,b\n1,"a\n_____",x,y\n2,b _____,x,y\n', tmp_path)[1]
    assert str(later.refused("no")) == f"{tmp_path}/questions.txt:4: question 2: no"


def test_five_lines_where_none_is_blank(tmp_path: Path) -> None:
    lines = [f"<s> the {word} sleeps . </s>" for word in "abcdefghij"]
    first, second = read("\n".join(lines), tmp_path)
    assert (first.candidates, second.candidates) == (tuple("abcde"), tuple("fghij"))
    assert (second.id, second.before, second.after) == ("2", "the ", " sleeps .")


@given(
    before=st.lists(st.sampled_from("abc"), max_size=4),
    after=st.lists(st.sampled_from("abc"), max_size=4),
    candidates=st.lists(st.lists(st.sampled_from("abx"), min_size=1, max_size=3), min_size=2, max_size=5),
)
def test_the_blank_is_where_lines_differ(
    before: list[str], after: list[str], candidates: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Filled again, the question gives the lines; what all candidates share they need, or it would be in the text."""
    texts = [" ".join([*before, *each, *after]) for each in candidates]
    lines = "".join(f"<s> {text} </s>\n" for text in texts) + "\n<s> q x q </s>\n<s> q y q </s>\n"
    refusal = ""
    try:
        question = read(lines, tmp_path_factory.mktemp("lm"))[0]
    except FormatError as error:
        refusal = str(error)
    if refusal:
        assert "the same" in refusal or "share neither" in refusal
        return
    filled = [question.before + each + question.after for each in question.candidates]
    assert [each.split() for each in filled] == [text.split() for text in texts]
    words = [each.split() for each in question.candidates]
    assert len({each[0] for each in words}) > 1 or min(map(len, words)) == 1
    assert len({each[-1] for each in words}) > 1 or min(map(len, words)) == 1


def test_fewer_candidates_and_none(tmp_path: Path) -> None:
    text = "id,question,a),b),c),answer\n1,x _____,p,q,,B)\n2,y _____,p,q,r,\n3,z _____,,,,\n"
    questions = read(text, tmp_path)
    assert [len(each.candidates) for each in questions] == [2, 3, 0]
    assert [each.answer for each in questions] == ["b", None, None]
    assert read("id,question\n1,x _____\n", tmp_path)[0].candidates == ()
    assert read('{"id": 1, "question": "x __________"}', tmp_path)[0].candidates == ()


def test_compressed(tmp_path: Path) -> None:
    assert len(read(gzip.compress(CSV.encode()), tmp_path)) == 2


def test_letters() -> None:
    assert [letter(i) for i in (0, 1, 25, 26, 51, 52, 701, 702)] == ["a", "b", "z", "aa", "az", "ba", "zz", "aaa"]


HEAD = "id,question,a),b)\n"
ONE = '{"id": 1, "question": "a _____", "candidates": '


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "questions.txt: there is no row in the file"),
        (HEAD, "questions.txt: there is no row in the file"),
        ("number,text\n1,a _____\n", ":1: the header is number,text, and not id,question,a),b),c)"),
        ("id,question,b),a)\n1,a _____,x,y\n", ":1: the header is id,question,b),a)"),
        ("id,id\n1,2\n", ":1: the column 'id' occurs twice"),
        (HEAD + "1,I see it .,x,y\n", ":2: question 1: it has no blank, and one is needed: _____"),
        (HEAD + "1,_____ or _____ .,x,y\n", ":2: question 1: it has 2 blanks, and one is needed"),
        (HEAD + "1,a _____,x,y\n,b _____,x,y\n", ":3: the question has no id"),
        (HEAD + "1,a _____,x,\n", ":2: question 1: one candidate alone, 'x': there is nothing to choose from"),
        (HEAD + "1,a _____,,x\n", ":2: question 1: candidate a is empty"),
        (HEAD + "1,a _____,x,y\n1,b _____,x,y\n", ":3: question 1: the id occurs twice, first on line 2"),
        (HEAD + "1,a _____,x,y\nq1,b _____,x,y\n", ":3: question q1: the id occurs twice, first on line 2"),
        (HEAD + "1,a , _____,x,y\n", ":2: 5 cells instead of 4, as many as the header has: a text with a comma"),
        (HEAD + "1,a _____,x\n", ":2: 3 cells instead of 4, as many as the header has"),
        (HEAD + '1,a _____,x,y\n2,"b _____,x,y\n', ":3: the row that starts here is no CSV (unexpected end of data)"),
        (HEAD + '1,"a _____,x,y\n2,"b _____",x,y\n', ":2: the row that starts here is no CSV"),
        ((HEAD + "1,a _____,\xe9,y\n").encode("latin-1"), ":2: byte 0xe9 at offset 28 is not utf-8"),
        (ONE + '["x", "y"]}\n{"id"', ":2: the line is no JSON"),
        (ONE + '["x", "y"]}\n[]', ":2: the line is no JSON object"),
        (ONE + '["x", 2]}', ":1: question 1: the candidates are no list of texts"),
        (ONE + '{"a": "x", "c": "y"}}', ":1: question 1: the candidates are no list of texts, and no object with a"),
        (ONE + '"xy"}', ":1: question 1: the candidates are no list of texts"),
        (ONE + '["x", "y"], "answer": "c"}', ":1: question 1: the answer 'c' is none of its candidates"),
        (ONE + '["x", "y"], "answer": 3}', ":1: question 1: the answer is 3, not a letter"),
        ('{"id": 1.5, "question": "a _____"}', ":1: 'id' is 1.5, not a text"),
        ('{"id": 1}', ":1: 'question' is None, not a text"),
        ("{" * 100_000, ":1: the line is no JSON"),
        ("<s> a b </s>\n<s> a c\n", ":2: the line does not read <s> ... </s>"),
        ("<s> a b c </s>\n" * 4, ":4: 4 lines are not 5 for each question: the last one has 4"),
        ("<s> a b c </s>\n" * 5, ":1: question 1: its 5 lines are the same: there is no blank"),
        ("<s> a b </s>\n\n<s> a c </s>\n", ":1: question 1: one candidate alone"),
        ("<s> a b </s>\n<s> c d </s>\n\n<s> x </s>\n", ":1: question 1: its lines share neither their first word"),
    ],
)
def test_what_is_refused(text: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as refused:
        read(text, tmp_path)
    assert said in str(refused.value)
    assert "questions.txt" in str(refused.value)


@given(text=st.text(st.sampled_from('id,question_ab)"\n<s>/{}[]:01 '), max_size=60))
def test_any_text_at_all(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """It is read or refused, with the file's name."""
    refusal = "questions.txt"
    try:
        read(text, tmp_path_factory.mktemp("any"))
    except FormatError as error:
        refusal = str(error)
    assert "questions.txt" in refusal


def test_json_of_all_questions_is_read_back(tmp_path: Path) -> None:
    texts = ["x _____ y", "_____", "« _____ »\u2028 z"]
    lines = [json.dumps({"id": i, "question": text, "candidates": ["p", "q"]}) for i, text in enumerate(texts)]
    assert [f"{each.before}_____{each.after}" for each in read("\n".join(lines), tmp_path)] == texts


@pytest.mark.parametrize(
    ("lines", "candidates"),
    [
        (["I seen it", "I have seen it"], ("seen", "have seen")),
        (["he said he", "he said"], ("he x", "x")),
        (["man", "old man"], ("man", "old man")),
        (["old", "old old"], ("x", "old x")),
    ],
)
def test_no_candidate_is_empty(lines: list[str], candidates: tuple[str, ...], tmp_path: Path) -> None:
    """Where one line has no word of its own, the blank takes in one that all share."""
    text = "".join(f"<s> {line} x </s>\n" for line in lines) + "\n<s> a x </s>\n<s> b x </s>\n"
    assert read(text, tmp_path)[0].candidates == candidates
