from xml.etree import ElementTree

import pytest
from hypothesis import given
from picture_samples import FIGURE_2, LARGE, NON_PROJECTIVE, TWO_ROOTS, WIDE, large, trees

from ramify.trees import Tree, lift
from ramify.trees.pictures import draw_svg, edge_row, level_row
from ramify.trees.pictures.arcs import arc_levels, lay_out

SVG = "{http://www.w3.org/2000/svg}"


def found(svg: str, kind: str) -> list[ElementTree.Element]:
    return [element for element in ElementTree.fromstring(svg).iter() if element.get("class") == kind]


def test_figure_2():
    svg = draw_svg([(FIGURE_2, [edge_row(FIGURE_2), level_row(FIGURE_2)])])
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert root[0].tag == SVG + "title"
    assert root[0].text == "The luxury auto manufacturer last year sold 1,214 cars in the U.S."
    assert [word.text for word in found(svg, "word")] == list(FIGURE_2.forms)
    assert len(found(svg, "value")) == 24
    texts = [text.text for text in root.iter(SVG + "text")]
    assert {"edge", "level", "nsubj", "NX-RIGHT"} <= set(texts)


def test_arcs_are_coloured_by_edge_type():
    plain, coloured = draw_svg([(FIGURE_2, [])]), draw_svg([(FIGURE_2, [edge_row(FIGURE_2)])])
    assert len({arc.get("stroke") for arc in found(plain, "arc")}) == 1
    assert len({arc.get("stroke") for arc in found(coloured, "arc")}) == 4


def test_arcs_are_as_high_as_they_are_nested():
    assert arc_levels(FIGURE_2) == [3, 2, 1, 2, 1, 1, 4, 1, 2, 3, 1, 2]
    assert arc_levels(TWO_ROOTS) == [2, 1, 2]


def test_several_trees_stand_below_each_other():
    both = ElementTree.fromstring(draw_svg([(FIGURE_2, []), (WIDE, [])]))
    one = ElementTree.fromstring(draw_svg([(FIGURE_2, [])]))
    assert both.get("width") == one.get("width")
    assert int(both.get("height", 0)) > int(one.get("height", 0))
    assert (both[0].text or "").splitlines() == [" ".join(FIGURE_2.forms), " ".join(WIDE.forms)]
    assert found(draw_svg([]), "arc") == []


@pytest.mark.parametrize("tree", [NON_PROJECTIVE, TWO_ROOTS, WIDE], ids=["non-projective", "two roots", "wide"])
def test_every_word_has_its_arc(tree):
    svg = draw_svg([(tree, [])])
    assert len(found(svg, "arc")) == len(tree)
    assert [word.text for word in found(svg, "word")] == list(tree.forms)


def test_hostile_words_are_only_words():
    forms = ("<script>alert(1)</script>", "&amp;", "\"'", "\x00\x1b\ufffe\ud800", "]]>", "a\tb\u202e")
    tree = Tree(forms, (0, 1, 1, 1, 1, 1), forms)
    svg = draw_svg([(tree, [])])
    svg.encode()
    tags = {element.tag for element in ElementTree.fromstring(svg).iter()}
    assert tags == {SVG + tag for tag in ("svg", "title", "rect", "g", "path", "text")}
    words = [word.text for word in found(svg, "word")]
    assert words == ["<script>alert(1)</script>", "&amp;", "\"'", "␀␛��", "]]>", "a␉b�"]


@given(trees())
def test_any_tree_makes_a_document(tree):
    svg = draw_svg([(tree, [level_row(tree)]), (tree, [])])
    assert len(found(svg, "arc")) == len(found(svg, "word")) == 2 * len(tree)


@given(trees(size=25))
def test_labels_fit_and_arcs_of_projective_trees_do_not_cross(tree):
    tree = lift(tree)
    layout = lay_out(tree, [10.0 * len(form) for form in tree.forms], [6.0 * len(label) for label in tree.deprels])
    arcs = []
    for arc, head, label in zip(layout.arcs, tree.heads, tree.deprels, strict=True):
        if head:
            assert abs(arc.end - arc.start) > 6.0 * len(label)
        arcs.append((min(arc.start, arc.end), max(arc.start, arc.end), arc.level if head else layout.levels + 1))
    for left, right, level in arcs:
        for other_left, other_right, other_level in arcs:
            inside = left < other_left <= other_right < right
            assert not (left < other_left < right < other_right)
            assert not inside or other_level < level


@pytest.mark.parametrize("name", LARGE)
def test_enormous_trees_are_drawn_in_little_room(name):
    tree = large(name)
    svg = draw_svg([(tree, [])])
    assert int(ElementTree.fromstring(svg).get("height", 0)) <= 600
    assert len(svg) < 500 * len(tree)
