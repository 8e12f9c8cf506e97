"""All questions answered: the comparisons, decided all together."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib.auditing import comparing
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import COST
from fairlib.auditing.setting import SUMMARY_SHARE
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
    rows: pd.DataFrame


def compare_groups(questions: Questions, *, progress: bool = False) -> Compared:
    """Compare the groups, and decide on the comparisons, all of them together.

    Parameters
    ----------
    questions : Questions
        What is compared.
    progress : bool, default False
        Show a bar on the error stream where it takes more than 2 s.
    """
    rows = pd.concat(
        [
            pd.DataFrame(question.sums.about(question.family))
            for question in questions.questions
        ],
        ignore_index=True,
    )

    bar = tqdm(questions.questions, desc="comparing", delay=2, disable=not progress)
    contrast = comparing.joined(
        [common(question, questions.counts.within) for question in bar]
    )

    return Compared(
        questions=questions,
        contrast=contrast,
        rows=_decided(rows, contrast, questions),
    )


def _decided(
    rows: pd.DataFrame, compared: Contrast, questions: Questions
) -> pd.DataFrame:
    """Decide on the comparisons, all of them together, and say how many more cases each would need.

    Costs get their units at the end. Holm's correction, not max-T, which would need all comparisons for every draw.
    """
    setting, cases = questions.setting, questions.counts
    sides = {
        "n": compared.n.astype(np.int64),
        "value": compared.value,
        "units": compared.units.astype(np.int64),
    }
    for name, values in sides.items():
        rows[name], rows[f"{name}_against"] = values
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["ratio"] = np.where(
            compared.span == 1, compared.value[0] / compared.value[1], np.nan
        )
    rows["difference"], rows["p"] = compared.difference, compared.p
    cost_margin = np.nan
    if setting.cost_margin is not None and cases.cost is not None:
        cost_margin = setting.cost_margin / cases.cost.reach
    rows["margin"] = margin = np.where(
        rows["rate"] == COST, cost_margin, setting.margin
    )
    share, few = (
        (1 - SUMMARY_SHARE) * setting.alpha,
        compared.units.min(axis=0) < setting.minimum,
    )
    rows["p_corrected"] = np.minimum(
        multiplicity.holm(rows["p"].mask(few)) / (1 - SUMMARY_SHARE), 1
    )
    tested, shown = (
        max(1, rows["p_corrected"].count()),
        rows["p_corrected"] <= setting.alpha,
    )
    # Not shown, and yet rare: among so many, chance makes less than one such on average.
    hint = (rows["p"] <= setting.alpha) & (rows["p"] * tested <= 1) & ~shown

    def decide(alpha: float) -> int:
        """Give intervals and verdicts at a level for each comparison; return how many say something."""
        level = np.where(hint, setting.alpha, alpha)
        rows["confidence"], (rows["low"], rows["high"]) = (
            1 - level,
            comparing.ends(compared, level),
        )
        rows["ratio_low"], rows["ratio_high"] = comparing.ratio_ends(compared, level)
        verdicts = {
            "too few": few,
            "undefined": rows["p"].isna() | rows["low"].isna(),
            "shown": shown,
            "hint": hint,
            "small": (rows["low"] > -margin) & (rows["high"] < margin),
        }
        rows["verdict"] = np.select([*verdicts.values()], [*verdicts], default="open")
        return rows["verdict"].isin(["shown", "small"]).sum()

    # Where R of m say something, intervals of level R alpha / m keep the false coverage rate (Benjamini and Yekutieli
    # 2005, JASA 100); R is found from above. What Holm's correction shows is off 0 then: p <= alpha / (m - R + 1).
    count = tested
    while (found := max(1, decide(setting.alpha * count / tested))) < count:
        count = found
    # Planned for the level at which one comparison among so many is shown; Holm's first step, so a little too careful.
    size = np.fmax(np.abs(compared.difference), margin)
    with np.errstate(divide="ignore"):  # no difference, and no margin
        settling = comparing.settling(
            compared, size=size, alpha=share / tested, power=setting.power
        )
    rows["settled_by"], rows["settled_growth"] = settling
    return cases.in_units(rows)
