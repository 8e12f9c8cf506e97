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
    """Return what either side of each comparison says, within strata if there are any."""
    if within is None:
        return contrast(question.sums, question.family)
    uses_probability = question.sums.rate.uses_probability
    parts = [part for _, part in _by_stratum(question, within)]
    n, value, worth = (
        np.stack([getattr(part, name) for part in parts])
        for name in ("n", "value", "worth")
    )
    weight, span = n.prod(axis=1) / np.maximum(n.sum(axis=1), 1), parts[0].span
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = (weight / weight.sum(axis=0))[:, None]
        share = ((value + span - 1) / span * n + 0.5) / (n + 1)  # off the edge
        each = share * (1 - share) / np.where(uses_probability, worth, n)
        third = weight**3 * np.stack([part.third for part in parts])
        terms = (
            n,
            weight * value,
            weight * share,
            weight**2 * each,
            weight**2 / n,
            third,
        )
        used, mean, own, variance, size, third = (
            np.where(weight > 0, term, 0.0).sum(axis=0) for term in terms
        )
        worth, units = (
            own * (1 - own) / variance,
            np.floor(np.where(size > 0, 1 / size, 0.0) + 1e-9),
        )
    mean = np.where(units > 0, mean, np.nan)
    worth = worth if uses_probability else np.minimum(worth, used)
    others = variance[1] * span**2
    return Contrast(
        n=used,
        value=mean,
        units=units,
        worth=worth,
        freedom=np.full(mean.shape, np.inf),
        correlation=np.zeros(len(span)),
        span=span,
        variance=others * units[1],
        variance_others=others,
        expected=np.full(len(span), np.nan),
        third=third,
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
