"""The figures of lesson 07: printed rows, labels, misses, ratios, and a heatmap."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._cells import shorten_numbers
from fairlib.drawings._findings import write_finding

PRINTED = (
    "Two rows of the paper's Figure 3, for names of places, by sixth of 187 countries. "
    "Orange: above, violet: below 1 (FNRRatio, log scale) or 0 (AvgEG). Data: values "
    "printed by Czarnowska et al. (2021)."
)
TOKENS = (
    "A sentence written for this project, in the form of the paper's templates, with "
    "the labels that are right and those that the released code makes. Arrow: the "
    "label of Peru. Invented example. No data are involved."
)
MISSES = (
    "Diamonds: misses of the paper's model, whole numbers that give its printed FNR "
    "Ratios. Bars: misses charged to a tagger that makes no mistake, because some "
    "labels are wrong. In either order, 704 names in 1q and 682 in each other sixth. "
    "Data: values printed by Czarnowska et al. (2021), and labels of the released "
    "suite."
)
BOTH_ORDERS = (
    "FNR Ratio by sixth of countries: printed, and for models trained here on the "
    "paper's sentences, in both orders. Bars: 95 % of 2,000 draws of countries within "
    "sixths. 187 countries. Data: printed values, and outputs of models trained here, "
    "on the paper's released suite."
)
HEATMAP = (
    "Metrics for names of places by sixth of countries; for our encoder, 1q the "
    "smallest economies, first run. Blue: the darker, the nearer to the "
    "largest value of the row. Orange: above, violet: below 1 (FNRRatio, log scale) or "
    "0 (AvgEG). n: 187 countries, 22 templates. Data: printed values, and outputs of a "
    "model trained here, on the paper's released suite."
)
_ORDERS = ("1q the smallest economies", "1q the largest economies")
_RIGHT = "#cfe8dd"
_WRONG = "#f6cdb4"
_UNSIGNED = ["FNED"]
_SIGNED = ["FNRRatio", "AvgEG"]


def printed(table: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the two rows of the paper's heatmap with which the lesson begins.

    Parameters
    ----------
    table : DataFrame
        The printed metrics by sixth.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel with two rows.
    """
    figure, (panel,) = plots.page(narrow, heights=(1.3, 1.4))
    _draw_rows(table.loc[_SIGNED], panel, signed=True)
    panel.xaxis.tick_top()
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
        figure, "The released labels call 'against' a place, and miss half of a name"
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
            label="a tagger that makes no mistake",
        )
        panel.plot(paper.index, paper, "D", color="black", label="the paper's model")
        panel.set_title(title)
        panel.set_ylabel("names missed")
        panel.tick_params(labelbottom=True)
        for place, (height, value) in enumerate(zip(heights, paper, strict=True)):
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
        figure, "The labels alone give the smallest economies 84 misses; 6q has only 26"
    )
    return figure


def both_orders(
    printed: Series,
    ratios: Mapping[str, tuple[NDArray, NDArray, NDArray]],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw FNR Ratios of several models beside the printed ones, in both orders.

    Parameters
    ----------
    printed : Series
        The printed ratio of each sixth.
    ratios : mapping
        For each model its ratios from the smallest economies on, and their ends.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each order.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(3.4, 5.8), sharex=True, sharey=True
    )
    looks = list(zip(("blue", "sky", "green", "vermillion"), "os^D", strict=True))
    for panel, step, title in zip(axes, (1, -1), _ORDERS, strict=True):
        for number, (name, ends) in enumerate(ratios.items()):
            colour, marker = looks[number]
            estimate, low, high = (values[::step] for values in ends)
            plots.intervals(
                np.arange(6) + 0.16 * (number - 1.5),
                estimate,
                low=low,
                high=high,
                colour=colour,
                marker=marker,
                label=name,
                ax=panel,
            )
        panel.plot(
            range(6), printed, "k_", markersize=20, markeredgewidth=2, label="printed"
        )
        panel.axhline(1, color=plots.COLOURS["grey"], linewidth=0.8, zorder=0)
        panel.set_title(title)
        panel.set_xticks(range(6), list(printed.index))
        panel.set_ylabel("FNR Ratio")
        panel.tick_params(labelbottom=True)
        plots.log_axis([0.1, 0.2, 0.5, 1, 2, 5, 10], written="{x:g}", ax=panel)

    if not narrow:
        axes[1].set_ylabel("")
    write_finding(
        figure, "In all four runs the smallest economies have the highest ratio"
    )
    # On a phone the legend is below the panels; on a page it fits between the bars.
    place = {"loc": "upper center", "bbox_to_anchor": (0.4, -0.15), "ncols": 2}
    if not narrow:
        place = {"loc": "upper center", "labelspacing": 0.3}
    handles = axes[0].get_legend_handles_labels()
    axes[1].legend(*handles, fontsize=8, **place)
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
        _draw_rows(table.loc[_UNSIGNED], above, signed=False)
        _draw_rows(table.loc[_SIGNED], below, signed=True)
        above.xaxis.tick_top()
        above.set_title(source, loc="left")
        below.set_xticks([])

    if not narrow:
        for panel in columns[1]:
            panel.set_yticklabels([])
    write_finding(figure, "In print and with our encoder, 1q stands out in all rows")
    return figure


def _draw_rows(rows: DataFrame, panel: Axes, *, signed: bool) -> None:
    """Draw rows of a heatmap; each is shaded by its largest distance from neutral."""
    shades = rows.copy()
    if signed:
        shades.loc["FNRRatio"] = np.log(shades.loc["FNRRatio"])
    shades = shades.div(shades.abs().max(axis=1), axis=0)
    plots.heatmap(rows, shade=shades, signed=signed, ax=panel)
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
