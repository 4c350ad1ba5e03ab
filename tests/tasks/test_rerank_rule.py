"""Rules and their tuning, beside a search that tries all."""

from __future__ import annotations

import numpy as np
import pytest
from kbest_samples import some_lists

from ramify.corpus.structure import Array
from ramify.errors import CallError
from ramify.tasks.attachment import columns
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.rerank_rule import MIXES, Rule, tune


def test_the_papers_rule() -> None:
    rule = Rule()
    tree = np.array([-9.0, -7.0, -8.0, -7.0, -1.0])
    assert (rule.k, rule.mix) == (4, 1.0)
    assert rule.order(rule.totals(tree, None)) == (1, 3, 2, 0, 4)  # of equals the first; the fifth is not looked at
    assert Rule(1).order(tree) == (0, 1, 2, 3, 4)
    assert Rule(20).order(tree)[0] == 4


def test_a_mixture() -> None:
    tree, base = np.array([-9.0, -7.0]), np.array([-0.1, -2.0])
    assert Rule(2, 0.25).totals(tree, base).tolist() == [0.75 * -0.1 + 0.25 * -9, 0.75 * -2 + 0.25 * -7]
    assert Rule(2, 0.0).order(Rule(2, 0.0).totals(tree, base)) == (0, 1)
    assert Rule(2, 1.0).totals(tree, base).tolist() == tree.tolist()


@pytest.mark.parametrize("wrong", [{"k": 0}, {"mix": -0.1}, {"mix": 1.5}, {"mix": float("nan")}])
def test_no_rule(wrong: dict[str, float]) -> None:
    with pytest.raises(CallError):
        Rule(**wrong)  # type: ignore[arg-type]


def brute_force(
    tree: list[Array], base: list[Array], counts: list[Array], sizes: list[int], shares: tuple[float, ...]
) -> Rule:
    """The slow twin: every rule, candidate by candidate."""
    right, of = columns("paper_uas")
    best, found = (-1.0, 0, 0.0), Rule()
    for k in sizes:
        for share in shares:
            heads = words = 0
            for i, table in enumerate(counts):
                top, choice = -np.inf, 0
                for place in range(min(k, len(table))):
                    total = (1 - share) * base[i][place] + share * tree[i][place]
                    if total > top:
                        top, choice = total, place
                heads += table[choice, right]
                words += table[choice, of]
            reached = round(100 * heads / words, 2), k, -share
            if reached > best:
                best, found = reached, Rule(k, share)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_tuning_beside_brute_force(seed: int) -> None:
    gold, lists = some_lists(14, seed)
    counts = counts_beside_gold(gold, lists)
    random = np.random.default_rng(seed)
    right, _ = columns("paper_uas")
    tree = [0.8 * table[:, right] + random.normal(scale=2, size=len(table)) for table in counts]
    base = [0.4 * table[:, right] + random.normal(scale=2, size=len(table)) for table in counts]
    every = list(range(1, 7))
    assert tune(tree, base, counts) == brute_force(tree, base, counts, every, MIXES)
    assert tune(tree, None, counts) == brute_force(tree, tree, counts, every, (1.0,))
    assert tune(tree, base, counts, mix=1.0) == tune(tree, None, counts)
    assert tune(tree, base, counts, k=3) == brute_force(tree, base, counts, [3], MIXES)
    assert tune(tree, base, counts, mix=0.4) == brute_force(tree, base, counts, every, (0.4,))
    assert tune(tree, base, counts, k=50, mix=0.4) == Rule(50, 0.4)  # what is given stays


def test_equals() -> None:
    """The largest K and the smallest share, where all are as good."""
    gold, lists = some_lists(6)
    counts = [np.repeat(table[:1], len(table), 0) for table in counts_beside_gold(gold, lists)]
    scores = [np.zeros(len(table)) for table in counts]
    assert tune(scores, scores, counts) == Rule(6, 0.0)
