"""Blanks: which words of a parse are the candidate, and filled sentences where no parse is given.

The text of a question is not tokenised as its parse is, so the two are laid side by side without their spaces, quotes
and brackets in one spelling, and compared character by character. Case counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from ramify.errors import FormatError
from ramify.formats.parses import Parses
from ramify.formats.questions import BLANK, Question, letter
from ramify.trees import Tree

_QUOTES = str.maketrans({"`": "'", "\u2018": "'", "\u2019": "'", '"': "''", "\u201c": "''", "\u201d": "''"})
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_BRACKET = re.compile("|".join(_BRACKETS))


class Filled(NamedTuple):
    """A sentence with a candidate in its blank: the tree, and the words of the candidate, first and last."""

    tree: Tree
    first: int
    last: int


def plain(text: str) -> str:
    """Text as it is compared: no spaces, one spelling of quotes and brackets."""
    return _BRACKET.sub(lambda found: _BRACKETS[found[0]], "".join(text.split())).translate(_QUOTES)


def find_blank(tree: Tree, question: Question, candidate: str | None = None) -> Filled:
    """The words of a parse that stand in the blank: the candidate, or whatever it is where none is named."""
    forms = [plain(form) for form in tree.forms]
    ends = list(accumulate(map(len, forms)))
    before, after, text = plain(question.before), plain(question.after), "".join(forms)
    if candidate is not None:
        expected = before + plain(candidate) + after
        if text != expected:
            raise _other_words(tree, question, candidate, expected, text, ends)
    elif not (text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)):
        side = "before" if not text.startswith(before) else "after"
        message = f"the words {side} the blank are not those of question {question.id} ({_row(question)})"
        raise FormatError(message, tree.source, tree.line, tree.sent_id)
    start, end = len(before), len(text) - len(after)
    words = [word for word, stop in enumerate(ends, 1) if stop > start and stop - len(forms[word - 1]) < end]
    return Filled(tree, words[0], words[-1])


def is_whole(filled: Filled, question: Question) -> bool:
    """Whether the blank is made of whole words: in `_____like` it may share one with its neighbour."""
    forms = [plain(form) for form in filled.tree.forms]
    before = len("".join(forms[: filled.first - 1]))
    after = len("".join(forms[filled.last :]))
    return (before, after) == (len(plain(question.before)), len(plain(question.after)))


def _other_words(
    tree: Tree, question: Question, candidate: str, expected: str, text: str, ends: Sequence[int]
) -> FormatError:
    shorter = min(len(text), len(expected))
    at = next((i for i in range(shorter) if text[i] != expected[i]), shorter)
    where = f"question {question.id} with {candidate!r} ({_row(question)})"
    if at == len(text):
        message = f"the parse ends before {expected[at : at + 15]!r} of {where}"
    else:
        word = next(word for word, end in enumerate(ends, 1) if end > at)
        start = ends[word - 2] if word > 1 else 0
        said = repr(expected[start : start + 15]) if start < len(expected) else "the end"
        message = f"word {word} is {tree.forms[word - 1]!r} where {where} has {said}"
    return FormatError(message, tree.source, tree.line, tree.sent_id)


def _row(question: Question) -> str:
    return f"{question.source}:{question.line}"


# --- the sentences of a question -------------------------------------------------------------------------------------


def own_parses(question: Question, parses: Parses) -> list[list[Filled]]:
    """For each candidate its own parses."""
    for i, trees in enumerate(parses.of_candidates):
        if not trees:
            named = f"no parse with sent_id q{question.name}{letter(i)}, of candidate {question.candidates[i]!r}"
            hint = ", only one of the question: share it with --share-parse" if parses.of_question else ""
            raise question.refused(named + hint)
    return [
        [find_blank(tree, question, candidate) for tree in trees]
        for candidate, trees in zip(question.candidates, parses.of_candidates, strict=True)
    ]


def shared_parses(question: Question, parses: Parses) -> list[list[Filled]]:
    """For each candidate all parses of the question with the candidate put in place; those of the question itself, or
    else those of all its candidates.

    A parse with more words in its blank than the candidates have, as one that splits woman's, is left out.
    """
    words = [candidate.split() for candidate in question.candidates]
    if len({len(each) for each in words}) > 1:
        shown = ", ".join(map(repr, question.candidates))
        raise question.refused(f"candidates of unequal numbers of words cannot share a parse: {shown}")
    if not parses.of_question and not any(parses.of_candidates):
        names = f"q{question.name}, of the question, and none of its candidates, q{question.name}a and so on"
        raise question.refused(f"no parse with sent_id {names}")
    if parses.of_question:
        places = [find_blank(tree, question) for tree in parses.of_question]
    else:
        places = [filled for each in own_parses(question, parses) for filled in each]
    places = [each for each in places if each.last - each.first + 1 == len(words[0]) and is_whole(each, question)]
    if not places:
        raise question.refused(f"no parse has {len(words[0])} words in its blank, as many as the candidates have")
    return [[with_words(place, each) for place in places] for each in words]


def with_words(filled: Filled, words: Sequence[str]) -> Filled:
    """Other words in the blank, as many as stand there."""
    tree, first, last = filled
    return Filled(replace(tree, forms=(*tree.forms[: first - 1], *words, *tree.forms[last:])), first, last)


def from_text(question: Question, candidate: str = BLANK) -> Filled:
    """The text with a candidate, split at blanks, as a tree whose heads say nothing. Without a candidate the blank is a
    word of its own."""
    gap = " " if candidate == BLANK else ""
    before, after = question.before + gap, gap + question.after
    words = (before + candidate + after).split()
    first = len((before + "x").split())  # the word that the candidate begins
    last = len((before + candidate).split())
    heads = range(len(words))  # each word hangs on the one before
    return Filled(Tree(tuple(words), tuple(heads), sent_id=question.id), first, last)


def place_of_blank(question: Question, parses: Parses | None) -> tuple[Tree, int]:
    """The tree of a question, and the one word of its blank, whichever it is."""
    if parses is None:
        tree, first, _ = from_text(question)
        return tree, first
    if not parses.of_question:
        raise question.refused(f"no parse with sent_id q{question.name}, of the question with any word in its blank")
    if len(parses.of_question) > 1:
        raise question.refused(f"{len(parses.of_question)} parses with sent_id q{question.name}, where one is needed")
    filled = find_blank(parses.of_question[0], question)
    if filled.first != filled.last or not is_whole(filled, question):
        tree, first, last = filled
        message = f"the blank of question {question.id} is not one word: {' '.join(tree.forms[first - 1 : last])!r}"
        raise FormatError(message, tree.source, tree.line, tree.sent_id)
    return filled.tree, filled.first
