"""Statistics: what the sentences of a corpus look like, counted once and summed up by pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramify.corpus.compiled import compiled
from ramify.corpus.corpus import Corpus
from ramify.corpus.structure import Array, read_paths
from ramify.corpus.vocabulary import UNK
from ramify.trees import EdgeType

# What is counted: values[i] sentences or words have the value i.
HISTOGRAMS = ("length", "depth", "word depth", "level", "left arity", "right arity", "dependency length")


@dataclass(frozen=True)
class Summary:
    """A histogram in four numbers."""

    mean: float
    median: int
    p90: int
    max: int


@dataclass(frozen=True)
class Statistics:
    """Counts over the sentences of a corpus.

    Depth counts heads up to ROOT, level the steps of the dependency path; the depth of a sentence is that of its
    deepest word. Dependency length leaves out the dependents of ROOT, arity counts the dependents of words alone.
    """

    sentences: int
    words: int
    types: int
    vocabulary: int
    unknown: int  # words that are UNK
    edges: Mapping[str, int]
    nonprojective: int
    multi_root: int
    histograms: Mapping[str, Array]

    def summary(self, name: str) -> Summary:
        return summarise(self.histograms[name])

    def to_json(self, histograms: bool = False) -> dict[str, Any]:
        parts: dict[str, Any] = {
            "sentences": self.sentences,
            "words": self.words,
            "types": self.types,
            "vocabulary": self.vocabulary,
            "unknown": self.unknown,
            "nonprojective": self.nonprojective,
            "multi_root": self.multi_root,
            "edges": dict(self.edges),
        }
        parts.update({name.replace(" ", "_"): vars(self.summary(name)) for name in HISTOGRAMS})
        if histograms:
            parts["histograms"] = {name.replace(" ", "_"): self.histograms[name].tolist() for name in HISTOGRAMS}
        return parts


def summarise(histogram: Array) -> Summary:
    """Mean, median, ninth decile and maximum of the values that a histogram counts."""
    total = int(histogram.sum())
    if not total:
        return Summary(0.0, 0, 0, 0)
    upto = np.cumsum(histogram)
    median, p90 = (int(np.searchsorted(upto, share * total)) for share in (0.5, 0.9))
    values = np.arange(len(histogram))
    return Summary(float(values @ histogram / total), median, p90, int(np.flatnonzero(histogram)[-1]))


def statistics(corpus: Corpus) -> Statistics:
    """Count a corpus."""
    longest = int(corpus.lengths.max())
    table, edges, nonprojective, multi_root = _count(corpus.heads, corpus.offsets, longest)
    histograms = {name: np.trim_zeros(row, "b") for name, row in zip(HISTOGRAMS, table, strict=True)}
    return Statistics(
        len(corpus),
        corpus.n_words,
        int(corpus.about.get("types", len(corpus.vocabulary) - 2)),
        len(corpus.vocabulary),
        int(np.count_nonzero(corpus.words == UNK)),
        {str(edge): int(edges[edge]) for edge in EdgeType},
        nonprojective,
        multi_root,
        histograms,
    )


@compiled
def _count(heads: Array, offsets: Array, longest: int) -> tuple[Array, Array, int, int]:
    table = np.zeros((7, longest + 1), np.int64)  # a row for each of HISTOGRAMS
    edges = np.zeros(4, np.int64)
    nonprojective, multi_root = 0, 0
    before, edge, level = np.empty(longest, np.int32), np.empty(longest, np.int8), np.empty(longest, np.int32)
    scratch = np.empty(longest + 1, np.int32)
    depth, trail = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32)
    left, right = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32)
    first, last, size = (
        np.empty(longest + 1, np.int32),
        np.empty(longest + 1, np.int32),
        np.empty(longest + 1, np.int32),
    )
    order, free = np.empty(longest + 1, np.int32), np.empty(longest + 2, np.int32)
    for i in range(len(offsets) - 1):
        n = offsets[i + 1] - offsets[i]
        head = heads[offsets[i] : offsets[i + 1]]
        read_paths(head, before, edge, level, scratch)

        # Depth of each word: up to a word whose depth is known, and back down.
        depth[: n + 1] = 0
        deepest, roots = 0, 0
        for word in range(1, n + 1):
            steps, at = 0, word
            while at and depth[at] == 0:
                trail[steps] = at
                steps += 1
                at = head[at - 1]
            known = depth[at]
            while steps:
                steps -= 1
                known += 1
                depth[trail[steps]] = known
            deepest = max(deepest, known)

        left[: n + 1] = 0
        right[: n + 1] = 0
        for word in range(1, n + 1):
            above = head[word - 1]
            edges[edge[word - 1]] += 1
            table[2, depth[word]] += 1
            table[3, level[word - 1]] += 1
            if above == 0:
                roots += 1
                continue
            if word < above:
                left[above] += 1
                table[6, above - word] += 1
            else:
                right[above] += 1
                table[6, word - above] += 1
        for word in range(1, n + 1):
            table[4, left[word]] += 1
            table[5, right[word]] += 1
        table[0, n] += 1
        table[1, deepest] += 1
        multi_root += roots > 1

        # Projective: each word and its descendants stand side by side. Dependents come before heads, deepest first.
        free[: deepest + 2] = 0
        for word in range(1, n + 1):
            free[deepest - depth[word] + 1] += 1
        for d in range(deepest):
            free[d + 1] += free[d]
        for word in range(1, n + 1):
            order[free[deepest - depth[word]]] = word
            free[deepest - depth[word]] += 1
            first[word], last[word], size[word] = word, word, 1
        for k in range(n):
            word = order[k]
            if last[word] - first[word] + 1 != size[word]:
                nonprojective += 1
                break
            above = head[word - 1]
            if above:
                first[above] = min(first[above], first[word])
                last[above] = max(last[above], last[word])
                size[above] += size[word]
    return table, edges, nonprojective, multi_root
