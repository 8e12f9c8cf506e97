"""Sentences that differ in one identity term, and a test of predictions on them.

A template is a sentence with a slot. A suite is every template filled with every
identity term of an attribute (`fairlib.suites`). The same suites serve the metrics
(`fairlib.measure`) and the behavioural test here (`invariance`), which asks whether a
prediction changes with the identity term.

References: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6. Ribeiro, Wu,
Guestrin, Singh (2020), CheckList.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from fairlib.checks import check_confidence
from fairlib.intervals.proportions import wilson
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
    """Count how often a prediction changes when only the identity term changes.

    A source (a template or an original sentence) fails for a group when the prediction
    with *any* of the group's terms differs from the source's reference prediction. In
    the row "accumulated", a source fails when its predictions are not all equal.

    A failure rate grows with the number of terms, so groups with few terms look
    better. The column `changed` does not depend on the number of terms: it is the share
    of a group's terms whose prediction differs.

    Parameters
    ----------
    predictions : pandas.DataFrame
        One row per source and term.
    by : str or sequence of str, optional
        Columns to report separately, such as "attribute" or ["system", "attribute"].
    reference : str, optional
        The term that gives each source's reference prediction, as in CheckList. By
        default the reference is the most frequent prediction over the source's terms;
        of equally frequent predictions it is the first in sorted order.
    tolerance : float, default 0.0
        A change counts only if the probability of the reference prediction also moved
        by more than this. CheckList's sentiment tests use 0.1 and a reference term.
    confidence : float, default 0.95
        Confidence of the intervals.
    **columns : str
        What the columns are called, as for `fairlib.measure`.

    Returns
    -------
    pandas.DataFrame
        One row per group: the columns of `by`, group, terms, sources, failures,
        failure_rate with low and high, changed with changed_low and changed_high.

    Raises
    ------
    ValueError
        If a column is missing or incomplete, if a source does not have every term once,
        or if the reference is not one term.

    Notes
    -----
    The intervals are Wilson's over sources. For `changed` they are conservative, since
    its variance over sources cannot exceed that of a proportion.

    References
    ----------
    Ribeiro et al. (2020), "invariance test" (INV).

    Examples
    --------
    >>> sentences = pd.DataFrame(
    ...     {
    ...         "source": [1, 1, 2, 2],
    ...         "group": ["f", "m", "f", "m"],
    ...         "term": ["she", "he", "she", "he"],
    ...         "prediction": ["+", "+", "+", "-"],
    ...     }
    ... )
    >>> invariance(sentences)[["group", "terms", "sources", "changed"]]
             group  terms  sources  changed
    0            f      1        2     0.00
    1            m      1        2     0.50
    2  accumulated      2        2     0.25
    """
    keys = [by] if isinstance(by, str) else list(by)
    names = Columns(**columns)

    check_confidence(confidence)
    if not 0 <= tolerance < 1 or (tolerance and reference is None):
        raise ValueError(
            "tolerance must be in [0, 1), and 0 without a reference term, "
            f"found {tolerance}"
        )
    _check_complete(
        predictions, [*keys, names.group, names.term, names.source, names.prediction]
    )
    if (predictions[names.group] == ACCUMULATED).any():
        raise ValueError(
            f"column {names.group!r} must not have the value {ACCUMULATED!r}, the name "
            "of the total"
        )

    # Mapping a categorical column would compare codes of different categories.
    table = predictions.astype({names.source: object, names.prediction: object})
    parts = table.groupby(keys, observed=True) if keys else [((), table)]

    rates_of_parts = []
    for key, part in parts:
        _check_part(part, names, reference, ", ".join(map(str, key)))
        differs = _differs(part, names, reference, tolerance)
        wide = part.assign(_differs=differs).pivot(
            index=names.source, columns=[names.group, names.term], values="_differs"
        )
        rates = _rates(wide.astype(bool), names.group)
        rates_of_parts.append(rates.assign(**dict(zip(keys, key, strict=True))))

    return _with_intervals(
        pd.concat(rates_of_parts, ignore_index=True), keys, confidence
    )


def _with_intervals(
    rates: pd.DataFrame, keys: list[str], confidence: float
) -> pd.DataFrame:
    """Return the rates with the number of failures and Wilson's intervals."""
    sources = rates["sources"]
    failures = rates["failure_rate"] * sources
    changed = rates["changed"] * sources

    alpha = 1 - confidence
    low, high = wilson(failures, sources, alpha=alpha)
    changed_low, changed_high = wilson(changed, sources, alpha=alpha)
    table = rates.assign(
        failures=failures.round().astype(int),
        low=low,
        high=high,
        changed_low=changed_low,
        changed_high=changed_high,
    )

    names_of_rates = ["failures", "failure_rate", "low", "high"]
    names_of_shares = ["changed", "changed_low", "changed_high"]
    return table[
        [*keys, "group", "terms", "sources", *names_of_rates, *names_of_shares]
    ]


