"""Published audits of hiring tools: how sure are their impact ratios?

New York City's Local Law 144 makes employers publish, for each category of applicants,
a rate and its ratio to the highest rate. A public collection holds the tables of 116
audits. It is licensed for non-commercial use, so that only counts of its ratios are
bundled, without names. `python -m fairlib.recipes.local_law_144_audits FILE` writes the
ledger of single ratios from the user's own clone.
"""

import sys

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib.intervals import ratios
from fairlib.recipes.atlas_counts.counting import Clone
from fairlib.recipes.originals import original, recipe, require_columns

AUDITS = Clone(
    "aclu-national/auditing-the-audits-facct-2025",
    "cef7c27398dc73852f06f20120500d361abbd37e",
)
FOUR_FIFTHS = 0.8
TOLERANCE = 0.02  # a printed ratio that is farther away was computed in another way
ALPHA = 0.05
SMALLEST_SHARE = 0.02  # smaller categories may be left out of the ratios

_ROUNDING = 1e-9
_MOST_DECIMALS = 6
_TABLE = ["audit", "rates", "attribute"]
_COLUMNS = {
    "audit_id": "audit",
    "selection_or_scoring_rate": "rates",
    "protected_char_group": "attribute",
    "race_ethnicity": "race",
    "sex": "sex",
    "number_of_applications": "n",
    "n_selected_or_n_above_median": "x",
    "result": "printed_rate",
    "impact_ratio": "printed_ratio",
}
_SIZES = {0: "1-29", 30: "30-99", 100: "100-999", 1000: "1000-9999", 10000: "10000+"}
_KINDS = [
    "attribute",
    "cases",
    "printed",
    "reason",
    "table_recomputes",
    "katz",
    "verdict",
    "could_show",
    "could_exclude",
]


@recipe(files=[AUDITS.file])
def local_law_144_ratios() -> DataFrame:
    """Impact ratios of published audits, counted by what their counts can show.

    One row per kind of table, size of the category, side of 0.8 on which the printed
    ratio lies, and what was found. The column `ratios` counts the printed ratios.
    """
    kinds = ledger().groupby(_KINDS, sort=True).size()
    return kinds.rename("ratios").reset_index()


@recipe(files=[AUDITS.file])
def local_law_144_audits() -> DataFrame:
    """Published audits, counted by what their tables hold.

    One row per pattern: whether an audit prints counts and ratios, whether any of its
    recomputed ratios is below 0.8, and whether any is undecided. The column `audits`
    counts the audits, and `rows` their rows.
    """
    rows = read()
    with_counts = rows["n"].gt(0) & rows["x"].notna()
    by_audit = DataFrame({"rows": rows.groupby("audit").size()})
    by_audit["prints_ratios"] = rows.groupby("audit")["printed_ratio"].any()
    by_audit["prints_counts"] = with_counts.groupby(rows["audit"]).any()

    recomputed = ledger().query("reason == 'recomputes'")
    names = recomputed["audit"]
    columns = {
        "recomputed": Series(True, recomputed.index),
        "printed_below": recomputed["printed"].eq("below"),
        "katz_undecided": recomputed["katz"].eq("undecided"),
        "undecided": recomputed["verdict"].eq("undecided"),
        "shown": recomputed["verdict"].eq("shown"),
        "unable_to_exclude": recomputed["could_exclude"].eq("no"),
    }
    for column, is_so in columns.items():
        audits = names[is_so].unique()
        by_audit[column] = by_audit.index.isin(audits)

    kinds = [column for column in by_audit if column != "rows"]
    yes_or_no = by_audit[kinds].apply(lambda column: _yes_or_no(column))
    patterns = yes_or_no.assign(rows=by_audit["rows"]).groupby(kinds)["rows"]
    return patterns.agg(audits="size", rows="sum").reset_index()


@recipe(files=[AUDITS.file])
def local_law_144_rows() -> DataFrame:
    """Rows of published audits, counted by what each of them prints."""
    rows = read()
    kinds = DataFrame(
        {
            "counts": _yes_or_no(rows["n"].gt(0) & rows["x"].notna()),
            "ratio": _yes_or_no(rows["printed_ratio"].notna()),
            "whole_numbers": _yes_or_no(_is_whole(rows["x"])),
        }
    )
    return kinds.value_counts(sort=False).rename("rows").reset_index()


