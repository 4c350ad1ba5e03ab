"""Evaluate: how well a model predicts a corpus, as sums from which perplexities are made by pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ramify.corpus import Corpus, Loader, Schedule, SequenceBatch, Vocabulary
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import ROOT, UNK
from ramify.model.language_model import LanguageModel

BATCH_WORDS = 4096
GPU_BATCH_WORDS = 1 << 15


@dataclass(frozen=True)
class Evaluation:
    """Log-probabilities (natural) summed over words, over those that are UNK, and over ends of sentences."""

    kind: str  # P(S|T), P(S) or pseudo-likelihood
    sentences: int
    words: int
    unknown: int
    logprob: float  # of all words
    logprob_unknown: float
    logprob_ends: float | None = None  # a tree model predicts no ends

    @property
    def entropy(self) -> float:
        """Natural log, a word."""
        return -self.logprob / self.words

    @property
    def ppl(self) -> float:
        return _ppl(self.entropy)

    @property
    def ppl_known(self) -> float:
        """Perplexity of the words that are not UNK."""
        known = self.words - self.unknown
        return _ppl(-(self.logprob - self.logprob_unknown) / known) if known else math.nan

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "ppl": self.ppl,
            "ppl_known": self.ppl_known,
            "unk_rate": self.unknown / self.words,
            "sents": self.sentences,
            "words": self.words,
            "logprob": self.logprob,
            "logprob_ends": self.logprob_ends,
        }


def _ppl(entropy: float) -> float:
    return math.exp(min(entropy, 700.0))  # or else more than a float holds


def evaluate(
    model: LanguageModel,
    corpus: Corpus,
    sentences: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score sentences of a corpus (all of them when none are named) with the normalised softmax."""
    chosen = corpus.everything if sentences is None else sentences
    words_at_once = GPU_BATCH_WORDS if model.embedding.is_cuda else BATCH_WORDS
    schedule = Schedule(batch_words=words_at_once, shuffle=False, window=100)
    loader = Loader(corpus, schedule, chosen, build=model.build)
    words = unknown = 0
    total = of_unknown = of_ends = 0.0
    was_training = model.training
    model.eval()
    try:
        for batch in loader.epoch():
            found = model.log_probabilities(batch).double().cpu()
            target = torch.from_numpy(batch.word[1:])
            if isinstance(batch, SequenceBatch):
                end = torch.from_numpy(np.ascontiguousarray(batch.is_end))
                of_ends += found[end].sum().item()
                found, target = found[~end], target[~end]
            words += len(found)
            unknown += int((target == UNK).sum())
            total += found.sum().item()
            of_unknown += found[target == UNK].sum().item()
            if progress:
                progress(len(found))
    finally:
        model.train(was_training)
    ends = None if model.config.kind.reads_trees else of_ends
    return Evaluation(model.config.kind.number, len(chosen), words, unknown, total, of_unknown, ends)


def unigram(vocabulary: Vocabulary, corpus: Corpus) -> Evaluation:
    """The baseline that knows how often words occur and nothing else."""
    counts = vocabulary.counts.astype(np.float64)
    counts[ROOT] = 0  # never predicted
    with np.errstate(divide="ignore"):  # a vocabulary may have no unknown words
        logprobs = np.log(counts / counts.sum())[corpus.words]
    unknown = corpus.words == UNK
    return Evaluation(
        "P(S)", len(corpus), len(logprobs), int(unknown.sum()), float(logprobs.sum()), float(logprobs[unknown].sum())
    )
