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

from fairlib.auditing import calibrating, claims
from fairlib.auditing.calibrating import Cases, Clearest
from fairlib.auditing.comparing import contrast, limits
from fairlib.auditing.counts import Counts
from fairlib.auditing.groups import EVERYONE_ELSE, Family, family, large_enough
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import Sums

MOST_GROUPS = 25  # the largest groups of an attribute
BINS = 10  # of the probabilities, at equal shares of all cases
THRESHOLDS = np.arange(1, 100) / 100
# Cases, or sources, of a stratum of the test of calibration. With fewer, a small group
# would often be alone; with more, the probability would vary too much within a stratum.
UNITS_OF_STRATUM = 10
MOST_TESTED_GROUPS = 60
CALIBRATION_NUMBERS = [
    "lowest",
    "highest",
    "n",
    "n_against",
    "value",
    "low",
    "high",
    "confidence",
    "p",
]
CALIBRATION_COLUMNS = [
    "attribute",
    "class",
    "group",
    "against",
    *CALIBRATION_NUMBERS,
    "p_corrected",
    "verdict",
]


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


def calibration_test(questions: Questions, *, share: float = 1.0) -> DataFrame:
    """Test whether groups with the same probability have different outcomes.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float, default 1
        The part of alpha that all these tests may use together.

    Returns
    -------
    DataFrame
        One row per attribute, about its clearest difference; none without labels or
        probabilities.

        - class : the outcome, whose probability the model gives.
        - group, against : the group that has the outcome more often than its
          probability has it elsewhere, and what it is compared with. Of several groups,
          each is compared with all others, and the group may have it less often.
        - lowest, highest : which probabilities are compared: all, or the lower or the
          upper half.
        - n, n_against : how many cases are compared.
        - value : how much more frequent the outcome is in the group, at the same
          probability: Mantel and Haenszel's difference. 0.02 are 2 points.
        - low, high, confidence : an interval of it, which allows for all groups and
          parts among which the clearest difference was picked. It contains 0 unless the
          verdict is "shown".
        - p : if groups with the same probability had the same outcomes, how often the
          clearest difference would be as clear, at most.
        - p_corrected : p for all attributes together (Holm), divided by `share`. It can
          be compared with 1 - confidence.
        - verdict : "shown", "open", or "undefined" if no group can be compared.

        `attrs["notes"]` says what was left out, and why.

    Notes
    -----
    The test does not ask whether probabilities are right, only whether they mean the
    same in all groups. It is exact for independent cases (`calibrating`).
    """
    claims.check_share(share)
    alpha = questions.setting.alpha
    has_outcomes = questions.counts.label is not None and bool(questions.levels)
    notes: list[str] = []
    if has_outcomes:
        notes = claims.ignored_columns("Tests of calibration", questions.counts)

    rows: list[dict[str, object]] = []
    clearest: list[Clearest | None] = []
    if has_outcomes and not notes:
        for name in questions.levels:
            of_attribute, about = _clearest_of(questions, name, notes)
            clearest.append(of_attribute)
            rows.append(about)

    result = DataFrame(rows, columns=CALIBRATION_COLUMNS)
    result = result.astype(dict.fromkeys(CALIBRATION_NUMBERS, float))
    result[["p_corrected", "verdict"]] = claims.decide(
        result["p"], alpha=alpha, share=share
    )

    level = claims.level_of_intervals(result["verdict"], alpha=alpha)
    for place, of_attribute in enumerate(clearest):
        if of_attribute is not None:
            is_shown = result.loc[place, "verdict"] == "shown"
            ends = of_attribute.ends(level, is_shown=bool(is_shown))
            result.loc[place, ["low", "high"]] = ends
            result.loc[place, "confidence"] = 1 - level
    result.attrs["notes"] = notes
    return result


def _clearest_of(
    questions: Questions, attribute: str, notes: list[str]
) -> tuple[Clearest | None, dict[str, object]]:
    """Return the clearest difference of an attribute's calibration, and its row."""
    setting = questions.setting
    counts = questions.levels[attribute]
    groups = family(counts, (attribute,), {})
    about: dict[str, object] = {
        "attribute": attribute,
        "class": counts.classes[counts.positive[0]],
        "group": "",
        "against": "",
    }
    if setting.columns.source is not None and counts.source is None:
        notes.append(
            f"By {attribute}: there are too many cases to test calibration by source."
        )
        return None, about

    enough = large_enough(groups, counts, setting.fewest)
    if len(enough) > MOST_TESTED_GROUPS:
        notes.append(
            f"By {attribute}: calibration is tested for up to {MOST_TESTED_GROUPS} "
            f"groups, not {len(enough):,}."
        )
        return None, about

    cases, probability = _cases(counts, groups)
    clearest = calibrating.clearest(cases, enough, of_two=len(groups.kept) == 2)
    if clearest is None:
        notes.append(
            f"By {attribute}: calibration is not tested, as no group with "
            f"{setting.fewest} {setting.unit} shares probabilities with others."
        )
        return None, about

    matched = clearest.matched
    against = EVERYONE_ELSE
    if matched.against is not None:
        against = groups.called(matched.against)
    about |= {
        "group": groups.called(matched.group),
        "against": against,
        "lowest": probability[matched.first],
        "highest": probability[matched.last],
        "n": matched.contrast.n[0, 0],
        "n_against": matched.contrast.n[1, 0],
        "value": matched.difference,
        "p": clearest.p,
    }
    return clearest, about


def _cases(counts: Counts, groups: Family) -> tuple[Cases, ndarray]:
    """Return the cases of an attribute by stratum, and the strata's probabilities."""
    is_kept = np.isin(groups.codes, groups.kept)
    count = counts.count * is_kept
    units = count.sum()
    if counts.source is not None:
        units = units**2 / (np.bincount(counts.source, count) ** 2).sum()

    most_strata = max(1, int(units / UNITS_OF_STRATUM))
    probability, stratum = np.unique(
        counts.probability(most_strata), return_inverse=True
    )
    cases = Cases(
        count=count,
        stratum=stratum,
        group=groups.codes,
        outcome=np.asarray(counts.label) == counts.positive[0],
        source=counts.source,
    )
    return cases, probability


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
        enough = large_enough(groups, counts, setting.fewest)
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
