"""The drawings of lesson 10: intervals over seeds and over pictures."""

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

TWO_RULES = (
    "SIMULATION: the first 20 of 20,000 sets of five normal runs with the mean 0, each "
    "with two 95 % intervals. Vermillion: intervals that miss the truth. Computed from "
    "simulated runs."
)
DISTANCES = (
    "The range of three models' means over five seeds, in units of the standard "
    "deviation over seeds. Shaded: 95 % of three identical models. Data: CelebA, "
    "19,962 test pictures; classifiers of 38 noted properties in place of networks."
)
FIGURE4 = (
    "Right half of Figure 4 of Wang and Russakovsky (2021), with classifiers of noted "
    "properties in place of image networks. A→T with 95 % t intervals over 5 seeds. "
    "Data: CelebA, 19,962 test pictures."
)
TWO_UNCERTAINTIES = (
    "95 % intervals of A→T for the same models: from five seeds on the same pictures, "
    "and from one run (seed 0) for other pictures. Data: CelebA, 19,962 test "
    "pictures; classifiers of noted properties in place of image networks."
)

_SHORT = {
    "gradient boosting": "boosting",
    "logistic regression": "logistic",
    "neural network": "network",
}
_TITLES = {"young": "young", "big_nose": "big nose"}


def two_rules(sets: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw two kinds of intervals for the same sets of runs.

    Parameters
    ----------
    sets : DataFrame
        Columns `mean`, and the half-widths `script` and `t`; a row for each set.
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
        "script": "1.96 $s_0/\\sqrt{5}$: too short",
        "t": "2.78 $s/\\sqrt{5}$: Student's t",
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


def distances(
    distance: DataFrame, most_by_chance: float, *, narrow: bool = False
) -> Figure:
    """Draw how far apart models are, beside what identical models would show.

    Parameters
    ----------
    distance : DataFrame
        The range of the means in standard deviations over seeds: a row for each task, a
        column for each metric.
    most_by_chance : float
        The range that identical models rarely exceed.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel with a logarithmic axis.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.3, 2.7))
    places = np.arange(distance.shape[1])

    ax.axvspan(0.1, most_by_chance, color="0.9", zorder=0)
    ax.text(0.12, 2.5, "like identical models", va="center")
    for task, colour, marker, shift in (
        ("big_nose", "blue", "o", -0.12),
        ("young", "orange", "s", 0.12),
    ):
        ax.plot(
            distance.loc[task],
            places + shift,
            marker,
            color=plots.COLOURS[colour],
            markersize=7,
            label=_TITLES[task],
        )

    plots.log_axis([0.1, 0.3, 1, 3, 10, 30], axis="x", written="{x:g}", ax=ax)
    ax.set(
        title="Seeds blur the fairness metrics",
        xlabel="range of three means / seed deviation",
        yticks=places,
        yticklabels=distance.columns,
        xlim=(0.1, 40),
        ylim=(2.8, -0.5),
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def figure4(models: Series, by_ratio: Series, *, narrow: bool = False) -> Figure:
    """Draw A→T by model and by the ratio of majority to minority.

    Parameters
    ----------
    models, by_ratio : Series of Interval
        By task and model, and by task and ratio.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Two panels for each task.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.9, 5.2), sharey=True)
    panels = (
        (models, "Three models: little to tell apart", "model"),
        (by_ratio, "Five ratios: A→T rises", "majority : minority in training"),
    )
    for ax, (intervals, title, label) in zip(axes, panels, strict=True):
        for task, colour, marker, shift in (
            ("big_nose", "blue", "o", -0.08),
            ("young", "orange", "s", 0.08),
        ):
            of_task = intervals[task]
            places = np.arange(len(of_task))
            plots.intervals(
                places + shift,
                of_task,
                ax=ax,
                colour=colour,
                marker=marker,
                label=_TITLES[task],
            )
            ax.set_xticks(places, [_SHORT.get(name, name) for name in of_task.index])

        ax.axhline(0, color="black", linewidth=0.8)
        ax.set(title=title, xlabel=label)

    axes[0].set_ylabel("A→T")
    axes[0].legend(loc="lower left")
    return figure


def two_uncertainties(
    over_seeds: Series,
    one_run: Series,
    over_pictures: Series,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the intervals over seeds and over pictures.

    Parameters
    ----------
    over_seeds : Series of Interval
        By task and model.
    one_run, over_pictures : Series
        By task and model: the value of one run, and the half-width of its interval.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each task.
    """
    titles = {
        "young": "young: pictures matter more",
        "big_nose": "big nose: it depends on the model",
    }
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.5, 4.6), sharey=True)

    for ax, (task, title) in zip(axes, titles.items(), strict=True):
        names = over_seeds[task].index
        places = np.arange(len(names))
        plots.intervals(
            places - 0.15,
            over_seeds[task],
            ax=ax,
            marker="s",
            horizontal=True,
            label="other seeds",
        )

        value = one_run[task][names]
        reach = over_pictures[task][names]
        plots.intervals(
            places=places + 0.15,
            estimate=value,
            low=value - reach,
            high=value + reach,
            ax=ax,
            colour="vermillion",
            horizontal=True,
            label="other pictures",
        )

        ax.axvline(0, color="black", linewidth=0.8)
        ax.set(
            title=title,
            xlabel="A→T",
            yticks=places,
            yticklabels=[_SHORT[name] for name in names],
        )

    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2
    )
    return figure
