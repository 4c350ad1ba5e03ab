"""Attachment counts: by hand on a small tree, beside a slow twin, and beside the shared task's own evaluator."""

from __future__ import annotations

import io
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kbest_samples import some_lists

from ramify.formats import Sentence
from ramify.formats.kbest import KBest
from ramify.tasks.attachment import CONTENT, PUNCTUATION, Attachment, attachment, attachments
from ramify.tasks.eval_parse import eval_parse
from ramify.trees import Tree

GOLD = Tree(
    ("She", "was", "seen", "there", "(", "then", ")", "."),
    (3, 3, 0, 3, 6, 3, 6, 3),
    ("nsubj:pass", "aux:pass", "root", "advmod", "punct", "advmod", "punct", "punct"),
    xpos=("PRP", "VBD", "VBN", "RB", "-LRB-", "RB", "-RRB-", "."),
)


def test_a_tree_beside_itself() -> None:
    assert attachment(GOLD, GOLD) == Attachment(8, 8, 8, 8, 8, 7, 7, 7)


def test_counted_by_hand() -> None:
    """A wrong head, a wrong relation, another subtype, a function word for a content word."""
    system = Tree(
        GOLD.forms,
        (3, 3, 0, 6, 6, 3, 6, 6),
        ("nsubj:outer", "obj", "root", "advmod", "punct", "case", "punct", "punct"),
    )
    # right heads: all but `there` and `.`; right relations: also not `was` and `then`
    # content words: of gold She seen there then, of the system She was seen there; right: She and seen
    # the paper leaves out `.` alone: brackets are counted
    assert attachment(GOLD, system) == Attachment(8, 6, 4, 8, 4, 7, 6, 4)


def twin(gold: Tree, system: Tree) -> dict[str, Fraction]:
    """The definitions, word by word, as sets."""

    def bare(tree: Tree, word: int) -> str:
        return tree.deprels[word].split(":")[0]

    every = set(range(len(gold)))
    heads = {word for word in every if gold.heads[word] == system.heads[word]}
    right = {word for word in heads if bare(gold, word) == bare(system, word)}
    kept = {word for word in every if gold.xpos[word] not in {"``", "''", ".", ",", ":"}}
    functional = {"aux", "cop", "mark", "det", "clf", "case", "cc"}
    of_gold = {word for word in every if bare(gold, word) not in functional | {"punct"}}
    of_system = {word for word in every if bare(system, word) not in functional | {"punct"}}
    precision = Fraction(len(right & of_system), max(1, len(of_system)))
    recall = Fraction(len(right & of_gold), max(1, len(of_gold)))
    both = precision + recall
    return {
        "uas": Fraction(len(heads), len(every)),
        "las": Fraction(len(right), len(every)),
        "clas": 2 * precision * recall / both if both else Fraction(0),
        "paper_uas": Fraction(len(heads & kept), max(1, len(kept))),
        "paper_las": Fraction(len(right & kept), max(1, len(kept))),
    }


RELATIONS = ["nsubj", "nsubj:pass", "obj", "case", "cc:preconj", "punct", "root", "aux"]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tree, Tree]:
    n = draw(st.integers(1, 7))

    def tree() -> Tree:
        heads = [draw(st.integers(0, word)) for word in range(n)]  # a head always stands before its dependent
        deprels = draw(st.lists(st.sampled_from(RELATIONS), min_size=n, max_size=n))
        tags = draw(st.lists(st.sampled_from([".", ":", "NN", "-LRB-", "HYPH"]), min_size=n, max_size=n))
        return Tree(tuple(f"w{i}" for i in range(n)), tuple(heads), tuple(deprels), xpos=tuple(tags))

    return tree(), tree()


@given(pair=pairs())
def test_the_slow_twin(pair: tuple[Tree, Tree]) -> None:
    gold, system = pair
    found = Attachment(*attachments(gold, [system])[0].tolist())
    expected = twin(gold, system)
    assert Fraction(found.heads, found.words) == expected["uas"]
    assert Fraction(found.relations, found.words) == expected["las"]
    assert Fraction(found.content_right, max(1, found.content)) == expected["clas"]
    assert Fraction(found.kept_heads, max(1, found.kept)) == expected["paper_uas"]
    assert Fraction(found.kept_relations, max(1, found.kept)) == expected["paper_las"]


def test_the_sets() -> None:
    assert len(CONTENT) == 29
    assert not CONTENT & {"aux", "cop", "mark", "det", "clf", "case", "cc", "punct"}
    assert len(PUNCTUATION) == 5


def test_the_evaluator_of_the_shared_task() -> None:
    """That of the udtools package, where it is installed: the same shares to the last bit."""
    official = pytest.importorskip("udtools.udeval", reason="the official evaluator (pip install udtools) is not here")
    gold, lists = some_lists(30)
    for rank in (0, -1):
        system = [kbest.candidates[rank].tree for kbest in lists]
        options = {"multiple_roots_okay": 1, "no_empty_nodes": 0}
        options |= dict.fromkeys(["no_gapping", "no_shared_parents_in_coordination", "no_control", "no_case_info"], 0)
        options |= dict.fromkeys(
            ["no_shared_dependents_in_coordination", "no_external_arguments_of_relative_clauses"], 0
        )
        sides = [
            official.load_conllu(io.StringIO("".join(Sentence.from_tree(tree).text for tree in trees)), name, options)
            for name, trees in (("gold", gold), ("system", system))
        ]
        theirs = official.evaluate(*sides)
        ours = eval_parse(gold, [KBest("", (Sentence.from_tree(tree),)) for tree in system]).first
        for name in ("uas", "las", "clas"):
            assert ours[name].value == theirs[name.upper()].f1
