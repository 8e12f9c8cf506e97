"""Whether probabilities hold in each group, and what other thresholds would do.

Both follow from cases counted by group, label and level of the probability
(`counts.by_level`), so that the cost does not depend on the number of cases. A level is
a hundredth of the log odds wide: no probability moves by more than .0025.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame

from fairlib.auditing.comparing import contrast, limits
from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, family, large_enough
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import Sums

MOST_GROUPS = 25  # the largest groups of an attribute
BINS = 10  # of the probabilities, at equal shares of all cases
THRESHOLDS = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False, kw_only=True)
class _Attribute:
    """The cases of an attribute by level of the probability, and its largest groups."""

    counts: Counts
    group: ndarray  # of each cell
    largest: list[int]
    alpha: float  # NaN where there are to be no intervals


# The columns of one group, and its code.
_ColumnsOfGroup = tuple[int, dict[str, Any]]


def calibration(questions: Questions) -> DataFrame | None:
    """Return how often the class is the label where its probability is so and so.

    There is a row for each bin of the probabilities of each group; None without
    probabilities or labels.

    probability : the mean probability of the bin. observed : how often the class is the
    label there. low, high : an interval of `observed` for itself alone: Clopper and
    Pearson's limits, for as many cases as the variance between sources makes of them.
    NaN where there are too many cases to count them by source.
    """
    return _by_attribute(questions, _calibration)


def thresholds(questions: Questions) -> DataFrame | None:
    """Return how often the class is predicted from each threshold on.

    predicted : of all cases. hits : of those where the class is the label. false
    alarms : of those where it is not.
    """
    return _by_attribute(questions, _thresholds)


def _by_attribute(
    questions: Questions, columns_of: Callable[[_Attribute], Iterator[_ColumnsOfGroup]]
) -> DataFrame | None:
    """Return the columns of the largest groups of all attributes as one table."""
    setting = questions.setting
    tables = []
    for name, counts in questions.levels.items():
        groups = family(counts, (name,), {})
        enough = large_enough(groups, counts, setting.minimum)
        by_size = np.argsort(-groups.total(counts.count)[enough], kind="stable")
        largest = np.sort(enough[by_size][:MOST_GROUPS])

        # There are too many cases to count them by source.
        is_untied = setting.columns.source is not None and counts.source is None
        attribute = _Attribute(
            counts=counts,
            group=groups.codes,
            largest=largest.tolist(),
            alpha=np.nan if is_untied else setting.alpha,
        )
        for code, columns in columns_of(attribute):
            about = {
                "attribute": name,
                "group": groups.called(code),
                "class": counts.classes[counts.positive[0]],
            }
            length = max(np.size(values) for values in columns.values())
            tables.append(DataFrame(about | columns, index=range(length)))

    return pd.concat(tables, ignore_index=True) if tables else None


def _calibration(attribute: _Attribute) -> Iterator[_ColumnsOfGroup]:
    """Yield the bins of each group."""
    counts = attribute.counts
    if counts.label is None:
        return

    # Each bin of each group is a group of its own.
    values, bin_of_cell = np.unique(counts.probability(BINS), return_inverse=True)
    bins = len(values)
    cells = (int(attribute.group.max()) + 1) * bins
    family_of_bins = Family(
        attributes=(),
        names=((),) * cells,
        codes=attribute.group * bins + bin_of_cell,
        kept=np.arange(cells),
        source=counts.source,
    )
    is_class = counts.label == counts.positive[0]
    sums = Sums(
        name="observed",
        rate=RATES["misses"],
        class_name="",
        count=counts.count,
        powers={(0, 1): counts.count * is_class},
    )

    sides = contrast(sums, family_of_bins)
    n = sides.n[0]
    assert (
        counts.score is not None
    )  # there are levels only where there are probabilities
    probability = family_of_bins.total(counts.score) / np.maximum(n, 1)
    low, high = limits(sides, attribute.alpha)
    has_interval = not np.isnan(attribute.alpha)
    for code in attribute.largest:
        places = code * bins + np.arange(bins)
        places = places[n[places] > 0]
        yield (
            code,
            {
                "n": n[places].astype(np.int64),
                "probability": probability[places],
                "observed": sides.value[0, places],
                "low": low[0, places] if has_interval else np.nan,
                "high": high[0, places] if has_interval else np.nan,
            },
        )


def _thresholds(attribute: _Attribute) -> Iterator[_ColumnsOfGroup]:
    """Yield what each threshold predicts in each group."""
    counts = attribute.counts
    number_reached = np.searchsorted(
        THRESHOLDS, counts.probability() + 1e-9, side="right"
    )

    def share_predicted(among: ndarray) -> ndarray:
        by_number = np.bincount(
            number_reached, counts.count * among, minlength=len(THRESHOLDS) + 1
        )
        if not by_number.sum():
            return np.full(len(THRESHOLDS), np.nan)
        reaching = by_number[::-1].cumsum()[::-1][1:]
        return reaching / by_number.sum()

    for code in attribute.largest:
        is_in_group = attribute.group == code
        columns = {
            "threshold": THRESHOLDS,
            "n": int(counts.count[is_in_group].sum()),
            "predicted": share_predicted(is_in_group),
        }
        if counts.label is not None:
            is_class = counts.label == counts.positive[0]
            columns["hits"] = share_predicted(is_in_group & is_class)
            columns["false alarms"] = share_predicted(is_in_group & ~is_class)
        yield code, columns
