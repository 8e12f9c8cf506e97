"""What a user would take instead: other libraries, what an expert writes with NumPy, and research code's loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
from fairlearn import metrics as fairlearn
from scipy import stats
from sklearn.metrics import accuracy_score

GROUPS = 10
NAMES = ["group", "label", "prediction"]
RATES = ("accuracy", "selection rate", "true positive rate", "false positive rate")
FAIRLEARN = dict(
    zip(
        RATES,
        (accuracy_score, fairlearn.selection_rate, fairlearn.true_positive_rate, fairlearn.false_positive_rate),
        strict=True,
    )
)


def packed(group: np.ndarray, label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Count groups x label x prediction as somebody does who knows NumPy well."""
    code = group.astype(np.int64)
    for column in (label, prediction):
        code *= 2
        code += column
    return np.bincount(code, minlength=4 * GROUPS)


def group_by(frame: pd.DataFrame) -> pd.Series:
    """Count with pandas."""
    return frame.groupby(NAMES, observed=True).size()


def metric_frame(frame: pd.DataFrame, *, replicates: int = 0) -> np.ndarray:
    """Return groups x four rates from fairlearn, which draws rows again in a loop if there are replicates."""
    sampled = {"n_boot": replicates, "ci_quantiles": [0.025, 0.975], "random_state": 0} if replicates else {}
    found = fairlearn.MetricFrame(
        metrics=FAIRLEARN,
        y_true=frame["label"],
        y_pred=frame["prediction"],
        sensitive_features=frame["group"],
        **sampled,
    )
    return found.by_group[list(RATES)].to_numpy(dtype=float)


def scipy_difference(first: np.ndarray, second: np.ndarray, *, resamples: int) -> tuple[float, float]:
    """Return the percentile interval of a difference of two rates, from rows drawn again by SciPy in batches."""

    def difference(first, second, axis):
        return first.mean(axis=axis) - second.mean(axis=axis)

    batch = max(1, 10_000_000 // max(len(first), len(second)))
    options = {"method": "percentile", "vectorized": True, "n_resamples": resamples, "batch": batch, "rng": 0}
    return tuple(stats.bootstrap((first, second), difference, **options).confidence_interval)


def loop_over_pairs(task: np.ndarray, attribute: np.ndarray, task_predicted: np.ndarray) -> float:
    """BiasAmp A->T (eq. 2), pair by pair with masks over the rows: the way it is usually written."""
    total = 0.0
    for a in range(attribute.shape[1]):
        for t in range(task.shape[1]):
            has_attribute, has_task = attribute[:, a] == 1, task[:, t] == 1
            together = np.mean(has_attribute & has_task) > np.mean(has_attribute) * np.mean(has_task)
            delta = np.mean(task_predicted[has_attribute, t] == 1) - np.mean(task[has_attribute, t] == 1)
            total += delta if together else -delta
    return total / (attribute.shape[1] * task.shape[1])


def loop_over_rows(task: list[list[int]], attribute: list[list[int]], task_predicted: list[list[int]]) -> float:
    """BiasAmp A->T (eq. 2) in plain Python, row by row."""
    tasks, attributes, n = range(len(task[0])), range(len(attribute[0])), len(task)
    in_task, in_attribute = [0 for _ in tasks], [0 for _ in attributes]
    joint, predicted = ([[0 for _ in tasks] for _ in attributes] for _ in range(2))
    for task_row, attribute_row, predicted_row in zip(task, attribute, task_predicted, strict=True):
        for t in tasks:
            in_task[t] += task_row[t]
        for a in attributes:
            if attribute_row[a]:
                in_attribute[a] += 1
                for t in tasks:
                    joint[a][t] += task_row[t]
                    predicted[a][t] += predicted_row[t]
    total = 0.0
    for a in attributes:
        for t in tasks:
            delta = (predicted[a][t] - joint[a][t]) / in_attribute[a]
            total += delta if n * joint[a][t] > in_attribute[a] * in_task[t] else -delta
    return total / (len(attributes) * len(tasks))