def read() -> DataFrame:
    """Return the rows of all audits, as they were printed, with short column names."""
    path = original(AUDITS.file) / "audits" / "audits_full.csv"
    rows = pd.read_csv(path, low_memory=False)
    require_columns(rows, _COLUMNS, path)
    return rows[list(_COLUMNS)].rename(columns=_COLUMNS)


def ledger() -> DataFrame:
    """Return one row per printed ratio that has counts and a reference.

    The reference is the category whose printed ratio is 1. If several have it, it is
    the one with the highest rate. Its own ratio is no finding and has no row.

    Returns
    -------
    DataFrame
        The printed row, and

        - calculated : the category's rate divided by the reference's;
        - reason : "recomputes" if that is within 0.02 of the printed ratio, or else why
          it may not be;
        - low, high : an interval for the ratio that holds whichever category of the
          table was picked as the reference;
        - verdict : "shown" if the whole interval is below 0.8, "excluded" if none of it
          is, "undecided" otherwise;
        - could_show : whether the interval would have been below 0.8 if nobody of the
          category had been selected;
        - could_exclude : whether it would have been at or above 0.8 if the category had
          been selected exactly as often as the reference.
    """
    rows = read()
    rows = rows[rows["n"].gt(0) & rows["x"].notna()].copy()
    rows["rate"] = rows["x"] / rows["n"]
    rows = _with_table(rows)

    ratio_rows = rows[rows["printed_ratio"].notna()].copy()
    is_one = ratio_rows["printed_ratio"].eq(1)
    best_first = ratio_rows[is_one].sort_values("rate", ascending=False, kind="stable")
    reference = best_first.drop_duplicates(_TABLE)
    ratio_rows = ratio_rows.drop(index=reference.index)
    joined = ratio_rows.merge(
        reference[[*_TABLE, "x", "n", "rate"]],
        on=_TABLE,
        suffixes=("", "_reference"),
    )

    joined["calculated"] = joined["rate"] / joined["rate_reference"]
    joined["reason"] = _reasons(joined)
    agrees = joined["reason"].eq("recomputes")
    all_agree = agrees.groupby([joined[name] for name in _TABLE]).transform("all")
    joined["table_recomputes"] = _yes_or_no(all_agree)
    joined["printed"] = np.where(
        joined["printed_ratio"] < FOUR_FIFTHS, "below", "at least"
    )
    edges = [*_SIZES, np.inf]
    sizes = pd.cut(joined["n"], edges, labels=list(_SIZES.values()), right=False)
    joined["cases"] = sizes.astype(str)
    return _with_intervals(joined)


def _with_table(rows: DataFrame) -> DataFrame:
    """Return the rows with what their whole table says."""
    table = [rows[name] for name in _TABLE]
    is_known = ~(rows["race"].str.contains("Missing") | rows["sex"].str.contains("Mis"))
    known_rate = rows["rate"].where(is_known)
    is_large = rows["n"] >= SMALLEST_SHARE * rows["n"].groupby(table).transform("sum")

    rows["categories"] = is_known.groupby(table).transform("sum")
    rows["best"] = known_rate.groupby(table).transform("max")
    rows["best_large"] = known_rate.where(is_large).groupby(table).transform("max")
    whole_audit = [rows["audit"], rows["rates"]]
    rows["best_of_audit"] = known_rate.groupby(whole_audit).transform("max")

    rows["unit"] = _unit(rows["printed_rate"], table)
    is_rounded = ~_is_whole(rows["x"]).groupby(table).transform("all")
    rows["rounding"] = np.where(is_rounded, rows["unit"] / 2, 0.0)
    rows["one_reference"] = _one_reference(rows, table)
    return rows


def _unit(rates: Series, table: list[Series]) -> Series:
    """Return the unit of the last decimal of the printed rates of each table."""
    decimals = Series(_MOST_DECIMALS, rates.index)
    for places in reversed(range(_MOST_DECIMALS)):
        fits = (rates.round(places) - rates).abs().lt(_ROUNDING) | rates.isna()
        in_table = fits.groupby(table).transform("all")
        decimals = decimals.where(~in_table, places)
    return 10.0**-decimals


