"""phi: what is scored on a set of examples, the first choice behind every fairness metric.

A score is a function of `Cells`, the examples of each group (and, for counterfactual metrics, of each source), and
returns one number per cell or one distribution per cell. `fairlib.metrics.table2` shows how to write another one.

>>> import pandas as pd
>>> from fairlib.metrics.examples import read
>>> people = pd.DataFrame({"group": list("aabb"), "label": [1, 1, 1, 0], "prediction": [1, 0, 1, 1]})
>>> true_positive_rate(Cells(read(people), target=1, by_unit=False)).tolist()  # (replicates, units, groups)
[[[0.5, 1.0]]]
"""

import numpy as np

from fairlib.metrics.cells import Cells, Sample, background, described, divide
from fairlib.metrics.comparisons import superiority


def _rate(symbol: str, part: str, rest: str, meaning: str):
    """Return the score that divides one count of the confusion by the sum of two, part / (part + rest)."""
    needs = (
        "examples of the class" if "TP" in (part, rest) else "examples of another class"
    )

    @described(symbol, given="label", needs=needs)
    def rate(cells: Cells) -> np.ndarray:
        count = cells.confusion
        return divide(count[part], count[part] + count[rest])

    rate.__name__, rate.__doc__ = (
        symbol.lower().replace(" ", "_"),
        f"{meaning}: {part} / ({part} + {rest}).",
    )
    return rate


false_positive_rate = _rate(
    "False Positive Rate",
    "FP",
    "TN",
    "How often the class is predicted where it is not true",
)
false_negative_rate = _rate(
    "False Negative Rate", "FN", "TP", "How often the class is missed where it is true"
)
true_positive_rate = _rate(
    "True Positive Rate", "TP", "FN", "How often the class is found where it is true"
)
true_negative_rate = _rate(
    "True Negative Rate", "TN", "FP", "How often the class is rightly not predicted"
)
recall = _rate("Recall", "TP", "FN", "The true positive rate under its other name")


@described("F1", given="label", needs="examples of the class or predictions of it")
def f1(cells: Cells) -> np.ndarray:
    """The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    count = cells.confusion
    return divide(2 * count["TP"], 2 * count["TP"] + count["FP"] + count["FN"])


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


def _area(symbol: str, positives: str, negatives: str):
    """Return the area under the ROC curve of two sets of examples (Borkan et al. 2019)."""

    @described(symbol, given="label", needs="positive or negative examples to compare")
    def area(cells: Cells) -> np.ndarray:
        """How often a positive example has a higher probability than a negative one."""
        sets = {"its": cells, "others": background(cells, "complement")}
        above = sets[positives].sample(cells.probability, among=cells.gold)
        return superiority(
            above, sets[negatives].sample(cells.probability, among=~cells.gold)
        )

    return area


subgroup_auc = _area("AUC within the group", "its", "its")
bpsn = _area("AUC, others' positives, its negatives", "others", "its")
bnsp = _area("AUC, its positives, others' negatives", "its", "others")
