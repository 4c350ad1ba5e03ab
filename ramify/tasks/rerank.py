"""Rerank: which of a parser's candidate trees does a tree model find best?

Every candidate has a score log P(S|T), the sum over the sentence's words; `tasks/rerank_rule.py` chooses by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import CallError, FormatError, ModelError
from ramify.formats.conllu import Sentence
from ramify.formats.kbest import SCORE, KBest, is_ranked, ranked_name
from ramify.tasks.once import key_of, score_once_each
from ramify.tasks.rerank_rule import Rule, tune
from ramify.tasks.score import LM
from ramify.trees import Tree


@dataclass(frozen=True)
class Scored:
    """A k-best list with the scores of its candidates, all of them natural logarithms [candidates]."""

    kbest: KBest
    tree: Array  # log P(S|T); of several models the mean
    base: Array | None  # the parser's, normalised over the list; None where it gave no scores


@dataclass(frozen=True)
class Reranked:
    """A k-best list in a new order."""

    scored: Scored
    totals: Array  # [candidates] what the order follows
    order: tuple[int, ...]  # places in the old list, best first; those beyond the first K stay behind them

    @property
    def sent_id(self) -> str:
        return self.scored.kbest.sent_id

    @property
    def choice(self) -> int:
        """The place of the best in the old list, from 0."""
        return self.order[0]

    @property
    def best(self) -> Sentence:
        """The best candidate under the sentence's own name, with its scores in comments."""
        return self._sentence(self.choice, self.sent_id)

    @property
    def sentences(self) -> list[Sentence]:
        """The whole list in its new order."""
        return [self._sentence(place, ranked_name(self.sent_id, rank)) for rank, place in enumerate(self.order, 1)]

    def _sentence(self, place: int, name: str) -> Sentence:
        sentence = self.scored.kbest.candidates[place]
        comments = {"sent_id": name} if is_ranked(sentence) else {}
        comments["parser_rank"] = str(place + 1)
        if self.scored.base is not None:
            comments["parser_logprob"] = f"{self.scored.base[place]:.4f}"
        comments["tree_logprob"] = f"{self.scored.tree[place]:.4f}"
        comments["rerank_score"] = f"{self.totals[place]:.4f}"
        return sentence.with_comments(comments)


def rerank(lists: Iterable[KBest], models: LM | Iterable[LM], rule: Rule | None = None) -> list[Reranked]:
    """Every list in the order of a rule; left out, it is the paper's: the best tree score among the first 4."""
    each = [models] if isinstance(models, LM) else models
    return by_rule(score_lists(list(lists), each), rule or Rule())


def by_rule(scored: Iterable[Scored], rule: Rule) -> list[Reranked]:
    """Scored lists in the order of a rule."""
    found = []
    for each in scored:
        totals = rule.totals(each.tree, _needed_base(each) if rule.mix < 1 else None)
        found.append(Reranked(each, totals, rule.order(totals)))
    return found


def score_lists(
    lists: Sequence[KBest],
    models: Iterable[LM],
    progress: Callable[[int], object] = lambda candidates: None,
    *,
    seen: Callable[[Tree], Tree] = lambda tree: tree,
) -> list[Scored]:
    """The scores of all candidates, in one stream for each model; `progress` hears of candidates that are done.

    Of several models counts the mean of their log-probabilities, so they may have different vocabularies. `seen` makes
    of a candidate what the models were trained on, where that is no plain tree: one with other words, or more.
    """
    trees = [[seen(candidate.tree) for candidate in kbest.candidates] for kbest in lists]
    base = [base_logprobs(kbest) for kbest in lists]
    sums = [np.zeros(len(kbest.candidates)) for kbest in lists]
    number = 0
    for lm in models:
        if not lm.config.kind.reads_trees:
            kind = lm.config.kind
            raise CallError(f"a model of the kind {kind} reads no trees: to it all candidates are the same")
        number += 1
        scores = score_once_each(lm, (tree for each in trees for tree in each), progress)
        for each, total in zip(trees, sums, strict=True):
            total += [scores[key_of(lm, tree)].logprob for tree in each]
    if not number:
        raise CallError("reranking needs a model")
    for kbest, total in zip(lists, sums, strict=True):
        if not np.isfinite(total).all():
            tree = kbest.candidates[int(np.argmin(np.isfinite(total)))].tree
            raise ModelError(f"{tree.address}: the tree's score is no finite number: is the model damaged?")
    return [Scored(kbest, total / number, each) for kbest, total, each in zip(lists, sums, base, strict=True)]


def base_logprobs(kbest: KBest) -> Array | None:
    """A parser's scores, normalised over the list; None where there are none at all.

    They are taken as they are, logarithms up to a factor: another factor would only change what a share of them means.
    """
    texts = [candidate.comment(SCORE) for candidate in kbest.candidates]
    if texts.count(None) == len(texts):
        return None
    for candidate, text in zip(kbest.candidates, texts, strict=True):
        tree = candidate.tree
        if text is None:
            raise FormatError(
                f"a candidate without {SCORE}, in a list that has some", tree.source, tree.line, tree.sent_id
            )
        if not np.isfinite(float(text)):
            raise FormatError(f"the {SCORE} {text} is not finite", tree.source, tree.line, tree.sent_id)
    scores = np.array([float(text) for text in texts if text is not None])
    scores -= scores.max()  # first: beside large scores the logarithm of a sum would be lost
    return np.asarray(scores - np.logaddexp.reduce(scores))


def _needed_base(scored: Scored) -> Array:
    if scored.base is None:
        tree = scored.kbest.candidates[0].tree
        message = f"no {SCORE}: a mixture needs the parser's scores, the tree score alone (mix 1) does not"
        raise FormatError(message, tree.source, tree.line, tree.sent_id)
    return scored.base


def tuned_rule(
    scored: Sequence[Scored], counts: Sequence[Array], *, k: int | None = None, mix: float | None = None
) -> Rule:
    """The rule that is best beside gold trees (tasks/beside_gold.py has their counts); what is given stays."""
    base = None if mix == 1 else [_needed_base(each) for each in scored]
    return tune([each.tree for each in scored], base, counts, k=k, mix=mix)
