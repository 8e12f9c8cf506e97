import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fairlib import disparity_interval
from fairlib.auditing import comparing, groups, needed, people, rates
from fairlib.intervals import disparity as bounds


def enumerated_coverage(n, n_others, chances):
    """The exact probability that the interval from counts holds the true difference, for all pairs of shares."""
    tables = np.meshgrid(np.arange(n + 1.0), np.arange(n_others + 1.0), indexing="ij")
    k, k_others = (counts.ravel() for counts in tables)
    low, high, _ = comparing.ends(
        k, np.full(len(k), n), k_others, np.full(len(k), n_others), interval="counts", confidence=0.95
    )
    low, high = low.reshape(tables[0].shape) - 1e-12, high.reshape(tables[0].shape) + 1e-12
    found = {}
    for p in chances:
        for q in chances:
            mine, others = (
                stats.binom.pmf(np.arange(n + 1), n, p),
                stats.binom.pmf(np.arange(n_others + 1), n_others, q),
            )
            found[p, q] = mine @ ((low <= p - q) & (high >= p - q)) @ others
    return found


@pytest.mark.parametrize(("n", "n_others"), [(30, 30), (30, 100), (50, 50), (100, 100), (40, 300)])
def test_interval_from_counts_covers_within_seven_tenths_of_a_point(n, n_others):
    coverage = enumerated_coverage(n, n_others, (0.002, 0.005, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.95, 0.99))
    assert min(coverage.values()) >= 0.943, min(coverage, key=coverage.get)


