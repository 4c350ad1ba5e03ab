import re

import pytest
from hypothesis import given
from picture_samples import FIGURE_2, LARGE, TWO_ROOTS, large, trees

from ramify.trees import Tree
from ramify.trees.pictures import draw_latex, edge_row, level_row
from ramify.trees.pictures.latex import escape


def test_a_small_tree():
    assert (
        draw_latex(TWO_ROOTS, [level_row(TWO_ROOTS)])
        == r"""
\begin{dependency}[edge unit distance=3ex, label style={draw=none, fill=white, inner sep=1pt, font=\scriptsize}]
  \begin{deptext}[column sep=1em, row 2/.style={nodes={font=\scriptsize, gray}}]
    Yes \& we \& can \\
    1 \& 3 \& 2 \\
  \end{deptext}
  \node[anchor=east, gray, font=\scriptsize\itshape] at (\matrixref.west |- \wordref{2}{1}) {level};
  \deproot[edge height=6ex]{1}{discourse}
  \depedge{3}{2}{nsubj}
  \deproot[edge height=6ex]{3}{root}
\end{dependency}""".removeprefix("\n")
    )


def test_figure_2_as_a_document():
    latex = draw_latex(FIGURE_2, [edge_row(FIGURE_2)], standalone=True)
    assert latex.startswith("\\documentclass[border=4pt]{standalone}\n\\usepackage[T1]{fontenc}\n")
    assert latex.endswith("\\end{dependency}\n\\end{document}")
    assert r"\depedge{4}{1}{det}" in latex
    assert r"\depedge[edge height=6ex]{7}{4}{nsubj}" in latex  # three words long, but over arcs of level 1 only
    assert r"\deproot[edge height=12ex]{7}{root}" in latex


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("$5 & 50%", r"\$5 \symbol{38} 50\%"),
        ("a_b^c~d#e", r"a\_b\textasciicircum{}c\textasciitilde{}d\#e"),
        ("\\{}", r"\textbackslash{}\{\}"),
        ('<">|', r"\textless{}\textquotedbl{}\textgreater{}\textbar{}"),
        ("[2pt]*", "{[}2pt{]}{*}"),
        ("a\tb\x00\u202e", "a?b??"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_specials_are_escaped(text, escaped):
    assert escape(text) == escaped


def test_blank_words_keep_their_cell():
    assert r"    a \& {} \& {} \\" in draw_latex(Tree(("a", "", " "), (0, 1, 1))).splitlines()


@given(trees())
def test_every_word_has_a_cell_and_an_arc(tree):
    lines = draw_latex(tree).splitlines()
    cells = lines[2].removeprefix("    ").removesuffix(r" \\").split(r" \& ")
    assert cells == [escape(form) for form in tree.forms]
    arcs = [re.match(r"  \\dep(?:edge|root)(?:\[.*?\])?(?:\{(\d+)\})?\{(\d+)\}\{", line) for line in lines]
    assert [(int(arc[2]), int(arc[1] or 0)) for arc in arcs if arc] == list(enumerate(tree.heads, 1))


@pytest.mark.parametrize("name", LARGE)
def test_enormous_trees_are_written_in_little_room(name):
    tree = large(name)
    assert len(draw_latex(tree)) < 100 * len(tree)
