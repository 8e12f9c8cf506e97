"""Bias amplification over *combinations* of tasks (a bowl and a spoon), where opposite errors do not cancel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.amplification import MALS, check_direction, from_counts, two
from fairlib.cooccurrence import count, count_named, indicators


@dataclass(frozen=True)
class MultiAttribute:
    """Amplification over combinations of tasks: `mean` of |Δ|, `variance` of Δ, and the table of pairs behind them."""

    mean: float
    variance: float
    pairs: pd.DataFrame


def multi_attribute(direction, task, attribute, predicted, *, train, largest=2, at_least=1) -> MultiAttribute:
    """Bias amplification over combinations of up to `largest` tasks.

    The metrics Multi_MALS and Multi-> of Zhao, Andrews & Xiang, "Men Also Do Laundry" (ICML 2023): a combination m is
    there when all its tasks are, Δ_gm is the Δ of eq. (1) or (2) with m for t, and the value is the mean of |Δ_gm| over
    groups and combinations (for MALS the sum over groups) beside the variance of Δ_gm. As |Δ| cannot be negative, a
    model with random errors has a value above 0: compare it with models of like accuracy, never with 0.

    direction, predicted : as in `amplification_intervals.interval`. P(m | g) is that of the test labels, as in eq. (2).
    train : (task, attribute) of the training data.
    largest : the most tasks in a combination; single tasks are combinations of one.
    at_least : a combination counts if it occurs this often in the training and in the test labels.
    """
    check_direction(direction)
    names = tuple(getattr(task, "columns", ()))
    task = indicators(task=task)["task"].astype(bool)
    seen, seen_attribute = two(train, "train must be (task, attribute)")
    seen = _columns_of(task, "train", seen)
    combinations = _combinations(seen, task, largest=largest, at_least=at_least)
    if not combinations:
        raise ValueError(f"at_least must leave a combination of tasks, found none with {at_least} examples")
    labels = count(_together(task, combinations), attribute)
    reference = count(_together(seen, combinations), seen_attribute)
    task_predicted, attribute_predicted = two(predicted, MALS) if direction == "MALS" else (predicted, predicted)
    if direction != "T->A":
        task_predicted = _together(_columns_of(task, "task_predicted", task_predicted), combinations)
    found = {
        "A->T": {"task_predicted": task_predicted, "attribute": attribute},
        "T->A": {"task": _together(task, combinations), "attribute_predicted": attribute_predicted},
        "MALS": {"task_predicted": task_predicted, "attribute_predicted": attribute_predicted},
    }[direction]
    labels = reference if direction == "MALS" else labels
    table = from_counts(direction, labels, count_named(**found), train=reference, pairs=True)
    table["task"] = [tuple(names[t] if names else t for t in combinations[m]) for m in table["task"]]
    delta = (table["delta"] * (table["y"] if direction == "MALS" else 1)).where(table["reason"] == "")
    groups = len(labels.attribute) if direction == "MALS" else 1
    return MultiAttribute(groups * float(delta.abs().mean()), float(delta.var(ddof=0)), table)


def _combinations(seen: np.ndarray, task: np.ndarray, *, largest: int, at_least: int) -> list[tuple[int, ...]]:
    """Return the combinations of up to `largest` columns that occur in both; each grows from one that occurs."""

    def occurs(columns):
        return min(seen[:, columns].all(axis=1).sum(), task[:, columns].all(axis=1).sum()) >= at_least

    level = [(t,) for t in range(task.shape[1]) if occurs([t])]
    single, found = [t for (t,) in level], []
    while level:
        found += level
        longer = [(*m, t) for m in level for t in single if t > m[-1]] if len(level[0]) < largest else []
        level = [m for m in longer if occurs(list(m))]
    return found


def _columns_of(task: np.ndarray, name: str, values) -> np.ndarray:
    (array,) = indicators(probabilities=False, **{name: values}).values()
    if array.shape[1] != task.shape[1]:
        raise ValueError(f"{name} must have the {task.shape[1]} columns of task, found {array.shape[1]}")
    return array.astype(bool)


def _together(task: np.ndarray, combinations: list[tuple[int, ...]]) -> np.ndarray:
    return np.stack([task[:, list(m)].all(axis=1) for m in combinations], axis=1)
