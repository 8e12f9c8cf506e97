"""Annotating a subset: coverage by simulation, the worth of guesses, small cells."""

import re

import numpy as np
import pytest
from scipy import stats

from fairlib import disparity_interval
from fairlib.intervals import annotation


def population(rng, n, rate_a=0.25, rate_b=0.20, *, share=0.4, accuracy=0.9):
    """Return cost, guess and true group of n examples."""
    group = np.where(rng.random(n) < share, 1.0, -1.0)
    cost = (rng.random(n) < np.where(group == 1, rate_a, rate_b)).astype(float)
    right = rng.random(n) < accuracy
    guess = np.where(right, group == 1, group != 1).astype(float)
    return cost, guess, group


def annotate(rng, group, n):
    shown = np.full(len(group), np.nan)
    chosen = rng.choice(len(group), n, replace=False)
    shown[chosen] = group[chosen]
    return shown


# --- prediction-powered ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accuracy", "share"), [(0.9, 0.4), (0.5, 0.5), (0.75, 0.15), (1.0, 0.5)]
)
def test_prediction_powered_covers(accuracy, share):
    rng = np.random.default_rng(41)
    runs, missed = 150, 0
    for _ in range(runs):
        cost, guess, group = population(rng, 4000, share=share, accuracy=accuracy)
        found = annotation.prediction_powered(cost, guess, annotate(rng, group, 900))
        missed += 0.05 not in found
    assert missed <= stats.binom.ppf(0.999, runs, 0.05)


def mean_half_widths(accuracy, runs=30, n=500):
    rng = np.random.default_rng(42)
    powered, alone = [], []
    for _ in range(runs):
        cost, guess, group = population(rng, 20_000, share=0.5, accuracy=accuracy)
        shown = annotate(rng, group, n)
        powered.append(annotation.prediction_powered(cost, guess, shown).half_width)
        alone.append(
            disparity_interval(
                cost[shown == 1], cost[shown == -1], method="welch"
            ).half_width
        )
    return np.mean(powered), np.mean(alone)


def test_good_guesses_more_than_double_the_annotations_and_bad_ones_cost_nothing():
    powered, alone = mean_half_widths(0.9)
    assert 2.2 < (alone / powered) ** 2 < 3.0
    powered, alone = mean_half_widths(0.5)
    assert powered < 1.02 * alone


def test_guesses_in_the_place_of_groups_shrink_the_difference():
    rng = np.random.default_rng(43)
    cost, guess, group = population(rng, 400_000, share=0.3)
    plugged_in = cost[guess == 1].mean() - cost[guess == 0].mean()
    assert 0.030 < plugged_in < 0.047
    found = annotation.prediction_powered(cost, guess, annotate(rng, group, 40_000))
    assert found.estimate == pytest.approx(0.05, abs=0.01)
    assert plugged_in not in found


def test_with_perfect_guesses_the_rest_counts_in_full():
    rng = np.random.default_rng(44)
    cost, guess, group = population(rng, 5000, accuracy=1.0)
    found = annotation.prediction_powered(cost, guess, annotate(rng, group, 500))
    everybody = disparity_interval(cost[group == 1], cost[group == -1], method="welch")
    assert found.half_width == pytest.approx(everybody.half_width, rel=0.02)


def test_gradient_by_differences():
    means = np.array([0.08, 0.4, 0.1, 0.55])

    def difference(means):
        return means[0] / means[1] - means[2] / means[3]

    numerical = [
        (difference(means + step) - difference(means - step)) / 2e-6
        for step in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(annotation._gradient(means), numerical, rtol=1e-6)


def test_with_small_cells_it_is_undefined_and_says_why():
    rng = np.random.default_rng(45)
    cost, guess, group = population(rng, 3000, rate_a=0.05, rate_b=0.05)
    shown = annotate(rng, group, 60)
    found = annotation.prediction_powered(cost, guess, shown)
    assert re.match(
        r"prediction powered: only . annotated in . with an error, fewer than 10",
        found.method,
    )
    assert np.isnan([found.low, found.high]).all() and not np.isnan(found.estimate)
    enough = annotation.prediction_powered(cost, guess, annotate(rng, group, 2000))
    assert enough.method == "prediction powered" and enough.low < enough.high


# --- strata ---


def strata_of(cost, guess):
    return 2 * cost + guess


def annotate_strata(rng, cost, guess, group, n):
    table = annotation.allocate(n, cost, guess)
    shown = np.full(len(group), np.nan)
    for row in table.itertuples():
        members = np.flatnonzero((cost > 0) == row.error)
        members = members[(guess[members] >= 0.5) == (row.guess == "A")]
        chosen = rng.choice(members, row.annotate, replace=False)
        shown[chosen] = group[chosen]
    return shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "accuracy"), [((0.25, 0.2), 0.9), ((0.1, 0.05), 0.7)]
)
def test_stratified_covers_what_full_annotation_would_give(rates, accuracy):
    rng = np.random.default_rng(46)
    cost, guess, group = population(rng, 5000, *rates, accuracy=accuracy)
    truth = cost[group == 1].mean() - cost[group == -1].mean()
    runs, missed = 50, 0
    for _ in range(runs):
        shown = annotate_strata(rng, cost, guess, group, 500)
        missed += truth not in annotation.stratified(
            cost, shown, strata_of(cost, guess)
        )
    assert missed <= stats.binom.ppf(0.999, runs, 0.05)


