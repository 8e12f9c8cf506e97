"""Planning: against the paper, enumeration of all tables, simulation, and itself."""

import itertools

import numpy as np
import pytest
from scipy import stats
from timing import quicker_than

from fairlib import bernstein, disparity_interval
from fairlib.intervals import betting, exact, planning
from fairlib.intervals.disparity import METHODS
from fairlib.recipes import coverage

COUNTED = [name for name, method in METHODS.items() if method.counts]
QUICK = [name for name in COUNTED if name != "exact_unconditional"]


def power_of(n, bias, *, method="exact_unconditional", rng=0, **design):
    return planning._power(n, planning._design(bias, method=method, **design), rng)


def test_an_observed_difference_as_large_as_the_claimable_one_is_a_coin_toss():
    """The paper needs 11,903 examples for .05, and claims .0974 with 3,160."""
    for bias, gamma in ((0.05, 0.5), (0.1, 0.2)):
        n = bernstein.sample_size(bias, variance="maximal", gamma=gamma)
        options = {"method": "bernstein_maximal", "gamma": gamma}
        assert planning.sample_size(bias, power=0.5, **options) == pytest.approx(
            n, rel=0.002
        )
    found = planning.smallest_bias(3160, power=0.5, method="bernstein_maximal")
    assert found == pytest.approx(0.09742, abs=5e-4)


# --- power ---


@pytest.mark.parametrize(
    "method", [name for name in COUNTED if not METHODS[name].paired]
)
@pytest.mark.parametrize(("n", "gamma"), [(44, 0.5), (60, 0.2)])
def test_power_is_the_sum_over_all_tables(method, n, gamma):
    if method == "exact_unconditional":  # whose interval takes one table at a time
        n = n // 4
    n_a = round(gamma * n)
    n_b = n - n_a
    x_a, x_b = np.arange(n_a + 1)[:, None], np.arange(n_b + 1)[None, :]
    if method == "exact_unconditional":
        low = np.array(
            [
                [exact._exact_low(i, n_a, j, n_b, 0.05) for j in x_b[0]]
                for i in x_a[:, 0]
            ]
        )
    else:
        low = METHODS[method].counts(x_a, n_a, x_b, n_b, alpha=0.05)[0]
    probability = stats.binom.pmf(x_a, n_a, 0.65) * stats.binom.pmf(x_b, n_b, 0.15)
    found = power_of(n, 0.5, error=0.15, gamma=gamma, method=method)
    expected = probability[low > 0].sum()
    if method == "exact_unconditional":  # a lower bound
        assert expected - 0.05 <= found <= expected + 1e-7
    else:
        assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("method", [name for name in COUNTED if METHODS[name].paired])
