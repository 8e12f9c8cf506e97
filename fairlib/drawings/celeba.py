"""The drawings of lesson 10: intervals over seeds, and differences of models."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DIFFERENCES = (
    "A→T, differences between the means of two models over five seeds. Right of 0, the "
    "first model amplifies more. Thick: Welch's 95 % interval for one pair alone. "
    "Thin: the interval if all six are to hold together. A diamond is filled if the "
    "thin interval leaves out 0. That of logistic − network, for young, crosses 0 by a "
    "little. Data: CelebA, 19,962 test pictures; models of 38 noted properties in "
    "place of the paper's networks."
)
FIGURE4 = (
    "A→T with 95 % t intervals over five seeds, as in Figure 4 of Wang and Russakovsky "
    "(2021). Circles are single runs, from left to right in the order of their seeds. "
    "Grey: boosting's interval. Each panel has its own scale, which does not begin at "
    "0. Data: CelebA, 19,962 test pictures; models of 38 noted properties in place of "
    "the paper's networks."
)
REPETITIONS = (
    "SIMULATION: the first 20 of 10,000 repetitions with five new runs of boosting and "
    "of logistic, for two true differences (dashed). Both panels show the same "
    "repetitions, shifted. Each interval is long enough for six pairs to hold "
    "together. Filled: the interval lies above 0, so the difference is detected. "
    "Computed from normal runs with the standard deviations of our runs for big nose."
)

_TASKS = {"big nose": ("blue", "o"), "young": ("orange", "s")}  # colour, and mark


def figure4(intervals: Series, runs: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw A→T by model, with an interval over seeds and the single runs.

    Parameters
    ----------
    intervals : Series of Interval
        By task and model.
    runs : DataFrame
        The columns `task`, `model`, `seed` (from 0) and `A→T`; a row for each run.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each task.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.6, 4.4))
    write_finding(
        figure,
        "Only one pair of a task has intervals apart: boosting and logistic, for young",
    )
    for ax, (task, (colour, marker)) in zip(axes, _TASKS.items(), strict=True):
        of_task = intervals[task]
        places = np.arange(len(of_task))
        band = of_task["boosting"]
        ax.axhspan(band.low, band.high, color=plots.COLOURS["grey"], alpha=0.4, lw=0)
        plots.intervals(
            places, of_task, ax=ax, colour=colour, marker=marker, markersize=3.5
        )
        runs_of_task = runs[runs["task"] == task]
        place_of = dict(zip(of_task.index, places + 0.14, strict=True))
        ax.plot(
            runs_of_task["model"].map(place_of) + 0.07 * runs_of_task["seed"],
            runs_of_task["A→T"],
            "o",
            color="black",
            markerfacecolor="none",
            markersize=3.5,
            markeredgewidth=0.8,
        )
        ax.set(title=task, ylabel="A→T", xlim=(-0.5, 2.5))
        ax.set_xticks(places, of_task.index)

    return figure


def differences(compared: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the differences between pairs of models, with two intervals each.

    Parameters
    ----------
    compared : DataFrame
        By task and pair: the columns `difference`, and the half-widths `± for one` and
        `± for all six`.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each task, with the pairs below each other.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(1.9, 3.4), sharex=True, sharey=not narrow
    )
    write_finding(figure, "Of six differences, five runs detect one")
    for ax, (task, (colour, _)) in zip(axes, _TASKS.items(), strict=True):
        pairs = compared.loc[task]
        places = np.arange(len(pairs))
        _two_intervals(pairs, places, colour, ax=ax)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=task,
            xlabel="first model's mean A→T minus second's",
            yticks=places,
            yticklabels=pairs.index,
            ylim=(len(places) - 0.5, -0.5),
        )
        ax.tick_params(axis="y", length=0)
        ax.tick_params(axis="x", labelbottom=True)

    return figure


def _two_intervals(pairs: DataFrame, places: NDArray, colour: str, *, ax: Axes) -> None:
    """Draw a thick interval on a thin one for each pair, and the difference on both."""
    for half_width, thickness in (("± for all six", 1.2), ("± for one", 5.0)):
        ax.hlines(
            places,
            pairs["difference"] - pairs[half_width],
            pairs["difference"] + pairs[half_width],
            color=plots.COLOURS[colour],
            linewidth=thickness,
        )

    is_detected = pairs["difference"].abs() > pairs["± for all six"]
    for chosen, filling in ((is_detected, "black"), (~is_detected, "white")):
        ax.plot(
            pairs["difference"][chosen],
            places[chosen],
            "D",
            color="black",
            markerfacecolor=filling,
            markersize=4,
        )


def repetitions(
    simulated: DataFrame,
    true_differences: dict[float, float],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the intervals of simulated repetitions for two true differences.

    Parameters
    ----------
    simulated : DataFrame
        The columns `half-width`, and `error`, which says how far the estimate lies
        above the true difference; a row for each repetition.
    true_differences : dict of float to float
        Two true differences, and the share of all repetitions that detect each.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each true difference, with 20 repetitions each.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.8, 4.8), sharey=True, sharex=True
    )
    small = min(true_differences)
    write_finding(
        figure,
        "SIMULATION: five runs often miss a difference as large as the half-width, "
        f"{small:.4f}",
    )
    places = np.arange(20)
    error, half = simulated[["error", "half-width"]].to_numpy()[:20].T
    for ax, (true, share) in zip(axes, true_differences.items(), strict=True):
        estimate = true + error
        is_detected = estimate > half
        for chosen, filling in ((~is_detected, "white"), (is_detected, "black")):
            plots.intervals(
                places=places[chosen],
                estimate=estimate[chosen],
                low=(estimate - half)[chosen],
                high=(estimate + half)[chosen],
                ax=ax,
                colour="black",
                marker="D",
                markersize=4,
                markerfacecolor=filling,
            )
        ax.axhline(0, color="black", linewidth=0.8)
        ax.axhline(true, color="black", linewidth=0.8, linestyle="--")
        ax.set(
            title=f"true {true:.4f}: {100 * share:.0f} % detect it",
            xticks=[],
            xlabel="20 repetitions",
            ylabel="difference in A→T",
        )
        ax.label_outer()
        ax.set_xlabel("20 repetitions")

    return figure
