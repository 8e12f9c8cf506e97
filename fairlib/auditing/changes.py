"""What changes for each group if another model takes the place of this one."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.auditing.groups import Family
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import OUTCOMES
from fairlib.auditing.sums import Sums, rates_to_measure, sums_of
from fairlib.intervals import multiplicity
from fairlib.intervals.proportions import mcnemar

# Which cases qualify for these rates does not depend on what is predicted.
_QUALIFY_WITHOUT_PREDICTION = ({*OUTCOMES}, {"TP", "FN"}, {"FP", "TN"})


def changes(questions: Questions) -> pd.DataFrame | None:
    """Return by how much each rate of each group changes with the other model.

    A case matters where the models differ (McNemar 1947). Rates whose cases depend on
    the prediction are left out.

    Returns
    -------
    DataFrame or None
        None without another model. Otherwise one row per group and rate: `before` with
        this model, `after` with the other one; `more` and `fewer`, the cases that are
        counted only after, or only before; `low` and `high`, exact, which miss the
        change in a share (1 - confidence) of samples or fewer; `p`, the exact test of
        more against fewer; `p_corrected`, for all rows together (Holm).
    """
    counts = questions.counts
    setting = questions.setting
    if counts.compare is None:
        return None

    rates = {
        name: rate
        for name, rate in rates_to_measure(
            counts, setting.every_rate, custom=setting.rates
        ).items()
        if {*rate.outcomes[-1]} in _QUALIFY_WITHOUT_PREDICTION
    }
    families = {
        question.family.attribute: question.family
        for question in questions.questions
        if len(question.family.attributes) == 1
    }
    with_other_model = replace(counts, prediction=counts.compare)
    tables = []
    for before, after in zip(
        sums_of(counts, rates), sums_of(with_other_model, rates), strict=True
    ):
        for family in families.values():
            tables.append(_counts_of_groups(before, after, family))

    rows = pd.concat(tables, ignore_index=True)
    rows = rows.astype(dict.fromkeys(("n", "more", "fewer"), np.int64))
    rows["before"] = rows["before"] / rows["n"]
    rows["after"] = rows["after"] / rows["n"]
    rows["change"] = rows["after"] - rows["before"]
    rows["low"], rows["high"] = mcnemar(
        rows["more"], rows["fewer"], rows["n"], alpha=setting.alpha
    )
    smaller = rows[["more", "fewer"]].min(axis=1)
    different = rows["more"] + rows["fewer"]
    rows["p"] = np.minimum(2 * stats.binom.cdf(smaller, different, 0.5), 1)

    is_small = rows["n"] < setting.minimum
    rows.loc[is_small, ["before", "after", "change", "low", "high", "p"]] = np.nan
    return rows.assign(p_corrected=multiplicity.holm(rows["p"]))


def _counts_of_groups(before: Sums, after: Sums, family: Family) -> pd.DataFrame:
    """Count, for each group, the cases with each model, and those that change."""
    counted_before = before.power(0, 1)
    counted_after = after.power(0, 1)

    cells = {
        "n": before.count,
        "before": counted_before,
        "after": counted_after,
        "more": np.where(counted_before > 0, 0, counted_after),
        "fewer": np.where(counted_after > 0, 0, counted_before),
    }
    columns: dict[str, object] = {
        "attribute": family.attribute,
        "group": [family.called(code) for code in family.kept],
        "rate": before.name,
        "class": before.class_name,
    }
    for name, values in cells.items():
        columns[name] = family.total(values)[family.kept]
    return pd.DataFrame(columns)
