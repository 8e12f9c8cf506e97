"""The ledger: what the papers print, and whether it was reproduced here.

`data/published/<paper>.csv` holds what a paper prints, one claim per row: the
experiment, the place in the paper, the notebook that answers the claim, on what basis,
and what stands in for the original. `experiments.csv` says what was original in each
experiment. A notebook ends with `record(notebook, {id: value})`, and
`python -m fairlib ledger` puts the notebooks' parts together. A number that disagrees
with the paper is a finding, never an error; a claim without an answer is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame, Series

from fairlib.checks import check_word
from fairlib.data import DATA, FIGURES, ROOT, write_csv

PUBLISHED = DATA / "published"
PARTS = ROOT / "build" / "ledger"  # what the notebooks recorded

# From the best to the worst: of two statuses that are equally frequent in an
# experiment, the worse one is its verdict.
STATUSES = (
    "reproduced",
    "checked",
    "consistent",
    "inconclusive",
    "differs",
    "open",
    "input",
)
# What an experiment consists of: from what anybody can compute to trained models.
KINDS = (
    "formula",
    "toy data",
    "counting",
    "released predictions",
    "trained models",
)
# The kinds of experiments in which a trained model is measured.
_WITH_A_MODEL = ("released predictions", "trained models")
# The verdict of an experiment whose claims are definitions, which cannot fail.
NOT_JUDGED = "definition"

# For each basis: the status of a claim that agrees, and of one that does not.
BASES = {
    "formula": ("reproduced", "differs"),
    "original": ("reproduced", "differs"),
    "check": ("checked", "differs"),
    "substitute": ("consistent", "inconclusive"),
    "input": ("input", "input"),
    "open": ("open", "open"),
}
# Claims that do not judge an experiment, and their title in the ledger.
APART = {
    "": "",
    "definition": "Definitions and counts that cannot fail",
    "ours": "Checks of our own making",
}

# Half a unit of the last digit, and a bit: a tie may be rounded either way.
_TOLERANCE_IN_UNITS = Decimal("0.5000005")
_MOST_NAMES = 10  # in an error message

Value = float | bool | Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number, interval or statement that a paper prints, and its status.

    Parameters
    ----------
    id, experiment : str
        The paper and the name of the claim, and the experiment that it belongs to.
    place, quantity : str
        Where the paper prints it, and what it is.
    printed, computed : str
        What the paper prints, and what was computed here; empty if the claim is open.
    status, basis, apart : str
        One of `STATUSES`, `BASES` and `APART` each; an open claim has no basis.
    note : str
        What stands in for the original, or what is needed to compute it.
    """

    id: str
    experiment: str
    place: str
    quantity: str
    printed: str
    computed: str
    status: str
    basis: str
    apart: str
    note: str


@cache
def published() -> DataFrame:
    """Return all claims that the papers print.

    Returns
    -------
    DataFrame
        One row per claim, by its id. All values are text. CONTRIBUTING.md explains the
        columns.
    """
    papers = sorted({*PUBLISHED.glob("*.csv")} - {PUBLISHED / "experiments.csv"})
    claims = pd.concat(map(_read, papers)).set_index("id")

    paper_of_claim = claims.index.str.split("/").str[0]
    return claims.assign(experiment=paper_of_claim + "/" + claims["experiment"])


def check(
    claim_id: str,
    value: Value | None = None,
    *,
    basis: str | None = None,
    detail: str | None = None,
) -> Claim:
    """Compare a printed claim with what was computed for it.

    A disagreement is recorded as the status of the claim and never raises an error.

    Parameters
    ----------
    claim_id : str
        The id of the claim in `data/published/`.
    value : float, pair of float or bool, optional
        A number in the printed unit, the two ends of an interval, or whether a
        statement holds. None for an open claim, for an input that was used as it is
        printed, and if nothing can be decided: because a substitute cannot, or because
        another choice that is as defensible decides otherwise.
    basis : str, optional
        One of `BASES`; by default that of the published table. The note of the table
        holds for that basis only.
    detail : str, optional
        The text for the place "{}" in the published note. With another basis, the note
        as a whole.

    Returns
    -------
    Claim
        The claim with its status.

    Raises
    ------
    ValueError
        If there is no such claim or basis, if the value is not one for this kind of
        claim, or if the note needs a detail.

    Examples
    --------
    >>> check("ethayarajh2020/winobias/n", 11903).status
    'reproduced'
    """
    if claim_id not in published().index:
        raise ValueError(
            f"claim_id must be an id in data/published/, found {claim_id!r}"
        )
    row = published().loc[claim_id]
    used_basis = basis or row["basis"]
    check_word("basis", used_basis, BASES)
    note = _note(row, used_basis, detail)

    computed = _computed_numbers(row, value, used_basis)
    agrees = computed is not None and _agrees(row, computed, used_basis)
    status_if_it_agrees, status_if_not = BASES[used_basis]
    status = status_if_it_agrees if agrees else status_if_not
    if computed is not None:
        computed_text = _written(row, computed)
    elif used_basis == "open":
        computed_text = ""
    else:
        computed_text = "undecided"
        status = "inconclusive"

    return Claim(
        id=claim_id,
        experiment=row["experiment"],
        place=row["place"],
        quantity=row["quantity"],
        printed=_printed_text(row),
        computed=computed_text,
        status=status,
        basis="" if used_basis == "open" else used_basis,
        apart=row["apart"],
        note=note,
    )


