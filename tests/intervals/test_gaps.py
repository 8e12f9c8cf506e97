"""Gaps over many groups: coverage, agreement with Tukey, and what is refused."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from timing import quicker_than

from fairlib.intervals import gaps

LEVEL = 0.95
counts = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=2, max_size=6
).map(lambda rows: ([min(x, n) for x, n in rows], [n for _, n in rows]))


def many_ends(errors, sizes, *, alpha=0.05):
    """Return the ends for many data sets: errors has shape (data sets, groups).

    The limits of every possible count are computed once and looked up.
    """
    sizes = np.asarray(sizes)

    def looked_up(radius):
        below, above = [], []
        for g, n in enumerate(sizes):
            low, high = gaps.limits(
                np.arange(n + 1.0), np.full(n + 1, float(n)), radius
            )
            below.append(low[:, errors[:, g]])
            above.append(high[:, errors[:, g]])
        return np.stack(below, axis=-1), np.stack(
            above, axis=-1
        )  # (corners, data sets, groups)

    low_radius, high_radius = gaps.radii(alpha, groups=len(sizes))
    below, above = looked_up(low_radius)
    low = np.maximum((below.max(axis=-1) - above.min(axis=-1)).min(axis=0), 0)
    below, above = looked_up(high_radius)
    high = np.full(len(errors), -np.inf)
    for i, j in itertools.permutations(range(len(sizes)), 2):
        high = np.maximum(high, (above[..., i] - below[..., j]).max(axis=0))
    return low, high


def percentile_bootstrap(errors, sizes, *, replicates, rng):
    """What is widely done: the percentiles of the gap of resampled examples."""
    drawn = (
        rng.binomial(sizes, np.asarray(errors) / sizes, size=(replicates, len(sizes)))
        / sizes
    )
    return np.quantile(drawn.max(axis=1) - drawn.min(axis=1), [0.025, 0.975])


# --- it holds at its level ---


def test_the_quick_tables_of_these_tests_give_the_same_ends():
    rng = np.random.default_rng(0)
    for sizes in ([5, 9], [30, 7, 12], [20] * 6):
        errors = rng.binomial(sizes, 0.3, size=(8, len(sizes)))
        single = [gaps.interval(x, sizes) for x in errors]
        expected = [[found.low for found in single], [found.high for found in single]]
        np.testing.assert_allclose(many_ends(errors, sizes), expected, atol=1e-12)


@pytest.mark.parametrize("sizes", [(5, 5), (12, 30), (40, 40), (6, 6, 6), (3, 9, 14)])
def test_coverage_by_enumeration_of_all_data(sizes):
    """Every possible table and its exact probability, so no simulation error."""
    errors = np.array(list(itertools.product(*(range(n + 1) for n in sizes))))
    low, high = many_ends(errors, sizes)
    rates = [0.01, 0.05, 0.2, 0.5] if len(sizes) == 2 else [0.02, 0.2, 0.5]
    for truth in itertools.product(rates, repeat=len(sizes)):
        probability = np.prod(
            [stats.binom.pmf(errors[:, g], n, truth[g]) for g, n in enumerate(sizes)],
            axis=0,
        )
        gap = max(truth) - min(truth)
        covered = probability[(low <= gap + 1e-12) & (high >= gap - 1e-12)].sum()
        assert covered >= LEVEL, (truth, covered)


CASES = [
    (k, sizes, rate)
    for k in (2, 3, 20)
    for sizes in ("equal", "unequal")
    for rate in (0.01, 0.2)
]


def group_sizes(k, kind, n):
    return (
        [n] * k
        if kind == "equal"
        else np.geomspace(max(5, n // 20), n, k).astype(int).tolist()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("k", "kind", "rate"), CASES)
def test_no_gap_is_covered_by_this_interval_and_never_by_percentiles_of_a_bootstrap(
    k, kind, rate
):
    rng, sets = np.random.default_rng(k), min(1000, 5000 // k)
    for n in (20, 300):
        sizes = group_sizes(k, kind, n)
        errors = rng.binomial(sizes, rate, size=(sets, k))
        low, high = many_ends(errors, sizes)
        assert (high >= 0).all()
        covered = (low == 0).mean()
        assert covered >= LEVEL - 4 * np.sqrt(0.05 * 0.95 / sets), (n, covered)
        if (
            n * rate >= 20 and k > 2 and kind == "equal"
        ):  # two groups of one size are often exactly equal
            boot = [
                percentile_bootstrap(x, sizes, replicates=200, rng=rng)[0]
                for x in errors[:50]
            ]
            assert np.mean(np.array(boot) <= 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["one apart", "halves", "spread"])
@pytest.mark.parametrize("k", [2, 4, 10])
def test_real_gaps_are_covered(k, shape):
    rng, sets = np.random.default_rng(k), min(1000, 5000 // k)
    for gap, base, n in itertools.product((0.02, 0.3), (0.01, 0.2), (30, 300)):
        rates = {
            "one apart": np.where(np.arange(k) == 0, base + gap, base),
            "halves": np.where(np.arange(k) < k // 2, base + gap, base),
            "spread": np.linspace(base, base + gap, k),
        }[shape]
        sizes = group_sizes(k, "unequal", n)
        low, high = many_ends(rng.binomial(sizes, rates, size=(sets, k)), sizes)
        covered = ((low <= gap + 1e-12) & (high >= gap - 1e-12)).mean()
        assert covered >= LEVEL - 4 * np.sqrt(0.05 * 0.95 / sets), (
            gap,
            base,
            n,
            covered,
        )


# --- the shape ---


@pytest.mark.parametrize("k", [2, 3, 7])
def test_radius_against_simulated_normals(k):
    drawn = np.random.default_rng(7).normal(size=(100_000, k))
    x, y = gaps.radius(0.05, groups=k) * gaps.STAIRS
    highest, lowest = drawn.max(axis=1), -drawn.min(axis=1)
    inside = ((highest[:, None] <= x) & (lowest[:, None] <= y)).any(axis=1).mean()
    assert inside == pytest.approx(0.95, abs=0.003)


def test_radius_of_one_ordered_pair_against_simulated_normals():
    first, second = np.random.default_rng(8).normal(size=(2, 100_000))
    x, y = gaps.radius(0.05, groups=None) * gaps.STAIRS
    assert ((first[:, None] <= x) & (second[:, None] <= y)).any(
        axis=1
    ).mean() == pytest.approx(0.95, abs=0.003)


def test_nearly_as_narrow_as_tukey_and_far_narrower_than_a_square():
    for k, worst in [(2, 1.22), (5, 1.08), (20, 1.04)]:
        tukey = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
        square = np.sqrt(2) * stats.norm.ppf((1 + 0.95 ** (1 / k)) / 2)
        disc = gaps.radius(0.05, groups=k)
        assert tukey < disc < worst * tukey and disc < square
    assert square / tukey > 1.15
    assert np.sqrt(2) * stats.norm.ppf((1 + 0.95**0.5) / 2) / stats.norm.ppf(
        0.975
    ) == pytest.approx(1.61, abs=0.01)


def test_large_groups_give_the_normal_theory_difference():
    found = gaps.interval([40_000, 50_000], [100_000, 100_000])
    error = np.sqrt(0.4 * 0.6 / 1e5 + 0.25 / 1e5)
    radius = gaps.radius(0.05, groups=2)
    assert found.low == pytest.approx(0.1 - radius * error, rel=2e-3)
    assert found.high == pytest.approx(0.1 + radius * error, rel=2e-3)


# --- invariances ---


@given(counts, st.randoms())
@settings(max_examples=40, deadline=None)
def test_order_and_names_of_groups_do_not_matter(data, random):
    errors, sizes = data
    order = list(range(len(errors)))
    random.shuffle(order)
    names = [f"g{i}" for i in order]
    shuffled = (
        {n: errors[i] for n, i in zip(names, order, strict=True)},
        {n: sizes[i] for n, i in zip(names, order, strict=True)},
    )
    one, other = gaps.interval(errors, sizes), gaps.interval(*shuffled)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


@given(counts)
@settings(max_examples=40, deadline=None)
def test_errors_and_successes_have_the_same_gap_and_more_confidence_is_wider(data):
    errors, sizes = data
    successes = [n - x for x, n in zip(errors, sizes, strict=True)]
    one = gaps.interval(errors, sizes)
    other = gaps.interval(successes, sizes)
    assert (one.estimate, one.low, one.high) == pytest.approx(
        (other.estimate, other.low, other.high), abs=1e-9
    )
    assert (
        0 <= one.low <= one.estimate + 1e-12 and one.estimate - 1e-12 <= one.high <= 1
    )
    wide = gaps.interval(*data, confidence=0.99)
    assert wide.low <= one.low and one.high <= wide.high


# --- degenerate and wrong input ---


def test_none_and_all_wrong():
    assert gaps.interval([0, 0], [10, 10]).low == 0
    assert gaps.interval([10, 10], [10, 10]).estimate == 0
    apart = gaps.interval([0, 50], [50, 50])
    assert apart.high == 1 and apart.low > 0.7


def test_a_group_of_one_makes_the_gap_uncertain_not_wrong():
    found = gaps.interval([1, 20, 22], [1, 200, 200])
    assert found.estimate == pytest.approx(0.9) and found.low < 0.9 and found.high > 0.9


def test_series_go_by_their_names():
    errors = pd.Series({"x": 3, "<b>": 9, "z": 1})
    totals = pd.Series({"z": 40, "<b>": 60, "x": 50})
    assert gaps.interval(errors, totals) == gaps.interval([3, 9, 1], [50, 60, 40])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaps.interval([1], [2]), "the same groups, 2 or more, found 1, 1"),
        (lambda: gaps.interval([], []), "the same groups, 2 or more, found 0, 0"),
        (lambda: gaps.interval([3, 1], [2, 2]), "group 0 has 3 of 2"),
        (lambda: gaps.interval([0, 1], [0, 2]), "group 0 has 0 of 0"),
        (lambda: gaps.interval([0.5, 1], [2, 2]), "group 0 has 0.5 of 2"),
        (
            lambda: gaps.interval({"a": 1, "b": np.nan}, {"a": 2, "b": 2}),
            "group 'b' has nan of 2",
        ),
        (
            lambda: gaps.interval({"a": 1, "b": 1}, {"a": 2, "c": 2}),
            "the same groups, 2 or more, found 2, 2",
        ),
        (
            lambda: gaps.interval([1, 1, 1], [2, 2]),
            "the same groups, 2 or more, found 3, 2",
        ),
        (
            lambda: gaps.interval([1, 1], [2, 2], confidence=95),
            "confidence must be in .*, found 95",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_speed_of_a_thousand_groups():
    sizes = np.random.default_rng(11).integers(1, 3000, 1000)
    # 0.15 s where this was written
    assert quicker_than(3, lambda: gaps.interval(sizes // 10, sizes))
