"""Intervals of BiasAmp from one test set: against other methods, and in coverage."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import stats

from fairlib import amplification as amp

# Women paint in three of four images, men in one.
TRAINING = (np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.repeat([[1, 0], [0, 1]], 4, axis=0))
MEASURES = {"A->T": amp.attribute_to_task, "T->A": amp.task_to_attribute}


def population(n, rng, *, tasks=6, train=False):
    """Two exclusive groups, tasks that lean both ways, a model that errs as they do."""
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
    return {"A->T": task_predicted, "T->A": attribute_predicted}[direction]


def value_with_weights(weight, direction, task, attribute, predicted, *, train):
    """The amplification with each example counted `weight` times; y_at as without."""

    def counts(t, a):
        return amp.Counts(
            weight.sum(), weight @ a, weight @ t, (a * weight[:, None]).T @ t
        )

    y = amp.directions(train or amp.count(task, attribute), direction=direction)
    labels = counts(task, attribute)
    if direction == "A->T":
        change = (
            counts(predicted, attribute).task_given_attribute
            - labels.task_given_attribute
        )
    else:
        change = (
            counts(task, predicted).attribute_given_task - labels.attribute_given_task
        )
    return ((2 * y - 1) * change).mean()


def case(direction, n, rng, *, known):
    """The arguments of `interval`, with or without training data for the directions."""
    task, attribute, *predicted = population(n, rng)
    train = amp.count(*population(10 * n, rng + 1, train=True)) if known else None
    return direction, task, attribute, predictions(direction, *predicted), train


CASES = pytest.mark.parametrize(
    ("direction", "known"), [("A->T", True), ("A->T", False), ("T->A", True)]
)


@CASES
def test_the_width_is_that_of_the_derivatives_in_each_examples_weight(direction, known):
    *arguments, train = case(direction, 300, 1, known=known)
    found = amp.interval(*arguments, train=train)
    assert found.estimate == pytest.approx(
        value_with_weights(np.ones(300), *arguments, train=train)
    )
    more = [
        value_with_weights(1 + 1e-5 * (np.arange(300) == one), *arguments, train=train)
        for one in range(300)
    ]
    influence = (np.array(more) - found.estimate) / 1e-5 * 300
    assert influence.mean() == pytest.approx(0, abs=1e-3)
    freedom = (influence**2).sum() ** 2 / (influence**4).sum()
    assert found.half_width == pytest.approx(
        stats.t.isf(0.025, freedom) * influence.std() / np.sqrt(300), rel=1e-3
    )


@CASES
def test_the_bootstrap_agrees(direction, known):
    """Examples counted Poisson(1) times are the bootstrap of rows, with no formula."""
    *arguments, train = case(direction, 2000, 3, known=known)
    found, rng = amp.interval(*arguments, train=train), np.random.default_rng(5)
    drawn = [
        value_with_weights(
            rng.poisson(1.0, 2000).astype(float), *arguments, train=train
        )
        for _ in range(400)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (high - low) / 2 == pytest.approx(found.half_width, rel=0.15)
    assert (low, high) == pytest.approx(
        (found.low, found.high), abs=0.3 * found.half_width
    )


def test_a_single_pair_has_the_interval_of_a_mean():
    task, attribute, predicted, _ = population(3000, 8)
    woman = attribute[:, 0]
    found = amp.interval(
        "A->T", task[:, 0], woman, predicted[:, 0], train=(task[:, 0], woman)
    )
    wrong = predicted[woman, 0].astype(int) - task[woman, 0]
    assert abs(found.estimate) == pytest.approx(abs(wrong.mean()))
    influence = wrong - wrong.mean()
    freedom = (influence**2).sum() ** 2 / (influence**4).sum()
    assert found.half_width == pytest.approx(
        stats.t.isf(0.025, freedom) * wrong.std() / np.sqrt(woman.sum())
    )


def test_pairs_treated_as_independent_would_be_too_narrow_for_exclusive_groups():
    *arguments, train = case("T->A", 4000, 10, known=True)
    _, task, attribute, predicted = arguments
    square = 0.0
    for a in range(2):
        for t in task.T:
            wrong = predicted[t, a].astype(int) - attribute[t, a]
            square += wrong.var() / t.sum()
    naive = 1.96 * np.sqrt(square) / (2 * task.shape[1])
    assert amp.interval(*arguments, train=train).half_width > 1.2 * naive


def test_degrees_of_freedom_are_at_most_the_number_of_wrong_examples():
    """Satterthwaite's would be 40 here, because all influences are equally large."""
    woman = np.tile([1, 0], 20)
    paints = np.repeat([1, 0], 20)
    wrong = woman != paints
    groups = np.stack([woman, 1 - woman], axis=1)
    # The ratio of two widths depends on the degrees of freedom alone.
    wide, narrow = (
        amp.interval(
            "A->T", paints, groups, woman, train=TRAINING, confidence=confidence
        ).half_width
        for confidence in (0.95, 0.5)
    )
    freedom = wrong.sum()
    expected = stats.t.isf(0.025, freedom) / stats.t.isf(0.25, freedom)
    assert wide / narrow == pytest.approx(expected, rel=1e-9)


