"""Blanks: text and tokens laid side by side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.errors import FormatError
from ramify.formats.parses import Parses
from ramify.formats.questions import Question
from ramify.tasks.blank import (
    find_blank,
    from_text,
    is_whole,
    own_parses,
    place_of_blank,
    plain,
    shared_parses,
    with_words,
)
from ramify.trees import Tree


def question(before: str, after: str, *candidates: str) -> Question:
    return Question("7", before, after, candidates, None, "q.csv", 8)


def tree(words: str, sent_id: str = "q7a") -> Tree:
    forms = words.split()
    return Tree(tuple(forms), tuple(range(len(forms))), sent_id=sent_id, source="p.conllu", line=3)


@pytest.mark.parametrize(
    ("before", "candidate", "after", "words", "found"),
    [
        ("I ", "see", " it.", "I see it .", (2, 2)),
        ("", "see", " it.", "see it .", (1, 1)),
        ("I ", "see", "", "I see", (2, 2)),
        ("I ", "have seen", " it.", "I have seen it .", (2, 3)),
        ("the ", "woman's", " hat", "the woman 's hat", (2, 3)),
        ("a well-", "known", " man", "a well-known man", (2, 2)),
        ("a ", "well", "-known man", "a well - known man", (2, 2)),
        ('"I ', "see", ' it", (he) said', "`` I see it '' , -LRB- he -RRB- said", (3, 3)),
        ('"I ', "see", ' it," (he) said', "`` I see it , '' -LRB- he -RRB- said", (3, 3)),
        ("\u201cI ", "can\u2019t", "\u201d [", "'' I ca n't '' -LSB-", (3, 4)),
        ("it ", "it", " it", "it it it", (2, 2)),
    ],
)
def test_the_words_of_a_candidate(before: str, candidate: str, after: str, words: str, found: tuple[int, int]) -> None:
    asked = question(before, after, candidate, "other")
    assert find_blank(tree(words), asked, candidate)[1:] == found
    assert find_blank(tree(words), asked)[1:] == found


@given(
    sides=st.tuples(st.text("ab .", max_size=6), st.text("ab .", max_size=6)),
    candidate=st.text("ab", min_size=1, max_size=4),
    cuts=st.sets(st.integers(1, 15)),
)
def test_any_tokens(sides: tuple[str, str], candidate: str, cuts: set[int]) -> None:
    """The slow twin: the words that hold a character of the candidate, counted one by one."""
    before, after = sides
    text = plain(before) + candidate + plain(after)
    forms, owner = [""], []
    for i, character in enumerate(text):
        if i in cuts and forms[-1]:
            forms.append("")
        forms[-1] += character
        owner.append(len(forms))
    start = len(plain(before))
    expected = owner[start : start + len(candidate)]
    found = find_blank(Tree(tuple(forms), tuple(range(len(forms)))), question(before, after, candidate), candidate)
    assert found[1:] == (expected[0], expected[-1])
    left, right = owner[:start], owner[start + len(candidate) :]
    assert is_whole(found, question(before, after)) == ({expected[0], expected[-1]}.isdisjoint([*left, *right]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("I saw it .", "word 2 is 'saw' where question 7 with 'see' (q.csv:8) has 'seeit.'"),
        ("i see it .", "word 1 is 'i' where question 7 with 'see' (q.csv:8) has 'Iseeit.'"),
        ("I see", "the parse ends before 'it.' of question 7 with 'see' (q.csv:8)"),
        ("I see it . .", "word 5 is '.' where question 7 with 'see' (q.csv:8) has the end"),
        ("I see it .more", "word 4 is '.more' where question 7 with 'see' (q.csv:8) has '.'"),
    ],
)
def test_other_words(words: str, said: str) -> None:
    with pytest.raises(FormatError) as refused:
        find_blank(tree(words), question("I ", " it.", "see", "saw"), "see")
    assert str(refused.value) == f"p.conllu:3 (sent_id q7a): {said}"


@pytest.mark.parametrize(
    ("words", "side"), [("We _____ it .", "before"), ("I _____ them .", "after"), ("I it .", "after")]
)
def test_other_words_around_a_blank(words: str, side: str) -> None:
    with pytest.raises(FormatError, match=rf"p\.conllu:3 .* the words {side} the blank are not those of question 7"):
        find_blank(tree(words), question("I ", " it ." if side == "before" or "them" in words else " I it ."))


def test_own_parses() -> None:
    asked = question("I ", " it", "see", "have seen")
    parses = Parses([[tree("I see it"), tree("I see it", "q7a/2")], [tree("I have seen it")]])
    assert [[each[1:] for each in one] for one in own_parses(asked, parses)] == [[(2, 2), (2, 2)], [(2, 3)]]
    with pytest.raises(
        FormatError, match=r"q\.csv:8: question 7: no parse with sent_id q7b, of candidate 'have seen'$"
    ):
        own_parses(asked, Parses([[tree("I see it")], []]))
    with pytest.raises(FormatError, match="only one of the question: share it with --share-parse"):
        own_parses(asked, Parses([[], []], [tree("I _____ it")]))


def test_shared_parses() -> None:
    asked = question("I ", " it", "see", "saw")
    flat, deep = tree("I see it"), Tree(("I", "saw", "it"), (2, 0, 2))
    first, second = shared_parses(asked, Parses([[flat], [deep]]))
    assert [(each.tree.forms[1], each.tree.heads) for each in first] == [("see", flat.heads), ("see", deep.heads)]
    assert [(each.tree.forms[1], each.tree.heads) for each in second] == [("saw", flat.heads), ("saw", deep.heads)]
    first, second = shared_parses(asked, Parses([[flat], []], [tree("I anything it")]))  # that of the question alone
    assert [[each.tree.forms for each in one] for one in (first, second)] == [
        [("I", "see", "it")],
        [("I", "saw", "it")],
    ]


def test_sharing_with_several_words() -> None:
    asked = question("I ", " it", "have seen", "did see")
    (filled,), _ = shared_parses(asked, Parses([[], []], [tree("I x y it")]))
    assert (filled.tree.forms, filled[1:]) == (("I", "have", "seen", "it"), (2, 3))


def test_a_parse_that_splits_a_candidate_is_left_out() -> None:
    asked = question("the ", " hat", "red", "king's")
    first, second = shared_parses(asked, Parses([[tree("the red hat")], [tree("the king 's hat")]]))
    assert [each.tree.forms for each in (*first, *second)] == [("the", "red", "hat"), ("the", "king's", "hat")]


@pytest.mark.parametrize(
    ("candidates", "parses", "said"),
    [
        (("see", "have seen"), [], "candidates of unequal numbers of words cannot share a parse: 'see', 'have seen'"),
        (("see", "saw"), [], "no parse with sent_id q7, of the question, and none of its candidates, q7a and so on"),
        (("see", "saw"), ["I have seen it"], "no parse has 1 words in its blank, as many as the candidates have"),
    ],
)
def test_what_cannot_be_shared(candidates: tuple[str, ...], parses: list[str], said: str) -> None:
    with pytest.raises(FormatError) as refused:
        shared_parses(question("I ", " it", *candidates), Parses([[], []], [tree(each) for each in parses]))
    assert str(refused.value) == f"q.csv:8: question 7: {said}"


def test_a_blank_that_is_part_of_a_word_cannot_be_shared() -> None:
    with pytest.raises(FormatError, match="no parse has 1 words in its blank"):
        shared_parses(question("un", " it", "do", "did"), Parses([[], []], [tree("undo it")]))


@pytest.mark.parametrize(
    ("before", "candidate", "after", "forms", "found"),
    [
        ("I ", "see", " it .", "I see it .", (2, 2)),
        ("I  ", "have seen", " it.", "I have seen it.", (2, 3)),
        ("", "see", ".", "see.", (1, 1)),
        ("un", "do", "ing it", "undoing it", (1, 1)),
        ("I ", "_____", ", it", "I _____ , it", (2, 2)),
        ("(", "_____", ")", "( _____ )", (2, 2)),
    ],
)
def test_without_parses(before: str, candidate: str, after: str, forms: str, found: tuple[int, int]) -> None:
    filled = from_text(question(before, after), candidate)
    assert (" ".join(filled.tree.forms), filled[1:]) == (forms, found)


def test_with_words() -> None:
    filled = find_blank(tree("I see it"), question("I ", " it"))
    assert with_words(filled, ["saw"]).tree.forms == ("I", "saw", "it")


def test_the_place_of_a_blank() -> None:
    asked = question("I ", " it.")
    assert place_of_blank(asked, None) == (from_text(asked).tree, 2)
    parsed = tree("I thing it .")
    assert place_of_blank(asked, Parses([], [parsed])) == (parsed, 2)
    with pytest.raises(FormatError, match=r"q\.csv:8: question 7: no parse with sent_id q7, of the question"):
        place_of_blank(asked, Parses([]))
    with pytest.raises(FormatError, match=r"q\.csv:8: question 7: 2 parses with sent_id q7, where one is needed"):
        place_of_blank(asked, Parses([], [parsed, parsed]))
    with pytest.raises(FormatError, match=r"p\.conllu:3 .*: the blank of question 7 is not one word: 'have seen'"):
        place_of_blank(asked, Parses([], [tree("I have seen it .")]))
