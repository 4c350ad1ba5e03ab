"""SequenceBatch: the same sentences word by word from left to right, for models that need no tree.

The symbol of ROOT begins and ends a sentence: it is read before the first word (and not predicted), and predicted after
the last. Steps are sorted by place in the sentence and, within a place, longest sentence first, so the sentences still
going on are the first ones of each place. Row 0 is the initial state, as in `Batch`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ramify.corpus.corpus import Corpus
from ramify.corpus.structure import Array
from ramify.corpus.vocabulary import ROOT


@dataclass(frozen=True, slots=True, eq=False)
class SequenceBatch:
    """N words and B ends of sentences, N + B predictions; all numbers int32."""

    sentences: Array  # [B] their numbers in the corpus
    word: Array  # [N + B + 1] word to predict, ROOT at the end of a sentence
    before: Array  # [N + B + 1] the word before it, ROOT at the beginning
    sentence: Array  # [N + B + 1] place of its sentence in `sentences`; -1 for row 0
    position: Array  # [N + B + 1] number of the word in its sentence, n + 1 for the end; 0 for row 0
    predecessor: Array  # [N + B + 1] row of the step before; 0 at the beginning
    successor: Array  # [N + B + 1] row of the step after; 0 at the end
    mirror: Array  # [N + B + 1] row of the word as far from the end as this one is from the beginning; for reading back
    groups: Array  # [T + 1] rows groups[t] to groups[t + 1] have the position t + 1

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def n_words(self) -> int:
        return len(self.word) - 1 - len(self.sentences)

    @property
    def is_end(self) -> Array:
        """Which rows (1 and up) predict the end of a sentence."""
        return np.equal(self.successor[1:], 0)


def build_sequence_batch(corpus: Corpus, sentences: Array) -> SequenceBatch:
    """The batch of these sentences of a corpus; their order in `sentences` is kept."""
    sentences = np.ascontiguousarray(sentences, np.int32)
    if len(sentences) and not 0 <= sentences.min() <= sentences.max() < len(corpus):  # numpy counts -1 from the end
        raise IndexError("a batch was asked for a sentence that the corpus does not have")
    steps = corpus.lengths[sentences].astype(np.int64) + 1  # the end is one of them
    total, longest = int(steps.sum()), int(steps.max(initial=0))
    sentence = np.repeat(np.arange(len(sentences)), steps)
    position = np.arange(total) - np.repeat(np.cumsum(steps) - steps, steps) + 1
    going_on = np.lexsort((sentence, -steps[sentence], position))  # by position, then the longest first
    sentence, position = sentence[going_on], position[going_on]
    groups = np.concatenate([[1], 1 + np.cumsum(np.bincount(position - 1, minlength=longest))])
    place = np.arange(total) - (groups[position - 1] - 1)  # of the sentence among those of this position
    first = position == 1
    last = position == steps[sentence]
    at = corpus.offsets[sentences[sentence]] + position - 1  # of the word to predict, in the corpus
    word = np.where(last, ROOT, corpus.words[np.where(last, 0, at)])
    before = np.where(first, ROOT, corpus.words[np.where(first, 0, at - 1)])
    predecessor = np.where(first, 0, groups[np.maximum(position - 2, 0)] + place)
    successor = np.where(last, 0, groups[np.minimum(position, longest - 1)] + place)
    mirror = groups[steps[sentence] - position] + place
    return SequenceBatch(
        sentences,
        _with_row_0(ROOT, word),
        _with_row_0(ROOT, before),
        _with_row_0(-1, sentence),
        _with_row_0(0, position),
        _with_row_0(0, predecessor),
        _with_row_0(0, successor),
        _with_row_0(0, mirror),
        groups.astype(np.int32),
    )


def _with_row_0(value: int, column: Array) -> Array:
    return np.concatenate([[value], column]).astype(np.int32)
