"""Keys: the group, pair and cluster of each item, and the outcome of each option.

A model's answers often name items by a benchmark's own numbers. Keys ship with the
project as numbers, or they are read from a table or the copy of the user.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib import data
from fairlib.atlas.cards import Card
from fairlib.atlas.readers import REFUSED, UNREADABLE
from fairlib.checks import shown

SET_ASIDE = "set_aside"  # answers to items that no key knows, in the `attrs` of a table
# Columns of a release that name an item together, as in "Age/17".
COLUMNS_OF_ITEM = {"bbq": ("category", "example_id")}
# The task of BBQ that comes with Inspect has its own name for the number of a question.
_ALSO_CALLED = {"example_id": "source_id"}
_OPTION = "outcome_"  # the outcome of each option of an answer, in a table of keys
# "1", "1.0", "ans1", "B", "B.", "(b)"
_FORMS_OF_OPTION = r"^\(?(?:ans)?(-?\d+|[a-h])(?:\.0?|\))?$"
_LETTERS = "abcdefgh"


def bundled_keys(card: Card) -> DataFrame | None:
    """Return the keys of a benchmark's items, if they ship with the project.

    Parameters
    ----------
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    DataFrame or None
        Columns item, part, group and cluster, and the outcome of each option.
    """
    name = f"atlas_keys_{benchmark_of(card)}"
    return data.load(name) if name in data.names() else None


def is_copy(keys: object, card: Card) -> bool:
    """Return whether keys are the folder of the user's own copy of a benchmark.

    Parameters
    ----------
    keys : object
        What the user gave.
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    bool
        Whether this is a folder, and one that can be read.

    Raises
    ------
    ValueError
        If this is a folder, but copies of this benchmark cannot be read.
    """
    if not isinstance(keys, str | Path) or not Path(keys).is_dir():
        return False
    if benchmark_of(card) not in COLUMNS_OF_ITEM:
        raise ValueError(
            f"keys must be a file, because copies of {card.title} cannot be read; "
            f"found the folder {str(keys)!r}"
        )
    return True


def card_for(card: Card, keys: object) -> Card:
    """Return a card with all parts that the keys know.

    Parameters
    ----------
    card : Card
        The benchmark.
    keys : object
        What the user gave.

    Returns
    -------
    Card
        The card; with more parts, if the keys are a copy of the benchmark.
    """
    if not is_copy(keys, card):
        return card
    from fairlib.atlas.copies import with_every_part

    return with_every_part(card)


def read_copy(folder: object) -> DataFrame:
    """Return the keys of all items in the user's own copy of a benchmark.

    Parameters
    ----------
    folder : str or Path
        The folder of the copy.

    Returns
    -------
    DataFrame
        As of `bundled_keys`.
    """
    from fairlib.atlas.copies import keys_of_copy

    return keys_of_copy(Path(str(folder)))


def needed_columns(card: Card) -> str:
    """Return which columns predictions must have, for an error message.

    Parameters
    ----------
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    str
        The end of a sentence.
    """
    columns = COLUMNS_OF_ITEM.get(benchmark_of(card), ())
    if not columns:
        return "the column 'outcome'"
    return (
        f"the columns {', '.join(columns)} and answer (the option that was chosen), or "
        "the column 'outcome'; the argument columns (--column answer=NAME) says what "
        "a column is called"
    )


def without_correctness(frame: DataFrame, card: Card) -> DataFrame:
    """Return the answers of a log without its outcomes, if an outcome is no score.

    The outcome in a log says whether an answer was right. Where the keys of a benchmark
    know the outcome of each option, that is something else.

    Parameters
    ----------
    frame : DataFrame
        One row for each answer.
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    DataFrame
        The answers, with the option that was chosen.

    Raises
    ------
    ValueError
        If the log does not say which option was chosen.
    """
    if benchmark_of(card) not in COLUMNS_OF_ITEM:
        return frame
    if "answer" not in frame:
        raise ValueError(
            "predictions must have the column 'answer', the option that was chosen: a "
            f"log says whether answers were right, and the score of {card.title} "
            f"counts something else; found {', '.join(map(str, frame.columns))}"
        )

    if "outcome" not in frame:
        return frame
    is_missing = frame["outcome"].isin([REFUSED, UNREADABLE])
    answer = frame["answer"].astype(object).where(~is_missing, frame["outcome"])
    return frame.assign(answer=answer).drop(columns="outcome")


def of_known_items(frame: DataFrame, keys: DataFrame, card: Card) -> DataFrame:
    """Return the answers to items that the keys know, and count the others.

    Parameters
    ----------
    frame : DataFrame
        One row for each answer.
    keys : DataFrame
        The keys of the benchmark's items.
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    DataFrame
        These rows; their `attrs` have the number of the others.

    Raises
    ------
    ValueError
        If no item is known.
    """
    # Copies of a benchmark write "Age/1" and "age/1".
    names = Series(keys["item"].to_numpy(), index=keys["item"].str.lower())
    item = frame["item"].astype(str).str.lower().map(names)
    is_known = item.notna()
    if not is_known.any():
        examples = ", ".join(keys["item"].iloc[:2])
        raise ValueError(
            f"item must be one of {card.title}'s, such as {examples}, "
            f"found {shown(frame['item'].unique())}"
        )

    known = frame.assign(item=item)[is_known].reset_index(drop=True)
    known.attrs[SET_ASIDE] = int((~is_known).sum())
    return known


def benchmark_of(card: Card) -> str:
    """Return the name of the benchmark that a card, or the card of a part, is of.

    Parameters
    ----------
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    str
        "bbq", for example.
    """
    return card.name.partition(".")[0]


def with_item(frame: DataFrame, card: Card) -> DataFrame:
    """Return predictions with the name of each item, if columns of it are known.

    Parameters
    ----------
    frame : DataFrame
        One row for each answer.
    card : Card
        The benchmark, or a part of it.

    Returns
    -------
    DataFrame
        The answers, perhaps with another column item.
    """
    columns = [
        _ALSO_CALLED[name] if name not in frame and name in _ALSO_CALLED else name
        for name in COLUMNS_OF_ITEM.get(benchmark_of(card), ())
    ]
    if not columns or not {*columns} <= {*frame.columns}:
        return frame

    item = frame[columns[0]].astype(str)
    for column in columns[1:]:
        item = item + "/" + frame[column].astype(str)
    return frame.assign(item=item)


def with_keys(frame: DataFrame, keys: DataFrame) -> DataFrame:
    """Return predictions with the group, pair and cluster of each item.

    Parameters
    ----------
    frame : DataFrame
        One row for each answer.
    keys : DataFrame
        The keys of the benchmark's items.

    Returns
    -------
    DataFrame
        The answers, with what the keys say of their items.

    Raises
    ------
    ValueError
        If an item has no key, or two; or if an answer is not an option.
    """
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
        for name in ("part", "group", "pair", "cluster")
        if name in keys and name not in frame
    ]
    of_item = keys.set_axis(ids, axis=0).loc[wanted].reset_index(drop=True)
    joined = frame.assign(**{name: of_item[name].to_numpy() for name in added})
    if "outcome" in frame or "answer" not in frame:
        return joined
    return joined.assign(outcome=_outcomes_of_options(frame["answer"], of_item))


def _outcomes_of_options(answer: Series, of_item: DataFrame) -> Series:
    """Return the outcome of the option that each answer chose; words are kept."""
    columns = [name for name in of_item if str(name).startswith(_OPTION)]
    options = [str(name).removeprefix(_OPTION) for name in columns]
    if not columns:
        raise ValueError(
            "predictions must have the column 'outcome', because the keys do not know "
            "the outcome of an answer"
        )

    words = answer.astype("string").str.strip().str.lower()
    names_option = words.str.fullmatch(_FORMS_OF_OPTION).fillna(False).to_numpy(bool)
    words = words.str.replace(_FORMS_OF_OPTION, r"\1", regex=True)
    words = words.replace(dict(zip(_LETTERS, options, strict=False)))
    # What is no word for an option is a text from which no option was read.
    words = words.where(names_option | words.isin([REFUSED]), UNREADABLE)

    is_option = words.isin(options).to_numpy(dtype=bool)
    wrong = answer[names_option & ~is_option]
    if len(wrong) > 0:
        raise ValueError(
            f"answer must be one of {', '.join(options)}, '{REFUSED}' or "
            f"'{UNREADABLE}', found {shown(wrong.unique())}"
        )

    place = pd.Index(options).get_indexer(words.where(is_option, options[0]))
    outcomes = of_item[columns].to_numpy(dtype=float, na_value=np.nan)
    chosen = Series(outcomes[np.arange(len(answer)), place], index=answer.index)
    return chosen.astype(object).where(is_option, words.astype(object))
