"""Tests of the tabular classifiers on data whose association is known."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier

from fairlib.amplification import measures as amplification
from fairlib.recipes.training import tabular
from fairlib.recipes.training.tabular import (
    Examples,
    Splits,
    balancing_weights,
    majority,
    run,
    split,
    subsample,
)
from fairlib.recipes.training.tallies import OUTCOMES


def examples(n, rng, *, inputs=12):
    """Task depends on the first input and on the group, which the second input gives
    away.
    """
    group = rng.integers(0, 2, n)
    noise = rng.random((n, inputs)) < 0.5
    noise[:, 1] = np.where(rng.random(n) < 0.9, group, 1 - group)
    task = rng.random(n) < 0.15 + 0.4 * noise[:, 0] + 0.3 * group
    return Examples(noise, task, group)


# Not in scikit-learn 1.6.
WEIGHTED = "sample_weight" in signature(MLPClassifier.partial_fit).parameters
TRAINABLE = [model for model in tabular.MODELS if WEIGHTED or model != "neural network"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return Splits(*(examples(n, rng) for n in (2000, 800, 2000)))


@pytest.mark.parametrize("model", TRAINABLE)
def test_each_model_learns_and_counts_every_test_example(data, model):
    found = run(data, model=model, rng=0)
    assert found["average_precision"] > data.test.task.mean() + 0.15
    assert found["average_precision_of_absence"] > 1 - data.test.task.mean() + 0.15
    for group in (0, 1):
        assert (
            sum(found[f"{group}_{name}"] for name in OUTCOMES)
            == (data.test.group == group).sum()
        )
        positives = found[f"{group}_true_positive"] + found[f"{group}_false_negative"]
        assert positives == data.test.task[data.test.group == group].sum()


@pytest.mark.parametrize("model", TRAINABLE)
def test_a_seed_decides_a_run(data, model):
    first, again, other = (run(data, model=model, rng=seed) for seed in (1, 1, 2))
    assert first == again and first["average_precision"] != other["average_precision"]


def test_counts_and_average_precision_agree_with_a_loop(data, monkeypatch):
    rng = np.random.default_rng(3)
    valid, test = rng.random(800), rng.random(2000)
    monkeypatch.setitem(tabular.MODELS, "given", lambda *_, **__: (valid, test))
    found = run(data, model="given", rng=0)
    assert found["threshold"] == np.sort(valid)[-round(data.train.task.mean() * 800)]
    by_hand = dict.fromkeys(
        [f"{group}_{name}" for group in (0, 1) for name in OUTCOMES], 0
    )
    for score, task, group in zip(test, data.test.task, data.test.group, strict=True):
        name = {
            (0, 0): "true_negative",
            (0, 1): "false_positive",
            (1, 0): "false_negative",
            (1, 1): "true_positive",
        }
        by_hand[f"{group}_{name[task, int(score >= found['threshold'])]}"] += 1
    assert {key: found[key] for key in by_hand} == by_hand
    ranked = data.test.task[np.argsort(-test)]
    precision = np.cumsum(ranked) / np.arange(1, 2001)
    assert found["average_precision"] == pytest.approx(precision[ranked == 1].mean())
    ranked = 1 - data.test.task[np.argsort(test)]
    precision = np.cumsum(ranked) / np.arange(1, 2001)
    assert found["average_precision_of_absence"] == pytest.approx(
        precision[ranked == 1].mean()
    )


def test_the_ratio_moves_amplification_up(data):
    def a_to_t(ratio, balance):
        found = run(
            data, model="logistic regression", ratio=ratio, balance=balance, rng=0
        )
        rates = [
            sum(found[f"{g}_{o}"] for o in OUTCOMES if o.endswith("positive"))
            for g in (0, 1)
        ]
        shares = [rate / (data.test.group == g).sum() for g, rate in enumerate(rates)]
        return shares[1] - shares[0]

    for balance in tabular.BALANCES:
        assert a_to_t(0.8, balance) < a_to_t(2.0, balance) < a_to_t(4.0, balance)


ratios = st.floats(0.2, 5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), ratio=ratios)
def test_weights_and_subsample_reach_the_ratio(seed, ratio):
    part = examples(500, np.random.default_rng(seed))
    major = majority(part.task, part.group)
    weights = balancing_weights(part.task, part.group, ratio)
    assert weights.mean() == pytest.approx(1)
    assert weights[major].sum() / weights[~major].sum() == pytest.approx(ratio)
    assert np.ptp(weights[major]) == 0 and np.ptp(weights[~major]) == 0
    rows = subsample(part.task, part.group, ratio, rng=np.random.default_rng(seed))
    assert len(np.unique(rows)) == len(rows)
    kept = major[rows].sum(), (~major[rows]).sum()
    assert abs(kept[0] - ratio * kept[1]) <= max(1, ratio)
    # As many as possible: one of the two kinds is kept whole (up to rounding).
    assert major.sum() - kept[0] <= ratio + 1 or kept[1] == (~major).sum()


def test_majority_follows_the_association_whichever_way_it_goes():
    part = examples(2000, np.random.default_rng(0))
    y = amplification.directions(
        amplification.count(part.task, np.stack([1 - part.group, part.group], axis=1))
    )[:, 0]
    assert y.tolist() == [0, 1]
    assert np.array_equal(majority(part.task, part.group), part.task == part.group)
    assert np.array_equal(
        majority(1 - part.task, part.group), majority(part.task, part.group)
    )
    assert np.array_equal(
        majority(part.task, 1 - part.group), majority(part.task, part.group)
    )


def test_split_keeps_task_and_group_out_of_the_inputs():
    table = pd.DataFrame(
        {
            "x": [0, 1, 0, 1, 1, 0],
            "young": [0, 1, 0, 1, 0, 1],
            "male": [1, 0, 0, 1, 1, 0],
        }
    )
    table["split"] = ["train", "train", "valid", "valid", "test", "test"]
    found = split(table, task="young", group="male")
    assert found.train.inputs.tolist() == [[0], [1]]
    assert found.test.task.tolist() == [0, 1] and found.test.group.tolist() == [1, 0]
    with pytest.raises(ValueError, match="old"):
        split(table, task="old", group="male")
    with pytest.raises(ValueError, match="split must take .* test not found"):
        split(table.iloc[:4], task="young", group="male")


def test_bad_input_is_named(data):
    with pytest.raises(ValueError, match="model must be one of .*'tree'"):
        run(data, model="tree", rng=0)
    with pytest.raises(ValueError, match="balance must be one of .*'none'"):
        run(data, model="neural network", ratio=2, balance="none", rng=0)
    for ratio in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="ratio must be positive"):
            balancing_weights(data.train.task, data.train.group, ratio)
        with pytest.raises(ValueError, match="ratio must be positive"):
            subsample(data.train.task, data.train.group, ratio, rng=0)
    with pytest.raises(ValueError, match="task must take the values 0 and 1"):
        Examples(np.zeros((3, 1)), [1, 1, 1], [0, 1, 1])
    with pytest.raises(
        ValueError, match="task must take the values 0 and 1, both, found .*0.5"
    ):
        # No label, though its whole part would be one.
        Examples(np.zeros((2, 1)), [0.5, 1.5], [0, 1])
    with pytest.raises(ValueError, match="n x features"):
        Examples(np.zeros((3, 1)), [1, 0], [0, 1])
