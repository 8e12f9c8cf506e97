"""The figures of lesson 07: labels of tokens, misses in both orders, and a heatmap."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._cells import shorten_numbers
from fairlib.drawings._findings import write_finding

TOKENS = (
    "A sentence written for this project, in the form of the paper's templates, with "
    "the labels that are right and those that the released code makes. Invented "
    "example. No data are involved."
)
MISSES = (
    "Diamonds: misses of the paper's model, whole numbers that give its printed FNR "
    "Ratios. Bars: misses charged to a tagger that makes no mistake, because some "
    "labels are wrong. 704 names in 1q, 682 in each other sixth. Data: values printed "
    "by Czarnowska et al. (2021), and labels of the released suite."
)
BOTH_ORDERS = (
    "FNR Ratio by sixth of countries: printed, and for models trained here on the "
    "paper's sentences, in both orders. Bars: 95 % of 2,000 draws of countries within "
    "sixths. 187 countries. Data: printed values, and outputs of models trained here, "
    "on the paper's released suite."
)
HEATMAP = (
    "Metrics for places (LOC) by sixth of countries, 1q the smallest economies. Blue: "
    "the darker, the nearer to the largest value of the row. Orange: above, violet: "
    "below 1 (FNRRatio, log scale) or 0 (AvgEG). Our encoder: mean of three seeds. "
    "n: 187 countries, 22 templates. Data: printed values, and outputs of models "
    "trained here, on the paper's released suite."
)
_ORDERS = ("1q the smallest economies", "1q the largest economies")
_RIGHT = "#cfe8dd"
_WRONG = "#f6cdb4"


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


def misses(in_labels: ArrayLike, printed: Series, *, narrow: bool = False) -> Figure:
    """Draw the misses of a model beside those that wrong labels make, in both orders.

    Parameters
    ----------
    in_labels : array_like
        Misses of a tagger without a mistake, from the smallest economies on.
    printed : Series
        Misses of the paper's model, by printed sixth.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each order.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.7, 4.6), sharex=True, sharey=True
    )
    floor = np.asarray(in_labels)
    for panel, heights, title in zip(axes, (floor, floor[::-1]), _ORDERS, strict=True):
        panel.bar(
            printed.index,
            heights,
            color=plots.COLOURS["sky"],
            label="a tagger that makes no mistake",
        )
        panel.plot(
            printed.index, printed, "D", color="black", label="the paper's model"
        )
        panel.set_title(title)
        panel.set_ylabel("names missed")
        for place, (height, value) in enumerate(zip(heights, printed, strict=True)):
            if height > value:
                plots.note(
                    "impossible", (place, height), ax=panel, offset=(0, 3), ha="center"
                )

    if not narrow:
        axes[1].set_ylabel("")
    axes[0].legend(loc="upper right")
    write_finding(
        figure, "Only with 1q as the smallest economies are the printed counts possible"
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
        narrow, panels=(1, 2), heights=(3.4, 6.0), sharex=True, sharey=True
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
        panel.set_ylim(0.012, 14)
        plots.log_axis([0.1, 0.2, 0.5, 1, 2, 5, 10], written="{x:g}", ax=panel)

    if not narrow:
        axes[1].set_ylabel("")
    axes[0].legend(loc="lower left", ncols=2, fontsize=8)
    write_finding(figure, "Four models follow the printed ratios in one order only")
    return figure


def heatmap(
    tables: Mapping[str, DataFrame],
    shades: Mapping[str, DataFrame],
    singles: Mapping[str, Series],
    blocks: Sequence[Sequence[str]],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw two tables of metrics by sixth side by side, as the paper draws one.

    Parameters
    ----------
    tables, shades : mapping of str to DataFrame
        For each source its metrics by sixth and in total, and how dark the cells are.
    singles : mapping of str to Series
        For each source the metrics that have one value.
    blocks : sequence of sequence of str
        The metrics of each block: first the unsigned ones, which are blue.
    narrow : bool, default False
        Whether the figure is for a phone. The tables then stand below each other.

    Returns
    -------
    Figure
        A column of panels for each source.
    """
    heights = [*(len(rows) for rows in blocks), 1]
    options = {"height_ratios": heights * (2 if narrow else 1)}
    figure, axes = plots.page(
        narrow, panels=(len(heights), 2), heights=(4.1, 7.6), **options
    )
    shape = (2, -1) if narrow else (-1, 2)
    columns = axes.reshape(shape)
    columns = columns if narrow else columns.T

    for column, (source, table) in zip(columns, tables.items(), strict=True):
        is_labelled = narrow or source == next(iter(tables))
        for number, (panel, rows) in enumerate(zip(column[:-1], blocks, strict=True)):
            plots.heatmap(
                table.loc[rows],
                shade=shades[source].loc[rows],
                signed=number > 0,
                ax=panel,
            )
            shorten_numbers(panel)
            panel.set_xticks([])
            panel.set_yticklabels(rows if is_labelled else [], rotation=0)
        column[0].xaxis.tick_top()
        column[0].set_xticks(np.arange(7) + 0.5, [*table.columns[:-1], "all"])
        column[0].set_title(source, loc="left")

        plots.heatmap(singles[source].to_frame().T, ax=column[-1])
        shorten_numbers(column[-1])
        names = [name.replace(" ", "\n") for name in singles[source].index]
        column[-1].set_xticks(np.arange(len(names)) + 0.5, names, rotation=0)
        column[-1].set_yticks([])
    write_finding(figure, "In this order our encoder shows the pattern of the paper")
    return figure


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
