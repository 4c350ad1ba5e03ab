"""Paired comparisons beside direct sums and enumeration."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.tasks import paired
from ramify.tasks.paired import McNemar, bootstrap, permutation_p


def direct_p(only_a: int, only_b: int) -> float:
    """The slow twin: the probability of all splits that are no likelier than this one."""
    n = only_a + only_b
    return sum(comb(n, i) for i in range(n + 1) if comb(n, i) <= comb(n, only_a)) / 2**n


@given(only_a=st.integers(0, 60), only_b=st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    assert McNemar(5, only_a, only_b, 7).p == pytest.approx(direct_p(only_a, only_b), rel=1e-12)


def test_mcnemar_of_thousands() -> None:
    assert McNemar(0, 0, 3000, 0).p == 0.0
    assert McNemar(0, 3000, 3000, 0).p == 1.0
    assert 0 < McNemar(0, 2900, 3100, 0).p < 0.05


def test_mcnemar_counts() -> None:
    a = np.array([True, True, False, False, True, False])
    b = np.array([True, False, True, False, False, False])
    assert McNemar.of(a, b) == McNemar(1, 2, 1, 2)
    assert McNemar.of(a, b).to_json() == {"both_right": 1, "only_a": 2, "only_b": 1, "both_wrong": 2, "p": 1.0}


@given(differences=st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_permutations_beside_all_signs(differences: list[int]) -> None:
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((-1, 1), repeat=len(differences))]
    exact = np.mean([each >= abs(sum(differences)) for each in sums])
    assert permutation_p(np.array(differences)) == pytest.approx(exact, abs=0.025)


def test_permutations_of_floats_find_equal_sums() -> None:
    """0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1 in the last bit: all signs alike are as far all the same."""
    assert permutation_p(np.array([0.1, 0.2, 0.3])) == pytest.approx(0.25, abs=0.02)


def test_the_bootstrap_nears_the_normal_interval() -> None:
    values = np.random.default_rng(5).normal(2.0, 3.0, 400)
    low, high = bootstrap(values)
    error = values.std() / 20
    assert (low, high) == (
        pytest.approx(values.mean() - 1.96 * error, abs=0.04),
        pytest.approx(values.mean() + 1.96 * error, abs=0.04),
    )


def test_the_bootstrap_of_a_ratio() -> None:
    """The slow twin: one draw after the other."""
    values, sizes = np.array([1.0, 5.0, -2.0]), np.array([1.0, 2.0, 4.0])
    random = np.random.default_rng(7)
    drawn = random.integers(3, size=(paired.ROUNDS, 3))
    ratios = [sum(values[i] for i in each) / sum(sizes[i] for i in each) for each in drawn]
    assert bootstrap(values, sizes, seed=7) == tuple(np.quantile(ratios, [0.025, 0.975]).tolist())


def test_a_seed_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=50)
    assert bootstrap(values, seed=4) == bootstrap(values, seed=4) != bootstrap(values, seed=5)
    assert permutation_p(values, seed=4) == permutation_p(values, seed=4) != permutation_p(values, seed=5)
    whole = bootstrap(values, seed=4)
    monkeypatch.setattr(paired, "_AT_ONCE", 999)
    assert bootstrap(values, seed=4) == whole  # portions change nothing


def test_fewer_rounds_for_many_values() -> None:
    assert sum(paired._rounds(2000)) == 10_000
    assert sum(paired._rounds(200_000)) == 1000
    assert sum(paired._rounds(10**7)) == 200
    assert max(paired._rounds(10**7)) == 1
