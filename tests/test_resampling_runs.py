"""Intervals over runs, and the Poisson bootstrap."""

import numpy as np
import pytest
from scipy import stats

from fairlib import resampling


def test_over_runs_is_students_t():
    values = np.random.default_rng(0).normal(size=5)
    found = resampling.over_runs(values, confidence=0.9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.estimate == pytest.approx(values.mean()) and found.method == "t over 5 runs"


def test_over_runs_is_wider_than_the_released_interval_by_the_known_factor():
    values = np.random.default_rng(1).normal(size=5)
    released = 1.96 * values.std() / np.sqrt(5)
    assert resampling.over_runs(values).half_width / released == pytest.approx(1.584, abs=5e-4)


def test_over_runs_covers_and_the_released_interval_does_not():
    runs = np.random.default_rng(2).normal(size=(4000, 5))
    t = np.mean([0.0 in resampling.over_runs(values) for values in runs])
    released = np.mean(np.abs(runs.mean(axis=1)) <= 1.96 * runs.std(axis=1) / np.sqrt(5))
    assert t == pytest.approx(0.95, abs=0.011)
    assert released == pytest.approx(0.8455, abs=0.018)


@pytest.mark.parametrize("values", [[], [0.1], [[0.1, 0.2]]])
def test_over_runs_needs_two_runs(values):
    with pytest.raises(ValueError, match="values must be a vector of at least 2 runs"):
        resampling.over_runs(values)


def test_over_runs_names_what_is_not_finite():
    with pytest.raises(ValueError, match="values must be finite, found 1"):
        resampling.over_runs([0.1, np.nan])
    with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\), found 95"):
        resampling.over_runs([0.1, 0.2], confidence=95)


def test_equal_runs_have_an_interval_of_no_width():
    assert resampling.over_runs([0.25, 0.25, 0.25]).half_width == 0


def test_poisson_bootstrap_of_a_ratio_agrees_with_theory():
    rng = np.random.default_rng(3)
    chosen = rng.random(4000) < 0.4
    outcome = rng.random(4000) < 0.3
    features = np.stack([chosen & outcome, chosen], axis=1)
    found = resampling.poisson_bootstrap(
        np.array_split(features, 7), lambda totals: totals[:, 0] / totals[:, 1], resamples=4000, rng=4
    )
    rate, n = outcome[chosen].mean(), chosen.sum()
    assert found.estimate == pytest.approx(rate)
    assert found.half_width == pytest.approx(1.96 * np.sqrt(rate * (1 - rate) / n), rel=0.05)


def test_poisson_totals_do_not_depend_on_global_state_and_repeat_with_the_seed():
    features = np.random.default_rng(5).random((50, 3))
    first = resampling.poisson_totals([features], resamples=100, rng=6)
    assert np.array_equal(first, resampling.poisson_totals([features], resamples=100, rng=6))
    assert first[0] == pytest.approx(features.sum(axis=0))
    assert first.shape == (101, 3)


def test_poisson_totals_accept_a_generator_and_name_what_is_missing():
    totals = resampling.poisson_totals((np.ones((10, 1)) for _ in range(3)), resamples=2000, rng=7)
    assert totals[0] == 30 and totals[1:].var() == pytest.approx(30, rel=0.1)
    with pytest.raises(ValueError, match="at least one array"):
        resampling.poisson_totals([], resamples=10)
    with pytest.raises(ValueError, match="resamples must be at least 2, found 1"):
        resampling.poisson_totals([np.ones((3, 1))], resamples=1)
