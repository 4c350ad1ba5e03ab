"""A tree as LaTeX, for the package tikz-dependency (Silvano Rigal).

pdflatex sets Latin script. For others compile with lualatex or xelatex and choose a font that has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ramify.trees.pictures.arcs import arc_levels
from ramify.trees.pictures.characters import visible
from ramify.trees.pictures.rows import Row, checked, known
from ramify.trees.tree import ROOT, Tree

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\symbol{38}",  # \& parts the words here
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",  # at the start of a cell | would begin its options
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after \\ or \& a bare [ or * would be taken as theirs
    "]": "{]}",
    "*": "{*}",
}
LEVEL = 3  # ex
STYLE = r"label style={draw=none, fill=white, inner sep=1pt, font=\scriptsize}"
DOCUMENT = r"""\documentclass[border=4pt]{standalone}
\usepackage[T1]{fontenc}
\usepackage{tikz-dependency}
\begin{document}
%s
\end{document}"""


def draw_latex(tree: Tree, rows: Sequence[Row] = (), *, standalone: bool = False) -> str:
    """A `dependency` environment, or with `standalone` a document that holds nothing else."""
    checked(rows, tree)
    numbers = range(2, 2 + len(rows))  # the words are row 1
    small = "".join(rf", row {number}/.style={{nodes={{font=\scriptsize, gray}}}}" for number in numbers)
    lines = [
        rf"\begin{{dependency}}[edge unit distance={LEVEL}ex, {STYLE}]",
        rf"  \begin{{deptext}}[column sep=1em{small}]",
        _cells(tree.forms),
        *(_cells(values) for _, values in rows),
        r"  \end{deptext}",
    ]
    for number, (name, _) in zip(numbers, rows, strict=True):
        place = rf"(\matrixref.west |- \wordref{{{number}}}{{1}})"
        lines.append(rf"  \node[anchor=east, gray, font=\scriptsize\itshape] at {place} {{{escape(name)}}};")
    arcs = zip(tree.heads, known(tree.deprels), arc_levels(tree), strict=True)
    for word, (head, label, level) in enumerate(arcs, 1):
        command, ends = (r"\deproot", f"{{{word}}}") if head == ROOT else (r"\depedge", f"{{{head}}}{{{word}}}")
        # the package lifts arcs by their length, which suits short ones
        height = "" if level == abs(word - head) and head != ROOT else f"[edge height={level * LEVEL}ex]"
        lines.append(f"  {command}{height}{ends}{{{escape(label)}}}")
    lines.append(r"\end{dependency}")
    picture = "\n".join(lines)
    return DOCUMENT % picture if standalone else picture


def escape(text: str) -> str:
    """The text as LaTeX prints it; control characters, for which no font has a picture, become question marks.

    Quotes and dashes keep what they mean to TeX: ``, '' and -- come out as typeset.
    """
    return "".join(SPECIAL.get(old, old) if old == new else "?" for old, new in zip(text, visible(text), strict=True))


def _cells(values: Sequence[str]) -> str:
    # {}: an empty cell would be no node, and arcs or names could not point to it
    return "    " + r" \& ".join(escape(value).strip() or "{}" for value in values) + r" \\"
