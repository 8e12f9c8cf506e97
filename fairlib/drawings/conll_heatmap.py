"""The figures of lesson 07: printed rows, labels, misses, and a heatmap."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._cells import shorten_numbers
from fairlib.drawings._findings import write_finding

PRINTED = (
    "Three rows of the paper's Figure 3, for names of places, by sixth of 187 "
    "countries. Blue: the darker, the nearer to the largest value of the row. Orange: "
    "worse than the other sixths (FNR Ratio above 1, on a log scale, or AvgEG below "
    "0), violet: better. Data: values printed by Czarnowska et al. (2021)."
)
TOKENS = (
    "A sentence written for this project, in the form of the paper's templates, with "
    "the labels that are right and those that the released code makes. Arrow: the "
    "label of Peru. Invented example. No data are involved."
)
MISSES = (
    "Names missed by the paper's model (diamonds, the counts recovered from its "
    "printed rows) and misses that the released labels charge to a perfect tagger "
    "(bars), for two orders of the countries. Misses are counted by exact spans. In "
    "either order there are 704 names in 1q and 682 in each other sixth. Data: values "
    "printed by Czarnowska et al. (2021), and labels of the released suite."
)
HEATMAP = (
    "Three of fourteen rows of the paper's Figure 3, and the same rows for the first "
    "run of our encoder, by the released labels, where 1q is the smallest economies. "
    "Colours as in the lesson's first figure. n: 187 countries, 22 templates. Data: "
    "values printed by Czarnowska et al. (2021), and outputs of a model trained here, "
    "on the paper's released suite."
)
_ORDERS = ("1q the smallest economies", "1q the largest economies")
_RIGHT = "#cfe8dd"
_WRONG = "#f6cdb4"
_UNSIGNED = ["FNED"]
_SIGNED = ["FNRRatio", "AvgEG"]


def printed(table: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the three rows of the paper's heatmap with which the lesson begins.

    Parameters
    ----------
    table : DataFrame
        The printed metrics by sixth.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A panel of unsigned and a panel of signed metrics.
    """
    figure, panels = plots.page(
        narrow, panels=(2, 1), heights=(1.6, 1.7), height_ratios=[1, 2]
    )
    _draw_table(table, *panels)
    write_finding(figure, "In print, the names in 1q are missed most")
    return figure


