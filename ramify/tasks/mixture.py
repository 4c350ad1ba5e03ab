"""Mixtures: several models' scores of the same candidates, added with weights.

What is the same for all candidates of a question changes no choice, so the scores of a tree and of a sequence, which
differ mostly by that, can be added as they are. Tuned weights maximise the mean log-probability of the right answer,
under the softmax over a question's candidates of the weighted scores. Weights times a sharpness form the coefficients
of a conditional logit, whose objective has one maximum; so nothing is random but the folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ramify.corpus.structure import Array
from ramify.errors import CallError
from ramify.tasks.complete import CandidateScores, choices, right

_RIDGE = 1e-3  # holds coefficients where the given answers would let them grow for ever


@dataclass(frozen=True)
class Tuned:
    """Weights tuned on all answers, and how well such weights do on answers that they were not tuned on."""

    weights: tuple[float, ...]
    right: Array  # for each answered question, under the weights tuned without its fold


def mix(models: Sequence[CandidateScores], weights: Sequence[float]) -> CandidateScores:
    """The weighted sum of candidates' scores."""
    if len(weights) != len(models) or not all(weight >= 0 for weight in weights) or abs(sum(weights) - 1) > 1e-6:
        raise CallError(f"{len(models)} models need as many weights, 0 or more, that sum to 1: not {tuple(weights)}")
    check_alike(models)
    if len(models) == 1:
        return models[0]
    first = models[0]
    scores = tuple(_weighted(each, weights) for each in zip(*(model.scores for model in models), strict=True))
    kinds = dict.fromkeys(model.kind for model in models)
    return CandidateScores(first.ids, scores, f"mixture of {' and '.join(kinds)}")


def check_alike(models: Sequence[CandidateScores]) -> None:
    """Refuse scores of other questions or candidates."""
    first = models[0]
    for number, model in enumerate(models[1:], 2):
        if model.ids != first.ids:
            raise CallError(
                f"the scores of model {number} are not of the same questions, in the same order, as model 1's"
            )
        for question, ours, theirs in zip(model.ids, model.scores, first.scores, strict=True):
            if len(ours) != len(theirs):
                raise CallError(
                    f"question {question}: {len(ours)} scores of model {number} and {len(theirs)} of model 1"
                )


def _weighted(scores: Sequence[Array], weights: Sequence[float]) -> Array:
    return np.asarray(sum(weight * each for weight, each in zip(weights, scores, strict=True)))


def tune(models: Sequence[CandidateScores], answers: Mapping[str, str], *, folds: int = 5, seed: int = 1) -> Tuned:
    """Weights for a mixture from the questions whose answers are known, with cross-validation."""
    check_alike(models)
    at = [i for i, question in enumerate(models[0].ids) if question in answers]
    check_folds(folds, len(at))
    known = [_only(model, at) for model in models]
    fold = np.random.default_rng(seed).permutation(len(at)) % folds
    found = np.zeros(len(at), bool)
    for number in range(folds):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        weights = best_weights([_only(model, outside) for model in known], answers)
        found[inside] = right(choices(mix([_only(model, inside) for model in known], weights)), answers)
    return Tuned(best_weights(known, answers), found)


def check_folds(folds: int, answered: int) -> None:
    if not 2 <= folds <= answered:
        raise CallError(f"{folds} folds of {answered} answered questions: take 2 at least, and at most one for each")


def _only(found: CandidateScores, places: Sequence[int] | Array) -> CandidateScores:
    return CandidateScores(tuple(found.ids[i] for i in places), tuple(found.scores[i] for i in places), found.kind)


def best_weights(models: Sequence[CandidateScores], answers: Mapping[str, str]) -> tuple[float, ...]:
    """The weights under which the given answers are likeliest; equal ones where no model is of any use."""
    gaps = []  # of each question [candidates, models]: how far each candidate is ahead of the right one
    for question, letters, *scores in zip(
        models[0].ids, models[0].letters, *(model.scores for model in models), strict=True
    ):
        table = np.stack(scores, 1)
        gaps.append(table - table[letters.index(answers[question])])
    scale = np.sqrt(np.mean(np.concatenate([each - each.mean(0) for each in gaps]) ** 2, 0))
    scale[scale == 0] = 1.0
    coefficients = _ascend([each / scale for each in gaps]) / scale
    total = coefficients.sum()
    if not total:
        return (1 / len(models),) * len(models)
    return tuple((coefficients / total).tolist())


def _ascend(gaps: Sequence[Array]) -> Array:
    """The coefficients, 0 or more, of the likeliest answers: one by one by Newton's steps, until none moves."""
    at = np.ones(gaps[0].shape[1])
    padded = np.full((len(gaps), max(map(len, gaps)), len(at)), 0.0)  # [Q, candidates, models]
    there = np.zeros(padded.shape[:2], bool)
    for i, each in enumerate(gaps):
        padded[i, : len(each)] = each
        there[i, : len(each)] = True

    def share(at: Array) -> tuple[Array, float]:
        """The softmax over candidates [Q, candidates], and the objective."""
        y = np.where(there, padded @ at, -np.inf)
        top = y.max(1, keepdims=True)
        total = np.exp(y - top).sum(1, keepdims=True)
        objective = -float(np.mean(top + np.log(total))) - _RIDGE * float(at @ at)
        return np.exp(y - top) / total, objective

    shares, best = share(at)
    for _ in range(1000):
        before = at.copy()
        for m in range(len(at)):
            expected = (shares * padded[:, :, m]).sum(1)
            slope = -expected.mean() - 2 * _RIDGE * at[m]
            curve = ((shares * padded[:, :, m] ** 2).sum(1) - expected**2).mean() + 2 * _RIDGE
            step = slope / curve
            while abs(step) > 1e-12:  # shorter where Newton's step would go too far
                tried = at.copy()
                tried[m] = max(0.0, at[m] + step)
                of_tried, objective = share(tried)
                if objective >= best:
                    at, shares, best = tried, of_tried, objective
                    break
                step /= 2
        if np.abs(at - before).max() < 1e-9:
            break
    return at
