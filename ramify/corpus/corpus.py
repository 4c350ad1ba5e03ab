"""Corpus: sentences as flat arrays of numbers, in memory or mapped from a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ramify.corpus.structure import Array, deepest_levels
from ramify.corpus.vocabulary import Vocabulary
from ramify.trees import Tree


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """The smallest type that holds the numbers 0 to `largest`."""
    return np.min_scalar_type(largest)


@dataclass(frozen=True, eq=False)  # arrays have no single truth
class Corpus:
    """Word ids, heads and labels of all words, one sentence after another; lengths and depths of the sentences.

    A head is the number (1..n) of a word of the same sentence, 0 for ROOT. A depth is the deepest level. `held_out`
    names the sentences that training leaves alone.
    """

    vocabulary: Vocabulary
    words: Array
    heads: Array
    labels: Array
    lengths: Array
    depths: Array
    held_out: Array
    about: dict[str, Any] = field(default_factory=dict, repr=False)  # sources, options, what was left out
    offsets: Array = field(init=False, repr=False)  # sentence i has the words offsets[i] to offsets[i + 1]

    def __post_init__(self) -> None:
        offsets = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(self.lengths, out=offsets[1:], dtype=np.int64)
        object.__setattr__(self, "offsets", offsets)
        for array in (self.words, self.heads, self.labels, self.lengths, self.depths, self.held_out, offsets):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_words(self) -> int:
        return int(self.offsets[-1])

    @property
    def training(self) -> Array:
        """The sentences that are not held out."""
        mask = np.ones(len(self), bool)
        mask[self.held_out] = False
        return np.flatnonzero(mask).astype(np.int32)

    @property
    def everything(self) -> Array:
        return np.arange(len(self), dtype=np.int32)

    def tree(self, sentence: int) -> Tree:
        """A sentence as a tree, its words spelled as in the vocabulary."""
        here = slice(self.offsets[sentence], self.offsets[sentence + 1])
        return Tree(
            tuple(self.vocabulary.words[word] for word in self.words[here]),
            tuple(self.heads[here].tolist()),
            tuple(self.vocabulary.labels[label] for label in self.labels[here]),
        )

    def trees(self, sentences: Iterable[int] | None = None) -> Iterator[Tree]:
        return (self.tree(sentence) for sentence in (range(len(self)) if sentences is None else sentences))


def depths_of(heads: Array, lengths: Array) -> Array:
    """The deepest level of each sentence."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:], dtype=np.int64)
    depths = np.empty(len(lengths), np.int32)
    deepest_levels(heads, offsets, depths)
    return depths.astype(smallest_unsigned(int(depths.max(initial=0))))
