"""The confidence sequence: valid at all times at once, the same however it is fed, and it does stop."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fairlib.intervals import sequential
from fairlib.intervals.sequential import SequentialAudit, confidence_sequence


def stream(rng, n, rate_a, rate_b, share=0.5):
    membership = np.where(rng.random(n) < share, 1, -1)
    return (rng.random(n) < np.where(membership == 1, rate_a, rate_b)).astype(float), membership


def wealth(values, mean):
    """Brute force: every portfolio, day by day."""
    money = np.full(len(sequential.FRACTIONS), 1 / len(sequential.FRACTIONS))
    path = []
    for value in values:
        money = money * (1 - sequential.FRACTIONS + sequential.FRACTIONS * value / mean)
        path.append(money.sum())
    return np.array(path)


# --- the guarantee ---


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.5, 0.9])
def test_ever_rejecting_the_truth_is_rare_by_enumeration(rate):
    """All sequences of 12 zeros and ones: the probability of ever owning 1/α is at most α, whatever α."""
    z = np.array(list(itertools.product([0.0, 1.0], repeat=12)))
    probability = np.prod(np.where(z == 1, rate, 1 - rate), axis=1)
    most = np.array([wealth(row, rate).max() for row in z])
    for level in (1.5, 2, 5, 10, 40):
        assert probability[most >= level].sum() <= 1 / level + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "share"), [(0.3, 0.5), (0.02, 0.5), (0.5, 0.15)])
def test_looking_after_every_example_does_not_fool_it(rate, share):
    """No difference at all; a z-test is fooled in more than a fifth of the same audits."""
    rng = np.random.default_rng(31)
    audits, fooled, z_fooled = 60, 0, 0
    for _ in range(audits):
        cost, membership = stream(rng, 800, rate, rate, share)
        audit = SequentialAudit(gamma=share)
        fooled += any(audit.add(price, group=side) for price, side in zip(cost, membership, strict=True))
        n_a, n_b = (np.cumsum(membership == side) for side in (1, -1))
        p_a, p_b = (np.cumsum(cost * (membership == side)) / np.maximum(n, 1) for side, n in ((1, n_a), (-1, n_b)))
        error = np.sqrt(p_a * (1 - p_a) / np.maximum(n_a, 1) + p_b * (1 - p_b) / np.maximum(n_b, 1))
        late = np.arange(800) >= 100
        z_fooled += bool(np.any(late & (np.abs(p_a - p_b) > 1.96 * error)))
    assert fooled <= stats.binom.ppf(0.999, audits, 0.05)
    if rate == 0.3:
        assert z_fooled > 0.2 * audits


@pytest.mark.slow
def test_the_sequence_contains_the_truth_at_all_times():
    rng = np.random.default_rng(32)
    runs, missed = 30, 0
    for _ in range(runs):
        cost, membership = stream(rng, 600, 0.35, 0.2)
        table = confidence_sequence(cost, membership, at=[50, 200, 400, 600])
        missed += bool(((table["low"] > 0.15) | (table["high"] < 0.15)).any())
    assert missed <= stats.binom.ppf(0.999, runs, 0.05)


# --- it does stop, and says the same however it is fed ---


def test_a_real_difference_is_found_with_less_than_the_fixed_number():
    rng = np.random.default_rng(33)
    stops = []
    for _ in range(10):
        audit = SequentialAudit()
        for price, side in zip(*stream(rng, 5000, 0.4, 0.2), strict=True):
            if audit.add(price, group=side):
                break
        stops.append(audit.n)
        assert audit.interval().low > 0
    assert np.median(stops) < 400  # a fixed Hoeffding interval would need 185 even if the difference were met exactly


def test_stream_and_table_agree():
    cost, membership = stream(np.random.default_rng(34), 500, 0.6, 0.3)
    table = confidence_sequence(cost, membership, at=[1, 2, 3, 37, 120, 500])
    assert table["n"].tolist() == [1, 2, 3, 37, 120, 500]
    for n, estimate in zip(table["n"], table["estimate"], strict=True):
        sides = [cost[:n][membership[:n] == side] for side in (1, -1)]
        expected = sides[0].mean() - sides[1].mean() if all(map(len, sides)) else np.nan
        assert estimate == pytest.approx(expected, nan_ok=True)
    audit = SequentialAudit()
    stopped = [audit.add(price, group=side) for price, side in zip(cost, membership, strict=True)]
    found = audit.interval()
    assert table.iloc[-1][["estimate", "low", "high"]].tolist() == pytest.approx(
        [found.estimate, found.low, found.high]
    )
    assert stopped[-1] == found.excludes(0)
    assert (np.diff(table["low"]) >= 0).all()
    assert (np.diff(table["high"]) <= 0).all()


def test_the_end_is_where_the_money_reaches_its_goal():
    values = np.random.default_rng(35).beta(4, 2, 80)
    (low,), (high,) = sequential.mean_sequence(values, [80], alpha=0.1)
    assert wealth(values, low).max() == pytest.approx(20, rel=1e-3)
    assert wealth(1 - values, 1 - high).max() == pytest.approx(20, rel=1e-3)


def test_blocks_suit_a_small_group():
    rng = np.random.default_rng(36)
    cost, membership = stream(rng, 4000, 0.3, 0.3, share=0.1)
    narrow, wide = (
        confidence_sequence(cost, membership, gamma=gamma, at=[4000])["matched"].item() for gamma in (0.1, 0.5)
    )
    assert abs(narrow - wide) < 0.15 * wide  # as many matches, each with nine of the others
    widths = [
        float(np.diff(confidence_sequence(cost, membership, gamma=gamma, at=[4000])[["low", "high"]])[0, 0])
        for gamma in (0.1, 0.5)
    ]
    assert widths[0] < widths[1]


def test_swapping_the_groups_mirrors_the_sequence():
    cost, membership = stream(np.random.default_rng(38), 400, 0.6, 0.2, share=0.2)
    there = confidence_sequence(cost, membership, gamma=0.2)
    back = confidence_sequence(cost, -membership, gamma=0.8)
    np.testing.assert_allclose(back[["low", "high"]], -there[["high", "low"]], atol=1e-6)
    assert back["matched"].tolist() == there["matched"].tolist()


def test_costs_in_other_units():
    cost, membership = stream(np.random.default_rng(37), 300, 0.6, 0.3)
    one = confidence_sequence(cost, membership, at=[300])
    ten = confidence_sequence(10 * cost, membership, at=[300], max_cost=10)
    np.testing.assert_allclose(10 * one[["estimate", "low", "high"]], ten[["estimate", "low", "high"]])


def test_before_the_first_example_there_is_nothing_to_say():
    audit = SequentialAudit()
    assert np.isnan(audit.interval().estimate)
    audit.add(1, group=1)
    audit.add(1, group=0)
    assert audit.n == 1
    assert np.isnan(audit.interval().estimate)
    audit.add(0, group=-1)
    assert (audit.interval().low, audit.interval().high) == pytest.approx((-1, 1), abs=0.01)
    assert not audit.excludes_zero


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SequentialAudit(gamma=0), r"gamma must be in \(0, 1\), found 0"),
        (lambda: SequentialAudit(confidence=1), "confidence must be in"),
        (lambda: SequentialAudit(max_cost=0), "max_cost must be positive"),
        (lambda: SequentialAudit().add(0, group=2), "group must be .1, -1 or 0, found 2"),
        (lambda: SequentialAudit().add(2, group=1), r"cost must be in \[0, max_cost=1\], found 2"),
        (lambda: SequentialAudit().add(float("nan"), group=1), "cost must be in"),
        (lambda: confidence_sequence([1, 0], [1]), "cost and membership must have one length"),
        (lambda: confidence_sequence([1, 0], [1, -1], at=[3]), r"at must be in \[1, 2\], found 3"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
