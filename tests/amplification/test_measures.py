"""BiasAmp: against loops over the equations, the paper's worked numbers, and itself."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairlib import amplification as amp


def loop(  # noqa: PLR0917 (the arguments of all three measures)
    direction,
    task,
    attribute,
    task_predicted,
    attribute_predicted,
    train_task,
    train_attribute,
    ties="negative",
):
    """Eq. (1) and (2) by loops and exact fractions; None where a pair is undefined."""

    def share(outcome, given):
        chosen = [value for value, yes in zip(outcome, given, strict=True) if yes]
        return Fraction(sum(map(int, chosen)), len(chosen)) if chosen else None

    n, total, number = len(train_task), Fraction(0), 0
    groups, tasks = attribute.shape[1], task.shape[1]
    for t in range(tasks):
        for a in range(groups):
            truth, seen = train_attribute[:, a], train_task[:, t]
            if direction == "MALS":
                before = share(train_attribute[:, a], train_task[:, t])
                after = share(attribute_predicted[:, a], task_predicted[:, t])
                if before is None or after is None:
                    continue
                total += (after - before) if before > Fraction(1, groups) else 0
                number += Fraction(1, groups)
                continue
            if truth.sum() in (0, n) or seen.sum() in (0, n):
                continue
            both = Fraction(int((truth & seen).sum()), n)
            expected = Fraction(int(truth.sum()), n) * Fraction(int(seen.sum()), n)
            sign = (
                1
                if both > expected
                else 0
                if both == expected and ties == "zero"
                else -1
            )
            if direction == "A->T":
                before, after = (
                    share(task[:, t], attribute[:, a]),
                    share(task_predicted[:, t], attribute[:, a]),
                )
            else:
                before, after = (
                    share(attribute[:, a], task[:, t]),
                    share(attribute_predicted[:, a], task[:, t]),
                )
            if before is None:
                continue
            total += sign * (after - before)
            number += 1
    return float(total / number) if number else float("nan")


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


@st.composite
def cases(draw):
    n, m = draw(st.integers(2, 30)), draw(st.integers(2, 30))
    tasks, groups = draw(st.integers(1, 3)), draw(st.integers(2, 3))
    shapes = [(n, tasks), (n, groups), (n, tasks), (n, groups), (m, tasks), (m, groups)]
    return [
        draw(arrays(np.uint8, shape, elements=st.integers(0, 1))) for shape in shapes
    ]


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(["negative", "zero"]))
def test_agrees_with_the_equations_looped(case, ties):
    task, attribute, task_predicted, attribute_predicted, *train = case
    labels, seen = amp.count(task, attribute), amp.count(*train)
    options = {"train": seen, "ties": ties}
    found = {
        "A->T": quietly(
            amp.from_counts,
            "A->T",
            labels,
            amp.count(task_predicted, attribute),
            **options,
        ),
        "T->A": quietly(
            amp.from_counts,
            "T->A",
            labels,
            amp.count(task, attribute_predicted),
            **options,
        ),
        "MALS": quietly(
            amp.from_counts,
            "MALS",
            seen,
            amp.count(task_predicted, attribute_predicted),
        ),
    }
    for direction, value in found.items():
        assert value == pytest.approx(
            loop(direction, *case, ties=ties), abs=1e-12, nan_ok=True
        ), direction
    if ties == "negative":
        from_arrays = [
            quietly(
                amp.attribute_to_task, task, attribute, task_predicted, train=train
            ),
            quietly(
                amp.task_to_attribute, task, attribute, attribute_predicted, train=train
            ),
            quietly(amp.mals, *train, task_predicted, attribute_predicted),
        ]
        assert from_arrays == pytest.approx([*found.values()], abs=1e-12, nan_ok=True)


def examples(cells, *, groups):
    """Build (task, attribute) from {group: (examples without, with the task)}."""
    task = np.concatenate([np.repeat([0, 1], cells[group]) for group in range(groups)])
    group = np.repeat(range(groups), [sum(cells[group]) for group in range(groups)])
    return task[:, None], np.eye(groups, dtype=int)[group]


THREE = {0: (10, 40), 1: (40, 10), 2: (10, 20)}


def test_shortcoming_1_three_groups_mals_is_zero_and_a_to_t_is_not():
    task, attribute = examples(THREE, groups=3)
    predicted = np.where(
        attribute[:, [1]] == 1, 0, np.where(attribute[:, [2]] == 1, 1, task)
    )
    assert amp.mals(task, attribute, predicted, attribute) == pytest.approx(
        40 / 70 - 40 / 70
    )
    assert round(amp.attribute_to_task(task, attribute, predicted), 4) == 0.1778
    assert amp.task_to_attribute(task, attribute, attribute) == 0


def test_shortcoming_1_two_groups_mals_differs_for_mirrored_errors():
    task, attribute = examples(THREE, groups=2)
    never_second = np.where(attribute[:, [1]] == 1, 0, task)
    always_first = np.where(attribute[:, [0]] == 1, 1, task)
    assert amp.mals(task, attribute, never_second, attribute) == pytest.approx(0.2)
    assert amp.mals(task, attribute, always_first, attribute) == pytest.approx(1 / 30)
    # the directional metric sees two errors of the same size
    assert amp.attribute_to_task(task, attribute, never_second) == pytest.approx(0.1)
    assert amp.attribute_to_task(task, attribute, always_first) == pytest.approx(0.1)


def test_shortcoming_2_mals_takes_the_large_group_for_the_correlated_one():
    task, attribute = examples({0: (60, 30), 1: (10, 20)}, groups=2)
    predicted = attribute[:, [1]]
    assert amp.mals(task, attribute, predicted, attribute) == pytest.approx(-0.6)
    assert round(amp.attribute_to_task(task, attribute, predicted), 4) == 0.3333
    assert amp.task_to_attribute(task, attribute, attribute) == 0


def test_positive_means_amplified():
    task, attribute = examples(
        {0: (10, 30), 1: (30, 10)}, groups=2
    )  # the first group is associated with the task
    more = np.where(attribute[:, [0]] == 1, 1, task)
    fewer = np.where(attribute[:, [0]] == 1, 0, task)
    assert (
        amp.attribute_to_task(task, attribute, more)
        > 0
        > amp.attribute_to_task(task, attribute, fewer)
    )
    all_first = np.where(task == 1, [[1, 0]], attribute)
    assert (
        amp.task_to_attribute(task, attribute, all_first)
        > 0
        > amp.task_to_attribute(task, attribute, 1 - all_first)
    )


@settings(max_examples=30, deadline=None)
@given(cases())
def test_a_perfect_model_amplifies_nothing(case):
    task, attribute, *_, train_task, train_attribute = case
    options = {"train": (train_task, train_attribute)}
    for value in (
        quietly(amp.attribute_to_task, task, attribute, task, **options),
        quietly(amp.task_to_attribute, task, attribute, attribute, **options),
        quietly(amp.mals, task, attribute, task, attribute),
    ):
        assert value == 0 or np.isnan(value)


@settings(max_examples=30, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_order_of_examples_columns_and_repetition_do_not_matter(case, random):
    task, attribute, task_predicted, attribute_predicted, *train = case
    order = list(range(len(task)))
    random.shuffle(order)
    twice = order + order
    flipped = [array[:, ::-1] for array in train]
    for function, predicted in (
        (amp.attribute_to_task, task_predicted),
        (amp.task_to_attribute, attribute_predicted),
    ):
        value = quietly(function, task, attribute, predicted, train=train)
        again = quietly(
            function, task[twice], attribute[twice], predicted[twice], train=train
        )
        mirrored = quietly(
            function,
            task[:, ::-1],
            attribute[:, ::-1],
            predicted[:, ::-1],
            train=flipped,
        )
        assert again == pytest.approx(value, abs=1e-12, nan_ok=True)
        assert mirrored == pytest.approx(value, abs=1e-12, nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(cases())
def test_types_of_the_same_values_give_the_same(case):
    task, attribute, task_predicted, _, *train = case
    value = quietly(amp.attribute_to_task, task, attribute, task_predicted, train=train)
    for kind in (bool, np.int64, float, object):
        same = quietly(
            amp.attribute_to_task,
            *(x.astype(kind) for x in (task, attribute, task_predicted)),
            train=train,
        )
        assert same == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_probabilities_are_averaged():
    task, attribute = examples({0: (10, 30), 1: (30, 10)}, groups=2)
    draws = np.random.default_rng(0).integers(0, 2, size=(5, *task.shape))
    values = [amp.attribute_to_task(task, attribute, draw) for draw in draws]
    assert amp.attribute_to_task(task, attribute, draws.mean(axis=0)) == pytest.approx(
        np.mean(values)
    )


def test_ties_follow_the_equation_or_the_code():
    # Exactly independent: 1/3 of each group. Floating-point products miss it, because
    # 1/3 * 1/3 * 9 is not 1 for all sizes.
    task, attribute = examples({0: (2, 1), 1: (4, 2)}, groups=2)
    train = (task, attribute)
    predicted = np.ones_like(task)
    table = amp.attribute_to_task(task, attribute, predicted, train=train, pairs=True)
    assert (table["y"] == 0).all()
    assert amp.attribute_to_task(
        task, attribute, predicted, train=train
    ) == pytest.approx(-2 / 3)
    labels = amp.count(*train)
    assert (
        amp.from_counts(
            "A->T", labels, amp.count(predicted, attribute), train=labels, ties="zero"
        )
        == 0
    )


@pytest.mark.parametrize("size", [3, 7, 10, 49, 1000, 99991])
def test_independence_is_exact_at_any_size(size):
    counts = amp.Counts(
        size * 9, [3 * size, 6 * size], [3 * size], [[size], [2 * size]]
    )
    assert (amp.directions(counts, ties="zero") == 0.5).all()


def test_direction_comes_from_the_training_data():
    task, attribute = examples({0: (10, 30), 1: (30, 10)}, groups=2)
    more = np.where(attribute[:, [0]] == 1, 1, task)
    reverse = examples({0: (30, 10), 1: (10, 30)}, groups=2)
    with_test = amp.attribute_to_task(task, attribute, more)
    assert amp.attribute_to_task(task, attribute, more, train=reverse) == pytest.approx(
        -with_test
    )


def test_pairs_add_up_and_carry_names():
    task, attribute = examples(THREE, groups=3)
    task = pd.DataFrame(
        np.hstack([task, 1 - task]), columns=["painting", "not painting"]
    )
    attribute = pd.DataFrame(attribute, columns=["first", "second", "third"])
    predicted = np.roll(task.to_numpy(), 7, axis=0)
    table = amp.attribute_to_task(task, attribute, predicted, pairs=True)
    assert len(table) == 6 and set(table["task"]) == {"painting", "not painting"}
    assert table["amplification"].mean() == pytest.approx(
        amp.attribute_to_task(task, attribute, predicted)
    )
    assert table.set_index(["attribute", "task"])["n"]["third", "painting"] == 30
    with pytest.raises(ValueError, match="same tasks in the same order"):
        amp.attribute_to_task(
            task,
            attribute,
            predicted,
            train=(task[["not painting", "painting"]], attribute),
        )


def test_a_table_gives_what_its_columns_give():
    rng = np.random.default_rng(4)
    names = {"task": [f"t{k}" for k in range(60)], "attribute": ["woman", "man"]}
    tasks, said, people = (
        names["task"],
        ["p_woman", "p_man"],
        [*names["task"], *names["attribute"]],
    )
    frame = pd.DataFrame(rng.integers(0, 2, size=(300, 62)), columns=people).assign(
        p_woman=rng.random(300), p_man=0
    )
    train = frame[::-1].assign(t3=frame["woman"])
    options = {"train": (train[tasks], train[names["attribute"]])}
    expected = amp.task_to_attribute(
        frame[tasks], frame[names["attribute"]], frame[said], **options
    )
    assert amp.from_table(
        "T->A", frame, **names, predicted=said, train=train
    ) == pytest.approx(expected, abs=1e-12)
    expected = amp.attribute_to_task(
        frame[tasks], frame[names["attribute"]], frame[tasks[::-1]]
    )
    assert amp.from_table(
        "A->T", frame, **names, predicted=tasks[::-1]
    ) == pytest.approx(expected, abs=1e-12)
    few = names | {"task": tasks[:4]}
    for value, column in (
        (0.5, "t3"),
        (2, "t3"),
        (np.nan, "t3"),
        (0.5, "woman"),
        (np.nan, "woman"),
    ):
        wrong = frame.astype(float)
        wrong.loc[7, column] = value
        role = "task" if column == "t3" else "attribute"
        with pytest.raises(
            ValueError,
            match=rf"{role} must be 0 or 1, found {float(value)} \(column '{column}'\)",
        ):
            amp.from_table("A->T", wrong, **few, predicted=tasks[:4])
    with pytest.raises(
        ValueError,
        match=r"attribute_predicted must be .*\[0, 1\], found 7.0 \(column 'p_man'",
    ):
        amp.from_table("T->A", frame.assign(p_man=7), **few, predicted=said)
    with pytest.raises(ValueError, match="the table has no rows"):
        amp.from_table("A->T", frame[:0], **few, predicted=tasks[:4])


@settings(max_examples=30, deadline=None)
@given(cases(), st.data())
def test_a_weight_is_that_many_examples(case, data):
    task, attribute = case[:2]
    times = data.draw(arrays(np.int64, len(task), elements=st.integers(0, 5)))
    if not times.any():
        return
    for kind in (np.uint8, float):
        found, expected = (
            amp.count(task.astype(kind), attribute.astype(kind), weight=times),
            amp.count(
                np.repeat(task, times, axis=0), np.repeat(attribute, times, axis=0)
            ),
        )
        for name in ("n", "attribute", "task", "joint"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    large = amp.count(
        [1, 1, 0], [1, 1, 1], weight=[2**30, 1, 2**52]
    )  # float32 would lose the one
    assert (large.n, large.joint.item()) == (2**52 + 2**30 + 1, 2**30 + 1)


def test_undefined_pairs_are_counted_and_explained():
    task, attribute = examples({0: (10, 30), 1: (30, 10)}, groups=2)
    task = np.hstack([task, np.zeros_like(task)])
    train = (np.roll(task, 1, axis=1) | task, attribute)  # in training both tasks occur
    with pytest.warns(
        UserWarning, match="2 of 4 pairs are undefined .*2: task never occurs"
    ):
        value = amp.task_to_attribute(task, attribute, attribute[::-1], train=train)
    assert value == pytest.approx(
        amp.task_to_attribute(task[:, :1], attribute, attribute[::-1])
    )
    with pytest.warns(
        UserWarning, match="2: task or attribute does not vary in the training data"
    ):
        amp.attribute_to_task(task, attribute, task)
    one_sided = np.repeat([[1, 0]], len(task), axis=0)
    with pytest.warns(UserWarning, match="2 of 2 pairs"):
        assert np.isnan(amp.attribute_to_task(task[:, 0], one_sided, task[:, 0]))


def test_bad_input_is_named():
    task, attribute = examples({0: (10, 30), 1: (30, 10)}, groups=2)
    wrong = task.astype(float)
    wrong[3] = 0.5
    with pytest.raises(ValueError, match=r"task must be 0 or 1, found 0\.5 \(row 3\)"):
        amp.attribute_to_task(wrong, attribute, task)
    wrong[3] = 1.5
    with pytest.raises(
        ValueError,
        match=r"task_predicted must be probabilities in \[0, 1\], found 1\.5 \(row 3\)",
    ):
        amp.attribute_to_task(task, attribute, wrong)
    wrong[3] = np.nan
    with pytest.raises(
        ValueError,
        match=r"attribute_predicted must be probabilities in .*, found nan \(row 3\)",
    ):
        amp.task_to_attribute(task, attribute, np.hstack([task, wrong]))
    with pytest.raises(ValueError, match="task_predicted must be 0 or 1"):
        amp.mals(task, attribute, task + 1, attribute)
    with pytest.raises(
        ValueError, match="one row per example, found task 80, attribute 79 rows"
    ):
        amp.attribute_to_task(task, attribute[:-1], task)
    with pytest.raises(ValueError, match=r"same \|A\| x \|T\|, found"):
        amp.attribute_to_task(task, attribute, np.hstack([task, task]))
    with pytest.raises(ValueError, match="ties must be one of negative, zero"):
        amp.directions(amp.count(task, attribute), ties="positive")
    with pytest.raises(ValueError, match="direction must be one of"):
        amp.from_counts("T->T", amp.count(task, attribute), amp.count(task, attribute))
    with pytest.raises(
        ValueError, match=r"train must be \(task, attribute\) or Counts"
    ):
        amp.attribute_to_task(task, attribute, task, train=pd.DataFrame(task))
    with pytest.raises(
        ValueError, match=r"train must be \(task, attribute\) or Counts, found tuple"
    ):
        amp.attribute_to_task(task, attribute, task, train=(task,))
    with pytest.raises(ValueError, match="at least 2 for MALS"):
        amp.mals(task, attribute[:, 0], task, attribute[:, 0])
    with pytest.raises(
        ValueError,
        match="attribute must be n x columns of 0/1, found shape .* of object",
    ):
        amp.attribute_to_task(
            task, np.array([["woman"]] * len(task), dtype=object), task
        )
    with pytest.raises(ValueError, match="joint must have the shape"):
        amp.Counts(10, [5, 5], [4], [[2, 2]])


@settings(max_examples=50, deadline=None)
@given(
    arrays(float, st.integers(1, 40), elements=st.integers(0, 9).map(float)),
    st.floats(0, 1),
)
def test_threshold_marks_as_near_to_the_rate_as_ties_allow(scores, rate):
    threshold = amp.calibrated_threshold(scores, rate)
    wanted = round(rate * len(scores))
    possible = {int((scores >= cut).sum()) for cut in [*scores, np.inf]}
    assert abs((scores >= threshold).sum() - wanted) == min(
        abs(number - wanted) for number in possible
    )


def test_threshold_without_ties_is_exact_and_bad_input_is_named():
    scores = np.random.default_rng(1).normal(size=1000)
    assert (scores >= amp.calibrated_threshold(scores, 0.137)).sum() == 137
    assert amp.calibrated_threshold(scores, 0.0) == np.inf
    assert (scores >= amp.calibrated_threshold(scores, 1.0)).all()
    with pytest.raises(
        ValueError, match=r"positive_rate must be in \[0, 1\], found 12"
    ):
        amp.calibrated_threshold(scores, 12)
    with pytest.raises(ValueError, match="non-empty vector"):
        amp.calibrated_threshold([], 0.5)


def test_direction_is_the_sign_of_the_correlation():
    rng = np.random.default_rng(2)
    for _ in range(200):
        task, attribute = rng.integers(0, 2, (25, 3)), rng.integers(0, 2, (25, 2))
        correlation = np.corrcoef(attribute.T, task.T)[:2, 2:]
        clear = np.abs(correlation) > 1e-9
        y = amp.directions(amp.count(task, attribute))
        assert ((y == 1) == (correlation > 0))[clear].all()


def test_a_group_with_exactly_its_share_is_not_associated_in_equation_1():
    """y_at = 1[P(A|T) > 1/|A|], and both sides are 1/2 for the first task."""
    task = np.array([[1, 1], [1, 1], [0, 1], [0, 0]])
    groups = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    directions = amp.directions(amp.count(task, groups), direction="MALS")
    assert directions.tolist() == [[0.0, 1.0], [0.0, 0.0]]

    # Only the pair (first group, second task) counts: 2/3 of its examples are of the
    # first group, and 1/2 of those that are predicted to have it.
    predicted = np.array([[1, 1], [0, 1], [1, 0], [0, 0]])
    expected = (1 / 2 - 2 / 3) / 2
    assert amp.mals(task, groups, predicted, groups) == pytest.approx(expected)


def test_a_task_that_never_occurs_has_no_direction_for_mals():
    never = amp.Counts(10, [4, 6], [0, 5], [[0, 1], [0, 4]])
    np.testing.assert_array_equal(
        amp.directions(never, direction="MALS"), [[np.nan, 0], [np.nan, 1]]
    )
