"""Adjusted p-values and findings: against statsmodels, loops and their promises."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

import fairlib
from fairlib.intervals import multiplicity
from fairlib.intervals.proportions import limits


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_against_its_definition(p):
    order = np.argsort(p, kind="stable")
    expected = np.empty(len(p))
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        expected[i] = largest
    np.testing.assert_allclose(multiplicity.holm(p), expected)


def test_holm_is_that_of_statsmodels_and_undefined_questions_are_none():
    p = np.random.default_rng(0).random(20) ** 3
    np.testing.assert_allclose(multiplicity.holm(p), multipletests(p, method="holm")[1])
    found = multiplicity.holm(pd.Series([np.nan, *p]))
    assert np.isnan(found[0])
    np.testing.assert_array_equal(found[1:], multiplicity.holm(p))


def test_nothing_to_adjust():
    assert (
        len(multiplicity.holm([])) == 0 and np.isnan(multiplicity.holm([np.nan])).all()
    )


def by_loop(observed, null):
    """Westfall and Young's step-down, literally."""
    every = np.vstack([observed, null])
    every = (every - every.mean(axis=0)) / every.std(axis=0)
    order = np.argsort(-every[0], kind="stable")
    result = np.empty(len(observed))
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(
            largest,
            np.mean([max(draw[order[rank:]]) >= every[0, i] - 1e-12 for draw in every]),
        )
        result[i] = largest
    return result


def test_max_t_against_a_loop():
    rng = np.random.default_rng(0)
    observed = rng.normal(size=6).round(1)  # rounded, so that there are ties
    null = rng.normal(size=(50, 6)).round(1)
    np.testing.assert_allclose(
        multiplicity.max_t(observed, null), by_loop(observed, null)
    )


def test_units_do_not_matter():
    rng = np.random.default_rng(1)
    observed, null = rng.normal(1, 1, size=5), rng.normal(size=(200, 5))
    units, zero = np.array([1, 10, 100, 0.1, 3.0]), np.array([0, 5, -3, 100, 1.0])
    turned = multiplicity.max_t(observed * units + zero, null * units + zero)
    np.testing.assert_allclose(multiplicity.max_t(observed, null), turned)


def test_equal_questions_cost_nothing_and_independent_ones_as_sidak_says():
    rng = np.random.default_rng(2)
    one = rng.normal(size=(20_000, 1))
    same = multiplicity.max_t(np.full(10, 2.5), np.repeat(one, 10, axis=1))
    assert same == pytest.approx((1 + (one >= 2.5).sum()) / 20_001, abs=2e-4)
    free = multiplicity.max_t(np.full(10, 2.5), rng.normal(size=(20_000, 10)))
    assert free.min() == pytest.approx(1 - (1 - 0.00621) ** 10, abs=0.008)


def test_one_question_is_an_ordinary_permutation_test():
    assert multiplicity.max_t([95.0], np.arange(99.0)[:, None]).tolist() == [0.05]


def test_undefined_and_infinite_statistics():
    null = np.array([[0.1, np.nan, 1.0], [0.2, 5.0, np.inf], [0.3, 1.0, 2.0]])
    p = multiplicity.max_t([np.nan, 2.0, np.inf], null)
    # Two of three draws are as far, on some question.
    assert np.isnan(p[0]) and p[1] >= 0.5 and p[2] >= 0.75
    assert multiplicity.max_t([np.inf], np.full((3, 1), np.inf)) == 1
    assert np.isnan(multiplicity.max_t([np.nan], np.ones((3, 1)))).all()


def test_a_ratio_that_is_often_infinite_does_not_drown_what_is_clear():
    rng = np.random.default_rng(9)
    null = np.abs(rng.normal(size=(999, 2)))
    null[:50, 0] = np.inf
    assert multiplicity.max_t([1.0, 20.0], null)[1] == 0.001
    assert multiplicity.max_t([np.inf, 0.1], null)[0] >= 51 / 1000


def test_family_wise_error_is_at_most_the_level_under_permutation():
    """The data are one of the draws: exchangeable, whatever the distribution."""
    rng, errors = np.random.default_rng(3), 0
    for _ in range(1000):
        common = rng.normal(size=(20, 1))
        every = np.exp(common + rng.normal(size=(20, 8))) * np.arange(1, 9)
        errors += (multiplicity.max_t(every[0], every[1:]) <= 0.05).any()
    assert errors / 1000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_adjusted_p_values_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for questions in (1, 2, 7, 40):
        p = np.round(rng.random(questions) ** 3, 2)  # some are equal
        adjusted = multiplicity._benjamini_hochberg(p)
        np.testing.assert_array_equal(adjusted, stats.false_discovery_control(p))


def test_discoveries_hardly_change_with_the_seed():
    """A seed decided with 200 draws; what is certain now agrees with the true p."""
    truth = np.concatenate([np.full(20, 1e-4), np.linspace(0.02, 1, 220)])
    should = stats.false_discovery_control(truth) <= 0.05
    for seed in range(10):
        p = (1 + np.random.default_rng(seed).binomial(9999, truth)) / 10_000
        found = fairlib.discoveries(p, draws=9999)
        assert (
            not (should & (found == "no")).any()
            and not (~should & (found == "yes")).any()
        )
        assert (found == "undecided").mean() < 0.05


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.1])
def test_limits_of_p_values_are_those_of_statsmodels_to_the_last_bit(alpha):
    for draws in (1, 19, 999, 9999):
        hits = np.arange(draws + 1.0)
        ours = limits(hits, draws, alpha / 2)
        expected = proportion_confint(hits, draws, alpha=alpha, method="beta")
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("p", [0.0, -0.1, 1.1])
def test_what_is_no_p_value_of_draws_is_refused(p):
    with pytest.raises(ValueError, match=r"p must be from .* = 0\.001 to 1, or NaN"):
        fairlib.discoveries([0.5, p, np.nan], draws=999)


def test_too_few_draws_for_so_many_questions_are_refused():
    with pytest.raises(
        ValueError,
        match="draws must be at least 4,799 for 240 questions at once, found 200",
    ):
        fairlib.discoveries(np.full(240, 1 / 201), draws=200)
    assert (fairlib.discoveries(np.full(240, 1 / 4800), draws=4799) != "no").all()
    assert fairlib.discoveries([np.nan, 0.001], draws=999).tolist() == [
        "undecided",
        "yes",
    ]
