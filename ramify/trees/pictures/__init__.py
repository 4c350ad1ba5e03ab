"""Pictures of a dependency tree: as text, as SVG and as LaTeX, all with the same rows of annotations."""

from ramify.trees.pictures.latex import draw_latex
from ramify.trees.pictures.rows import Row, edge_row, level_row, upos_row, value_row
from ramify.trees.pictures.svg import draw_svg
from ramify.trees.pictures.text import draw_text

__all__ = [
    "Row",
    "draw_latex",
    "draw_svg",
    "draw_text",
    "edge_row",
    "level_row",
    "upos_row",
    "value_row",
]