def record(
    notebook: str,
    values: Mapping[str, Value | None],
    *,
    details: Mapping[str, str] | None = None,
    basis: Mapping[str, str] | None = None,
) -> DataFrame:
    """Write what a notebook computed to `build/ledger/<notebook>.csv`.

    Parameters
    ----------
    notebook : str
        The notebook, as the published tables name it.
    values : mapping of str to value
        What was computed, by the id of the claim without the name of the paper. All
        claims of this notebook need a value, except open ones and inputs that were used
        as they are printed.
    details : mapping of str to str, optional
        The details of notes, by claim, as in `check`.
    basis : mapping of str to str, optional
        The basis, by claim, if it differs from the published table: "original" for
        what was computed from genuine files this time.

    Returns
    -------
    DataFrame
        One row per claim of the notebook, for display.

    Raises
    ------
    ValueError
        If a claim has no value, or if a value belongs to no claim of this notebook.
    """
    claims = published()[published()["notebook"] == notebook]
    if claims.empty:
        raise ValueError(
            f"notebook must be one that the published tables name, found {notebook!r}"
        )
    paper, _, _ = claims.index[0].partition("/")
    basis_of_claim = claims["basis"].rename(lambda name: name.removeprefix(f"{paper}/"))

    detail_of_claim = details or {}
    other_basis = basis or {}
    named = [*values, *detail_of_claim, *other_basis]
    _check_answers(notebook, basis_of_claim, named=named, values=values)

    table = DataFrame(
        check(
            f"{paper}/{name}",
            values.get(name),
            basis=other_basis.get(name),
            detail=detail_of_claim.get(name),
        )
        for name in basis_of_claim.index
    )
    write_csv(table, PARTS / f"{notebook}.csv")
    return table


def record_choices(notebook: str, choices: Mapping[str, DataFrame]) -> DataFrame:
    """Write how a verdict depends on choices that a paper does not print.

    The table is `figures/dossier/<number>_choices.csv`. The site's ledger reads it, so
    that a reader can make each choice and see what becomes of the verdict.

    Parameters
    ----------
    notebook : str
        The notebook that made the choices.
    choices : mapping of str to DataFrame
        By the id of the claim without the name of the paper: one row per choice, named
        by the index, with `value`, optionally `low` and `high`, and `holds`.

    Returns
    -------
    DataFrame
        All rows, for display.

    Raises
    ------
    ValueError
        If no paper has such a claim.
    """
    names = published().index
    rows = []
    for short_name, table in choices.items():
        of_claim = [name for name in names if name.partition("/")[2] == short_name]
        if len(of_claim) != 1:
            raise ValueError(
                f"choices must be of claims that one paper has, found {short_name!r}"
            )
        columns = table.reindex(columns=["value", "low", "high", "holds"])
        numbers = columns.rename_axis("choice").reset_index()
        rows.append(numbers.assign(claim=of_claim[0]))

    together = pd.concat(rows, ignore_index=True)
    together = together[["claim", "choice", "value", "low", "high", "holds"]]
    number, _, _ = notebook.partition("_")
    write_csv(together.round(6), FIGURES / "dossier" / f"{number}_choices.csv")
    return together


