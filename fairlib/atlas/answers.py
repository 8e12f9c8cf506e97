"""Predictions on a benchmark: one row for each answer, put together by item.

Nothing is dropped in silence. Answers that were refused or cannot be read are counted,
and several answers to one item count as one item.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib import tables
from fairlib.atlas.cards import Card
from fairlib.checks import shown
from fairlib.tables import opening

COLUMNS = ("item", "group", "outcome", "pair", "cluster")
KIND = "kind"
ANSWERED = "answered"
REFUSED = "refused"
UNREADABLE = "unreadable"
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


def answers(
    predictions: object,
    card: Card,
    *,
    columns: Mapping[str, str] | None = None,
    keys: object | None = None,
) -> Answers:
    """Return the answers in a table of predictions, by item.

    Parameters
    ----------
    predictions : table, str or Path
        One row for each answer, with the columns item, group, outcome, pair, cluster
        and kind, as far as there are any; or a CSV or Parquet file.
    card : Card
        The benchmark.
    columns : dict, optional
        The names of the columns in the table, if they differ.
    keys : table, str or Path, optional
        The group, pair and cluster of each item, if the predictions lack them.

    Returns
    -------
    Answers
        The answers.

    Raises
    ------
    ValueError
        If a column is missing or a value is not possible.
    """
    frame = _renamed(as_frame("predictions", predictions), columns or {})
    if "outcome" not in frame:
        raise ValueError(
            "predictions must have the column 'outcome', "
            f"found {', '.join(map(str, frame.columns))}"
        )
    if frame.empty:
        raise ValueError("predictions must have at least one row, found none")
    if "item" not in frame:
        frame = frame.assign(item=np.arange(len(frame)))
    if keys is not None:
        frame = _with_keys(frame, as_frame("keys", keys))

    kind, value = _kinds_and_values(frame, card)
    return _by_item(frame.assign(kind=kind, value=value), card)


def as_frame(name: str, table: object) -> DataFrame:
    """Return any table, or the table in a file, as a data frame.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    table : table, dict, str or Path
        The table, or the path of a CSV or Parquet file.

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

    separator = "\t" if path.suffix == ".tsv" else ","
    try:
        return pd.read_csv(
            path, sep=separator, dtype=str, keep_default_na=False, na_values=[""]
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError) as error:
        raise ValueError(f"{name} {str(path)!r} is not a CSV file: {error}") from None


def _renamed(frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """Return a table whose columns have our names."""
    allowed = (*COLUMNS, KIND)
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


def _with_keys(frame: DataFrame, keys: DataFrame) -> DataFrame:
    """Return predictions with the group, pair and cluster of each item."""
    if "item" not in keys:
        raise ValueError(
            f"keys must have the column 'item', found {', '.join(map(str, keys))}"
        )
    ids = keys["item"].astype(str)
    if ids.duplicated().any():
        raise ValueError(
            "keys must name every item once, "
            f"found twice: {shown(ids[ids.duplicated()].unique())}"
        )
    wanted = frame["item"].astype(str)
    unknown = wanted[~wanted.isin(ids)]
    if len(unknown) > 0:
        raise ValueError(
            f"item must be one of the {len(ids)} items of the keys, "
            f"found {shown(unknown.unique())}"
        )

    added = [
        name
        for name in ("group", "pair", "cluster")
        if name in keys and name not in frame
    ]
    of_item = keys.set_axis(ids, axis=0)[added].loc[wanted]
    return frame.assign(**{name: of_item[name].to_numpy() for name in added})


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
            f"{card.name} compares groups; found {', '.join(map(str, frame.columns))}"
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
