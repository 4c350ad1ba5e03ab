"""Evaluating parses: first trees, oracles, and the figures of the lists of a real parser."""

from __future__ import annotations

from pathlib import Path

import pytest
from kbest_samples import some_lists

import ramify
from ramify.errors import CallError
from ramify.formats import group, read_sentences
from ramify.formats.kbest import KBest
from ramify.tasks.attachment import FIGURES, columns
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.eval_parse import eval_parse

SHARED = Path(__file__).parents[3] / "shared" / "data" / "kbest"


def test_single_trees() -> None:
    gold, lists = some_lists(8)
    found = eval_parse(gold, [KBest(each.sent_id, each.candidates[:1]) for each in lists])
    assert found.oracles == {}
    assert (found.sentences, found.candidates, found.words) == (8, 8, sum(map(len, gold)))
    rows = [table[0] for table in counts_beside_gold(gold, lists)]
    for figure in FIGURES:
        right, of = columns(figure)
        assert found.first[figure].value == sum(row[right] for row in rows) / sum(row[of] for row in rows)


def test_oracles_grow() -> None:
    gold, lists = some_lists(12)
    found = eval_parse(gold, lists)
    assert list(found.oracles) == [1, 2, 4, 6]
    assert found.oracles[1] == found.first
    for figure in FIGURES:
        values = [figures[figure].value for figures in found.oracles.values()]
        assert values == sorted(values)


def test_as_json() -> None:
    gold, lists = some_lists(12)
    found = eval_parse(gold, lists)
    about = found.to_json()
    assert list(about) == [*FIGURES, "oracle", "sents", "words", "paper_words", "candidates"]
    assert list(about["oracle"]) == ["1", "2", "4", "6"]
    assert about["uas"]["value"] == found.first["uas"].value


@pytest.mark.parametrize(("gold", "lists"), [((), some_lists(2)[1]), (some_lists(2)[0], ())])
def test_nothing(gold: tuple[ramify.Tree, ...], lists: tuple[KBest, ...]) -> None:
    with pytest.raises(CallError, match="there is no sentence"):
        eval_parse(gold, lists)


@pytest.mark.shared
def test_the_lists_of_the_mst_parser() -> None:
    """The figures that were found when the lists were made."""
    file = SHARED / "test-20-best-mst2ndorder.conll.xz"
    if not file.exists():
        pytest.skip(f"{file} is not there")
    found = eval_parse(ramify.read("ewt:test"), group(read_sentences(file)))
    assert round(100 * found.first["paper_uas"].value, 2) == 88.03
    assert round(100 * found.first["paper_las"].value, 2) == 84.20
    assert round(100 * found.oracles[20]["paper_uas"].value, 2) == 94.34
