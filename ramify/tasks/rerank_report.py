"""How a reranking does beside gold trees: the parser's first trees, ours, and what any choice could come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ramify.corpus.structure import Array
from ramify.tasks.bounds import at_random, chosen, first_of, oracle
from ramify.tasks.figures import Difference, Figures, measure
from ramify.tasks.rerank import Reranked


@dataclass(frozen=True)
class Report:
    """Figures under base, reranked, oracle, worst and random, the last three of the first K candidates."""

    systems: dict[str, Figures]
    gain: dict[str, Difference]  # reranked less base, paired
    k: int
    changed: int  # sentences whose tree is another now

    def to_json(self) -> dict[str, Any]:
        return {
            "systems": {
                name: {key: figure.to_json() for key, figure in figures.items()}
                for name, figures in self.systems.items()
            },
            "gain": {key: difference.to_json() for key, difference in self.gain.items()},
            "k": self.k,
            "changed": self.changed,
        }


def report(found: Sequence[Reranked], counts: Sequence[Array], k: int, *, seed: int = 1) -> Report:
    """From the counts of all candidates (tasks/beside_gold.py)."""
    first = first_of(counts, k)
    choices = [each.choice for each in found]
    measured = measure(
        {
            "base": chosen(counts, [0] * len(counts)),
            "reranked": chosen(counts, choices),
            "oracle": oracle(first),
            "worst": oracle(first, worst=True),
            "random": at_random(first),
        },
        seed=seed,
    )
    return Report(measured.systems, measured.differences["reranked"], k, sum(choice > 0 for choice in choices))
