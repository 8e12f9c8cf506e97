"""The ledger: every number the papers print, and how it came out here.

`data/published/<paper>.csv` holds what is printed, one row per claim. A notebook calls `check(id, value)` for what it
computed, `leave_open(id, ...)` for what it could not, and `save(notebook)` at its end; `python -m fairlib ledger` puts
the notebooks' parts together. A disagreement is a finding, never an error; a claim that nobody answers is an error.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from fairlib.data import ROOT, write_whole

PUBLISHED = ROOT / "data" / "published"
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
}
KINDS = ("number", "interval", "statement")
COLUMNS = ("id", "place", "quantity", "kind", "printed", "error", "unit")


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


_records: dict[str, Claim] = {}  # what the running notebook has said so far


@cache
def published() -> pd.DataFrame:
    """Return all printed claims, indexed by id; columns place, quantity, kind, printed, error, unit."""
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
    if unknown := sorted(set(claims["kind"]) - set(KINDS)):
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, found {', '.join(unknown)}")
    return claims.set_index("id")


def check(claim_id: str, value, *, basis: str = "formula", note: str = "") -> Claim:
    """Record what was computed for a printed claim, and return the claim with its status. Never raises on disagreement.

    value : a number (in the printed unit), a pair of numbers for an interval, or a truth value for a statement.
    basis : "formula" or "original" where the paper's own computation was repeated; "substitute" where something
        stated stands in its place (say what in `note`); "input" where the printed value was an input.
    """
    row = _row(claim_id)
    if basis not in BASES:
        raise ValueError(f"basis must be one of {', '.join(BASES)}, found {basis!r}")
    if basis == "substitute" and not note:
        raise ValueError(f"note must say what stands in for the original in {claim_id!r}")
    values = np.ravel(np.asarray(value, dtype=float))
    if len(values) != (2 if row["kind"] == "interval" else 1):
        raise ValueError(f"value of {claim_id!r} must be a number, or two for an interval, found {value!r}")
    if not np.isfinite(values).all():
        raise ValueError(f"value of {claim_id!r} must be finite, found {value!r}; use leave_open for what is undefined")
    agrees = _agrees(row, value, within_error=basis == "substitute")
    if basis == "input":
        status = "input"
    elif agrees:
        status = "consistent" if basis == "substitute" else "reproduced"
    else:
        status = "differs"
    return _record(claim_id, row, computed=_written(row, value), status=status, basis=basis, note=note)


def leave_open(claim_id: str, *, needs: str, command: str) -> Claim:
    """Record that a printed claim was not computed: what that needs, and the command that would do it."""
    if not needs or not command:
        raise ValueError(f"needs and command must say what would settle {claim_id!r}")
    note = f"needs {needs}; {command}"
    return _record(claim_id, _row(claim_id), computed="", status="open", basis="", note=note)


def save(notebook: str) -> pd.DataFrame:
    """Write what this notebook recorded to `build/ledger/<notebook>.csv`, and return it for display."""
    table = _table(sorted(_records.values(), key=lambda claim: list(published().index).index(claim.id)))
    write_whole(PARTS / f"{notebook}.csv", lambda path: table.to_csv(path, index=False, lineterminator="\n"))
    return table


def assemble() -> pd.DataFrame:
    """Put the notebooks' parts together, in the order of the papers; every printed claim must be answered once."""
    names = [path.stem for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
    parts = [PARTS / f"{name}.csv" for name in names if (PARTS / f"{name}.csv").exists()]
    if not parts:
        raise ValueError(f"no notebook has been run: {PARTS} is empty; run `make reproduce`")
    answered = pd.concat(
        [pd.read_csv(path, dtype=str, keep_default_na=False).assign(notebook=path.stem) for path in parts]
    )
    if twice := sorted(answered["id"][answered["id"].duplicated()]):
        raise ValueError(f"claims answered by two notebooks: {', '.join(twice)}")
    if missing := [name for name in published().index if name not in set(answered["id"])]:
        raise ValueError(f"{len(missing)} printed claim(s) that no notebook answers: {', '.join(missing[:10])} ...")
    claimed = answered["status"].isin(["reproduced", "consistent", "differs", "input"])
    if empty := sorted(answered["id"][claimed & (answered["computed"] == "")]):
        raise ValueError(f"a status without a computed value: {', '.join(empty)}")
    return answered.set_index("id").loc[published().index].reset_index()


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Count the claims by paper (rows) and status (columns)."""
    paper = table["id"].str.split("/").str[0].rename("paper")
    return pd.crosstab(paper, table["status"]).reindex(columns=list(STATUSES), fill_value=0)


def as_markdown(table: pd.DataFrame) -> str:
    """Return the ledger as a page: what the statuses mean, the counts, and every claim by paper."""
    counts = summary(table)
    lines = ["# The ledger: every printed number, and how it came out", ""]
    lines += [f"- **{status}**: {meaning}" for status, meaning in STATUSES.items()]
    lines += [
        "",
        _markdown_row(["paper", *counts.columns, "all"]),
        _markdown_row(["---"] * (len(counts.columns) + 2)),
    ]
    lines += [_markdown_row([paper, *row, row.sum()]) for paper, row in counts.iterrows()]
    for paper, claims in table.groupby(table["id"].str.split("/").str[0], sort=False):
        shown = ["place", "quantity", "printed", "computed", "status", "notebook", "note"]
        lines += ["", f"## {paper}", "", _markdown_row(shown), _markdown_row(["---"] * len(shown))]
        lines += [_markdown_row(row) for row in claims[shown].itertuples(index=False)]
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


def _row(claim_id: str) -> pd.Series:
    if claim_id not in published().index:
        raise ValueError(f"claim_id must be an id in data/published/, found {claim_id!r}")
    return published().loc[claim_id]


def _record(claim_id: str, row: pd.Series, **outcome: str) -> Claim:
    printed = row["printed"] + (f" ± {row['error']}" if row["error"] else "") + row["unit"]
    _records[claim_id] = Claim(id=claim_id, place=row["place"], quantity=row["quantity"], printed=printed, **outcome)
    return _records[claim_id]


def _agrees(row: pd.Series, value, *, within_error: bool) -> bool:
    if row["kind"] == "statement":
        return bool(value)
    if row["kind"] == "interval":
        ends = row["printed"].strip("()[]").split(",")
        return all(_equal_after_rounding(end.strip(), found) for end, found in zip(ends, value, strict=True))
    if within_error and row["error"] and abs(float(value) - float(row["printed"])) <= float(row["error"]):
        return True
    return _equal_after_rounding(row["printed"], value)


def _equal_after_rounding(printed: str, value: float) -> bool:
    """Whether `value` lies within half a unit of the last printed digit; a tie may round either way."""
    unit = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent)
    return abs(Decimal(float(value)) - Decimal(printed)) <= unit / 2 * Decimal("1.000001")


def _written(row: pd.Series, value) -> str:
    if row["kind"] == "statement":
        return "holds" if value else "does not hold"
    if row["kind"] == "interval":
        return f"({', '.join(f'{float(end):.6g}' for end in value)})"
    return f"{float(value):.6g}"


def _table(claims: list[Claim]) -> pd.DataFrame:
    return pd.DataFrame([asdict(claim) for claim in claims], columns=[field.name for field in fields(Claim)])


def _markdown_row(cells) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
