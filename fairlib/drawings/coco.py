"""The drawings of lesson 09: hidden people, the blind line, and captions."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

MASKS = (
    "Bias amplification of networks on COCO with none, half and the whole of each "
    "person hidden. Means of 5 runs with 95 % t intervals over the runs, computed from "
    "the printed means and ±. Data: Wang and Russakovsky (2021), Table 1."
)
PULL = (
    "Share of people who are called men, against their true share among the pictures "
    "with an object, for models whose errors are pure chance. All lines meet at the "
    "share of men in all pictures. Computed from the formula, with COCO's 71 % of men."
)
BLIND_LINE = (
    "T→A of six captioning models on 10,840 pictures and 52 objects, against how often "
    "a caption that names one gender names the wrong one. Filled: T→A; hollow: its "
    "blind part; dashed: pure chance. 95 % intervals over pictures. "
    "Data: captions released with Hendricks et al. (2018), labels of COCO."
)
CHANGES = (
    "What changes from the Baseline to Equalizer, with 95 % intervals over 10,840 "
    "pictures (52 objects, public share of men in training). Blind: what the model's "
    "errors give if they do not depend on the other label. Excess: the rest. "
    "Data: captions released with Hendricks et al. (2018), labels of COCO."
)

_NORMAL = 1.959964  # a normal variable stays within ± this in 95 % of cases


def masks(mean: DataFrame, margin: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw three measures of bias amplification under three masks.

    Parameters
    ----------
    mean, margin : DataFrame
        The means and the half-widths of their intervals: a row for each mask, a column
        for each measure.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each measure.
    """
    figure, axes = plots.page(narrow, panels=(1, 3), heights=(2.7, 5.8))
    titles = {
        "MALS": "MALS: no step is shown",
        "A→T": "A→T: falls, half or whole",
        "T→A": "T→A: no step is shown",
    }
    places = np.arange(len(mean))

    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        plots.intervals(
            places=places,
            estimate=mean[name],
            low=mean[name] - margin[name],
            high=mean[name] + margin[name],
            ax=ax,
            colour="vermillion" if name == "A→T" else "blue",
        )
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            xticks=places,
            xticklabels=mean.index,
            xlim=(-0.5, 2.5),
            xlabel="part hidden",
        )

    axes[0].set_ylabel("bias amplification")
    return figure


def pull(called: DataFrame, p: float, *, narrow: bool = False) -> Figure:
    """Draw how errors by chance pull the share of men towards that of all pictures.

    Parameters
    ----------
    called : DataFrame
        The share of people called men: a row for each true share, a column for each
        share of errors.
    p : float
        The share of men in all pictures.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a line for each share of errors.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.6))
    lines = {f"{100 * error:.0f} % wrong": called[error] for error in called}
    plots.curves(called.index, lines, ax=ax)

    ax.plot(p, p, "o", color="black")
    plots.note("all pictures", (p, p), offset=(-64, 6), ax=ax)
    ax.set(
        title="Chance errors pull every object towards all pictures",
        xlabel="true share of men with an object",
        ylabel="share called men",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    ax.legend(loc="lower right")
    return figure


def blind_line(
    average: DataFrame, error_rate: Series, slope: float, *, narrow: bool = False
) -> Figure:
    """Draw T→A and its blind part against the share of wrong genders.

    Parameters
    ----------
    average : DataFrame
        Columns `value` and `standard_error`, by measure and model.
    error_rate : Series
        The share of wrong genders of each model.
    slope : float
        T→A of a model whose errors are pure chance, for each unit of errors.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, two marks for each model.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.2, 3.9))
    percent = 100 * error_rate

    for measure, colour, marker, face, label in (
        ("T→A", "blue", "o", plots.COLOURS["blue"], "T→A"),
        ("T→A blind", "grey", "s", "white", "blind part"),
    ):
        part = average.loc[measure].loc[error_rate.index]
        reach = _NORMAL * part["standard_error"]
        plots.intervals(
            places=percent,
            estimate=part["value"],
            low=part["value"] - reach,
            high=part["value"] + reach,
            ax=ax,
            colour=colour,
            marker=marker,
            markerfacecolor=face,
            label=label,
        )

    ends = np.array([0, 18])
    ax.plot(ends, slope * ends / 100, "--", color="black", label="pure chance")

    for name, words, offset in (
        ("baseline_ft", "Baseline", (-34, -32)),
        ("equalizer", "Equalizer", (-54, -3)),
    ):
        at = (percent[name], average.loc[("T→A", name), "value"])
        plots.note(words, at, offset=offset, ax=ax)

    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        title="Six captioners lie far above their blind parts",
        xlabel="captions that name the wrong gender (%)",
        ylabel="T→A",
        ylim=(-0.078, 0.042),
    )
    ax.legend(loc="lower left")
    return figure


def changes(change: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw what changes from one captioning model to another, in both directions.

    Parameters
    ----------
    change : DataFrame
        Columns `change` and `margin`; a row for each direction, its blind part and its
        excess.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each direction.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.3, 4.2))
    titles = {
        "A→T": "A→T: rises a little",
        "T→A": "T→A: fewer errors, less context",
    }
    parts = {"": "as defined", " blind": "blind part", " excess": "excess"}
    colours = ("blue", "grey", "vermillion")

    for ax, (direction, title) in zip(axes, titles.items(), strict=True):
        for place, (ending, colour) in enumerate(zip(parts, colours, strict=True)):
            row = change.loc[direction + ending]
            plots.intervals(
                places=[place],
                estimate=[row["change"]],
                low=[row["change"] - row["margin"]],
                high=[row["change"] + row["margin"]],
                ax=ax,
                colour=colour,
                marker=plots.MARKERS[place],
                horizontal=True,
            )

        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            yticks=range(3),
            yticklabels=parts.values(),
            ylim=(2.5, -0.5),
            xlabel="change, Equalizer minus Baseline",
        )
        ax.locator_params(axis="x", nbins=4)
    return figure
