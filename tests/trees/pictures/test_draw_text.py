import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_samples import FIGURE_2, LARGE, NON_PROJECTIVE, TWO_ROOTS, WIDE, large, trees
from rich.cells import cell_len

from ramify.errors import CallError
from ramify.trees import Tree, lift
from ramify.trees.pictures import Row, draw_text, edge_row, level_row, value_row


def test_figure_2():
    assert draw_text(FIGURE_2, [edge_row(FIGURE_2), level_row(FIGURE_2)]) == drawing("""
        ROOT                              edge      level
        │   ┌──── The           det       NX-LEFT       6
        │   ├──── luxury        compound  NX-LEFT       5
        │   ├──── auto          compound  LEFT          4
        │ ┌─┴──── manufacturer  nsubj     NX-LEFT       3
        │ │ ┌──── last          amod      LEFT          3
        │ ├─┴──── year          tmod      LEFT          2
        └─┼────── sold          root      RIGHT         1
          │ ┌──── 1,214         num       LEFT          3
          ├─┴──── cars          dobj      RIGHT         2
          └─┬──── in            prep      NX-RIGHT      3
            │ ┌── the           det       LEFT          5
            └─┴── U.S.          pobj      RIGHT         4
        """)


def test_crossing_lines_do_not_look_attached():
    assert draw_text(NON_PROJECTIVE) == drawing("""
        ROOT
        │   ┌──── A          det
        │ ┌─┼──── hearing    nsubj:pass
        │ ├─│──── is         aux:pass
        └─┼─│──── scheduled  root
          │ │ ┌── on         case
          │ │ ├── the        det
          │ └─┴── issue      nmod
          └────── today      obl
        """)


def test_trunks_that_would_meet_stand_apart():
    # 1 -> 3 and 2 -> 4 are equally deep and overlap
    assert draw_text(Tree("abcde", (5, 5, 1, 2, 0))) == drawing("""
        ROOT
        │ ┌───┬── a
        │ ├─┬─│── b
        │ │ │ └── c
        │ │ └──── d
        └─┴────── e
        """)


def test_several_roots_and_a_column_of_numbers():
    assert draw_text(TWO_ROOTS, [value_row("bits", [1.25, None, 12.5], TWO_ROOTS)]) == drawing("""
        ROOT                   bits
        ├──── Yes  discourse   1.25
        │ ┌── we   nsubj
        └─┴── can  root       12.50
        """)


def test_wide_characters_and_combining_marks_are_aligned():
    assert draw_text(WIDE, [level_row(WIDE)]) == drawing("""
        ROOT                   level
        │ ┌──── 我      nsubj      2
        └─┼──── 喜欢    root       1
          ├─┬── 日本語  obj        2
          │ └── が      case       3
          ├──── cafe\u0301    obj        3
          └──── हिन्दी     obj        4
        """)


def test_a_tree_without_relations_has_no_column_for_them():
    assert draw_text(Tree(("Hello",), (0,))) == "ROOT\n└── Hello"
    assert draw_text(Tree(("",), (0,))) == "ROOT\n└──"
    assert draw_text(Tree(("10", "4"), (2, 0))) == "ROOT\n│ ┌── 10\n└─┴── 4"


def test_control_characters_are_made_visible():
    tree = Tree(("a\tb\n\x1b[31m\x7f", "\u202eabc\ud800"), (0, 1), ("x\r\n", "y"))
    assert draw_text(tree) == drawing("""
        ROOT
        └─┬── a␉b␊␛[31m␡  x␍␊
          └── �abc�       y
        """)


def test_what_does_not_fit_is_cut():
    rows = [edge_row(FIGURE_2), level_row(FIGURE_2)]
    assert (
        draw_text(FIGURE_2, rows, width=40).splitlines()[:5]
        == drawing("""
        ROOT                    edge     level
        │ ┌── The      det      NX-LEFT      6
        │ ├── luxury   compou…  NX-LEFT      5
        │ ├── auto     compou…  LEFT         4
        │┌┴── manufa…  nsubj    NX-LEFT      3
        """).splitlines()
    )
    assert (
        draw_text(FIGURE_2, rows, width=14).splitlines()[:5]
        == drawing("""
        ROOT
        │ ┌── The
        │ ├── luxury
        │ ├── auto
        │┌┴── manuf…
        """).splitlines()
    )
    assert set(draw_text(FIGURE_2, rows, width=1).splitlines()) == {"…"}
    with pytest.raises(CallError, match="a width of at least 1, not 0"):
        draw_text(FIGURE_2, width=0)


def test_a_deep_tree_loses_its_left_part():
    chain = Tree("abcdefgh", range(8))
    assert draw_text(chain, width=9) == drawing("""
        ROOT
        …────── a
        …────── b
        …┬───── c
         └┬──── d
          └┬─── e
           └┬── f
            └┬─ g
             └─ h
        """)


@given(trees(), st.integers(1, 60))
def test_no_line_is_wider_than_asked(tree, width):
    row = Row("form\tagain", tree.forms)
    lines = draw_text(tree, [row, level_row(tree)], width=width).split("\n")
    assert len(lines) == len(tree) + 1
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


@given(trees())
def test_without_a_width_nothing_is_cut(tree):
    text = draw_text(tree, [level_row(tree)])
    assert "…" not in text
    assert all(line == line.rstrip() for line in text.split("\n"))


@given(trees(size=25))
def test_the_drawing_can_be_read_back(tree):
    projective = lift(tree)
    assert heads_of(drawn(projective.heads)) == projective.heads
    assert heads_of(drawn(tree.heads)) == tree.heads  # crossings mislead nobody


@pytest.mark.parametrize("name", LARGE)
def test_enormous_trees_are_drawn_in_little_room(name):
    tree = large(name)
    text = draw_text(tree, [edge_row(tree)])
    assert text.count("\n") == len(tree)
    assert max(map(len, text.split("\n"))) < 120


def test_one_long_word_does_not_stretch_every_line():
    tree = Tree(("x" * 100_000, *["y"] * 1_000), (0, *[1] * 1_000), ["dep"] * 1_001)
    assert len(draw_text(tree)) < 200_000


def drawing(text: str) -> str:
    """A drawing as it stands indented in a test."""
    return re.sub("^ {8}", "", text.strip("\n"), flags=re.MULTILINE).rstrip()


def drawn(heads: tuple[int, ...]) -> list[str]:
    """The branches alone."""
    return [line.removesuffix(" x") for line in draw_text(Tree("x" * len(heads), heads)).split("\n")]


def heads_of(lines: list[str]) -> tuple[int, ...]:
    """Read a drawing as the eye does: along the word's line to its left end, then up and down that trunk to a word."""
    to_left, to_right, up, down = "┘┐┤─┴┬┼", "└┌├─┴┬┼", "│┘┤└├┴┼", "│┐┤┌├┬┼"
    heads = []
    for line, text in enumerate(lines[1:], 1):
        column = max(i for i, character in enumerate(text) if character in to_right and character not in to_left)
        above = below = line
        while above and lines[above][column] in up:
            above -= 1
        while lines[below][column] in down:
            below += 1
        trunk = range(above, below + 1)
        heads.append(next((i for i in trunk if i and lines[i][column] in to_left), 0))
    return tuple(heads)
