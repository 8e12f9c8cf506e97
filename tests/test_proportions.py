"""Intervals for two error rates: published examples, other implementations, brute force, exact coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from fairlib import proportions

tables = st.tuples(st.integers(1, 30), st.integers(1, 30)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


# Newcombe 1998 (Stat. Med. 17, 873-890), Table II: methods 6 (Miettinen-Nurminen) and 10 (square and add)
@pytest.mark.parametrize(
    ("table", "miettinen_nurminen", "newcombe"),
    [
        ((56, 70, 48, 80), (0.0528, 0.3382), (0.0524, 0.3339)),
        ((6, 7, 2, 7), (0.0342, 0.8534), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0326, 0.1933), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1658, 0.2844), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2879, 0.2879), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.7156, 1.0), (0.6791, 1.0)),
        ((10, 10, 0, 10), (0.6636, 1.0), (0.6075, 1.0)),
    ],
)
def test_published_examples(table, miettinen_nurminen, newcombe):
    found = proportions.miettinen_nurminen(*table, alpha=0.05)
    assert found == pytest.approx(miettinen_nurminen, abs=1e-4)
    assert proportions.newcombe(*table, alpha=0.05) == pytest.approx(newcombe, abs=1e-4)


@given(tables, st.floats(-0.98, 0.98))
@settings(max_examples=150, deadline=None)
def test_restricted_rate_is_the_likeliest(table, difference):
    """The closed form against a numerical maximum of the likelihood."""
    x_a, n_a, x_b, n_b = table

    def minus_log_likelihood(rate_b):
        return -stats.binom.logpmf(x_a, n_a, min(rate_b + difference, 1)) - stats.binom.logpmf(x_b, n_b, rate_b)

    low, high = max(0, -difference), min(1, 1 - difference)
    numerical = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-10}
    )
    found = float(proportions.restricted_rate(difference, x_a, n_a, x_b, n_b))
    assert low <= found <= high
    assert minus_log_likelihood(np.clip(found, low + 1e-12, high - 1e-12)) <= numerical.fun + 1e-6


def test_a_difference_without_variance_is_right_or_impossible():
    assert proportions.score(np.array([-1.0, 1.0]), 5, 10, 2, 10).tolist() == [np.inf, -np.inf]
    assert proportions.score(1.0, 10, 10, 0, 10) == 0


@pytest.mark.parametrize("method", ["miettinen_nurminen", "newcombe", "clopper_pearson", "exact_unconditional"])
@given(table=tables)
@settings(max_examples=20, deadline=None)
def test_swapping_groups_or_outcomes_mirrors_the_interval(method, table):
    interval = getattr(proportions, method)
    x_a, n_a, x_b, n_b = table
    low, high = interval(x_a, n_a, x_b, n_b, alpha=0.05)
    rate = x_a / n_a - x_b / n_b
    assert -1 - 1e-9 <= low <= rate + 1e-9
    assert rate - 1e-9 <= high <= 1 + 1e-9
    assert interval(x_b, n_b, x_a, n_a, alpha=0.05) == pytest.approx((-high, -low), abs=1e-6)
    assert interval(n_a - x_a, n_a, n_b - x_b, n_b, alpha=0.05) == pytest.approx((-high, -low), abs=2e-6)


def test_clopper_pearson_is_scipys_per_group():
    a, b = (stats.binomtest(x, n).proportion_ci(0.975) for x, n in ((14, 20), (5, 30)))
    found = proportions.clopper_pearson(14, 20, 5, 30, alpha=0.05)
    assert found == pytest.approx((a.low - b.high, a.high - b.low))


def exact_ends(n_a, n_b, alpha):
    ends = np.array(
        [
            [proportions.exact_unconditional(x_a, n_a, x_b, n_b, alpha=alpha) for x_b in range(n_b + 1)]
            for x_a in range(n_a + 1)
        ]
    )
    return ends[..., 0], ends[..., 1]


@pytest.mark.slow
@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (4, 9), (10, 10)])
def test_exact_covers_everywhere_and_hardly_more_than_it_must(n_a, n_b):
    low, high = exact_ends(n_a, n_b, 0.1)
    x_a, x_b = np.arange(n_a + 1), np.arange(n_b + 1)
    coverage = []
    for p_a in np.linspace(0, 1, 41):
        for p_b in np.linspace(0, 1, 41):
            probability = np.outer(stats.binom.pmf(x_a, n_a, p_a), stats.binom.pmf(x_b, n_b, p_b))
            difference = p_a - p_b
            coverage.append(probability[(low <= difference + 1e-12) & (difference - 1e-12 <= high)].sum())
    assert min(coverage) >= 0.9 - 1e-9
    if n_a == 10:
        assert min(coverage) < 0.92  # it is not merely wide


def test_exact_beats_barnard_nowhere_but_agrees_about():
    """SciPy's exact unconditional test orders the tables otherwise; the two agree on clear cases."""
    for table in ((7, 12, 8, 9), (15, 20, 5, 20), (3, 20, 2, 25)):
        x_a, n_a, x_b, n_b = table
        p_value = stats.barnard_exact([[x_a, x_b], [n_a - x_a, n_b - x_b]]).pvalue
        low, high = proportions.exact_unconditional(*table, alpha=0.05)
        if p_value < 0.02:
            assert low > 0 or high < 0
        if p_value > 0.1:
            assert low <= 0 <= high


def test_exact_end_is_where_the_tail_reaches_its_level():
    n_a, n_b, x_a, x_b = 12, 9, 8, 2
    low, _ = proportions.exact_unconditional(x_a, n_a, x_b, n_b, alpha=0.05)
    order = proportions.table_order(n_a, n_b, 0.05)
    region = order >= order[x_a, x_b] - 1e-12

    def tail(difference):
        rates = np.linspace(max(0, -difference), min(1, 1 - difference), 4001)
        of_a = stats.binom.pmf(np.arange(n_a + 1)[:, None], n_a, np.clip(rates + difference, 0, 1))
        of_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, rates)
        return np.einsum("ij,ir,jr->r", region, of_a, of_b).max()

    assert tail(low) == pytest.approx(0.025, abs=1e-5)


def test_exact_refuses_large_groups():
    with pytest.raises(ValueError, match="allows 9,000,000, found 25,010,001; use 'betting'"):
        proportions.exact_unconditional(10, 5000, 20, 5000, alpha=0.05)
