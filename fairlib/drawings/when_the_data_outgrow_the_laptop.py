"""The figures of lesson 16: counts in place of rows, and what copies cannot buy."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._findings import write_finding

CELLS = (
    "How many people there are of each kind: by race as the county wrote it, by "
    "whether they were charged again within two years, and by whether their score was "
    "5 or more (flagged). Darker: more people. Data: COMPAS scores of 7,214 people "
    "(bundled counts)."
)
COPIES = (
    "False alarm rates with 95 % intervals (Wilson). Blue circles: the real people; "
    "their number is written at each group. Orange squares: a million people drawn "
    "from the shares of the real ones, a simulation. Data: COMPAS scores of 7,214 "
    "people (bundled counts)."
)

_KINDS = ("not charged,\nnot flagged", "not charged,\nflagged")
_OTHER_KINDS = ("charged,\nnot flagged", "charged,\nflagged")


def cells(counts: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the counts of all kinds of people as a table with shades.

    Parameters
    ----------
    counts : DataFrame
        One row per race; the columns are outcome (not charged, charged) by decision
        (not flagged, flagged).
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A heatmap with the counts in its cells.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.5, 2.7))
    kinds = [*_KINDS, *_OTHER_KINDS]
    if narrow:
        kinds = [kind.replace("not ", "not\n") for kind in kinds]
    table = counts.set_axis(kinds, axis=1)

    shade = table / table.to_numpy().max()
    plots.heatmap(table, shade=shade, digits=0, ax=ax)
    write_finding(figure, "For an audit, 7,214 people are 24 numbers")
    return figure


def certainty(rates: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw false alarm rates of real people and of many drawn from them.

    Parameters
    ----------
    rates : mapping of str to DataFrame
        For each table, one row per group with `rate`, `low`, `high` and `n`; the real
        people come first.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Two intervals per group, side by side.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.8))
    real = next(iter(rates.values()))
    plots.intervals_by_name(
        rates, spread=0.3, colours=("blue", "orange"), horizontal=True, ax=ax
    )

    names = [f"{name} ({n:,})" for name, n in zip(real.index, real["n"], strict=True)]
    if narrow:
        names = [name.replace(" (", "\n(") for name in names]
    ax.set_yticks(np.arange(len(real)), names)
    ax.set(xlabel="false alarm rate", xlim=(0, 0.8))
    ax.legend(loc="upper right")
    write_finding(figure, "A million rows look certain about eight people")
    return figure
