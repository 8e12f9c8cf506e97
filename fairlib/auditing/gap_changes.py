"""Whether another model narrows the gaps between groups, or widens them.

The gap between two groups is the difference of their rates. With another model, each
rate changes; the gap changes by the difference of these changes. A case adds 1, 0 or -1
to the change of its group, so the change of a gap is a difference of means like any
other, and has the same interval and the same test as other comparisons.
"""

import numpy as np
import pandas as pd
from pandas import DataFrame

from fairlib.auditing import comparing
from fairlib.auditing.changes import Paired, paired_rates
from fairlib.auditing.claims import decide_with_levels
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.questions import Question, Questions
from fairlib.auditing.strata import common
from fairlib.auditing.sums import Sums


def gap_changes(questions: Questions, *, share: float) -> DataFrame | None:
    """Return by how much each gap changes with the other model.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float
        The part of alpha that all these claims may use together.

    Returns
    -------
    DataFrame or None
        None without another model. Otherwise one row per comparison and rate:
        `gap_before` and `gap_after`, the rate of the group minus that of those it is
        compared with; `change`, how much the gap changes, with the interval from `low`
        to `high`, which excludes 0 exactly where there is evidence; `p` and
        `p_corrected` (Holm, within the share of alpha); `direction`, "narrower",
        "wider" or "other sign" (the gap changes its side, and is as large as the margin
        on both); `verdict`.
    """
    gaps = [_gaps(paired, questions) for paired in paired_rates(questions)]
    if not gaps:
        return None

    rows = pd.concat([frame for frame, _ in gaps], ignore_index=True)
    change = comparing.joined([contrast for _, contrast in gaps])
    setting = questions.setting
    is_small = rows[["units", "units_against"]].min(axis=1) < setting.fewest
    decision = decide_with_levels(
        rows["p"], is_small=is_small, alpha=setting.alpha, share=share
    )

    rows["p_corrected"] = decision.p_corrected
    rows["confidence"] = 1 - decision.level
    rows["low"], rows["high"] = comparing.ends(change, decision.level)
    rows["direction"] = _directions(
        rows["gap_before"], rows["gap_after"], margin=setting.margin
    )
    rows["verdict"] = decision.verdict
    estimates = ["gap_before", "gap_after", "change", "low", "high", "p"]
    rows.loc[is_small, estimates] = np.nan
    return rows


def _gaps(paired: Paired, questions: Questions) -> tuple[DataFrame, Contrast]:
    """Return the gaps of one rate between the groups of an attribute, and changes."""
    family = paired.family
    within = questions.counts.within

    def sides(sums: Sums) -> Contrast:
        question = Question(sums=sums, family=family, kind=paired.kind)
        return common(question, within)

    change = sides(paired.change)
    before = sides(paired.before)
    after = sides(paired.after)
    n, n_against = change.n.astype(np.int64)
    units, units_against = change.units

    columns = {
        **paired.before.about(family),
        "question": paired.kind,
        "n": n,
        "n_against": n_against,
        "units": units,
        "units_against": units_against,
        "gap_before": before.difference,
        "gap_after": after.difference,
        "change": change.difference,
        "p": change.p,
    }
    return DataFrame(columns), change


def _directions(before: pd.Series, after: pd.Series, *, margin: float) -> np.ndarray:
    """Say whether gaps become narrower or wider, or change their side.

    A gap changes its side only if it matters on both: if it was smaller than the margin
    before, it becomes wider.
    """
    is_undefined = before.isna() | after.isna()
    changes_side = (before * after < 0) & (before.abs() >= margin)
    changes_side &= after.abs() >= margin
    return np.select(
        [is_undefined, changes_side, after.abs() < before.abs()],
        ["", "other sign", "narrower"],
        default="wider",
    )
