"""Many trees scored in one stream, each one that looks the same to the model once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ramify.tasks.score import LM, SentenceScore
from ramify.trees import Tree

Key = tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]


def score_once_each(lm: LM, trees: Iterable[Tree], progress: Callable[[int], object]) -> dict[Key, SentenceScore]:
    """The scores of trees by what the model sees of them. What looks the same is scored once: then it has the same
    score to the last bit, wherever in a batch it would stand, and a tie is a tie."""
    unique: dict[Key, Tree] = {}
    for tree in trees:
        if unique.setdefault(key_of(lm, tree), tree) is not tree:
            progress(1)
    scored = {}
    for key, found in zip(unique, lm.scores(unique.values()), strict=True):
        scored[key] = found
        progress(1)
    return scored


def key_of(lm: LM, tree: Tree) -> Key:
    """What a model sees of a tree."""
    words = tuple(lm.vocabulary.ids(tree.forms))
    if not lm.config.kind.reads_trees:
        return words, (), ()
    return words, tree.heads, tree.deprels if lm.config.label_aware else ()
