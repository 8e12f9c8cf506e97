"""The confidence sequence: valid at all times, however often one looks; it stops."""

import itertools

import numpy as np
import pytest
from scipy import stats

from fairlib.intervals import sequential
from fairlib.intervals.sequential import confidence_sequence


def stream(rng, n, rate_a, rate_b, share=0.5):
    membership = np.where(rng.random(n) < share, 1, -1)
    return (rng.random(n) < np.where(membership == 1, rate_a, rate_b)).astype(
        float
    ), membership


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
    """All sequences of 12 zeros and ones: ever owning 1/α has probability <= α."""
    z = np.array(list(itertools.product([0.0, 1.0], repeat=12)))
    probability = np.prod(np.where(z == 1, rate, 1 - rate), axis=1)
    most = np.array([wealth(row, rate).max() for row in z])
    for level in (1.5, 2, 5, 10, 40):
        assert probability[most >= level].sum() <= 1 / level + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "share"), [(0.3, 0.5), (0.02, 0.5), (0.5, 0.15)])
def test_looking_after_every_example_does_not_fool_it(rate, share):
    """A z-test is fooled in more than a fifth of these audits without difference."""
    rng = np.random.default_rng(31)
    audits, fooled, z_fooled = 100, 0, 0
    for _ in range(audits):
        cost, membership = stream(rng, 800, rate, rate, share)
        last = confidence_sequence(cost, membership, gamma=share, at=[800])
        fooled += bool((last["low"] > 0).item() or (last["high"] < 0).item())
        n_a, n_b = (np.cumsum(membership == side) for side in (1, -1))
        p_a, p_b = (
            np.cumsum(cost * (membership == side)) / np.maximum(n, 1)
            for side, n in ((1, n_a), (-1, n_b))
        )
        error = np.sqrt(
            p_a * (1 - p_a) / np.maximum(n_a, 1) + p_b * (1 - p_b) / np.maximum(n_b, 1)
        )
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


# --- it does stop, and says the same however often one looks ---


def test_a_real_difference_is_found_before_long():
    """By 400 examples, 87 % have stopped; one Hoeffding interval needs 185 or more."""
    rng = np.random.default_rng(33)
    last = [
        confidence_sequence(*stream(rng, 400, 0.4, 0.2), at=[400]).iloc[0]
        for _ in range(100)
    ]
    assert not any(row["high"] < 0 for row in last)
    assert np.mean([row["low"] > 0 for row in last]) == pytest.approx(0.87, abs=0.12)


def test_a_row_depends_on_nothing_that_comes_later_or_on_other_looks():
    cost, membership = stream(np.random.default_rng(34), 500, 0.6, 0.3)
    table = confidence_sequence(cost, membership, at=[1, 2, 3, 37, 120, 500])
    assert table["n"].tolist() == [1, 2, 3, 37, 120, 500]
    for row in table.itertuples():
        sides = [cost[: row.n][membership[: row.n] == side] for side in (1, -1)]
        both = all(map(len, sides))
        assert row.estimate == pytest.approx(
            sides[0].mean() - sides[1].mean() if both else np.nan, nan_ok=True
        )
        if both:
            alone = confidence_sequence(
                cost[: row.n], membership[: row.n], at=[row.n]
            ).iloc[0]
            assert (alone["estimate"], alone["matched"]) == (row.estimate, row.matched)
            assert (alone["low"], alone["high"]) == pytest.approx(
                (row.low, row.high), abs=1e-6
            )
    assert (np.diff(table["low"]) >= 0).all()
    assert (np.diff(table["high"]) <= 0).all()
    assert table["low"].iloc[-1] > 0  # else nothing had been said


def test_the_end_is_where_the_money_reaches_its_goal():
    values = np.random.default_rng(35).beta(4, 2, 80)
    (low,), (high,) = sequential.mean_sequence(values, [80], alpha=0.1)
    assert wealth(values, low).max() == pytest.approx(20, rel=1e-3)
    assert wealth(1 - values, 1 - high).max() == pytest.approx(20, rel=1e-3)


def test_blocks_suit_a_small_group():
    rng = np.random.default_rng(36)
    cost, membership = stream(rng, 4000, 0.3, 0.3, share=0.1)
    narrow, wide = (
        confidence_sequence(cost, membership, gamma=gamma, at=[4000])["matched"].item()
        for gamma in (0.1, 0.5)
    )
    # As many matches, each with nine of the others
    assert abs(narrow - wide) < 0.15 * wide
    widths = [
        float(
            np.diff(
                confidence_sequence(cost, membership, gamma=gamma, at=[4000])[
                    ["low", "high"]
                ]
            )[0, 0]
        )
        for gamma in (0.1, 0.5)
    ]
    assert widths[0] < widths[1]


def test_swapping_the_groups_mirrors_the_sequence():
    cost, membership = stream(np.random.default_rng(38), 400, 0.6, 0.2, share=0.2)
    there = confidence_sequence(cost, membership, gamma=0.2)
    back = confidence_sequence(cost, -membership, gamma=0.8)
    np.testing.assert_allclose(
        back[["low", "high"]], -there[["high", "low"]], atol=1e-6
    )
    assert back["matched"].tolist() == there["matched"].tolist()


def test_costs_in_other_units():
    cost, membership = stream(np.random.default_rng(37), 300, 0.6, 0.3)
    one = confidence_sequence(cost, membership, at=[300])
    ten = confidence_sequence(10 * cost, membership, at=[300], max_cost=10)
    np.testing.assert_allclose(
        10 * one[["estimate", "low", "high"]], ten[["estimate", "low", "high"]]
    )


def test_before_both_groups_have_examples_there_is_nothing_to_say():
    table = confidence_sequence([1, 1, 0], [1, 0, -1], at=[1, 2, 3])
    assert np.isnan(table["estimate"][:2]).all() and table["estimate"][2] == 1
    assert table["matched"].tolist() == [0, 0, 1]
    assert table[["low", "high"]].to_numpy() == pytest.approx(
        np.tile([-1, 1], (3, 1)), abs=0.01
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: confidence_sequence([1, 0], [1, -1], gamma=0),
            r"gamma must be in \(0, 1\), found 0",
        ),
        (
            lambda: confidence_sequence([1, 0], [1, -1], confidence=1),
            "confidence must be in",
        ),
        (
            lambda: confidence_sequence([1, 0], [1, -1], max_cost=0),
            "max_cost must be positive",
        ),
        (
            lambda: confidence_sequence([1, 0], [1, 2]),
            "membership must be -1, 0 or .1, found 2",
        ),
        (
            lambda: confidence_sequence([1, 2], [1, -1]),
            r"cost must be in \[0, max_cost=1\], found 2",
        ),
        (
            lambda: confidence_sequence([1, 0], [1, 1]),
            "membership must name both groups",
        ),
        (
            lambda: confidence_sequence([1, 0], [1]),
            "cost and membership must have one length",
        ),
        (
            lambda: confidence_sequence([1, 0], [1, -1], at=[3]),
            r"at must be in \[1, 2\], found 3",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
