"""From p-values to claims: what is shown, and intervals that agree with it.

An audit may ask about comparisons, metrics, equalized odds and calibration. Each part
gets a share of alpha, and all claims of a part keep to the part's share together. So
all claims of the audit together keep to alpha if the shares add up to 1.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.typing import ArrayLike
from pandas import Series
from scipy.special import ndtri

from fairlib.auditing.counts import Counts
from fairlib.intervals import multiplicity


def decide(
    p: ArrayLike, *, alpha: float, share: float = 1.0, joint: ArrayLike | None = None
) -> pd.DataFrame:
    """Say which of several differences are shown, all of them together.

    Parameters
    ----------
    p : array_like of float
        One p-value per question. NaN is no question.
    alpha : float
        How often an audit of a fair model may claim anything.
    share : float, default 1
        The part of alpha that these questions may use together.
    joint : array_like of float, optional
        P-values that are corrected for the number of questions already, as by
        `multiplicity.max_t`. By default, `p` is corrected by Holm's method.

    Returns
    -------
    DataFrame
        p_corrected : the corrected p-value divided by the share, so that it can be
        compared with alpha. verdict : "shown" if it is at most alpha, "undefined" if
        there is no p-value, and "open" otherwise.

    Raises
    ------
    ValueError
        If `share` does not lie in (0, 1].

    Examples
    --------
    >>> decide([0.001, 0.04, float("nan")], alpha=0.05, share=0.5)
       p_corrected    verdict
    0        0.004      shown
    1        0.080       open
    2          NaN  undefined
    """
    check_share(share)
    corrected = multiplicity.holm(p) if joint is None else np.asarray(joint, float)
    p_corrected = np.minimum(corrected / share, 1)

    verdict = np.select(
        [np.isnan(p_corrected), p_corrected <= alpha],
        ["undefined", "shown"],
        default="open",
    )
    return pd.DataFrame({"p_corrected": p_corrected, "verdict": verdict})


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """What is decided about each difference of a table.

    Attributes
    ----------
    p_corrected : ndarray
        The p-values for all differences together, in their share of alpha.
    verdict : ndarray of str
        "shown", "hint", "open", "too few" or "undefined".
    level : ndarray
        One minus the confidence of each interval.
    """

    p_corrected: ndarray
    verdict: ndarray
    level: ndarray


def decide_with_levels(
    p: Series, *, is_small: ndarray | Series, alpha: float, share: float
) -> Decision:
    """Decide on all differences of a table together.

    Parameters
    ----------
    p : Series
        The p-value of each difference alone.
    is_small : array_like of bool
        Which differences have too few cases to be tested.
    alpha : float
        One minus the confidence of the audit.
    share : float
        The part of alpha that all claims of the table may use together.
    """
    tested = p.mask(is_small)
    corrected = np.minimum(multiplicity.holm(tested) / share, 1)
    number = max(1, int(tested.notna().sum()))

    # A hint is rare by chance: less than one such is expected among all.
    is_shown = corrected <= alpha
    is_hint = (tested <= alpha) & (tested * number <= 1) & ~is_shown
    verdict = np.select(
        [is_small, tested.isna(), is_shown, is_hint],
        ["too few", "undefined", "shown", "hint"],
        default="open",
    )

    # The levels of `compared`: what is shown keeps the false coverage rate, a hint has
    # an interval for itself alone, and what stays open has one that includes 0.
    shown = max(1, int(is_shown.sum()))
    level = np.select(
        [is_hint, is_shown],
        [alpha, alpha * shown / number],
        default=alpha / number,
    )
    return Decision(p_corrected=corrected, verdict=verdict, level=level)


def check_share(share: float) -> None:
    """Raise unless a share of alpha lies in (0, 1]."""
    if not 0 < share <= 1:
        raise ValueError(f"share must lie above 0 and be at most 1, found {share!r}")


def ignored_columns(subject: str, counts: Counts) -> list[str]:
    """Say why something is left out that takes neither strata nor weights.

    Parameters
    ----------
    subject : str
        What is left out; the subject of a sentence, in the plural.
    counts : Counts
        The cases.

    Returns
    -------
    list of str
        One note for strata and one for weights, if there are any.
    """
    notes = []
    if counts.within is not None:
        notes.append(f"{subject} do not take strata into account and are left out.")
    if (1, 0) in counts.powers:
        notes.append(f"{subject} do not take weights into account and are left out.")
    return notes


def level_of_intervals(verdict: ArrayLike, *, alpha: float) -> float:
    """Return the level at which intervals beside these verdicts may miss the truth.

    Where R of m questions are shown, intervals of level R alpha / m miss in at most a
    share alpha of what is shown. What Holm's method shows excludes 0 at this level.

    Parameters
    ----------
    verdict : array_like of str
        The verdicts on all questions.
    alpha : float
        One minus the confidence of the audit.

    References
    ----------
    Benjamini and Yekutieli 2005, JASA 100.
    """
    verdicts = np.asarray(verdict)
    questions = max(1, (verdicts != "undefined").sum())
    return alpha * max(1, (verdicts == "shown").sum()) / questions


def agreeing(
    value: ArrayLike,
    ends: tuple[ArrayLike, ArrayLike],
    *,
    p: ArrayLike,
    level: ArrayLike,
    is_shown: ArrayLike,
    null: ArrayLike = 0.0,
) -> tuple[ndarray, ndarray]:
    """Return intervals that exclude "no difference" exactly where one is shown.

    Tests and intervals that were made in different ways may disagree at the border.
    Where a difference is not shown, the interval is extended to "no difference". Where
    one is shown, an interval that reaches "no difference" is cut where the test puts
    its end: z(level) / z(p) of the way from the value to "no difference".

    Parameters
    ----------
    value : array_like of float
        The estimates.
    ends : tuple of array_like
        The low and the high ends.
    p : array_like of float
        The p-values of the tests, below `level` where a difference is shown.
    level : array_like of float
        How often each interval may miss.
    is_shown : array_like of bool
        Where a difference is shown.
    null : array_like of float, default 0
        What "no difference" is.

    References
    ----------
    Miettinen 1976, American Journal of Epidemiology 103, for limits from a test.
    """
    estimate = np.asarray(value, dtype=float)
    low, high = (np.asarray(end, dtype=float) for end in ends)
    neutral = np.broadcast_to(np.asarray(null, dtype=float), estimate.shape)

    with np.errstate(invalid="ignore", divide="ignore"):
        way = ndtri(np.asarray(level) / 2) / ndtri(np.asarray(p) / 2)
        border = estimate + (neutral - estimate) * np.clip(way, 0, 1)

    is_above = estimate > neutral
    is_below = estimate < neutral
    shown_low = np.where(is_above & (low <= neutral), border, low)
    shown_high = np.where(is_below & (high >= neutral), border, high)
    return (
        np.where(is_shown, shown_low, np.minimum(low, neutral)),
        np.where(is_shown, shown_high, np.maximum(high, neutral)),
    )
