"""Reranking beside a loop that scores candidate by candidate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
import torch
from kbest_samples import some_lists
from small_runs import small_lm

from ramify.errors import CallError, FormatError, ModelError
from ramify.formats.conllu import Sentence
from ramify.formats.kbest import KBest, group
from ramify.tasks.beside_gold import counts_beside_gold
from ramify.tasks.rerank import base_logprobs, by_rule, rerank, score_lists, tuned_rule
from ramify.tasks.rerank_report import report
from ramify.tasks.rerank_rule import Rule
from ramify.tasks.score import LM
from ramify.trees import Tree

GOLD, LISTS = some_lists()


def brute_force(kbest: KBest, models: Sequence[LM], k: int, mix: float) -> int:
    """The slow twin: the place of the winner."""
    scores = [float(candidate.comment("parser_score") or 0) for candidate in kbest.candidates]
    total = math.log(sum(math.exp(score) for score in scores))
    best, choice = -math.inf, 0
    for place, candidate in enumerate(kbest.candidates[:k]):
        tree = sum(lm.score(candidate.tree).logprob for lm in models) / len(models)
        score = (1 - mix) * (scores[place] - total) + mix * tree
        if score > best + 1e-5:  # a batch of one adds in another order
            best, choice = score, place
    return choice


@pytest.mark.parametrize(("k", "mix"), [(1, 1.0), (2, 1.0), (4, 1.0), (20, 1.0), (4, 0.3), (6, 0.05), (6, 0.0)])
def test_brute_force(k: int, mix: float) -> None:
    lm = small_lm()
    found = rerank(LISTS, lm, Rule(k, mix))
    assert [each.choice for each in found] == [brute_force(kbest, [lm], k, mix) for kbest in LISTS]
    for each, kbest in zip(found, LISTS, strict=True):
        assert sorted(each.order) == list(range(len(kbest.candidates)))
        assert each.best.tree == kbest.candidates[each.choice].tree
        totals = each.totals[list(each.order[:k])]
        assert (np.diff(totals) <= 0).all()


@pytest.mark.parametrize("options", [{}, {"label_aware": True}])
def test_scores_are_those_of_each_tree_alone(options: dict[str, bool]) -> None:
    lm = small_lm("ldtree", list(GOLD), **options)
    for each in score_lists(LISTS, [lm]):
        alone = [lm.score(candidate.tree).logprob for candidate in each.kbest.candidates]
        np.testing.assert_allclose(each.tree, alone, rtol=1e-5)
        if len(alone) > 3:
            assert each.tree[2] == each.tree[0]  # candidates that are alike, to the last bit
        assert each.base is not None
        assert np.exp(each.base).sum() == pytest.approx(1)


def test_several_models() -> None:
    models = [small_lm("ldtree"), small_lm("tree")]
    scored = score_lists(LISTS, models)
    each = [score_lists(LISTS, [lm]) for lm in models]
    for both, one, other in zip(scored, *each, strict=True):
        np.testing.assert_allclose(both.tree, (one.tree + other.tree) / 2)
    found = [one.choice for one in rerank(LISTS, iter(models), Rule(5, 0.4))]
    assert found == [brute_force(kbest, models, 5, 0.4) for kbest in LISTS]


def test_what_a_model_sees_may_be_another_tree() -> None:
    def grown(tree: Tree) -> Tree:
        return Tree((*tree.forms, "end"), (*tree.heads, len(tree)))

    lm = small_lm()
    for each in score_lists(LISTS, [lm], seen=grown):
        alone = [lm.score(grown(candidate.tree)).logprob for candidate in each.kbest.candidates]
        np.testing.assert_allclose(each.tree, alone, rtol=1e-5)


def test_progress_hears_of_all_candidates() -> None:
    heard: list[int] = []
    score_lists(LISTS, [small_lm(), small_lm("tree")], heard.append)
    assert sum(heard) == 2 * sum(len(kbest.candidates) for kbest in LISTS)


def test_what_is_written() -> None:
    (found,) = by_rule(score_lists(LISTS[5:6], [small_lm()]), Rule(4, 0.5))
    (original,) = LISTS[5:6]
    best, chosen = found.best, original.candidates[found.choice]
    assert best.tree.sent_id == original.sent_id
    assert best.rows == chosen.rows
    assert best.comment("parser_score") == chosen.comment("parser_score")
    assert best.comment("parser_rank") == str(found.choice + 1)
    numbers = [float(best.comment(name) or 0) for name in ("parser_logprob", "tree_logprob", "rerank_score")]
    assert numbers[2] == pytest.approx(sum(numbers[:2]) / 2, abs=2e-4)
    (again,) = group(found.sentences)
    assert again.sent_id == original.sent_id
    assert [each.comment("parser_rank") for each in again.candidates[4:]] == ["5", "6"]
    assert [each.tree for each in again.candidates] == [original.candidates[place].tree for place in found.order]


def test_a_sentence_without_a_rank_keeps_its_name() -> None:
    tree = Tree(("a", "b"), (2, 0), sent_id="alone")
    (found,) = rerank([KBest("alone", (Sentence.from_tree(tree),))], small_lm())
    assert found.best.tree.sent_id == "alone"
    assert found.best.comment("parser_logprob") is None
    (nameless,) = rerank([KBest("", (Sentence.from_tree(Tree(("a",), (0,))),))], small_lm())
    assert nameless.best.comment("sent_id") is None
    assert [each.comment("sent_id") for each in nameless.sentences] == [None]


def with_score(kbest: KBest, place: int, text: str | None) -> KBest:
    candidates = list(kbest.candidates)
    if text is None:
        changed = candidates[place].text.replace("# parser_score = ", "# other = ")
        candidates[place] = Sentence(changed, candidates[place].tree)
    else:
        candidates[place] = candidates[place].with_comment("parser_score", text)
    return KBest(kbest.sent_id, tuple(candidates))


def test_base_scores_that_are_refused() -> None:
    kbest = LISTS[3]
    for text in ("inf", "-inf"):
        with pytest.raises(FormatError, match=f"the parser_score {text} is not finite") as caught:
            base_logprobs(with_score(kbest, 1, text))
        assert caught.value.sent_id == f"{kbest.sent_id}/k_2"
    with pytest.raises(FormatError, match="a candidate without parser_score, in a list that has some") as caught:
        base_logprobs(with_score(kbest, 3, None))
    assert caught.value.sent_id == f"{kbest.sent_id}/k_4"


def test_huge_base_scores() -> None:
    kbest = LISTS[1]
    for score in ("1e300", "-1e300", "5000"):
        found = base_logprobs(with_score(with_score(kbest, 0, score), 1, score))
        assert found is not None
        assert found.tolist() == pytest.approx([math.log(0.5)] * 2)


def test_lists_without_scores() -> None:
    """The paper's rule needs none; a mixture does."""
    bare = [
        KBest(each.sent_id, tuple(Sentence.from_tree(candidate.tree) for candidate in each.candidates))
        for each in LISTS
    ]
    assert [each.choice for each in rerank(bare, small_lm())] == [each.choice for each in rerank(LISTS, small_lm())]
    scored = score_lists(bare, [small_lm()])
    counts = counts_beside_gold(GOLD, bare)
    assert tuned_rule(scored, counts, mix=1).mix == 1
    with pytest.raises(FormatError, match="no parser_score: a mixture needs the parser's scores"):
        by_rule(scored, Rule(4, 0.5))
    with pytest.raises(FormatError, match="no parser_score"):
        tuned_rule(scored, counts)


