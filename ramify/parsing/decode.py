"""Decode: from scores to the best trees, sentence by sentence on all cores.

Scores of arcs [n + 1, n + 1] (head, dependent) are first order; those of `sibling.py`, [n + 1, n + 1, n + 1], second.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import CallError
from ramify.parsing import eisner, sibling
from ramify.parsing.kbest import k_best_trees

CHUNK = 16  # sentences that a thread takes at a time


class Parse(NamedTuple):
    """A projective tree with one root word, as heads [n], and its score."""

    heads: Array
    score: float


def decode(scores: Iterable[Array], k: int = 1, threads: int | None = None) -> list[list[Parse]]:
    """The k best trees of each sentence, best first and all different; fewer where there are no more.

    Of equal trees any may come first. Without `threads`, there are as many as cores.
    """
    if k < 1:
        raise CallError(f"the number of trees is at least 1, not {k}")
    given = list(scores)
    for number, each in enumerate(given, 1):
        if each.ndim not in (2, 3) or len(set(each.shape)) != 1 or len(each) < 2:
            raise CallError(f"scores of sentence {number} are {list(each.shape)}; n words need [n+1, n+1] or one more")
    threads = threads or _cores()
    chunks = [given[start : start + CHUNK] for start in range(0, len(given), CHUNK)]
    if threads == 1 or len(chunks) < 2:
        return [best(each, k) for each in given]
    with ThreadPoolExecutor(threads, thread_name_prefix="ramify-decode") as pool:
        return list(chain.from_iterable(pool.map(lambda chunk: [best(each, k) for each in chunk], chunks)))


def best(scores: Array, k: int = 1) -> list[Parse]:
    """The k best trees of one sentence."""
    n = len(scores) - 1
    if k == 1:
        heads = np.empty(n, np.int32)
        score = (eisner if scores.ndim == 2 else sibling).best_tree(scores, heads)
        return [Parse(heads, score)]
    many, totals = np.empty((k, n), np.int32), np.empty(k)
    found = k_best_trees(scores if scores.ndim == 3 else without_siblings(scores), many, totals)
    return [Parse(heads, score) for heads, score in zip(many[:found], totals[:found].tolist(), strict=True)]


def without_siblings(arcs: Array) -> Array:
    """Second-order scores that are the same as those of arcs: siblings count nothing."""
    scores = np.repeat(arcs[:, :, None], len(arcs), axis=2)
    diagonal = np.arange(len(arcs))
    scores[diagonal, diagonal] = 0.0
    return scores


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
