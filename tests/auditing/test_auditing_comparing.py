"""Comparisons: against enumeration, loops over sources, textbook tests; coverage."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from test_auditing import BINARY, people

import fairlib
from fairlib.auditing import comparing, groups, rates
from fairlib.auditing import counts as counts_of
from fairlib.auditing.setting import Columns
from fairlib.auditing.sums import sums_of
from fairlib.intervals import disparity as bounds

CHANCES = (0.002, 0.005, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.49, 0.5, 0.7, 0.95, 0.99)


def contrast(value, worth, *, freedom=np.inf, correlation=0.0, span=1.0, **others):
    """Comparisons of means (group, others), each of them worth so many cases."""
    value, worth = np.broadcast_arrays(
        np.array(value, dtype=float), np.array(worth, dtype=float)
    )
    value, worth = (array.reshape(2, -1) for array in (value, worth))
    ones = np.ones(value.shape[1])
    made = {
        "n": worth,
        "value": value,
        "units": worth,
        "worth": worth,
        "freedom": np.full(worth.shape, freedom),
    }
    made |= {
        "correlation": correlation * ones,
        "span": span * ones,
        "expected": np.nan * ones,
    }
    made |= {"variance": ones, "variance_others": ones} | others
    return comparing.Contrast(**made)


def all_tables(n, n_others):
    tables = np.meshgrid(np.arange(n + 1.0), np.arange(n_others + 1.0), indexing="ij")
    share = np.stack([counts.ravel() for counts in tables]) / [[n], [n_others]]
    return contrast(share, np.broadcast_to([[n], [n_others]], share.shape))


def probability(n, n_others, p, q, tables):
    """The exact probability of some tables."""
    mine, others = (
        stats.binom.pmf(np.arange(size + 1), size, share)
        for size, share in ((n, p), (n_others, q))
    )
    return mine @ tables.reshape(n + 1, n_others + 1) @ others


@pytest.mark.parametrize(
    ("n", "n_others"), [(30, 30), (33, 33), (30, 100), (50, 50), (100, 100), (40, 300)]
)
def test_intervals_of_shares_cover_and_their_test_keeps_its_level(n, n_others):
    every = all_tables(n, n_others)
    low, high = comparing.ends(every, 0.05)
    p_values = every.p
    for p in CHANCES:
        for q in CHANCES:
            inside = (low <= p - q + 1e-12) & (high >= p - q - 1e-12)
            least = 0.95 if abs(p - q) < 0.9 else 0.925
            assert probability(n, n_others, p, q, inside) >= least - 0.001, (p, q)
        for level in (0.05, 0.01, 1e-3, 1e-4, 1e-5):
            assert probability(n, n_others, p, p, p_values <= level) <= level, (
                p,
                level,
            )


def test_wilsons_limits_would_not_cover_where_counts_are_few():
    # What the exact limits are there for.
    k, n = np.arange(31.0), 30
    low, high = bounds.METHODS["newcombe"].counts(
        k, np.full(31, 30.0), np.zeros(31), np.full(31, 1000.0), alpha=0.05
    )
    assert (
        stats.binom.pmf(k, n, 0.005) * ((low <= 0.005) & (high >= 0.005))
    ).sum() < 0.95


@settings(deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(1, 999),
    st.integers(-9, 9),
    st.data(),
)
def test_the_interval_leaves_out_zero_exactly_where_p_is_small(
    n, n_others, level, correlation, data
):
    k, k_others = data.draw(st.integers(0, n)), data.draw(st.integers(0, n_others))
    freedom = data.draw(st.sampled_from([np.inf, 1.5, 29.0]))
    one = contrast(
        [[k / n], [k_others / n_others]],
        [[n], [n_others]],
        freedom=freedom,
        correlation=correlation / 10,
    )
    (p,), alpha = one.p, level / 1000
    if abs(p - alpha) > 1e-6:
        (low,), (high,) = comparing.ends(one, alpha)
        assert (low > 0 or high < 0) == (p <= alpha)
        assert -1 <= low <= k / n - k_others / n_others <= high <= 1
    turned = contrast(
        [[k_others / n_others], [k / n]],
        [[n_others], [n]],
        freedom=freedom,
        correlation=correlation / 10,
    )
    assert turned.p[0] == pytest.approx(p)
    np.testing.assert_allclose(
        comparing.ends(turned, alpha),
        [-end for end in comparing.ends(one, alpha)[::-1]],
    )


def test_an_end_that_comes_back_from_zero_is_no_evidence():
    """One case against 15 of 20, correlated: one limit cannot move."""
    one = contrast([[1.0], [15 / 20]], [[1], [20]], freedom=np.inf, correlation=0.7)
    assert one.p == 1
    for level in (0.5, 0.05, 1e-10, 1e-60):
        (low,), (high,) = comparing.ends(one, level)
        assert low <= 0 <= high


def test_limits_are_those_of_clopper_and_pearson_and_of_newcombes_way_to_add_them():
    k, n, k_others, n_others = 7, 40, 11, 200
    (low,), (high,) = comparing.ends(
        contrast([[k / n], [k_others / n_others]], [[n], [n_others]]), 0.05
    )
    exact, others = (
        stats.binomtest(*counts).proportion_ci(0.95)
        for counts in ((k, n), (k_others, n_others))
    )
    d = k / n - k_others / n_others
    assert low == pytest.approx(
        d - np.hypot(k / n - exact.low, others.high - k_others / n_others)
    )
    assert high == pytest.approx(
        d + np.hypot(exact.high - k / n, k_others / n_others - others.low)
    )


def test_billions_of_cases_cost_what_ten_do():
    large = contrast([[0.3], [0.3001]], [[4e9], [5e9]])
    assert large.p[0] == pytest.approx(
        2 * stats.norm.sf(0.0001 / np.sqrt(0.21 / 4e9 + 0.21 / 5e9)), rel=0.01
    )


@pytest.mark.parametrize("wrong_others", [0, 9, 44])
def test_what_more_cases_are_worth_is_that_of_a_group_like_the_others(wrong_others):
    wrong = np.repeat([1, 0, 1, 0], [20, 20, wrong_others, 44 - wrong_others])
    frame = pd.DataFrame(
        {"group": np.repeat(["a", "b"], [40, 44]), "label": 1, "prediction": 1 - wrong}
    )
    _, found = compare(frame, source=None)
    (typical,) = found.expected
    assert 0 < typical < 1 and abs(typical - wrong_others / 44) < 1 / 44
    assert found.variance[0] == pytest.approx(stats.bernoulli(typical).var())
    assert found.variance_others[0] == pytest.approx(
        stats.binom(44, typical).var() / 44**2
    )


def frame_of_sources(rng, sources=60, group_names="abc"):
    rows = []
    for source in range(sources):
        hard = rng.random() * 0.8
        for group in group_names:
            for _ in range(rng.integers(0, 4)):
                rows.append((source, group, 1, int(rng.random() > hard)))
    return pd.DataFrame(rows, columns=["source", "group", "label", "prediction"])


def compare(
    frame, *, reference=None, names=("misses",), source="source", probability=None
):
    columns = Columns(
        group=("group",),
        label="label",
        prediction=None if probability else "prediction",
        probability=probability,
        source=source,
    )
    counted = counts_of.read(frame, columns, positive=1)
    (family,) = groups.families(counted, depth=1, reference=reference or {})
    (sums,) = sums_of(counted, {name: rates.RATES[name] for name in names})
    return family, comparing.contrast(sums, family)


def by_loop(frame, group, others):
    """Everything about a comparison as loops over its sources."""
    wrong = frame["label"] != frame["prediction"]
    sides = [frame["group"] == group, frame["group"].isin(others)]
    n, mean = [side.sum() for side in sides], [wrong[side].mean() for side in sides]
    sizes, squares, shared = [[], []], [0.0, 0.0], 0.0
    for source in frame["source"].unique():
        here = [side & (frame["source"] == source) for side in sides]
        residual = [(wrong[rows] - m).sum() for rows, m in zip(here, mean, strict=True)]
        sizes = [
            [*before, rows.sum()] for before, rows in zip(sizes, here, strict=True)
        ]
        squares = [before + r**2 for before, r in zip(squares, residual, strict=True)]
        shared += residual[0] * residual[1]
    share = [np.square(one).sum() / m**2 for one, m in zip(sizes, n, strict=True)]
    variance = [s / m**2 / (1 - h) for s, m, h in zip(squares, n, share, strict=True)]
    worth = [m * (1 - m) / v for m, v in zip(mean, variance, strict=True)]
    correlation = (
        shared
        / np.prod(n)
        / np.sqrt(np.prod(variance) * np.prod([1 - h for h in share]))
    )
    return worth, correlation, [1 / h for h in share]


@pytest.mark.parametrize("reference", [None, "b"])
def test_by_source_equals_the_loop_over_sources(reference):
    frame = frame_of_sources(np.random.default_rng(1), sources=100)
    family, found = compare(
        frame, reference={} if reference is None else {"group": reference}
    )
    for place, code in enumerate(family.compared):
        (name,) = family.names[code]
        others = (
            [reference] if reference else [other for other in "abc" if other != name]
        )
        worth, correlation, units = by_loop(frame, name, others)
        least = np.minimum(
            worth, found.n[:, place]
        )  # or less, if the other side varies more
        assert (found.worth[:, place] <= least + 1e-9).all() and (
            found.worth[:, place] > 0.7 * least
        ).all()
        assert 0 < found.correlation[place] <= correlation + 1e-9
        np.testing.assert_array_equal(found.units[:, place], np.floor(units))
        assert found.n[0, place] == (frame["group"] == name).sum()


def test_by_source_is_nearly_the_paired_t_test_where_every_source_has_one_of_each():
    rng = np.random.default_rng(2)
    easy = rng.random(400)
    right = {group: (rng.random(400) < easy).astype(int) for group in "ab"}
    pairs = [
        pd.DataFrame(
            {"source": range(400), "group": g, "label": 1, "prediction": right[g]}
        )
        for g in "ab"
    ]
    _, found = compare(pd.concat(pairs))
    paired = stats.ttest_rel(1 - right["a"], 1 - right["b"]).confidence_interval(0.95)
    (low,), (high,) = comparing.ends(found, 0.05)
    assert high - low == pytest.approx(paired.high - paired.low, rel=0.05)
    assert (low, high) == pytest.approx((paired.low, paired.high), abs=0.004)
    assert found.correlation[0] > 0.2


def test_cases_of_their_own_are_sources_of_one_case():
    frame = people(300).rename(columns={"sex": "group"}).assign(source=range(300))
    _, alone = compare(frame, source=None)
    _, tied = compare(frame)
    np.testing.assert_allclose(
        tied.worth, alone.n - 1, rtol=0.02
    )  # of a variance that is estimated
    np.testing.assert_allclose(tied.freedom, alone.n - 1)
    np.testing.assert_array_equal(tied.units, alone.units)
    assert (tied.p >= alone.p - 1e-3).all()


def test_one_large_source_among_thirty_shows_nothing_and_counts_for_few():
    size = np.tile([1] * 29 + [300], 2)
    source = np.repeat(np.arange(60), size)
    wrong = (source == 29) | (
        source == 3
    )  # of 29 people with one case, one; and one with 300 wrong ones
    frame = pd.DataFrame(
        {"source": source, "group": source // 30, "label": 1, "prediction": 1 - wrong}
    )
    _, found = compare(frame)
    assert (found.units[:, 0] == [1, 1]).all()
    assert found.p[0] > 0.2
    (row,) = (
        fairlib.audit(frame, group="group", **BINARY, source="source", metrics="misses")
        .to_frame()
        .to_dict("records")
    )
    assert row["verdict"] == "too few" and np.isnan(row["p_corrected"])


def test_no_wrong_one_among_thirty_sources_does_not_rule_out_that_many_are():
    source = np.arange(530)
    wrong = source >= 520
    frame = pd.DataFrame(
        {"source": source, "group": source >= 30, "label": 1, "prediction": 1 - wrong}
    )
    _, found = compare(frame)
    (low,), (high,) = comparing.ends(found, 0.05)
    assert (
        low < -0.03 and high > 0.09
    )  # Clopper and Pearson's limits of 0 of 30: 0 and .116


@pytest.mark.parametrize("source", ["source", None])
def test_sides_that_differ_and_never_vary_are_apart(source):
    frame = pd.DataFrame(
        {
            "group": ["a", "b"] * 40,
            "label": 1,
            "score": [0.9, 0.3] * 40,
            "source": np.arange(80) // 2,
        }
    )
    _, found = compare(
        frame, names=("mean probability",), source=source, probability="score"
    )
    (low,), (high,) = comparing.ends(found, 0.05)
    assert 0.5 < low < 0.6 < high < 0.7 and found.p[0] < 1e-6


def test_no_interval_reaches_beyond_what_can_be():
    frame = frame_of_sources(np.random.default_rng(0), sources=4)
    frame["prediction"] = (frame["group"] == "a").astype(int) * (
        np.arange(len(frame)) > 3
    )
    _, found = compare(frame, names=("predicted",))
    low, high = comparing.ends(found, 0.001)
    assert (low >= -1).all() and (high <= 1).all()


def test_copies_of_a_case_within_its_source_are_worth_nothing():
    frame = frame_of_sources(np.random.default_rng(3))
    _, once = compare(frame)
    _, copied = compare(pd.concat([frame] * 5))
    _, believed = compare(
        pd.concat([frame] * 5), source=None
    )  # what forgetting the source would claim
    np.testing.assert_allclose(copied.units, once.units)
    assert (copied.worth <= 1.5 * once.worth).all() and (
        believed.worth > 3 * once.worth
    ).all()
    assert (believed.p < copied.p).all()


def test_probabilities_are_compared_nearly_as_by_welch():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"group": rng.choice(list("ab"), 2000), "label": 1, "score": rng.random(2000)}
    )
    _, found = compare(
        frame, names=("mean probability",), source=None, probability="score"
    )
    expected = stats.ttest_ind(
        *(frame.loc[frame["group"] == g, "score"] for g in "ab"), equal_var=False
    )
    interval = expected.confidence_interval(0.9)
    (low,), (high,) = comparing.ends(found, 0.1)
    assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.001)
    assert found.p[0] == pytest.approx(expected.pvalue, rel=0.1)


def test_what_lies_between_minus_one_and_one_is_a_share_of_what_can_be():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "group": rng.choice(list("ab"), 4000),
            "label": rng.integers(0, 2, 4000),
            "score": 0.5,
        }
    )
    frame["score"] = 0.3 * (frame["group"] == "a") + 0.7 * frame["label"] * rng.random(
        4000
    )
    _, found = compare(
        frame, names=("overestimation",), source=None, probability="score"
    )
    over = frame["score"] - frame["label"]
    interval = stats.ttest_ind(
        *(over[frame["group"] == g] for g in "ab"), equal_var=False
    ).confidence_interval(0.95)
    (low,), (high,) = comparing.ends(found, 0.05)
    assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.002)


@pytest.mark.parametrize("source", [None, "source"])
def test_a_few_cases_without_a_rare_large_value_are_not_taken_for_sure(source):
    rng, few, many, size = np.random.default_rng(6), 200, 2000, 35
    level = np.repeat(rng.beta(0.05, 1, few * size + many), 4 if source else 1)
    unit = np.arange(len(level)) // (4 if source else 1)
    group = np.where(
        unit < few * size, unit // size, -1
    )  # many small groups that are like the large one
    frame = pd.DataFrame(
        {
            "group": [f"g{code}" for code in group],
            "label": 1,
            "score": level,
            "source": unit,
        }
    )
    _, found = compare(
        frame,
        reference={"group": "g-1"},
        names=("mean probability",),
        source=source,
        probability="score",
    )
    p = found.p
    assert (p <= 0.05).mean() <= 0.05 and (p <= 0.001).mean() <= 0.005


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.01, 0.2])
@pytest.mark.parametrize("together", [0.0, 1.0])
def test_by_source_holds_from_thirty_sources_of_unequal_size(rate, together):
    rng, worlds = np.random.default_rng(11), 2000
    size = np.minimum(
        np.ceil((1 - rng.random((2, worlds, 120))) ** (-1 / 1.5)), 500
    ).astype(int)
    own = np.where(
        rng.random(size.shape) < together, rng.random(size.shape) < rate, rate
    )
    k, n = rng.binomial(size, own), size
    mean = k.sum(axis=2) / n.sum(axis=2)
    n2, n3 = ((n.astype(float) ** power).sum(axis=2) for power in (2, 3))
    squares = ((k - mean[..., None] * n) ** 2).sum(axis=2)
    with np.errstate(invalid="ignore"):
        worth, freedom, _ = comparing.worth_of_units(
            n.sum(axis=2), mean, n2=n2, n3=n3, squares=squares, shared=0.0
        )
    enough = (n.sum(axis=2) ** 2 / n2).min(axis=0) >= 30
    made = contrast(
        mean[:, enough], np.minimum(worth, n.sum(axis=2))[:, enough], freedom=1
    )
    p = replace(made, freedom=freedom[:, enough]).p
    assert enough.sum() > 500
    for level in (0.05, 0.01):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level / enough.sum())


def plan(variance, variance_others, expected=np.nan, units=0.0):
    known = {
        "variance": np.array([variance]),
        "variance_others": np.array([variance_others]),
    }
    return contrast(
        [[0.0], [0.0]], [[units], [0.0]], expected=np.array([expected]), **known
    )


@pytest.mark.parametrize(
    ("rate", "n_others", "alpha"),
    [(0.2, 3000, 0.05), (0.1, 20_000, 0.001), (0.4, 3000, 0.01)],
)
def test_so_many_more_cases_show_the_margin_as_often_as_promised(rate, n_others, alpha):
    variance, margin = rate * (1 - rate), 0.08
    planned = plan(variance, variance / n_others, rate)
    n = int(comparing.settling(planned, size=margin, alpha=alpha, power=0.8)[0][0])
    # The exact power of Fisher's test with so many cases, for the harder difference.
    k_others = stats.binom.ppf(np.arange(0.05, 1, 0.1), n_others, rate)[:, None]
    k = np.arange(n + 1)[None, :]
    shares = np.stack(
        [(k / n + 0 * k_others).ravel(), (k_others / n_others + 0 * k).ravel()]
    )
    every = contrast(shares, np.broadcast_to([[n], [n_others]], shares.shape))
    rejected = (every.p <= alpha).reshape(len(k_others), n + 1)
    power = (rejected * stats.binom.pmf(k, n, rate + margin)).sum(axis=1).mean()
    assert 0.7 < power < 0.87
    assert (rejected * stats.binom.pmf(k, n, rate - margin)).sum(axis=1).mean() > power


@pytest.mark.parametrize("expected", [0.25, np.nan])
def test_what_settles_a_difference_shows_it_with_the_power_asked_for(expected):
    level = {"size": 0.05, "alpha": 0.05, "power": 0.8}
    there = (
        0.1875 if np.isnan(expected) else 0.3 * 0.7
    )  # a share of .25 and the difference, nearer to one half

    def power(n, variance_others):
        error, error_there = (
            np.sqrt(variance / n + variance_others) for variance in (0.1875, there)
        )
        return stats.norm.sf(1.959964 * error, loc=0.05, scale=error_there)

    (n,), _ = comparing.settling(plan(0.1875, 0.0001, expected), **level)
    jumps = 0 if np.isnan(expected) else 20
    assert power(n - jumps, 0.0001) == pytest.approx(0.8, abs=1e-3)
    assert comparing.settling(plan(0.1875, 0.0001, expected, n), **level)[0] == 0
    assert (
        comparing.settling(plan(0.1875, 0.01, expected, n), **level)[0] == np.inf
    )  # the others are too few
    _, times = comparing.settling(plan(0.1875, 0.002, expected, 150.0), **level)
    assert power(150 * times, 0.002 / times) == pytest.approx(0.8, abs=1e-5)
