"""All questions answered: the comparisons, decided all together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series
from tqdm import tqdm

from fairlib.auditing import comparing
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import Setting
from fairlib.auditing.shares import shares_of_alpha
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
        DataFrame(question.sums.about(question.family) | {"question": question.kind})
        for question in questions.questions
    ]

    within = questions.counts.within
    # No bar in the log of a pipeline, and none into a stream that may be full.
    hidden = None if progress else True  # None: hidden unless a terminal shows it
    bar = tqdm(questions.questions, desc="comparing", delay=2, disable=hidden)
    contrast = comparing.joined([common(question, within) for question in bar])

    rows = pd.concat(about, ignore_index=True)
    rows = pd.concat([rows, _numbers(contrast, rows["rate"], questions)], axis=1)
    if within is not None:
        # The rates of the cases themselves, beside the means over strata.
        crude = comparing.joined(
            [
                comparing.contrast(question.sums, question.family)
                for question in questions.questions
            ]
        )
        rows["crude"], rows["crude_against"] = crude.value

    share = shares_of_alpha(questions.counts)["comparisons"]
    _decide(rows, contrast, questions.setting, share=share)
    _plan(rows, contrast, questions, share=share)
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


def _decide(
    rows: DataFrame, contrast: Contrast, setting: Setting, *, share: float
) -> None:
    """Add p-values for all comparisons together, intervals, sizes and verdicts.

    The correction is Holm's, within the comparisons' share of alpha. Max-T would need
    all comparisons for every draw.
    """
    is_small = contrast.units.min(axis=0) < setting.fewest
    corrected = multiplicity.holm(rows["p"].mask(is_small)) / share
    rows["p_corrected"] = np.minimum(corrected, 1)
    tested = max(1, rows["p_corrected"].count())

    is_shown = rows["p_corrected"] <= setting.alpha
    is_hint = _is_hint(rows["p"], tested, setting.alpha) & ~is_shown

    # Where R of m comparisons say something, intervals of level R alpha / m keep the
    # false coverage rate (Benjamini and Yekutieli 2005, JASA 100). R is found from
    # above. What Holm's correction shows excludes 0 then: p <= alpha / (m - R + 1).
    # The interval of a hint is for its comparison alone. What stays open has the
    # interval of level alpha / m, which includes 0: otherwise it would be a hint.
    decided = tested
    is_decided = Series(True, index=rows.index)
    while True:
        level = np.select(
            [is_hint, is_decided],
            [setting.alpha, setting.alpha * decided / tested],
            default=setting.alpha / tested,
        )
        _add_intervals(rows, contrast, level)
        verdicts = {
            "too few": is_small,
            "undefined": rows["p"].isna() | rows["low"].isna(),
            "shown": is_shown,
            "hint": is_hint,
            "small": is_decided & _is_within_margin(rows),
        }
        rows["verdict"] = np.select(
            list(verdicts.values()), list(verdicts), default="open"
        )
        now_decided = rows["verdict"].isin(["shown", "small"])
        number = max(1, now_decided.sum())
        if number >= decided and (now_decided == is_decided).all():
            break
        decided = number
        is_decided = now_decided

    rows["size"] = _sizes(rows)
    rows["ratio_size"] = _ratio_sizes(rows, setting.ratio_margin)


def _is_within_margin(rows: DataFrame) -> Series:
    """Whether an interval lies between the margins."""
    return (rows["low"] > -rows["margin"]) & (rows["high"] < rows["margin"])


def _sizes(rows: DataFrame) -> ndarray:
    """Say what the intervals of differences support, compared with the margin.

    "beyond": at least the margin. "within": less than it. "open": either is possible.
    Empty where there is no margin, or no interval.
    """
    is_known = rows["margin"].notna() & rows["low"].notna()
    is_beyond = (rows["low"] >= rows["margin"]) | (rows["high"] <= -rows["margin"])
    return np.select(
        [~is_known, is_beyond, _is_within_margin(rows)],
        ["", "beyond", "within"],
        default="open",
    )


def _ratio_sizes(rows: DataFrame, margin: float) -> ndarray:
    """Say what the intervals of ratios support, compared with the margin of ratios."""
    low = rows["ratio_low"]
    high = rows["ratio_high"]
    is_known = low.notna() & high.notna()
    is_beyond = (high < margin) | (low > 1 / margin)
    is_within = (low > margin) & (high < 1 / margin)
    return np.select(
        [~is_known, is_beyond, is_within], ["", "beyond", "within"], default="open"
    )


def _plan(
    rows: DataFrame, contrast: Contrast, questions: Questions, *, share: float
) -> None:
    """Add how many more cases would settle a comparison, and of which group.

    Of two groups, more cases are planned for the smaller one, whatever its name. Plans
    are for the first step of Holm's correction, and so a little too careful.
    """
    setting = questions.setting
    tested = max(1, rows["p_corrected"].count())
    is_pair = np.concatenate(
        [
            np.full(len(question.family.compared), question.family.is_pair)
            for question in questions.questions
        ]
    )
    is_against = is_pair & (contrast.units[1] < contrast.units[0])
    rows["more_of"] = np.where(is_against, rows["against"], rows["group"])

    with np.errstate(divide="ignore", invalid="ignore"):  # no difference, no margin
        size = np.fmax(np.abs(contrast.difference), rows["margin"].to_numpy())
        level = share * setting.alpha / tested
        of_group = comparing.settling(
            contrast, size=size, alpha=level, power=setting.power
        )
        of_against = comparing.settling(
            comparing.planned_for_others(contrast),
            size=size,
            alpha=level,
            power=setting.power,
        )
    rows["settled_by"] = np.where(is_against, of_against[0], of_group[0])
    rows["settled_growth"] = np.where(is_against, of_against[1], of_group[1])


def _is_hint(p: Series, tested: int, alpha: float) -> Series:
    """Whether a comparison is rare by chance: less than one such among all of them."""
    return (p <= alpha) & (p * tested <= 1)


def _add_intervals(rows: DataFrame, contrast: Contrast, level: ndarray) -> None:
    """Add the intervals of differences and ratios at a level for each comparison."""
    rows["confidence"] = 1 - level
    rows["low"], rows["high"] = comparing.ends(contrast, level)
    rows["ratio_low"], rows["ratio_high"] = comparing.ratio_ends(contrast, level)
