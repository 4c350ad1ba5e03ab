"""Dependency paths: how the paper reads a tree (section 2.1).

Every word has one predecessor and one edge type. The predecessor of a head's first dependent on a side is the head
itself (LEFT, RIGHT); that of each further one is its nearer sibling (NX-LEFT, NX-RIGHT). Following predecessors back
to ROOT gives the dependency path D(w); its length is the level of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from ramify.errors import TreeError
from ramify.trees.tree import ROOT, Tree, Word


class EdgeType(IntEnum):
    LEFT = 0
    RIGHT = 1
    NX_LEFT = 2
    NX_RIGHT = 3

    def __str__(self) -> str:
        return self.name.replace("_", "-")


class Step(NamedTuple):
    """One step of a dependency path: the word it leaves and the type of the edge it takes."""

    word: int
    edge: EdgeType


Path = tuple[Step, ...]


class Dependents(NamedTuple):
    """A word's dependents on both sides, closest first."""

    left: list[int]
    right: list[int]


def dependents(tree: Tree) -> list[Dependents]:
    """The dependents of ROOT (index 0) and of each word. Left or right is a matter of position alone."""
    found = [Dependents([], []) for _ in range(len(tree) + 1)]
    for word in range(len(tree), 0, -1):  # right to left: the closest left dependent comes first
        if word < tree.heads[word - 1]:
            found[tree.heads[word - 1]].left.append(word)
    for word, head in enumerate(tree.heads, 1):
        if word > head:
            found[head].right.append(word)
    return found


def predecessors(tree: Tree) -> tuple[Step, ...]:
    """For each word the last step of its path. Further dependents of ROOT are NX-RIGHT of the first."""
    steps = [Step(ROOT, EdgeType.RIGHT)] * len(tree)
    for head, (left, right) in enumerate(dependents(tree)):
        for side, first, further in (
            (left, EdgeType.LEFT, EdgeType.NX_LEFT),
            (right, EdgeType.RIGHT, EdgeType.NX_RIGHT),
        ):
            for i, word in enumerate(side):
                steps[word - 1] = Step(side[i - 1], further) if i else Step(head, first)
    return tuple(steps)


def breadth_first(tree: Tree) -> tuple[int, ...]:
    """The words in the order in which they are generated: level by level, left dependents first, closest first."""
    of = dependents(tree)
    queue = [ROOT]
    for word in queue:  # grows while we walk along it
        queue += of[word].left
        queue += of[word].right
    return tuple(queue[1:])


def levels(tree: Tree) -> tuple[int, ...]:
    """The length of each word's dependency path. A predecessor is always one level up."""
    steps = predecessors(tree)
    level = [0] * (len(tree) + 1)
    for word in breadth_first(tree):  # a predecessor is visited before its successors
        level[word] = level[steps[word - 1].word] + 1
    return tuple(level[1:])


def dependency_path(tree: Tree, word: int) -> Path:
    """D(word), from ROOT down to the word's predecessor; D(ROOT) is empty."""
    if not ROOT <= word <= len(tree):
        raise TreeError(f"there is no word {word} in a tree of {len(tree)}", word)
    steps = predecessors(tree)
    path: list[Step] = []
    while word != ROOT:
        path.append(steps[word - 1])
        word = path[-1].word
    return tuple(reversed(path))


def tree_from_paths(words: Sequence[Word], paths: Sequence[Path]) -> Tree:
    """The projective tree that has these words and paths.

    `words[i]` is called i + 1 in the paths, and the calling need not follow the sentence: the order of the words is
    read off the paths alone. For the words of a projective tree the result equals that tree.
    """
    n = len(words)
    if len(paths) != n:
        raise TreeError(f"{n} words but {len(paths)} paths")
    head, edge = [ROOT] * (n + 1), [EdgeType.RIGHT] * (n + 1)
    sides = [Dependents([], []) for _ in range(n + 1)]
    for name in sorted(range(1, n + 1), key=lambda name: len(paths[name - 1])):  # from ROOT down
        if not paths[name - 1]:
            raise TreeError(f"the path of word {name} is empty: only ROOT's is", name)
        before, edge[name] = paths[name - 1][-1]
        if not ROOT <= before <= n or paths[name - 1][:-1] != (paths[before - 1] if before else ()):
            raise TreeError(f"the path of word {name} does not go on from that of its predecessor {before}", name)
        first = edge[name] in (EdgeType.LEFT, EdgeType.RIGHT)
        head[name] = before if first else head[before]
        leftward = edge[name] in (EdgeType.LEFT, EdgeType.NX_LEFT)
        side = sides[head[name]].left if leftward else sides[head[name]].right
        refusal = f"word {name} cannot be {edge[name]} of {before}"
        if leftward and head[name] == ROOT:
            raise TreeError(f"{refusal}: nothing stands left of ROOT", name)
        if side if first else side[-1:] != [before]:
            raise TreeError(f"{refusal}: another word is, or {before} stands elsewhere", name)
        side.append(name)
    order = _in_order(sides)
    position = {name: place for place, name in enumerate(order)}  # ROOT stands at 0
    named = [words[name - 1] for name in order[1:]]
    heads = tuple(position[head[name]] for name in order[1:])
    forms, deprels, upos, xpos = zip(*named, strict=True) if named else ((), (), (), ())
    return Tree(forms, heads, deprels, upos, xpos)


def _in_order(sides: list[Dependents]) -> list[int]:
    """Every word after its left dependents and before its right ones, without recursion."""
    order: list[int] = []
    stack = [(ROOT, False)]
    while stack:
        word, left_done = stack.pop()
        if left_done:
            order.append(word)
            continue
        stack += [(right, False) for right in reversed(sides[word].right)]
        stack.append((word, True))
        stack += [(left, False) for left in sides[word].left]  # popped furthest first
    return order
