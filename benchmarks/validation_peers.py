"""The part of validation.py that asks other libraries, and compares."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests

import fairlib
from fairlib.intervals import multiplicity

EXACT = 1e-9  # apart from rounding, two computations are the same number


class Line(NamedTuple):
    """One source: how many values are compared, how many agree, and how closely."""

    source: str
    what: str
    values: int
    agree: int
    largest: float


def compared(
    source: str,
    what: str,
    ours: ArrayLike,
    expected: ArrayLike,
    *,
    within: ArrayLike = EXACT,
) -> Line:
    """Compare values one by one.

    What is undefined on one side only does not agree.
    """
    differences = np.asarray(ours, dtype=float) - np.asarray(expected, dtype=float)
    distance = np.abs(differences)
    if distance.size == 0:
        raise ValueError(f"{source}: there is nothing to compare")
    return Line(
        source=source,
        what=what,
        values=distance.size,
        agree=int(np.sum(distance <= within)),
        largest=float(np.max(distance)),
    )


def simulated() -> list[pd.DataFrame]:
    """Return tables of 300 cases in four groups, with probabilities that have ties."""
    tables = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 4, 300)
        label = rng.integers(0, 2, 300)
        score = rng.normal(0.4 + 0.2 * label + 0.05 * group, 0.2)
        score = np.round(np.clip(score, 0, 1), 2)
        tables.append(pd.DataFrame({"group": group, "label": label, "p_1": score}))
    return tables


def wasserstein() -> Line:
    """Compare the distance of each group to all with SciPy's."""
    ours = []
    expected = []
    for cases in simulated():
        measured = fairlib.measure(cases, ["AvgGF"], classes=[1])
        distances = measured.set_index("group")["value"]
        for name, scores in cases.groupby("group")["p_1"]:
            ours.append(distances[name])
            expected.append(stats.wasserstein_distance(scores, cases["p_1"]))
    return compared("SciPy", "W₁ of simulated scores", ours, expected)


def areas() -> Line:
    """Compare three areas of each group with scikit-learn's."""
    ours = []
    expected = []
    for cases in simulated():
        is_positive = cases["label"] == 1
        for row in fairlib.auc(cases, classes=[1]).to_dict("records"):
            is_inside = cases["group"] == row["group"]
            kept = {
                "SubgroupAUC": is_inside,
                "BPSN": is_inside != is_positive,
                "BNSP": is_inside == is_positive,
            }
            rows = cases[kept[row["metric"]]]

            ours.append(row["value"])
            expected.append(roc_auc_score(rows["label"], rows["p_1"]))
    return compared("scikit-learn", "areas under ROC curves, with ties", ours, expected)


def holm() -> Line:
    """Compare the adjusted p-values of five simulated families with statsmodels'."""
    families = np.random.default_rng(0).random((5, 100)) ** 4
    ours = [multiplicity.holm(family) for family in families]
    expected = [multipletests(family, method="holm")[1] for family in families]
    return compared("statsmodels", "Holm's adjusted p-values", ours, expected)


def prediction_powered() -> Line:
    """Compare the estimate and the half-width with ppi_py's, at one weight.

    ppi_py gets the means that the difference is made of. It divides variances by n
    where we divide by n - 1. Left alone, it also takes another weight: from the spread
    of all guesses, not only of those beside an annotation.
    """
    try:
        import ppi_py  # noqa: F401
    except ModuleNotFoundError as error:
        raise FileNotFoundError("needs the package ppi-python") from error

    n = 20_000
    known = np.arange(n) < 2000  # annotated
    ours = []
    expected = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        in_a = rng.random(n) < 0.4
        cost = rng.random(n) < np.where(in_a, 0.25, 0.2)
        guess = np.where(rng.random(n) < 0.9, in_a, ~in_a)

        interval = fairlib.annotation.prediction_powered(
            cost, guess, np.where(known, 2.0 * in_a - 1, np.nan)
        )
        ours += [interval.estimate, interval.half_width]
        expected += by_ppi_py(features(cost, in_a), features(cost, guess), known)

    what = "estimates and half-widths at one weight"
    return compared("ppi_py", what, ours, expected=expected, within=1e-5)


def by_ppi_py(truth: np.ndarray, guess: np.ndarray, known: np.ndarray) -> list[float]:
    """Return ppi_py's estimate and half-width of the difference, at our weight."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    sample = truth[known]
    guess_of_sample = guess[known]
    rest = guess[~known]
    slopes = derivatives(*sample.mean(axis=0))
    (_, covariance), (_, variance) = np.cov(sample @ slopes, guess_of_sample @ slopes)
    weight = covariance / variance / (1 + len(sample) / len(rest))

    means = ppi_mean_pointestimate(sample, guess_of_sample, rest, lam=weight)
    slopes = derivatives(*means)
    ends = ppi_mean_ci(
        sample @ slopes, guess_of_sample @ slopes, rest @ slopes, alpha=0.05, lam=weight
    )
    low, high = np.ravel(ends)
    a, share_a, b, share_b = means
    return [a / share_a - b / share_b, (high - low) / 2]


def features(cost: np.ndarray, in_a: np.ndarray) -> np.ndarray:
    """Return c 1_A, 1_A, c 1_B and 1_B of each example."""
    columns = [cost & in_a, in_a, cost & ~in_a, ~in_a]
    return np.stack(columns, axis=1).astype(float)


def derivatives(a: float, share_a: float, b: float, share_b: float) -> np.ndarray:
    """Return the derivatives of a / share_a - b / share_b."""
    return np.array([1 / share_a, -a / share_a**2, -1 / share_b, b / share_b**2])
