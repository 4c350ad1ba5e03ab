"""The branches of a tree as box-drawing characters, a line per word: the left part of the drawing as text.

Each head has a trunk, a vertical line along the lines of its dependents and its own; each word has a twig, a horizontal
line from the trunk of its head to the end of its line. ROOT's trunk is the leftmost.
"""

from __future__ import annotations

from bisect import bisect, insort

from ramify.trees.paths import breadth_first
from ramify.trees.pictures.characters import ELLIPSIS
from ramify.trees.tree import ROOT, Tree

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8  # a cell is the sum of the directions in which it has a line
CUT = 16  # or this, where lines go on beyond the left edge
CHARACTERS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼" + ELLIPSIS

Span = tuple[int, int]  # the first and last line of a trunk; line 0 is ROOT's


def branches(tree: Tree, room: int) -> list[str]:
    """The branches from ROOT's line on, no wider than `room`: when deep, first the levels move together, then the left
    part is cut. Where lines of a non-projective tree cross, the vertical one wins: nothing but a dependent or the head
    itself touches a trunk.
    """
    spans = _spans(tree)
    columns = _columns(tree, spans)
    count = max(columns) + 1
    step = 2 if 2 * count + 1 <= room else 1
    size = min(step * count + 1, room)
    cut = step * count + 1 - size
    place = [max(step * column - cut, 0) for column in columns]
    grid = [bytearray(size) for _ in spans]
    for word, head in enumerate(tree.heads, 1):
        start = place[head]
        grid[word][start:] = bytes([RIGHT]) + bytes([LEFT | RIGHT]) * (size - start - 1)
        if cut and start == 0:
            grid[word][0] = CUT
    for head, (first, last) in enumerate(spans):
        column = place[head]
        if first == last or (cut and column == 0):
            continue
        for line in range(first, last + 1):
            touching = line == head or (line != ROOT and tree.heads[line - 1] == head)
            twig = grid[line][column] if touching else 0
            grid[line][column] = twig | (line > first) * UP | (line < last) * DOWN
    return ["".join(map(CHARACTERS.__getitem__, cells)) for cells in grid]


def widest(tree: Tree) -> int:
    """The room that the branches would like to have."""
    return 2 * max(_columns(tree, _spans(tree))) + 3


def _spans(tree: Tree) -> list[Span]:
    first, last = list(range(len(tree) + 1)), list(range(len(tree) + 1))
    for word, head in enumerate(tree.heads, 1):
        first[head] = min(first[head], word)
        last[head] = max(last[head], word)
    return list(zip(first, last, strict=True))


def _columns(tree: Tree, spans: list[Span]) -> list[int]:
    """For each trunk the first column, right of that of its head, in which no other stands in its way.

    In a projective tree this is the depth of the head, for there the trunks of one depth never meet.
    """
    columns = [0] * len(spans)
    taken: list[list[Span]] = [[spans[ROOT]]]
    for word in breadth_first(tree):  # heads before their dependents
        column = columns[tree.heads[word - 1]]
        first, last = spans[word]
        if first == last:
            continue
        column += 1
        while column < len(taken) and _meets(taken[column], spans[word]):
            column += 1
        if column == len(taken):
            taken.append([])
        insort(taken[column], spans[word])
        columns[word] = column
    return columns


def _meets(taken: list[Span], span: Span) -> bool:
    after = bisect(taken, span)
    return (after > 0 and taken[after - 1][1] >= span[0]) or (after < len(taken) and taken[after][0] <= span[1])
