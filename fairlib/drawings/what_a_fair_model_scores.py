"""The figures of lesson 05: what chance alone gives to a metric."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DISTANCES = (
    "Share of missed positive sentences by group, for one simulated model that treats "
    "all groups alike; 150 sentences a group. Computed by simulation."
)
BY_NUMBER_OF_GROUPS = (
    "Metrics of simulated models that treat all groups alike, five words a group. "
    "Marks: mean of 25 models; bars: 5 % to 95 % of them. Computed by simulation."
)
ROC = (
    "Positive sentences with 100 female and 100 male names in 20 templates, one seed. "
    "Left: ROC curve, and 50 exchanges of names. Right: AvgEG after 999 exchanges. "
    "Data: outputs of a model trained here, on the paper's released suite."
)
REAL_AND_EXCHANGED = (
    "FNED and FNED* for the positive class, two classes, mean of three seeds; in "
    "brackets: number of groups. Grey: mean after 9,999 exchanges of terms between "
    "groups. Data: outputs of a model trained here, on the paper's released suites."
)
_LOOKS = {
    "FNED": ("vermillion", "o"),
    "TPRGap": ("blue", "s"),
    "FNED*": ("black", "^"),
}


def distances(
    rates: Series, overall: float, total: float, *, narrow: bool = False
) -> Figure:
    """Draw the distance of each group's miss rate from that of all.

    Parameters
    ----------
    rates : Series
        The share of missed examples of each group.
    overall : float
        The share of missed examples of all groups together.
    total : float
        The sum of the distances, which is FNED.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One mark and one bar for each group.
    """
    figure, (panel,) = plots.page(narrow, heights=(2.3, 2.6))
    panel.vlines(
        rates.index, overall, rates, color=plots.COLOURS["vermillion"], linewidth=3
    )
    panel.plot(rates.index, rates, "o", color="black")

    panel.axhline(overall, color="black", linewidth=1)
    plots.note("all", (rates.index[-1] + 0.4, overall), offset=(2, 2), ax=panel)
    panel.set(
        xlabel="group",
        ylabel="share missed",
        xticks=rates.index,
        xlim=(rates.index[0] - 0.6, rates.index[-1] + 1.1),
        ylim=(0, None),
    )

    write_finding(
        figure,
        f"Twelve groups treated alike: the bars add up to an FNED of {total:.2f}",
    )
    return figure


def by_number_of_groups(
    tables: Mapping[str, DataFrame], *, narrow: bool = False
) -> Figure:
    """Draw what fair models score, by the number of groups.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        For each metric the mean and the two ends of the bars, by number of groups.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One series for each metric.
    """
    figure, (panel,) = plots.page(narrow, heights=(2.7, 3.2))
    for number, (name, table) in enumerate(tables.items()):
        colour, marker = _LOOKS[name]
        plots.intervals(
            [groups + 0.25 * (number - 1) for groups in table.index],
            table.iloc[:, 0],
            low=table.iloc[:, 1],
            high=table.iloc[:, 2],
            colour=colour,
            marker=marker,
            label=name,
            ax=panel,
        )

    panel.set(
        xlabel="number of groups",
        ylabel="value for a fair model",
        xticks=next(iter(tables.values())).index,
        ylim=(0, None),
    )
    panel.legend(loc="upper left")

    write_finding(
        figure, "FNED of a fair model grows with the number of groups; FNED* does not"
    )
    return figure


def roc(
    curves: tuple[NDArray, NDArray],
    exchanged: tuple[NDArray, NDArray],
    gaps: NDArray,
    *,
    narrow: bool = False,
) -> Figure:
    """Draw a ROC curve among those of worlds in which names were exchanged.

    Parameters
    ----------
    curves : (ndarray, ndarray)
        Shares of the others' and of the group's sentences above each threshold.
    exchanged : (ndarray, ndarray)
        The same for some of the drawn worlds, one row per world.
    gaps : ndarray
        The Average Equality Gap, first as it is and then in each drawn world.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        The curves, and a histogram of the gaps.
    """
    figure, (left, right) = plots.page(narrow, panels=(1, 2), heights=(3.4, 5.6))
    for others, group in zip(*exchanged, strict=True):
        left.plot(others, group, color=plots.COLOURS["grey"], linewidth=0.5)
    left.plot([], [], color=plots.COLOURS["grey"], label="names exchanged")
    left.plot(*curves, color=plots.COLOURS["vermillion"], linewidth=2, label="as it is")
    left.set(
        xlabel="male names: share above the threshold",
        ylabel="female names:\nshare above the threshold",
        aspect="equal",
    )
    left.legend(loc="lower right")

    right.hist(gaps[1:], bins=30, color=plots.COLOURS["grey"])
    right.axvline(gaps[0], color=plots.COLOURS["vermillion"], linewidth=2)
    plots.note(
        f"as it is: {gaps[0]:.3f}",
        (gaps[0], 0.5 * right.get_ylim()[1]),
        offset=(-4, 0),
        ax=right,
        horizontalalignment="right",
    )
    right.set(xlabel="AvgEG: area under the curve minus 1/2", ylabel="worlds of 999")
    write_finding(
        figure, "Female names are ranked higher than after any exchange of names"
    )
    return figure


def real_and_exchanged(table: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw FNED and FNED* of a real model beside what an exchange of terms gives.

    Parameters
    ----------
    table : DataFrame
        One row per attribute, with columns FNED, FNED*, null (of FNED*) and p.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each of the two metrics.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.9, 5.2))
    names = [
        f"{name} ({count})"
        for name, count in zip(table.index, table["groups"], strict=True)
    ]
    left, right = axes
    left.barh(names, table["FNED"], color=plots.COLOURS["sky"], height=0.6)
    left.set(title="FNED:\nsum over groups", xlim=(0, 1.05))

    right.barh(
        names,
        table["null"],
        color=plots.COLOURS["grey"],
        height=0.6,
        alpha=0.6,
    )
    right.plot(
        table["FNED*"],
        names,
        "D",
        color=plots.COLOURS["blue"],
        clip_on=False,
    )
    for place, (value, p) in enumerate(
        zip(table[["FNED*", "null"]].max(axis=1), table["p"], strict=True)
    ):
        plots.note(f"p = {p:.4f}", (value, place), offset=(7, -3), ax=right)
    right.set(
        title="FNED*: mean over groups\n(grey: after exchanges of terms)",
        xlim=(0, 0.115),
    )
    if not narrow:
        right.set_yticklabels([])
    for panel in axes:
        panel.invert_yaxis()
        panel.tick_params(axis="y", length=0)
    write_finding(
        figure,
        "Disability has the largest FNED, but no more than exchanged terms would give",
    )
    return figure
