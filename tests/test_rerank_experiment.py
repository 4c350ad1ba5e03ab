"""The reranking experiment: its table is that of its runs, and what its model of whole trees reads."""

from __future__ import annotations

import json
from pathlib import Path

from small_runs import some_trees

from experiments.rerank.run import table
from experiments.rerank.whole_trees import whole, with_ends
from ramify.trees import Tree, dependency_path

FOLDER = Path(__file__).parent.parent / "experiments" / "rerank"


def test_the_table_is_that_of_the_runs() -> None:
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert table(results) in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_ends_stand_last_on_their_paths() -> None:
    """Each word generates its left dependents outwards, then an end, and its right ones, then an end."""
    for tree in [Tree(("a", "b", "c", "d"), (2, 0, 2, 3)), *some_trees()]:
        grown = with_ends(tree)
        words = [place for place, form in enumerate(grown.forms, 1) if form not in ("<l>", "<r>")]
        assert tuple(grown.forms[place - 1] for place in words) == tree.forms
        assert [grown.heads[place - 1] for place in words] == [words[head - 1] if head else 0 for head in tree.heads]
        for word in words:
            children = [place for place, head in enumerate(grown.heads, 1) if head == word]
            forms = [grown.forms[place - 1] for place in children]
            assert (forms.count("<l>"), forms.count("<r>")) == (1, 1)
            assert (forms[0], forms[-1]) == ("<l>", "<r>")
            left = [place for place in children if place < word]
            path = [step.word for step in dependency_path(grown, left[0])]
            assert path[len(path) - len(left) + 1 :] == left[:0:-1]


def test_tags() -> None:
    found = whole(Tree(("the", "blorb"), (2, 0), xpos=("DT", "NN"), sent_id="s1"))
    assert found.sent_id == "s1"
    assert found.forms == ("<l>", "<l>", "the/DT", "<r>", "<NN>", "<r>")