def _differs(
    part: pd.DataFrame, names: Columns, reference: str | None, tolerance: float
) -> np.ndarray:
    """Return for each row whether it differs from the source's reference prediction."""
    prediction = part[names.prediction].to_numpy()
    source = part[names.source]

    if reference is None:
        most_frequent = pd.crosstab(source, prediction).idxmax(axis=1)
        return prediction != source.map(most_frequent).to_numpy()

    # For each row, the row of the same source that has the reference term.
    compared = part[part[names.term] == reference].set_index(names.source).loc[source]
    expected = compared[names.prediction].to_numpy()
    if not tolerance:
        return prediction != expected

    # The change is that of the probability of the source's reference prediction.
    change = np.full(len(part), np.nan)
    probabilities = {
        name: names.probability.format(name) for name in pd.unique(expected)
    }
    _check_complete(part, probabilities.values())
    for name, column in probabilities.items():
        rows = expected == name
        moved = np.abs(part[column].to_numpy() - compared[column].to_numpy())
        change[rows] = moved[rows]
    return (prediction != expected) & (change > tolerance)


def _rates(differs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return the rates per group; `differs` is sources x (group, term)."""
    per_group = differs.T.groupby(level=group, sort=False)
    rows = pd.DataFrame(
        {
            "terms": per_group.size(),
            "failure_rate": per_group.any().mean(axis=1),
            "changed": per_group.mean().mean(axis=1),
        }
    )
    rows.loc[ACCUMULATED] = [
        differs.shape[1],
        differs.any(axis=1).mean(),
        differs.to_numpy().mean(),
    ]

    rates = rows.astype({"terms": int}).assign(sources=len(differs))
    return rates.rename_axis("group").reset_index()


def _check_complete(predictions: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise unless the columns are there and have no missing values."""
    missing = [name for name in columns if name not in predictions]
    if missing:
        raise ValueError(
            f"predictions must have the column(s) {listed(missing)}; "
            f"found {listed(predictions)}"
        )
    if predictions.empty:
        raise ValueError("predictions must have at least one row, found none")

    incomplete = [name for name in columns if predictions[name].isna().any()]
    if incomplete:
        raise ValueError(f"column(s) {listed(incomplete)} must not have missing values")


def _check_part(
    part: pd.DataFrame, names: Columns, reference: str | None, where: str
) -> None:
    """Raise unless every source of a part has every term once, and one reference."""
    source = names.source
    term = names.term
    cell = [names.group, term]

    repeated = part.duplicated([source, *cell]).sum()
    if repeated:
        raise ValueError(
            f"each {source} must have each {term} once, found {repeated} repeated; "
            "name `by` columns?"
        )

    terms = part[cell].drop_duplicates()
    if reference is not None:
        references = (terms[term] == reference).sum()
        if references != 1:
            place = f"one group of {where}" if where else "one group"
            raise ValueError(
                f"reference must be a value of column {term!r} in {place}, "
                f"found {reference!r} in {references}"
            )

    counts = part.groupby(source, observed=True).size()
    incomplete = counts.index[counts < len(terms)]
    if len(incomplete):
        raise ValueError(
            f"every {source} must have every {term}; {len(incomplete)} lack one, "
            f"among them {incomplete[0]!r}"
        )
