"""What changes for each group if another model takes the place of this one."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import OUTCOMES
from fairlib.auditing.sums import rates_to_measure, sums_of
from fairlib.intervals import multiplicity
from fairlib.intervals.proportions import mcnemar


def changes(questions: Questions) -> pd.DataFrame | None:
    """Return by how much each rate of each group changes: `after`, if the other model, `compare`, takes its place.

    A case counts where the models differ (McNemar 1947); rates whose cases depend on the prediction are left out. more,
    fewer : cases that are counted after and not before, and the reverse. low, high : exact, with probability
    1 - confidence / 20 to spare. p : the exact test of more against fewer; p_corrected : for all of these (Holm).
    """
    counts, setting = questions.counts, questions.setting
    if counts.compare is None:
        return None
    fixed = (
        {*OUTCOMES},
        {"TP", "FN"},
        {"FP", "TN"},
    )  # alike, whatever is predicted
    measurable = rates_to_measure(counts, setting.every_rate, custom=setting.rates)
    rates = {
        name: rate for name, rate in measurable.items() if {*rate.outcomes[-1]} in fixed
    }
    after_change = replace(counts, prediction=counts.compare)
    models = (sums_of(counts, rates), sums_of(after_change, rates))
    families = {
        question.family.attribute: question.family
        for question in questions.questions
        if len(question.family.attributes) == 1
    }
    tables = []
    for before, after in zip(*models, strict=True):
        cells = {
            "n": before.count,
            "before": before.power(0, 1),
            "after": after.power(0, 1),
        }
        cells["more"] = np.where(cells["before"] > 0, 0, cells["after"])
        cells["fewer"] = np.where(cells["after"] > 0, 0, cells["before"])
        for family in families.values():
            about = {
                "attribute": family.attribute,
                "group": [family.called(code) for code in family.kept],
            }
            about |= {"rate": before.name, "class": before.class_name}
            tables.append(
                pd.DataFrame(
                    about
                    | {
                        name: family.total(own)[family.kept]
                        for name, own in cells.items()
                    }
                )
            )
    rows = pd.concat(tables, ignore_index=True).astype(
        dict.fromkeys(("n", "more", "fewer"), np.int64)
    )
    rows["before"], rows["after"] = (
        rows["before"] / rows["n"],
        rows["after"] / rows["n"],
    )
    rows["change"] = rows["after"] - rows["before"]
    rows["low"], rows["high"] = mcnemar(
        rows["more"], rows["fewer"], rows["n"], alpha=setting.alpha
    )
    least, apart = rows[["more", "fewer"]].min(axis=1), rows["more"] + rows["fewer"]
    rows["p"] = np.minimum(2 * stats.binom.cdf(least, apart, 0.5), 1)
    rows.loc[
        rows["n"] < setting.minimum, ["before", "after", "change", "low", "high", "p"]
    ] = np.nan
    return rows.assign(p_corrected=multiplicity.holm(rows["p"]))
