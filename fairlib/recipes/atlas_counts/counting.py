"""What is counted of a benchmark: its items, groups, pairs and clusters.

A benchmark becomes a table with one row per item. Its columns say which group the item
belongs to, which items it is matched with, and which items share their template or
their term with it. The functions here count such a table.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fairlib.recipes.originals import File

# The sizes of single groups, and of clusters of unequal sizes, are listed up to these
# numbers of groups and clusters.
MOST_GROUPS_LISTED = 24
MOST_CLUSTERS_LISTED = 120
WHOLE = ""  # the name of the part that is the whole benchmark

Counts = dict[str, dict[str, int]]  # part -> quantity -> value


@dataclass(frozen=True)
class Clone:
    """A public repository of which the user keeps a clone.

    Parameters
    ----------
    repository : str
        Its owner and name on GitHub, for example "nyu-mll/BBQ".
    commit : str
        The commit that was counted.
    """

    repository: str
    commit: str

    @property
    def file(self) -> File:
        """The folder of the clone below the folder of originals, as a genuine file."""
        folder = f"atlas/{self.repository.replace('/', '+')}"
        address = f"https://github.com/{self.repository}"
        how = f"In the folder above it: git clone {address} {folder.split('/')[1]}"
        return File(folder, how=f"{how}; then, inside it: git checkout {self.commit}")


def tally(items: pd.DataFrame) -> dict[str, int]:
    """Count the items, groups, pairs and clusters of a benchmark.

    Parameters
    ----------
    items : DataFrame
        One row per item. The columns, each of which may be absent, are `group` (the
        group that the item is about; missing if it is about none of those that are
        compared), `pair` (a name that matched items share) and `cluster` (a name that
        items share which resemble each other more than other items).

    Returns
    -------
    dict
        The counts by name. A pair is a set of matched items, one of each group that is
        compared; of 3 and 5 matched items of two groups, 3 pairs can be made. An item
        without a group is counted as such, and is in no pair and no cluster.

    Examples
    --------
    >>> items = pd.DataFrame({"group": ["a", "b", "a"], "pair": [1, 1, 2]})
    >>> tally(items)["pairs"]
    1
    """
    counts = {"items": len(items)}
    compared = items
    if "group" in items:
        compared = items[items["group"].notna()]
        counts |= _groups(compared["group"], of=len(items))

    counts["pairs"] = 0
    if "pair" in compared:
        matched = pd.crosstab(compared["pair"], compared["group"])
        counts["pairs"] = int(matched.min(axis="columns").sum())

    if "cluster" in compared:
        counts |= _clusters(compared["cluster"])
        if "group" in compared:
            several = _with_several_groups(compared, "cluster")
            counts["clusters_with_several_groups"] = several
    return counts


def _groups(group: pd.Series, *, of: int) -> dict[str, int]:
    """Count the groups, and the items of each group."""
    sizes = group.value_counts()
    counts = {
        "items_without_group": of - len(group),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
    }
    if len(sizes) <= MOST_GROUPS_LISTED:
        counts |= {f"group {name}": int(sizes[name]) for name in sorted(sizes.index)}
    return counts


def _clusters(cluster: pd.Series) -> dict[str, int]:
    """Count the clusters, and the items of each cluster, from the largest on."""
    sizes = sorted(cluster.value_counts(), reverse=True)
    counts = {
        "clusters": len(sizes),
        "smallest_cluster": int(sizes[-1]),
        "largest_cluster": int(sizes[0]),
    }
    if len(sizes) <= MOST_CLUSTERS_LISTED and sizes[0] > sizes[-1]:
        counts |= {f"cluster {n}": int(size) for n, size in enumerate(sizes, 1)}
    return counts


def pairs_of_clusters(items: pd.DataFrame) -> dict[str, int]:
    """Count the pairs of each cluster, if every pair lies in one cluster.

    Parameters
    ----------
    items : DataFrame
        One row per item, with the columns `group`, `pair` and `cluster` of `tally`.

    Returns
    -------
    dict
        The counts from the largest cluster on. It is empty if pairs are the same share
        of the items in each cluster, or if there are too many clusters to list.

    Examples
    --------
    >>> items = pd.DataFrame({"group": ["a", "b", "a", "b", "b"]})
    >>> items["pair"] = items["cluster"] = [1, 1, 2, 2, 2]
    >>> pairs_of_clusters(items)
    {'pairs_of_cluster 1': 1, 'pairs_of_cluster 2': 1}
    """
    matched = pd.crosstab([items["cluster"], items["pair"]], items["group"])
    pairs = matched.min(axis="columns").groupby(level="cluster").sum()
    share = pairs / items["cluster"].value_counts()
    if len(pairs) > MOST_CLUSTERS_LISTED or share.nunique() == 1:
        return {}
    sizes = sorted(pairs, reverse=True)
    return {f"pairs_of_cluster {n}": int(size) for n, size in enumerate(sizes, 1)}


def _with_several_groups(items: pd.DataFrame, column: str) -> int:
    """Count the values of a column that items of more than one group share."""
    return int(items.groupby(column)["group"].nunique().gt(1).sum())


def by_part(items: pd.DataFrame, column: str) -> Counts:
    """Count a benchmark as a whole, and each of its parts.

    Parameters
    ----------
    items : DataFrame
        One row per item, as in `tally`.
    column : str
        The column that names the part of each item.

    Returns
    -------
    dict
        The counts of each part; the whole has an empty name.
    """
    parts = {name: tally(rows) for name, rows in items.groupby(column)}
    return {WHOLE: tally(items)} | parts


def delimited(path: Path, columns: Iterable[str], **options: Any) -> pd.DataFrame:
    """Read columns of a table as text.

    Parameters
    ----------
    path : Path
        The file; columns are separated by tabs unless its name ends in .csv.
    columns : iterable of str
        The columns that are needed.
    **options
        More options of `pandas.read_csv`.

    Returns
    -------
    DataFrame
        These columns, as text; what is empty is missing.
    """
    separator = "," if path.suffix == ".csv" else "\t"
    table = pd.read_csv(path, sep=separator, dtype=str, **options)
    return table[list(columns)]


def json_lines(path: Path) -> pd.DataFrame:
    """Read a file of one JSON object per line.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        One row per line.
    """
    with path.open(encoding="utf-8") as lines:
        return pd.DataFrame([json.loads(line) for line in lines])


def json_file(path: Path) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    object
        What it holds.
    """
    return json.loads(path.read_text(encoding="utf-8"))


def text_lines(path: Path) -> pd.Series:
    """Read the lines of a text file that are not empty.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Series
        The lines, without spaces at their ends.
    """
    lines = pd.Series(path.read_text(encoding="utf-8").splitlines(), dtype=str)
    stripped = lines.str.strip()
    return stripped[stripped.ne("")].reset_index(drop=True)


def joined(items: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Name each row by several of its columns.

    Parameters
    ----------
    items : DataFrame
        The rows.
    columns : list of str
        The columns that make the name.

    Returns
    -------
    Series
        One name per row; rows have the same name if they agree in all columns.
    """
    first, *others = (items[column].fillna("").astype(str) for column in columns)
    return first.str.cat(others, sep="|")
