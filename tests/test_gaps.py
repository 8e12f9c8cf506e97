"""Gaps over many groups: coverage by enumeration and simulation, agreement with Tukey, and what is refused."""

import importlib.util
import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairlib import gaps
from fairlib.data import ROOT
from fairlib.grouped import Groups

LEVEL = 0.95
counts = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=2, max_size=6).map(
    lambda rows: ([min(x, n) for x, n in rows], [n for _, n in rows])
)


def ends(errors, sizes, *, alpha=0.05, statistic="range", method="exact"):
    """Return the interval's ends for many data sets, errors (data sets, groups)."""
    values = [
        gaps.interval(x, sizes, statistic=statistic, method=method, confidence=1 - alpha) for x in errors.tolist()
    ]
    return np.array([[found.low, found.high] for found in values]).T


def fast_ends(errors, sizes, *, alpha=0.05, method="exact"):
    """The same for the range from tables of every possible count's limits, so that many data sets cost little."""
    k = len(sizes)
    low_radius, high_radius = gaps.radii(alpha, groups=k)

    def looked_up(radius):
        shape, below, above = gaps.corners(radius), [], []
        for g, n in enumerate(sizes):
            possible = np.arange(n + 1.0)
            table = Groups(tuple(range(n + 1)), np.full(n + 1, float(n)), possible, possible)
            low, high = gaps.METHODS[method].limits(table, *shape)
            below.append(low[:, errors[:, g]])
            above.append(high[:, errors[:, g]])
        return np.stack(below, axis=-1), np.stack(above, axis=-1)  # (corners, data sets, groups)

    below, above = looked_up(low_radius)
    low = np.maximum((below.max(axis=-1) - above.min(axis=-1)).min(axis=0), 0)
    below, above = looked_up(high_radius)
    high = np.full(len(errors), -np.inf)
    for i, j in itertools.permutations(range(k), 2):
        high = np.maximum(high, (above[..., i] - below[..., j]).max(axis=0))
    return low, high


def percentile_bootstrap(errors, sizes, *, replicates, rng):
    """What is widely done: the percentiles of the gap of resampled examples."""
    drawn = rng.binomial(sizes, np.asarray(errors) / sizes, size=(replicates, len(sizes))) / sizes
    return np.quantile(drawn.max(axis=1) - drawn.min(axis=1), [0.025, 0.975])


# --- it holds at its level --------------------------------------------------------------------------------------------


def test_the_quick_tables_of_these_tests_give_the_same_ends():
    rng = np.random.default_rng(0)
    for sizes in ([5, 9], [30, 7, 12], [20] * 6):
        errors = rng.binomial(sizes, 0.3, size=(8, len(sizes)))
        np.testing.assert_allclose(fast_ends(errors, sizes), ends(errors, sizes), atol=1e-12)


@pytest.mark.parametrize("sizes", [(5, 5), (12, 30), (40, 40), (6, 6, 6), (3, 9, 14)])
def test_coverage_by_enumeration_of_all_data(sizes):
    """Every possible table and its exact probability: no simulation error. Gaps of 0 and others, both ends."""
    errors = np.array(list(itertools.product(*(range(n + 1) for n in sizes))))
    low, high = fast_ends(errors, sizes)
    rates = [0.01, 0.05, 0.2, 0.5] if len(sizes) == 2 else [0.02, 0.2, 0.5]
    for truth in itertools.product(rates, repeat=len(sizes)):
        probability = np.prod([stats.binom.pmf(errors[:, g], n, truth[g]) for g, n in enumerate(sizes)], axis=0)
        gap = max(truth) - min(truth)
        covered = probability[(low <= gap + 1e-12) & (high >= gap - 1e-12)].sum()
        assert covered >= LEVEL, (truth, covered)


CASES = [(k, sizes, rate) for k in (2, 3, 5, 20) for sizes in ("equal", "unequal") for rate in (0.01, 0.05, 0.2, 0.5)]


