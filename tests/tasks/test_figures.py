"""Figures, their intervals and differences beside direct sums."""

from __future__ import annotations

import numpy as np
import pytest

from ramify.corpus.structure import Array
from ramify.tasks import paired
from ramify.tasks.attachment import FIGURES, Attachment, columns
from ramify.tasks.figures import measure
from ramify.tasks.paired import bootstrap, resampled_sums


def some_counts(n: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    found = np.zeros((n, len(Attachment._fields)), np.int64)
    lengths = np.random.default_rng(0).integers(1, 20, n)  # the same words for every system
    for figure in FIGURES:
        right, of = columns(figure)
        found[:, of] = lengths
        found[:, right] = random.binomial(lengths, 0.8)
    return found


def test_resampled_sums_one_draw_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[1.0, 5.0], [2.0, -3.0], [4.0, 0.5]])
    random = np.random.default_rng(7)
    drawn = random.integers(3, size=(paired.ROUNDS, 3))
    expected = [[sum(table[i, c] for i in each) for c in range(2)] for each in drawn]
    assert resampled_sums(table, seed=7).tolist() == expected
    monkeypatch.setattr(paired, "_AT_ONCE", 1000)
    assert resampled_sums(table, seed=7).tolist() == expected  # portions change nothing


def test_values_and_intervals() -> None:
    counts = some_counts(50, 1)
    found = measure({"a": counts}, seed=3)
    assert not found.differences
    for figure, each in found.systems["a"].items():
        right, of = columns(figure)
        assert each.value == counts[:, right].sum() / counts[:, of].sum()
        assert (each.low, each.high) == bootstrap(counts[:, right], counts[:, of], seed=3)
    assert str(found.systems["a"]["uas"]).startswith(f"{100 * found.systems['a']['uas'].value:.2f} [")


def test_differences_are_paired() -> None:
    """The same noise on both sides does not hide a small gain."""
    base = some_counts(200, 1)
    better = base.copy()
    right, of = columns("uas")
    better[::4, right] = np.minimum(better[::4, right] + 1, better[::4, of])
    gain = measure({"base": base, "better": better}).differences["better"]
    assert gain["uas"].low > 0
    assert gain["uas"].p < 0.001
    assert gain["uas"].value == pytest.approx((better[:, right].sum() - base[:, right].sum()) / base[:, of].sum())
    assert (gain["las"].value, gain["las"].low, gain["las"].high, gain["las"].p) == (0.0, 0.0, 0.0, 1.0)


def test_p_of_two_systems_that_are_alike() -> None:
    gains = [measure({"a": some_counts(80, 1), "b": some_counts(80, seed)}).differences["b"] for seed in range(2, 22)]
    below = np.mean([gain[figure].p < 0.1 for gain in gains for figure in FIGURES])
    assert below < 0.25


def test_nothing_that_counts() -> None:
    empty = np.zeros((3, len(Attachment._fields)), np.int64)
    assert measure({"a": empty}).systems["a"]["clas"].to_json() == {"value": 0.0, "interval": [0.0, 0.0]}
