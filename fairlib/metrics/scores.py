"""What is measured on a group: the first of the two choices behind a fairness metric.

The paper calls it a score, phi. A score is a function of `Cells`, the examples of each
group (and, for counterfactual metrics, of each source). It returns one number per cell,
or one distribution per cell. `fairlib.metrics.table2` shows how to write another one.

>>> import pandas as pd
>>> from fairlib.metrics.examples import read
>>> people = pd.DataFrame({"group": list("aabb"), "label": [1, 1, 1, 0]})
>>> people["prediction"] = [1, 0, 1, 1]
>>> cells = Cells(read(people), target=1, by_unit=False)
>>> true_positive_rate(cells).tolist()  # (draws, units, groups)
[[[0.5, 1.0]]]
"""

from numpy import ndarray

from fairlib.metrics.cells import Cells, Sample, background, described, divide
from fairlib.metrics.comparisons import superiority

# --- rates of right and wrong predictions ---------------------------------------------


@described(
    symbol="False Positive Rate",
    words="How often the class is predicted where it is not true: FP / (FP + TN)",
    given="label",
    needs="examples of another class",
)
def false_positive_rate(cells: Cells) -> ndarray:
    """Return how often the class is predicted where it is not true: FP / (FP + TN).

    If the class is "will reoffend", this is the share of people who did not reoffend
    and were predicted to.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates; NaN where no example has another class.
    """
    counts = cells.confusion
    return divide(counts["FP"], counts["FP"] + counts["TN"])


@described(
    symbol="False Negative Rate",
    words="How often the class is missed where it is true: FN / (FN + TP)",
    given="label",
    needs="examples of the class",
)
def false_negative_rate(cells: Cells) -> ndarray:
    """Return how often the class is missed where it is true: FN / (FN + TP).

    If the class is "needs treatment", this is the share of people who needed treatment
    and were overlooked.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates; NaN where no example has the class.
    """
    counts = cells.confusion
    return divide(counts["FN"], counts["FN"] + counts["TP"])


@described(
    symbol="True Positive Rate",
    words="How often the class is found where it is true: TP / (TP + FN)",
    given="label",
    needs="examples of the class",
)
def true_positive_rate(cells: Cells) -> ndarray:
    """Return how often the class is found where it is true: TP / (TP + FN).

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates; NaN where no example has the class.
    """
    counts = cells.confusion
    return divide(counts["TP"], counts["TP"] + counts["FN"])


@described(
    symbol="True Negative Rate",
    words="How often the class is rightly not predicted: TN / (TN + FP)",
    given="label",
    needs="examples of another class",
)
def true_negative_rate(cells: Cells) -> ndarray:
    """Return how often the class is rightly not predicted: TN / (TN + FP).

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates; NaN where no example has another class.
    """
    counts = cells.confusion
    return divide(counts["TN"], counts["TN"] + counts["FP"])


@described(
    symbol="Recall",
    words="The true positive rate under its other name: TP / (TP + FN)",
    given="label",
    needs="examples of the class",
)
def recall(cells: Cells) -> ndarray:
    """Return the true positive rate under its other name: TP / (TP + FN).

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates; NaN where no example has the class.
    """
    return true_positive_rate(cells)


@described(
    symbol="F1",
    words="The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)",
    given="label",
    needs="examples of the class or predictions of it",
)
def f1(cells: Cells) -> ndarray:
    """Return the harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The values; NaN where the class is neither true nor predicted of any example.
    """
    counts = cells.confusion
    return divide(2 * counts["TP"], 2 * counts["TP"] + counts["FP"] + counts["FN"])


@described(
    symbol="|{x ∈ A : ŷ(x) = c}| / |A|",
    words="How often the class is predicted at all, rightly or not",
)
def predicted_rate(cells: Cells) -> ndarray:
    """Return how often the class is predicted at all, rightly or not.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The rates.
    """
    return cells.share(cells.predicted)


@described(
    symbol="Accuracy",
    words="The share of examples whose class was predicted rightly, over all classes",
)
def accuracy(cells: Cells) -> ndarray:
    """Return the share of examples whose class was predicted rightly.

    All classes count together, not one against the rest.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The shares.
    """
    return cells.share(cells.correct)


