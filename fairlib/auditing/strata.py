"""Groups compared within strata, such as the departments of a university.

Applicants for one department are compared with applicants for the same department. The
common difference is Mantel and Haenszel's: Σ w (p₁ - p₂) / Σ w over strata, with
w = n₁ n₂ / (n₁ + n₂). Either side is then a mean of its rates with the same weights,
worth m (1 - m) / V independent cases, where V is the variance of the mean. A stratum
that holds one side only is not used. Greenland and Robins 1985, Biometrics 41.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairlib.auditing.attributes import Coded
from fairlib.auditing.comparing import Contrast, contrast, ends
from fairlib.auditing.questions import Question, Questions


def common(question: Question, within: Coded | None) -> Contrast:
    """Return what both sides of each comparison say, within strata if there are any."""
    if within is None:
        return contrast(question.sums, question.family)

    parts = [part for _, part in _by_stratum(question, within)]
    n = np.stack([part.n for part in parts])
    value = np.stack([part.value for part in parts])
    worth = np.stack([part.worth for part in parts])
    third = np.stack([part.third for part in parts])
    span = parts[0].span
    uses_probability = question.sums.rate.uses_probability

    with np.errstate(invalid="ignore", divide="ignore"):
        # One weight for both sides of a stratum: (strata, 1, groups).
        size = n.prod(axis=1) / np.maximum(n.sum(axis=1), 1)
        weight = (size / size.sum(axis=0))[:, None]

        def summed(term: np.ndarray) -> np.ndarray:
            return np.where(weight > 0, term, 0.0).sum(axis=0)

        # Half a case more keeps a share away from 0 and 1, where it has no variance.
        share = ((value + span - 1) / span * n + 0.5) / (n + 1)
        variance_of_part = share * (1 - share) / np.where(uses_probability, worth, n)
        variance = summed(weight**2 * variance_of_part)
        pooled_share = summed(weight * share)
        pooled_worth = pooled_share * (1 - pooled_share) / variance
        squared_weights = summed(weight**2 / n)
        units = np.where(squared_weights > 0, 1 / squared_weights, 0.0)
        units = np.floor(units + 1e-9)
        pooled_third = summed(weight**3 * third)

    cases = summed(n)
    if not uses_probability:
        pooled_worth = np.minimum(pooled_worth, cases)
    variance_others = variance[1] * span**2
    return Contrast(
        n=cases,
        value=np.where(units > 0, summed(weight * value), np.nan),
        units=units,
        worth=pooled_worth,
        freedom=np.full(n.shape[1:], np.inf),
        correlation=np.zeros(len(span)),
        span=span,
        variance=variance_others * units[1],
        variance_others=variance_others,
        expected=np.full(len(span), np.nan),
        third=pooled_third,
    )


def strata(questions: Questions) -> pd.DataFrame | None:
    """Return the comparisons in each stratum; None without strata.

    Each comparison has an interval for itself alone.
    """
    counts = questions.counts
    if counts.within is None:
        return None

    tables = []
    for question in questions.questions:
        about = question.sums.about(question.family)
        for stratum, part in _by_stratum(question, counts.within):
            low, high = ends(part, questions.setting.alpha)
            columns = {
                **about,
                "stratum": stratum,
                "n": part.n[0],
                "n_against": part.n[1],
                "value": part.value[0],
                "value_against": part.value[1],
                "difference": part.difference,
                "low": low,
                "high": high,
            }
            tables.append(pd.DataFrame(columns))

    rows = pd.concat(tables, ignore_index=True)
    return counts.in_units(rows.astype({"n": np.int64, "n_against": np.int64}))


def _by_stratum(question: Question, within: Coded) -> Iterator[tuple[str, Contrast]]:
    """Yield each stratum and the comparisons in it."""
    for code, name in enumerate(within.names):
        if name != within.missing:
            sums = question.sums.only(within.codes == code)
            yield name, contrast(sums, question.family)
