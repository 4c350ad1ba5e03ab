"""Score: the log-probability of every word of trees, streamed, in the order in which the trees come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import torch

from ramify.corpus import Encoding, Loader, Schedule, SequenceBatch, Vocabulary, encode_trees
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import UNK
from ramify.errors import CallError
from ramify.model.config import ModelConfig
from ramify.model.folder import load_model
from ramify.model.language_model import LanguageModel
from ramify.trees import Tree, predecessors

if TYPE_CHECKING:
    from ramify.tasks.fill import Filling

WINDOW = 2000  # sentences that are sorted into batches together; memory does not grow beyond them
BATCH_WORDS = 4096

T = TypeVar("T")


class WordScore(NamedTuple):
    """One word of a scored tree, a row of the table."""

    sent_id: str
    id: int
    form: str
    head: int
    edge: str  # how the word is reached from its predecessor; empty for a model that reads no trees
    logprob: float  # natural
    surprisal: float  # bits
    is_unk: bool


COLUMNS = (*WordScore._fields, "logprob_end", "kind")


@dataclass(frozen=True)
class SentenceScore:
    """The scores of one tree. `end` is the log-probability of the sentence's end, where the model predicts it."""

    tree: Tree
    kind: str  # P(S|T), P(S) or pseudo-likelihood
    logprobs: Array  # [n] natural
    is_unk: Array  # [n]
    end: float | None = None

    @property
    def logprob(self) -> float:
        """Of the sentence: the sum over its words, and its end where there is one."""
        return float(self.logprobs.sum()) + (self.end or 0.0)

    @property
    def surprisals(self) -> Array:
        """[n] bits."""
        return -self.logprobs / math.log(2)

    @property
    def words(self) -> list[WordScore]:
        tree = self.tree
        edges = [str(step.edge) for step in predecessors(tree)] if self.kind == "P(S|T)" else [""] * len(tree)
        columns = (
            tree.forms,
            tree.heads,
            edges,
            self.logprobs.tolist(),
            self.surprisals.tolist(),
            self.is_unk.tolist(),
        )
        return [WordScore(tree.sent_id, number, *row) for number, row in enumerate(zip(*columns, strict=True), 1)]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Rows of the table with its COLUMNS; the end, where there is one, stands beside the last word."""
        words = self.words
        ends = [None] * (len(words) - 1) + [self.end]
        return [(*word, end, self.kind) for word, end in zip(words, ends, strict=True)]


class Scores:
    """Scores as they are made, one for each tree; once through."""

    def __init__(self, each: Iterator[SentenceScore]) -> None:
        self._each = each

    def __iter__(self) -> Iterator[SentenceScore]:
        return self._each

    def to_pandas(self) -> Any:
        """The table of `ramify score`, with a row for each word."""
        try:
            import pandas
        except ImportError:
            raise CallError("to_pandas needs one more package: pip install 'ramify[tables]'") from None

        frame = pandas.DataFrame([row for sentence in self for row in sentence.rows], columns=COLUMNS)
        return frame.astype({"logprob_end": float})  # where no model predicts an end, too


class LM:
    """A trained model with its vocabulary: `lm = ramify.load("model/")`."""

    def __init__(self, model: LanguageModel, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    @property
    def kind(self) -> str:
        """What its numbers are: P(S|T), P(S) or a pseudo-likelihood."""
        return self.config.kind.number

    def score(self, tree: Tree) -> SentenceScore:
        """The scores of one tree."""
        return next(iter(self.scores([tree])))

    def scores(self, trees: Iterable[Tree]) -> Scores:
        """The scores of any number of trees, a few thousand at a time."""
        return Scores(self._scores(iter(trees)))

    def states(self, tree: Tree) -> Array:
        """The hidden state before each word of the tree (and, for a sequence model, before its end) [n, D]."""
        corpus = encode_trees([tree], self._encoding)
        batch = self.model.build(corpus, corpus.everything)
        with torch.no_grad():
            found = self.model.states(batch).float().cpu().numpy()
        return np.asarray(found[np.argsort(batch.position[1:], kind="stable")])

    def fill(self, tree: Tree, position: int, top: int = 10, shortlist: int = 200) -> list[Filling]:
        """The likeliest words in place of the word `position` (1..n), each with its log-probability among those of the
        shortlist, the whole sentence being scored."""
        from ramify.tasks.fill import fill

        return fill(self, tree, position, top, shortlist)

    @property
    def _encoding(self) -> Encoding:
        return Encoding(vocabulary=self.vocabulary)

    def _scores(self, trees: Iterator[Tree]) -> Iterator[SentenceScore]:
        schedule = Schedule(batch_words=BATCH_WORDS, shuffle=False, window=WINDOW)
        for window in in_windows(trees):
            corpus = encode_trees(window, self._encoding)
            logprobs = np.empty(corpus.n_words, np.float64)
            ends = np.full(len(corpus), np.nan)
            for batch in Loader(corpus, schedule, corpus.everything, build=self.model.build).epoch():
                found = self.model.log_probabilities(batch).double().cpu().numpy()
                sentence = batch.sentences[batch.sentence[1:]]
                place = corpus.offsets[sentence] + batch.position[1:] - 1
                if isinstance(batch, SequenceBatch):
                    end = batch.is_end
                    ends[sentence[end]] = found[end]
                    sentence, place, found = sentence[~end], place[~end], found[~end]
                logprobs[place] = found
            unknown = corpus.words == UNK
            for i, tree in enumerate(window):
                here = slice(int(corpus.offsets[i]), int(corpus.offsets[i + 1]))
                of_end = None if self.config.kind.reads_trees else float(ends[i])
                yield SentenceScore(tree, self.kind, logprobs[here], unknown[here], of_end)


def in_windows(items: Iterator[T]) -> Iterator[list[T]]:
    """Some thousand at a time."""
    while window := list(islice(items, WINDOW)):
        yield window


def load(folder: str | Path, device: str = "cpu") -> LM:
    """Open a trained model."""
    return LM(*load_model(folder, device))
