"""Intervals of BiasAmp from one test set: against the bootstrap, finite differences, and in coverage."""

import numpy as np
import pytest

from fairlib import amplification as amp
from fairlib import amplification_intervals as ai

MEASURES = {"A->T": amp.attribute_to_task, "T->A": amp.task_to_attribute}


def population(n, rng, *, tasks=6, train=False):
    """Two exclusive groups, tasks that lean both ways, and a model that errs in the direction of the data."""
    rng = np.random.default_rng(rng)
    woman = rng.random(n) < 0.3
    lean = np.linspace(-0.5, 0.5, tasks)
    chance = 0.25 * (1 + np.where(woman[:, None], lean, -lean / 2))
    task = rng.random((n, tasks)) < chance
    attribute = np.stack([woman, ~woman], axis=1)
    if train:
        return task, attribute
    flip = rng.random((n, tasks)) < 0.1 + 0.1 * np.where(woman[:, None], lean, -lean)
    seen_woman = np.where(rng.random(n) < 0.1 + 0.05 * task[:, -1], ~woman, woman)
    return task, attribute, task ^ flip, np.stack([seen_woman, ~seen_woman], axis=1)


def predictions(direction, task_predicted, attribute_predicted):
    both = {"A->T": task_predicted, "T->A": attribute_predicted, "MALS": (task_predicted, attribute_predicted)}
    return both[direction]