def test_choosing_by_error_beats_chance():
    rng = np.random.default_rng(47)
    cost, guess, group = population(rng, 20_000, 0.1, 0.05)
    by_error = annotation.stratified(
        cost, annotate_strata(rng, cost, guess, group, 600), strata_of(cost, guess)
    )
    by_chance = annotation.prediction_powered(cost, guess, annotate(rng, group, 600))
    assert by_error.half_width < 0.7 * by_chance.half_width


def test_annotating_all_leaves_no_doubt():
    rng = np.random.default_rng(48)
    cost, guess, group = population(rng, 500)
    found = annotation.stratified(cost, group, strata_of(cost, guess))
    assert found.low == pytest.approx(found.high)
    assert found.estimate == pytest.approx(
        cost[group == 1].mean() - cost[group == -1].mean()
    )


def test_strata_with_too_few_of_either_group_are_undefined_and_say_why():
    rng = np.random.default_rng(49)
    cost, guess, group = population(rng, 400, 0.05, 0.02)
    found = annotation.stratified(
        cost, annotate_strata(rng, cost, guess, group, 60), strata_of(cost, guess)
    )
    assert np.isnan(found.low) and "fewer than 10" in found.method
    rng = np.random.default_rng(52)
    cost, guess, group = population(rng, 4000, 0.3, 0.15, accuracy=0.995)
    found = annotation.stratified(
        cost, annotate_strata(rng, cost, guess, group, 300), strata_of(cost, guess)
    )
    assert np.isnan(found.low) and re.search(
        "all [0-9]+ annotated in stratum .* are of one group", found.method
    )
    assert not found.excludes(0)


def test_allocation_spends_the_budget_where_it_matters():
    rng = np.random.default_rng(51)
    cost, guess, _ = population(rng, 10_000, 0.1, 0.05)
    probability = np.where(guess == 1, 0.85, 0.15)
    table = annotation.allocate(400, cost, probability)
    assert table["examples"].sum() == 10_000
    assert 390 <= table["annotate"].sum() <= 400
    rates = (table["annotate"] / table["examples"]).groupby(table["error"]).mean()
    assert rates[True] > 5 * rates[False]
    everybody = annotation.allocate(10_000, cost, probability)
    assert (everybody["annotate"] == everybody["examples"]).all()
    most = annotation.allocate(9000, cost, probability)
    assert (most["annotate"] <= most["examples"]).all()
    assert most["annotate"].sum() == pytest.approx(9000, abs=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicted": [0.2, 0.4]}, "predicted must be a probability"),
        ({"predicted": [0.2, 1.4, 0, 1]}, "predicted must be a probability"),
        (
            {"group": [1, -1, 1, -1]},
            "group must be NaN where it is not annotated, found 0 such",
        ),
        (
            {"group": [1, np.nan, 1, np.nan]},
            r"group must name both groups, \+1 and -1, found 0\.0, 1\.0",
        ),
        ({"group": [1, 2, np.nan, -1]}, "group must be -1, 0 or .1, found 2"),
        ({"cost": [0, 2, 0, 1]}, r"cost must be in \[0, max_cost=1\]"),
        ({"cost": [0, 1]}, "cost and group must have one length"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {
        "cost": [0, 1, 0, 1],
        "predicted": [0, 1, 0.5, 0.2],
        "group": [1, -1, np.nan, np.nan],
    } | change
    with pytest.raises(ValueError, match=message):
        annotation.prediction_powered(**arguments)


def test_bad_strata_and_budgets_are_named():
    with pytest.raises(
        ValueError, match="at least two annotated examples everywhere, found fewer in y"
    ):
        annotation.stratified([0, 1, 0, 1], [1, -1, 1, np.nan], ["x", "x", "y", "y"])
    with pytest.raises(
        ValueError, match=r"group must be \+1 or -1 where it is annotated, found 0"
    ):
        annotation.stratified([0, 1, 0], [1, -1, 0], ["x", "x", "x"])
    with pytest.raises(ValueError, match=r"annotations must be in \[1, 3\], found 4"):
        annotation.allocate(4, [0, 1, 0], [0.1, 0.2, 0.9])
    with pytest.raises(
        ValueError, match="stratum must be known for all 4 examples, found 3"
    ):
        annotation.stratified([0, 1, 0, 1], [1, -1, 1, -1], ["x", "x", "y", None])
    with pytest.raises(
        ValueError, match="predicted must be a probability .* found nan"
    ):
        annotation.allocate(2, [0, 1, 0], [0.1, np.nan, 0.9])
    with pytest.raises(ValueError, match="where it is not annotated, found 1 such"):
        annotation.prediction_powered(
            [0, 1, 0, 1], [0, 1, 0.5, 0.2], [1, -1, np.nan, -1]
        )


def test_without_errors_the_budget_goes_with_the_sizes():
    table = annotation.allocate(30, np.zeros(100), np.repeat([0.9, 0.1], [80, 20]))
    assert table["annotate"].tolist() == [24, 6]
