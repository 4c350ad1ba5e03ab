"""A tree as text: a line per word, its branches at the left, then form, relation and rows as aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ramify.errors import CallError
from ramify.trees.pictures.branches import branches, widest
from ramify.trees.pictures.characters import cells, shorten, visible
from ramify.trees.pictures.rows import Row, checked, known
from ramify.trees.tree import Tree

WIDEST = 80  # no column is wider, however long a word or deep a tree: else one line would stretch all others
NARROWEST = 6  # rather than have narrower columns, leave out the last


class Column(NamedTuple):
    """What a field holds from line to line, ROOT's line (the heading) first."""

    texts: tuple[str, ...]
    size: int
    right: bool  # rows of numbers stand at the right

    @classmethod
    def of(cls, heading: str, values: Sequence[str]) -> Column:
        texts = (visible(heading), *map(visible, values))
        return cls(texts, max(map(cells, texts)), heading != "" and all(map(_is_number, values)))

    def field(self, line: int, size: int) -> str:
        text = shorten(self.texts[line], size)
        space = " " * (size - cells(text))
        return space + text if self.right else text + space


def draw_text(tree: Tree, rows: Sequence[Row] = (), *, width: int | None = None) -> str:
    """The tree drawn from top to bottom in the order of the sentence, in lines of at most `width` terminal cells.

    What does not fit is cut, marked by '…', the widest column first; where even that would leave next to nothing, the
    last rows are left out. There is no newline at the end.
    """
    if width is not None and width < 1:
        raise CallError(f"a drawing needs a width of at least 1, not {width}")
    columns = [Column.of("", tree.forms)]
    if any(relations := known(tree.deprels)):
        columns.append(Column.of("", relations))
    columns += [Column.of(*row) for row in checked(rows, tree)]
    sizes = _sizes([widest(tree), *(column.size for column in columns)], width)
    lines = []
    for line, twig in enumerate(branches(tree, sizes[0])):
        form, *others = (column.field(line, size) for column, size in zip(columns, sizes[1:], strict=False))
        start = f"{twig} {form}"
        if line == 0:  # ROOT stands at the top of its own trunk
            start = shorten("ROOT", cells(start)).ljust(cells(start))
        text = "  ".join([start, *others]).rstrip()
        lines.append(text if width is None else shorten(text, width))
    return "\n".join(lines)


def _sizes(natural: list[int], width: int | None) -> list[int]:
    """The sizes of the columns: the largest common limit under which all fit, after leaving out the last if need be."""
    natural = [min(size, WIDEST) for size in natural]
    if width is None:
        return natural
    while len(natural) > 2 and sum(min(size, NARROWEST) for size in natural) + _gaps(natural) > width:
        natural.pop()
    limit = max(natural)
    while limit > 1 and sum(min(size, limit) for size in natural) + _gaps(natural) > width:
        limit -= 1
    return [min(size, limit) for size in natural]


def _gaps(sizes: list[int]) -> int:
    return 2 * len(sizes) - 3  # two between columns, one between branches and form


def _is_number(text: str) -> bool:
    return text == "" or text.lstrip("-").replace(".", "", 1).isdecimal()
