"""The exact interval: brute force, exact coverage, and other implementations."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from timing import quicker_than

from fairlib.intervals import exact, proportions
from fairlib.recipes import coverage

tables = st.tuples(st.integers(1, 30), st.integers(1, 30)).flatmap(
    lambda n: st.tuples(
        st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1])
    )
)


def all_orders(n_a, n_b, alpha):
    """Return Newcombe's lower limit of every table, made monotone in either count."""
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    low, _ = proportions.newcombe(x_a, n_a, x_b, n_b, alpha=alpha)
    grown = np.maximum.accumulate(low, axis=0)
    return np.maximum.accumulate(grown[:, ::-1], axis=1)[:, ::-1]


def near(x, n, alpha):
    """Return SciPy's exact limits, between which the rate is sought."""
    return stats.binomtest(x, n).proportion_ci(1 - exact.APART * alpha / 2)


def largest_probability(region, difference, near_a, near_b):
    """Sum over all tables for many rates of B, and search on around the largest."""
    n_a, n_b = np.subtract(region.shape, 1)
    lowest = max(0.0, -difference, near_b.low, near_a.low - difference)
    highest = min(1.0, 1.0 - difference, near_b.high, near_a.high - difference)
    if lowest > highest:
        return 0.0

    def probability(rate_b):
        of_a = stats.binom.pmf(
            np.arange(n_a + 1)[:, None], n_a, np.clip(rate_b + difference, 0, 1)
        )
        of_b = stats.binom.pmf(np.arange(n_b + 1)[:, None], n_b, rate_b)
        return np.einsum("ij,ir,jr->r", region, of_a, of_b)

    angles = np.linspace(0, np.pi, 257)
    for _ in range(3):
        values = probability(lowest + (highest - lowest) * (1 - np.cos(angles)) / 2)
        top = int(np.argmax(values))
        best = values[top]
        angles = np.linspace(
            angles[max(top - 1, 0)], angles[min(top + 1, len(angles) - 1)], 17
        )
    return float(best)


def exact_low_by_brute_force(x_a, n_a, x_b, n_b, alpha):
    order = all_orders(n_a, n_b, alpha)
    region = (order >= order[x_a, x_b] - 1e-12).astype(float)
    if region.all():
        return -1.0
    top, limits = x_a / n_a - x_b / n_b, (near(x_a, n_a, alpha), near(x_b, n_b, alpha))
    allowed = (0.5 - exact.APART) * alpha
    return optimize.brentq(
        lambda end: largest_probability(region, end, *limits) - allowed,
        -1,
        top,
        xtol=1e-9,
    )


@pytest.mark.parametrize(
    ("table", "alpha"),
    [
        ((7, 12, 8, 9), 0.05),
        ((15, 20, 5, 20), 0.05),
        ((3, 20, 2, 25), 0.01),
        ((0, 10, 0, 20), 0.1),
        ((10, 10, 0, 10), 0.05),
        ((0, 5, 9, 9), 0.05),
        ((1, 1, 0, 1), 0.05),
        ((30, 60, 18, 70), 0.05),
        ((2, 70, 0, 8), 0.001),
    ],
)
def test_exact_ends_are_those_of_brute_force_rounded_outwards(table, alpha):
    x_a, n_a, x_b, n_b = table
    low, high = exact.exact_unconditional(*table, alpha=alpha)
    expected = (
        exact_low_by_brute_force(x_a, n_a, x_b, n_b, alpha),
        -exact_low_by_brute_force(x_b, n_b, x_a, n_a, alpha),
    )
    assert (low, high) == pytest.approx(expected, abs=1e-5)
    assert low <= expected[0] + 1e-9 and high >= expected[1] - 1e-9


@given(tables)
@settings(max_examples=25, deadline=None)
def test_the_order_is_newcombes_limit_and_monotone(table):
    x_a, n_a, x_b, n_b = table
    grown = all_orders(n_a, n_b, 0.05)
    found = proportions.newcombe(
        np.arange(n_a + 1)[:, None], n_a, np.arange(n_b + 1)[None, :], n_b, alpha=0.05
    )[0]
    np.testing.assert_allclose(found, grown, atol=1e-12)
    region = exact._Region(found[x_a, x_b], n_a, n_b, alpha=0.05, near=EVERYWHERE)
    inside = np.arange(n_b + 1)[None, :] <= region.most_b[:, None]
    assert (inside == (grown >= grown[x_a, x_b] - 1e-12)).all()


EVERYWHERE = (0.0, 1.0), (0.0, 1.0)
# No smaller rates: SciPy's pmf overflows at rates like 1e-308.
thousandths = st.integers(0, 1000).map(lambda number: number / 1000)


@given(
    st.integers(1, 400),
    st.integers(1, 400),
    st.integers(-990, 990),
    thousandths,
    st.integers(0, 1_000_000_000),
)
@settings(max_examples=40, deadline=None)
def test_no_rate_is_more_probable_than_the_largest_that_was_found(
    n_a, n_b, thousandth, share, seed
):
    """For any monotone region and any rates, as a polynomial in a few rates says."""
    most_b = np.sort(np.random.default_rng(seed).integers(-1, n_b + 1, n_a + 1))
    region = exact._Region(0.0, n_a, n_b, alpha=0.05, near=EVERYWHERE)
    region.x_a, region.most_b = np.arange(n_a + 1.0), most_b
    difference = thousandth / 1000
    largest, place = region.largest(difference)
    rate_b = share * (1 - abs(difference)) + max(0, -difference)
    of_a = stats.binom.pmf(np.arange(n_a + 1), n_a, np.clip(rate_b + difference, 0, 1))
    expected = of_a @ stats.binom.cdf(most_b, n_b, rate_b)
    assert region.probability(difference, np.array([share]))[0] == pytest.approx(
        expected, abs=1e-6
    )
    bound = largest / np.cos(np.pi / 2 / exact._REFINEMENT) + 1e-6
    assert expected <= bound
    assert region.probability(difference, np.array([place]))[0] == pytest.approx(
        largest, abs=1e-6
    )
    around = np.clip(place + np.linspace(-0.01, 0.01, 101), 0, 1)
    assert region.probability(difference, around).max() <= bound


@cache
def exact_ends(n_a, n_b, alpha):
    ends = [
        [
            exact.exact_unconditional(x_a, n_a, x_b, n_b, alpha=alpha)
            for x_b in range(n_b + 1)
        ]
        for x_a in range(n_a + 1)
    ]
    return np.moveaxis(np.array(ends), -1, 0)


@pytest.mark.parametrize(
    ("n_a", "n_b"), [(1, 1), (3, 7), pytest.param(10, 10, marks=pytest.mark.slow)]
)
def test_exact_covers_everywhere_and_hardly_more_than_it_must(n_a, n_b):
    low, high = exact_ends(n_a, n_b, 0.1)
    rates = np.linspace(0, 1, 41)
    of_a, of_b = (
        stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) for n in (n_a, n_b)
    )
    difference = (rates[:, None] - rates[None, :])[:, :, None, None]
    covered = (low <= difference + 1e-12) & (difference - 1e-12 <= high)
    covers = np.einsum("pqij,ip,jq->pq", covered, of_a, of_b)
    assert covers.min() >= 0.9 - 1e-9
    if n_a == 10:
        assert covers.min() < 0.92  # it is not merely wide


@pytest.mark.parametrize(
    ("n_a", "n_b", "difference"), [(8, 6, 0.0), (5, 9, 0.1), (3, 7, -0.3), (8, 6, 0.2)]
)
def test_the_laboratory_rejects_the_same_tables_by_enumeration(n_a, n_b, difference):
    low, _ = exact_ends(n_a, n_b, 0.1)
    assert (
        coverage.exact_rejections(n_a, n_b, difference, 0.1, rates=500)
        == (low > difference)
    ).all()


@pytest.mark.parametrize(("n_a", "n_b"), [(8, 6), (5, 9)])
def test_a_level_that_looks_everywhere_rejects_nothing_that_the_limit_does_not(
    n_a, n_b
):
    low, _ = exact_ends(n_a, n_b, 0.1)
    order = proportions.newcombe(
        np.arange(n_a + 1)[:, None], n_a, np.arange(n_b + 1)[None, :], n_b, alpha=0.1
    )[0]
    above = order >= exact.exact_level(n_a, n_b, 0.1, EVERYWHERE)
    assert not (above & (low <= 0)).any() and above.sum() >= 0.7 * (low > 0).sum()


@pytest.mark.parametrize(
    "table",
    [(30, 100, 18, 100), (3, 400, 9, 350), (1, 1, 200, 400), (700, 1000, 690, 1000)],
)
def test_bins_move_the_ends_out_a_little_and_never_in(table, monkeypatch):
    low, high = exact.exact_unconditional(*table, alpha=0.05)
    monkeypatch.setattr(exact, "_MOST_BINS", 200)
    low_of_bins, high_of_bins = exact.exact_unconditional(*table, alpha=0.05)
    assert low - 0.03 * (high - low) <= low_of_bins <= low + 1e-9
    assert high - 1e-9 <= high_of_bins <= high + 0.03 * (high - low)


@pytest.mark.parametrize(
    ("n", "near"),
    [(7, (0.1, 0.9)), (400, (0.0, 0.02)), (90_000, (0.21, 0.24)), (50, (0.6, 1.0))],
)
def test_chances_at_nearby_rates_are_those_of_the_binomial_distribution(n, near):
    chances = exact._Chances(n, near, quick=True)
    assert chances.log_chance is not None
    rates = np.linspace(*near, 7)[1:-1, None]
    counts = np.unique(np.round(n * np.linspace(max(near[0] - 0.1, 0), near[1], 50)))
    up_to = stats.binom.cdf(counts, n, rates)

    assert chances.up_to(counts, rates) == pytest.approx(up_to, rel=1e-11, abs=1e-15)
    between, up_to_last = chances.between(counts, rates)
    assert np.cumsum(between, axis=1) == pytest.approx(up_to, rel=1e-11, abs=1e-14)
    assert up_to_last == pytest.approx(up_to[:, -1], rel=1e-12)

    # Of no rate, of all, and of a rate that is far away, nothing is approximated.
    far = np.array([[0.0], [1.0], [0.5 * near[0] + 0.5]])
    np.testing.assert_array_equal(
        chances.up_to(counts, far), stats.binom.cdf(counts, n, far)
    )


@pytest.mark.parametrize(
    "table", [(30, 100, 18, 100), (0, 40, 3, 60), (900, 4000, 250, 1000)]
)
def test_the_quick_end_is_the_end_that_incomplete_beta_functions_give(
    table, monkeypatch
):
    quick = exact.exact_unconditional(*table, alpha=0.05)
    monkeypatch.setattr(exact, "_LONGEST_RUN", 0)
    assert quick == pytest.approx(
        exact.exact_unconditional(*table, alpha=0.05), rel=1e-12, abs=1e-14
    )


def test_a_hundred_thousand_cases_need_few_incomplete_beta_functions(monkeypatch):
    """Each takes a microsecond: there were 1.7 million of them."""
    computed = []
    cdf = stats.binom.cdf

    def counted(counts, n, rates):
        computed.append(np.broadcast(counts, rates).size)
        return cdf(counts, n, rates)

    monkeypatch.setattr(exact.stats.binom, "cdf", counted)
    exact.exact_unconditional(12_500, 50_000, 12_000, 50_000, alpha=0.05)
    assert sum(computed) < 50_000


def test_exact_agrees_with_barnard_on_clear_cases():
    """SciPy's exact unconditional test orders the tables otherwise."""
    for table in ((7, 12, 8, 9), (15, 20, 5, 20), (3, 20, 2, 25)):
        x_a, n_a, x_b, n_b = table
        p_value = stats.barnard_exact([[x_a, x_b], [n_a - x_a, n_b - x_b]]).pvalue
        low, high = exact.exact_unconditional(*table, alpha=0.05)
        if p_value < 0.02:
            assert low > 0 or high < 0
        if p_value > 0.1:
            assert low <= 0 <= high


@pytest.mark.parametrize(
    ("table", "seconds", "apart"),
    [
        ((1250, 5000, 1050, 5000), 1, 0.003),  # 0.1 s where this was written
        ((250_000_000, 10**9, 249_900_000, 10**9), 20, 0.003),  # 1.9 s
        ((2, 10**9, 9, 10**9), 2, 0.1),
        ((1, 1, 500_000, 1_000_000), 8, 0.4),
    ],
)
def test_exact_is_quick_and_in_large_groups_near_newcombe(table, seconds, apart):
    intervals = []
    assert quicker_than(
        3 * seconds,
        lambda: intervals.append(exact.exact_unconditional(*table, alpha=0.05)),
    )
    low, high = intervals[0]
    newcombe = proportions.newcombe(*table, alpha=0.05)
    assert (low, high) == pytest.approx(
        newcombe, abs=apart * (newcombe[1] - newcombe[0])
    )