def test_undefined_pairs_are_left_out_of_value_and_interval():
    task, attribute, _, attribute_predicted = population(2000, 12)
    train = population(2000, 13, train=True)
    without = amp.interval(
        "T->A",
        task[:, 1:],
        attribute,
        attribute_predicted,
        train=(train[0][:, 1:], train[1]),
    )
    task = task.copy()
    task[:, 0] = False
    with pytest.warns(UserWarning, match="2 of 12 pairs are undefined"):
        found = amp.interval("T->A", task, attribute, attribute_predicted, train=train)
    assert (found.estimate, found.half_width) == pytest.approx(
        (without.estimate, without.half_width)
    )


@pytest.mark.parametrize("wrong", [0, 1, 4])
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_of_a_model_that_hardly_ever_errs_the_interval_is_undefined_and_says_why(
    direction, wrong
):
    task, attribute, *_ = population(500, 14)
    seen_task, seen_attribute = task.copy(), attribute.copy()
    seen_task[:wrong, 0] ^= True
    seen_attribute[:wrong] ^= True
    found = amp.interval(
        direction, task, attribute, predictions(direction, seen_task, seen_attribute)
    )
    assert np.isnan(found.low) and np.isnan(found.high) and not found.excludes(0)
    assert "wrong examples that matter, fewer than 5" in str(found) and (
        found.estimate == 0
    ) == (wrong == 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("direction", "errors", "n"),
    [("A->T", 0.03, 80), ("T->A", 0.1, 80), ("T->A", 0.03, 400)],
)
def test_coverage_where_errors_are_few_and_follow_nothing(direction, errors, n):
    rng, inside, defined, worlds = np.random.default_rng(19), 0, 0, 600
    train = amp.count(*population(20_000, 20, train=True))

    def drawn(n):
        task, attribute = population(n, rng, train=True)
        wrong, flipped = rng.random(n) < errors, rng.random(task.shape) < errors
        return (
            task,
            attribute,
            {"A->T": task ^ flipped, "T->A": attribute ^ wrong[:, None]}[direction],
        )

    truth = MEASURES[direction](*drawn(400_000), train=train)
    for _ in range(worlds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tasks that never occur
            found = amp.interval(direction, *drawn(n), train=train)
        inside, defined = inside + (truth in found), defined + np.isfinite(found.low)
    assert defined > 0.1 * worlds and inside / defined >= 0.93


def test_bad_input_is_named():
    task, attribute, *_ = population(500, 14)
    with pytest.raises(
        ValueError, match="direction must be one of A->T, T->A, found 'AT'"
    ):
        amp.interval("AT", task, attribute, task)
    with pytest.raises(ValueError, match="one row per example"):
        amp.interval("A->T", task, attribute, task[1:])
    with pytest.raises(ValueError, match="task_predicted must be probabilities"):
        amp.interval("A->T", task, attribute, task * 2)
    with pytest.raises(ValueError, match="confidence must be in .0, 1., found 95"):
        amp.interval("A->T", task, attribute, task, confidence=95)
    with pytest.raises(
        ValueError, match=r"train must be \(task, attribute\) or Counts, found str"
    ):
        amp.interval("A->T", task, attribute, task, train="train")
    with pytest.raises(
        ValueError, match="direction must be one of A->T, T->A, found 'MALS'"
    ):
        amp.interval("MALS", task, attribute, (task, attribute))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["A->T", "T->A"])
def test_coverage_given_the_training_directions(direction):
    train = amp.count(*population(20_000, 15, train=True))
    task, attribute, *predicted = population(400_000, 16)
    truth = MEASURES[direction](
        task, attribute, predictions(direction, *predicted), train=train
    )
    rng = np.random.default_rng(17)
    inside = []
    for _ in range(400):
        drawn = population(600, rng)
        found = amp.interval(
            direction, *drawn[:2], predictions(direction, *drawn[2:]), train=train
        )
        inside.append(truth in found)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_many_images_are_counted_without_a_copy():
    rng, n = np.random.default_rng(18), 100_000
    task, predicted = (rng.random((n, 66), dtype=np.float32) < 0.05 for _ in range(2))
    woman = rng.random(n) < 0.3
    attribute = np.stack([woman, ~woman], axis=1)
    tracemalloc.start()
    amp.attribute_to_task(task, attribute, predicted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * (task.nbytes + predicted.nbytes)
