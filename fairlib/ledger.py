"""The ledger: what the papers print, experiment by experiment, and how it came out here.

`data/published/<paper>.csv` holds what is printed, one row per claim: its experiment, its place, the notebook that
answers it, on what basis, and what stands in for the original; `experiments.csv` says of each experiment what of it was
original. A notebook ends with `record(notebook, {id: value})`, and `python -m fairlib ledger` puts the notebooks' parts
together. A disagreement is a finding, never an error; a claim that no notebook answers is an error.
"""

import argparse
import sys
from collections import namedtuple
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, partial
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd

from fairlib.checks import check_word
from fairlib.data import DATA, FIGURES, ROOT, write_csv, write_whole

PUBLISHED = DATA / "published"
PARTS = ROOT / "build" / "ledger"
PAGE = Path(__file__).with_name(
    "ledger.jinja"
)  # says what the statuses mean, and by which rule verdicts are found

# From the best to the worst: where as many numbers have one status as another, the worse one is the verdict.
STATUSES = (
    "reproduced",
    "checked",
    "consistent",
    "inconclusive",
    "differs",
    "open",
    "input",
)
COLOURS = (
    "#0072B2",
    "#009E73",
    "#56B4E9",
    "#DDDDDD",
    "#D55E00",
    "white",
)  # of the statuses but the last
HATCHES = ("", "\\\\", "", "", "//", "..")
# On each basis: the status of what agrees, and of what does not.
BASES = {
    "formula": ("reproduced", "differs"),
    "original": ("reproduced", "differs"),
    "check": ("checked", "differs"),
    "substitute": ("consistent", "inconclusive"),
    "input": ("input", "input"),
    "open": ("open", "open"),
}
APART = {
    "": "",
    "definition": "Definitions and counts that cannot fail",
    "ours": "Checks of our own making",
}
# One printed number, interval or statement, and how it came out.
Claim = namedtuple(
    "Claim", "id experiment place quantity printed computed status basis apart note"
)
_read = partial(pd.read_csv, dtype=str, keep_default_na=False)


@cache
def published() -> pd.DataFrame:
    """Return all printed claims, indexed by id; CONTRIBUTING.md explains the columns, and a test checks the files."""
    papers = sorted({*PUBLISHED.glob("*.csv")} - {PUBLISHED / "experiments.csv"})
    claims = pd.concat(map(_read, papers)).set_index("id")
    return claims.assign(
        experiment=claims.index.str.split("/").str[0] + "/" + claims["experiment"]
    )


def check(
    claim_id: str, value=None, *, basis: str | None = None, found: str | None = None
) -> Claim:
    """Return a printed claim with what was computed for it and its status. Never raises on disagreement.

    value : a number (in the printed unit), a pair of numbers for an interval, or a truth value for a statement; None
        for an open claim, for an input that was used as it is printed, and where a substitute cannot decide.
    basis : one of `BASES`; by default that of the published table. Only there does its note speak of what stands in.
    found : what the "{}" in the published note stands for.

    >>> check("ethayarajh2020/winobias/n", 11903).status
    'reproduced'
    """
    if claim_id not in published().index:
        raise ValueError(
            f"claim_id must be an id in data/published/, found {claim_id!r}"
        )
    row = published().loc[claim_id]
    note = (
        row["note"] if basis in (None, row["basis"]) else "{}" if found else ""
    ).replace("{}", found or "{}")
    basis = basis or row["basis"]
    check_word("basis", basis, BASES)
    if "{}" in note:
        raise ValueError(
            f"found must say what the note of {claim_id!r} leaves open, {note!r}"
        )
    if value is None and basis == "input":
        value = _printed(row)
    status = _status(claim_id, row, value, basis)
    printed = (
        row["printed"] + (f" ± {row['error']}" if row["error"] else "") + row["unit"]
    )
    computed = (
        ("undecided" if status == "inconclusive" else "")
        if value is None
        else _written(row, value)
    )
    shown = row[["experiment", "place", "quantity"]]
    return Claim(
        claim_id,
        *shown,
        printed,
        computed,
        status,
        basis.replace("open", ""),
        row["apart"],
        note,
    )


