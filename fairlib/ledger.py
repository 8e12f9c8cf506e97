"""The ledger: every number the papers print, and how it came out here.

`data/published/<paper>.csv` holds what is printed, one row per claim: its place, the notebook that answers it, on what
basis, and what stands in for the original. A notebook ends with `record(notebook, {id: value})`, and
`python -m fairlib ledger` puts the notebooks' parts together. A disagreement is a finding, never an error; a claim that
no notebook answers is an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from fairlib.data import DATA, ROOT, write_whole

PUBLISHED = DATA / "published"
PARTS = ROOT / "build" / "ledger"
FIGURES = ROOT / "figures"

STATUSES = {
    "reproduced": "computed from the original data or from the formula; equal after rounding to the printed digits",
    "consistent": "computed with a stated substitute, and equal, inside the printed interval, or the statement holds",
    "differs": "computed and not equal; the notebook says why",
    "input": "used as an input, so no evidence",
    "open": "not computed here; the note says what it needs and the command that would compute it",
}
BASES = {
    "formula": "computed from the paper's formula alone",
    "original": "computed from the original data",
    "substitute": "computed from a stated substitute for the original data or model",
    "input": "an input of the computation",
    "open": "not computed",
}
KINDS = ("number", "interval", "statement")
COLUMNS = ("id", "place", "quantity", "kind", "printed", "error", "unit", "notebook", "basis", "note")


@dataclass(frozen=True)
class Claim:
    """One printed number, interval or statement, and how it came out."""

    id: str
    place: str
    quantity: str
    printed: str
    computed: str
    status: str
    basis: str
    note: str


@cache
def published() -> pd.DataFrame:
    """Return all printed claims, indexed by id; the other columns are those of `COLUMNS`."""
    tables = []
    for path in sorted(PUBLISHED.glob("*.csv")):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(table.columns) != COLUMNS:
            raise ValueError(f"{path.name} must have the columns {', '.join(COLUMNS)}, found {', '.join(table)}")
        if not table["id"].str.startswith(path.stem + "/").all():
            raise ValueError(f"every id in {path.name} must begin with '{path.stem}/'")
        tables.append(table)
    claims = pd.concat(tables, ignore_index=True)
    if repeated := sorted(claims["id"][claims["id"].duplicated()]):
        raise ValueError(f"claim ids must be unique, found twice: {', '.join(repeated)}")
    for column, allowed in {"kind": KINDS, "basis": tuple(BASES)}.items():
        if unknown := sorted(set(claims[column]) - set(allowed)):
            raise ValueError(f"{column} must be one of {', '.join(allowed)}, found {', '.join(unknown)}")
    without = claims["basis"].isin(["substitute", "open"]) & (claims["note"] == "")
    if without.any():
        raise ValueError(f"note must say what stands in, or what is needed, for {claims.loc[without, 'id'].iloc[0]!r}")
    return claims.set_index("id")


def check(claim_id: str, value=None, *, basis: str | None = None, found: str | None = None) -> Claim:
    """Return a printed claim with what was computed for it and its status. Never raises on disagreement.

    value : a number (in the printed unit), a pair of numbers for an interval, or a truth value for a statement; None
        for an open claim, and for an input that was used as it is printed.
    basis : one of `BASES`; by default that of the published table. Only there does its note speak of what stands in.
    found : what the "{}" in the published note stands for.

    >>> check("ethayarajh2020/winobias/n", 11903).status
    'reproduced'
    """
    if claim_id not in published().index:
        raise ValueError(f"claim_id must be an id in data/published/, found {claim_id!r}")
    row = published().loc[claim_id]
    note = (row["note"] if basis in (None, row["basis"]) else "{}" if found else "").replace("{}", found or "{}")
    basis = basis or row["basis"]
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, found {basis!r}")
    if "{}" in note:
        raise ValueError(f"found must say what the note of {claim_id!r} leaves open, {note!r}")
    if value is None and basis == "input":
        value = True if row["kind"] == "statement" else [float(number) for number in _printed(row)]
    status = _status(claim_id, row, value, basis)
    printed = row["printed"] + (f" ± {row['error']}" if row["error"] else "") + row["unit"]
    computed = "" if value is None else _written(row, value)
    return Claim(claim_id, row["place"], row["quantity"], printed, computed, status, basis.replace("open", ""), note)


def record(
    notebook: str,
    values: Mapping[str, object],
    *,
    found: Mapping[str, str] | None = None,
    original: Container[str] = (),
) -> pd.DataFrame:
    """Write what a notebook computed to `build/ledger/<notebook>.csv`, and return it for display.

    values : by claim, its id less the name of the paper; all claims that the published table gives to this notebook,
        except open ones and inputs that were used as printed.
    found : what the "{}" in a claim's note stands for.
    original : claims that were computed from genuine files this time, where the published table names a stand-in.
    """
    claims = published()[published()["notebook"] == notebook]
    if claims.empty:
        raise ValueError(f"notebook must be one that the published tables name, found {notebook!r}")
    paper, found = claims.index[0].split("/")[0], found or {}
    short = [name.removeprefix(f"{paper}/") for name in claims.index]
    if strange := [name for name in [*values, *found] if name not in short]:
        raise ValueError(f"values and found must name claims that {notebook} answers, found {strange[0]!r}")
    needed = ~claims["basis"].isin(["input", "open"]).to_numpy()
    if missing := [name for name, wanted in zip(short, needed, strict=True) if wanted and name not in values]:
        raise ValueError(f"values lacks {len(missing)} claim(s) that {notebook} answers: {', '.join(missing[:10])}")
    table = pd.DataFrame(
        [
            check(
                f"{paper}/{name}",
                values.get(name),
                basis="original" if name in original else None,
                found=found.get(name),
            )
            for name in short
        ]
    )
    write_whole(PARTS / f"{notebook}.csv", lambda path: table.to_csv(path, index=False, lineterminator="\n"))
    return table


def assemble() -> pd.DataFrame:
    """Put the notebooks' parts together, in the order of the papers; every printed claim must be answered."""
    claims = published()
    parts = {name: PARTS / f"{name}.csv" for name in sorted(set(claims["notebook"]))}
    if missing := [name for name, path in parts.items() if not path.exists()]:
        raise ValueError(f"{PARTS} lacks what {', '.join(missing)} recorded; run `make reproduce`")
    answered = pd.concat(
        [pd.read_csv(path, dtype=str, keep_default_na=False).assign(notebook=name) for name, path in parts.items()]
    )
    if open_ := sorted(set(claims.index) - set(answered["id"])):
        raise ValueError(f"{len(open_)} printed claim(s) that no notebook answers: {', '.join(open_[:10])}")
    return answered.set_index("id").loc[claims.index].reset_index()


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Count the claims by paper (rows) and status (columns)."""
    paper = table["id"].str.split("/").str[0].rename("paper")
    return pd.crosstab(paper, table["status"]).reindex(columns=list(STATUSES), fill_value=0)


def as_markdown(table: pd.DataFrame) -> str:
    """Return the ledger as a page: what the statuses mean, the counts, and every claim by paper."""
    lines = ["# The ledger: every printed number, and how it came out", ""]
    lines += [f"- **{status}**: {meaning}" for status, meaning in STATUSES.items()]
    counts = summary(table)
    lines += ["", *_markdown_rows(counts.assign(all=counts.sum(axis=1)).reset_index())]
    shown = ["place", "quantity", "printed", "computed", "status", "notebook", "note"]
    for paper, claims in table.groupby(table["id"].str.split("/").str[0], sort=False):
        lines += ["", f"## {paper}", "", *_markdown_rows(claims[shown])]
    return "\n".join(lines) + "\n"


def draw(table: pd.DataFrame):
    """Draw the ledger: one bar per paper, its claims by status, counts written in."""
    from fairlib import plots

    plots.use_style()
    counts = summary(table)
    figure, ax = plots.plt.subplots(figsize=(plots.WIDTH, 0.9 + 0.5 * len(counts)))
    start = pd.Series(0.0, index=counts.index)
    looks = zip(STATUSES, ("#0072B2", "#56B4E9", "#D55E00", "#BBBBBB", "white"), ("", "", "//", "", ".."), strict=True)
    for status, colour, hatch in looks:
        share = counts[status] / counts.sum(axis=1)
        bars = ax.barh(counts.index, share, left=start, color=colour, hatch=hatch, edgecolor="black", label=status)
        labels = [str(count) if count else "" for count in counts[status]]
        for label, part in zip(ax.bar_label(bars, labels=labels, label_type="center"), share, strict=True):
            label.set(fontsize=6.5 if part < 0.035 else 9, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8})
        start += share
    ax.invert_yaxis()
    ax.set(xlabel="share of a paper's printed claims", xlim=(0, 1))
    ax.legend(ncols=len(STATUSES), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    plots.save(figure, "ledger", caption=f"How {len(table):,} printed claims came out (figures/ledger.csv).")


def main(arguments: list[str]) -> None:
    """`python -m fairlib ledger`: write figures/ledger.{csv,md,svg,png} from what the notebooks recorded."""
    argparse.ArgumentParser(prog="python -m fairlib ledger", description=main.__doc__).parse_args(arguments)
    table = assemble()
    write_whole(FIGURES / "ledger.csv", lambda path: table.to_csv(path, index=False, lineterminator="\n"))
    draw(table)
    # The page comes last: `make` takes it as the sign that all the others are there.
    write_whole(FIGURES / "ledger.md", lambda path: path.write_text(as_markdown(table), encoding="utf-8"))
    counts = summary(table).sum()
    sys.stdout.write(f"ledger: {', '.join(f'{count} {status}' for status, count in counts.items())}\n")


def _status(claim_id: str, row: pd.Series, value, basis: str) -> str:
    """Return the status that follows from a claim's value and basis."""
    if basis == "open":
        if value is not None:
            raise ValueError(f"value of {claim_id!r} must be None while its basis is 'open', found {value!r}")
        return "open"
    values = np.ravel(np.asarray(value, dtype=float))
    if len(values) != (2 if row["kind"] == "interval" else 1):
        raise ValueError(f"value of {claim_id!r} must be a number, or two for an interval, found {value!r}")
    if not np.isfinite(values).all():
        raise ValueError(f"value of {claim_id!r} must be finite, found {value!r}; what is undefined is an open claim")
    if basis == "input":
        return "input"
    if not _agrees(row, values, within_error=basis == "substitute"):
        return "differs"
    return "consistent" if basis == "substitute" else "reproduced"


def _agrees(row: pd.Series, values: np.ndarray, *, within_error: bool) -> bool:
    if row["kind"] == "statement":
        return bool(values[0])
    if within_error and row["error"] and abs(values[0] - float(row["printed"])) <= float(row["error"]):
        return True
    return all(map(_equal_after_rounding, _printed(row), values))


def _printed(row: pd.Series) -> list[str]:
    """Return the printed number, or the ends of the printed interval, as they are written."""
    return [number.strip() for number in row["printed"].strip("()[]").split(",")]


def _equal_after_rounding(printed: str, value: float) -> bool:
    """Whether `value` lies within half a unit of the last printed digit; a tie may round either way."""
    unit = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent)
    return abs(Decimal(float(value)) - Decimal(printed)) <= unit / 2 * Decimal("1.000001")


def _written(row: pd.Series, value) -> str:
    if row["kind"] == "statement":
        return "holds" if value else "does not hold"
    written = ", ".join(f"{number:.6g}" for number in np.ravel(np.asarray(value, dtype=float)))
    return f"({written})" if row["kind"] == "interval" else written


def _markdown_rows(table: pd.DataFrame) -> list[str]:
    rows = [[*table], ["---"] * table.shape[1], *table.itertuples(index=False)]
    return ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
