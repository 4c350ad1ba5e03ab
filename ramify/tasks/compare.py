"""Compare: two models on the same questions, or on the same words of the same sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import CallError, FormatError
from ramify.formats.files import display_name
from ramify.formats.predictions import Prediction
from ramify.formats.tables import Row, read_table
from ramify.tasks.complete import Outcome, right
from ramify.tasks.paired import McNemar, bootstrap, permutation_p

_NEEDED = ("sent_id", "id", "form", "logprob", "is_unk", "logprob_end", "kind")


# --- choices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedChoices:
    """The accuracies of two models, where they differ, and how sure that is."""

    a: Outcome
    b: Outcome
    table: McNemar
    low: float  # of the difference of accuracies
    high: float

    @property
    def difference(self) -> float:
        return self.a.accuracy - self.b.accuracy

    def to_json(self) -> dict[str, Any]:
        about = {"a": self.a.to_json(), "b": self.b.to_json(), **self.table.to_json()}
        return about | {"difference": self.difference, "interval": [self.low, self.high]}


def compare_choices(
    a: Sequence[Prediction], b: Sequence[Prediction], answers: Mapping[str, str], seed: int = 1
) -> PairedChoices:
    """Predictions of the same questions; their order does not matter."""
    theirs = {row.name: row for row in b}
    for row in a:
        other = theirs.pop(row.name, None)
        if other is None:
            raise FormatError(f"question {row.id} is not in {b[0].source}", row.source, row.line)
        if len(other.scores) != len(row.scores):
            there = f"{len(other.scores)} in {other.source}:{other.line}"
            message = f"question {row.id}: {len(row.scores)} candidates, and {there}"
            raise FormatError(message, row.source, row.line)
    for other in theirs.values():
        raise FormatError(f"question {other.id} is not in {a[0].source}", other.source, other.line)
    chosen_by_b = {row.name: row.choice for row in b}
    of_a = right({row.id: row.choice for row in a}, answers)
    of_b = right({row.id: chosen_by_b[row.name] for row in a}, answers)
    low, high = bootstrap(of_a.astype(float) - of_b, seed=seed)
    return PairedChoices(Outcome.of(of_a, seed), Outcome.of(of_b, seed), McNemar.of(of_a, of_b), low, high)


# --- scores of words -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairedScores:
    """The log-probabilities of two models for the same words. Ends of sentences count where they are predicted."""

    kind: str
    sentences: int
    words: int
    left_out: int  # words that one of the models does not know
    logprob_a: float
    logprob_b: float
    low: float  # of the difference for a word
    high: float
    p: float

    @property
    def difference(self) -> float:
        """Of the log-probabilities of a word; above 0 where a is better."""
        return (self.logprob_a - self.logprob_b) / self.words

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "sents": self.sentences,
            "words": self.words,
            "left_out": self.left_out,
            "logprob_a": self.logprob_a,
            "logprob_b": self.logprob_b,
            "difference": self.difference,
            "interval": [self.low, self.high],
            "p": self.p,
        }


class _Word(NamedTuple):
    sent_id: str
    id: str
    form: str
    logprob: float
    unknown: bool
    end: float


def compare_scores(a: str | Path, b: str | Path, *, known_words: bool = False, seed: int = 1) -> PairedScores:
    """Two tables of `ramify score`; with `known_words` without the words that either model does not know."""
    names = display_name(a), display_name(b)
    sums: list[list[float]] = []  # of each sentence: words, log-probability under a, under b
    kinds: set[str] = set()
    left_out = 0
    for row_a, row_b in zip_longest(read_table(a), read_table(b)):
        if row_a is None or row_b is None:
            ended, row, name = (names[0], row_b, names[1]) if row_a is None else (names[1], row_a, names[0])
            raise FormatError(f"{ended} ends before this word", name, row.line, row.values.get("sent_id", ""))
        word_a, word_b = _word(row_a, names[0]), _word(row_b, names[1])
        kinds |= {row_a.values["kind"], row_b.values["kind"]}
        place = names[0], row_a.line, word_a.sent_id
        if row_a.values["kind"] != row_b.values["kind"]:
            message = f"{row_a.values['kind']} here and {row_b.values['kind']} in {names[1]}:{row_b.line} are different"
            raise FormatError(f"{message} kinds of number, and cannot be compared", *place)
        if len(kinds) > 1:
            raise FormatError(f"{' and '.join(sorted(kinds))} in one file: these cannot be compared", *place)
        if word_a[:3] != word_b[:3]:
            message = f"word {word_a.id} is {word_a.form!r}, but in {names[1]}:{row_b.line} word {word_b.id} of "
            raise FormatError(f"{message}{word_b.sent_id or 'the sentence'} is {word_b.form!r}", *place)
        if word_a.unknown != word_b.unknown and not known_words:
            who = names[word_a.unknown]
            message = f"{word_a.form!r} is known to the model of {who} alone: to the other it is UNK, the class of all "
            raise FormatError(
                f"{message}unknown words, which is more probable; leave such words out: --known-words", *place
            )
        if word_a.id == "1":
            sums.append([0.0, 0.0, 0.0])
        elif not sums:
            raise FormatError(f"the first word has the id {word_a.id}, not 1", *place)
        sums[-1][1] += word_a.end
        sums[-1][2] += word_b.end
        if known_words and (word_a.unknown or word_b.unknown):
            left_out += 1
            continue
        sums[-1][0] += 1
        sums[-1][1] += word_a.logprob
        sums[-1][2] += word_b.logprob
    return _tested(np.array(sums), kinds.pop(), left_out, seed)


def _tested(sums: Array, kind: str, left_out: int, seed: int) -> PairedScores:
    words, of_a, of_b = sums.T
    if not words.any():
        raise CallError("there is no word that both models know")
    low, high = bootstrap(of_a - of_b, words, seed=seed)
    p = permutation_p(of_a - of_b, seed=seed)
    totals = float(of_a.sum()), float(of_b.sum())
    return PairedScores(kind, len(words), int(words.sum()), left_out, *totals, low, high, p)


def _word(row: Row, name: str) -> _Word:
    values = row.values
    if missing := [column for column in _NEEDED if column not in values]:
        message = f"no column {missing[0]}: is this a table that ramify score wrote?"
        raise FormatError(message, name, row.line)
    try:
        logprob, end = float(values["logprob"]), float(values["logprob_end"] or 0.0)
    except ValueError:
        raise FormatError("the log-probabilities are no numbers", name, row.line, values["sent_id"]) from None
    return _Word(values["sent_id"], values["id"], values["form"], logprob, values["is_unk"] == "1", end)
