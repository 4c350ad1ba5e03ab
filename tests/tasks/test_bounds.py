"""The best, the worst and the blind choice beside the enumeration of all choices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from kbest_samples import some_lists

from ramify.corpus.structure import Array
from ramify.tasks.attachment import FIGURES, columns
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.bounds import at_random, chosen, first_of, oracle


def every_share(counts: list[Array], figure: str) -> list[float]:
    """The slow twin: the figure under every choice there is."""
    right, of = columns(figure)
    shares = []
    for choice in itertools.product(*(range(len(table)) for table in counts)):
        total = sum(table[i] for table, i in zip(counts, choice, strict=True))
        shares.append(total[right] / max(1, total[of]))
    return shares


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_enumeration(seed: int, k: int) -> None:
    gold, lists = some_lists(6, seed)
    counts = first_of(counts_beside_gold(gold, lists), k)
    best, worst = oracle(counts).sum(0), oracle(counts, worst=True).sum(0)
    for figure in FIGURES:
        right, of = columns(figure)
        shares = every_share(counts, figure)
        assert best[right] / best[of] == max(shares)
        assert worst[right] / worst[of] == min(shares)


def test_a_blind_choice() -> None:
    gold, lists = some_lists(4)
    counts = counts_beside_gold(gold, lists)
    right, of = columns("las")
    blind = at_random(counts).sum(0)
    assert blind[right] / blind[of] == pytest.approx(np.mean(every_share(counts, "las")))


def test_choices() -> None:
    gold, lists = some_lists(6)
    counts = counts_beside_gold(gold, lists)
    assert chosen(counts, [0] * 6).tolist() == [table[0].tolist() for table in counts]
    assert chosen(counts, [len(table) - 1 for table in counts]).tolist() == [table[-1].tolist() for table in counts]