def _one_reference(rows: DataFrame, table: list[Series]) -> Series:
    """Return whether one rate can be the reference of all ratios of a table.

    Each printed rate and ratio may have been rounded.
    """
    half = rows["unit"] / 2
    half_of_ratio = 0.005
    least = (rows["rate"] - half) / (rows["printed_ratio"] + half_of_ratio)
    too_small = rows["printed_ratio"] <= half_of_ratio
    most = (rows["rate"] + half) / (rows["printed_ratio"] - half_of_ratio)
    most = most.mask(too_small, np.inf)
    return least.groupby(table).transform("max") <= most.groupby(table).transform("min")


def _reasons(rows: DataFrame) -> ndarray:
    """Return "recomputes", or the first explanation that fits a printed ratio."""

    def divided_by(column: str) -> Series:
        ratio = rows["rate"] / rows[column]
        return (ratio - rows["printed_ratio"]).abs() <= TOLERANCE + _ROUNDING

    half = rows["unit"] / 2
    smallest = (rows["rate"] - half) / (rows["rate_reference"] + half)
    largest = (rows["rate"] + half) / (rows["rate_reference"] - half)
    is_rounding = rows["printed_ratio"].between(smallest - 0.005, largest + 0.005)
    contradicts = (rows["rate"] - rows["printed_rate"]).abs() > 1.01 * rows["unit"]

    reasons = {
        "recomputes": divided_by("rate_reference"),
        "counts contradict the rate": contradicts,
        "rounding": is_rounding,
        "highest rate of the table": divided_by("best") | divided_by("best_large"),
        "highest rate of the audit": divided_by("best_of_audit"),
        "no single reference": ~rows["one_reference"],
    }
    return np.select(list(reasons.values()), list(reasons), default="unexplained")


def _with_intervals(rows: DataFrame) -> DataFrame:
    """Return the rows with intervals, verdicts, and what the counts could show."""
    n = rows["n"].to_numpy()
    n_reference = rows["n_reference"].to_numpy()
    x = rows["x"].to_numpy()
    x_reference = rows["x_reference"].to_numpy()
    # Any of the other categories may have been picked as the reference.
    alpha = ALPHA / np.maximum(rows["categories"].to_numpy() - 1, 1)

    def ends(events: ndarray, events_reference: ndarray) -> tuple[ndarray, ndarray]:
        return ratios.ratio(
            x=np.clip(events, 0, n),
            n=n,
            x_other=np.clip(events_reference, 0, n_reference),
            n_other=n_reference,
            alpha=alpha,
        )

    rounding = rows["rounding"].to_numpy()
    low, _ = ends(x - rounding * n, x_reference + rounding * n_reference)
    _, high = ends(x + rounding * n, x_reference - rounding * n_reference)
    _, high_of_nobody = ends(np.zeros(len(n)), x_reference)
    low_of_equals, _ = ends(n * x_reference / n_reference, x_reference)
    katz_low, katz_high = ratios.katz(
        x=x, n=n, x_other=x_reference, n_other=n_reference, alpha=ALPHA
    )

    return rows.assign(
        low=low,
        high=high,
        verdict=_verdict(low, high),
        katz_low=katz_low,
        katz_high=katz_high,
        katz=_verdict(katz_low, katz_high),
        could_show=_yes_or_no(high_of_nobody < FOUR_FIFTHS),
        could_exclude=_yes_or_no(low_of_equals >= FOUR_FIFTHS),
    )


def _verdict(low: ndarray, high: ndarray) -> ndarray:
    """Return what intervals say about ratios below 0.8."""
    is_shown = high < FOUR_FIFTHS
    is_excluded = low >= FOUR_FIFTHS
    return np.select([is_shown, is_excluded], ["shown", "excluded"], "undecided")


def _is_whole(counts: Series) -> Series:
    """Return whether counts are whole numbers."""
    return (counts - counts.round()).abs() < _ROUNDING


def _yes_or_no(values: ndarray | Series) -> Series:
    """Return words in place of truth values."""
    index = values.index if isinstance(values, Series) else None
    return Series(np.where(values, "yes", "no"), index)


if __name__ == "__main__":
    ledger().to_csv(sys.argv[1], index=False)