def record(notebook: str, values: Mapping, *, found=None, basis=None) -> pd.DataFrame:
    """Write what a notebook computed to `build/ledger/<notebook>.csv`, and return it for display.

    values : by claim, its id less the name of the paper; all claims that the published table gives to this notebook,
        except open ones and inputs that were used as printed.
    found, basis : by claim, as in `check`; "original" where it was computed from genuine files this time.
    """
    claims = published()[published()["notebook"] == notebook]
    if claims.empty:
        raise ValueError(
            f"notebook must be one that the published tables name, found {notebook!r}"
        )
    paper, found, basis = claims.index[0].split("/")[0], found or {}, basis or {}
    claims = claims.rename(index=lambda name: name.removeprefix(f"{paper}/"))
    if strange := [name for name in [*values, *found] if name not in claims.index]:
        raise ValueError(
            f"values and found must name claims that {notebook} answers, found {strange[0]!r}"
        )
    if missing := [
        name
        for name in claims.index[~claims["basis"].isin(["input", "open"])]
        if name not in values
    ]:
        raise ValueError(
            f"values lacks {len(missing)} claim(s) that {notebook} answers: {', '.join(missing[:10])}"
        )
    table = pd.DataFrame(
        check(
            f"{paper}/{name}",
            values.get(name),
            basis=basis.get(name),
            found=found.get(name),
        )
        for name in claims.index
    )
    write_csv(table, PARTS / f"{notebook}.csv")
    return table


