"""Non-projective trees: how to see one, and three ways to take it.

The paper assumes that trees are projective: every word between a head and its dependent descends from that head. Of
the trees of English EWT 2% are not. KEEP takes such a tree by position relative to the head, as the original code
does; LIFT makes it projective (Nivre and Nilsson 2005); SKIP leaves it out.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from ramify.trees.paths import breadth_first
from ramify.trees.tree import Tree


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
    """Re-attach the dependent of the smallest non-projective arc to its head's head, until none is left."""
    while (word := _smallest_nonprojective_arc(tree)) is not None:
        heads = list(tree.heads)
        heads[word - 1] = heads[heads[word - 1] - 1]
        tree = replace(tree, heads=tuple(heads))
    return tree


def _smallest_nonprojective_arc(tree: Tree) -> int | None:
    """The dependent of the shortest arc over a word that does not descend from its head; the leftmost of equals."""
    enter, leave = _intervals(tree)
    shortest, found = len(tree) + 1, None
    for word, head in enumerate(tree.heads, 1):
        low, high = min(word, head), max(word, head)
        if head and high - low < shortest:
            inside = range(low + 1, high)
            if not all(enter[head] <= enter[between] <= leave[head] for between in inside):
                shortest, found = high - low, word
    return found


def _intervals(tree: Tree) -> tuple[list[int], list[int]]:
    """Numbers such that the descendants of a word are those whose `enter` lies in its [enter, leave]."""
    n = len(tree)
    order = breadth_first(tree)
    size = [1] * (n + 1)
    for word in reversed(order):
        size[tree.heads[word - 1]] += size[word]
    enter, free = [0] * (n + 1), [1] * (n + 1)  # free: the first number not yet given below that word
    for word in order:
        head = tree.heads[word - 1]
        enter[word] = free[head]
        free[head] += size[word]
        free[word] = enter[word] + 1
    return enter, [enter[word] + size[word] - 1 for word in range(n + 1)]
