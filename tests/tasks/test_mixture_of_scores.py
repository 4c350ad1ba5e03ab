"""Mixtures: weighted sums, and weights beside a search on a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ramify.errors import CallError
from ramify.tasks import mixture
from ramify.tasks.complete import CandidateScores, choices, right
from ramify.tasks.mixture import best_weights, mix, tune


def noisy(signals: Sequence[float], n: int = 60, seed: int = 0) -> tuple[list[CandidateScores], dict[str, str]]:
    """Models that see the answer more or less clearly, on questions of three to five candidates."""
    random = np.random.default_rng(seed)
    answers = {}
    scores: list[list[np.ndarray]] = [[] for _ in signals]
    for question in range(n):
        candidates = int(random.integers(3, 6))
        answer = int(random.integers(candidates))
        answers[str(question)] = "abcde"[answer]
        for signal, mine in zip(signals, scores, strict=True):
            values = random.normal(size=candidates) - 50 + 10 * random.normal()
            values[answer] += signal
            mine.append(values)
    ids = tuple(answers)
    return [CandidateScores(ids, tuple(mine), f"k{i}") for i, mine in enumerate(scores)], answers


def likelihood(models: list[CandidateScores], answers: dict[str, str], coefficients: Sequence[float]) -> float:
    """The slow twin of the objective, question by question."""
    total = 0.0
    for i, id in enumerate(models[0].ids):  # noqa: A001
        mixed = sum(c * model.scores[i] for c, model in zip(coefficients, models, strict=True))
        total += mixed["abcde".index(answers[id])] - np.log(np.exp(mixed - np.max(mixed)).sum()) - np.max(mixed)
    return total / len(answers)


def test_a_mixture_is_a_weighted_sum() -> None:
    models, _ = noisy([1.0, 2.0])
    found = mix(models, [0.25, 0.75])
    for mixed, a, b in zip(found.scores, models[0].scores, models[1].scores, strict=True):
        np.testing.assert_allclose(mixed, 0.25 * a + 0.75 * b)
    assert (found.ids, found.kind) == (models[0].ids, "mixture of k0 and k1")
    assert choices(mix(models, [1.0, 0.0])) == choices(models[0])
    assert mix(models[:1], [1.0]) is models[0]


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0]])
def test_weights_that_are_none(weights: list[float]) -> None:
    with pytest.raises(CallError, match="2 models need as many weights, 0 or more, that sum to 1"):
        mix(noisy([1.0, 2.0])[0], weights)


def test_scores_of_other_questions() -> None:
    (a, b), _ = noisy([1.0, 2.0], n=3)
    with pytest.raises(CallError, match="model 2 are not of the same questions"):
        mix([a, CandidateScores(("0", "1", "7"), b.scores, "k")], [0.5, 0.5])
    short = CandidateScores(b.ids, (b.scores[0][:2], *b.scores[1:]), "k")
    with pytest.raises(CallError, match=r"question 0: 2 scores of model 2 and \d of model 1"):
        mix([a, short], [0.5, 0.5])


def test_the_best_weights_beside_a_grid() -> None:
    models, answers = noisy([1.5, 0.7])
    found = best_weights(models, answers)
    assert sum(found) == pytest.approx(1.0)
    grid = [(x / 12, y / 12) for x in range(31) for y in range(31)]
    best = max(grid, key=lambda each: likelihood(models, answers, each))
    assert found[0] == pytest.approx(best[0] / sum(best), abs=0.05)


def test_the_search_ends_where_no_step_helps() -> None:
    models, answers = noisy([1.0, 0.5, 0.3], seed=3)
    weights = np.array(best_weights(models, answers))
    sharpness = max(np.linspace(0.1, 5, 500), key=lambda each: likelihood(models, answers, (each * weights).tolist()))
    best = likelihood(models, answers, (sharpness * weights).tolist())
    for step in 0.05 * np.eye(3):
        for sign in (1, -1):
            tried = np.maximum(sharpness * weights + sign * step, 0)
            assert likelihood(models, answers, tried.tolist()) < best + 1e-4


def test_scales_do_not_matter_and_useless_models_get_nothing() -> None:
    models, answers = noisy([1.5, -1.0])
    assert best_weights(models, answers) == (1.0, 0.0)
    wrong, _ = noisy([-1.0, -1.5])
    assert best_weights([CandidateScores(each.ids, each.scores, "k") for each in wrong], noisy([-1.0, -1.5])[1]) == (
        0.5,
        0.5,
    )
    flat = CandidateScores(models[0].ids, tuple(0 * each for each in models[0].scores), "flat")
    assert best_weights([models[0], flat], answers)[0] == pytest.approx(1.0, abs=0.02)
    models, answers = noisy([1.0, 1.0])
    large = CandidateScores(models[1].ids, tuple(100 * each for each in models[1].scores), "large")
    a, b = best_weights(models, answers)
    scaled = best_weights([models[0], large], answers)
    assert scaled[0] / scaled[1] == pytest.approx(100 * a / b, rel=1e-4)
    assert choices(mix([models[0], large], scaled)) == choices(mix(models, (a, b)))


def test_answers_that_are_all_right_end_too() -> None:
    models, answers = noisy([50.0, 40.0])
    found = tune(models, answers)
    assert found.right.all()
    assert sum(found.weights) == pytest.approx(1.0)


def test_cross_validation_holds_out() -> None:
    """The slow twin: each fold by hand, under weights that never saw it."""
    models, answers = noisy([1.0, 0.8, 0.1], n=53)
    known = {
        question: answer for question, answer in answers.items() if int(question) % 2
    }  # some answers are not given
    found = tune(models, known, folds=4, seed=9)
    assert found.weights == best_weights([mixture._only(each, list(map(int, known))) for each in models], known)
    fold = np.random.default_rng(9).permutation(len(known)) % 4
    for number in range(4):
        inside = [question for question, of in zip(known, fold, strict=True) if of == number]
        outside = {question: known[question] for question in known if question not in inside}
        weights = best_weights([mixture._only(each, list(map(int, outside))) for each in models], outside)
        expected = right(choices(mix(models, weights)), {question: known[question] for question in inside})
        assert found.right[fold == number].tolist() == expected.tolist()


def test_a_seed_decides() -> None:
    models, answers = noisy([0.6, 0.5], n=200)
    runs = [tune(models, answers, seed=seed) for seed in (1, 1, 2, 3, 4)]
    assert runs[0].weights == runs[1].weights == runs[2].weights  # on all answers nothing is random
    assert runs[0].right.tolist() == runs[1].right.tolist()
    assert len({tuple(each.right.tolist()) for each in runs}) > 1


@pytest.mark.parametrize("folds", [1, 4])
def test_folds(folds: int) -> None:
    models, answers = noisy([1.0, 1.0], n=3)
    with pytest.raises(CallError, match=f"{folds} folds of 3 answered questions"):
        tune(models, answers, folds=folds)