@described(
    symbol="LAS",
    words="The labelled attachment score: accuracy over tokens whose class is their "
    "head and relation together",
)
def attachment(cells: Cells) -> ndarray:
    """Return the labelled attachment score of a parser.

    This is the accuracy over tokens, where the class of a token is its head and its
    relation to the head together.

    Parameters
    ----------
    cells : Cells
        The tokens of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The shares.
    """
    return cells.share(cells.correct)


# --- probabilities --------------------------------------------------------------------


@described(
    symbol="{f(x, c) | x ∈ A}",
    words="All probabilities of the class that were assigned to the cell's examples",
)
def probabilities(cells: Cells) -> Sample:
    """Return all probabilities of the class that were assigned to a cell's examples.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    Sample
        One distribution per cell, compared as a whole.
    """
    return cells.sample("probability")


@described(
    symbol="f(x, c), A = {x}",
    words="The probability of the class for one example at a time",
)
def probability(cells: Cells) -> Sample:
    """Return the probability of the class, to be compared one example at a time.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    Sample
        One distribution per cell, from which a metric with `single` takes one value at
        a time.
    """
    return cells.sample("probability")


@described(
    symbol="f(x, y(x)), A = {x}",
    words="The probability of the true class for one example at a time",
)
def gold_probability(cells: Cells) -> Sample:
    """Return the probability of the true class, to be compared one example at a time.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    Sample
        One distribution per cell, from which a metric with `single` takes one value at
        a time.
    """
    return cells.sample("gold_probability")


@described(
    symbol="mean({f(x, c) | x ∈ A})",
    words="The mean probability of the class in the cell",
)
def mean_probability(cells: Cells) -> ndarray:
    """Return the mean probability of the class in each cell.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The means.
    """
    return cells.mean(cells.probability)


# --- areas under a ROC curve ----------------------------------------------------------

_WORDS_OF_AREAS = (
    "How often a positive example has a higher probability than a negative one"
)
_NEEDS_OF_AREAS = "positive or negative examples to compare"


@described(
    symbol="AUC within the group",
    words=_WORDS_OF_AREAS,
    given="label",
    needs=_NEEDS_OF_AREAS,
)
def subgroup_auc(cells: Cells) -> ndarray:
    """Return how often a group's positives are more probable than its own negatives.

    A low area means that the model cannot tell the classes apart within the group.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The areas; NaN where positives or negatives are missing.

    References
    ----------
    D. Borkan et al. (2019). Nuanced metrics for measuring unintended bias with real
    data for text classification. WWW 2019 companion.
    """
    return _area(cells, positives=cells, negatives=cells)


@described(
    symbol="AUC, others' positives, its negatives",
    words=_WORDS_OF_AREAS,
    given="label",
    needs=_NEEDS_OF_AREAS,
)
def bpsn(cells: Cells) -> ndarray:
    """Return how often other groups' positives are more probable than its negatives.

    The name means: background positives, subgroup negatives. A low area means that the
    group is falsely flagged: its negatives look like positives of other groups.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The areas; NaN where positives or negatives are missing.

    References
    ----------
    D. Borkan et al. (2019), as for `subgroup_auc`.
    """
    return _area(cells, positives=background(cells, "complement"), negatives=cells)


@described(
    symbol="AUC, its positives, others' negatives",
    words=_WORDS_OF_AREAS,
    given="label",
    needs=_NEEDS_OF_AREAS,
)
def bnsp(cells: Cells) -> ndarray:
    """Return how often its positives are more probable than other groups' negatives.

    The name means: background negatives, subgroup positives. A low area means that the
    group is missed: its positives look like negatives of other groups.

    Parameters
    ----------
    cells : Cells
        The examples of each group.

    Returns
    -------
    ndarray of shape (draws, units, groups)
        The areas; NaN where positives or negatives are missing.

    References
    ----------
    D. Borkan et al. (2019), as for `subgroup_auc`.
    """
    return _area(cells, positives=cells, negatives=background(cells, "complement"))


def _area(cells: Cells, *, positives: Cells, negatives: Cells) -> ndarray:
    """Return the area under the ROC curve of these positives and negatives."""
    above = positives.sample(cells.probability, among=cells.gold)
    below = negatives.sample(cells.probability, among=~cells.gold)
    return superiority(above, below)
