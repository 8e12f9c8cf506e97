"""The figures of lesson 04: what a metric compares, an area, and two stories."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from fairlib import plots
from fairlib.drawings._findings import write_finding

THREE_COMPARISONS = (
    "What a metric compares, for the scores of three groups: three pairs; three "
    "distances from all examples (line); one range. Invented scores. No data are "
    "involved."
)
AREAS = (
    "Share of names with a probability of at most p, by group, for two templates of "
    "our own, three names a group. The grey area is the Wasserstein distance. Invented "
    "probabilities. No data are involved."
)
TWO_STORIES = (
    "False negative rates of the paper's RoBERTa model on positive sentences with "
    "first names, 2,000 a group, and their ratio. Totals only, so no intervals. "
    "Data: counts released by Czarnowska et al. (2021), SemEval-2."
)
_COLOURS = ("blue", "green", "vermillion")
_MARKERS = ("o", "D", "s")


def three_comparisons(
    means: Mapping[str, float], background: float, *, narrow: bool = False
) -> Figure:
    """Draw the three ways to compare the scores of three groups.

    Parameters
    ----------
    means : mapping of str to float
        The score of each group.
    background : float
        The score of all groups together.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each way.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 3), heights=(2.5, 5.6), sharex=True, sharey=True
    )
    titles = ("every pair of groups", "each group with all", "all groups at once")
    places = range(len(means))

    for panel, title in zip(axes, titles, strict=True):
        for place, (name, mean) in enumerate(means.items()):
            panel.plot(
                place,
                mean,
                _MARKERS[place],
                color=plots.COLOURS[_COLOURS[place]],
                markersize=9,
                label=name,
            )
        panel.set(title=title, xlim=(-0.6, 2.8), ylim=(0.4, 0.9))
        panel.set_xticks(places, list(means))

    points = list(enumerate(means.values()))
    for first, second in combinations(points, 2):
        _arrow(axes[0], first, second)

    axes[1].axhline(background, color="black", linewidth=1)
    plots.note("all", (2.45, background), ax=axes[1])
    for place, mean in points:
        axes[1].vlines(place, background, mean, color="black", linewidth=2.5, zorder=0)

    _arrow(axes[2], (2.5, min(means.values())), (2.5, max(means.values())), room=0)
    for panel in axes if narrow else axes[:1]:
        panel.set_ylabel("score of the group")
    write_finding(figure, "The same three scores can be compared in three ways")
    return figure


def areas(
    probabilities: Mapping[str, tuple[ArrayLike, ArrayLike]],
    groups: Sequence[str],
    distances: Mapping[str, float],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw the Wasserstein distance of two groups as an area, for each sentence.

    Parameters
    ----------
    probabilities : mapping
        For each sentence the sorted probabilities of the two groups, equally many.
    groups : sequence of str
        The names of the two groups.
    distances : mapping
        For each sentence the distance, which is the area.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each sentence.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(2.7, 4.8), sharex=True, sharey=True
    )
    for panel, (sentence, pair) in zip(axes, probabilities.items(), strict=True):
        first, second = (np.asarray(values) for values in pair)
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
        )
        for values, name, style, colour in (
            (first, groups[0], "-", "blue"),
            (second, groups[1], "--", "vermillion"),
        ):
            panel.ecdf(values, color=plots.COLOURS[colour], linestyle=style, label=name)
        panel.set(
            title=f"{sentence}\ngrey area: {distances[sentence]:.2f}",
            xlim=(0.3, 1.0),
            ylim=(0, 1.04),
        )

    for panel in axes if narrow else axes[:1]:
        panel.set_ylabel("share of names\nat or below p")
    axes[-1].set_xlabel("probability p of the positive class")
    if not narrow:
        axes[0].set_xlabel("probability p of the positive class")
    axes[0].legend(loc="upper left")
    write_finding(figure, "The distance of two groups is the area between their steps")
    return figure


def two_stories(
    rates: Mapping[str, float], ratio: float, *, narrow: bool = False
) -> Figure:
    """Draw two error rates on the scale of all sentences, and their ratio.

    Parameters
    ----------
    rates : mapping of str to float
        The share of missed sentences of the two groups.
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
        title="the difference",
        xlabel="positive sentences missed, in % of 2,000",
        xlim=(0, 100),
    )
    axes[0].invert_yaxis()

    axes[1].barh([f"{first} /\n{second}"], [ratio], color="black", height=0.35)
    axes[1].axvline(1, color=plots.COLOURS["grey"], linestyle="--", linewidth=1)
    plots.note(f"{ratio:.0f} times", (ratio, 0), offset=(4, -3), ax=axes[1])
    axes[1].set(
        title="the ratio",
        xlabel="FNR of the first over FNR of the second",
        xlim=(0, 5.2),
        ylim=(-0.8, 0.8),
    )
    for panel in axes:
        panel.tick_params(axis="y", length=0)
    write_finding(
        figure, "The same ten misses: a difference of 0.3 points, or a ratio of 4"
    )
    return figure


def _arrow(
    panel: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    room: float = 6,
) -> None:
    """Draw an arrow with two heads, which leaves room at both ends for marks."""
    style = {"arrowstyle": "<->", "color": "black", "shrinkA": room, "shrinkB": room}
    panel.annotate("", start, end, arrowprops=style)
