"""Scores and their cells: by hand, against scikit-learn, and by repeating rows."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from toy_predictions import suite

from fairlib.metrics import comparisons, scores
from fairlib.metrics.cells import Cells, background, divide
from fairlib.metrics.draws import Draws
from fairlib.metrics.evaluation import combinations
from fairlib.metrics.examples import read


def cells(frame, target="pos", by_unit=False, draws=None):
    examples = read(frame)
    target_code = examples.classes.index(target)
    return Cells(examples, target_code, by_unit=by_unit, draws=draws)


def test_rates_by_hand():
    """Group a: 2 hits, 1 miss, 1 false alarm, 1 true rejection.

    Group b: 1 miss, 2 false alarms.
    """
    frame = pd.DataFrame(
        {
            "group": list("aaaaabbb"),
            "label": [1, 1, 1, 0, 0, 1, 0, 0],
            "prediction": [1, 1, 0, 1, 0, 0, 1, 1],
        }
    )
    some = cells(frame, 1)
    expected = {
        scores.true_positive_rate: (2 / 3, 0),
        scores.recall: (2 / 3, 0),
        scores.false_negative_rate: (1 / 3, 1),
        scores.false_positive_rate: (1 / 2, 1),
        scores.true_negative_rate: (1 / 2, 0),
        scores.f1: (4 / 6, 0),
        scores.accuracy: (3 / 5, 0),
        scores.attachment: (3 / 5, 0),
        scores.predicted_rate: (3 / 5, 2 / 3),
    }
    for score, values in expected.items():
        assert score(some).ravel() == pytest.approx(values), score.__name__
    others = background(some, "complement")
    assert scores.f1(others).ravel() == pytest.approx(
        [0, 4 / 6]
    )  # with two groups each is the other's background
    assert scores.accuracy(background(some, "all")).ravel() == pytest.approx([3 / 8])


@pytest.mark.parametrize("target", ["neg", "neu", "pos"])
def test_rates_against_scikit_learn(target):
    frame = suite(sources=15, seed=1)
    some = cells(frame, target)
    for index, (_, part) in enumerate(frame.groupby("group")):
        label, prediction = part["label"] == target, part["prediction"] == target
        assert scores.recall(some)[0, 0, index] == pytest.approx(
            sk.recall_score(label, prediction)
        )
        assert scores.f1(some)[0, 0, index] == pytest.approx(
            sk.f1_score(label, prediction)
        )
        assert scores.mean_probability(some)[0, 0, index] == pytest.approx(
            part[f"p_{target}"].mean()
        )


def test_scores_of_every_source():
    frame = suite(sources=4, seed=2)
    found = scores.mean_probability(cells(frame, by_unit=True))[0]
    expected = frame.pivot_table(index="source", columns="group", values="p_pos")
    np.testing.assert_allclose(found, expected.to_numpy())


def test_nothing_divided_by_nothing_is_not_a_number():
    assert np.isnan(divide(np.zeros(1), np.zeros(1))).all()


def draws_for(frame, seed, replicates=3):
    rng, examples = np.random.default_rng(seed), read(frame)
    sources, terms = int(examples.source.max()) + 1, len(examples.term_group)
    groups = np.stack([rng.permutation(examples.term_group) for _ in range(replicates)])
    counts = [
        rng.integers(1, 4, size=(replicates, size)).astype(float)
        for size in (sources, terms)
    ]
    return Draws(counts[0], counts[1], groups), examples


@pytest.mark.parametrize("counted", [False, True])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), by_unit=st.booleans())
def test_weights_are_repetitions_and_new_groups_are_relabelling(counted, seed, by_unit):
    """The reduction under draws, one by one, against a table with its rows repeated."""
    frame = suite(sources=4, terms=3, digits=1, seed=seed).sort_values(
        ["group", "term", "source"], ignore_index=True
    )
    draws, examples = draws_for(frame, seed)
    people = np.random.default_rng(seed).integers(1, 4, len(frame)) if counted else 1
    examples = replace(examples, count=people if counted else None)
    target_code = examples.classes.index("pos")
    weighted = Cells(examples, target_code, by_unit=by_unit, draws=draws)
    for replicate in range(3):
        times = people * draws.term_weight[replicate, examples.term]
        if (
            not by_unit
        ):  # where sources are looked at one by one, their weight comes in later
            times = times * draws.source_weight[replicate, examples.source]
        names = np.array(examples.groups)[draws.term_group[replicate, examples.term]]
        written = frame.assign(group=names).loc[frame.index.repeat(times.astype(int))]
        plain = cells(written, by_unit=by_unit)
        for score in (scores.f1, scores.mean_probability, scores.predicted_rate):
            np.testing.assert_allclose(score(weighted)[replicate], score(plain)[0])
        for ours, theirs in (
            (weighted, plain),
            (background(weighted, "complement"), background(plain, "complement")),
        ):
            sample, expected = ours.sample("probability"), theirs.sample("probability")
            np.testing.assert_allclose(sample.weights[replicate], expected.weights[0])
            np.testing.assert_allclose(sample.values, expected.values)


def test_a_thinned_support_keeps_distances():
    frame = suite(sources=150, terms=4, seed=3)
    examples = read(frame)
    ones = Draws(
        np.ones((1, 150)),
        np.ones((1, len(examples.term_group))),
        examples.term_group[None, :],
    )
    assert len(frame) > 1000
    exact, thinned = (
        cells(frame, draws=some).sample("probability") for some in (None, ones)
    )
    assert thinned.values.shape[-1] == 1000 < exact.values.shape[-1]
    for compare in (comparisons.wasserstein, comparisons.superiority):
        values = [
            compare(some[..., :1], some[..., 1:2]).item() for some in (exact, thinned)
        ]
        assert values[0] == pytest.approx(values[1], rel=0.01)


def test_combinations_are_all_or_use_every_variation_equally_often():
    rng = np.random.default_rng(0)
    sizes = np.array([[2, 3], [2, 3], [1, 1]])
    quantiles, real = combinations(sizes, limit=6, rng=rng)
    chosen = np.floor(quantiles * sizes[:, :, None]).astype(int)
    assert set(zip(*chosen[0], strict=True)) == set(
        itertools.product(range(2), range(3))
    )
    assert real.sum(axis=1).tolist() == [6, 6, 1]
    many, all_real = combinations(np.array([[5, 4, 10]] * 3), limit=100, rng=rng)
    for group, variations in enumerate((5, 4, 10)):
        for unit in range(3):
            used = np.bincount(np.floor(many[unit, group] * variations).astype(int))
            assert used.tolist() == [100 // variations] * variations
    assert all_real.all()


def test_values_at_quantiles_are_the_sorted_values():
    frame = suite(sources=3, terms=4, seed=4)
    sample = cells(frame, by_unit=True).sample("probability")
    quantiles = np.broadcast_to((np.arange(4) + 0.5) / 4, (3, 3, 4))
    found = sample.at(quantiles)[0]  # sources x picks x groups
    for (source, group), part in frame.groupby(["source", "group"]):
        np.testing.assert_array_equal(
            found[source, :, "abc".index(group)], np.sort(part["p_pos"])
        )


def test_a_cell_without_examples_has_no_values_and_leaves_those_of_others_alone():
    frame = suite(sources=3, terms=4, seed=4)
    few = cells(frame, by_unit=True)
    among = ~((few.unit == 1) & (few.examples.group == 2))
    quantiles = np.broadcast_to((np.arange(4) + 0.5) / 4, (3, 3, 4))
    found = few.sample(few.probability, among=among).at(quantiles)[0]
    expected = few.sample("probability").at(quantiles)[0].copy()
    expected[1, :, 2] = np.nan
    np.testing.assert_array_equal(found, expected)
