"""What choosing among candidates can come to: the best choice, the worst, and one made blindly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ramify.corpus.structure import Array
from ramify.tasks.attachment import FIGURES, Attachment, columns


def first_of(counts: Sequence[Array], k: int) -> list[Array]:
    """The counts of the first k candidates of each sentence."""
    return [table[:k] for table in counts]


def chosen(counts: Sequence[Array], choices: Sequence[int]) -> Array:
    """The counts of one candidate of each sentence [sentences, counts]."""
    return np.stack([table[choice] for table, choice in zip(counts, choices, strict=True)])


def at_random(counts: Sequence[Array]) -> Array:
    """What a blind choice has on average [sentences, counts]."""
    return np.stack([table.mean(0) for table in counts])


def oracle(counts: Sequence[Array], *, worst: bool = False) -> Array:
    """The highest (or lowest) that each figure can come to, with choices of its own, in counts [sentences, counts].

    The counts that two figures share, the words, are the same for all candidates.
    """
    found = np.zeros((len(counts), len(Attachment._fields)), np.int64)
    for figure in FIGURES:
        right, of = columns(figure)
        best = chosen(counts, extreme_choices(counts, right, of, worst=worst))
        found[:, [right, of]] = best[:, [right, of]]
    return found


def extreme_choices(counts: Sequence[Array], right: int, of: int, *, worst: bool = False) -> list[int]:
    """The choices that make a share of sums the highest, or the lowest.

    No choice in one sentence decides whether a share is the highest, where candidates differ in what is counted: CLAS
    has more content words in one tree than in another. Each choice then has to be worth more than its words at the
    share that is reached, and that grows until nothing changes (Dinkelbach's method).
    """
    sign = -1 if worst else 1
    choices = [0] * len(counts)
    while True:
        reached = chosen(counts, choices).sum(0)
        share = reached[right] / max(reached[of], 1)
        better = []
        for table, now in zip(counts, choices, strict=True):
            worth = sign * (table[:, right] - share * table[:, of])
            best = int(worth.argmax())
            better.append(best if worth[best] > worth[now] + 1e-9 else now)
        if better == choices:
            return choices
        choices = better
