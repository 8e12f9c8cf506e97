"""The figures of lesson 04: a distance as an area, and two stories."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fairlib import plots
from fairlib.drawings._findings import write_finding

AREAS = (
    "Share of names with a probability of at most p, for three female and three male "
    "names in one sentence. The grey area is the Wasserstein distance. The miss-rate "
    "gap is the height between the staircases at one half (thick black line). "
    "Invented probabilities. No data are involved."
)
TWO_STORIES = (
    "Miss rates of the paper's RoBERTa model on positive sentences with first names, "
    "2,000 a group, and their ratio. Drawn as two headlines would tell it, without "
    "intervals. The lesson computes the interval of the ratio. "
    "Data: counts released by Czarnowska et al. (2021), SemEval-2."
)


def areas(
    probabilities: Mapping[str, tuple[ArrayLike, ArrayLike]],
    groups: Sequence[str],
    distances: Mapping[str, float],
    *,
    threshold: float,
    narrow: bool = False,
) -> Figure:
    """Draw the Wasserstein distance of two groups as an area, for each case.

    Parameters
    ----------
    probabilities : mapping
        For each case the probabilities of the two groups, equally many.
    groups : sequence of str
        The names of the two groups.
    distances : mapping
        For each case the distance, which is the area.
    threshold : float
        The probability above which a sentence is predicted to be positive.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each case.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.7, 4.8), sharex=True, sharey=True
    )
    for panel, (case, pair) in zip(axes, probabilities.items(), strict=True):
        first, second = (np.sort(values) for values in pair)
        steps = np.arange(len(first)) / len(first)

        # One bar for each pair of values: as long as their distance.
        panel.barh(
            steps,
            width=second - first,
            left=first,
            height=1 / len(first),
            align="edge",
            color=plots.COLOURS["grey"],
            alpha=0.5,
            linewidth=0,
        )
        for values, name, style, colour in (
            (first, groups[0], "-", "blue"),
            (second, groups[1], "--", "vermillion"),
        ):
            # The ends of the axis are added, so that the line also runs along 0 and 1.
            panel.step(
                [0, *values, 1],
                [0, *(steps + steps[1]), 1],
                where="post",
                color=plots.COLOURS[colour],
                linestyle=style,
                label=name,
            )
        panel.axvline(threshold, color="black", linestyle=":", linewidth=1)
        plots.note(f"p = {threshold}", (threshold, 0.85), ax=panel, offset=(4, 0))
        ends = [
            np.searchsorted(values, threshold, side="right") / len(values)
            for values in (first, second)
        ]
        panel.plot([threshold] * 2, ends, color="black", linewidth=2.5)
        plots.note("gap", (threshold, 0.14), ax=panel, offset=(5, 0))
        panel.set(
            title=f"{case}\ngrey area: {distances[case]:.2f}",
            xlim=(0, 1),
            ylim=(-0.04, 1.04),
        )

    for panel in axes if narrow else axes[:1]:
        panel.set_ylabel("share of names\nat or below p")
        panel.tick_params(axis="x", labelbottom=True)
    for panel in axes[-1:] if narrow else axes:
        panel.set_xlabel("probability p of positive")
    axes[0].legend(loc="upper left")
    write_finding(
        figure,
        "Linda falls from 0.4 to 0.1: the distance grows, the miss-rate gap stays",
    )
    return figure


def two_stories(
    rates: Mapping[str, float], gap: float, ratio: float, *, narrow: bool = False
) -> Figure:
    """Draw two error rates on the scale of all sentences, and their ratio.

    Parameters
    ----------
    rates : mapping of str to float
        The share of missed sentences of the two groups.
    gap : float
        The first rate minus the second.
    ratio : float
        The first rate over the second.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Two panels: the rates, and the ratio.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.2, 3.8))
    percent = {name: 100 * rate for name, rate in rates.items()}
    (first, higher), (second, lower) = percent.items()
    colours = [plots.COLOURS["blue"], plots.COLOURS["vermillion"]]

    axes[0].barh([first, second], [higher, lower], color=colours, height=0.6)
    for place, value in enumerate((higher, lower)):
        # On this scale the bars are too short to be seen, so a mark ends them.
        axes[0].plot(value, place, "o", color=colours[place], clip_on=False)
        plots.note(f"{value:.1f} %", (value, place), offset=(8, -3), ax=axes[0])
    axes[0].set(
        title=f"the gap: {100 * gap:.1f} points",
        xlabel="positive sentences missed, in % of 2,000",
        xlim=(0, 100),
    )
    axes[0].invert_yaxis()

    axes[1].barh([f"{first} /\n{second}"], [ratio], color="black", height=0.35)
    axes[1].axvline(1, color="black", linestyle=":", linewidth=1)
    plots.note("equal miss rates", (1, 0.4), ax=axes[1])
    plots.note(f"{ratio:.0f} times", (ratio, 0), offset=(4, -3), ax=axes[1])
    axes[1].set(
        title=f"the ratio: {ratio:.0f}",
        xlabel=f"{first} miss rate / {second} miss rate",
        xlim=(0, 5.2),
        ylim=(-0.8, 0.8),
    )
    for panel in axes:
        panel.tick_params(axis="y", length=0)
    write_finding(figure, "The same ten misses: a gap of 0.3 points, or a ratio of 4")
    return figure
