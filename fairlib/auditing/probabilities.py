"""Whether probabilities hold in each group, and what other thresholds would do.

Both follow from cases counted by group, label and level of the probability
(`counts.by_level`), so that the cost does not depend on the number of cases. A level is
a hundredth of the log odds wide: no probability moves by more than .0025.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.auditing.comparing import contrast, limits
from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import Family, family, large_enough
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import Sums

# The groups whose probabilities are looked at, the largest.
MOST_GROUPS = 25
# Of the probabilities, at equal shares of all cases.
BINS = 10
THRESHOLDS = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False, kw_only=True)
class _Attribute:
    """The cases of an attribute by level of the probability, and its largest groups."""

    counts: Counts
    group: np.ndarray  # of each cell
    largest: list[int]
    alpha: float  # NaN where there are to be no intervals


# The columns of one group, and its code.
_ColumnsOfGroup = tuple[int, dict[str, np.ndarray | float]]


def calibration(questions: Questions) -> pd.DataFrame | None:
    """Return how often the class is the label where its probability is so and so.

    There is a row for each bin of the probabilities of each group; None without
    probabilities or labels.

    probability : the mean probability of the bin. observed : how often the class is the
    label there. low, high : an interval of `observed` for itself alone: Clopper and
    Pearson's limits, for as many cases as the variance between sources makes of them.
    NaN where there are too many cases to count them by source.
    """
    return _by_attribute(questions, _calibration)


def thresholds(questions: Questions) -> pd.DataFrame | None:
    """Return how often the class is predicted from each threshold on.

    predicted : of all cases. hits : of those where the class is the label. false
    alarms : of those where it is not.
    """
    return _by_attribute(questions, _thresholds)


def _by_attribute(
    questions: Questions, columns_of: Callable[[_Attribute], Iterator[_ColumnsOfGroup]]
) -> pd.DataFrame | None:
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
            tables.append(pd.DataFrame(about | columns, index=range(length)))

    return pd.concat(tables, ignore_index=True) if tables else None


def _calibration(attribute: _Attribute) -> Iterator[_ColumnsOfGroup]:
    """Yield the bins of each group."""
    counts, group, alpha = attribute.counts, attribute.group, attribute.alpha
    if counts.label is None:
        return
    truth = counts.count * (counts.label == counts.positive[0])
    places, place = np.unique(counts.probability(BINS), return_inverse=True)
    cells = (int(group.max()) + 1) * len(places)
    bins = Family(
        attributes=(),
        names=((),) * cells,
        codes=group * len(places) + place,
        kept=np.arange(cells),
        source=counts.source,
    )
    sums = Sums(
        name="observed",
        rate=RATES["misses"],
        class_name="",
        count=counts.count,
        powers={(0, 1): truth},
    )
    sides = contrast(sums, bins)
    low, high = (np.where(np.isnan(alpha), np.nan, end) for end in limits(sides, alpha))
    probability = bins.total(counts.score) / np.maximum(sides.n[0], 1)
    for code in attribute.largest:
        here = code * len(places) + np.arange(len(places))
        here = here[sides.n[0, here] > 0]
        ends = {"low": low[0, here], "high": high[0, here]}
        n, observed = sides.n[0, here].astype(np.int64), sides.value[0, here]
        yield (
            code,
            {"n": n, "probability": probability[here], "observed": observed} | ends,
        )


def _thresholds(attribute: _Attribute) -> Iterator[_ColumnsOfGroup]:
    """Yield what each threshold predicts in each group."""
    counts, group = attribute.counts, attribute.group
    place = np.searchsorted(
        THRESHOLDS, counts.probability() + 1e-9, side="right"
    )  # how many thresholds it reaches
    for code in attribute.largest:

        def reached(among: np.ndarray | bool, code: int = code) -> np.ndarray:
            count = np.bincount(
                place,
                counts.count * ((group == code) & among),
                minlength=len(THRESHOLDS) + 1,
            )
            return (
                count[::-1].cumsum()[::-1][1:] / count.sum()
                if count.sum()
                else np.full(len(THRESHOLDS), np.nan)
            )

        said = {
            "threshold": THRESHOLDS,
            "n": int(counts.count[group == code].sum()),
            "predicted": reached(True),
        }
        if counts.label is not None:
            truth = counts.label == counts.positive[0]
            said |= {"hits": reached(truth), "false alarms": reached(~truth)}
        yield code, said
