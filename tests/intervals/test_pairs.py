"""The interval of a change: against its test, other intervals, and by enumeration."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

import fairlib
from fairlib.intervals.pairs import (
    FEWEST_DISCORDANT,
    bonett_price,
    change_interval,
    change_p,
    uses_exact,
)


def coverage(n, more, fewer, *, alpha):
    """The exact coverage, over all outcomes of n cases, and the mean widths."""
    counts = np.arange(n + 1)
    x, y = (part.ravel() for part in np.meshgrid(counts, counts))
    x, y = x[x + y <= n], y[x + y <= n]
    rates = [more, fewer, 1 - more - fewer]
    weight = stats.multinomial.pmf(np.column_stack([x, y, n - x - y]), n, rates)
    likely = weight > 1e-12
    x, y, weight = x[likely], y[likely], weight[likely]
    low, high = change_interval(x, y, np.full(len(x), n), alpha=alpha)
    low_of_bonett, high_of_bonett = bonett_price(x, y, n, alpha=alpha)
    truth = more - fewer
    holds = weight[(low <= truth) & (truth <= high)].sum()
    width = (weight * (high - low)).sum()
    return holds, width / (weight * (high_of_bonett - low_of_bonett)).sum()


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize(
    ("n", "discordant"), [(100, 0.02), (100, 0.1), (200, 0.1), (200, 0.3), (60, 0.5)]
)
@pytest.mark.parametrize("share", [0.5, 0.75, 0.95])
def test_it_covers_by_enumeration(n, discordant, share, alpha):
    more, fewer = discordant * share, discordant * (1 - share)
    holds, width = coverage(n, more, fewer, alpha=alpha)
    assert holds >= 1 - alpha - 0.004
    if n * discordant >= 20:
        assert width <= 1.2


@pytest.mark.parametrize(
    ("more", "fewer", "n"), [(30, 10, 1000), (9, 1, 80), (0, 0, 50), (12, 0, 50)]
)
def test_p_is_the_level_at_which_the_interval_excludes_0(more, fewer, n):
    p = float(change_p(more, fewer, n))
    if p < 1:
        assert change_interval(more, fewer, n, alpha=min(1.001 * p, 1))[0] > 0
    assert change_interval(more, fewer, n, alpha=0.999 * p)[0] <= 1e-9


def test_few_discordant_cases_have_the_exact_interval():
    assert uses_exact(FEWEST_DISCORDANT - 1, 0) and not uses_exact(FEWEST_DISCORDANT, 0)
    p = mcnemar([[0, 8], [1, 0]], exact=True).pvalue
    assert change_p(8, 1, 100) == pytest.approx(p / 0.95)


def test_it_mirrors_and_contains_the_estimate():
    rng = np.random.default_rng(0)
    n = rng.integers(5, 500, 200)
    more = rng.binomial(n, 0.2)
    fewer = rng.binomial(n - more, 0.1)
    low, high = change_interval(more, fewer, n, alpha=0.05)
    low_of_mirror, high_of_mirror = change_interval(fewer, more, n, alpha=0.05)
    np.testing.assert_allclose(low, -high_of_mirror, atol=1e-9)
    np.testing.assert_allclose(high, -low_of_mirror, atol=1e-9)
    assert ((low <= (more - fewer) / n) & ((more - fewer) / n <= high)).all()


def test_it_is_as_narrow_as_that_of_pairs_of_costs():
    before = np.r_[np.ones(10), np.zeros(30), np.zeros(960)]
    after = np.r_[np.zeros(10), np.ones(30), np.zeros(960)]
    expected = fairlib.disparity_interval(after, before, paired=True)
    low, high = change_interval(30, 10, 1000, alpha=0.05)
    assert high - low <= 1.05 * (expected.high - expected.low)
