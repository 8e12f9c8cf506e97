"""What changes for each group if another model takes the place of this one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy.special import stdtr, stdtrit

from fairlib.auditing import comparing
from fairlib.auditing.claims import decide_with_levels
from fairlib.auditing.groups import Family
from fairlib.auditing.questions import Questions, kind_of
from fairlib.auditing.rates import OUTCOMES, Rate
from fairlib.auditing.sums import Sums, rates_to_measure, sums_of
from fairlib.intervals.pairs import change_interval, change_p, uses_exact

# Which cases qualify for these rates does not depend on what is predicted.
_QUALIFY_WITHOUT_PREDICTION = ({*OUTCOMES}, {"TP", "FN"}, {"FP", "TN"})
# What a case adds to a change: 1, 0 or -1. So two cases are at most 2 apart.
_CHANGE = Rate(question="mix", title="", words="", farthest=2)


@dataclass(frozen=True, eq=False, kw_only=True)
class Paired:
    """One rate with both models, on the same cases.

    Attributes
    ----------
    before, after : Sums
        The rate with this model, and with the other one.
    change : Sums
        What each cell adds to the change of the rate.
    family : Family
        The groups of one attribute.
    kind : str
        What is asked, as of `questions.kind_of`.
    """

    before: Sums
    after: Sums
    change: Sums
    family: Family
    kind: str


def paired_rates(questions: Questions) -> Iterator[Paired]:
    """Yield the rates whose cases do not depend on what is predicted, per attribute."""
    counts = questions.counts
    setting = questions.setting
    if counts.compare is None:
        return

    rates = {
        name: rate
        for name, rate in rates_to_measure(
            counts,
            setting.every_rate,
            names=[name for name in setting.metrics if name in setting.every_rate],
            custom=setting.rates,
        ).items()
        if {*rate.outcomes[-1]} in _QUALIFY_WITHOUT_PREDICTION
    }
    with_other_model = replace(counts, prediction=counts.compare)
    for before, after in zip(
        sums_of(counts, rates), sums_of(with_other_model, rates), strict=True
    ):
        for family in questions.families:
            if len(family.attributes) == 1:
                of_family = before.of(family)
                after_of_family = after.of(family)
                yield Paired(
                    before=of_family,
                    after=after_of_family,
                    change=_change(of_family, after_of_family),
                    family=family,
                    kind=kind_of(before.rate, len(counts.classes)),
                )


def _change(before: Sums, after: Sums) -> Sums:
    """Return what each cell adds to the change: all its cases change alike."""
    difference = after.power(0, 1) - before.power(0, 1)
    powers = {
        (0, 1): difference,
        (0, 2): np.abs(difference),
        (0, 3): difference,
    }
    return replace(before, rate=_CHANGE, powers=powers)


def changes(questions: Questions, *, share: float) -> DataFrame | None:
    """Return by how much each rate of each group changes with the other model.

    A case matters where the models differ (McNemar 1947). Rates whose cases depend on
    the prediction are left out.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float
        The part of alpha that all these claims may use together.

    Returns
    -------
    DataFrame or None
        None without another model. Otherwise one row per group and rate: `before` with
        this model, `after` with the other one; `more` and `fewer`, the cases that are
        counted only after, or only before; `low` and `high`, an interval of the change
        that excludes 0 exactly where there is evidence; `p`, the level at which the
        interval just excludes 0; `p_corrected`, for all rows together (Holm, within
        the share of alpha); `method`, "exact", "score" or "sources"; `verdict`.
    """
    tables = [_changes_of_groups(paired) for paired in paired_rates(questions)]
    if not tables:
        return None

    rows = pd.concat(tables, ignore_index=True)
    rows = rows.astype(dict.fromkeys(("n", "more", "fewer"), np.int64))
    setting = questions.setting
    rows["p"] = _p(rows)
    is_small = rows["units"] < setting.fewest
    decision = decide_with_levels(
        rows["p"], is_small=is_small, alpha=setting.alpha, share=share
    )

    rows["p_corrected"] = decision.p_corrected
    rows["confidence"] = 1 - decision.level
    rows["low"], rows["high"] = _ends(rows, decision.level)
    rows["verdict"] = decision.verdict
    estimates = ["before", "after", "change", "low", "high", "p"]
    rows.loc[is_small, estimates] = np.nan
    return rows.drop(columns=["error", "freedom"])


def _p(rows: DataFrame) -> np.ndarray:
    """Return the level at which the interval of each change just excludes 0."""
    more, fewer, n = (rows[name].to_numpy() for name in ("more", "fewer", "n"))
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.abs(rows["change"]) / rows["error"]
        of_sources = np.where(rows["error"] > 0, 2 * stdtr(rows["freedom"], -t), 1)
    of_cases = change_p(more, fewer, np.maximum(n, 1))
    return np.where(rows["method"] == "sources", of_sources, of_cases)


def _ends(rows: DataFrame, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of each change, each at its level."""
    more, fewer, n = (rows[name].to_numpy() for name in ("more", "fewer", "n"))
    low, high = change_interval(more, fewer, np.maximum(n, 1), alpha=level)

    is_by_source = rows["method"] == "sources"
    with np.errstate(invalid="ignore"):
        margin = -stdtrit(rows["freedom"], level / 2) * rows["error"]
    low_by_source = np.maximum(rows["change"] - margin, -1)
    high_by_source = np.minimum(rows["change"] + margin, 1)
    return (
        np.where(is_by_source, low_by_source, low),
        np.where(is_by_source, high_by_source, high),
    )


def _changes_of_groups(paired: Paired) -> DataFrame:
    """Return the changes of one rate in the groups of one attribute."""
    family = paired.family
    difference = paired.change.power(0, 1)

    def total(values: np.ndarray) -> np.ndarray:
        return family.total(values)[family.kept]

    n = total(paired.before.count)
    more = total(np.maximum(difference, 0))
    fewer = total(np.maximum(-difference, 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = {
            "attribute": family.attribute,
            "group": [family.called(code) for code in family.kept],
            "rate": paired.before.name,
            "class": paired.before.class_name,
            "question": paired.kind,
            "n": n,
            "units": n,
            "before": total(paired.before.power(0, 1)) / n,
            "after": total(paired.after.power(0, 1)) / n,
            "more": more,
            "fewer": fewer,
            "change": (more - fewer) / n,
            "method": np.where(uses_exact(more, fewer), "exact", "score"),
            "error": np.nan,
            "freedom": np.inf,
        }

    if family.source is not None:
        columns |= _over_sources(paired)
    return DataFrame(columns)


def _over_sources(paired: Paired) -> dict[str, object]:
    """Return how surely changes are known if cases belong together by their source."""
    alone = paired.family.compared_with(None)
    sides = comparing.contrast(paired.change, alone)
    value = sides.value[0]

    # A mean that lies between -1 and 1, and is worth so many cases.
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt((value + 1) * (1 - value) / sides.worth[0])
    return {
        "units": sides.units[0],
        "method": "sources",
        "error": error,
        "freedom": sides.freedom[0],
    }
