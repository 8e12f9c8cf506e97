"""The drawings of lesson 10: intervals over seeds, and differences of models."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

TWO_RULES = (
    "SIMULATION: the first 20 of 20,000 sets of five normal runs with the mean 0, each "
    "with two intervals that are meant to cover 0 in 95 % of all sets. Vermillion: "
    "intervals that miss it. Computed from simulated runs."
)
DIFFERENCES = (
    "Differences between the means of two models over five seeds. Right of 0, the "
    "first model is more unequal or amplifies more. Thick: Welch's 95 % interval for "
    "one pair. A diamond is filled if this interval leaves out 0. Thin: the interval "
    "if all 12 are to hold together. Data: CelebA, 19,962 test pictures; models of 38 "
    "noted properties in place of the paper's networks."
)

FIGURE4 = (
    "A→T with 95 % t intervals over five seeds, as in Figure 4 of Wang and Russakovsky "
    "(2021). Boosting's intervals are shorter than its marks. Data: CelebA, 19,962 "
    "test pictures; models of noted properties in place of the paper's networks."
)

_SHORT = {
    "boosting": "boosting",
    "logistic regression": "logistic",
    "network": "network",
}
_TITLES = {"young": "young", "big_nose": "big nose"}
_TASKS = (
    # name, words, colour, mark, and how far the marks are shifted
    ("big_nose", "big nose", "blue", "o", -1),
    ("young", "young", "orange", "s", 1),
)
_COLOUR_OF_METRIC = {
    "FPR difference": "purple",
    "A→T": "green",
}


def two_rules(sets: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw two kinds of intervals for the same sets of runs.

    Parameters
    ----------
    sets : DataFrame
        Columns `mean`, and the half-widths `script` and `student`; a row for each set.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each kind. The truth is 0.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.5, 4.4), sharey=True, sharex=True
    )
    titles = {
        "script": "Script, 1.96 $s_0/\\sqrt{5}$: too short",
        "student": "Student, 2.78 $s/\\sqrt{5}$: as promised",
    }
    for ax, (rule, title) in zip(axes, titles.items(), strict=True):
        misses = sets["mean"].abs() > sets[rule]
        for chosen, colour in ((~misses, "blue"), (misses, "vermillion")):
            part = sets[chosen]
            plots.intervals(
                places=part.index,
                estimate=part["mean"],
                low=part["mean"] - part[rule],
                high=part["mean"] + part[rule],
                ax=ax,
                colour=colour,
            )

        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(title=title, xticks=[], xlabel="20 researchers, five runs each")

    axes[0].set_ylabel("mean of five runs")
    return figure


def differences(compared: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the differences between pairs of models, with two intervals each.

    Parameters
    ----------
    compared : DataFrame
        By task, metric and pair: the columns `difference`, and the half-widths
        `half-width` and `for all`.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each task, with the pairs below each other for each metric.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(3.0, 5.2), sharex=True, sharey=not narrow
    )
    write_finding(
        figure, "Five runs detect fairness differences for young, none for big nose"
    )
    for ax, (task, title) in zip(axes, _TITLES.items(), strict=True):
        names: list[str] = []
        for metric, colour in _COLOUR_OF_METRIC.items():
            of_metric = compared.loc[(task, metric)]
            names.append(metric)
            places = len(names) + np.arange(len(of_metric))
            names += [_in_short(pair) for pair in of_metric.index]
            _two_intervals(of_metric, places, colour, ax=ax)

        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            xlabel="first model's mean minus second's",
            yticks=range(len(names)),
            yticklabels=names,
            ylim=(len(names) - 0.4, -0.7),
        )
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelbottom=True)
        for label in ax.get_yticklabels():
            if label.get_text() in _COLOUR_OF_METRIC:
                label.set_fontstyle("italic")

    return figure


def _two_intervals(pairs: DataFrame, places: NDArray, colour: str, *, ax: Axes) -> None:
    """Draw a thick interval on a thin one for each pair, and the difference on both."""
    for half_width, thickness in (("for all", 0.8), ("half-width", 5.0)):
        ax.hlines(
            places,
            pairs["difference"] - pairs[half_width],
            pairs["difference"] + pairs[half_width],
            color=plots.COLOURS[colour],
            linewidth=thickness,
        )

    is_detected = pairs["difference"].abs() > pairs["half-width"]
    for chosen, filling in ((is_detected, "black"), (~is_detected, "white")):
        ax.plot(
            pairs["difference"][chosen],
            places[chosen],
            "D",
            color="black",
            markerfacecolor=filling,
            markersize=3.5,
        )


def _in_short(pair: str) -> str:
    """Shorten the names of a pair of models."""
    first, second = pair.split(" − ")
    return f"{_SHORT[first]} − {_SHORT[second]}"


def figure4(models: Series, *, narrow: bool = False) -> Figure:
    """Draw A→T by model, with an interval over seeds.

    Parameters
    ----------
    models : Series of Interval
        By task and model.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel with both tasks.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.6, 3.0))
    write_finding(
        figure, "Intervals of a task overlap, except boosting and logistic for young"
    )
    for task, words, colour, marker, side in _TASKS:
        of_task = models[task]
        places = np.arange(len(of_task))
        plots.intervals(
            places + 0.08 * side,
            of_task,
            ax=ax,
            colour=colour,
            marker=marker,
            label=words,
        )
        ax.set_xticks(places, [_SHORT[name] for name in of_task.index])

    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        xlabel="model",
        ylabel="A→T",
        xlim=(-0.5, 2.5),
        ylim=(-0.003, 0.082),
    )
    ax.legend(loc="upper center", ncols=2)
    return figure
