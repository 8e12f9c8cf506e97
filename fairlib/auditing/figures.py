"""Figures of an audit: its comparisons, whether probabilities hold, and what other thresholds would do."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from fairlib import plots
from fairlib.auditing.compared import Compared
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import records
from fairlib.auditing.wording import plain, short

MOST, MOST_GROUPS = (
    30,
    6,
)  # comparisons in a figure, the clearest; groups in one of probabilities, the largest


def draw_comparisons(compared: Compared) -> plt.Figure:
    """Draw the comparisons of single attributes, with the margin as a band."""
    setting = compared.questions.setting
    is_single = compared.rows["attribute"].isin(setting.columns.group)
    rows = compared.rows[is_single].dropna(subset="low")
    rows = rows[
        (rows["verdict"] != "too few") & (rows["rate"] != COST)
    ]  # whose axes, on the page, are their own
    if rows.empty:
        raise ValueError(
            "comparisons: nothing to draw, but costs perhaps; the page has those"
        )
    rows = rows.sort_values("p", kind="stable").head(MOST).sort_index()
    drawn, ax = plt.subplots(
        figsize=(plots.WIDTH, 0.9 + 0.24 * len(rows)), layout="constrained"
    )
    margin = 100 * setting.margin
    ax.axvspan(-margin, margin, color="#e8edf2", zorder=0)
    ax.axvline(0, color=plots.COLOURS["grey"], linewidth=1, zorder=1)
    for strong, colour, marker in ((True, "vermillion", "o"), (False, "black", "s")):
        places = np.flatnonzero((rows["verdict"] == "shown") == strong)
        ends = (100 * rows[name].iloc[places] for name in ("difference", "low", "high"))
        plots.intervals(
            places, *ends, ax=ax, colour=colour, marker=marker, horizontal=True
        )
    names = [_written(f"{row.group}: {short(row)}") for row in records(rows)]
    ax.set(yticks=range(len(rows)), yticklabels=names, ylim=(len(rows) - 0.5, -0.5))
    ax.set(
        xlabel="percentage points more (+) or less (−) than those compared with\nred circles: strong evidence"
    )
    return drawn


def draw_calibration(bins: pd.DataFrame | None) -> plt.Figure:
    """Draw how often the class is the label where its probability is so and so.

    Parameters
    ----------
    bins : DataFrame or None
        The bins of each group, as of `probabilities.calibration`.
    """
    return _by_attribute(bins, "probability", {"observed": "how often it is the label"})


def draw_thresholds(predicted: pd.DataFrame | None) -> plt.Figure:
    """Draw how often the class is predicted from each threshold on.

    Parameters
    ----------
    predicted : DataFrame or None
        The thresholds of each group, as of `probabilities.thresholds`.
    """
    words = {
        "predicted": "predicted",
        "hits": "true positive rate",
        "false alarms": "false positive rate",
    }
    return _by_attribute(predicted, "threshold", words)


def _by_attribute(
    found: pd.DataFrame | None, x: str, words: dict[str, str]
) -> plt.Figure:
    """Draw columns over `x`, a colour and mark per group, with axes for each attribute."""
    if found is None:
        raise ValueError(
            f"{x}: nothing to draw without a column of probabilities, or labels, or groups large enough"
        )
    columns, attributes = (
        [name for name in words if name in found],
        found.groupby("attribute", sort=False),
    )
    size = {
        "figsize": (plots.WIDTH, 2.6 * len(attributes)),
        "sharex": True,
        "sharey": True,
        "squeeze": False,
    }
    drawn, axes = plt.subplots(
        len(attributes), len(columns), layout="constrained", **size
    )
    for own, (attribute, rows) in zip(axes, attributes, strict=True):
        largest = (
            rows.groupby("group", sort=False)["n"].sum().nlargest(MOST_GROUPS).index
        )
        for group, colour, marker in zip(
            largest, plots.COLOURS, plots.MARKERS, strict=False
        ):
            mine, name = (
                rows[rows["group"] == group],
                _written(group.removeprefix(f"{attribute} = ")),
            )
            for ax, column in zip(own, columns, strict=True):
                if x == "threshold":
                    ax.plot(
                        mine[x],
                        mine[column],
                        marker,
                        ls="-",
                        markevery=15,
                        c=plots.COLOURS[colour],
                        label=name,
                    )
                else:
                    ends = (mine[name] for name in (column, "low", "high"))
                    plots.intervals(
                        mine[x], *ends, ax=ax, colour=colour, marker=marker, label=name
                    )
                    ax.axline(
                        (0, 0),
                        slope=1,
                        color=plots.COLOURS["grey"],
                        linewidth=1,
                        zorder=0,
                    )
        for ax, column in zip(own, columns, strict=True):
            ax.axis((-0.02, 1.02, -0.02, 1.02))  # so that marks at the ends are whole
            ax.set(
                xlabel=f"{x} of {_written(rows['class'].iloc[0])}", ylabel=words[column]
            )
        title = (
            attribute
            if len(largest) == rows["group"].nunique()
            else f"{attribute}: the largest"
        )
        own[-1].legend(
            title=_written(title),
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            frameon=False,
        )
    return drawn


def _written(text: str) -> str:
    """Write a name as one short line, of which nothing is a formula."""
    return plain(text.replace("$", r"\$"))[:80]
