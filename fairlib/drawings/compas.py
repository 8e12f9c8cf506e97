"""The drawings of lesson 11: a gap, two metrics by threshold, and two ROC curves."""

from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

GAPS = (
    "Share of each group in the file that was charged again within two years, and "
    "share that is called high risk because the score is above 4. The arrows show the "
    "gaps between the groups. Data: COMPAS, filtered file of ProPublica; 3,175 "
    "African-American and 2,103 Caucasian people."
)
THRESHOLDS = (
    "Difference between the groups in the false positive rate (squares), and A→T "
    "(circles), which is half of what the gap grows by, from outcomes to predictions. "
    "Bars: 95 % intervals, each for its own threshold. Shaded: from the vendor's lower "
    "threshold, 4, to its upper threshold, 7. Data: COMPAS, filtered file of "
    "ProPublica, 5,278 people of two groups."
)
ROC = (
    "ROC curves of the COMPAS score for African-American (squares) and Caucasian "
    "people (circles). Marks: the thresholds from 1 to 9. Ring: the thresholds 7 and "
    "5, which are almost the same point. True positive rate: the share called high "
    "risk, of 1,661 and 822 people who were charged again. False positive rate: the "
    "same share, of 1,514 and 1,281 people who were not. Dashed: what scores drawn by "
    "lot would give. Data: COMPAS, filtered file of ProPublica."
)

_COLOURS = {"African-American": "vermillion", "Caucasian": "blue"}
_MARKERS = {"African-American": "s", "Caucasian": "o"}
_LABELLED = (2, 4, 5, 7)


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
    title = "At the threshold 4, the gap grows", "from 13 to 25 points"
    ax.set(
        title=("\n" if narrow else " ").join(title),
        xticks=[0, 1],
        xticklabels=columns,
        xlim=(-0.5, 1.5),
        ylim=(0, 0.65),
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
    looks = {"FPR difference": ("black", "s", -0.08), "A→T": ("green", "o", 0.08)}

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
    ax.axvspan(3.5, 7.5, color="0.92", zorder=0)
    title = "At the threshold 8, A→T may be zero,", "but false positive rates differ"
    ax.set(
        title=("\n" if narrow else " ").join(title),
        xlabel='threshold: "high risk" is a score above it',
        ylabel="difference, or A→T",
        xticks=list(by_threshold.index),
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def roc(curves: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw a ROC curve for each of two groups.

    Parameters
    ----------
    curves : DataFrame
        A row for each threshold from 0 to 10. For each group two columns, named like
        "Caucasian: false positive rate" and "Caucasian: true positive rate".
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (ax,) = plots.page(narrow, heights=(4.0, 4.1))
    # Labels of the first group are above its curve, and those of the second below.
    places = {"African-American": (-9, 5, "right"), "Caucasian": (10, -11, "left")}

    ax.axline((0, 0), (1, 1), color="0.5", linestyle="--", linewidth=1)
    for group, (right, up, side) in places.items():
        colour = plots.COLOURS[_COLOURS[group]]
        false_positives = curves[f"{group}: false positive rate"]
        true_positives = curves[f"{group}: true positive rate"]
        # Hollow squares stay visible where a circle lies in them.
        size, filling = (7, "white") if group == "African-American" else (4, colour)
        ax.plot(
            false_positives,
            true_positives,
            marker=_MARKERS[group],
            markersize=size,
            markerfacecolor=filling,
            markevery=slice(1, -1),  # all are high risk at 0, and nobody is at 10
            color=colour,
            clip_on=False,
            label=group,
        )
        for threshold in _LABELLED:
            ax.annotate(
                str(threshold),
                (false_positives[threshold], true_positives[threshold]),
                (right, up),
                textcoords="offset points",
                ha=side,
                color=colour,
                fontweight="bold",
            )
    # The pair of thresholds with nearly equal errors: squares 7, circles 5.
    pair = curves.loc[7]
    ax.plot(
        pair["African-American: false positive rate"],
        pair["African-American: true positive rate"],
        marker="o",
        markersize=14,
        markerfacecolor="none",
        markeredgecolor="black",
    )
    key = "numbers: thresholds, for squares\nabove the curves, for circles below"
    key += "\nring: square 7 and circle 5"
    ax.text(0.98, 0.05, key, ha="right")
    title = (
        "The curves lie close together, but a threshold",
        "lies further up for one group",
    )
    ax.set(
        title=("\n" if narrow else " ").join(title),
        xlabel="false positive rate",
        ylabel="true positive rate",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure
