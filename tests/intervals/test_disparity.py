"""One function for all intervals: its checks, its guarantees, and its numbers."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairlib import disparity_interval
from fairlib.intervals import betting
from fairlib.intervals import disparity as bounds
from fairlib.tables import Counted

INDEPENDENT = [name for name, method in bounds.METHODS.items() if not method.paired]
PAIRED = [name for name, method in bounds.METHODS.items() if method.paired]
BINARY_ONLY = {
    "clopper_pearson",
    "exact_unconditional",
    "miettinen_nurminen",
    "newcombe",
    "mcnemar",
    "tango",
}


@pytest.fixture
def costs():
    rng = np.random.default_rng(5)
    return (rng.random(60) < 0.4).astype(float), (rng.random(60) < 0.2).astype(float)


@pytest.mark.parametrize("name", bounds.METHODS)
def test_every_method_says_what_it_promises_and_where_it_comes_from(name):
    method = bounds.METHODS[name]
    assert method.guarantee in ("finite-sample", "exact", "asymptotic")
    assert any(character.isdigit() for character in method.reference)


@pytest.mark.parametrize("name", bounds.METHODS)
def test_methods_can_be_pickled_and_sent_to_other_processes(name, costs):
    method = bounds.METHODS[name]
    copy = pickle.loads(pickle.dumps(method))
    assert (copy.guarantee, copy.reference) == (method.guarantee, method.reference)
    if method.function:
        expected = method.function(*costs, alpha=0.05, rng=1)
        assert copy.function(*costs, alpha=0.05, rng=1) == expected
    if method.counts:
        counts = (7, 3, 40) if method.paired else (7, 40, 3, 50)
        expected = method.counts(*counts, alpha=0.05)
        assert copy.counts(*counts, alpha=0.05) == expected


@pytest.mark.parametrize("name", bounds.METHODS)
def test_asymptotic_methods_say_what_they_cover(name):
    """By enumeration, for 30 and 30 or 100 examples and for 30 pairs.

    The rates include those near the worst ones that we know.
    """
    method = bounds.METHODS[name]
    assert method.covers is None or method.guarantee == "asymptotic"
    rates, found = (0.005, 0.02, 0.03, 0.21, 0.39, 0.5, 0.965, 0.97, 0.995), []
    for n_b in (30, 100) if method.covers and name != "welch" else ():
        x_a, x_b = np.mgrid[:31, : n_b + 1]
        table = (
            (x_a, np.minimum(x_b, 30 - x_a), 30)
            if method.paired
            else (x_a, 30, x_b, n_b)
        )
        low, high = method.counts(*table, alpha=0.05)
        for rate_a, rate_b in itertools.product(rates, rates):
            if method.paired and rate_a + rate_b >= 1:
                continue
            of_b = (30 - x_a, rate_b / (1 - rate_a)) if method.paired else (n_b, rate_b)
            chance = stats.binom.pmf(x_a, 30, rate_a) * stats.binom.pmf(x_b, *of_b)
            found.append(
                chance[(low <= rate_a - rate_b) & (rate_a - rate_b <= high)].sum()
            )
    assert min(found, default=1) >= (method.covers or 0)


@pytest.mark.parametrize("name", bounds.METHODS)
def test_interval_holds_its_estimate_and_is_named(name, costs):
    found = disparity_interval(*costs, method=name, paired=bounds.METHODS[name].paired)
    assert found.estimate == pytest.approx(costs[0].mean() - costs[1].mean())
    assert -1 <= found.low < found.estimate < found.high <= 1
    assert (found.method, found.confidence) == (name, 0.95)


@pytest.mark.parametrize("name", bounds.METHODS)
def test_scaling_the_cost_scales_the_interval(name, costs):
    paired = bounds.METHODS[name].paired
    one = disparity_interval(*costs, method=name, paired=paired)
    eight = disparity_interval(
        8 * costs[0], 8 * costs[1], method=name, max_cost=8, paired=paired
    )
    assert (eight.estimate, eight.low, eight.high) == pytest.approx(
        (8 * one.estimate, 8 * one.low, 8 * one.high)
    )


@pytest.mark.parametrize("name", bounds.METHODS)
def test_more_confidence_is_wider(name, costs):
    widths = [
        disparity_interval(
            *costs, method=name, paired=bounds.METHODS[name].paired, confidence=level
        ).half_width
        for level in (0.5, 0.8, 0.95, 0.99)
    ]
    assert np.all(np.diff(widths) > 0)


@pytest.mark.parametrize(
    "name", [name for name, method in bounds.METHODS.items() if method.counts]
)
def test_costs_and_counts_agree(name, costs):
    method = bounds.METHODS[name]
    found = disparity_interval(*costs, method=name, paired=method.paired)
    if method.paired:
        counts = (
            int(np.sum(costs[0] > costs[1])),
            int(np.sum(costs[0] < costs[1])),
            60,
        )
    else:
        counts = (int(costs[0].sum()), 60, int(costs[1].sum()), 60)
    assert method.counts(*counts, alpha=0.05) == pytest.approx((found.low, found.high))
    mirrored = disparity_interval(*costs[::-1], method=name, paired=method.paired)
    assert (mirrored.low, mirrored.high) == pytest.approx(
        (-found.high, -found.low), abs=1e-6
    )


@pytest.mark.parametrize("name", ["betting", "betting_pairs"])
def test_the_sides_of_a_betting_interval_share_the_chance_to_miss(
    name, costs, monkeypatch
):
    spent = []
    monkeypatch.setattr(
        betting,
        "ends",
        lambda games, *, alpha: spent.extend([alpha, alpha]) or (0.0, 1.0),
    )
    disparity_interval(
        *costs, method=name, paired=bounds.METHODS[name].paired, confidence=0.9
    )
    assert sum(spent) == pytest.approx(0.1)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_extreme_tables(name):
    for cost_a, cost_b in (
        ([0.0] * 5, [0.0] * 9),
        ([1.0] * 5, [0.0] * 9),
        ([1.0] * 5, [1.0] * 9),
    ):
        found = disparity_interval(cost_a, cost_b, method=name)
        assert -1 <= found.low <= cost_a[0] - cost_b[
            0
        ] <= found.high <= 1 or found.method.startswith("welch: undefined")


@pytest.mark.parametrize(("n_a", "n_b"), [(30, 30), (30, 100), (40, 300)])
def test_welch_covers_or_says_that_it_cannot(n_a, n_b):
    """By enumeration: without its guard it misses often where errors are rare."""
    x_a, x_b = np.arange(n_a + 1), np.arange(n_b + 1)
    low, high = bounds.METHODS["welch"].counts(
        x_a[:, None], n_a, x_b[None, :], n_b, alpha=0.05
    )
    of_a, of_b = (
        [
            bounds._is_skewed(Counted(np.array([0.0, 1.0]), np.array([n - x, x])))
            for x in range(n + 1)
        ]
        for n in (n_a, n_b)
    )
    defined = ~np.logical_or.outer(of_a, of_b)
    covered = []
    for rate_a in (0.005, 0.02, 0.05, 0.1, 0.3, 0.5, 0.97):
        for rate_b in (0.005, 0.02, 0.05, 0.1, 0.3, 0.5, 0.97):
            missed = (low > rate_a - rate_b + 1e-12) | (high < rate_a - rate_b - 1e-12)
            of_tables = np.outer(
                stats.binom.pmf(x_a, n_a, rate_a), stats.binom.pmf(x_b, n_b, rate_b)
            )
            covered.append(
                (1 - of_tables[missed].sum(), 1 - of_tables[missed & defined].sum())
            )
    as_it_is, guarded = np.min(covered, axis=0)
    assert as_it_is < 0.7 and guarded >= 0.93
    rare = disparity_interval(np.zeros(30), np.arange(500) < 10, method="welch")
    assert np.isnan(
        rare.low
    ) and "fewer examples in a group than 10 times its squared skewness" in str(rare)


def test_what_is_taken_by_default(costs):
    assert disparity_interval(*costs) == disparity_interval(
        *costs, method="exact_unconditional"
    )
    between = costs[0] * 0.9, costs[1]
    assert disparity_interval(*between) == disparity_interval(
        *between, method="betting"
    )
    assert disparity_interval(*costs, paired=True).method == "betting_pairs"


@given(st.data())
@settings(max_examples=10, deadline=None)
def test_one_data_set_has_one_answer(data):
    """For costs of 0 and 1, costs in between and pairs, in any order, or counted."""
    values = data.draw(st.sampled_from([[0.0, 1.0], [0.0, 0.25, 1.0]]))
    a, b = (
        data.draw(st.lists(st.sampled_from(values), min_size=1, max_size=15))
        for _ in range(2)
    )
    found = disparity_interval(a, b)
    assert (
        disparity_interval(data.draw(st.permutations(a)), data.draw(st.permutations(b)))
        == found
    )
    assert disparity_interval(sorted(a), sorted(b)) == found
    assert disparity_interval(counted(a), counted(b)) == found
    n = min(len(a), len(b))
    order = data.draw(st.permutations(range(n)))
    first, second = np.array(a[:n]), np.array(b[:n])
    paired = disparity_interval(first, second, paired=True)
    assert disparity_interval(first[order], second[order], paired=True) == paired


def test_with_a_seed_betting_looks_once_in_the_order_given(costs):
    """And without, it is the middle of many looks."""
    games = [betting.matched_blocks(*costs, rng=seed) for seed in range(200)]
    lows, highs = 2 * np.array(betting.ends(games, alpha=0.025)) - 1
    for seed in (1, 2):
        found = disparity_interval(*costs, method="betting", rng=seed)
        assert (found.low, found.high) == (lows[seed], highs[seed])
    assert lows[1] != lows[2]
    assert disparity_interval(*costs, method="betting").low == pytest.approx(
        np.median(lows), abs=0.02
    )
    (low,), (high,) = betting.ends(
        [np.random.default_rng(1).permutation((1 + costs[0] - costs[1]) / 2)],
        alpha=0.025,
    )
    found = disparity_interval(*costs, paired=True, rng=1)
    assert (found.low, found.high) == (2 * low - 1, 2 * high - 1)


def test_betting_uses_costs_between_the_extremes():
    rng = np.random.default_rng(0)
    # Means 0.2 and 0.1, and little variance.
    cost_a = rng.beta(2, 8, 300)
    cost_b = rng.beta(2, 18, 300)
    bet, hoeffding = (
        disparity_interval(cost_a, cost_b, method=name)
        for name in ("betting", "hoeffding")
    )
    assert bet.excludes(0)
    assert bet.half_width < hoeffding.half_width / 3


# --- order ---


def counted(cost):
    return Counted(*np.unique(cost, return_counts=True))


def test_betting_on_sorted_costs_keeps_its_promise():
    """By enumeration of all tables, for a grid of rates.

    One shuffle, the same for all tables, would cover 0.937.
    """
    n_a, n_b = 16, 18
    low, high = np.empty((2, n_a + 1, n_b + 1))
    for x_a in range(n_a + 1):
        for x_b in range(n_b + 1):
            costs = (
                Counted(np.array([0, 1]), np.array([n - x, x]))
                for x, n in ((x_a, n_a), (x_b, n_b))
            )
            found = disparity_interval(*costs, method="betting")
            low[x_a, x_b], high[x_a, x_b] = found.low, found.high
    rates, covered = np.linspace(0.02, 0.98, 25), []
    for rate_a in rates:
        for rate_b in rates:
            weight = np.outer(
                stats.binom.pmf(np.arange(n_a + 1), n_a, rate_a),
                stats.binom.pmf(np.arange(n_b + 1), n_b, rate_b),
            )
            covered.append(
                weight[(low <= rate_a - rate_b) & (rate_a - rate_b <= high)].sum()
            )
    assert min(covered) >= 0.95


def test_for_pairs_it_matters_what_belongs_together():
    cost = np.repeat([1.0, 0.0], 30)
    together, apart = (
        disparity_interval(cost, other, paired=True) for other in (cost, cost[::-1])
    )
    assert together.half_width < apart.half_width / 2


# --- input ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"method": "wald"},
            "method for paired=False must be one of betting, .*, found 'wald'",
        ),
        ({"method": "tango"}, "method for paired=False must be .*, found 'tango'"),
        (
            {"method": "newcombe", "paired": True},
            "paired=True must be one of betting_pairs, .*, found 'newcombe'",
        ),
        (
            {"method": "newcombe", "cost_b": [0.5, 0.2, 1]},
            "cost_b must be 0 or max_cost for this method, found 2 in",
        ),
        ({"confidence": 1.0}, r"confidence must be in \(0, 1\), found 1.0"),
        ({"max_cost": 0.5}, r"cost_a must be in \[0, max_cost=0.5\], found 1"),
        ({"max_cost": 0}, "max_cost must be positive and finite, found 0"),
        ({"max_cost": [1, 2]}, r"max_cost must be one number, found shape \(2,\)"),
        ({"max_cost": []}, r"max_cost must be one number, found shape \(0,\)"),
        ({"cost_a": []}, "cost_a must be a list of at least one cost, found shape"),
        (
            {"cost_b": [[1, 0]]},
            "cost_b must be a list of at least one cost, found shape",
        ),
        ({"cost_b": [0, np.nan]}, "cost_b must be in .*, found nan"),
        ({"paired": True, "cost_b": [0, 1]}, "equal length if paired, found 3 and 2"),
        (
            {"paired": True, "cost_a": Counted([0, 1], [2, 1])},
            "must be lists of equal length if paired, found counts",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"cost_a": [1, 0, 1], "cost_b": [0, 1, 0]} | change
    with pytest.raises(ValueError, match=message):
        disparity_interval(
            arguments.pop("cost_a"), arguments.pop("cost_b"), **arguments
        )


@pytest.mark.parametrize(
    "count", [[-1, 5], [1.5, 5], [np.nan, 5], [np.inf, 5], [None, 5], [5], [5, 1, 1]]
)
def test_counts_of_costs_are_whole_numbers_one_per_value(count):
    with pytest.raises(
        ValueError,
        match="cost_a: counts must be whole numbers of at least 0, one per value",
    ):
        disparity_interval(Counted([0, 1], count), [0, 1])


def test_a_cost_that_no_example_pays_changes_nothing():
    found, expected = (
        disparity_interval(Counted(*costs), [0, 1])
        for costs in ([[0, 1, 7], [5, 4, 0]], [[0, 1], [5, 4]])
    )
    assert found == expected


@pytest.mark.parametrize("name", sorted(BINARY_ONLY))
def test_methods_for_counts_refuse_costs_in_between(name):
    with pytest.raises(
        ValueError,
        match="cost_a must be 0 or max_cost for this method, found 1 in between",
    ):
        disparity_interval(
            [0.0, 0.5, 1.0],
            [0.0, 1.0, 0.0],
            method=name,
            paired=bounds.METHODS[name].paired,
        )


# --- examples that exclude 0 at an observed difference of .05, groups of equal size ---


def errors(n, rate):
    """Return n costs, `rate` of them 1, in increasing order."""
    return np.repeat([0.0, 1.0], [n - round(n * rate), round(n * rate)])


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("bernstein_maximal", (11904, 11904, 11904)),
        ("bernstein_centred", (3002, 3002, 3002)),
        ("hoeffding", (2954, 2954, 2954)),
        ("empirical_bernstein", (1840, 3160, 3280)),
        ("exact_unconditional", (480, 1080, 1600)),
        ("miettinen_nurminen", (440, 1080, 1600)),
        ("newcombe", (440, 1080, 1600)),
    ],
)
def test_examples_needed_for_five_points(name, needed):
    for rate, n in zip((0.05, 0.20, 0.475), needed, strict=True):
        x_b = round(rate * n / 2)
        x_a = x_b + int(np.ceil(0.05 * n / 2 - 1e-9))
        low, _ = bounds.METHODS[name].counts(x_a, n // 2, x_b, n // 2, alpha=0.05)
        assert low > 0


@pytest.mark.parametrize(("n", "rate"), [(520, 0.05), (1200, 0.20), (1680, 0.475)])
def test_betting_on_matched_blocks_needs_no_more_than_it_should(n, rate):
    """More than half of the shuffles exclude 0, and so does their middle."""
    m = n // 2
    cost_b = errors(m, rate)
    cost_a = errors(m, (cost_b.sum() + round(0.05 * m)) / m)
    assert cost_a.mean() - cost_b.mean() == pytest.approx(0.05)
    z = np.stack(
        [betting.matched_blocks(cost_a, cost_b, rng=seed) for seed in range(1000)],
        axis=1,
    )
    excluded = betting.rejects(z, 0.5, alpha=0.025)
    assert excluded.mean() > 0.5
    found = disparity_interval(cost_a, cost_b, method="betting")
    assert found.low == pytest.approx(0, abs=0.003)


# --- what it promises ---


LEVELS = (0.05, 0.5)  # with so few examples, 95 % intervals hardly ever miss


@pytest.mark.parametrize(("n_a", "n_b"), [(5, 5), (3, 9), (8, 4)])
def test_betting_covers(n_a, n_b):
    """By enumeration of the matched blocks of all sequences, in all their orders."""
    of_a, of_b = (list(itertools.product([0.0, 1.0], repeat=n)) for n in (n_a, n_b))
    blocks = min(n_a, n_b)
    means = [
        np.unique([betting.block_means(np.array(x), blocks) for x in of], axis=0)
        for of in (of_a, of_b)
    ]
    sizes = n_a // blocks, n_b // blocks
    games = [(1 + a - b) / 2 for a, b in itertools.product(*means)]
    for alpha in LEVELS:
        low, high = 2 * np.array(betting.ends(games, alpha=alpha / 2)) - 1
        covered = []
        for rates in itertools.product((0.02, 0.1, 0.3, 0.5, 0.9), repeat=2):
            of_a, of_b = (
                stats.binom.pmf(np.round(mean * size), size, rate).prod(axis=1)
                for mean, size, rate in zip(means, sizes, rates, strict=True)
            )
            truth = rates[0] - rates[1]
            covered.append(
                np.outer(of_a, of_b)
                .ravel()[(low <= truth + 1e-9) & (truth - 1e-9 <= high)]
                .sum()
            )
        assert 1 - alpha - 1e-9 <= min(covered) < 1


def test_betting_on_pairs_covers_where_unpaired_methods_do_not_fit():
    """A model follows the pronoun alone: the costs of a pair are opposites.

    By enumeration of all orders of 11 pairs.
    """
    follows = np.array(list(itertools.product([0.0, 1.0], repeat=11)))
    times = follows.sum(axis=1).astype(int)
    as_if_apart = bounds.METHODS["newcombe"].counts(
        np.arange(12), 11, 11 - np.arange(12), 11, alpha=0.05
    )
    rates, covered = np.linspace(0.02, 0.98, 25)[:, None], {}
    for alpha in LEVELS:
        covered[alpha] = 2 * np.array(betting.ends(follows, alpha=alpha / 2)) - 1
    covered["apart"] = np.array(as_if_apart)[:, times]
    chance = rates**times * (1 - rates) ** (11 - times)
    lowest = {
        name: (
            chance * ((low <= 2 * rates - 1 + 1e-9) & (2 * rates - 1 - 1e-9 <= high))
        )
        .sum(axis=1)
        .min()
        for name, (low, high) in covered.items()
    }
    assert (
        all(1 - alpha - 1e-9 <= lowest[alpha] < 1 for alpha in LEVELS)
        and lowest["apart"] < 0.9
    )
