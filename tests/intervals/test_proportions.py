"""Intervals from counts: published examples, other implementations, brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_confint,
)

from fairlib.intervals import proportions
from fairlib.intervals.exact import exact_unconditional

tables = st.tuples(st.integers(1, 30), st.integers(1, 30)).flatmap(
    lambda n: st.tuples(
        st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1])
    )
)


# Newcombe 1998 (Stat. Med. 17, 873-890), Table II: methods 6 (Miettinen-Nurminen) and
# 10 (square and add)
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
@settings(max_examples=60, deadline=None)
def test_restricted_rate_is_the_likeliest(table, difference):
    """The closed form against a numerical maximum of the likelihood."""
    x_a, n_a, x_b, n_b = table

    def minus_log_likelihood(rate_b):
        return -stats.binom.logpmf(
            x_a, n_a, min(rate_b + difference, 1)
        ) - stats.binom.logpmf(x_b, n_b, rate_b)

    low, high = max(0, -difference), min(1, 1 - difference)
    numerical = optimize.minimize_scalar(
        minus_log_likelihood,
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-10},
    )
    found = float(proportions.restricted_rate(difference, x_a, n_a, x_b, n_b))
    assert low <= found <= high
    assert (
        minus_log_likelihood(np.clip(found, low + 1e-12, high - 1e-12))
        <= numerical.fun + 1e-6
    )


def test_a_difference_without_variance_is_right_or_impossible():
    assert proportions.miettinen_nurminen_score(
        np.array([-1.0, 1.0]), 5, 10, 2, 10
    ).tolist() == [np.inf, -np.inf]
    assert proportions.miettinen_nurminen_score(1.0, 10, 10, 0, 10) == 0


@pytest.mark.parametrize(
    "interval",
    [
        proportions.miettinen_nurminen,
        proportions.newcombe,
        proportions.clopper_pearson,
        exact_unconditional,
    ],
)
@given(table=tables)
@settings(max_examples=15, deadline=None)
def test_swapping_groups_or_outcomes_mirrors_the_interval(interval, table):
    x_a, n_a, x_b, n_b = table
    low, high = interval(x_a, n_a, x_b, n_b, alpha=0.05)
    rate = x_a / n_a - x_b / n_b
    assert -1 - 1e-9 <= low <= rate + 1e-9
    assert rate - 1e-9 <= high <= 1 + 1e-9
    assert interval(x_b, n_b, x_a, n_a, alpha=0.05) == pytest.approx(
        (-high, -low), abs=1e-6
    )
    assert interval(n_a - x_a, n_a, n_b - x_b, n_b, alpha=0.05) == pytest.approx(
        (-high, -low), abs=2e-6
    )


def some_counts(*, largest):
    """Return errors and examples of many groups, some without or with only errors."""
    rng = np.random.default_rng(3)
    n = rng.integers(1, largest, size=2000, endpoint=True)
    x = rng.integers(0, n, endpoint=True)
    x[:50] = 0
    x[50:100] = n[50:100]
    return x, n


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("largest", [20, 3000, 10**9])
def test_wilson_is_that_of_statsmodels(largest, alpha):
    """statsmodels 0.14 adds its terms in another order: the last digit may differ."""
    x, n = some_counts(largest=largest)
    expected = proportion_confint(x, n, alpha=alpha, method="wilson")
    ends = proportions.wilson(x, n, alpha=alpha)
    np.testing.assert_allclose(ends, expected, rtol=0, atol=1e-15)
    for number in range(0, 200, 7):
        x_of_group, n_of_group = int(x[number]), int(n[number])
        low, high = proportions.wilson(x_of_group, n_of_group, alpha=alpha)
        assert (low, high) == (ends[0][number], ends[1][number])


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("largest", [20, 3000, 10**9])
def test_newcombe_is_statsmodels_to_the_last_bit(largest, alpha):
    x_a, n_a = some_counts(largest=largest)
    x_b, n_b = x_a[::-1], n_a[::-1]
    expected = confint_proportions_2indep(
        x_a, n_a, x_b, n_b, compare="diff", method="newcomb", alpha=alpha
    )
    ends = proportions.newcombe(x_a, n_a, x_b, n_b, alpha=alpha)
    np.testing.assert_array_equal(ends, expected)
    for number in range(0, 200, 7):
        table = [int(counts[number]) for counts in (x_a, n_a, x_b, n_b)]
        assert proportions.newcombe(*table, alpha=alpha) == confint_proportions_2indep(
            *table, compare="diff", method="newcomb", alpha=alpha
        )


def test_newcombe_broadcasts():
    x_a = np.arange(8)[:, None]
    x_b = np.arange(5)[None, :]
    low, high = proportions.newcombe(x_a, 7, x_b, 4, alpha=0.1)
    assert low.shape == high.shape == (8, 5)
    assert (low[3, 2], high[3, 2]) == proportions.newcombe(3, 7, 2, 4, alpha=0.1)


@pytest.mark.parametrize("n", [4 * 10**9, 10**12, 2**53])
def test_wilson_of_very_many_examples_does_not_overflow(n):
    """The square of such a number is no 64-bit integer."""
    low, high = proportions.wilson(n // 2, n, alpha=0.05)
    assert high - low == pytest.approx(stats.norm.ppf(0.975) / np.sqrt(n), rel=1e-6)


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("largest", [20, 3000, 10**6])
def test_limits_are_clopper_and_pearsons_of_statsmodels(largest, alpha):
    x, n = some_counts(largest=largest)
    expected = proportion_confint(x, n, alpha=alpha, method="beta")
    np.testing.assert_array_equal(proportions.limits(x, n, alpha / 2), expected)


def test_clopper_pearson_is_scipys_per_group():
    a, b = (stats.binomtest(x, n).proportion_ci(0.975) for x, n in ((14, 20), (5, 30)))
    found = proportions.clopper_pearson(14, 20, 5, 30, alpha=0.05)
    assert found == pytest.approx((a.low - b.high, a.high - b.low))


# --- pairs ---


# From R's PropCIs 0.3 (scoreci.mp, whose estimate has the opposite sign). The last one
# by hand: all pairs are discordant, so that q = (1 - δ)/2 and the low end solves
# n (1 - δ)/(1 + δ) = 1.96².
@pytest.mark.parametrize(
    ("counts", "alpha", "digits", "expected"),
    [
        ((28, 25, 618), 0.1, 4, (-0.0148, 0.0247)),
        ((1, 7, 21), 0.05, 3, (-0.517, -0.026)),
        ((14, 0, 14), 0.05, 4, (0.5694, 1.0)),
    ],
)
def test_tango_against_others(counts, alpha, digits, expected):
    ends = np.round(proportions.tango(*counts, alpha=alpha), digits)
    assert ends.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("only_a", "only_b", "n"), [(5, 2, 30), (1, 9, 12), (3, 3, 7), (4, 1, 60)]
)
@pytest.mark.parametrize("difference", [-0.7, -0.1, 0.0, 0.05, 0.6])
def test_likeliest_rate_by_numerical_maximum(only_a, only_b, n, difference):
    def minus_log_likelihood(q):
        return -(
            only_a * np.log(q + difference)
            + only_b * np.log(q)
            + (n - only_a - only_b) * np.log(1 - 2 * q - difference)
        )

    low, high = max(0, -difference) + 1e-12, (1 - difference) / 2 - 1e-12
    expected = optimize.minimize_scalar(
        minus_log_likelihood, bounds=(low, high), method="bounded"
    ).x
    assert float(
        proportions.likeliest_rate(difference, only_a, only_b, n)
    ) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("n", [30, 400])
def test_interval_excludes_zero_exactly_where_the_test_rejects(n):
    """The exact test of statsmodels, at 0.95 α, for up to 30 discordant pairs."""
    only_a, only_b = (
        axis.ravel() for axis in np.meshgrid(np.arange(31), np.arange(31))
    )
    few = (only_a + only_b <= 30) & (only_a <= only_b)
    only_a, only_b = only_a[few], only_b[few]
    p = [
        mcnemar([[0, a], [b, 0]], exact=True).pvalue if a + b else 1.0
        for a, b in zip(only_a, only_b, strict=True)
    ]
    low, high = proportions.mcnemar(only_a, only_b, n, alpha=0.05)
    assert (((low > 0) | (high < 0)) == (np.array(p) <= 0.95 * 0.05 + 1e-12)).all()


@pytest.mark.parametrize("method", [proportions.mcnemar, proportions.tango])
def test_mirrored_pairs_have_the_mirrored_interval(method):
    only_a, only_b = np.meshgrid(np.arange(9), np.arange(9))
    low, high = method(only_a, only_b, 20, alpha=0.05)
    other_low, other_high = method(only_b, only_a, 20, alpha=0.05)
    np.testing.assert_allclose(low, -other_high, atol=1e-9)
    np.testing.assert_allclose(high, -other_low, atol=1e-9)
    assert np.all(
        (low <= (only_a - only_b) / 20 + 1e-9) & (high >= (only_a - only_b) / 20 - 1e-9)
    )


@pytest.mark.parametrize("n", [6, 25])
def test_mcnemar_interval_covers_everywhere_by_enumeration(n):
    """Every trinomial on a grid: (only a, only b, the rest)."""
    only_a, only_b = (
        axis.ravel() for axis in np.meshgrid(np.arange(n + 1), np.arange(n + 1))
    )
    kept = only_a + only_b <= n
    only_a, only_b = only_a[kept], only_b[kept]
    low, high = proportions.mcnemar(only_a, only_b, n, alpha=0.1)
    counts = np.stack([only_a, only_b, n - only_a - only_b], axis=1)
    steps = np.linspace(0, 1, 16)
    for p_a in steps:
        for p_b in steps[steps <= 1 - p_a + 1e-12]:
            probability = stats.multinomial.pmf(
                counts, n, [p_a, p_b, max(0.0, 1 - p_a - p_b)]
            )
            covered = (low <= p_a - p_b + 1e-12) & (p_a - p_b - 1e-12 <= high)
            assert probability[covered].sum() >= 0.9 - 1e-9


def test_hoeffding_for_pairs_in_plain_numbers():
    t = np.sqrt(2 * np.log(40) / 200)
    assert proportions.hoeffding_pairs(30, 10, 200, alpha=0.05) == pytest.approx(
        (0.1 - t, 0.1 + t)
    )
