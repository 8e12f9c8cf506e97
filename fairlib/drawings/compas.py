"""The drawings of lesson 11: gaps between groups, and two metrics by threshold."""

from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

GAPS = (
    "At the threshold 4. Left: shares of each group that were charged again, and that "
    "are called high risk. Right: false positive rates (intervals follow in the next "
    "figure). Data: COMPAS, filtered file of ProPublica; 3,175 African-American and "
    "2,103 Caucasian people."
)
THRESHOLDS = (
    "Difference in false positive rates, and A→T, by threshold, with 95 % intervals. "
    "The panels show the same numbers; on the left A→T has an axis of its own, as in "
    "Figure 6 of Wang and Russakovsky (2021). Data: COMPAS, the filtered file of "
    "ProPublica, 5,278 people of two groups."
)

_COLOURS = {"African-American": "vermillion", "Caucasian": "blue"}
_MARKERS = {"African-American": "s", "Caucasian": "o"}


def gaps(
    rates: DataFrame, false_positive_rate: Series, *, narrow: bool = False
) -> Figure:
    """Draw how the gap between groups grows from outcomes to predictions.

    Parameters
    ----------
    rates : DataFrame
        Columns `two_year_recid` and `high`; a row for each group.
    false_positive_rate : Series
        Of each group.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Two panels.
    """
    figure, (left, right) = plots.page(narrow, panels=(1, 2), heights=(2.8, 5.0))

    for group, row in rates.iterrows():
        colour = plots.COLOURS[_COLOURS[str(group)]]
        shares = [row["two_year_recid"], row["high"]]
        left.plot([0, 1], shares, marker=_MARKERS[str(group)], color=colour)
        left.text(1.08, row["high"], str(group), va="center")
        for place, share in enumerate(shares):
            left.text(place, share + 0.02, f"{share:.0%}", ha="center")
    left.set(
        title="The gap grows from 13 to 25 points",
        xticks=[0, 1],
        xticklabels=["charged again", "called high risk"],
        xlim=(-0.3, 1.85),
        ylim=(0.25, 0.68),
        ylabel="share of the group",
    )

    names = list(false_positive_rate.index)
    bars = right.bar(
        [name.replace("-", "-\n") for name in names],
        false_positive_rate,
        color=[plots.COLOURS[_COLOURS[name]] for name in names],
        width=0.5,
    )
    right.bar_label(bars, [f"{rate:.0%}" for rate in false_positive_rate], padding=2)
    right.set(
        title="Not charged again, and called high risk",
        ylabel="false positive rate",
        ylim=(0, 0.5),
    )
    return figure


def thresholds(by_threshold: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw two metrics by threshold, on two axes and on one.

    Parameters
    ----------
    by_threshold : DataFrame of Interval
        Columns "FPR difference" and "A→T"; the index is the threshold.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        Two panels.
    """
    figure, (left, right) = plots.page(narrow, panels=(1, 2), heights=(3.0, 5.4))
    second = left.twinx()
    second.spines["right"].set_visible(True)
    second.tick_params(axis="y", colors=plots.COLOURS["blue"])
    looks = {
        "FPR difference": ("black", "s", left),
        "A→T": ("blue", "o", second),
    }

    for name, (colour, marker, own_axes) in looks.items():
        for ax in (own_axes, right):
            plots.intervals(
                by_threshold.index,
                by_threshold[name],
                ax=ax,
                colour=colour,
                marker=marker,
                label=name,
            )

    left.set(title="Two axes: both move", xlabel="threshold")
    right.set(title="One axis: A→T moves less", xlabel="threshold")
    right.axhline(0, color="black", linewidth=0.8)
    for ax in (left, right):
        ax.set_xticks(range(0, 11, 2))
    figure.legend(
        *right.get_legend_handles_labels(), loc="outside upper center", ncols=2
    )
    return figure
