"""Intervals for ratios of two rates."""

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import confint_proportions_2indep

from fairlib.intervals import ratios


@pytest.mark.parametrize(
    ("rate", "other"), [(0.1, 0.4), (0.4, 0.5), (0.72, 0.9), (0.5, 0.5)]
)
def test_the_interval_covers_the_true_ratio_in_small_groups(rate, other):
    n, n_other = 20, 35
    x, x_other = np.meshgrid(np.arange(n + 1), np.arange(n_other + 1), indexing="ij")
    low, high = ratios.ratio(x, n, x_other, n_other, alpha=0.05)
    chance = binom.pmf(x, n, rate) * binom.pmf(x_other, n_other, other)
    covered = (low <= rate / other) & (rate / other <= high)
    assert chance[covered].sum() >= 0.95


def test_katz_is_the_interval_of_statsmodels():
    low, high = ratios.katz(30, 100, 50, 120, alpha=0.1)
    expected = confint_proportions_2indep(
        30, 100, 50, 120, compare="ratio", method="log", alpha=0.1
    )
    assert (low, high) == pytest.approx(expected)


def test_nobody_selected_gives_a_low_end_of_zero_or_no_high_end():
    assert ratios.ratio(0, 10, 5, 10, alpha=0.05)[0] == 0
    assert ratios.ratio(5, 10, 0, 10, alpha=0.05)[1] == np.inf
    assert np.isnan(ratios.katz(0, 10, 5, 10, alpha=0.05)).any()


def test_many_cases_give_the_interval_of_katz():
    counts = (40_000, 100_000, 50_000, 100_000)
    both = [function(*counts, alpha=0.05) for function in (ratios.ratio, ratios.katz)]
    assert both[0] == pytest.approx(both[1], rel=1e-4)
