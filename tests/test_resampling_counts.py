"""The bootstrap of counts, against theory and SciPy; and that neither batches nor threads change a digit."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

from fairlib import amplification_intervals, measure, resampling

ERRORS = np.array([[56, 14], [48, 32]])  # two groups: wrong, right


def difference(counts):
    rates = counts[:, :, 0] / counts.sum(axis=2)
    return rates[:, 0] - rates[:, 1]


def test_the_variance_of_a_rate_is_that_of_theory():
    def rate(counts):
        return counts[:, 0] / counts.sum(axis=1)

    resamples, variance = 40_000, 0.15 * 0.85 / 200
    found = resampling.bootstrap([30, 170], rate, resamples=resamples, rng=0)
    assert found.estimate == 0.15
    assert found.replicates.mean() == pytest.approx(0.15, abs=4 * np.sqrt(variance / resamples))
    assert found.standard_error**2 == pytest.approx(variance, rel=4 * np.sqrt(2 / resamples))


def test_replicates_are_counts_of_rows_drawn_with_replacement():
    """Each count is binomial, together they are n, and two of them have the covariance -n p q."""
    found = resampling.bootstrap([5, 3, 2], lambda counts: counts, resamples=20_000, rng=1).replicates
    assert (found.sum(axis=1) == 10).all()
    expected = 20_000 * stats.binom.pmf(np.arange(11), 10, 0.5)
    assert stats.chisquare(np.bincount(found[:, 0].astype(int), minlength=11), expected).pvalue > 1e-3
    assert np.cov(found.T)[1, 2] == pytest.approx(-10 * 0.3 * 0.2, abs=0.05)


def test_the_interval_is_that_of_scipys_bootstrap_of_rows():
    group, wrong = np.repeat([[0, 1], [0, 0], [1, 1], [1, 0]], ERRORS.ravel(), axis=0).T

    def of_rows(group, wrong, axis):
        first, second = ((wrong * (group == g)).sum(axis=axis) / (group == g).sum(axis=axis) for g in (0, 1))
        return first - second

    options = {"paired": True, "vectorized": True, "method": "percentile", "batch": 1000}
    theirs = stats.bootstrap((group, wrong), of_rows, n_resamples=20_000, rng=2, **options)
    ours = resampling.bootstrap(ERRORS, difference, resamples=20_000, rng=3)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=4 / np.sqrt(20_000))
    # Of a 2.5 % quantile among B nearly normal values, relative to their standard deviation.
    monte_carlo = np.sqrt(2 * 0.025 * 0.975 / 20_000) / stats.norm.pdf(stats.norm.ppf(0.025))
    assert ours.ends() == pytest.approx(theirs.confidence_interval, abs=4 * monte_carlo * theirs.standard_error)


@pytest.mark.parametrize("batch", [1, 7, 100, 1000])
def test_batches_change_no_draw(batch):
    whole, parts = (resampling.bootstrap(ERRORS, difference, resamples=100, batch=b, rng=4) for b in (None, batch))
    assert np.array_equal(whole.replicates, parts.replicates) and whole.ends() == parts.ends()


def test_a_statistic_may_be_an_array_and_batches_are_what_it_is_given():
    seen = []

    def shares(counts):
        seen.append(counts.shape)
        return counts / counts.sum(axis=(1, 2), keepdims=True)

    found = resampling.bootstrap(ERRORS, shares, resamples=10, batch=4, rng=5)
    assert seen == [(1, 2, 2), (4, 2, 2), (4, 2, 2), (2, 2, 2)]
    assert found.replicates.shape == (10, 2, 2) and found.estimate == pytest.approx(ERRORS / ERRORS.sum())
    low, high = found.ends()
    assert (low <= high).all() and low.shape == (2, 2)
    with pytest.raises(ValueError, match=r"interval is for a single statistic, found shape \(2, 2\)"):
        found.interval()


def test_an_undefined_replicate_counts_as_the_worst_of_both_ends():
    """A group of one example is missing from a good third of the resamples: then nothing is known of its rate."""
    found = resampling.bootstrap([[1, 0], [500, 499]], difference, resamples=500, rng=6)
    missing = np.isnan(found.replicates)
    assert missing.mean() == pytest.approx(np.exp(-1), abs=0.09)
    assert found.ends() == (-np.inf, np.inf) and np.isnan(found.standard_error)
    assert (found.interval().low, found.interval().high) == (-np.inf, np.inf)
    rare = resampling.Bootstrap(np.array(0.5), np.r_[np.nan, np.linspace(0, 1, 999)], "by hand")
    assert np.isfinite(rare.ends()).all()


def test_an_undefined_estimate_has_no_interval():
    found = resampling.bootstrap([[0, 0], [3, 4]], difference, resamples=10, rng=7)
    assert np.isnan(found.estimate) and np.isnan(found.ends()).all()


@pytest.mark.parametrize("counts", [[], [0, 0], [-1, 2], [0.5, 1], [np.nan, 1], [np.inf, 1], [None, 1], [1e300, 1]])
def test_counts_are_whole_numbers(counts):
    with pytest.raises(ValueError, match="counts must be whole numbers of at least 0, and not all 0; found"):
        resampling.bootstrap(counts, np.sum)


@pytest.mark.parametrize(
    "statistic", [np.sum, lambda counts: counts.sum(axis=0), lambda counts: np.ones((1, 3))], ids=str
)
def test_a_statistic_has_a_value_per_replicate(statistic):
    with pytest.raises(ValueError, match=r"one value, or array, per replicate: \(1, ...\) for one and \(20, ...\)"):
        resampling.bootstrap(ERRORS, statistic, resamples=20)


def test_resamples_batch_and_confidence_are_checked():
    for options in ({"resamples": 1}, {"batch": 0}):
        with pytest.raises(ValueError, match="resamples must be at least 2 and batch at least 1, found"):
            resampling.bootstrap(ERRORS, difference, **options)
    for confidence in (0, 1, 95):
        with pytest.raises(ValueError, match=rf"confidence must be in \(0, 1\), found {confidence}"):
            resampling.bootstrap(ERRORS, difference, resamples=2).interval(confidence)


def resampled():
    """Everything here that draws, on data large enough for a matrix product in several threads."""
    rng, n = np.random.default_rng(8), 20_000
    group, label = rng.integers(3, size=n), rng.integers(2, size=n)
    wrong = rng.random(n) < 0.1 + 0.02 * group
    table = pd.DataFrame({"group": group, "label": label, "prediction": np.where(wrong, 1 - label, label)})
    task, attribute = rng.random((n, 20)) < 0.3, rng.random((n, 2)) < 0.5
    predicted = task ^ (rng.random((n, 20)) < 0.1)
    yield resampling.poisson_totals([rng.random((n, 50))], resamples=200, rng=1)
    yield resampling.bootstrap(np.arange(1, 9).reshape(2, 2, 2), lambda counts: counts / counts.sum(), rng=2).replicates
    yield measure(table, ["TPRGap", "ParityGap"], replicates=100).set_index(["metric", "class", "group"]).to_numpy()
    found = amplification_intervals.bootstrap("A->T", task, attribute, predicted, resamples=200, rng=3)
    yield np.array([found.low, found.estimate, found.high])


def test_one_thread_or_two_give_the_same_digits():
    def with_threads(number):
        with threadpool_limits(number):
            used = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
            assert used == {number}
            return list(resampled())

    for one, two in zip(with_threads(1), with_threads(2), strict=True):
        assert np.isfinite(one).all() and np.array_equal(one, two)