def group_sizes(k, kind, n):
    return [n] * k if kind == "equal" else np.geomspace(max(5, n // 20), n, k).astype(int).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("k", "kind", "rate"), CASES)
def test_no_gap_is_covered_by_this_interval_and_never_by_percentiles_of_a_bootstrap(k, kind, rate):
    rng, sets = np.random.default_rng(k), min(4000, 20_000 // k)
    for n in (20, 200, 2000):
        sizes = group_sizes(k, kind, n)
        errors = rng.binomial(sizes, rate, size=(sets, k))
        low, high = fast_ends(errors, sizes)
        assert (high >= 0).all()
        covered = (low == 0).mean()
        assert covered >= LEVEL - 3 * np.sqrt(0.05 * 0.95 / sets), (n, covered)
        if n * rate >= 20 and k > 2 and kind == "equal":  # two groups of one size are often exactly equal
            boot = [percentile_bootstrap(x, sizes, replicates=200, rng=rng)[0] for x in errors[:50]]
            assert np.mean(np.array(boot) <= 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["one apart", "halves", "spread"])
@pytest.mark.parametrize("k", [2, 4, 20])
def test_real_gaps_are_covered(k, shape):
    rng, sets = np.random.default_rng(k), min(4000, 20_000 // k)
    for gap, base, n in itertools.product((0.02, 0.1, 0.3), (0.01, 0.2), (30, 500)):
        rates = {
            "one apart": np.where(np.arange(k) == 0, base + gap, base),
            "halves": np.where(np.arange(k) < k // 2, base + gap, base),
            "spread": np.linspace(base, base + gap, k),
        }[shape]
        sizes = group_sizes(k, "unequal", n)
        low, high = fast_ends(rng.binomial(sizes, rates, size=(sets, k)), sizes)
        covered = ((low <= gap + 1e-12) & (high >= gap - 1e-12)).mean()
        assert covered >= LEVEL - 3 * np.sqrt(0.05 * 0.95 / sets), (gap, base, n, covered)


@pytest.mark.slow
def test_mean_difference_is_covered():
    rng = np.random.default_rng(5)
    for k, rates in [(3, [0.1, 0.1, 0.1]), (3, [0.1, 0.2, 0.4]), (8, np.full(8, 0.3)), (8, np.linspace(0.05, 0.5, 8))]:
        sizes = group_sizes(k, "unequal", 300)
        truth = gaps.mean_difference(np.array(rates))
        low, high = ends(rng.binomial(sizes, rates, size=(300, k)), sizes, statistic="mean difference")
        assert ((low <= truth + 1e-12) & (high >= truth)).mean() >= 0.93  # 300 sets: within 1.6 standard errors


@pytest.mark.slow
def test_bounded_costs_are_covered_where_normal_limits_fail():
    """Costs that are rarely large, the same for all: standard errors miss this, Bentkus does not."""
    rng, sets, missed = np.random.default_rng(6), 400, {"bentkus": 0, "normal": 0}
    for _ in range(sets):
        costs = [rng.random(n) * (rng.random(n) < 0.03) * 2 for n in (20, 40, 400, 400)]
        for method in missed:
            missed[method] += gaps.interval(costs, method=method, max_cost=2).excludes()
    assert missed["bentkus"] <= 0.05 * sets < missed["normal"]


def test_p_value_is_valid_by_enumeration():
    sizes = (8, 15, 6)
    errors = np.array(list(itertools.product(*(range(n + 1) for n in sizes))))
    p = np.array([gaps.p_value(x, sizes) for x in errors.tolist()])
    for rate in (0.03, 0.2, 0.5, 0.8):
        probability = np.prod([stats.binom.pmf(errors[:, g], n, rate) for g, n in enumerate(sizes)], axis=0)
        for level in (0.01, 0.05, 0.2):
            assert probability[p <= level].sum() <= level


def test_all_pairs_at_once_by_enumeration():
    sizes, truth = (6, 10, 4), (0.1, 0.3, 0.3)
    errors = np.array(list(itertools.product(*(range(n + 1) for n in sizes))))
    probability = np.prod([stats.binom.pmf(errors[:, g], n, truth[g]) for g, n in enumerate(sizes)], axis=0)
    difference = [truth[0] - truth[1], truth[0] - truth[2], 0.0]
    holds = []
    for x in errors.tolist():
        table = gaps.pairs(x, sizes)
        holds.append(((table["low"] <= difference) & (table["high"] >= difference)).all())
    assert probability[holds].sum() >= LEVEL


# --- the shape --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7])
def test_radius_against_simulated_normals(k):
    drawn = np.random.default_rng(7).normal(size=(400_000, k))
    x, y = gaps.corners(gaps.radius(0.05, groups=k))
    highest, lowest = drawn.max(axis=1), -drawn.min(axis=1)
    inside = ((highest[:, None] <= x) & (lowest[:, None] <= y)).any(axis=1).mean()
    assert inside == pytest.approx(0.95, abs=0.0015)


def test_radius_of_one_ordered_pair_against_simulated_normals():
    first, second = np.random.default_rng(8).normal(size=(2, 400_000))
    x, y = gaps.corners(gaps.radius(0.05, groups=None))
    assert ((first[:, None] <= x) & (second[:, None] <= y)).any(axis=1).mean() == pytest.approx(0.95, abs=0.0015)


def test_nearly_as_narrow_as_tukey_and_far_narrower_than_a_square():
    for k, worst in [(2, 1.22), (5, 1.08), (20, 1.04)]:
        tukey = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
        square = np.sqrt(2) * stats.norm.ppf((1 + 0.95 ** (1 / k)) / 2)
        disc = gaps.radius(0.05, groups=k)
        assert tukey < disc < worst * tukey and disc < square
    assert square / tukey > 1.15
    assert np.sqrt(2) * stats.norm.ppf((1 + 0.95**0.5) / 2) / stats.norm.ppf(0.975) == pytest.approx(1.61, abs=0.01)


def test_large_groups_give_the_normal_theory_difference():
    found = gaps.interval([40_000, 50_000], [100_000, 100_000])
    error = np.sqrt(0.4 * 0.6 / 1e5 + 0.25 / 1e5)
    radius = gaps.radius(0.05, groups=2)
    assert found.low == pytest.approx(0.1 - radius * error, rel=2e-3)
    assert found.high == pytest.approx(0.1 + radius * error, rel=2e-3)


# --- invariances ------------------------------------------------------------------------------------------------------


@given(counts, st.randoms())
def test_order_and_names_of_groups_do_not_matter(data, random):
    errors, sizes = data
    order = list(range(len(errors)))
    random.shuffle(order)
    names = [f"g{i}" for i in order]
    shuffled = (
        {n: errors[i] for n, i in zip(names, order, strict=True)},
        {n: sizes[i] for n, i in zip(names, order, strict=True)},
    )
    for statistic in gaps.STATISTICS:
        one, other = gaps.interval(errors, sizes, statistic=statistic), gaps.interval(*shuffled, statistic=statistic)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


@given(counts)
def test_errors_and_successes_have_the_same_gap_and_counts_the_same_as_costs(data):
    errors, sizes = data
    costs = [np.arange(n) < x for x, n in zip(errors, sizes, strict=True)]
    one = gaps.interval(errors, sizes)
    for other in (gaps.interval([n - x for x, n in zip(errors, sizes, strict=True)], sizes), gaps.interval(costs)):
        assert (one.estimate, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high), abs=1e-9)
    assert 0 <= one.low <= one.estimate + 1e-12 and one.estimate - 1e-12 <= one.high <= 1


@given(counts)
def test_more_confidence_is_wider_and_p_value_agrees_with_the_region(data):
    narrow, wide = (gaps.interval(*data, confidence=c) for c in (0.8, 0.99))
    assert wide.low <= narrow.low and narrow.high <= wide.high
    p = gaps.p_value(*data)
    assert 0 < p <= 1 and (not wide.excludes() or p <= 0.0101)
    apart = (gaps.pairs(*data, confidence=0.9)[["low", "high"]].prod(axis=1) > 0).any()
    assert (p > 0.0999) or apart or p == pytest.approx(0.1, abs=1e-3)


@given(counts)
def test_mean_difference_is_at_most_the_range_and_matches_a_loop(data):
    errors, sizes = data
    means = np.array(errors) / sizes
    loop = np.mean([abs(a - b) for a, b in itertools.combinations(means, 2)])
    found = gaps.interval(*data, statistic="mean difference")
    assert found.estimate == pytest.approx(loop) and found.low <= loop + 1e-12 <= found.high + 2e-12
    if len(errors) == 2:
        both = gaps.interval(*data)
        assert (found.low, found.high) == pytest.approx((both.low, both.high), abs=1e-12)


def test_farthest_mean_difference_in_a_rectangle_against_all_its_corners():
    rng = np.random.default_rng(9)
    below = rng.random(6) / 2
    above = below + rng.random(6) / 2
    brute = max(gaps.mean_difference(np.where(side, above, below)) for side in itertools.product([0, 1], repeat=6))
    groups = Groups(tuple(range(6)), np.full(6, 10.0), below, below)
    _, high = gaps.STATISTICS["mean difference"][1](groups, lambda *_: (below[None], above[None]), 0.05)
    assert high == pytest.approx(brute)


def test_scale_of_costs():
    rng = np.random.default_rng(10)
    costs = {"a": rng.random(50), "b": rng.random(80), "c": rng.random(20)}
    one = gaps.interval(costs)
    ten = gaps.interval({name: 10 * values for name, values in costs.items()}, max_cost=10)
    assert (10 * one.low, 10 * one.high) == pytest.approx((ten.low, ten.high)) and one.method == "bentkus"
    assert gaps.interval(costs, method="normal").half_width < one.half_width


# --- degenerate and wrong input ---------------------------------------------------------------------------------------


def test_nobody_and_everybody_wrong():
    assert gaps.interval([0, 0], [10, 10]).low == 0
    assert gaps.interval([10, 10], [10, 10]).estimate == 0
    apart = gaps.interval([0, 50], [50, 50])
    assert apart.high == 1 and apart.low > 0.7
    assert gaps.p_value([0, 0], [10, 10]) == 1 and 0 < gaps.p_value([0, 5000], [5000, 5000]) < 1e-20


def test_a_group_of_one_makes_the_gap_uncertain_not_wrong():
    found = gaps.interval([1, 20, 22], [1, 200, 200])
    assert found.estimate == pytest.approx(0.9) and found.low < 0.9 and found.high > 0.9
    normal = gaps.interval([1, 20, 22], [1, 200, 200], method="normal")
    assert normal.low == 0 and normal.high > 0.9


def test_series_of_counts_keep_their_names():
    table = pd.DataFrame({"errors": [3, 9], "n": [50, 60]}, index=["x", "<b>"])
    assert gaps.pairs(table["errors"], table["n"])[["first", "second"]].to_numpy().tolist() == [["x", "<b>"]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaps.interval([1], [2]), "two groups or more, found 1"),
        (lambda: gaps.interval([]), "two groups or more, found 0"),
        (lambda: gaps.interval([3, 1], [2, 2]), "group 0 has 3 of 2"),
        (lambda: gaps.interval([0, 1], [0, 2]), "group 0 has 0 of 0"),
        (lambda: gaps.interval([0.5, 1], [2, 2]), "group 0 has 0.5 of 2"),
        (lambda: gaps.interval({"a": 1, "b": 1}, {"a": 2, "c": 2}), "the same groups"),
        (lambda: gaps.interval({"a": [0, 1], "b": []}), "group 'b' must be a list of numbers"),
        (lambda: gaps.interval({"a": [0, 2], "b": [1]}), r"\[0, 1\]; group 'a'"),
        (lambda: gaps.interval({"a": [0, np.nan], "b": [1]}), "group 'a' has others or missing"),
        (lambda: gaps.interval([[0.5, 1], [1, 0]], method="exact"), "use 'bentkus'"),
        (lambda: gaps.interval([1, 1], [2, 2], method="wald"), "one of 'exact', 'bentkus', 'normal', found 'wald'"),
        (lambda: gaps.interval([1, 1], [2, 2], statistic="max"), "'range', 'mean difference', found 'max'"),
        (lambda: gaps.interval([1, 1], [2, 2], confidence=95), "between 0 and 1, found 95"),
        (lambda: gaps.interval([1, 1], [2, 2], max_cost=0), "must be positive"),
        (lambda: gaps.pairs([1] * 1001, [2] * 1001), "1001 groups; pairs are compared for at most 1000"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_speed_of_a_thousand_groups():
    sizes = np.random.default_rng(11).integers(1, 3000, 1000)
    started = time.perf_counter()
    gaps.interval(sizes // 10, sizes)
    assert time.perf_counter() - started < 5  # 0.5 s where this was written


# --- the committed simulation -----------------------------------------------------------------------------------------


def test_the_committed_table_is_what_its_seeds_give():
    path = ROOT / "benchmarks" / "gaps.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_gaps", path)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    table = pd.read_csv(path.with_suffix(".csv"))
    assert table.groupby("seed").size().eq(len(benchmark.METHODS)).all()
    design = ["groups", "size", "sizes", "rate", "gap"]
    for seed in (0, 37):
        rows = table[table["seed"] == seed].reset_index(drop=True)
        again = pd.DataFrame(benchmark.simulate(*rows.loc[0, design], seed=seed))
        pd.testing.assert_frame_equal(rows, again, atol=1e-4, check_dtype=False)
    ours = table[table["method"] == "gaps.interval"]
    assert (ours["coverage"] >= 0.95 - 2 * ours["error"]).all()