def test_power_is_the_sum_over_all_tables_of_pairs(method):
    n, only_a, only_b = 40, 0.4, 0.1
    counts = np.array(
        [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    )
    low = METHODS[method].counts(counts[:, 0], counts[:, 1], n, alpha=0.05)[0]
    expected = stats.multinomial.pmf(counts, n, [only_a, only_b, 1 - only_a - only_b])[
        low > 0
    ].sum()
    found = power_of(
        n, only_a - only_b, discordant=only_a + only_b, error=0.2, method=method
    )
    assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("method", ["betting", "betting_pairs"])
def test_simulated_power_is_that_of_the_interval(method):
    """Enumerated: every sequence of outcomes, and how many show a difference."""
    paired = METHODS[method].paired
    kinds = np.array(
        [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
        if paired
        else [[1, 1], [1, 0], [0, 1], [0, 0]],
        dtype=float,
    )
    chances = np.array(
        [0.55, 0.1, 0.35] if paired else [0.7 * 0.2, 0.7 * 0.8, 0.3 * 0.2, 0.3 * 0.8]
    )
    drawn = np.array(list(itertools.product(range(len(kinds)), repeat=6))).T
    cost_a, cost_b = np.moveaxis(kinds[drawn], -1, 0)
    shown = betting.rejects((1 + cost_a - cost_b) / 2, 0.5, alpha=0.2)
    expected = chances[drawn].prod(axis=0)[shown].sum()
    options = (
        {"bias": 0.45, "discordant": 0.65} if paired else {"bias": 0.5, "error": 0.2}
    )
    found = power_of(6 if paired else 12, method=method, confidence=0.6, **options)
    assert found == pytest.approx(
        expected, abs=4 * np.sqrt(expected * (1 - expected) / planning.GAMES)
    )
    for a, b in zip(cost_a.T[::50], cost_b.T[::50], strict=True):
        interval = disparity_interval(
            a, b, method=method, paired=paired, confidence=0.6, rng=1
        )
        game = (
            np.random.default_rng(1).permutation((1 + a - b) / 2)
            if paired
            else betting.matched_blocks(a, b, rng=1)
        )
        assert (interval.low > 0) == betting.rejects(game[:, None], 0.5, alpha=0.2)[0]


@pytest.mark.parametrize("method", QUICK)
def test_power_grows_and_sample_size_and_smallest_bias_are_inverses(method):
    options = {
        "method": method,
        "error": 0.1,
        "discordant": 0.4 if METHODS[method].paired else None,
    }
    powers = [power_of(n, 0.1, **options) for n in (50, 200, 800, 3200)]
    assert np.all(np.diff(powers) > 0)
    sizes = {
        power: planning.sample_size(0.08, power=power, **options)
        for power in (0.5, 0.8)
    }
    assert sizes[0.5] < sizes[0.8]
    for power, n in sizes.items():
        assert power_of(n, 0.08, **options) == pytest.approx(power, abs=0.03)
        assert planning.smallest_bias(n, power=power, **options) == pytest.approx(
            0.08, abs=1.5e-3
        )
    assert planning.smallest_bias(4 * n, **options) < 0.07


def test_betting_is_planned_for():
    n = planning.sample_size(0.15, error=0.1, method="betting")
    assert power_of(n, 0.15, error=0.1, rng=9, method="betting") == pytest.approx(
        0.8, abs=0.02
    )
    assert n < 1.3 * planning.sample_size(0.15, error=0.1, method="newcombe")
    with pytest.raises(
        ValueError,
        match="simulated for up to 16,384 rounds; plan with 'exact_unconditional'",
    ):
        planning.sample_size(0.005, method="betting")


@pytest.mark.parametrize(
    "design",
    [{"error": 0.1}, {"error": 0.02, "gamma": 0.3}, {"bias": 0.3, "error": 0.3}],
)
def test_the_power_that_is_promised_is_delivered(design):
    """Enumerated: the share of tables whose default interval is above 0."""
    design = {"bias": 0.2} | design
    n, error, bias = planning.sample_size(**design), design["error"], design["bias"]
    n_a = round(design.get("gamma", 0.5) * n)
    rejected = coverage.exact_rejections(n_a, n - n_a, 0.0, 0.05)
    of_a, of_b = (
        stats.binom.pmf(np.arange(size + 1), size, rate)
        for size, rate in ((n_a, error + bias), (n - n_a, error))
    )
    assert 0.799 <= of_a @ rejected @ of_b <= 0.84


@pytest.mark.parametrize(
    ("method", "n"),
    [("clopper_pearson", 1_152_038), ("mcnemar", 266_393), ("newcombe", 561_268)],
)
def test_power_near_a_million_examples_is_quick_and_as_good(method, n, monkeypatch):
    """A search asks 25 times. Of the likely counts, a quarter give the same power."""
    options = {
        "method": method,
        "error": 0.2,
        "discordant": 0.3 if METHODS[method].paired else None,
    }
    powers = []
    # 0.3 s where this was written; once, a search took minutes
    assert quicker_than(3, lambda: powers.append(power_of(n, 0.003, **options)))
    assert powers[0] == pytest.approx(0.8, abs=1e-3)
    whole = power_of(40_000, 0.01, **options)
    monkeypatch.setattr(planning, "MOST_COUNTS", 1 << 8)
    assert len(planning.likely(20_000, 0.2)[0]) < 256
    assert power_of(40_000, 0.01, **options) == pytest.approx(whole, abs=4e-4)


def test_the_default_is_planned_with_few_probabilities(monkeypatch):
    """A search makes 170 comparisons with a critical value; each needs two sets."""
    computed = []
    exponential = np.exp

    def counted(values, **options):
        computed.append(np.size(values))
        return exponential(values, **options)

    monkeypatch.setattr(exact.np, "exp", counted)
    assert planning.sample_size(0.05) == 3168
    assert sum(computed) < 1_500_000


@pytest.mark.slow
def test_the_smallest_bias_that_many_examples_show_is_found_in_seconds():
    answers = []
    # 1 s where this was written
    assert quicker_than(
        10, lambda: answers.append(planning.smallest_bias(100_000, error=0.2))
    )
    assert answers[0] == pytest.approx(
        planning.smallest_bias(100_000, error=0.2, method="newcombe"), rel=0.02
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if name not in QUICK])
def test_the_costly_methods_are_planned_for_too(method):
    options = {
        "method": method,
        "error": 0.1,
        "discordant": 0.25 if METHODS[method].paired else None,
    }
    n = planning.sample_size(0.1, **options)
    assert planning.smallest_bias(n, **options) == pytest.approx(0.1, abs=0.012)
    hoeffding = "hoeffding_pairs" if METHODS[method].paired else "hoeffding"
    assert n < planning.sample_size(0.1, **options | {"method": hoeffding})


def test_rare_errors_in_a_small_group_are_planned_for():
    """Their critical value lies far above 0 where the sample is large."""
    design = {"bias": 0.3, "error": 0.01, "gamma": 0.9}
    n = planning.sample_size(**design)
    assert n < 200
    assert power_of(n, **design) >= 0.8
    assert power_of(10_000, **design) > 0.99


def test_fewer_pairs_suffice_where_the_two_costs_go_together():
    together, apart = (
        planning.sample_size(0.1, method="tango", error=0.2, discordant=d)
        for d in (0.12, 0.4)
    )
    assert together < apart / 2


def test_too_few_examples_show_nothing():
    assert np.isnan(planning.smallest_bias(4, method="hoeffding"))
    assert power_of(4, 0.5, method="hoeffding") == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bias": 0.0}, r"bias must be in \(0, 1\], found 0.0"),
        ({"bias": 1.2}, "bias must be in"),
        ({"error": 0.98}, r"error must be in \[0, 1 - bias=0.9\], found 0.98"),
        ({"gamma": 1.0}, r"gamma must be in \(0, 1\), found 1.0"),
        ({"power": 1.0}, r"power must be in \(0, 1\), found 1.0"),
        ({"method": "wald"}, "method must be one of betting, .*, found 'wald'"),
        (
            {"discordant": 0.01, "method": "tango"},
            r"discordant must be in \[bias=0.1, 1\], found 0.01",
        ),
        ({"confidence": 0.0}, r"confidence must be in \(0, 1\), found 0.0"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        planning.sample_size(**({"bias": 0.1} | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "wald"}, "method must be one of betting, .*, found 'wald'"),
        ({"error": 1.0}, r"error must be in \[0, 1\), found 1.0"),
        ({"n": 2.5}, "n must be a whole number from 1 on, found 2.5"),
        ({"n": float("nan")}, "n must be a whole number from 1 on, found nan"),
    ],
)
def test_bad_input_is_named_where_the_bias_is_asked_for(change, message):
    with pytest.raises(ValueError, match=message):
        planning.smallest_bias(**({"n": 100} | change))


def test_an_impossible_claim_is_refused():
    with pytest.raises(ValueError, match="would need more than 10,000,000 examples"):
        planning.sample_size(1e-5, method="hoeffding")
