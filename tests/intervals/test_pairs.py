"""Intervals for pairs: published examples, brute force, exact coverage."""

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar

from fairlib.intervals import pairs


# What R's PropCIs 0.3 gives (scoreci.mp, whose estimate has the other sign); the last one by hand: all pairs one-sided,
# so that q = (1 - δ)/2 and the end solves n (1 - δ)/(1 + δ) = 1.96²
@pytest.mark.parametrize(
    ("only_a", "only_b", "n", "alpha", "low", "high"),
    [(28, 25, 618, 0.1, -0.0148, 0.0247), (1, 7, 21, 0.05, -0.517, -0.026), (14, 0, 14, 0.05, 0.5694, 1.0)],
)
def test_tango_against_others(only_a, only_b, n, alpha, low, high):
    digits = 3 if n == 21 else 4
    assert np.round(pairs.tango(only_a, only_b, n, alpha=alpha), digits).tolist() == pytest.approx((low, high))


@pytest.mark.parametrize(("only_a", "only_b", "n"), [(5, 2, 30), (1, 9, 12), (3, 3, 7), (4, 1, 60)])
@pytest.mark.parametrize("difference", [-0.7, -0.1, 0.0, 0.05, 0.6])
def test_likeliest_rate_by_numerical_maximum(only_a, only_b, n, difference):
    def minus_log_likelihood(q):
        return -(
            only_a * np.log(q + difference)
            + only_b * np.log(q)
            + (n - only_a - only_b) * np.log(1 - 2 * q - difference)
        )

    low, high = max(0, -difference) + 1e-12, (1 - difference) / 2 - 1e-12
    expected = optimize.minimize_scalar(minus_log_likelihood, bounds=(low, high), method="bounded").x
    assert float(pairs.likeliest_rate(difference, only_a, only_b, n)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("n", [30, 400])
def test_interval_excludes_zero_exactly_where_the_test_rejects(n):
    """The exact McNemar test of statsmodels, at 0.95 α, for all tables of up to 30 one-sided pairs."""
    only_a, only_b = (axis.ravel() for axis in np.meshgrid(np.arange(31), np.arange(31)))
    few = (only_a + only_b <= 30) & (only_a <= only_b)
    only_a, only_b = only_a[few], only_b[few]
    p = [mcnemar([[0, a], [b, 0]], exact=True).pvalue if a + b else 1.0 for a, b in zip(only_a, only_b, strict=True)]
    low, high = pairs.mcnemar(only_a, only_b, n, alpha=0.05)
    assert (((low > 0) | (high < 0)) == (np.array(p) <= 0.95 * 0.05 + 1e-12)).all()


@pytest.mark.parametrize("method", [pairs.mcnemar, pairs.tango])
def test_mirrored_pairs_have_the_mirrored_interval(method):
    only_a, only_b = np.meshgrid(np.arange(9), np.arange(9))
    low, high = method(only_a, only_b, 20, alpha=0.05)
    other_low, other_high = method(only_b, only_a, 20, alpha=0.05)
    np.testing.assert_allclose(low, -other_high, atol=1e-9)
    np.testing.assert_allclose(high, -other_low, atol=1e-9)
    assert np.all((low <= (only_a - only_b) / 20 + 1e-9) & (high >= (only_a - only_b) / 20 - 1e-9))


@pytest.mark.parametrize("n", [6, 25])
def test_mcnemar_interval_covers_everywhere_by_enumeration(n):
    """Every trinomial on a grid: (only a, only b, the rest)."""
    only_a, only_b = (axis.ravel() for axis in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    kept = only_a + only_b <= n
    only_a, only_b = only_a[kept], only_b[kept]
    low, high = pairs.mcnemar(only_a, only_b, n, alpha=0.1)
    counts = np.stack([only_a, only_b, n - only_a - only_b], axis=1)
    steps = np.linspace(0, 1, 16)
    for p_a in steps:
        for p_b in steps[steps <= 1 - p_a + 1e-12]:
            probability = stats.multinomial.pmf(counts, n, [p_a, p_b, max(0.0, 1 - p_a - p_b)])
            covered = (low <= p_a - p_b + 1e-12) & (p_a - p_b - 1e-12 <= high)
            assert probability[covered].sum() >= 0.9 - 1e-9


def test_hoeffding_in_plain_numbers():
    t = np.sqrt(2 * np.log(40) / 200)
    assert pairs.hoeffding(30, 10, 200, alpha=0.05) == pytest.approx((0.1 - t, 0.1 + t))
