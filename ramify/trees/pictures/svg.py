"""Trees as one SVG document that needs nothing else: words along a line, labelled arcs above, rows below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from ramify.trees.paths import EdgeType
from ramify.trees.pictures.arcs import Arc, lay_out
from ramify.trees.pictures.characters import cells, shorten, visible
from ramify.trees.pictures.rows import EDGE, Row, checked, known
from ramify.trees.tree import ROOT, Tree

WORD, LABEL, ROW = 15, 11, 12  # font sizes
LONGEST = 40  # cells; longer words are shortened, but stand whole in the title
MARGIN = 20
LEVEL, HIGHEST = 22, 480  # the height of a level, and of all levels: when there are many they move together
CORNER = 14
ARROW = 6
INK, GREY, LINE = "#1f2328", "#6e7781", "#8c959f"
COLOURS = {  # blue to the left, red to the right; strong for first dependents, light for further ones
    str(EdgeType.LEFT): "#3b74b3",
    str(EdgeType.RIGHT): "#b85c48",
    str(EdgeType.NX_LEFT): "#86add6",
    str(EdgeType.NX_RIGHT): "#dba394",
}


class Picture(NamedTuple):
    """One tree; the elements count from its top left corner."""

    width: int
    height: int
    elements: list[str]


def draw_svg(trees: Sequence[tuple[Tree, Sequence[Row]]]) -> str:
    """The trees one below the other. Arcs have the colour of their edge type where there is a row "edge"."""
    pictures = [_picture(tree, checked(rows, tree)) for tree, rows in trees]
    width = max([picture.width for picture in pictures], default=0) + 2 * MARGIN
    height = sum(picture.height + MARGIN for picture in pictures) + MARGIN
    size = f'width="{width}" height="{height}"'
    title = "\n".join(_escape(" ".join(tree.forms)) for tree, _ in trees)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">',
        f"<title>{title}</title>",
        f'<rect {size} rx="8" fill="white"/>',  # its own ground: the page may be dark
        '<g font-family="system-ui, sans-serif" text-anchor="middle">',
    ]
    top = MARGIN
    for picture in pictures:
        lines += [f'<g transform="translate({MARGIN} {top})">', *picture.elements, "</g>"]
        top += picture.height + MARGIN
    return "\n".join([*lines, "</g>", "</svg>"])


def _picture(tree: Tree, rows: Sequence[Row]) -> Picture:
    forms, labels = _shown(tree.forms), _shown(known(tree.deprels))
    rows = [Row(name, _shown(values)) for name, values in rows]
    widths = [_width(form, WORD) for form in forms]
    for _, values in rows:
        widths = [max(width, _width(value, ROW)) for width, value in zip(widths, values, strict=True)]
    for root in tree.roots:  # the label of ROOT's arc stands right above the word
        widths[root - 1] = max(widths[root - 1], _width(labels[root - 1], LABEL))
    layout = lay_out(tree, widths, [_width(label, LABEL) for label in labels])
    level = min(LEVEL, HIGHEST / layout.levels)
    foot = round(LABEL + layout.levels * level + ARROW)  # where arcs begin and end
    left = max([_width(name, ROW) + MARGIN for name, _ in rows], default=0.0)

    base = foot + WORD + 3
    elements = [f'<g transform="translate({left:.1f} 0)">']
    elements += _arcs(tree, layout.arcs, foot, level, _colours(tree, rows))
    elements += _labels(labels, layout.arcs, foot, level)
    elements += _texts(forms, layout.centres, base, f'font-size="{WORD}" fill="{INK}"', "word")
    elements.append("</g>")
    for name, values in rows:
        base += round(1.5 * ROW)
        style = f'font-size="{ROW}" fill="{GREY}"'
        elements.append(
            f'<text x="0" y="{base}" text-anchor="start" font-style="italic" {style}>{_escape(name)}</text>'
        )
        elements += _texts(values, [left + centre for centre in layout.centres], base, style, "value")
    return Picture(round(left + layout.width), base + ROW // 2, elements)


def _arcs(tree: Tree, arcs: Sequence[Arc], foot: int, level: float, colours: Sequence[str]) -> Iterator[str]:
    yield '<g fill="none" stroke-width="1.3">'
    for arc, head, colour in zip(arcs, tree.heads, colours, strict=True):
        top = foot - ARROW - arc.level * level
        corner = min(CORNER, abs(arc.end - arc.start) / 2, 1.2 * level)
        across = corner if arc.start < arc.end else -corner
        if head == ROOT:
            start = f"M{arc.end:.1f} {top:.1f}"
        else:
            start = (
                f"M{arc.start:.1f} {foot}V{top + corner:.1f}q0 {-corner:.1f} {across:.1f} {-corner:.1f}"
                f"H{arc.end - across:.1f}q{across:.1f} 0 {across:.1f} {corner:.1f}"
            )
        yield f'<path class="arc" stroke="{colour}" d="{start}V{foot - ARROW}"/>'
        yield f'<path fill="{colour}" d="M{arc.end - ARROW / 2:.1f} {foot - ARROW}h{ARROW}l{-ARROW / 2} {ARROW}z"/>'
    yield "</g>"


def _labels(labels: Sequence[str], arcs: Sequence[Arc], foot: int, level: float) -> Iterator[str]:
    """On the middle of each arc, in a gap that a broad white outline makes."""
    size = min(LABEL, 0.7 * level)
    yield f'<g font-size="{size:.3g}" fill="{GREY}" stroke="white" stroke-width="{size / 2:.3g}" paint-order="stroke">'
    for label, arc in zip(labels, arcs, strict=True):
        y = foot - ARROW - arc.level * level + size / 3
        if label:
            yield f'<text x="{(arc.start + arc.end) / 2:.1f}" y="{y:.1f}">{_escape(label)}</text>'
    yield "</g>"


def _texts(texts: Sequence[str], centres: Sequence[float], base: int, style: str, kind: str) -> Iterator[str]:
    yield f"<g {style}>"
    for text, centre in zip(texts, centres, strict=True):
        if text:
            yield f'<text class="{kind}" x="{centre:.1f}" y="{base}">{_escape(text)}</text>'
    yield "</g>"


def _colours(tree: Tree, rows: Sequence[Row]) -> list[str]:
    edges = next((values for name, values in rows if name == EDGE), ("",) * len(tree))
    return [COLOURS.get(edge, LINE) for edge in edges]


def _shown(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(shorten(visible(text), LONGEST) for text in texts)


def _width(text: str, size: int) -> float:
    """An estimate on the safe side, for the font is the reader's; capitals are broader."""
    return size * (0.58 * cells(text) + 0.14 * sum(map(str.isupper, text)))


def _escape(text: str) -> str:
    return escape(visible(text), quote=False)