def assemble() -> DataFrame:
    """Put together what all notebooks recorded.

    Returns
    -------
    DataFrame
        One row per printed claim, in the order of the papers.

    Raises
    ------
    ValueError
        If a notebook recorded nothing, or if a claim has no answer.
    """
    claims = published()
    parts = [PARTS / f"{name}.csv" for name in sorted(set(claims["notebook"]))]
    absent = [path.stem for path in parts if not path.exists()]
    if absent:
        raise ValueError(
            f"{PARTS} lacks what {', '.join(absent)} recorded; run `make reproduce`"
        )

    answers = pd.concat(_read(path).assign(notebook=path.stem) for path in parts)
    unanswered = sorted(set(claims.index) - set(answers["id"]))
    if unanswered:
        raise ValueError(
            f"{len(unanswered)} printed claim(s) that no notebook answers: "
            f"{', '.join(unanswered[:_MOST_NAMES])}"
        )
    return answers.set_index("id").loc[claims.index].reset_index()


def verdicts(table: DataFrame) -> DataFrame:
    """Return the verdict of each experiment.

    An experiment is judged by its statements, if it has any, and otherwise by its
    numbers. Its verdict is the status that most of them have; `NOT_JUDGED` if nothing
    in it could have failed, and "input" if its numbers were only used.

    Parameters
    ----------
    table : DataFrame
        The claims with their statuses, from `assemble`.

    Returns
    -------
    DataFrame
        One row per experiment, in the order of `KINDS`: its kind, what was original in
        it, how many of its claims have each status, and its verdict.
    """
    recorded = _read(PUBLISHED / "experiments.csv").set_index("experiment")
    recorded = recorded.sort_values("kind", key=_place_of_kind, kind="stable")
    claims = table[(table["apart"] == "") & (table["status"] != "input")]
    experiments = _with_genuine_files(recorded, claims)

    is_statement = claims["id"].map(published()["kind"]) == "statement"
    has_statements = claims["experiment"].isin(claims["experiment"][is_statement])
    judging = _count_statuses(claims[is_statement | ~has_statements], experiments.index)
    # `idxmax` takes the first of two that are equally frequent: here, the worse one.
    most_frequent = judging.iloc[:, ::-1].idxmax(axis=1)

    # If something stands in for the original, nothing is reproduced.
    is_too_good = (experiments["stand_in"] != "") & (most_frequent == "reproduced")
    verdict = most_frequent.mask(is_too_good, "consistent")

    # Where nothing judges, the first status would win: inputs, or only definitions.
    is_input = experiments.index.isin(table["experiment"][table["status"] == "input"])
    is_judged = judging.sum(axis=1) > 0
    verdict = verdict.where(is_judged | is_input, NOT_JUDGED)

    counts = _count_statuses(claims, experiments.index)
    return experiments.join(counts).assign(verdict=verdict)


def sentence(experiments: DataFrame) -> str:
    """Say how many experiments have which verdict, and if models are among them.

    Parameters
    ----------
    experiments : DataFrame
        The experiments with their kinds and verdicts, from `verdicts`.

    Returns
    -------
    str
        For example "9 of 24 experiments reproduced, 2 of them with a trained model; 5
        consistent". Released predictions count as those of a trained model.

    Examples
    --------
    >>> kinds = ["formula", "trained models", "trained models"]
    >>> table = pd.DataFrame({"kind": kinds, "verdict": ["reproduced", "open", "open"]})
    >>> sentence(table)
    '1 of 3 experiments reproduced, none of them with a trained model; 2 open'
    """
    headline = _headline(experiments)
    counts = experiments["verdict"].value_counts()
    others = [
        f"{counts[verdict]} {verdict}"
        for verdict in (*STATUSES, NOT_JUDGED)
        if verdict in counts.index and verdict != "reproduced"
    ]
    return "; ".join(filter(None, [headline, ", ".join(others)]))


def _headline(experiments: DataFrame) -> str:
    """Say how many experiments are reproduced, and how many of them have a model."""
    reproduced = experiments[experiments["verdict"] == "reproduced"]
    headline = f"{len(reproduced)} of {len(experiments)} experiments reproduced"
    if reproduced.empty:
        return headline

    with_model = reproduced["kind"].isin(_WITH_A_MODEL).sum()
    return f"{headline}, {with_model or 'none'} of them with a trained model"


