"""phi: what is scored on a set of examples, the first choice behind every fairness metric.

A score is a function of `Cells`, the examples of each group (and, for counterfactual metrics, of each source), and
returns one number per cell or one distribution per cell. `fairlib.metrics.table2` shows how to write another one.

>>> import pandas as pd
>>> from fairlib.metrics.examples import read
>>> people = pd.DataFrame({"group": list("aabb"), "label": [1, 1, 1, 0], "prediction": [1, 0, 1, 1]})
>>> true_positive_rate(Cells(read(people), target=1, by_unit=False)).tolist()  # (replicates, units, groups)
[[[0.5, 1.0]]]
"""

from __future__ import annotations

import numpy as np

from fairlib.metrics.cells import Cells, Sample, described, divide


@described("False Positive Rate", given="label", needs="examples of another class")
def false_positive_rate(cells: Cells) -> np.ndarray:
    """How often the class is predicted where it is not true: FP / (FP + TN)."""
    return cells.rate("fp", "tn")


@described("False Negative Rate", given="label", needs="examples of the class")
def false_negative_rate(cells: Cells) -> np.ndarray:
    """How often the class is missed where it is true: FN / (FN + TP)."""
    return cells.rate("fn", "tp")


@described("True Positive Rate", given="label", needs="examples of the class")
def true_positive_rate(cells: Cells) -> np.ndarray:
    """How often the class is found where it is true: TP / (TP + FN)."""
    return cells.rate("tp", "fn")


@described("Recall", given="label", needs="examples of the class")
def recall(cells: Cells) -> np.ndarray:
    """The true positive rate under its other name."""
    return cells.rate("tp", "fn")


@described("True Negative Rate", given="label", needs="examples of another class")
def true_negative_rate(cells: Cells) -> np.ndarray:
    """How often the class is rightly not predicted: TN / (TN + FP)."""
    return cells.rate("tn", "fp")


@described("F1", given="label", needs="examples of the class or predictions of it")
def f1(cells: Cells) -> np.ndarray:
    """The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    count = cells.confusion
    return divide(2 * count["tp"], 2 * count["tp"] + count["fp"] + count["fn"])


@described("|{x ∈ A : ŷ(x) = c}| / |A|")
def predicted_rate(cells: Cells) -> np.ndarray:
    """How often the class is predicted at all, rightly or not."""
    return cells.share(cells.predicted)


@described("Accuracy")
def accuracy(cells: Cells) -> np.ndarray:
    """The share of examples whose class was predicted rightly, over all classes."""
    return cells.share(cells.correct)


@described("LAS")
def attachment(cells: Cells) -> np.ndarray:
    """The labelled attachment score: accuracy over tokens whose class is their head and relation together."""
    return cells.share(cells.correct)


@described("{f(x, c) | x ∈ A}")
def probabilities(cells: Cells) -> Sample:
    """All probabilities of the class that were assigned to the cell's examples."""
    return cells.sample("probability")


@described("f(x, c), A = {x}")
def probability(cells: Cells) -> Sample:
    """The probability of the class for one example at a time."""
    return cells.sample("probability")


@described("f(x, y(x)), A = {x}")
def gold_probability(cells: Cells) -> Sample:
    """The probability of the true class for one example at a time."""
    return cells.sample("gold_probability")


@described("mean({f(x, c) | x ∈ A})")
def mean_probability(cells: Cells) -> np.ndarray:
    """The mean probability of the class in the cell."""
    return cells.mean(cells.probability)