def assemble() -> pd.DataFrame:
    """Put the notebooks' parts together, in the order of the papers; every printed claim must be answered."""
    claims = published()
    parts = [PARTS / f"{name}.csv" for name in sorted(set(claims["notebook"]))]
    if missing := [path.stem for path in parts if not path.exists()]:
        raise ValueError(
            f"{PARTS} lacks what {', '.join(missing)} recorded; run `make reproduce`"
        )
    answered = pd.concat(_read(path).assign(notebook=path.stem) for path in parts)
    if open_ := sorted(set(claims.index) - set(answered["id"])):
        raise ValueError(
            f"{len(open_)} printed claim(s) that no notebook answers: {', '.join(open_[:10])}"
        )
    return answered.set_index("id").loc[claims.index].reset_index()


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Return each experiment with its numbers by status and its verdict, by the rule that `PAGE` states."""
    known = _read(PUBLISHED / "experiments.csv").set_index("experiment")

    def count(claims):
        found = pd.crosstab(claims["experiment"], claims["status"])
        return found.reindex(index=known.index, columns=STATUSES, fill_value=0)

    judging = table[(table["apart"] == "") & (table["status"] != "input")]
    kind, printed = (
        judging["id"].map(published()[column]) for column in ("kind", "basis")
    )
    experiment, stated = judging["experiment"], kind == "statement"
    judged = count(judging[stated | ~experiment.isin(experiment[stated])])
    most = judged[[*STATUSES[::-1]]].idxmax(axis=1)
    # Where genuine files took the place of every stand-in this time, nothing stands in.
    again = experiment[
        (judging["basis"] == "original") & printed.isin(["substitute", "open"])
    ]
    left = experiment[(judging["basis"] == "substitute") & (printed == "substitute")]
    known.update(
        known.loc[[*{*again} - {*left}]]
        .replace("stand-in", "original")
        .assign(stand_in="")
    )
    verdict = most.where(
        known["stand_in"].eq("") | (most != "reproduced"), "consistent"
    )
    return known.join(count(judging)).assign(verdict=verdict)


def sentence(found: pd.DataFrame) -> str:
    """Say how many experiments came out how: "9 of 24 experiments reproduced, 5 consistent, ..."."""
    counts = found["verdict"].value_counts().reindex(STATUSES, fill_value=0)
    others = [
        f"{count} {status}"
        for status, count in counts.items()
        if count and status != "reproduced"
    ]
    return ", ".join(
        [f"{counts['reproduced']} of {len(found)} experiments reproduced", *others]
    )


def as_markdown(table: pd.DataFrame, found: pd.DataFrame) -> str:
    """Return the ledger as a page: the experiments with their verdicts, what the statuses mean, and every claim."""
    kinds, titles = (
        table["apart"].where(table["apart"] != "", table["experiment"]),
        found.index + ": " + found["title"],
    )
    parts = {
        title: table[kinds == kind].to_dict("records")
        for kind, title in {**titles, **APART}.items()
    }
    how = {
        "trim_blocks": True,
        "keep_trailing_newline": True,
        "undefined": jinja2.StrictUndefined,
    }
    page = jinja2.Template(
        PAGE.read_text(encoding="utf-8"),
        finalize=lambda cell: str(cell).replace("|", "\\|"),
        **how,
    )
    return page.render(
        sentence=sentence(found),
        experiments=found.to_dict("index"),
        statuses=STATUSES,
        parts=parts,
    )


def draw(found: pd.DataFrame) -> None:
    """Draw the verdicts: one bar per experiment, its claims by status with their counts."""
    from fairlib import plots

    plots.use_style()
    counts = found[[*STATUSES[:-1]]].set_axis(found["title"])
    _, ax = plots.plt.subplots(figsize=(plots.WIDTH, 0.9 + 0.24 * len(counts)))
    shares = counts.div(counts.sum(axis=1).clip(lower=1), axis=0)
    shares.plot.barh(
        stacked=True, ax=ax, color=COLOURS, edgecolor="black", linewidth=0.6, width=0.8
    )
    look = {
        "label_type": "center",
        "fontsize": 8,
        "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.4},
    }
    for bars, status, hatch in zip(ax.containers, counts, HATCHES, strict=True):
        ax.bar_label(bars, labels=counts[status].astype(str).replace("0", ""), **look)
        plots.plt.setp(bars, hatch=hatch)
    for place, verdict in enumerate(found["verdict"]):
        ax.text(1.02, place, verdict, va="center", fontsize=8)
    ax.set(
        xlabel="share of an experiment's claims that could have failed",
        ylabel="",
        xlim=(0, 1),
    )
    ax.invert_yaxis()
    ax.legend(ncols=3, loc="lower right", bbox_to_anchor=(1.2, 1.0), frameon=False)
    plots.save(ax.figure, "ledger", caption=f"{sentence(found)} (figures/ledger.csv).")


def main(arguments: list[str]) -> None:
    """`python -m fairlib ledger`: write figures/ledger.{csv,md,svg,png} from what the notebooks recorded."""
    argparse.ArgumentParser(
        prog="python -m fairlib ledger", description=main.__doc__
    ).parse_args(arguments)
    table = assemble()
    found = verdicts(table)
    write_csv(table, FIGURES / "ledger.csv")
    draw(found)
    write_whole(
        FIGURES / "ledger.md",
        lambda path: path.write_text(as_markdown(table, found), encoding="utf-8"),
    )
    sys.stdout.write(f"ledger: {sentence(found)}\n")


def _status(claim_id: str, row: pd.Series, value, basis: str) -> str:
    """Return the status that follows from a claim's value and basis."""
    agrees, does_not = BASES[basis]
    if value is None and basis in ("open", "substitute"):
        return does_not
    if basis == "open":
        raise ValueError(
            f"value of {claim_id!r} must be None while its basis is 'open', found {value!r}"
        )
    values, printed = np.array(value, dtype=float, ndmin=1), _printed(row)
    if len(values) != len(printed) or not np.isfinite(values).all():
        raise ValueError(
            f"value of {claim_id!r} must be finite, 2 for an interval, None if undecided, found {value!r}"
        )
    if row["kind"] == "statement":
        return agrees if values[0] else does_not
    if (
        basis == "substitute"
        and row["error"]
        and abs(values[0] - float(printed[0])) <= float(row["error"])
    ):
        return agrees
    return agrees if all(map(_equal_after_rounding, printed, values)) else does_not


def _printed(row: pd.Series) -> list[str]:
    """Return the numbers that are printed; that of a statement is its truth."""
    return (
        ["1"] if row["kind"] == "statement" else row["printed"].strip("()[]").split(",")
    )


def _equal_after_rounding(printed: str, value: float) -> bool:
    half_a_unit = (
        Decimal(1).scaleb(Decimal(printed).as_tuple().exponent) / 2
    )  # a tie may round either way
    return abs(Decimal(float(value)) - Decimal(printed)) <= half_a_unit * Decimal(
        "1.000001"
    )


def _written(row: pd.Series, value) -> str:
    if row["kind"] == "statement":
        return "holds" if value else "does not hold"
    written = ", ".join(
        f"{number:.6g}" for number in np.array(value, dtype=float, ndmin=1)
    )
    return f"({written})" if row["kind"] == "interval" else written
