"""The tables of New York City's Local Law 144 on automated employment decisions.

The city's rules ask for impact ratios by sex, by race and ethnicity, and by both
crossed: the selection rate of each category, or its scoring rate, divided by the
highest rate of the table. The scoring rate is the share of a category whose score is
above the median of all scores. A category with less than 2 % of the data may be left
out of the ratios, if the audit justifies that and still reports the count and the rate.
Cases of unknown category are counted. (Rules of the City of New York, title 6, sections
5-300 to 5-303.)
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, family
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import sums_of

SMALLEST_SHARE = 0.02  # of the data: smaller categories may be left out of the ratios
NOTE = (
    "This table follows the form of Local Law 144. It is not legal advice, and it is "
    "not the independent audit that the law requires."
)
JUSTIFICATION = (
    "left out of the ratios: less than 2% of the data, so that its ratio would rest on "
    "too few cases"
)


def local_law_144(questions: Questions) -> DataFrame | None:
    """Return selection and scoring rates with impact ratios, as the law defines them.

    Returns
    -------
    DataFrame or None
        None unless the audit was asked for it with ``local_law_144=True``. Otherwise
        one row per kind of rate ("selection", "scoring"), attribute or crossing, and
        category: `n`, `share` of the data, `rate`, `impact_ratio`, and a `note` where
        there is no ratio. The impact ratios are those of these cases; they have no
        intervals, which are in `Report.selection`.
    """
    counts = questions.counts
    if not questions.setting.local_law_144:
        return None

    tables = []
    favourable = questions.favourable
    if counts.prediction is not None and favourable is not None:
        measured = replace(counts, positive=(favourable,))
        (predicted,) = sums_of(measured, {"predicted": RATES["predicted"]})
        for groups in questions.families:
            selected = groups.total(predicted.power(0, 1))
            weight = groups.total(predicted.power(1, 0))
            tables.append(
                _table(
                    "selection",
                    groups,
                    cases=counts.count,
                    events=selected,
                    weight=weight,
                )
            )

    for by_level in (*questions.levels.values(), *questions.crossed_levels.values()):
        groups = family(by_level, tuple(by_level.attributes), {})
        above = _share_above_median(by_level)
        scored = groups.total(by_level.count * above)
        weight = groups.total(by_level.count)
        tables.append(
            _table(
                "scoring",
                groups,
                cases=by_level.count,
                events=scored,
                weight=weight,
            )
        )

    return pd.concat(tables, ignore_index=True) if tables else None


def unknown_categories(questions: Questions) -> dict[str, int]:
    """Return how many cases have no category, by attribute."""
    counts = questions.counts
    unknown = {}
    for name, coded in counts.attributes.items():
        cases = 0
        if coded.missing is not None:
            is_missing = coded.codes == coded.names.index(coded.missing)
            cases = int(counts.count[is_missing].sum())
        unknown[name] = cases
    return unknown


def _share_above_median(counts: Counts) -> ndarray:
    """Return whether the score of each cell is above the median of all scores.

    Scores of one level, a hundredth of the log odds wide, count as equal.
    """
    score = counts.probability()
    order = np.argsort(score, kind="stable")
    cumulative = counts.count[order].cumsum()
    total = cumulative[-1]
    # The median of an even number of scores is the mean of the two in the middle.
    lower = score[order][np.searchsorted(cumulative, (total + 1) // 2)]
    upper = score[order][np.searchsorted(cumulative, total // 2 + 1)]
    return score > (lower + upper) / 2


def _table(
    kind: str, groups: Family, *, cases: ndarray, events: ndarray, weight: ndarray
) -> DataFrame:
    """Return the rates and ratios of the categories of one table."""
    kept = groups.kept
    n = groups.total(cases)[kept]
    share = n / n.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = events[kept] / weight[kept]
        takes_part = share >= SMALLEST_SHARE
        highest = rate[takes_part].max(initial=0.0)
        ratio = np.where(takes_part & (highest > 0), rate / highest, np.nan)

    return DataFrame(
        {
            "kind": kind,
            "attribute": groups.attribute,
            "group": [groups.called(code) for code in kept],
            "n": n.astype(np.int64),
            "share": share,
            "rate": rate,
            "impact_ratio": ratio,
            "note": np.where(takes_part, "", JUSTIFICATION),
        }
    )
