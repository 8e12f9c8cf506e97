"""Equalized odds as one number: how far apart two groups' rates of errors are at most.

Equalized odds hold if cases of the same label are predicted alike in all groups (Hardt
et al. 2016). The number is the largest difference between two groups, over all pairs of
groups and all labels; with two classes, max(|TPR - TPR'|, |FPR - FPR'|).

The largest of many estimates is too large, so its interval allows for the maximum. All
differences get intervals that hold together. Then the largest difference lies between
the largest low end and the largest high end.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy import ndarray
from scipy.special import ndtr, ndtri

from fairlib.auditing import claims, comparing
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.counts import Counts
from fairlib.auditing.every_pair import contrast_of_pairs
from fairlib.auditing.groups import Family, large_enough, named_families
from fairlib.auditing.questions import Questions
from fairlib.auditing.rates import RATES
from fairlib.auditing.sums import Sums
from fairlib.intervals.ranges import quantile_of_range, tail_of_range

# Pairs of more groups would take minutes.
MOST_GROUPS = 60
NUMBERS = ["value", "low", "high", "confidence", "p"]
COLUMNS = [
    "attribute",
    "class",
    "group",
    "against",
    "rate",
    "label",
    *NUMBERS,
    "p_corrected",
    "verdict",
]
# Below this, p-values of the largest range are no better than Bonferroni's.
_SMALLEST_P_OF_RANGE = 1e-8


@dataclass(frozen=True, eq=False, kw_only=True)
class _Pairs:
    """All pairs of groups, compared on the cases of one label.

    Attributes
    ----------
    rate : str
        "misses" for the label that is the measured class, else "false alarms".
    label : str
        The label of the cases.
    groups : int
        How many groups are compared.
    group, against : ndarray
        The codes of the groups of each pair.
    contrast : Contrast
        What either side of each pair says, and how surely.
    are_independent : bool
        Whether no source has cases of two groups.
    """

    rate: str
    label: str
    groups: int
    group: ndarray
    against: ndarray
    contrast: Contrast
    are_independent: bool

    @property
    def p(self) -> ndarray:
        """The p-values of all pairs, corrected for their number."""
        p_of_pair = self.contrast.p
        bonferroni = np.minimum(p_of_pair * len(p_of_pair), 1)
        if not self.are_independent or self.groups == 2:
            return bonferroni

        largest_range = -np.sqrt(2) * ndtri(p_of_pair / 2)
        p_of_range = tail_of_range(largest_range, groups=self.groups)
        is_reliable = p_of_range > _SMALLEST_P_OF_RANGE
        return np.where(
            is_reliable, np.fmin(bonferroni, np.clip(p_of_range, 0, 1)), bonferroni
        )

    def ends(self, alpha: float) -> tuple[ndarray, ndarray]:
        """Return intervals of the absolute differences, which hold together."""
        level = alpha / len(self.group)
        if self.are_independent and self.groups > 2:
            quantile = quantile_of_range(alpha, groups=self.groups)
            level = max(level, 2 * ndtr(-quantile / np.sqrt(2)))

        low, high = comparing.ends(self.contrast, level)
        return np.maximum(np.maximum(low, -high), 0), np.maximum(-low, high)


def equalized_odds(questions: Questions, *, share: float = 1.0) -> pd.DataFrame:
    """Return the largest difference of two groups' rates of errors, by attribute.

    Parameters
    ----------
    questions : Questions
        What is asked, and the counts that answer it.
    share : float, default 1
        The part of alpha that all these numbers may use together.

    Returns
    -------
    DataFrame
        One row per attribute, and per measured class if there are several.

        - value : the largest difference of two groups' rates, among cases of the same
          label. 0 means that cases of the same label are predicted alike.
        - rate, label : the rate that differs by so much ("misses" or "false alarms"),
          and the label of the cases that it is about.
        - group, against : the group with the higher rate, and the one with the lower.
        - low, high, confidence : the interval of the largest difference, and its
          confidence. It contains 0 unless the verdict is "shown".
        - p : if all groups had equal rates, how often the clearest difference of all
          would be as clear, at most.
        - p_corrected : p for all rows together (Holm), divided by `share`. It can be
          compared with 1 - confidence.
        - verdict : "shown", "open", or "undefined" if no two groups have enough cases.

        `attrs["notes"]` says what was left out, and why.

    Notes
    -----
    With labels of more than two classes, false alarms are compared label by label, as
    different labels may be confused with the class more or less easily, and groups may
    hold them in different proportions. This is done for one class, named as positive.

    Cases of groups that share no source are independent; their largest difference is
    compared with the studentized range (Tukey and Kramer; Hayter 1984 proves that it is
    careful enough for unequal variances). Otherwise the correction is Bonferroni's.

    References
    ----------
    Hardt, Price and Srebro (2016), "Equality of opportunity in supervised learning",
    NIPS. Hayter (1984), Annals of Statistics 12.
    """
    claims.check_share(share)
    notes = claims.ignored_columns("Equalized odds", questions.counts)
    compared = {} if notes else _compared(questions, notes)

    result = _decided(compared, alpha=questions.setting.alpha, share=share)
    result.attrs["notes"] = notes
    return result


# The pairs of groups by attribute and measured class, for one label after another.
_Compared = dict[tuple[Family, str], list[_Pairs]]


def _compared(questions: Questions, notes: list[str]) -> _Compared:
    """Compare the groups of each attribute, for each measured class."""
    counts = questions.counts
    if counts.label is None or counts.prediction is None:
        return {}

    classes = len(np.unique(counts.label))
    if classes > 2 and len(counts.positive) > 1:
        notes.append(
            "Equalized odds are given for labels of two classes, or for one class that "
            f"is named as positive; the labels have {classes} classes."
        )
        return {}

    compared = {}
    minimum = questions.setting.fewest
    for family in named_families(counts, notes):
        for code in counts.positive:
            remarks: list[str] = []
            pairs = [
                *_pairs_by_label(counts, family, code, minimum=minimum, notes=remarks)
            ]
            compared[family, counts.classes[code]] = pairs
            notes.extend(f"By {family.attribute}: {remark}" for remark in remarks)
    return compared


def _pairs_by_label(
    counts: Counts, family: Family, code: int, *, minimum: int, notes: list[str]
) -> Iterator[_Pairs]:
    """Yield the pairs of groups among the cases of each label."""
    labels = np.asarray(counts.label)
    for label in np.unique(labels).tolist():
        cases = counts.count * (labels == label)
        # A group without such cases has no size.
        with np.errstate(invalid="ignore"):
            enough = large_enough(family, replace(counts, count=cases), minimum)

        rate = "misses" if label == code else "false alarms"
        small = len(family.kept) - len(enough)
        if small:
            are = "group is" if small == 1 else "groups are"
            notes.append(
                f"{small:,} {are} left out of equalized odds for {rate}, having fewer "
                f"than {minimum} independent cases whose label is "
                f"‘{counts.classes[label]}’."
            )
        if len(enough) > MOST_GROUPS:
            notes.append(
                f"equalized odds are given for up to {MOST_GROUPS} groups, "
                f"not {len(enough):,}."
            )

        if 2 <= len(enough) <= MOST_GROUPS:
            is_error = (np.asarray(counts.prediction) == code) != (label == code)
            sums = Sums(
                name=rate,
                rate=RATES[rate],
                class_name=counts.classes[code],
                count=cases,
                powers={(0, 1): cases * is_error},
            )
            yield _pairs(sums, family, enough, label=counts.classes[label])


def _pairs(sums: Sums, family: Family, enough: ndarray, *, label: str) -> _Pairs:
    """Compare every two of some groups."""
    second, first = np.triu_indices(len(enough), 1)
    group = enough[first]
    against = enough[second]
    return _Pairs(
        rate=sums.name,
        label=label,
        groups=len(enough),
        group=group,
        against=against,
        contrast=contrast_of_pairs(sums, family, first=group, second=against),
        are_independent=_are_independent(sums, family),
    )


def _are_independent(sums: Sums, family: Family) -> bool:
    """Whether no source has qualifying cases of two groups."""
    if family.source is None:
        return True
    occurs = (sums.count > 0) & np.isin(family.codes, family.kept)
    pairs = np.unique(family.pairs[2][occurs])
    sources = family.pairs[0][pairs]
    return len(np.unique(sources)) == len(sources)


def _largest(parts: list[_Pairs], family: Family) -> dict[str, object]:
    """Return the largest difference, the groups that it is between, and its p-value."""
    if not parts:
        return {"group": "", "against": "", "rate": "", "label": ""}

    size = [np.abs(part.contrast.difference) for part in parts]
    part, sizes = max(zip(parts, size, strict=True), key=lambda pair: pair[1].max())
    place = int(sizes.argmax())

    # The group with more errors is named first, however the groups are called.
    names = [family.called(part.group[place]), family.called(part.against[place])]
    if part.contrast.difference[place] < 0:
        names.reverse()
    return {
        "group": names[0],
        "against": names[1],
        "rate": part.rate,
        "label": part.label,
        "value": sizes[place],
        "p": min(1.0, len(parts) * min(part.p.min() for part in parts)),
    }


def _decided(compared: _Compared, *, alpha: float, share: float) -> pd.DataFrame:
    """Return rows with verdicts, and with intervals that agree with them."""
    rows = [
        {"attribute": family.attribute, "class": class_name} | _largest(parts, family)
        for (family, class_name), parts in compared.items()
    ]
    result = pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))
    decided = claims.decide(result["p"], alpha=alpha, share=share)
    result[["p_corrected", "verdict"]] = decided

    level = claims.level_of_intervals(result["verdict"], alpha=alpha)
    for row, parts in enumerate(compared.values()):
        if parts:
            ends = [part.ends(level / len(parts)) for part in parts]
            result.loc[row, "low"] = max(low.max() for low, _ in ends)
            result.loc[row, "high"] = max(high.max() for _, high in ends)
            result.loc[row, "confidence"] = 1 - level

    # Here both ends come from the tests, so that this mends rounding alone.
    result["low"], result["high"] = claims.agreeing(
        result["value"],
        (result["low"], result["high"]),
        p=result["p"],
        level=level,
        is_shown=result["verdict"] == "shown",
    )
    return result
