"""Non-projective trees: how to see one, and three ways to take it.

The paper assumes that trees are projective: every word between a head and its dependent descends from that head. Of
the trees of English EWT 2% are not. KEEP takes such a tree by position relative to the head, as the original code
does; LIFT makes it projective (Nivre and Nilsson 2005); SKIP leaves it out.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from heapq import heapify, heappop, heappush

from ramify.trees.paths import breadth_first
from ramify.trees.tree import ROOT, Tree


class NonProjective(StrEnum):
    """What to do with a non-projective tree."""

    KEEP = "keep"
    LIFT = "lift"
    SKIP = "skip"

    def take(self, tree: Tree) -> Tree | None:
        """The tree as this rule takes it; None when it is left out."""
        if self is NonProjective.KEEP or is_projective(tree):
            return tree
        return lift(tree) if self is NonProjective.LIFT else None


def is_projective(tree: Tree) -> bool:
    """True when every word and its descendants stand side by side."""
    n = len(tree)
    first, last, size = list(range(n + 1)), list(range(n + 1)), [1] * (n + 1)
    for word in reversed(breadth_first(tree)):  # dependents before their heads
        if last[word] - first[word] + 1 != size[word]:
            return False
        head = tree.heads[word - 1]
        first[head] = min(first[head], first[word])
        last[head] = max(last[head], last[word])
        size[head] += size[word]
    return True


def lift(tree: Tree) -> Tree:
    """Re-attach the dependent of the smallest non-projective arc to its head's head, until none is left.

    Of equally short arcs that of the leftmost dependent goes first. A lifted word and all below it are lost by its old
    head alone: so only arcs from that head can turn non-projective, and none that waits here can turn projective.
    """
    if is_projective(tree):
        return tree
    heads = [ROOT, *tree.heads]
    dependents: list[set[int]] = [set() for _ in heads]
    below = [1 << word for word in range(len(heads))]  # sets of words as bits: each word and its descendants
    for word in reversed(breadth_first(tree)):
        dependents[heads[word]].add(word)
        below[heads[word]] |= below[word]
    waiting = {word for word in range(1, len(heads)) if _is_crossed(word, heads[word], below)}
    queue = [(abs(heads[word] - word), word) for word in waiting]
    heapify(queue)
    while queue:
        _, word = heappop(queue)
        waiting.remove(word)
        head = heads[word]
        heads[word] = heads[head]
        dependents[head].remove(word)
        dependents[heads[head]].add(word)
        below[head] &= ~below[word]
        for changed in {word} | dependents[head] - waiting:
            if _is_crossed(changed, heads[changed], below):
                waiting.add(changed)
                heappush(queue, (abs(heads[changed] - changed), changed))
    return replace(tree, heads=tuple(heads[1:]))


def _is_crossed(word: int, head: int, below: list[int]) -> bool:
    """True when the arc to a word is over one that does not descend from its head."""
    inside = (1 << max(word, head)) - (2 << min(word, head))
    return inside & ~below[head] != 0
