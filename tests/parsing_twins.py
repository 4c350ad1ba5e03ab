"""The slow twins of the decoders: every projective tree with one root word, scored by the definition."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import TreeError
from ramify.trees import Tree, dependents, is_projective


@cache
def projective_trees(n: int) -> tuple[Tree, ...]:
    """All of n words that have one root word."""
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) == 1:
            try:
                tree = Tree(["w"] * n, heads)
            except TreeError:
                continue
            if is_projective(tree):
                found.append(tree)
    return tuple(found)


def score_of(tree: Tree, scores: Array) -> float:
    """The sum over arcs, or over pairs of adjacent siblings and the last dependents of all sides."""
    if scores.ndim == 2:
        return float(sum(scores[head, word] for word, head in enumerate(tree.heads, 1)))
    total = 0.0
    for head, sides in enumerate(dependents(tree)):
        for side in sides:
            total += sum(scores[head, word, before] for before, word in itertools.pairwise([head, *side]))
            total += scores[head, head, side[-1]] if side else 0.0
    return float(total)


def random_scores(n: int, order: int, seed: int, ties: bool = False) -> Array:
    """Scores of which sums are exact, so that equal trees have equal scores; with ties, there are many of these."""
    random = np.random.default_rng([n, order, seed])
    shape = (n + 1,) * (order + 1)
    return random.integers(-2, 3, shape) * 1.0 if ties else random.integers(-(2**20), 2**20, shape) / 2.0**16
