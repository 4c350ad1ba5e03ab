import pytest
from picture_samples import FIGURE_2, TWO_ROOTS

from ramify.errors import TreeError
from ramify.trees import Tree
from ramify.trees.pictures import Row, draw_latex, draw_svg, draw_text, edge_row, level_row, upos_row, value_row


def test_the_rows_of_figure_2():
    edges = "NX-LEFT NX-LEFT LEFT NX-LEFT LEFT LEFT RIGHT LEFT RIGHT NX-RIGHT LEFT RIGHT"
    assert edge_row(FIGURE_2) == Row("edge", tuple(edges.split()))
    assert level_row(FIGURE_2) == Row("level", tuple("654332132354"))


def test_upos_is_empty_where_it_is_not_known():
    assert upos_row(Tree(("a", "b"), (0, 1), upos=("DET", "_"))) == Row("upos", ("DET", ""))


def test_values_are_shown_with_two_decimals_and_none_as_nothing():
    assert value_row("bits", [1.5, None, "?"], TWO_ROOTS) == Row("bits", ("1.50", "", "?"))
    assert value_row("rank", [1, 2, float("inf")], TWO_ROOTS) == Row("rank", ("1", "2", "inf"))


def test_a_wrong_count_is_refused():
    message = "row 'bits' has 2 values, but the tree has 3 words"
    with pytest.raises(TreeError, match=message):
        value_row("bits", [1.0, 2.0], TWO_ROOTS)
    short = Row("bits", ("1", "2"))
    for draw in (lambda: draw_text(TWO_ROOTS, [short]), lambda: draw_latex(TWO_ROOTS, [short])):
        with pytest.raises(TreeError, match=message):
            draw()
    with pytest.raises(TreeError, match=message):
        draw_svg([(TWO_ROOTS, [short])])
