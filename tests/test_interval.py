"""Intervals, runs of a training and the bootstrap of counts.

They are tested against theory, against SciPy, and with several threads.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

from fairlib import Interval, measure, resampling

# --- Interval ---


def test_prints_as_documented():
    assert (
        str(Interval(0.029, -0.012, 0.070, method="bernstein"))
        == "0.029 [-0.012, 0.070] (95% bernstein)"
    )


def test_no_interval_says_that_it_is_certain():
    assert (
        str(Interval(0.0, -1.0, 1.0, confidence=1 - 0.05 / 5000))
        == "0.000 [-1.000, 1.000] (99.99%)"
    )


def test_membership_and_exclusion_agree():
    interval = Interval(0.2, 0.1, 0.3)
    for value in (0.0, 0.1, 0.2, 0.3, 0.31):
        assert (value in interval) != interval.excludes(value)
    assert interval.half_width == pytest.approx(0.1)


def test_undefined_interval_excludes_nothing():
    undefined = Interval(math.nan, math.nan, math.nan, method="wald")
    assert not undefined.excludes(0.0)
    assert str(undefined) == "undefined (95% wald)"


def test_html_is_escaped():
    assert "<b>" not in Interval(0.1, 0.0, 0.2, method="<b>")._repr_html_()


@pytest.mark.parametrize(
    "bad", [{"low": 2.0, "high": 1.0}, {"confidence": 1.0}, {"confidence": -0.1}]
)
def test_impossible_intervals_are_refused(bad):
    with pytest.raises(ValueError, match="low|confidence"):
        Interval(**({"estimate": 1.0, "low": 0.0, "high": 2.0} | bad))


def test_is_frozen():
    with pytest.raises(AttributeError):
        Interval(0.1, 0.0, 0.2).low = 1.0


# --- runs ---


def test_over_runs_is_students_t():
    values = np.random.default_rng(0).normal(size=5)
    found = resampling.over_runs(values, confidence=0.9)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (
        found.estimate == pytest.approx(values.mean())
        and found.method == "t over 5 runs"
    )


def test_over_runs_is_wider_than_the_released_interval_by_the_known_factor():
    values = np.random.default_rng(1).normal(size=5)
    released = 1.96 * values.std() / np.sqrt(5)
    assert resampling.over_runs(values).half_width / released == pytest.approx(
        1.584, abs=5e-4
    )


def test_over_runs_covers_and_the_released_interval_does_not():
    runs = np.random.default_rng(2).normal(size=(1000, 5))
    t = np.mean([0.0 in resampling.over_runs(values) for values in runs])
    released = np.mean(
        np.abs(runs.mean(axis=1)) <= 1.96 * runs.std(axis=1) / np.sqrt(5)
    )
    assert t == pytest.approx(0.95, abs=0.022)
    assert released == pytest.approx(0.8455, abs=0.036)


@pytest.mark.parametrize("values", [[], [0.1], [[0.1, 0.2]]])
def test_over_runs_needs_two_runs(values):
    with pytest.raises(ValueError, match="values must be a vector of at least 2 runs"):
        resampling.over_runs(values)


def test_over_runs_names_what_is_not_finite():
    with pytest.raises(ValueError, match="values must be finite, found nan"):
        resampling.over_runs([0.1, np.nan])
    with pytest.raises(ValueError, match=r"confidence must be in \(0, 1\), found 95"):
        resampling.over_runs([0.1, 0.2], confidence=95)


def test_equal_runs_have_an_interval_of_no_width():
    assert resampling.over_runs([0.25, 0.25, 0.25]).half_width == 0


# --- counts ---

ERRORS = np.array([[56, 14], [48, 32]])  # two groups: wrong, right


def difference(counts):
    rates = counts[:, :, 0] / counts.sum(axis=2)
    return rates[:, 0] - rates[:, 1]


def first_count(counts):
    return counts.reshape(len(counts), -1)[:, 0]


def drawn(counts, statistic=first_count, **options):
    """Return the interval, and the counts that the statistic was called with."""
    calls = []

    def recorded(counts):
        calls.append(counts)
        return statistic(counts)

    interval = resampling.bootstrap(counts, recorded, **options)
    (only_call,) = calls
    return interval, only_call


def test_the_variance_of_a_rate_is_that_of_theory():
    def rate(counts):
        return counts[:, 0] / counts.sum(axis=1)

    resamples, variance = 10_000, 0.15 * 0.85 / 200
    found, counts = drawn([30, 170], rate, resamples=resamples, rng=0)
    assert found.estimate == 0.15
    replicates = rate(counts[1:])
    assert replicates.mean() == pytest.approx(
        0.15, abs=4 * np.sqrt(variance / resamples)
    )
    assert replicates.var(ddof=1) == pytest.approx(
        variance, rel=4 * np.sqrt(2 / resamples)
    )


def test_replicates_are_counts_of_rows_drawn_with_replacement():
    """Each count is binomial, they add up to n, and two have the covariance -n p q."""
    _, counts = drawn([5, 3, 2], resamples=20_000, rng=1)
    replicates = counts[1:]
    assert (replicates.sum(axis=1) == 10).all()
    frequencies = np.bincount(replicates[:, 0].astype(int), minlength=11)
    expected = 20_000 * stats.binom.pmf(np.arange(11), 10, 0.5)
    assert stats.chisquare(frequencies, expected).pvalue > 1e-3
    assert np.cov(replicates.T)[1, 2] == pytest.approx(-10 * 0.3 * 0.2, abs=0.05)


def test_the_interval_is_that_of_scipys_bootstrap_of_rows():
    group, wrong = np.repeat([[0, 1], [0, 0], [1, 1], [1, 0]], ERRORS.ravel(), axis=0).T

    def of_rows(group, wrong, axis):
        first, second = (
            (wrong * (group == g)).sum(axis=axis) / (group == g).sum(axis=axis)
            for g in (0, 1)
        )
        return first - second

    options = {
        "paired": True,
        "vectorized": True,
        "method": "percentile",
        "batch": 1000,
    }
    theirs = stats.bootstrap(
        (group, wrong), of_rows, n_resamples=20_000, rng=2, **options
    )
    found, counts = drawn(ERRORS, difference, resamples=20_000, rng=3)
    assert difference(counts[1:]).std(ddof=1) == pytest.approx(
        theirs.standard_error, rel=4 / np.sqrt(20_000)
    )
    # The error of a 2.5 % quantile of B nearly normal values, in standard deviations.
    monte_carlo = np.sqrt(2 * 0.025 * 0.975 / 20_000) / stats.norm.pdf(
        stats.norm.ppf(0.025)
    )
    assert (found.low, found.high) == pytest.approx(
        theirs.confidence_interval, abs=4 * monte_carlo * theirs.standard_error
    )
    wider = resampling.bootstrap(
        ERRORS, difference, resamples=20_000, confidence=0.99, rng=3
    )
    assert wider.low < found.low < found.high < wider.high and wider.confidence == 0.99


def test_the_statistic_is_asked_for_the_data_first():
    found, counts = drawn(ERRORS, difference, resamples=10, rng=5)
    assert counts.shape == (11, 2, 2) and (counts[0] == ERRORS).all()
    assert found.estimate == difference(ERRORS[None])


def test_an_undefined_replicate_counts_as_the_worst_of_both_ends():
    """A group of one example is missing from a third of the draws: its rate is open."""
    found, counts = drawn([[1, 0], [500, 499]], difference, resamples=500, rng=6)
    assert (counts[1:, 0].sum(axis=1) == 0).mean() == pytest.approx(
        np.exp(-1), abs=0.09
    )
    assert (found.low, found.high) == (-np.inf, np.inf)

    def undefined_once(counts):
        return np.r_[0.5, np.nan, np.linspace(0, 1, 999)]

    rare = resampling.bootstrap(ERRORS, undefined_once, resamples=1000)
    assert np.isfinite([rare.low, rare.high]).all()


@pytest.mark.parametrize(
    ("confidence", "resamples", "low", "high"),
    [
        (0.95, 71, 1, 69),  # between the draws 1 and 2 (at 1.75), 68 and 69 (68.25)
        (0.94, 34, 0, 33),  # between the draws 0 and 1 (at 0.99), 32 and 33 (32.01)
    ],
)
def test_between_two_draws_an_end_is_the_outer_one(confidence, resamples, low, high):
    """Every other method to take a quantile gives a shorter interval here."""
    middle = resamples / 2
    shuffled = np.random.default_rng(9).permutation(resamples)

    def ranks(counts):
        return np.r_[middle, shuffled]

    interval = resampling.bootstrap(
        ERRORS, ranks, resamples=resamples, confidence=confidence
    )
    assert (interval.estimate, interval.low, interval.high) == (middle, low, high)


def test_an_undefined_estimate_has_no_interval():
    found = resampling.bootstrap([[0, 0], [3, 4]], difference, resamples=10, rng=7)
    assert str(
        found
    ) == "undefined (95% bootstrap, 10 resamples)" and not found.excludes(0)


@pytest.mark.parametrize(
    "counts",
    [[], [0, 0], [-1, 2], [0.5, 1], [np.nan, 1], [np.inf, 1], [None, 1], [1e300, 1]],
)
def test_counts_are_whole_numbers(counts):
    with pytest.raises(
        ValueError,
        match="counts must be (whole numbers of at least 0|in all 1 to 2.63), found",
    ):
        resampling.bootstrap(counts, np.sum)


@pytest.mark.parametrize(
    "statistic",
    [np.sum, lambda counts: counts.sum(axis=0), lambda counts: counts],
    ids=["one number", "a row too few", "several each"],
)
def test_a_statistic_has_a_value_per_replicate(statistic):
    with pytest.raises(ValueError, match="a number per replicate, 21, found"):
        resampling.bootstrap(ERRORS, statistic, resamples=20)


def test_resamples_and_confidence_are_checked():
    with pytest.raises(ValueError, match="resamples must be at least 2, found 1"):
        resampling.bootstrap(ERRORS, difference, resamples=1)
    for confidence in (0, 1, 95):
        with pytest.raises(
            ValueError, match=rf"confidence must be in \(0, 1\), found {confidence}"
        ):
            resampling.bootstrap(ERRORS, difference, resamples=2, confidence=confidence)


def resampled():
    """Yield all that is drawn, on data large enough for products in several threads."""
    rng, n = np.random.default_rng(8), 20_000
    group, label = rng.integers(3, size=n), rng.integers(2, size=n)
    wrong = rng.random(n) < 0.1 + 0.02 * group
    table = pd.DataFrame(
        {
            "group": group,
            "label": label,
            "prediction": np.where(wrong, 1 - label, label),
        }
    )
    found = resampling.bootstrap(
        np.arange(1, 9),
        lambda counts: counts[:, :4].sum(axis=1) / counts.sum(axis=1),
        rng=2,
    )
    yield [found.low, found.high]
    yield (
        measure(table, ["TPRGap", "ParityGap"], replicates=100)
        .set_index(["metric", "class", "group"])
        .to_numpy()
    )


def test_one_thread_or_two_give_the_same_digits():
    def with_threads(number):
        with threadpool_limits(number):
            used = {
                pool["num_threads"]
                for pool in threadpool_info()
                if pool["user_api"] == "blas"
            }
            assert used == {number}
            return list(resampled())

    for one, two in zip(with_threads(1), with_threads(2), strict=True):
        assert np.isfinite(one).all() and np.array_equal(one, two)
