"""Sentences that differ in one identity term only, and the test that a prediction does not depend on that term.

A template is a sentence with a slot; a suite is every template filled with every identity term of an attribute
(`fairlib.suites`). The same suites serve the metrics (`fairlib.measure`) and the behavioural test here (`invariance`).

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6; Ribeiro, Wu, Guestrin, Singh (2020), CheckList.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from fairlib.interval import check_confidence
from fairlib.metrics.examples import ACCUMULATED, Columns
from fairlib.tables import listed

ATTRIBUTES = {
    "names": "Gender (names)",
    "gender": "Gender",
    "sexual_orientation": "Sexual Orientation",
    "religion": "Religion",
    "nationality": "Nationality",
    "race": "Race",
    "age": "Age",
    "disability": "Disability",
}
CLASSES = ("negative", "neutral", "positive")


def invariance(
    predictions: pd.DataFrame,
    *,
    by: str | Sequence[str] = (),
    reference: str | None = None,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    **columns,
) -> pd.DataFrame:
    """How often does a prediction change when nothing but the identity term changes?

    A source fails for a group when the prediction with *any* of the group's terms differs from the source's reference
    prediction: that with the term `reference`, as CheckList has it, or by default the most frequent one over the
    source's terms (of equally frequent ones the first in sorted order). In the row "accumulated" a source fails when
    its predictions are not all equal. A failure rate grows with the number of terms, so groups with few terms look
    better; `changed`, the share of a group's terms whose prediction differs, does not.

    predictions : one row per source and term; `columns` says what they are called, as for `fairlib.measure`.
    by : columns to report separately, such as "attribute" or ["system", "attribute"].
    tolerance : a change counts only if the probability of the reference prediction moved by more than this too.
        CheckList's sentiment tests take 0.1 and a reference term.

    Returns one row per group: the columns of `by`, group, terms, sources, failures, failure_rate with low and high,
    changed with changed_low and changed_high. Intervals are Wilson's over sources; for `changed`, whose variance over
    sources cannot exceed that of a proportion, they are conservative.

    Reference: Ribeiro et al. (2020), "invariance test" (INV).

    >>> seen = {"source": [1, 1, 2, 2], "group": ["f", "m"] * 2, "term": ["she", "he"] * 2, "prediction": list("+++-")}
    >>> invariance(pd.DataFrame(seen))[["group", "terms", "sources", "changed"]]
             group  terms  sources  changed
    0            f      1        2     0.00
    1            m      1        2     0.50
    2  accumulated      2        2     0.25
    """
    by, names = [by] if isinstance(by, str) else list(by), Columns(**columns)
    check_confidence(confidence)
    if not 0 <= tolerance < 1 or (tolerance and reference is None):
        raise ValueError(
            f"tolerance must be in [0, 1), and 0 without a reference term, found {tolerance}"
        )
    _check_complete(
        predictions, [*by, names.group, names.term, names.source, names.prediction]
    )
    if (predictions[names.group] == ACCUMULATED).any():
        raise ValueError(
            f"column {names.group!r} must not have the value {ACCUMULATED!r}, the name of the total"
        )
    predictions = predictions.astype(
        {names.source: object, names.prediction: object}
    )  # categories map to wrong ones
    found = []
    for key, part in (
        predictions.groupby(by, observed=True) if by else [((), predictions)]
    ):
        _check_part(part, names, reference, ", ".join(map(str, key)))
        part = part.assign(_differs=_differs(part, names, reference, tolerance))
        wide = part.pivot(
            index=names.source, columns=[names.group, names.term], values="_differs"
        ).astype(bool)
        found.append(
            _rates(wide, names.group).assign(**dict(zip(by, key, strict=True)))
        )
    table = pd.concat(found, ignore_index=True)
    for rate, low, high in (
        ("failure_rate", "low", "high"),
        ("changed", "changed_low", "changed_high"),
    ):
        count, n = table[rate] * table["sources"], table["sources"]
        table[low], table[high] = proportion_confint(
            count, n, alpha=1 - confidence, method="wilson"
        )
    table["failures"] = (table["failure_rate"] * table["sources"]).round().astype(int)
    rates = [
        "failures",
        "failure_rate",
        "low",
        "high",
        "changed",
        "changed_low",
        "changed_high",
    ]
    return table[[*by, "group", "terms", "sources", *rates]]


def _differs(
    part: pd.DataFrame, names: Columns, reference: str | None, tolerance: float
) -> np.ndarray:
    """Return for each row whether its prediction is another one than the source's reference prediction."""
    prediction, source = part[names.prediction].to_numpy(), part[names.source]
    if reference is None:
        return (
            prediction
            != source.map(pd.crosstab(source, prediction).idxmax(axis=1)).to_numpy()
        )
    compared = part[part[names.term] == reference].set_index(names.source).loc[source]
    expected = compared[names.prediction].to_numpy()
    if not tolerance:
        return prediction != expected
    change = np.full(len(part), np.nan)
    columns = {name: names.probability.format(name) for name in pd.unique(expected)}
    _check_complete(part, columns.values())
    for name, column in columns.items():
        rows = expected == name
        change[rows] = np.abs(part[column].to_numpy() - compared[column].to_numpy())[
            rows
        ]
    return (prediction != expected) & (change > tolerance)


def _rates(differs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return terms, sources, failure_rate and changed per group; `differs` is sources x (group, term)."""
    per_group = differs.T.groupby(level=group, sort=False)
    failure_rate, changed = per_group.any().mean(axis=1), per_group.mean().mean(axis=1)
    rows = pd.DataFrame(
        {"terms": per_group.size(), "failure_rate": failure_rate, "changed": changed}
    )
    rows.loc[ACCUMULATED] = [
        differs.shape[1],
        differs.any(axis=1).mean(),
        differs.to_numpy().mean(),
    ]
    return (
        rows.astype({"terms": int})
        .assign(sources=len(differs))
        .rename_axis("group")
        .reset_index()
    )


def _check_complete(predictions: pd.DataFrame, columns) -> None:
    if missing := [name for name in columns if name not in predictions]:
        raise ValueError(
            f"predictions must have the column(s) {listed(missing)}; found {listed(predictions)}"
        )
    if predictions.empty:
        raise ValueError("predictions must have at least one row, found none")
    if empty := [name for name in columns if predictions[name].isna().any()]:
        raise ValueError(f"column(s) {listed(empty)} must not have missing values")


def _check_part(
    part: pd.DataFrame, names: Columns, reference: str | None, where: str
) -> None:
    """Raise unless every source of a part has every term of the part once, and one reference."""
    source, term, cell = names.source, names.term, [names.group, names.term]
    if repeats := part.duplicated([source, *cell]).sum():
        raise ValueError(
            f"each {source} must have each {term} once, found {repeats} repeated; name `by` columns?"
        )
    every = part[cell].drop_duplicates()
    if reference is not None and (found := (every[term] == reference).sum()) != 1:
        where = f"one group of {where}" if where else "one group"
        raise ValueError(
            f"reference must be a value of column {term!r} in {where}, found {reference!r} in {found}"
        )
    counts = part.groupby(source, observed=True).size()
    if len(lacking := counts.index[counts < len(every)]):
        raise ValueError(
            f"every {source} must have every {term}; {len(lacking)} lack one, among them {lacking[0]!r}"
        )
