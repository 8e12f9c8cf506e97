"""The drawings of lesson 11: two metrics by threshold, and two ROC curves."""

from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

THRESHOLDS = (
    "Difference between the groups in the false positive rate (squares), and growth of "
    "the gap between the groups from outcomes to predictions (circles), which is twice "
    "A→T. Bars: intervals that hold together for all eighteen numbers (95 %). Shaded: "
    "from the vendor's lower threshold, 4, to its upper threshold, 7. Data: COMPAS, "
    "filtered file of ProPublica. A→T is about all 3,175 African-American and 2,103 "
    "Caucasian people, the false positive rates about the 1,514 and 1,281 of them who "
    "were not charged again."
)
ROC = (
    "ROC curves of the COMPAS score for African-American (squares) and Caucasian "
    "people (circles). Marks: the thresholds from 9, at the lower left, to 1. Ring: "
    "the thresholds 6 and 4, which are almost the same point. True positive rate: the "
    "share called high risk, of 1,661 and 822 people who were charged again. False "
    "positive rate: the same share, of 1,514 and 1,281 people who were not. Dashed: "
    "what scores drawn by lot would give. Data: COMPAS, filtered file of ProPublica."
)

_COLOURS = {"African-American": "vermillion", "Caucasian": "blue"}
_MARKERS = {"African-American": "s", "Caucasian": "o"}
_LABELLED = {"African-American": (4, 6), "Caucasian": (4,)}


def thresholds(by_threshold: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw how much false positive rates differ, and how much the gap grows.

    The gap between the groups grows by twice A→T.

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
    # In points; the gap grows by twice A→T.
    looks = {
        "FPR difference": ("FPR difference", 100, "black", "s", -0.08),
        "A→T": ("growth of the gap (2 × A→T)", 200, "green", "o", 0.08),
    }

    for name, (label, factor, colour, marker, shift) in looks.items():
        column = by_threshold[name]
        plots.intervals(
            by_threshold.index + shift,
            estimate=[factor * interval.estimate for interval in column],
            low=[factor * interval.low for interval in column],
            high=[factor * interval.high for interval in column],
            ax=ax,
            colour=colour,
            marker=marker,
            label=label,
        )
    ax.axhline(0, color="black", linewidth=0.8)
    ax.axvspan(3.5, 7.5, color="0.92", zorder=0)
    title = (
        "At the threshold 8, no growth is shown,",
        "but false positive rates differ",
    )
    ax.set(
        title=("\n" if narrow else " ").join(title),
        xlabel='threshold: "high risk" is a score above it',
        ylabel="percentage points",
        xticks=list(by_threshold.index),
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def roc(curves: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw a ROC curve for each of two groups.

    Parameters
    ----------
    curves : DataFrame
        A column for each threshold from 0 to 10. For each group two rows, "false
        positive rate" and "true positive rate"; the group is the outer index.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (ax,) = plots.page(narrow, heights=(4.0, 4.1))
    # Labels of the first group are above its curve, and those of the second below.
    places = {"African-American": (-11, 6, "right"), "Caucasian": (12, -12, "left")}

    ax.axline((0, 0), (1, 1), color="0.5", linestyle="--", linewidth=1)
    for group, (right, up, side) in places.items():
        colour = plots.COLOURS[_COLOURS[group]]
        false_positives = curves.loc[(group, "false positive rate")]
        true_positives = curves.loc[(group, "true positive rate")]
        # Hollow squares stay visible where a circle lies in them.
        size, filling = (8.5, "white") if group == "African-American" else (3.5, colour)
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
        for threshold in _LABELLED[group]:
            ax.annotate(
                str(threshold),
                (false_positives[threshold], true_positives[threshold]),
                (right, up),
                textcoords="offset points",
                ha=side,
                color=colour,
                fontweight="bold",
            )
    # The pair of thresholds with nearly equal errors: squares 6, circles 4.
    ringed = curves[6].loc["African-American"]
    ax.plot(
        ringed["false positive rate"],
        ringed["true positive rate"],
        marker="o",
        markersize=18,
        markerfacecolor="none",
        markeredgecolor="black",
    )
    key = "numbers: thresholds, for squares\nabove the curves, for circles below"
    key += "\nring: square 6 and circle 4"
    ax.text(0.98, 0.05, key, ha="right")
    title = (
        "The curves lie close together, but a threshold",
        "lies further up and to the right for one group",
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
