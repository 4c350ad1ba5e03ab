"""read_columns: the fields that a corpus needs, by the same rules as whole sentences."""

import pytest
from hypothesis import given
from strategies import conllu_texts

from ramify.errors import FormatError
from ramify.formats import parse_conllu, read_conllu
from ramify.formats.blocks import blocks
from ramify.formats.conllu import parse_columns, read_columns


@pytest.mark.parametrize("part", ["dev", "test"])
def test_the_columns_of_ewt_are_those_of_its_trees(part):
    trees = [sentence.tree for sentence in read_conllu(f"ewt:{part}")]
    columns = list(read_columns(f"ewt:{part}"))
    assert [tuple(each.forms) for each in columns] == [tree.forms for tree in trees]
    assert [tuple(each.heads) for each in columns] == [tree.heads for tree in trees]
    assert [tuple(each.deprels) for each in columns] == [tree.deprels for tree in trees]


@given(conllu_texts())
def test_any_text(made):
    text = made.text
    trees = [sentence.tree for sentence in parse_conllu(text)]
    columns = [parse_columns(block, "") for block in blocks([text])]
    assert [(tuple(each.forms), tuple(each.heads), tuple(each.deprels)) for each in columns] == [
        (tree.forms, tree.heads, tree.deprels) for tree in trees
    ]


ROW = "{id}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_"


@pytest.mark.parametrize(
    "lines",
    [
        [("1", "a", "2"), ("2", "b", "1")],
        [("1", "a", "1")],
        [("1", "a", "7")],
        [("1", "a", "_")],
        [("1", "", "0")],
        [("2", "a", "0")],
        [("1", "a", "0"), ("1", "b", "1")],
        [("1", "a", "0"), ("x", "b", "1")],
        [("3-4", "a", "0"), ("1", "b", "0")],
    ],
)
def test_what_is_refused_there_is_refused_here_with_the_same_words(lines):
    text = "# sent_id = s1\n" + "\n".join(ROW.format(id=i, form=form, head=head) for i, form, head in lines) + "\n\n"
    with pytest.raises(FormatError) as as_sentence:
        list(parse_conllu(text, source="f"))
    with pytest.raises(FormatError) as as_columns:
        parse_columns((text, 1), "f")
    assert str(as_columns.value) == str(as_sentence.value)