def _read(path: Path) -> DataFrame:
    """Read a table whose values are all text."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _place_of_kind(kinds: Series) -> Series:
    """Return the place of each kind in `KINDS`."""
    for kind in kinds:
        check_word("kind", kind, KINDS)
    return kinds.map(KINDS.index)


def _check_answers(
    notebook: str,
    basis_of_claim: Series,
    *,
    named: Sequence[str],
    values: Mapping[str, Value | None],
) -> None:
    """Raise an error unless a notebook answers its own claims, and all of them."""
    for name in named:
        if name not in basis_of_claim:
            raise ValueError(
                f"values, details and basis must name claims that {notebook} answers, "
                f"found {name!r}"
            )

    needs_value = ~basis_of_claim.isin(["input", "open"])
    missing = [name for name in basis_of_claim.index[needs_value] if name not in values]
    if missing:
        raise ValueError(
            f"values lacks {len(missing)} claim(s) that {notebook} answers: "
            f"{', '.join(missing[:_MOST_NAMES])}"
        )


def _note(row: Series, basis: str, detail: str | None) -> str:
    """Return the note of a claim; the published note holds for its own basis only."""
    if basis != row["basis"]:
        return detail or ""

    note = row["note"]
    if detail:
        note = note.replace("{}", detail)
    if "{}" in note:
        raise ValueError(
            f"detail must say what the note of {row.name!r} leaves open, {note!r}"
        )
    return note


def _computed_numbers(row: Series, value: Value | None, basis: str) -> ndarray | None:
    """Return what was computed, as numbers, after a check; None if there is nothing."""
    if basis == "open":
        if value is not None:
            raise ValueError(
                f"value of {row.name!r} must be None while its basis is 'open', "
                f"found {value!r}"
            )
        return None
    if value is None and basis != "input":
        return None

    printed = _printed_numbers(row)
    # An input without a value was used as it is printed.
    used_value = printed if value is None and basis == "input" else value
    numbers = np.array(used_value, dtype=float, ndmin=1)
    if len(numbers) != len(printed) or not np.isfinite(numbers).all():
        raise ValueError(
            f"value of {row.name!r} must be finite, 2 for an interval, "
            f"None if undecided, found {value!r}"
        )
    return numbers


def _agrees(row: Series, computed: ndarray, basis: str) -> bool:
    """Return whether what was computed agrees with what is printed."""
    if row["kind"] == "statement":
        return bool(computed[0])

    printed = _printed_numbers(row)
    if basis == "substitute" and row["error"]:
        # A substitute need not be equal: it may lie inside the printed interval.
        distance = abs(computed[0] - float(printed[0]))
        if distance <= float(row["error"]):
            return True
    if row["kind"] == "threshold":
        return _equal_after_rounding_up(row["printed"], computed[0])
    return all(map(_equal_after_rounding, printed, computed))


def _printed_numbers(row: Series) -> list[str]:
    """Return the numbers that are printed; a statement is printed as true."""
    if row["kind"] == "statement":
        return ["1"]
    return row["printed"].strip("()[]").split(",")


def _equal_after_rounding(printed: str, value: float) -> bool:
    """Return whether a value, rounded to the printed digits, is what is printed."""
    number = Decimal(printed)
    unit_of_last_digit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    distance = abs(Decimal(value) - number)
    return distance <= unit_of_last_digit * _TOLERANCE_IN_UNITS


def _equal_after_rounding_up(printed: str, value: float) -> bool:
    """Return whether a value, rounded up to the printed digits, is what is printed.

    The smallest value that suffices may only be rounded up: what is smaller does not.
    """
    unit_of_last_digit = Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent))
    negligible = unit_of_last_digit / 10**6
    shortfall = Decimal(printed) - Decimal(value)
    return -negligible <= shortfall < unit_of_last_digit - negligible


def _printed_text(row: Series) -> str:
    """Write what is printed, with its error and its unit."""
    error = f" ± {row['error']}" if row["error"] else ""
    return f"{row['printed']}{error}{row['unit']}"


def _written(row: Series, computed: ndarray) -> str:
    """Write what was computed."""
    if row["kind"] == "statement":
        return "holds" if computed[0] else "does not hold"

    numbers = ", ".join(f"{number:.6g}" for number in computed)
    return f"({numbers})" if row["kind"] == "interval" else numbers


def _count_statuses(claims: DataFrame, experiments: pd.Index) -> DataFrame:
    """Count the claims of each experiment by their status."""
    counts = pd.crosstab(claims["experiment"], claims["status"])
    return counts.reindex(index=experiments, columns=STATUSES, fill_value=0)


def _with_genuine_files(experiments: DataFrame, claims: DataFrame) -> DataFrame:
    """Mark stand-ins as original in experiments that genuine files have completed."""
    before = claims["id"].map(published()["basis"])
    is_new = (claims["basis"] == "original") & before.isin(["substitute", "open"])
    is_left = (claims["basis"] == "substitute") & (before == "substitute")

    genuine = set(claims["experiment"][is_new]) - set(claims["experiment"][is_left])
    changed = experiments.loc[list(genuine)].replace("stand-in", "original")
    result = experiments.copy()
    result.update(changed.assign(stand_in=""))
    return result
