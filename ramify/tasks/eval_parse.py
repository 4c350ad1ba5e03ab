"""Eval-parse: the attachment scores of a system's trees, and of the best ones in its k-best lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ramify.errors import CallError
from ramify.formats.kbest import KBest
from ramify.tasks.attachment import Attachment
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.bounds import chosen, first_of, oracle
from ramify.tasks.figures import Figures, measure
from ramify.trees import Tree


@dataclass(frozen=True)
class ParseEvaluation:
    """The figures of the first trees and, for k-best lists, of the best ones among the first 1, 2, 4, ... and all."""

    first: Figures
    oracles: dict[int, Figures]  # by how many candidates there are to choose from; empty for single trees
    sentences: int
    words: int
    kept: int  # words that the paper's rule keeps
    candidates: int

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: figure.to_json() for name, figure in self.first.items()},
            "oracle": {
                str(k): {name: figure.to_json() for name, figure in figures.items()}
                for k, figures in self.oracles.items()
            },
            "sents": self.sentences,
            "words": self.words,
            "paper_words": self.kept,
            "candidates": self.candidates,
        }


def eval_parse(gold: Iterable[Tree], lists: Iterable[KBest], *, seed: int = 1) -> ParseEvaluation:
    """Trees of a system, or its k-best lists, beside the gold standard; single trees are lists of one."""
    standard, found = list(gold), list(lists)
    if not standard or not found:
        raise CallError(f"there is no sentence {'in the gold standard' if found else 'of the system'}")
    counts = counts_beside_gold(standard, found)
    longest = max(map(len, counts))
    sizes = [2**i for i in range(longest.bit_length()) if 2**i < longest] + [longest] if longest > 1 else []
    measured = measure(
        {"first": chosen(counts, [0] * len(counts)), **{str(k): oracle(first_of(counts, k)) for k in sizes}}, seed=seed
    ).systems
    total = Attachment(*chosen(counts, [0] * len(counts)).sum(0).tolist())
    return ParseEvaluation(
        measured["first"],
        {k: measured[str(k)] for k in sizes},
        len(counts),
        total.words,
        total.kept,
        sum(map(len, counts)),
    )
