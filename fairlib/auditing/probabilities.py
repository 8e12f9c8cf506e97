"""Probabilities, group by group: do they mean what they say, and what would another threshold do?

All from counts of cases by group, label and level of the probability (`people.by_level`), so the cost does not depend
on the number of cases. A level is a hundredth of the log odds wide: no probability moves by more than .0025.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from fairlib.auditing import comparing, summary
from fairlib.auditing.groups import Family, family
from fairlib.auditing.people import People
from fairlib.auditing.rates import RATES, Sums
from fairlib.auditing.setting import Setting

BINS = 10  # of the probabilities, at equal shares of all cases
MOST = 25  # groups, the largest
THRESHOLDS = np.arange(1, 100) / 100


def table(levels: Mapping[str, People], setting: Setting, ask: Callable) -> pd.DataFrame | None:
    """Return what `ask`, one of the functions below, says of the largest groups; None where it cannot.

    Intervals are NaN where there are too many cases to count them by source (`people.MOST_TIED`).
    """
    if not levels or (ask is not thresholds and setting.columns.label is None):
        return None
    found = []
    for name, people in levels.items():
        groups = family(people, (name,), {})
        enough, _ = summary.large_enough(groups, people, setting)
        largest = np.sort(enough[np.argsort(-groups.total(people.count)[enough], kind="stable")][:MOST])
        untied = setting.columns.source is not None and people.source is None
        for code, said in ask(people, groups.codes, largest.tolist(), np.nan if untied else setting.alpha):
            about = {"attribute": name, "group": groups.called(code), "class": people.classes[people.positive[0]]}
            found.append(pd.DataFrame(about | said, index=range(max(map(np.size, said.values())))))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def calibration(people: People, group: np.ndarray, groups: list[int], alpha: float) -> Iterator[tuple]:
    """Yield, for the bins of each group, the mean probability and how often the class is the label (`observed`).

    low, high : of `observed`, each for itself: Clopper and Pearson's limits, for as many cases as the variance between
    sources makes of them.
    """
    truth = people.count * (people.label == people.positive[0])
    places, place = np.unique(people.probability(BINS), return_inverse=True)
    cells = (int(group.max()) + 1) * len(places)
    bins = Family((), ((),) * cells, group * len(places) + place, np.arange(cells), None, people.source)
    sums = Sums("observed", RATES["misses"], "", people.count, {(0, 1): truth})
    sides = comparing.contrast(sums, bins)
    low, high = (np.where(np.isnan(alpha), np.nan, end) for end in comparing.limits(sides, alpha))
    probability = bins.total(people.score) / np.maximum(sides.n[0], 1)
    for code in groups:
        here = code * len(places) + np.arange(len(places))
        here = here[sides.n[0, here] > 0]
        ends = {"low": low[0, here], "high": high[0, here]}
        n, observed = sides.n[0, here].astype(np.int64), sides.value[0, here]
        yield code, {"n": n, "probability": probability[here], "observed": observed} | ends


def thresholds(people: People, group: np.ndarray, groups: list[int], alpha: float) -> Iterator[tuple]:
    """Yield how often the class is predicted from each threshold on: of all cases, where it is the label, and not."""
    place = np.searchsorted(THRESHOLDS, people.probability() + 1e-9, side="right")  # how many thresholds it reaches
    for code in groups:

        def reached(among: np.ndarray | bool, code: int = code) -> np.ndarray:
            count = np.bincount(place, people.count * ((group == code) & among), minlength=len(THRESHOLDS) + 1)
            return count[::-1].cumsum()[::-1][1:] / count.sum() if count.sum() else np.full(len(THRESHOLDS), np.nan)

        said = {"threshold": THRESHOLDS, "n": int(people.count[group == code].sum()), "predicted": reached(True)}
        if people.label is not None:
            truth = people.label == people.positive[0]
            said |= {"hits": reached(truth), "false alarms": reached(~truth)}
        yield code, said