def test_newcombe_alone_would_not_cover_where_counts_are_few():
    # What the union of exact intervals is there for; else it could go.
    k, n = np.arange(31.0), 30
    low, high = bounds.METHODS["newcombe"].counts(k, np.full(31, 30.0), np.zeros(31), np.full(31, 1000.0), alpha=0.05)
    assert (stats.binom.pmf(k, n, 0.005) * ((low <= 0.005) & (high >= 0.005))).sum() < 0.95
    assert enumerated_coverage(30, 300, (0.002, 0.005))[0.005, 0.002] > 0.95


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_exact_p_is_the_doubled_tail_of_every_way_to_deal_the_cases(n, n_others, data):
    k, k_others = data.draw(st.integers(0, n)), data.draw(st.integers(0, n_others))
    found = comparing.exact_p(*(np.array([v]) for v in (k, n, k_others, n_others)))[0]
    table = [[k, n - k], [k_others, n_others - k_others]]
    tails = [stats.fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    assert found == pytest.approx(min(1, 2 * min(tails)), rel=1e-6)


def test_exact_p_is_what_exchanging_groups_gives():
    rng = np.random.default_rng(0)
    wrong, n = np.repeat([1, 0], [17, 63]), 25
    dealt = np.array([rng.permutation(wrong)[:n].sum() for _ in range(20_000)])
    for k in (3, 5, 8, 11):
        simulated = min(1, 2 * min((dealt <= k).mean(), (dealt >= k).mean()))
        assert comparing.exact_p(*map(np.array, ([k], [n], [17 - k], [55])))[0] == pytest.approx(simulated, abs=0.012)


@pytest.mark.parametrize("interval", ["counts", "betting", "miettinen_nurminen", "hoeffding"])
def test_every_method_gives_an_interval_around_the_difference_and_flips_with_the_sides(interval):
    k, n, k_others, n_others = (np.array(v, dtype=float) for v in ([4, 0, 30], [40, 35, 50], [9, 12, 8], [44, 60, 50]))
    if interval == "betting":  # depends on the order in which cases are met, the more the fewer there are
        k, n, k_others, n_others = (10 * values for values in (k, n, k_others, n_others))
    low, high, method = comparing.ends(k, n, k_others, n_others, interval=interval, confidence=0.95)
    difference = k / n - k_others / n_others
    assert (low <= difference).all() and (difference <= high).all() and len(method) == 3
    assert low[2] > 0  # 60 % against 16 %
    mirrored, _, _ = comparing.ends(k_others, n_others, k, n, interval=interval, confidence=0.95)
    tolerance = 0.03 if interval == "betting" else 1e-6
    np.testing.assert_allclose(mirrored, -high, atol=tolerance)


@pytest.mark.parametrize("k_others", [0.0, 9.0, 44.0])
def test_what_more_cases_are_worth_is_that_of_a_group_like_the_others(k_others):
    found = comparing.shares(*np.array([[40.0], [4.0], [44.0], [k_others]]), "counts", 2, 0.95)
    (typical,) = found.expected
    assert 0 < typical < 1 and abs(typical - k_others / 44) < 1 / 44
    assert found.variance[0] == pytest.approx(stats.bernoulli(typical).var())
    assert found.variance_others[0] == pytest.approx(stats.binom(44, typical).var() / 44**2)


def frame_of_sources(rng, sources=60, group_names="abc"):
    rows = []
    for source in range(sources):
        hard = rng.random() * 0.8
        for group in group_names:
            for _ in range(rng.integers(0, 4)):
                rows.append((source, group, 1, int(rng.random() > hard)))
    return pd.DataFrame(rows, columns=["source", "group", "label", "prediction"])


def compare(frame, *, reference=None, names=("misses",), source="source", interval="counts"):
    columns = people.Columns(("group",), "label", "prediction", source=source)
    counted = people.read(frame, columns, positive=1)
    (family,) = groups.families(counted, depth=1, reference=reference or {})
    (sums,) = rates.sums(counted, names)
    return family, comparing.contrast(sums, family, interval=interval, minimum=2, confidence=0.95)


def brute_force_variance(frame, group, others):
    """Σ over sources of what each adds to the difference, as a loop."""
    wrong = frame["label"] != frame["prediction"]
    one, other = frame["group"] == group, frame["group"].isin(others)
    parts = []
    for source in frame["source"].unique():
        here = frame["source"] == source
        part = (wrong[here & one] - wrong[one].mean()).sum() / one.sum()
        parts.append(part - (wrong[here & other] - wrong[other].mean()).sum() / other.sum())
    fewer = min(frame.loc[one, "source"].nunique(), frame.loc[other, "source"].nunique())
    return np.square(parts).sum() * fewer / (fewer - 1), fewer


@pytest.mark.parametrize("reference", [None, "b"])
def test_by_source_equals_the_loop_over_sources(reference):
    frame = frame_of_sources(np.random.default_rng(1))
    family, (sides, found) = compare(frame, reference={} if reference is None else {"group": reference})
    for place, code in enumerate(family.compared):
        (name,) = family.names[code]
        others = [reference] if reference else [other for other in "abc" if other != name]
        variance, fewer = brute_force_variance(frame, name, others)
        margin = stats.t.isf(0.025, fewer - 1) * np.sqrt(variance)
        assert found.high[place] - found.difference[place] == pytest.approx(margin)
        assert found.fewer[place] == fewer
        assert sides["n"][place] == (frame["group"] == name).sum()


def test_by_source_is_the_paired_t_test_where_every_source_has_one_of_each():
    rng = np.random.default_rng(2)
    easy = rng.random(80)
    right = {group: (rng.random(80) < easy).astype(int) for group in "ab"}
    frame = pd.concat(pd.DataFrame({"source": range(80), "group": g, "label": 1, "prediction": right[g]}) for g in "ab")
    _, (_, found) = compare(frame)
    paired = stats.ttest_rel(1 - right["a"], 1 - right["b"])
    assert found.p[0] == pytest.approx(paired.pvalue)
    interval = paired.confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("each", [1, 3])
def test_sources_with_as_many_cases_on_either_side_are_played_as_pairs(each):
    rng = np.random.default_rng(5)
    rows = [
        (s, g, 1, int(rng.random() < 0.6 + 0.2 * (g == "a"))) for s in range(90) for g in "aab" for _ in range(each)
    ]
    frame = pd.DataFrame(rows, columns=["source", "group", "label", "prediction"])
    _, (_, found) = compare(frame, interval="betting")
    wrong = frame.assign(wrong=frame["label"] != frame["prediction"]).groupby(["group", "source"])["wrong"].mean()
    expected = disparity_interval(wrong["a"], wrong["b"], paired=True)
    assert (found.low[0], found.high[0]) == pytest.approx((expected.low, expected.high))
    assert found.method[0] == "betting_pairs" and found.difference[0] == pytest.approx(expected.estimate)
    _, (_, uneven) = compare(frame[1:], interval="betting")
    assert uneven.method[0] == "by source"


def test_a_group_that_alone_has_such_cases_is_no_half_of_a_pair():
    frame = pd.DataFrame({"source": np.repeat(range(50), 2), "group": ["a", "b"] * 50, "label": 1})
    _, (_, found) = compare(frame.assign(prediction=[1, 0] * 50), names=("unreliable",), interval="betting")
    assert found.fewer[0] == 0 and np.isnan(found.low[0])  # only a is ever predicted 1


@pytest.mark.parametrize("source", ["source", None])
def test_sides_that_differ_and_never_vary_are_apart(source):
    units = 40
    frame = pd.DataFrame({"group": ["a", "b"] * units, "label": 1, "score": [0.9, 0.3] * units})
    frame["source"] = np.repeat(range(units), 2)
    counted = people.read(frame, people.Columns(("group",), "label", None, "score", source))
    (family,) = groups.families(counted, depth=1, reference={})
    (sums,) = rates.sums(counted, ("mean probability",))
    _, found = comparing.contrast(sums, family, interval="counts", minimum=2, confidence=0.95)
    # No more than a fraction is otherwise, on either side, if none of so many was.
    otherwise = stats.beta.isf(0.0125, 1, units)
    assert (found.low[0], found.high[0]) == pytest.approx((0.6 - 2 * otherwise, 0.6 + 2 * otherwise))
    # Exchanging the two of a source, or all cases, separates them at most so often.
    assert found.p[0] == pytest.approx(2 * 0.5**units)


def test_no_interval_reaches_beyond_what_can_be():
    frame = frame_of_sources(np.random.default_rng(0), sources=4)
    frame["prediction"] = (frame["group"] == "a").astype(int) * (np.arange(len(frame)) > 3)
    _, (_, found) = compare(frame, names=("predicted",))
    assert found.high[0] == 1 and found.difference[0] < 1


def test_copies_of_a_case_within_its_source_are_worth_nothing():
    frame = frame_of_sources(np.random.default_rng(3))
    _, (_, once) = compare(frame)
    _, (_, copied) = compare(pd.concat([frame] * 5))
    np.testing.assert_allclose(copied.low, once.low)
    np.testing.assert_allclose(copied.p, once.p)
    _, (_, believed) = compare(pd.concat([frame] * 5), source=None)  # what forgetting the source would claim
    assert (believed.p < copied.p).all()


def test_probabilities_are_compared_as_by_welch():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"group": rng.choice(list("ab"), 300), "label": 1, "score": rng.random(300)})
    counted = people.read(frame, people.Columns(("group",), "label", None, "score"))
    (family,) = groups.families(counted, depth=1, reference={})
    (sums,) = rates.sums(counted, ("mean probability",))
    _, found = comparing.contrast(sums, family, interval="counts", minimum=2, confidence=0.9)
    expected = stats.ttest_ind(*(frame.loc[frame["group"] == g, "score"] for g in "ab"), equal_var=False)
    interval = expected.confidence_interval(0.9)
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))
    assert found.p[0] == pytest.approx(expected.pvalue)


