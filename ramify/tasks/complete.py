"""Complete: every candidate's score under a model, and the choices that follow from scores.

A candidate is scored by the whole sentence that it makes, normalised over the vocabulary, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import UNK, Vocabulary
from ramify.errors import CallError, FormatError
from ramify.formats.parses import Parses
from ramify.formats.predictions import Measure, Prediction
from ramify.formats.questions import Question, letter
from ramify.model.config import Kind
from ramify.tasks.blank import Filled, from_text, own_parses, shared_parses
from ramify.tasks.once import key_of, score_once_each
from ramify.tasks.paired import bootstrap
from ramify.tasks.score import LM, SentenceScore
from ramify.tasks.touched import touched

Sentences = list[list[list[Filled]]]  # by question, candidate and parse


@dataclass(frozen=True)
class CandidateScores:
    """The scores of all candidates, question by question; higher is better."""

    ids: tuple[str, ...]
    scores: tuple[Array, ...]  # of each question [candidates]
    kind: str  # what the numbers are: `P(S|T) sum`
    unknown: int = 0  # candidates with words that the model does not know

    @property
    def letters(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(map(letter, range(len(each)))) for each in self.scores)

    @property
    def predictions(self) -> list[Prediction]:
        """Rows of the table; the margin is that of the best over the second."""
        rows = []
        for question, scores in zip(self.ids, self.scores, strict=True):
            best, second = np.sort(scores)[:-3:-1].tolist()
            choice = letter(int(np.argmax(scores)))  # of equals the first
            rows.append(Prediction(question, choice, best - second, self.kind, tuple(scores.tolist())))
        return rows


def from_predictions(rows: Sequence[Prediction], questions: Sequence[Question]) -> CandidateScores:
    """The scores of an earlier run, in the order of the questions; each must be there, with all its candidates."""
    by_name = {row.name: row for row in rows}
    first = rows[0]
    scores = []
    for question in questions:
        row = by_name.pop(question.name, None)
        if row is None:
            raise question.refused(f"it is not in {first.source}")
        if len(row.scores) != len(question.candidates):
            message = f"{len(row.scores)} scores in {row.source}:{row.line} for {len(question.candidates)} candidates"
            raise question.refused(message)
        if row.kind != first.kind:
            message = f"question {row.id}: scores of the kind {row.kind!r}, and {first.kind!r} on line {first.line}"
            raise FormatError(message, row.source, row.line)
        scores.append(np.array(row.scores))
    for row in by_name.values():
        raise FormatError(f"there is no question {row.id!r} among those given", row.source, row.line)
    return CandidateScores(tuple(question.id for question in questions), tuple(scores), first.kind)


def choices(found: CandidateScores) -> dict[str, str]:
    """The letter of the best candidate of each question; of equals the first."""
    return {each.id: each.choice for each in found.predictions}


def accuracy(chosen: Mapping[str, str], answers: Mapping[str, str]) -> float:
    """The share of right choices among the questions whose answer is known."""
    return float(np.mean(right(chosen, answers)))


def right(chosen: Mapping[str, str], answers: Mapping[str, str]) -> Array:
    """For each question whose answer is known, in the order of the questions: is the choice right?"""
    found = np.array([choice == answers[question] for question, choice in chosen.items() if question in answers])
    if not len(found):
        raise CallError("none of the questions has an answer")
    return found


@dataclass(frozen=True)
class Outcome:
    """An accuracy with its 95% bootstrap interval."""

    right: int
    answered: int
    low: float
    high: float

    @classmethod
    def of(cls, right: Array, seed: int = 1) -> Outcome:
        """From which of the answered questions are right."""
        return cls(int(right.sum()), len(right), *bootstrap(right, seed=seed))

    @property
    def accuracy(self) -> float:
        return self.right / self.answered

    def __str__(self) -> str:
        return f"accuracy {self.accuracy:.2%} [{self.low:.2%}, {self.high:.2%}]"

    def to_json(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy,
            "interval": [self.low, self.high],
            "right": self.right,
            "answered": self.answered,
        }


def fill_in(
    questions: Sequence[Question], parses: Sequence[Parses] | None = None, *, shared: bool = False
) -> Sentences:
    """Every sentence to be scored, by question, candidate and parse; from the text where there are no parses."""
    if lacking := next((question for question in questions if not question.candidates), None):
        raise lacking.refused("it has no candidates: add some, or ask for the likeliest words (--top 10)")
    if parses is None:
        return [[[from_text(question, candidate)] for candidate in question.candidates] for question in questions]
    of = shared_parses if shared else own_parses
    return [of(question, each) for question, each in zip(questions, parses, strict=True)]


def score_candidates(
    lm: LM,
    questions: Sequence[Question],
    parses: Sequence[Parses] | None = None,
    *,
    measure: Measure = Measure.SUM,
    shared: bool = False,
    unk_types: float | None = None,
    progress: Callable[[int], object] = lambda sentences: None,
) -> CandidateScores:
    """The scores of all candidates, all sentences in one stream.

    Of several parses T of a candidate counts log mean P(S|T). `unk_types` is how many words the class UNK stands for: a
    candidate of that class then has an even share of its probability. `progress` hears of sentences that are done.
    """
    if parses is None and lm.config.kind.reads_trees:
        raise CallError("a tree model needs a parse of every candidate")
    measure = Measure(measure)
    sentences = fill_in(questions, parses, shared=shared)
    trees = (filled.tree for question in sentences for each in question for filled in each)
    scored = score_once_each(lm, trees, progress)
    scores, unknown = [], 0
    for question in sentences:
        values = []
        for each in question:
            found = [(filled, scored[key_of(lm, filled.tree)]) for filled in each]
            parts = [_counted(filled, score, lm.config.kind, measure, unk_types) for filled, score in found]
            total = _log_mean_exp([part for part, _ in parts])
            values.append(total / float(np.mean([n for _, n in parts])) if measure is Measure.MEAN else total)
            unknown += any(score.is_unk[filled.first - 1 : filled.last].any() for filled, score in found)
        scores.append(np.array(values))
    kind = f"{lm.kind} {measure}" + (" shared" if shared else "") + (" unk-corrected" if unk_types is not None else "")
    return CandidateScores(tuple(question.id for question in questions), tuple(scores), kind, unknown)


def _counted(
    filled: Filled, found: SentenceScore, kind: Kind, measure: Measure, unk_types: float | None
) -> tuple[float, int]:
    """What counts of a sentence, and how many predictions that are."""
    logprobs = found.logprobs if found.end is None else np.append(found.logprobs, found.end)
    if unk_types is not None:
        blank = slice(filled.first - 1, filled.last)
        logprobs = logprobs.copy()
        logprobs[blank] -= found.is_unk[blank] * math.log(unk_types)
    if measure is Measure.TOUCHED:
        logprobs = logprobs[np.array(touched(filled, kind)) - 1]
    return float(logprobs.sum()), len(logprobs)


def _log_mean_exp(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values) / len(values))


def types_of_unk(vocabulary: Vocabulary) -> float:
    """How many different words the class UNK stands for, as far as a vocabulary can tell.

    It has their summed count, and the most that any of them can have. By Zipf's law a share 1 / k(k + 1) of all types
    occurs k times, from which the number follows; where unknown words occur once each, it is exact.
    """
    tokens = int(vocabulary.counts[UNK])
    most, rarest = vocabulary.min_count, int(vocabulary.counts[-1])
    if len(vocabulary) > 2 and rarest > most + 1:  # the vocabulary's size was limited, and cut more off
        most = rarest
    most = max(most, 1)
    types = most / (most + 1)  # sums over k from 1 to most, of 1 / k(k + 1)
    occurrences = sum(1 / (k + 1) for k in range(1, most + 1))  # and of k / k(k + 1)
    return max(1.0, tokens * types / occurrences)
