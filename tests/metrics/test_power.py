"""The smallest effect is where the power is; what cannot be found is said to be so."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import fairlib
from fairlib.metrics import draws, power
from fairlib.metrics.examples import Columns, read
from fairlib.metrics.table2 import METRICS


def names(sizes, *, sources=4, sd=0.05, seed=0, middle=0.5):
    """Return a suite in which terms differ by `sd`, and nothing else does."""
    rng = np.random.default_rng(seed)
    group_of_term = np.repeat(np.arange(len(sizes)), sizes)
    source, term = np.indices((sources, len(group_of_term))).reshape(2, -1)
    frame = pd.DataFrame({"source": source, "term": term})
    frame["group"] = group_of_term[term]
    frame["label"] = source % 2
    peculiar = rng.normal(0, sd, len(group_of_term))
    frame["p_1"] = np.clip(middle + peculiar[term], 0, 1)
    frame["p_0"] = 1 - frame["p_1"]
    return frame.assign(prediction=(frame["p_1"] > 0.5).astype(int))


def effect_of(frame, metric="AvgScoreDifference", **options):
    """Return the only row of the result."""
    return power.smallest_effect(frame, metric, classes=1, **options).iloc[0]


def power_of_t_test(effect, sd, terms):
    """Return the power of a t test of two groups with so many terms each, at 5 %."""
    freedom = 2 * terms - 2
    shift = effect / sd * math.sqrt(terms / 2)
    edge = stats.t.ppf(0.975, freedom)
    return stats.nct.sf(edge, freedom, shift)  # nothing is in the other tail


@pytest.mark.slow
def test_two_groups_need_the_effect_that_a_t_test_needs():
    """An exchange of many normal terms has the power of a t test."""
    terms = 20
    frame = names([terms, terms], seed=3)
    by_term = frame.groupby("term")["p_1"].first()
    expected = optimize.brentq(
        lambda effect: power_of_t_test(effect, by_term.std(), terms) - 0.8, 0.01, 0.2
    )
    row = effect_of(frame, worlds=300)
    assert row["low"] <= expected * 1.03  # bisection stops 3 % above the turning point
    assert row["high"] >= expected
    assert row["effect"] == pytest.approx(expected, rel=0.12)
    assert (row["high"] - row["low"]) / row["effect"] < 0.25


def test_the_power_at_the_effect_is_the_one_asked_for():
    """Brute force: other worlds, other exchanges, and nothing of fairlib but p."""
    frame = names([6, 9], seed=1)
    effect = effect_of(frame, worlds=200)["effect"]
    value_of_term = frame.groupby("term")["p_1"].first().to_numpy()
    in_second = np.arange(15) >= 6

    rng = np.random.default_rng(99)
    finds = []
    for _ in range(1500):
        world = rng.permutation(in_second)
        values = np.minimum(value_of_term + effect * world, 1)
        worlds = np.vstack([world, rng.permuted(np.tile(world, (99, 1)), axis=1)])
        gaps = np.abs(worlds @ values / 9 - ~worlds @ values / 6)
        finds.append(np.mean(gaps >= gaps[0] - 1e-12) <= 0.05)
    # Errors of 200 worlds and of 1,500, three standard errors of both together.
    assert np.mean(finds) == pytest.approx(
        0.8, abs=3 * math.sqrt(0.16 / 200 + 0.16 / 1500)
    )


@pytest.mark.slow
def test_more_power_needs_a_larger_effect_and_a_strict_level_too():
    frame = names([8, 8, 8], seed=2)
    metric = "AvgGF"
    half, most = (effect_of(frame, metric, power=p)["effect"] for p in (0.5, 0.9))
    strict = effect_of(frame, metric, power=0.5, level=0.01)["effect"]
    assert half < most
    assert half < strict


def test_terms_of_other_kinds_add_no_noise():
    """Nouns and adjectives fill different templates, and are exchanged apart."""
    nouns = names([5, 10], seed=4, middle=0.2)
    adjectives = names([10, 5], seed=5, middle=0.7)
    adjectives["source"] += 4
    adjectives["term"] += 100
    both = pd.concat([nouns, adjectives], ignore_index=True)
    alone = names([15, 15], seed=4, middle=0.2)
    together, apart = (effect_of(frame)["effect"] for frame in (both, alone))
    assert together < 1.5 * apart
    assert together < 0.1  # the kinds are half a unit apart


@pytest.mark.parametrize(
    "sizes", [[1, 1, 1], [1, 2, 2], [2, 2], [1, 3, 1], [2, 2, 2], [1, 1, 3, 1]]
)
def test_different_worlds_are_those_in_which_a_metric_differs(sizes):
    examples = read(names(sizes), Columns(), classes=1)
    rows = set()
    of_group = set()
    for order in set(itertools.permutations(examples.term_group.tolist())):
        heaps = [
            frozenset(np.flatnonzero(np.array(order) == group).tolist())
            for group in range(len(sizes))
        ]
        rows.add(frozenset(heaps))
        of_group.add((heaps[0], frozenset(heaps[1:])))
    assert draws.different_worlds(examples) == len(rows)
    assert draws.different_worlds(examples, apart=0) == len(of_group)


@pytest.mark.parametrize(("sizes", "ways"), [([1, 1, 1, 1], 1), ([2, 2], 3)])
def test_groups_that_no_exchange_can_tell_apart_have_no_effect(sizes, ways):
    table = power.smallest_effect(names(sizes), "AvgGF", classes=1)
    assert table[["effect", "low", "high", "moves"]].isna().all(axis=None)
    assert table.attrs["undefined"] == [
        {
            "metric": "AvgGF",
            "class": 1,
            "group": "accumulated",
            "reason": f"the terms can be shared out in only {ways} way(s): "
            f"no p-value is below {1 / ways:.2g}",
        }
    ]
    p = fairlib.measure(names(sizes), "AvgGF", classes=1, replicates=99)["p"].iloc[-1]
    assert p >= 1 / ways - 0.15


def test_an_effect_that_cannot_be_seen_is_said_to_be_so():
    """All probabilities are at 1: nothing can be added."""
    table = power.smallest_effect(
        names([5, 5], middle=2, sd=0), "AvgGF", classes=1, worlds=20
    )
    assert np.isnan(table["effect"].item())
    (note,) = table.attrs["undefined"]
    assert note["reason"] == (
        "even an effect of 1 (probability) is found in only 0% of the worlds"
    )


def design_of(scale):
    """Return a design in which group 1 gets the effect."""
    return power.Design(
        scale=scale,
        affected=(1,),
        tested="accumulated",
        level=0.05,
        power=0.8,
        worlds=1,
        exchanges=19,
    )


def shifted(frame, scale, effect):
    """Return the examples and what an effect on all of group 1 makes of them."""
    examples = read(frame, Columns(), classes=1)
    design = design_of(scale)
    test = power._Test([examples], power.Question("AvgGF", METRICS["AvgGF"], 1), design)
    moved = examples.group == 1
    chance = np.random.default_rng(0).random(len(examples))
    return examples, test._with_effect(examples, moved, effect, chance)


def test_an_effect_on_probabilities_is_cut_off_at_one_and_moves_predictions():
    frame = names([1, 3], sources=2, sd=0)
    frame["p_1"] = np.tile([0.4, 0.3, 0.48, 0.98], 2)
    frame["p_0"] = 0.75 * (1 - frame["p_1"])
    frame["p_2"] = 0.25 * (1 - frame["p_1"])
    frame["prediction"] = frame[["p_0", "p_1", "p_2"]].to_numpy().argmax(axis=1)
    before, after = shifted(frame, "probability", 0.05)
    assert after.probabilities[:, 1] == pytest.approx(
        np.where(before.group == 1, np.minimum(before.probabilities[:, 1] + 0.05, 1), 0)
        + np.where(before.group == 1, 0, before.probabilities[:, 1])
    )
    assert after.probabilities.sum(axis=1) == pytest.approx(1)
    left = after.probabilities[:, 1] < 1
    assert after.probabilities[left, 2] * 3 == pytest.approx(
        after.probabilities[left, 0]
    )
    assert (after.prediction == after.probabilities.argmax(axis=1)).all()


def test_what_an_effect_moves_is_the_mean_after_the_cut():
    frame = names([8, 8], sources=2, sd=0.01)
    frame.loc[frame["source"] == 0, "p_1"] = 1.0
    frame["p_0"] = 1 - frame["p_1"]
    row = effect_of(frame, "AvgGF", worlds=20)
    moved = np.minimum(frame["p_1"] + row["effect"], 1) - frame["p_1"]
    assert row["moves"] == pytest.approx(moved.mean())
    assert row["moves"] == pytest.approx(row["effect"] / 2)


def test_what_errors_move_is_what_was_right():
    examples = read(names([3, 3]), Columns(), classes=1)
    question = power.Question("TPRGap", METRICS["TPRGap"], 1)
    right = (examples.prediction == examples.label).mean()
    assert 0 < right < 1
    moves = power.mean_move([examples], question, design_of("errors"), 0.3)
    assert moves == pytest.approx(0.3 * right)


def test_an_effect_on_log_odds_is_one():
    before, after = shifted(names([2, 2]), "logit", 0.7)
    odds = [
        run.probabilities[:, 1] / run.probabilities[:, 0] for run in (before, after)
    ]
    assert np.log(odds[1] / odds[0]) == pytest.approx(0.7 * (before.group == 1))


def test_errors_make_right_predictions_wrong_at_their_rate():
    frame = names([1, 4000], sources=2, seed=1)
    frame["prediction"] = frame["label"]
    before, after = shifted(frame.drop(columns=["p_0", "p_1"]), "errors", 0.2)
    assert (before.prediction == before.label).all()
    wrong = after.prediction != after.label
    affected = after.group == 1
    assert not wrong[~affected].any()
    assert wrong[affected].mean() == pytest.approx(0.2, abs=0.015)


def test_errors_that_are_already_there_stay():
    frame = names([2, 2]).drop(columns=["p_0", "p_1"])
    frame["prediction"] = 1 - frame["label"]
    before, after = shifted(frame, "errors", 1.0)
    assert (before.prediction == after.prediction).all()


def test_errors_are_found_at_an_effect_that_two_proportions_need():
    """With terms alike, an exchange of terms compares two shares of errors."""
    rng = np.random.default_rng(0)
    frame = names([25, 25], sources=8, sd=0).drop(columns=["p_0", "p_1"])
    wrong = rng.random(len(frame)) < 0.2
    frame["prediction"] = np.where(wrong, 1 - frame["label"], frame["label"])
    row = effect_of(frame, "AccuracyDifference", scale="errors", worlds=200)

    def least(effect):
        first, second = 0.2, 0.2 + 0.8 * effect
        sd = math.sqrt((first * 0.8 + second * (1 - second)) / 200)
        return stats.norm.sf(1.96 - (second - first) / sd) - 0.8

    assert row["effect"] == pytest.approx(optimize.brentq(least, 0.05, 0.4), rel=0.2)


def test_the_tested_group_gets_the_effect_unless_others_are_named():
    frame = names([4, 4, 4, 4])
    table = power.smallest_effect(frame, "AvgGF", classes=1, worlds=10)
    assert table.attrs["affected"] == [1, 3]
    one = power.smallest_effect(frame, "AvgGF", classes=1, worlds=10, tested=2)
    assert one.attrs["affected"] == [2]
    assert one["group"].tolist() == [2]
    named = power.smallest_effect(frame, "AvgGF", classes=1, worlds=10, affected=[0, 3])
    assert named.attrs["affected"] == [0, 3]


@pytest.mark.slow
def test_runs_are_tested_by_their_mean():
    """Two equal runs are as one; runs whose noise differs hide less."""
    frames = [names([8, 8], seed=seed) for seed in (0, 1)]
    runs = [read(frame, Columns(), classes=1) for frame in frames]
    question = power.Question("AvgGF", METRICS["AvgGF"], 1)
    design = power.Design(
        scale="probability",
        affected=(1,),
        tested="accumulated",
        level=0.05,
        power=0.8,
        worlds=60,
        exchanges=99,
    )
    one, twice, two = (
        power.search(several, question, design=design, rng=0)
        for several in (runs[:1], runs[:1] * 2, runs)
    )
    assert one == twice
    assert two.effect < one.effect


def test_the_seed_decides_and_nothing_else():
    frame = names([6, 6])
    first, again, other = (
        effect_of(frame, worlds=20, rng=seed)["effect"] for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "share"}, "scale must be one of 'probability', 'logit', 'errors'"),
        ({"level": 0}, "level must be between 0 and 1, found 0"),
        ({"power": 80}, "power must be between 0 and 1, found 80"),
        ({"worlds": 0}, "worlds must be a whole number of at least 1, found 0"),
        ({"exchanges": 1.5}, "exchanges must be a whole number"),
        ({"level": 0.001}, "exchanges must be at least 999 for a p-value of 0.001"),
        ({"tested": 7}, "tested must be 'accumulated' or one of the groups 0, 1"),
        ({"affected": [0, 1]}, "affected must be some but not all of the groups 0, 1"),
        ({"affected": 5}, "affected must be some but not all"),
        ({"scale": "errors"}, "AvgGF looks at probabilities"),
    ],
)
def test_a_bad_choice_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        power.smallest_effect(names([3, 3]), "AvgGF", classes=1, **options)


def test_a_table_without_sources_is_refused():
    frame = names([3, 3]).drop(columns="source")
    with pytest.raises(ValueError, match="at least two sources are needed"):
        power.smallest_effect(frame, "AvgGF", classes=1)


def test_a_metric_of_all_classes_wants_errors():
    with pytest.raises(ValueError, match="needs a measured class, but Accuracy"):
        power.smallest_effect(names([3, 3]), "AccuracyDifference")


def test_a_row_that_a_metric_lacks_is_refused():
    vector = replace(METRICS["AvgGF"], kind="VBCM", normalizer="")
    with pytest.raises(ValueError, match="tested: mine has no row 'accumulated'"):
        power.smallest_effect(names([3, 3]), {"mine": vector}, classes=1, level=0.2)
