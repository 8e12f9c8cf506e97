"""The part of validation.py that computes what other libraries say of the same data, and the comparing itself."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests

import fairlib
from fairlib.intervals import multiplicity

EXACT = 1e-9  # apart from rounding, two computations are the same number


class Line(NamedTuple):
    """One source: how many values there are to compare, how many agree, and the largest difference."""

    source: str
    what: str
    values: int
    agree: int
    largest: float


def compared(source: str, what: str, found, expected, within=EXACT) -> Line:
    """Compare values one by one; what is undefined on one side only does not agree."""
    apart = np.abs(np.asarray(found, dtype=float) - np.asarray(expected, dtype=float))
    if apart.size == 0:
        raise ValueError(f"{source}: there is nothing to compare")
    return Line(
        source, what, apart.size, int(np.sum(apart <= within)), float(np.max(apart))
    )


def simulated() -> list[pd.DataFrame]:
    """Return tables of 300 cases in four groups, with probabilities that have ties."""
    tables = []
    for rng in map(np.random.default_rng, range(25)):
        group, label = rng.integers(0, 4, 300), rng.integers(0, 2, 300)
        score = np.round(
            np.clip(rng.normal(0.4 + 0.2 * label + 0.05 * group, 0.2), 0, 1), 2
        )
        tables.append(pd.DataFrame({"group": group, "label": label, "p_1": score}))
    return tables


def wasserstein() -> Line:
    """Each group's distance to all, beside SciPy's."""
    found, expected = [], []
    for cases in simulated():
        values = fairlib.measure(cases, ["AvgGF"], classes=[1]).set_index("group")[
            "value"
        ]
        for name, scores in cases.groupby("group")["p_1"]:
            found.append(values[name])
            expected.append(stats.wasserstein_distance(scores, cases["p_1"]))
    return compared("SciPy", "W₁ of simulated scores", found, expected)


def areas() -> Line:
    """Three areas of each group, beside scikit-learn's."""
    found, expected = [], []
    for cases in simulated():
        for (name, metric), value in (
            fairlib.auc(cases, classes=[1])
            .set_index(["group", "metric"])["value"]
            .items()
        ):
            inside, positive = cases["group"] == name, cases["label"] == 1
            kept = cases[
                {
                    "SubgroupAUC": inside,
                    "BPSN": inside != positive,
                    "BNSP": inside == positive,
                }[metric]
            ]
            found.append(value)
            expected.append(roc_auc_score(kept["label"], kept["p_1"]))
    return compared(
        "scikit-learn", "areas under ROC curves, with ties", found, expected
    )


def holm() -> Line:
    """Adjusted p-values of five simulated families, beside statsmodels'."""
    families = np.random.default_rng(0).random((5, 100)) ** 4
    expected = [multipletests(p, method="holm")[1] for p in families]
    return compared(
        "statsmodels",
        "Holm's adjusted p-values",
        list(map(multiplicity.holm, families)),
        expected,
    )


def prediction_powered() -> Line:
    """The estimate and half-width beside ppi_py's, at one weight, for the means that the difference is made of.

    ppi_py divides variances by n where we divide by n - 1. Left alone, it also takes another weight: from the spread of
    all guesses, not only of those beside an annotation.
    """
    try:
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
    except ModuleNotFoundError as why:
        raise FileNotFoundError("needs the package ppi-python") from why
    n, annotated, found, expected = 20_000, 2000, [], []
    for rng in map(np.random.default_rng, range(20)):
        in_a, known = rng.random(n) < 0.4, np.arange(n) < annotated
        cost = rng.random(n) < np.where(in_a, 0.25, 0.2)
        guess = np.where(rng.random(n) < 0.9, in_a, ~in_a)
        ours = fairlib.annotation.prediction_powered(
            cost, guess, np.where(known, 2.0 * in_a - 1, np.nan)
        )
        truth, guessed = (
            np.stack([cost & a, a, cost & ~a, ~a], axis=1).astype(float)
            for a in (in_a, guess)
        )
        parts = truth[known], guessed[known], guessed[~known]
        (_, covariance), (_, variance) = np.cov(
            *(part @ derivatives(*parts[0].mean(axis=0)) for part in parts[:2])
        )
        weight = covariance / variance / (1 + annotated / (n - annotated))
        a, share_a, b, share_b = means = ppi_mean_pointestimate(*parts, lam=weight)
        low, high = np.ravel(
            ppi_mean_ci(
                *(part @ derivatives(*means) for part in parts), alpha=0.05, lam=weight
            )
        )
        found += [ours.estimate, ours.half_width]
        expected += [a / share_a - b / share_b, (high - low) / 2]
    return compared(
        "ppi_py",
        "estimates and half-widths at one weight",
        found,
        expected,
        within=1e-5,
    )


def derivatives(a: float, share_a: float, b: float, share_b: float) -> np.ndarray:
    """Return those of a / share_a - b / share_b."""
    return np.array([1 / share_a, -a / share_a**2, -1 / share_b, b / share_b**2])
