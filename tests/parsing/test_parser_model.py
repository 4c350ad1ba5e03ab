"""What the model says of sentences: alone and in a batch, trained and read, gradients everywhere."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from parsing_twins import score_of
from small_parsers import batch_of, small_parser
from small_runs import some_trees

from ramify.corpus.structure import Array
from ramify.parsing.scorers import NEVER
from ramify.trees import Tree


def falling(n: int) -> list[Tree]:
    return sorted(some_trees(n), key=len, reverse=True)


@pytest.mark.parametrize("order", [1, 2])
def test_alone_as_in_a_batch(order: int) -> None:
    parser = small_parser(order=order)
    trees = falling(12)
    together = parser.model.read(batch_of(parser, trees))
    for tree, found in zip(trees, together, strict=True):
        (alone,) = parser.model.read(batch_of(parser, [tree]))
        assert found.scores.shape == (len(tree) + 1,) * (order + 1)
        can_be = found.scores > NEVER / 10
        np.testing.assert_array_equal(can_be, alone.scores > NEVER / 10)
        np.testing.assert_allclose(found.scores[can_be], alone.scores[can_be], atol=1e-5)
        np.testing.assert_array_equal(found.labels[:, 1:], alone.labels[:, 1:])
        np.testing.assert_array_equal(found.tags, alone.tags)
    alone_loss = sum(parser.model.loss(batch_of(parser, [tree])).item() for tree in trees)
    assert parser.model.loss(batch_of(parser, trees)).item() == pytest.approx(alone_loss, rel=1e-5)


def test_scores_that_a_tree_can_have_are_finite() -> None:
    """Whatever the decoder looks at is a log-probability, or a difference of two."""
    parser = small_parser()
    for tree in falling(6):
        (found,) = parser.model.read(batch_of(parser, [tree]))
        assert np.abs(_seen(found.scores)).max() < 1e4


def _seen(scores: Array) -> Array:
    n = len(scores) - 1
    seen = []
    for h in range(n + 1):
        for m in range(1, n + 1):
            between = range(h + 1, m) if m > h else range(m + 1, h)
            if m != h:
                seen += [scores[h, m, s] for s in (h, *between)]
                seen.append(scores[h, h, m])
    return np.array(seen)


def test_the_score_of_a_tree_is_what_training_makes_likely() -> None:
    """Its log-probability is minus the losses of its arcs and of what comes next on all sides."""
    parser = small_parser(sibling_weight=1.0)
    model = parser.model
    assert model.siblings is not None
    for tree in falling(8):
        batch = batch_of(parser, [tree])
        with torch.no_grad():
            _, states = model.encoder(batch)
            arcs = model.arcs.loss(states, batch.lengths, batch.heads).item()
            siblings = model.siblings.loss(states, batch.lengths, batch.events).item()
        (found,) = model.read(batch)
        assert -(arcs + siblings) == pytest.approx(score_of(tree, found.scores), rel=1e-4)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_reach_every_parameter(order: int) -> None:
    parser = small_parser(order=order)
    parser.model.train()
    parser.model.loss(batch_of(parser, falling(20))).backward()
    for name, parameter in parser.model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_the_gradient_is_that_of_differences() -> None:
    parser = small_parser(dropout=0.0, word_dropout=0.0)
    model = parser.model.double()
    batch = batch_of(parser, falling(5))
    model.loss(batch).backward()
    assert model.siblings is not None
    random = np.random.default_rng(1)
    for parameter in (model.siblings.none_yet, model.siblings.last.weight, model.arcs.weight, model.labels.weight):
        flat, gradient = parameter.data.view(-1), parameter.grad
        assert gradient is not None
        for at in random.integers(0, len(flat), 4).tolist():
            values = []
            for step in (1e-5, -1e-5):
                flat[at] += step
                with torch.no_grad():
                    values.append(model.loss(batch).item())
                flat[at] -= step
            assert gradient.view(-1)[at].item() == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-3, abs=1e-4)


def test_root_is_the_relation_of_roots_dependent_alone() -> None:
    parser = small_parser()
    root = parser.lexicon.index["labels"]["root"]
    for found in parser.model.read(batch_of(parser, falling(10))):
        assert (found.labels[0, 1:] == root).all()
        assert (found.labels[1:] != root).all()


def test_dropout_is_that_of_training_alone() -> None:
    parser = small_parser()
    batch = batch_of(parser, falling(4))
    assert parser.model.loss(batch).item() == parser.model.loss(batch).item()
    parser.model.train()
    assert parser.model.loss(batch).item() != parser.model.loss(batch).item()