def test_models_that_are_refused() -> None:
    with pytest.raises(CallError, match="reads no trees"):
        rerank(LISTS, small_lm("lstm"))
    with pytest.raises(CallError, match="needs a model"):
        rerank(LISTS, [])
    damaged = small_lm()
    with torch.no_grad():
        next(iter(damaged.model.parameters())).fill_(math.nan)
    with pytest.raises(ModelError, match=r"lists.conllu:1 .*: the tree's score is no finite number"):
        rerank(LISTS, damaged)


def test_a_report() -> None:
    lm = small_lm()
    counts = counts_beside_gold(GOLD, LISTS)
    found = report(rerank(LISTS, lm, Rule(3)), counts, 3)
    assert list(found.systems) == ["base", "reranked", "oracle", "worst", "random"]
    for figure in found.gain:
        base, ours, oracle, worst, random = (found.systems[name][figure].value for name in found.systems)
        assert worst <= min(base, ours, random) <= max(base, ours, random) <= oracle
        assert found.gain[figure].value == pytest.approx(ours - base)
    about = found.to_json()
    assert cast(int, about["changed"]) == sum(brute_force(kbest, [lm], 3, 1.0) > 0 for kbest in LISTS)
    nothing = report(rerank(LISTS, lm, Rule(1)), counts, 1)
    assert nothing.changed == 0
    assert nothing.systems["oracle"] == nothing.systems["base"] == nothing.systems["worst"]
    assert all(each.value == 0 and each.p == 1 for each in nothing.gain.values())
