"""Groups compared within strata, such as the departments of a university.

Applicants for one department are compared with applicants for the same department. The
common difference is Mantel and Haenszel's: Σ w (p₁ - p₂) / Σ w over strata, with
w = n₁ n₂ / (n₁ + n₂). Either side is then a mean of its rates with the same weights,
worth m (1 - m) / V independent cases, where V is the variance of the mean. A stratum
that holds one side only is not used. Greenland and Robins 1985, Biometrics 41.

With sources, the variance is that of what each source adds to the two means (Liang and
Zeger 1986), with the corrections that `comparing` has for sources without strata.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.auditing.attributes import Coded
from fairlib.auditing.comparing import Contrast, contrast, ends, worth_of_units
from fairlib.auditing.few_sources import with_few_sources
from fairlib.auditing.groups import Family
from fairlib.auditing.questions import Question, Questions
from fairlib.auditing.sums import Sums


def common(question: Question, within: Coded | None) -> Contrast:
    """Return what both sides of each comparison say, within strata if there are any."""
    if within is None:
        apart = contrast(question.sums, question.family)
        return with_few_sources(apart, question.sums, question.family)

    if question.family.source is not None:
        return _between_sources(question, within)

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


def _between_sources(question: Question, within: Coded) -> Contrast:
    """Return what both sides say if the cases of a source belong together.

    The cost grows with the number of cells times the number of groups.
    """
    family = question.family
    span = float(question.sums.rate.farthest)
    known = question.sums.only(within.codes != _code_of_missing(within))

    sides = [_sides_of_group(known, family, group, within) for group in family.compared]
    cases, value, n2, n3, squares = (
        np.stack([getattr(side, name) for side in sides], axis=-1)
        for name in ("cases", "mean", "n2", "n3", "squares")
    )
    shared = np.array([side.shared for side in sides])

    with np.errstate(invalid="ignore", divide="ignore"):
        worth, freedom, correlation = worth_of_units(
            np.ones(value.shape),
            (value + span - 1) / span,
            n2=n2,
            n3=n3,
            squares=squares / span**2,
            shared=shared / span**2,
        )
        # A single source says nothing about how sources vary.
        worth = np.where(np.isfinite(worth), worth, np.nan)
        units = np.floor(np.nan_to_num(1 / n2, posinf=0.0) + 1e-9)
        variance = (value + span - 1) * (1 - value) / worth
        covariance = correlation * np.sqrt(variance.prod(axis=0))
        of_difference = variance.sum(axis=0) - 2 * covariance

    groups = len(family.compared)
    return Contrast(
        n=cases,
        value=value,
        units=units,
        worth=worth,
        freedom=freedom,
        correlation=correlation,
        span=np.full(groups, span),
        variance=of_difference * units[0],
        variance_others=np.zeros(groups),
        expected=np.full(groups, np.nan),
        third=np.zeros(value.shape),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Sides:
    """A group and those it is compared with, as means over strata.

    Attributes
    ----------
    cases, mean : ndarray, (2,)
        The number of cases that are used, and their standardised mean.
    n2, n3 : ndarray, (2,)
        Σ h² and Σ h³ over sources, where h is the share of a source in the mean.
    squares : ndarray, (2,)
        Σ r² over sources, where r is what a source adds to the mean.
    shared : float
        Σ r r' of the two sides.
    """

    cases: np.ndarray
    mean: np.ndarray
    n2: np.ndarray
    n3: np.ndarray
    squares: np.ndarray
    shared: float


def _sides_of_group(sums: Sums, family: Family, group: int, within: Coded) -> _Sides:
    """Return the means of a group and of its other side, and what sources add."""
    strata = len(within.names)
    is_in_group = family.codes == group
    is_in_others = ~is_in_group
    if family.reference is not None:
        is_in_others = family.codes == family.reference
    is_in_side = np.stack([is_in_group, is_in_others])

    n_of_cell = sums.power(1, 0)
    k_of_cell = sums.power(0, 1)
    n, k, cases = (
        np.stack(
            [
                np.bincount(within.codes, values * side, minlength=strata)
                for side in is_in_side
            ]
        )
        for values in (n_of_cell, k_of_cell, sums.count)
    )
    has_both = n.min(axis=0) > 0
    size = np.where(has_both, n.prod(axis=0) / np.maximum(n.sum(axis=0), 1e-300), 0.0)
    if not size.sum():
        undefined = np.full(2, np.nan)
        return _Sides(
            cases=np.zeros(2),
            mean=undefined,
            n2=undefined,
            n3=undefined,
            squares=undefined,
            shared=np.nan,
        )
    weight = size / size.sum()
    mean = np.where(has_both, k / np.where(has_both, n, 1), 0.0)

    # What one case of each cell counts in the mean of its side.
    factor = np.where(has_both, weight / np.where(has_both, n, 1), 0.0)
    assert family.source is not None  # this is only called for cases with sources
    factor_of_cell = factor[:, within.codes] * is_in_side
    residual_of_cell = k_of_cell - mean[:, within.codes] * n_of_cell
    share = np.stack(
        [np.bincount(family.source, part * n_of_cell) for part in factor_of_cell]
    )
    residual = np.stack(
        [np.bincount(family.source, part) for part in factor_of_cell * residual_of_cell]
    )
    return _Sides(
        cases=(cases * has_both).sum(axis=1),
        mean=(weight * mean).sum(axis=1),
        n2=(share**2).sum(axis=1),
        n3=(share**3).sum(axis=1),
        squares=(residual**2).sum(axis=1),
        shared=float(residual.prod(axis=0).sum()),
    )


def _code_of_missing(within: Coded) -> int:
    """Return the code of the cases without a stratum; -1 if there are none."""
    return -1 if within.missing is None else within.names.index(within.missing)


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
