"""Which sentences belong together, and what is refused."""

from __future__ import annotations

import pytest
from kbest_samples import some_lists

from ramify.errors import FormatError
from ramify.formats.conllu import Sentence
from ramify.formats.kbest import KBest
from ramify.tasks.attachment import attachment
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.trees import Tree

GOLD, LISTS = some_lists(5)


def single(tree: Tree, name: str = "") -> KBest:
    found = Sentence.from_tree(tree)
    return KBest(name or tree.sent_id, (found,))


def test_counts_of_all_candidates() -> None:
    tables = counts_beside_gold(GOLD, LISTS)
    assert [len(table) for table in tables] == [1, 2, 3, 4, 5]
    for tree, kbest, table in zip(GOLD, LISTS, tables, strict=True):
        for candidate, row in zip(kbest.candidates, table, strict=True):
            assert tuple(row) == attachment(tree, candidate.tree)


def test_names_of_the_parsers_own() -> None:
    """The order decides: parsers number sentences as they like."""
    renamed = [KBest(f"{i}", kbest.candidates) for i, kbest in enumerate(LISTS)]
    assert [len(table) for table in counts_beside_gold(GOLD, renamed)] == [1, 2, 3, 4, 5]


def test_a_missing_sentence() -> None:
    for where in range(5):
        with pytest.raises(FormatError, match=f"number {where + 1}, is missing in lists.conllu") as caught:
            counts_beside_gold(GOLD, [*LISTS[:where], *LISTS[where + 1 :]])
        assert caught.value.sent_id == GOLD[where].sent_id
        assert caught.value.line == GOLD[where].line


def test_an_additional_sentence() -> None:
    more = single(Tree(("other",), (0,), sent_id="more", source="system.conllu", line=77))
    for where in range(6):
        with pytest.raises(FormatError, match="this sentence is not in the gold standard") as caught:
            counts_beside_gold(GOLD, [*LISTS[:where], more, *LISTS[where:]])
        assert caught.value.address == "system.conllu:77 (sent_id more)"


def test_other_tokens() -> None:
    tree = GOLD[2]
    other = Tree((*tree.forms[:-1], "!"), tree.heads, sent_id="x", source="system.conllu", line=9)
    with pytest.raises(FormatError) as caught:
        counts_beside_gold(GOLD, [*LISTS[:2], single(other), *LISTS[3:]])
    assert f"word {len(tree)} is '!' here, and {tree.forms[-1]!r} in the gold standard" in caught.value.message
    assert caught.value.address == "system.conllu:9 (sent_id x)"
    assert tree.address in caught.value.message
    shorter = Tree(("one", "two"), (2, 0), sent_id="x")
    with pytest.raises(FormatError, match=f"2 words here, and {len(tree)} in the gold standard"):
        counts_beside_gold(GOLD, [*LISTS[:2], single(shorter), *LISTS[3:]])
