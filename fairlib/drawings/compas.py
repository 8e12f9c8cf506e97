"""The drawings of lesson 11: a gap between groups, and two metrics by threshold."""

from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

GAPS = (
    "Share of each group that was charged again within two years, and share that is "
    "called high risk because the score is above 4. The arrows show the gaps between "
    "the groups. Data: COMPAS, filtered file of ProPublica; 3,175 African-American and "
    "2,103 Caucasian people."
)
THRESHOLDS = (
    "Difference between the groups in the false positive rate (squares) and A→T "
    "(circles) by threshold. Bars: 95 % intervals, each for its own threshold. Data: "
    "COMPAS, filtered file of ProPublica, 5,278 people of two groups."
)

_COLOURS = {"African-American": "vermillion", "Caucasian": "blue"}
_MARKERS = {"African-American": "s", "Caucasian": "o"}


def gaps(rates: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how the gap between groups grows from outcomes to predictions.

    Parameters
    ----------
    rates : DataFrame
        Columns "charged again" and "called high risk"; a row for each group, the one
        with the larger shares first.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (ax,) = plots.page(narrow, heights=(2.9, 3.2))
    columns = ["charged again", "called high risk"]

    for group, row in rates.iterrows():
        colour = plots.COLOURS[_COLOURS[str(group)]]
        shares = [row[column] for column in columns]
        marker = _MARKERS[str(group)]
        ax.plot([0, 1], shares, marker=marker, color=colour, label=str(group))

    upper, lower = (rates.iloc[place] for place in (0, 1))
    for place, column in enumerate(columns):
        ends = (upper[column], lower[column])
        ax.annotate(
            "",
            (place, ends[0]),
            (place, ends[1]),
            arrowprops={"arrowstyle": "<->", "color": "black", "shrinkA": 4},
        )
        middle = (ends[0] + ends[1]) / 2
        points = f"{100 * (ends[0] - ends[1]):.0f} points"
        if place == 0:
            ax.text(place - 0.04, middle, points, ha="right", va="center")
        else:
            ax.text(place + 0.04, middle, points, ha="left", va="center")
    ax.set(
        title="The gap grows from 13 to 25 points",
        xticks=[0, 1],
        xticklabels=columns,
        xlim=(-0.5, 1.5),
        ylabel="share of the group",
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def thresholds(by_threshold: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw two metrics by threshold, on one axis.

    Parameters
    ----------
    by_threshold : DataFrame of Interval
        Columns "FPR difference" and "A→T"; the index is the threshold.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.4))
    looks = {"FPR difference": ("black", "s", -0.08), "A→T": ("blue", "o", 0.08)}

    for name, (colour, marker, shift) in looks.items():
        plots.intervals(
            by_threshold.index + shift,
            by_threshold[name],
            ax=ax,
            colour=colour,
            marker=marker,
            label=name,
        )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        title="A→T is near zero where error rates still differ",
        xlabel='threshold: "high risk" is a score above it',
        ylabel="difference, or A→T",
        xticks=list(by_threshold.index),
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure
