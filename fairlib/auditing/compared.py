"""All questions answered: the comparisons, decided all together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from tqdm import tqdm

from fairlib.auditing import comparing
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import SUMMARY_SHARE, Setting
from fairlib.auditing.strata import common
from fairlib.intervals import multiplicity


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """The questions of an audit and their answers.

    Attributes
    ----------
    questions : Questions
        What is compared.
    contrast : Contrast
        What either side of each comparison says, and how surely.
    rows : DataFrame
        The decided comparisons, as of `Report.to_frame`.
    """

    questions: Questions
    contrast: Contrast
    rows: DataFrame


def compare_groups(questions: Questions, *, progress: bool = False) -> Compared:
    """Compare the groups, and decide on the comparisons, all of them together.

    Parameters
    ----------
    questions : Questions
        What is compared.
    progress : bool, default False
        Show a bar on the error stream where it takes more than 2 s.
    """
    about = [
        DataFrame(question.sums.about(question.family))
        for question in questions.questions
    ]

    bar = tqdm(questions.questions, desc="comparing", delay=2, disable=not progress)
    contrast = comparing.joined(
        [common(question, questions.counts.within) for question in bar]
    )

    rows = pd.concat(about, ignore_index=True)
    rows = pd.concat([rows, _numbers(contrast, rows["rate"], questions)], axis=1)
    _decide(rows, contrast, questions.setting)
    return Compared(
        questions=questions, contrast=contrast, rows=questions.counts.in_units(rows)
    )


def _numbers(contrast: Contrast, rates: Series, questions: Questions) -> DataFrame:
    """Return the columns that do not depend on how many comparisons there are."""
    setting = questions.setting
    cost = questions.counts.cost
    cost_margin = np.nan
    if setting.cost_margin is not None and cost is not None:
        cost_margin = setting.cost_margin / cost.reach

    value, value_against = contrast.value
    n, n_against = contrast.n.astype(np.int64)
    units, units_against = contrast.units.astype(np.int64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(contrast.span == 1, value / value_against, np.nan)
    return DataFrame(
        {
            "n": n,
            "n_against": n_against,
            "value": value,
            "value_against": value_against,
            "units": units,
            "units_against": units_against,
            "ratio": ratio,
            "difference": contrast.difference,
            "p": contrast.p,
            "margin": np.where(rates == COST, cost_margin, setting.margin),
        }
    )


def _decide(rows: DataFrame, contrast: Contrast, setting: Setting) -> None:
    """Add p-values for all comparisons together, intervals, verdicts and plans.

    The correction is Holm's. Max-T would need all comparisons for every draw.
    """
    is_small = contrast.units.min(axis=0) < setting.minimum
    share_of_alpha = 1 - SUMMARY_SHARE
    corrected = multiplicity.holm(rows["p"].mask(is_small)) / share_of_alpha
    rows["p_corrected"] = np.minimum(corrected, 1)
    tested = max(1, rows["p_corrected"].count())

    is_shown = rows["p_corrected"] <= setting.alpha
    is_hint = _is_hint(rows["p"], tested, setting.alpha) & ~is_shown

    # Where R of m comparisons say something, intervals of level R alpha / m keep the
    # false coverage rate (Benjamini and Yekutieli 2005, JASA 100). R is found from
    # above. What Holm's correction shows excludes 0 then: p <= alpha / (m - R + 1).
    decided = tested
    while True:
        level = np.where(is_hint, setting.alpha, setting.alpha * decided / tested)
        _add_intervals(rows, contrast, level)
        verdicts = {
            "too few": is_small,
            "undefined": rows["p"].isna() | rows["low"].isna(),
            "shown": is_shown,
            "hint": is_hint,
            "small": (rows["low"] > -rows["margin"]) & (rows["high"] < rows["margin"]),
        }
        rows["verdict"] = np.select(
            list(verdicts.values()), list(verdicts), default="open"
        )
        still_decided = max(1, rows["verdict"].isin(["shown", "small"]).sum())
        if still_decided >= decided:
            break
        decided = still_decided

    # Plans are for the first step of Holm's correction, and so a little too careful.
    with np.errstate(divide="ignore"):  # no difference, and no margin
        rows["settled_by"], rows["settled_growth"] = comparing.settling(
            contrast,
            size=np.fmax(np.abs(contrast.difference), rows["margin"].to_numpy()),
            alpha=share_of_alpha * setting.alpha / tested,
            power=setting.power,
        )


def _is_hint(p: Series, tested: int, alpha: float) -> Series:
    """Whether a comparison is rare by chance: less than one such among all of them."""
    return (p <= alpha) & (p * tested <= 1)


def _add_intervals(rows: DataFrame, contrast: Contrast, level: np.ndarray) -> None:
    """Add the intervals of differences and ratios at a level for each comparison."""
    rows["confidence"] = 1 - level
    rows["low"], rows["high"] = comparing.ends(contrast, level)
    rows["ratio_low"], rows["ratio_high"] = comparing.ratio_ends(contrast, level)