def test_a_few_cases_that_hardly_vary_are_as_unsure_as_all_cases_together():
    score = np.concatenate([[0.1, 0.11] * 5, np.random.default_rng(7).random(290)])
    frame = pd.DataFrame({"group": np.repeat(["a", "b"], [10, 290]), "label": 1, "score": score})
    counted = people.read(frame, people.Columns(("group",), "label", None, "score"))
    (family,) = groups.families(counted, depth=1, reference={})
    (sums,) = rates.sums(counted, ("mean probability",))
    _, found = comparing.contrast(sums, family, interval="counts", minimum=2, confidence=0.95)
    error = score.std(ddof=1) * np.sqrt(1 / 10 + 1 / 290)
    assert found.p[0] == pytest.approx(2 * stats.norm.sf(abs(score[:10].mean() - score[10:].mean()) / error))


@pytest.mark.parametrize("source", [None, "source"])
def test_a_few_cases_without_a_rare_large_value_are_not_taken_for_sure(source):
    rng, few, many, size = np.random.default_rng(6), 200, 2000, 35
    level = np.repeat(rng.beta(0.05, 1, few * size + many), 4 if source else 1)
    unit = np.arange(len(level)) // (4 if source else 1)
    group = np.where(unit < few * size, unit // size, -1)  # many small groups that are like the large one
    frame = pd.DataFrame({"group": group, "label": 1, "score": level, "source": unit})
    counted = people.read(frame, people.Columns(("group",), "label", None, "score", source))
    (family,) = groups.families(counted, depth=1, reference={"group": -1})
    (sums,) = rates.sums(counted, ("mean probability",))
    _, found = comparing.contrast(sums, family, interval="counts", minimum=2, confidence=0.95)
    t = stats.t.isf(0.025, size - 1) * np.abs(found.difference) / (found.high - found.difference)
    assert (2 * stats.t.sf(t, size - 1) <= 0.001).mean() > 0.03  # what Student's t alone would claim
    assert (found.p <= 0.05).mean() <= 0.05 and (found.p <= 0.001).mean() <= 0.005


def plan(variance, variance_others, expected=np.nan, units=0.0):
    arrays = {name: np.zeros(1) for name in comparing.Contrast._fields}
    arrays |= {
        "units": np.array([units]),
        "variance": np.array([variance]),
        "variance_others": np.array([variance_others]),
    }
    return comparing.Contrast(**arrays | {"expected": np.array([expected])})


@pytest.mark.parametrize(("rate", "n_others", "alpha"), [(0.2, 3000, 0.05), (0.1, 20_000, 0.001), (0.4, 3000, 0.01)])
def test_so_many_more_cases_show_the_margin_as_often_as_promised(rate, n_others, alpha):
    variance, margin = rate * (1 - rate), 0.08
    planned = plan(variance, variance / n_others, rate)
    n = int(needed.more_needed(planned, margin=margin, alpha=alpha, power=0.8)[0])
    # The exact power of Fisher's test with so many cases, for the harder of the two differences.
    k_others = stats.binom.ppf(np.arange(0.05, 1, 0.1), n_others, rate)[:, None]
    k = np.arange(n + 1)[None, :]
    rejected = comparing.exact_p(k + 0 * k_others, n, k_others + 0 * k, n_others) <= alpha
    power = (rejected * stats.binom.pmf(k, n, rate + margin)).sum(axis=1).mean()
    assert 0.7 < power < 0.87
    assert (rejected * stats.binom.pmf(k, n, rate - margin)).sum(axis=1).mean() > power


@pytest.mark.parametrize("expected", [0.25, np.nan])
def test_detectable_and_more_needed_agree(expected):
    planned, level = plan(0.1875, 0.0001, expected), {"alpha": 0.05, "power": 0.8}
    n = needed.more_needed(planned, margin=0.05, **level)
    planned = planned._replace(units=n)
    seen = needed.detectable(planned, **level)[0]
    assert seen == pytest.approx(0.05, rel=0.02)
    there = 0.1875 if np.isnan(expected) else (expected + seen) * (1 - expected - seen)  # nearer to one half
    error, error_there = (np.sqrt(variance / n[0] + 0.0001) for variance in (0.1875, there))
    assert stats.norm.sf(1.959964 * error, loc=seen, scale=error_there) == pytest.approx(0.8, abs=1e-5)
    assert needed.more_needed(planned, margin=0.05, **level)[0] == 0
    assert needed.more_needed(plan(0.1875, 0.01, expected, n[0]), margin=0.05, **level)[0] == np.inf  # others too few


def test_growth_is_what_everybody_would_have_to_grow_by():
    planned, level = plan(0.1875, 0.002, 0.25, 150.0), {"alpha": 0.05, "power": 0.8}
    factor = needed.growth(planned, margin=0.05, **level)[0]
    grown = plan(0.1875, 0.002 / factor, 0.25, 150.0 * factor)
    assert needed.detectable(grown, **level)[0] == pytest.approx(0.05)
