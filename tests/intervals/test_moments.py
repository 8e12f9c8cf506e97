"""Closed-form intervals: against the paper, SciPy, brute force; their guarantees."""

import numpy as np
import pytest
from scipy import stats

from fairlib import bernstein
from fairlib.intervals.disparity import METHODS

FINITE = ["bernstein_maximal", "bernstein_centred", "hoeffding", "empirical_bernstein"]


@pytest.fixture
def groups():
    rng = np.random.default_rng(2)
    return rng.beta(1, 3, 40), rng.beta(1, 4, 90)


def ends(name, groups, *, alpha=0.05):
    """Return the ends from lists of costs, even where counts would do."""
    return METHODS[name].function(*groups, alpha=alpha, rng=None)


@pytest.mark.parametrize("name", [*FINITE, "bernstein_sample", "welch"])
def test_counts_say_what_the_costs_do(name):
    for (x_a, n_a), (x_b, n_b) in (
        ((3, 11), (2, 7)),
        ((5, 5), (1, 40)),
        ((1, 1), (2, 9)),
    ):
        if name != "welch" or n_a > 1:  # the variance of a single cost is 0
            costs = (
                np.repeat([1.0, 0.0], [x, n - x]) for x, n in ((x_a, n_a), (x_b, n_b))
            )
            assert ends(name, [*costs]) == pytest.approx(
                METHODS[name].counts(x_a, n_a, x_b, n_b, alpha=0.05)
            )


@pytest.mark.parametrize("name", ["maximal", "sample"])
def test_the_papers_interval_is_the_one_of_bernstein(groups, name):
    cost = np.concatenate(groups)
    membership = np.repeat([1, -1], [40, 90])
    expected = bernstein.interval(cost, membership, variance=name)
    found = ends(f"bernstein_{name}", groups)
    assert found == pytest.approx((expected.low, expected.high))


def test_centred_is_the_papers_interval_for_centred_costs(groups):
    """Its bound on the variance holds in the worst case: half the costs 0, half 1."""
    gamma = 40 / 130
    t = bernstein.half_width(
        130, variance=1 / (4 * gamma * (1 - gamma)), gamma=gamma, max_cost=0.5
    )
    low, high = ends("bernstein_centred", groups)
    assert (high - low) / 2 == pytest.approx(t)
    worst = np.repeat([0.5, -0.5, 0.5, -0.5], [20, 20, 45, 45])
    amortized = worst * np.repeat([1 / gamma, -1 / (1 - gamma)], [40, 90])
    assert np.mean(amortized**2) <= 1 / (4 * gamma * (1 - gamma)) * (1 + 1e-12)


def test_welch_is_scipys(groups):
    for a, b in (groups, (groups[0][:2], groups[1])):
        expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
        assert ends("welch", (a, b), alpha=0.1) == pytest.approx(
            (expected.low, expected.high)
        )


def test_welch_without_variance_has_no_width_and_one_example_is_refused():
    assert METHODS["welch"].counts(0, 10, 0, 10, alpha=0.05) == (0, 0)
    with pytest.raises(ValueError, match="at least two examples"):
        METHODS["welch"].counts(0, 1, 0, 10, alpha=0.05)


def test_hoeffding_in_plain_numbers():
    low, high = METHODS["hoeffding"].counts(30, 100, 20, 100, alpha=0.05)
    assert (low, high) == pytest.approx(
        (0.1 - np.sqrt(0.01 * np.log(40)), 0.1 + np.sqrt(0.01 * np.log(40)))
    )


def test_empirical_bernstein_in_plain_numbers():
    """Without variance in the sample, the limit of the deviation is known.

    In a few examples it is the largest deviation, and in many the allowance alone.
    """
    for n, deviation in ((10, 0.5), (10_001, np.sqrt(2 * np.log(20 / 0.05) / 10_000))):
        log_term = np.log(2 / (0.9 * 0.05))
        t = deviation * np.sqrt(4 / n * log_term) + log_term / (3 * n)
        assert METHODS["empirical_bernstein"].counts(
            0, n, 0, n, alpha=0.05
        ) == pytest.approx((-t, t))


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("sizes", [(3, 3), (8, 30), (25, 25)])
@pytest.mark.parametrize("rates", [(0.02, 0.02), (0.5, 0.5), (0.9, 0.1), (0.3, 0.0)])
def test_coverage_by_enumeration(name, sizes, rates):
    """All tables of two binomials with their probabilities."""
    (n_a, n_b), (p_a, p_b) = sizes, rates
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    low, high = METHODS[name].counts(x_a, n_a, x_b, n_b, alpha=0.05)
    covered = (low <= p_a - p_b) & (p_a - p_b <= high)
    probability = stats.binom.pmf(x_a, n_a, p_a) * stats.binom.pmf(x_b, n_b, p_b)
    assert probability[covered].sum() >= 0.95 - 1e-12