def tokens(sentence: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the tokens of a sentence, with the right and the released labels.

    Parameters
    ----------
    sentence : DataFrame
        One row per token, in order: token, label, released.
    narrow : bool, default False
        Whether the figure is for a phone. Tokens then stand below each other.

    Returns
    -------
    Figure
        Three rows of tokens and labels; on a phone, three columns.
    """
    figure, (panel,) = plots.page(narrow, heights=(1.5, 3.0))
    columns = {
        "token": sentence["token"],
        "right label": sentence["label"],
        "released": sentence["released"],
    }
    for row, (title, words) in enumerate(columns.items()):
        _word(panel, (-1.2, row), title, narrow=narrow, bold=True)
        for place, (word, label) in enumerate(
            zip(words, sentence["label"], strict=True)
        ):
            colour = "none"
            if row > 0 and (word, label) != ("O", "O"):
                colour = _RIGHT if word == label else _WRONG
            _word(panel, (place, row), word, narrow=narrow, colour=colour)

    # The label of the last name moves one word to the left.
    right, released = (
        np.flatnonzero(sentence[column] != "O")[-1] for column in ("label", "released")
    )
    start = (right - 0.2, 1.25)
    end = (released + 0.2, 1.75)
    if narrow:
        start = (1.33, right - 0.25)
        end = (1.67, released + 0.25)
    panel.annotate(
        "",
        end,
        start,
        arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1},
    )

    length = len(sentence)
    if narrow:
        panel.set(xlim=(-0.55, 2.55), ylim=(length - 0.4, -1.8))
    else:
        panel.set(xlim=(-1.8, length - 0.4), ylim=(2.5, -0.5))
    panel.axis("off")
    write_finding(
        figure,
        "Labels by the released code call 'against' a place, and mark half of a name",
    )
    return figure


def misses(
    in_labels: ArrayLike,
    opposite: ArrayLike,
    paper: Series,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the misses of a model beside those that wrong labels make, in both orders.

    Parameters
    ----------
    in_labels : array_like
        Misses of a tagger without a mistake, by sixth from the smallest economies on.
    opposite : array_like
        The same by sixth from the largest economies on.
    paper : Series
        Misses of the paper's model, by printed sixth.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each order.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.7, 4.8), sharex=True, sharey=True
    )
    for panel, charged, title in zip(axes, (in_labels, opposite), _ORDERS, strict=True):
        heights = np.asarray(charged)
        panel.bar(
            paper.index,
            heights,
            color=plots.COLOURS["sky"],
            label="charged to a perfect tagger",
        )
        panel.plot(paper.index, paper, "D", color="black", label="the paper's model")
        panel.set_title(title)
        # Room for the number above the highest diamond
        panel.set_ylim(top=1.15 * max(paper))
        panel.set_ylabel("names missed")
        panel.tick_params(labelbottom=True)
        for place, (height, value) in enumerate(zip(heights, paper, strict=True)):
            panel.text(place, 3, str(height), ha="center", fontsize=8)
            plots.note(str(value), (place, value), ax=panel, offset=(0, 4), ha="center")
            if height > value:
                plots.note(
                    f"{height} > {value}",
                    (place, height),
                    ax=panel,
                    offset=(0, 3),
                    ha="center",
                )

    if not narrow:
        axes[1].set_ylabel("")
    axes[0].legend(loc="upper right")
    write_finding(
        figure,
        "Labels charge 84 misses for the smallest economies, but the printed 6q has "
        "only 26",
    )
    return figure


def heatmap(tables: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw two tables of metrics by sixth side by side, as the paper draws one.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        For each source its metrics by sixth.
    narrow : bool, default False
        Whether the figure is for a phone. The tables then stand below each other.

    Returns
    -------
    Figure
        For each source a panel of unsigned and a panel of signed metrics.
    """
    figure, axes = plots.page(
        narrow,
        panels=(2, 2),
        heights=(1.7, 2.9),
        height_ratios=[1, 2] * (2 if narrow else 1),
    )
    columns = axes.reshape(2, 2) if narrow else axes.reshape(2, 2).T
    for (above, below), (source, table) in zip(columns, tables.items(), strict=True):
        _draw_table(table, above, below)
        above.set_title(source, loc="left")

    if not narrow:
        for panel in columns[1]:
            panel.set_yticklabels([])
    write_finding(figure, "In print and with our encoder, 1q stands out in all rows")
    return figure


def _draw_table(table: DataFrame, above: Axes, below: Axes) -> None:
    """Draw the unsigned metrics above the signed ones, in two panels."""
    _draw_rows(table.loc[_UNSIGNED], above, signed=False)
    _draw_rows(table.loc[_SIGNED], below, signed=True)
    above.xaxis.tick_top()
    below.set_xticks([])


def _draw_rows(rows: DataFrame, panel: Axes, *, signed: bool) -> None:
    """Draw rows of a heatmap; each is shaded by its largest distance from neutral."""
    shades = rows.copy()
    if signed:
        # A positive shade is worse: a ratio above 1, or an AvgEG below 0.
        shades.loc["FNRRatio"] = np.log(shades.loc["FNRRatio"])
        shades.loc["AvgEG"] = -shades.loc["AvgEG"]
    shades = shades.div(shades.abs().max(axis=1), axis=0)

    named = {"FNRRatio": "FNR Ratio"}
    plots.heatmap(
        rows.rename(index=named),
        shade=shades.rename(index=named),
        signed=signed,
        ax=panel,
    )
    shorten_numbers(panel)


def _word(
    panel: Axes,
    place: tuple[float, float],
    word: str,
    *,
    narrow: bool,
    bold: bool = False,
    colour: str = "none",
) -> None:
    """Write a word at a place in its row, or in its column on a phone."""
    along, row = place
    x, y = (row, along) if narrow else (along, row)
    panel.text(
        x,
        y,
        word,
        horizontalalignment="center",
        verticalalignment="center",
        fontsize=8 if narrow or not bold else 8.5,
        weight="bold" if bold else "normal",
        bbox={"facecolor": colour, "edgecolor": "none", "boxstyle": "round,pad=0.25"},
    )
