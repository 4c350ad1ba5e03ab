"""Complete: candidates scored together beside each one alone, and choices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from question_samples import some_questions
from small_runs import small_lm

from ramify.corpus import Encoding, Vocabulary, encode
from ramify.errors import CallError, FormatError
from ramify.formats.parses import Parses
from ramify.formats.predictions import Measure, Prediction
from ramify.formats.questions import Question
from ramify.model.config import Kind
from ramify.tasks.blank import find_blank, from_text
from ramify.tasks.complete import (
    CandidateScores,
    Outcome,
    accuracy,
    choices,
    from_predictions,
    right,
    score_candidates,
    types_of_unk,
)
from ramify.tasks.score import LM
from ramify.tasks.touched import touched
from ramify.trees import Tree

KINDS = list(Kind)


def alone(lm: LM, question: Question, tree: Tree, candidate: str, measure: Measure, types: float | None) -> float:
    """The slow twin: one sentence, one word after the other."""
    found = lm.score(tree)
    logprobs = dict(enumerate(found.logprobs.tolist(), 1))
    filled = find_blank(tree, question, candidate)
    for word in range(filled.first, filled.last + 1):
        if types is not None and lm.vocabulary.ids([tree.forms[word - 1]]) == [0]:
            logprobs[word] -= math.log(types)
    if found.end is not None:
        logprobs[len(tree) + 1] = found.end
    if measure is Measure.TOUCHED:
        return sum(logprobs[word] for word in touched(filled, lm.config.kind))
    total = sum(logprobs.values())
    return total / len(logprobs) if measure is Measure.MEAN else total


@pytest.mark.parametrize("types", [None, 50.0])
@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("kind", KINDS)
def test_together_as_alone(kind: Kind, measure: Measure, types: float | None) -> None:
    lm = small_lm(str(kind))
    questions, parses = some_questions()
    found = score_candidates(lm, questions, parses, measure=measure, unk_types=types)
    assert found.ids == tuple(question.id for question in questions)
    assert found.letters == (("a", "b", "c"),) * len(questions)
    assert found.kind == f"{lm.kind} {measure}{' unk-corrected' if types else ''}"
    for question, parsed, scores in zip(questions, parses, found.scores, strict=True):
        expected = [
            alone(lm, question, tree, candidate, measure, types)
            for candidate, (tree,) in zip(question.candidates, parsed.of_candidates, strict=True)
        ]
        np.testing.assert_allclose(scores, expected, rtol=1e-5)
    unknown = [lm.vocabulary.ids([each]) == [0] for question in questions for each in question.candidates]
    assert found.unknown == sum(unknown) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_is_the_score_of_the_sentence(kind: Kind) -> None:
    lm = small_lm(str(kind))
    questions, parses = some_questions(3)
    scores = score_candidates(lm, questions, parses).scores
    expected = [[lm.score(tree).logprob for (tree,) in parsed.of_candidates] for parsed in parses]
    np.testing.assert_allclose(np.stack(scores), expected, rtol=1e-5)


@pytest.mark.parametrize("measure", Measure)
def test_several_parses_are_averaged_in_probability(measure: Measure) -> None:
    lm = small_lm("ldtree")
    (question,), (first,) = some_questions(1)
    _, (second,) = some_questions(1, seed=0)
    second = Parses([[replace(tree, heads=tuple(range(len(tree))))] for (tree,) in second.of_candidates])
    one, two = (score_candidates(lm, [question], [each], measure=measure).scores[0] for each in (first, second))
    both = Parses([[*a, *b] for a, b in zip(first.of_candidates, second.of_candidates, strict=True)])
    found = score_candidates(lm, [question], [both], measure=measure).scores[0]
    n = len(both.of_candidates[0][0]) if measure is Measure.MEAN else 1
    np.testing.assert_allclose(found, np.log((np.exp(n * one) + np.exp(n * two)) / 2) / n, rtol=1e-5)


def test_shared_parses_are_marginalised() -> None:
    lm = small_lm("ldtree")
    questions, parses = some_questions(4)
    found = score_candidates(lm, questions, parses, shared=True)
    assert found.kind == "P(S|T) sum shared"
    for question, parsed, scores in zip(questions, parses, found.scores, strict=True):
        for i, candidate in enumerate(question.candidates):
            place = find_blank(parsed.of_candidates[0][0], question).first - 1
            sums = []
            for (tree,) in parsed.of_candidates:
                forms = (*tree.forms[:place], candidate, *tree.forms[place + 1 :])
                sums.append(lm.score(replace(tree, forms=forms)).logprob)
            assert scores[i] == pytest.approx(np.logaddexp.reduce(sums) - math.log(3), rel=1e-5)


@pytest.mark.parametrize("kind", ["tree", "ldtree"])
def test_in_a_shared_tree_what_is_touched_decides(kind: str) -> None:
    """All else has the same probability for each candidate."""
    lm = small_lm(kind)
    questions, parses = some_questions()
    shared = [Parses([[], [], []], each.of_candidates[1]) for each in parses]
    whole, part = (score_candidates(lm, questions, shared, measure=m, shared=True).scores for m in ("sum", "touched"))
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_allclose(a - b, (a - b)[0], rtol=1e-4)
    assert any(abs((a - b)[0]) > 1 for a, b in zip(whole, part, strict=True))


def test_sequences_without_parses() -> None:
    lm = small_lm("lstm")
    questions, parses = some_questions(4)
    from_texts = score_candidates(lm, questions)
    from_parses = score_candidates(lm, questions, parses)  # of the same words, as the samples are tokenised
    assert [each.tolist() for each in from_texts.scores] == [each.tolist() for each in from_parses.scores]
    question = Question("1", "It ", ".", ("sleeps", "barks"))
    expected = [lm.score(from_text(question, each).tree).logprob for each in question.candidates]
    np.testing.assert_allclose(score_candidates(lm, [question]).scores[0], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["tree", "ldtree"])
def test_a_tree_model_needs_parses(kind: str) -> None:
    with pytest.raises(CallError, match="a tree model needs a parse of every candidate"):
        score_candidates(small_lm(kind), some_questions(1)[0])


def test_candidates_are_needed() -> None:
    with pytest.raises(FormatError, match=r"q\.csv:3: question 5: it has no candidates: add some, or ask"):
        score_candidates(small_lm("lstm"), [Question("5", "a ", "", (), None, "q.csv", 3)])


@pytest.mark.parametrize("kind", KINDS)
def test_what_looks_the_same_to_the_model_ties(kind: Kind) -> None:
    """Two unknown words in equal trees: equal to the last bit, wherever they stand; the first is chosen."""
    lm = small_lm(str(kind))
    questions, parses = some_questions(8)
    changed = []
    for question, parsed in zip(questions, parses, strict=True):
        tree = parsed.of_candidates[0][0]
        place = find_blank(tree, question).first - 1
        forms = [(*tree.forms[:place], word, *tree.forms[place + 1 :]) for word in ("zz", "yy", "xx")]
        changed.append(Parses([[replace(tree, forms=each)] for each in forms]))
    questions = [replace(question, candidates=("zz", "yy", "xx")) for question in questions]
    done: list[int] = []
    found = score_candidates(lm, questions, changed, progress=done.append)
    assert all(len(set(scores.tolist())) == 1 for scores in found.scores)
    assert set(choices(found).values()) == {"a"}
    assert {each.margin for each in found.predictions} == {0.0}
    assert sum(done) == 24


def test_label_aware_models_see_relations() -> None:
    lm = small_lm("ldtree", label_aware=True)
    (question,), (parsed,) = some_questions(1)
    tree = parsed.of_candidates[0][0]
    labels = lm.vocabulary.labels
    first, second = (replace(tree, deprels=(label,) * len(tree)) for label in labels[1:3])
    word = question.candidates[0]
    found = score_candidates(lm, [replace(question, candidates=(word, word))], [Parses([[first], [second]])])
    assert found.scores[0][0] != found.scores[0][1]


# --- choices ---------------------------------------------------------------------------------------------------------

SCORES = CandidateScores(
    ("1", "2", "3"), (np.array([-3.0, -1.0, -2.5]), np.array([-2.0, -2.0]), np.array([-9.0, -8.0])), "k"
)


def test_choices() -> None:
    assert choices(SCORES) == {"1": "b", "2": "a", "3": "b"}
    assert [(each.choice, each.margin, each.scores) for each in SCORES.predictions] == [
        ("b", 1.5, (-3.0, -1.0, -2.5)),
        ("a", 0.0, (-2.0, -2.0)),
        ("b", 1.0, (-9.0, -8.0)),
    ]


def test_accuracy() -> None:
    assert accuracy(choices(SCORES), {"1": "b", "3": "a"}) == 0.5
    assert right(choices(SCORES), {"3": "b", "1": "a"}).tolist() == [False, True]
    with pytest.raises(CallError, match="none of the questions has an answer"):
        accuracy(choices(SCORES), {"7": "a"})


def test_the_outcome() -> None:
    found = Outcome.of(np.array([True] * 30 + [False] * 70))
    assert (found.accuracy, found.right, found.answered) == (0.3, 30, 100)
    assert found.low == pytest.approx(0.21, abs=0.011)
    assert found.high == pytest.approx(0.39, abs=0.011)
    assert str(found) == f"accuracy 30.00% [{found.low:.2%}, {found.high:.2%}]"
    assert found == Outcome.of(np.array([True] * 30 + [False] * 70))


def rows(*ids: str, kind: str = "k") -> list[Prediction]:
    return [Prediction(each, "a", 1.0, kind, (-1.0, -2.0), "p.csv", i) for i, each in enumerate(ids, 2)]


def test_from_predictions() -> None:
    questions = [Question(each, "", "", ("x", "y"), None, "q.csv", 5) for each in ("1", "q2")]
    found = from_predictions(rows("2", "q1"), questions)
    assert (found.ids, found.kind) == (("1", "q2"), "k")
    assert [each.tolist() for each in found.scores] == [[-1.0, -2.0]] * 2
    for given, said in (
        (rows("1"), "q.csv:5: question q2: it is not in p.csv"),
        (rows("1", "2", "3"), "p.csv:4: there is no question '3' among those given"),
        ([*rows("1"), *rows("2", kind="other")], "p.csv:2: question 2: scores of the kind 'other', and 'k' on line 2"),
    ):
        with pytest.raises(FormatError) as refused:
            from_predictions(given, questions)
        assert str(refused.value) == said
    with pytest.raises(FormatError, match=r"q\.csv:5: question 1: 2 scores in p\.csv:2 for 3 candidates"):
        from_predictions(rows("1"), [Question("1", "", "", ("x", "y", "z"), None, "q.csv", 5)])


# --- the class of unknown words --------------------------------------------------------------------------------------


def test_types_of_unk_where_they_are_known() -> None:
    """Words that occur once each: as many types as tokens. In real text the estimate is near for other limits too."""
    all_words = encode(["ewt:train"], Encoding(min_count=0)).vocabulary
    counts = dict(zip(all_words.words[2:], all_words.counts[2:].tolist(), strict=True))
    for limits, error in (
        ({"min_count": 1}, 1e-9),
        ({"min_count": 2}, 0.01),
        ({"min_count": 5}, 0.01),
        ({"min_count": 10}, 0.01),
        ({"min_count": 1, "max_size": 5000}, 0.1),
    ):
        vocabulary = Vocabulary.from_counts(counts, 1, **limits)
        left_out = len(counts) - (len(vocabulary) - 2)
        assert types_of_unk(vocabulary) == pytest.approx(left_out, rel=error)


def test_types_of_unk_at_the_edges() -> None:
    counts = {"a": 9, "b": 9, "c": 4, "d": 4, "e": 1}
    assert types_of_unk(Vocabulary.from_counts(counts, 3)) == 1.0  # all words are known
    assert types_of_unk(Vocabulary.from_counts(counts, 3, min_count=9)) == pytest.approx(27 * 0.9 / 1.9289682, rel=1e-6)
    assert types_of_unk(Vocabulary.from_counts({**counts, "f": 1, "g": 1}, 3, max_size=7)) == pytest.approx(2.0)
    cut = Vocabulary.from_counts(counts, 3, max_size=6)  # e is left out; the rarest word that is known occurs 4 times
    assert types_of_unk(cut) == 1.0