@pytest.mark.parametrize("direction", amp.DIRECTIONS)
def test_influence_is_the_derivative_in_an_examples_weight(direction):
    task, attribute, *predicted = population(300, 1)
    train = None if direction == "MALS" else population(300, 2, train=True)
    found = ai.influence(direction, task, attribute, predictions(direction, *predicted), train=train)
    assert found.mean() == pytest.approx(0, abs=1e-12)
    n, step = len(task), 1000  # a thousand copies of all, and one example once more

    def value(rows):
        arrays = [array[rows] for array in (task, attribute, *predicted)]
        if direction == "MALS":
            return amp.mals(*arrays)
        return MEASURES[direction](*arrays[:2], predictions(direction, *arrays[2:]), train=train)

    everything = np.tile(np.arange(n), step)
    for example in (0, 17, 200):
        more = value(np.append(everything, example))
        assert (more - value(np.arange(n))) * (n * step + 1) == pytest.approx(found[example], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("direction", amp.DIRECTIONS)
def test_poisson_bootstrap_agrees(direction):
    task, attribute, *predicted = population(4000, 3)
    train = None if direction == "MALS" else population(4000, 4, train=True)
    arguments = (direction, task, attribute, predictions(direction, *predicted))
    closed = ai.interval(*arguments, train=train)
    drawn = ai.bootstrap(*arguments, train=train, rng=5, resamples=1500)
    assert drawn.estimate == pytest.approx(closed.estimate)
    assert drawn.half_width == pytest.approx(closed.half_width, rel=0.12)
    assert drawn.low == pytest.approx(closed.low, abs=0.25 * closed.half_width)


def test_mals_against_known_training_shares_is_narrower_than_against_a_sample():
    task, attribute, *predicted = population(4000, 6)
    train = population(40000, 7, train=True)
    known = ai.interval("MALS", task, attribute, tuple(predicted), train=train)
    assert known.estimate == pytest.approx(amp.mals(*train, *predicted))
    drawn = ai.bootstrap("MALS", task, attribute, tuple(predicted), train=train, rng=1, resamples=1500)
    assert drawn.half_width == pytest.approx(known.half_width, rel=0.12)


@pytest.mark.parametrize("direction", amp.DIRECTIONS)
def test_pair_errors_are_those_of_each_pair_alone(direction):
    task, attribute, task_predicted, attribute_predicted = population(3000, 8)
    train = None if direction == "MALS" else population(3000, 9, train=True)
    predicted = predictions(direction, task_predicted, attribute_predicted)
    table = ai.interval(direction, task, attribute, predicted, train=train, pairs=True)
    assert (table["high"] - table["amplification"]).to_numpy() == pytest.approx(
        1.959964 * table["standard_error"].to_numpy()
    )
    if direction == "MALS":
        counted = table[table["y"] == 1]
        assert (table.loc[table["y"] == 0, "standard_error"] == 0).all() and len(counted) >= 6
        return
    for row in table.itertuples():
        given = attribute[:, row.attribute] if direction == "A->T" else task[:, row.task]
        wrong = (
            task_predicted[:, row.task].astype(int) - task[:, row.task]
            if direction == "A->T"
            else attribute_predicted[:, row.attribute].astype(int) - attribute[:, row.attribute]
        )[given]
        assert row.delta == pytest.approx(wrong.mean())
        assert row.standard_error == pytest.approx(wrong.std() / np.sqrt(given.sum()))


def test_pairs_treated_as_independent_would_be_too_narrow_for_exclusive_groups():
    task, attribute, _, attribute_predicted = population(4000, 10)
    train = population(4000, 11, train=True)
    right = ai.interval("T->A", task, attribute, attribute_predicted, train=train)
    table = ai.interval("T->A", task, attribute, attribute_predicted, train=train, pairs=True)
    naive = 1.96 * np.sqrt((table["standard_error"] ** 2).sum()) / len(table)
    assert right.half_width > 1.2 * naive


def test_undefined_pairs_are_left_out_of_value_and_interval():
    task, attribute, _, attribute_predicted = population(2000, 12)
    train = population(2000, 13, train=True)
    without = ai.interval("T->A", task[:, 1:], attribute, attribute_predicted, train=(train[0][:, 1:], train[1]))
    task = task.copy()
    task[:, 0] = False
    with pytest.warns(UserWarning, match="2 of 12 pairs are undefined"):
        found = ai.interval("T->A", task, attribute, attribute_predicted, train=train)
    assert (found.estimate, found.half_width) == pytest.approx((without.estimate, without.half_width))
    table = ai.interval("T->A", task, attribute, attribute_predicted, train=train, pairs=True)
    assert table["standard_error"].isna().sum() == 2


def test_a_perfect_model_is_certain_and_bad_input_is_named():
    task, attribute, *_ = population(500, 14)
    assert ai.interval("A->T", task, attribute, task).half_width == 0
    with pytest.raises(ValueError, match="direction must be one of A->T, T->A, MALS, found 'AT'"):
        ai.interval("AT", task, attribute, task)
    with pytest.raises(ValueError, match="one row per example"):
        ai.interval("A->T", task, attribute, task[1:])
    with pytest.raises(ValueError, match="task_predicted must be probabilities"):
        ai.interval("A->T", task, attribute, task * 2)
    with pytest.raises(ValueError, match="confidence must be in .0, 1., found 95"):
        ai.interval("A->T", task, attribute, task, pairs=True, confidence=95)
    with pytest.raises(ValueError, match=r"train must be \(task, attribute\) or Counts, found str"):
        ai.interval("A->T", task, attribute, task, train="train")
    with pytest.raises(ValueError, match="predicted must be .task_predicted, attribute_predicted. for MALS"):
        ai.interval("MALS", task, attribute, task)
    with pytest.raises(ValueError, match="found task 500, attribute 500, task_predicted 9, attribute_predicted 9 rows"):
        ai.interval("MALS", task, attribute, (task[:9], attribute[:9]))  # with `train`, they may be others


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_coverage_given_the_training_directions(direction):
    train = amp.count(*population(20_000, 15, train=True))
    task, attribute, *predicted = population(2_000_000, 16)
    truth = MEASURES[direction](task, attribute, predictions(direction, *predicted), train=train)
    rng = np.random.default_rng(17)
    inside = []
    for _ in range(1500):
        drawn = population(600, rng)
        found = ai.interval(direction, *drawn[:2], predictions(direction, *drawn[2:]), train=train)
        inside.append(truth in found)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


@pytest.mark.slow
def test_a_million_images_in_about_a_second_and_without_a_copy():
    import time
    import tracemalloc

    rng = np.random.default_rng(18)
    n = 1_000_000
    task, predicted = (rng.random((n, 66), dtype=np.float32) < 0.05 for _ in range(2))
    woman = rng.random(n) < 0.3
    attribute = np.stack([woman, ~woman], axis=1)
    started = time.perf_counter()
    amp.attribute_to_task(task, attribute, predicted)
    assert time.perf_counter() - started < 3  # 0.25 s where it was written; slow machines have slack
    tracemalloc.start()
    amp.attribute_to_task(task, attribute, predicted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * (task.nbytes + predicted.nbytes + attribute.nbytes)  # beside the input: in all below 1.5
