"""Amplification over combinations of tasks: by a loop, and where the mean over single tasks sees nothing."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from fairlib import amplification as amp
from fairlib.amplification_combinations import multi_attribute


def loop_multi(direction, task, attribute, task_predicted, attribute_predicted, train_task, train_attribute, **options):
    """Multi_MALS and Multi-> word by word: combinations of up to `largest` tasks seen in training and in test."""
    deltas, groups = [], attribute.shape[1]
    tasks = range(task.shape[1])
    for m in (m for size in range(1, options["largest"] + 1) for m in combinations(tasks, size)):
        there, found, seen = (array[:, list(m)].all(axis=1) for array in (task, task_predicted, train_task))
        if min(there.sum(), seen.sum()) < options["at_least"]:
            continue
        for g in range(groups):
            if direction == "MALS":
                before = train_attribute[seen, g].mean()
                deltas.append((attribute_predicted[found, g].mean() - before) * (before > 1 / groups))
            elif direction == "A->T":
                deltas.append(found[attribute[:, g] == 1].mean() - there[attribute[:, g] == 1].mean())
            else:
                deltas.append(attribute_predicted[there, g].mean() - attribute[there, g].mean())
    return np.mean(np.abs(deltas)) * (groups if direction == "MALS" else 1), np.var(deltas)


@pytest.mark.parametrize("direction", amp.DIRECTIONS)
def test_multi_attribute_agrees_with_the_loop(direction):
    rng = np.random.default_rng(3)
    for largest, at_least in ((1, 1), (2, 1), (3, 1), (2, 12)):
        case = [rng.integers(0, 2, (60, columns)) for columns in (3, 2, 3, 2, 3, 2)]
        predicted = {"A->T": case[2], "T->A": case[3], "MALS": tuple(case[2:4])}[direction]
        options = {"largest": largest, "at_least": at_least}
        found = multi_attribute(direction, *case[:2], predicted, train=case[4:], **options)
        assert (found.mean, found.variance) == pytest.approx(loop_multi(direction, *case, **options))
        assert max(map(len, found.pairs["task"])) == largest


def test_multi_attribute_sees_what_cancels_in_the_mean():
    rng = np.random.default_rng(4)
    n = 4000
    woman = rng.random(n) < 0.5
    attribute = pd.DataFrame({"woman": woman, "man": ~woman})
    task = pd.DataFrame({"bowl": rng.random(n) < 0.3 + 0.2 * woman, "spoon": rng.random(n) < 0.3 + 0.2 * woman})
    more = task["bowl"] | (woman & (rng.random(n) < 0.2))
    fewer = task["spoon"] & ~(woman & (rng.random(n) < 0.3))
    predicted = pd.DataFrame({"bowl": more, "spoon": fewer})
    single = amp.attribute_to_task(task, attribute, predicted)
    found = multi_attribute("A->T", task, attribute, predicted, train=(task, attribute))
    assert abs(single) < 0.02 < found.mean
    assert set(found.pairs["task"]) == {("bowl",), ("spoon",), ("bowl", "spoon")}
    with pytest.raises(ValueError, match="at_least must leave a combination of tasks, found none with 5000"):
        multi_attribute("A->T", task, attribute, predicted, train=(task, attribute), at_least=5000)
    with pytest.raises(ValueError, match="direction must be one of"):
        multi_attribute("both", task, attribute, predicted, train=(task, attribute))
    three = predicted.assign(fork=predicted["bowl"])  # by place, another column than the label's would be compared
    with pytest.raises(ValueError, match="task_predicted must have the 2 columns of task, found 3"):
        multi_attribute("A->T", task, attribute, three, train=(task, attribute))
    with pytest.raises(ValueError, match="train must have the 2 columns of task, found 3"):
        multi_attribute("A->T", task, attribute, predicted, train=(three, attribute))
    with pytest.raises(ValueError, match="train must be .task, attribute., found Counts"):
        multi_attribute("A->T", task, attribute, predicted, train=amp.count(task, attribute))
