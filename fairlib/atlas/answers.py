"""Predictions on a benchmark: one row for each answer, put together by item.

Nothing is dropped in silence. Answers that were refused or cannot be read are counted,
and several answers to one item count as one item.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.atlas.cards import Card
from fairlib.atlas.keys import (
    COLUMNS_OF_ITEM,
    benchmark_of,
    bundled_keys,
    is_copy,
    needed_columns,
    of_known_items,
    read_copy,
    with_item,
    with_keys,
    without_correctness,
)
from fairlib.atlas.readers import REFUSED, SUFFIXES, UNREADABLE, read_log
from fairlib.checks import shown
from fairlib.tables import opening

COLUMNS = ("item", "group", "outcome", "pair", "cluster", "answer", "part")
KIND = "kind"
PART = "part"
ANSWERED = "answered"
KINDS = (ANSWERED, REFUSED, UNREADABLE)
_TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """What a model answered, one row for each item.

    Attributes
    ----------
    items : DataFrame
        Columns item, group, pair, cluster, value (the mean of the item's readable
        answers; NaN without any), answers, refused and unreadable (counts).
    has : frozenset of str
        Which of group, pair and cluster are known.
    """

    items: DataFrame
    has: frozenset[str]

    @property
    def answered(self) -> DataFrame:
        """The items with an answer that can be read."""
        return self.items[self.items["value"].notna()]

    @property
    def counts(self) -> dict[str, int]:
        """How many items and answers there are, and of what kind."""
        items = self.items
        repeated = items[items["answers"] > 1]
        return {
            "items": len(items),
            "items_without_answer": int(items["value"].isna().sum()),
            "items_with_several_answers": len(repeated),
            "items_whose_answers_differ": int(items["differ"].sum()),
            "answers": int(items["answers"].sum()),
            "refused": int(items["refused"].sum()),
            "unreadable": int(items["unreadable"].sum()),
        }


def answers(frame: DataFrame, card: Card) -> Answers:
    """Return the answers in a table of predictions, by item.

    Parameters
    ----------
    frame : DataFrame
        What `predictions_of` returns.
    card : Card
        The benchmark.

    Returns
    -------
    Answers
        The answers.

    Raises
    ------
    ValueError
        If a value is missing or not possible.
    """
    kind, value = _kinds_and_values(frame, card)
    return _by_item(frame.assign(kind=kind, value=value), card)


def with_clusters(card: Card, known: Answers) -> Card:
    """Return a card that has clusters, if the predictions name clusters.

    Parameters
    ----------
    card : Card
        The benchmark. A card of one's own may leave clusters out.
    known : Answers
        The answers to its items.

    Returns
    -------
    Card
        The card; with the number of clusters in the answers, if it had none.
    """
    if card.clusters.number or "cluster" not in known.has:
        return card
    number = known.items["cluster"].nunique()
    return replace(card, clusters=replace(card.clusters, number=number))


def predictions_of(
    predictions: object,
    card: Card,
    *,
    columns: Mapping[str, str] | None = None,
    keys: object | None = None,
) -> DataFrame:
    """Return predictions as a table whose columns have our names.

    Parameters
    ----------
    predictions : table, str or Path
        One row for each answer; or a CSV or Parquet file.
    card : Card
        The benchmark.
    columns : dict, optional
        The names of the columns in the table, if they differ.
    keys : table, str or Path, optional
        The part, group, pair and cluster of each item, and the outcome of each option;
        by default those that ship with the benchmark, if they are needed.

    Returns
    -------
    DataFrame
        Columns item and outcome; kind, part, group, pair and cluster if known.

    Raises
    ------
    ValueError
        If a column is missing, or if an item is not known.
    """
    table_of_user = as_frame("predictions", predictions)
    frame = _renamed(table_of_user, columns or {}, card)
    if frame.empty:
        raise ValueError("predictions must have at least one row, found none")

    frame = with_item(frame, card)
    if is_log(predictions) and "outcome" not in (columns or {}):
        frame = without_correctness(frame, card)
    needs_keys = "cluster" not in frame or "outcome" not in frame
    table = None
    if keys is not None and not is_copy(keys, card):
        table = as_frame("keys", keys)
    elif "item" in frame and (needs_keys or keys is not None):
        table = bundled_keys(card) if keys is None else read_copy(keys)
        frame = frame if table is None else of_known_items(frame, table, card)
    if table is not None:
        frame = with_keys(frame, table)

    if "outcome" not in frame:
        raise ValueError(
            f"predictions must have {needed_columns(card)}; "
            f"found {', '.join(map(str, table_of_user.columns))}"
        )
    if "item" not in frame:
        return frame.assign(item=np.arange(len(frame)))
    return frame


def of_part(frame: DataFrame, part: str | None) -> DataFrame:
    """Return the rows of a part, if the table has a column that names the parts.

    Parameters
    ----------
    frame : DataFrame
        What `predictions_of` returns.
    part : str, optional
        A part of the benchmark.

    Returns
    -------
    DataFrame
        These rows; all rows without a part.

    Raises
    ------
    ValueError
        If the predictions have no row of this part.
    """
    if part is None or PART not in frame:
        return frame
    names = frame[PART].astype(str)
    # "disambiguated" is also what "age_disambiguated" belongs to.
    rows = frame[(names == part) | names.str.endswith(f"_{part}")]
    if rows.empty:
        raise ValueError(
            f"part must be one of the predictions' parts, found {part!r}; "
            f"they have {', '.join(frame[PART].astype(str).unique())}"
        )
    return rows.reset_index(drop=True)


def with_the_same_score(frame: DataFrame, card: Card) -> DataFrame:
    """Return the rows of the parts whose score is defined as that of the whole.

    Parameters
    ----------
    frame : DataFrame
        What `predictions_of` returns.
    card : Card
        The benchmark.

    Returns
    -------
    DataFrame
        These rows; all rows if the benchmark or the predictions have no parts.

    Raises
    ------
    ValueError
        If no part in the predictions has the score of the whole.
    """
    if not card.parts or PART not in frame:
        return frame

    names = frame[PART].astype(str)
    alike = [name for name in names.unique() if card.part(name).score == card.score]
    if not alike:
        raise ValueError(
            f"part must be chosen: no part of {card.name} in the predictions has the "
            f"score of the whole; they have {', '.join(names.unique())}"
        )
    return frame[names.isin(alike)].reset_index(drop=True)


def names_items(frame: DataFrame, card: Card, columns: Mapping[str, str]) -> bool:
    """Return whether a table of predictions says which item a row belongs to.

    Parameters
    ----------
    frame : DataFrame
        One row for each answer.
    card : Card
        The benchmark.
    columns : dict
        The names of the columns in the table, if they differ.

    Returns
    -------
    bool
        Whether there is a column item, or those that name an item together.
    """
    known = {*frame.columns, *columns}
    together = COLUMNS_OF_ITEM.get(benchmark_of(card), ())
    return "item" in known or (len(together) > 0 and {*together} <= known)


def is_log(predictions: object) -> bool:
    """Return whether predictions are a log of an evaluation program.

    Parameters
    ----------
    predictions : object
        What the user gave.

    Returns
    -------
    bool
        Whether this is the path of a log.
    """
    if not isinstance(predictions, str | Path):
        return False
    return Path(predictions).suffix in SUFFIXES


def as_frame(name: str, table: object) -> DataFrame:
    """Return any table, or the table in a file, as a data frame.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    table : table, dict, str or Path
        The table, or the path of a CSV or Parquet file, or of a log (see `readers`).

    Returns
    -------
    DataFrame
        The table.

    Raises
    ------
    ValueError
        If the file does not exist or has another form.
    """
    if isinstance(table, str | Path):
        return _read(name, Path(table))
    if isinstance(table, Mapping):
        return pd.DataFrame(dict(table))
    if isinstance(table, DataFrame):
        return table.reset_index(drop=True)
    return tables.rows(table, list(opening.schema(table)))


def _read(name: str, path: Path) -> DataFrame:
    """Return the table in a file; words such as "None" stay words."""
    if not path.is_file():
        raise ValueError(f"{name} {str(path)!r} does not exist")
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix in SUFFIXES:
        return _one_reading(read_log(path))

    separator = "\t" if path.suffix == ".tsv" else ","
    try:
        return pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False, na_values=[""]
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError) as error:
        raise ValueError(f"{name} {str(path)!r} is not a CSV file: {error}") from None


def _one_reading(log: DataFrame) -> DataFrame:
    """Return a log, unless it has every answer several times, read in several ways."""
    readings = log["filter"].unique() if "filter" in log else []
    if len(readings) > 1:
        raise ValueError(
            "predictions must read every answer in one way, found the filters "
            f"{shown(readings)}; keep the rows of one of them in the table that "
            "fairlib.atlas.read_log returns"
        )
    return log


def _renamed(frame: DataFrame, columns: Mapping[str, str], card: Card) -> DataFrame:
    """Return a table whose columns have our names."""
    allowed = (*COLUMNS, KIND, *COLUMNS_OF_ITEM.get(benchmark_of(card), ()))
    for role, column in columns.items():
        if role not in allowed:
            raise ValueError(f"columns must name {', '.join(allowed)}, found {role!r}")
        if column not in frame:
            raise ValueError(
                f"{role} must be a column of the predictions, found {column!r}; "
                f"they have {', '.join(map(str, frame.columns))}"
            )

    # A column that has one of our names, but plays no role, is put aside.
    taken = {role: frame[column] for role, column in columns.items()}
    kept = frame.drop(columns=[role for role in taken if role in frame])
    return kept.assign(**taken)


def _kinds_and_values(frame: DataFrame, card: Card) -> tuple[Series, Series]:
    """Return whether each answer can be read, and its outcome."""
    outcome = frame["outcome"]
    words = outcome.astype("string").str.strip().str.lower()
    kind = Series(ANSWERED, index=frame.index)
    kind[words.isna() | (words == "")] = UNREADABLE
    for word in (REFUSED, UNREADABLE):
        kind[(words == word).fillna(False)] = word

    if KIND in frame:
        stated = frame[KIND].astype("string").str.strip().str.lower()
        wrong = frame[KIND][~stated.isin(KINDS)]
        if len(wrong) > 0:
            raise ValueError(
                f"kind must be one of {', '.join(KINDS)}, found {shown(wrong)}"
            )
        kind = kind.where(stated == ANSWERED, stated.astype(object))

    is_answered = kind == ANSWERED
    value = _numbers(outcome[is_answered], words[is_answered], card)
    return kind, value.reindex(frame.index)


def _numbers(outcome: Series, words: Series, card: Card) -> Series:
    """Return outcomes as numbers, after a check of their bounds."""
    low, high = card.score.bounds
    numbers = pd.to_numeric(words, errors="coerce").astype(float)
    numbers = numbers.fillna(words.map(_TRUTHS).astype(float))

    is_wrong = ~((numbers >= low) & (numbers <= high))
    if is_wrong.any():
        raise ValueError(
            f"outcome must be a number in [{low:g}, {high:g}], "
            f"'{REFUSED}' or '{UNREADABLE}', found {shown(outcome[is_wrong].unique())}"
        )
    return numbers


def _by_item(frame: DataFrame, card: Card) -> Answers:
    """Return one row for each item."""
    has = [name for name in ("group", "pair", "cluster") if name in frame]
    if card.compares_groups and "group" not in has:
        raise ValueError(
            f"predictions must have the column 'group', because the score of "
            f"{card.name} compares groups; found {_user_columns(frame)}"
        )
    for name in ("item", *has):
        missing = int(frame[name].isna().sum())
        if missing > 0:
            raise ValueError(
                f"{name} must not be missing, found {missing} missing of {len(frame)}"
            )

    keys = frame[["item", *has]].astype(str)
    _check_items(keys, has)
    rows = keys.assign(
        value=frame["value"],
        is_refused=frame[KIND] == REFUSED,
        is_unreadable=frame[KIND] == UNREADABLE,
    )
    grouped = rows.groupby("item", sort=False)
    items = grouped[has].first() if has else DataFrame(index=grouped.size().index)
    items = items.assign(
        value=grouped["value"].mean(),
        answers=grouped.size(),
        refused=grouped["is_refused"].sum(),
        unreadable=grouped["is_unreadable"].sum(),
        differ=grouped["value"].nunique() > 1,
    ).reset_index()
    return Answers(items=items, has=frozenset(has))


def _user_columns(frame: DataFrame) -> str:
    """Return the columns of a table that the user gave."""
    ours = {"kind", "value"}
    return ", ".join(str(name) for name in frame.columns if name not in ours)


def _check_items(keys: DataFrame, has: list[str]) -> None:
    """Raise if an item has two groups, pairs or clusters."""
    distinct = keys.drop_duplicates()
    twice = distinct["item"].duplicated(keep=False)
    if not twice.any():
        return

    rows = distinct[twice]
    first = rows["item"].iloc[0]
    of_first = rows[rows["item"] == first]
    name = next(one for one in has if of_first[one].nunique() > 1)
    raise ValueError(
        f"item {first!r} must have one {name}, "
        f"found {shown(of_first[name].unique())}; give every item a name of its own"
    )
