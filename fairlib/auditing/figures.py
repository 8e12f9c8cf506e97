"""Figures of an audit: comparisons, calibration, and what other thresholds would do."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.auditing.compared import Compared
from fairlib.auditing.rates import COST
from fairlib.auditing.rows import records
from fairlib.auditing.wording import plain, short

MOST_COMPARISONS = 30  # in a figure: the clearest
CHARACTERS_OF_A_LINE = 42  # of a name in a figure of comparisons
MOST_GROUPS = 6  # in a figure of probabilities: the largest
AXIS_LABEL = (
    "{unit} more (+) or less (−) than those compared with\nred circles: strong evidence"
)


def draw_comparisons(compared: Compared) -> plt.Figure:
    """Draw the comparisons of single attributes, with the margin as a band.

    Costs are drawn in their own units, if there is nothing else to draw.
    """
    rows = _clearest(compared)
    setting = compared.questions.setting
    if (rows["rate"] == COST).all():
        scale = 1.0
        margin = setting.cost_margin or 0.0
        unit = f"units of ‘{_written(setting.columns.cost or COST)}’"
    else:
        scale = 100.0
        margin = setting.margin
        unit = "percentage points"

    # Long names take several lines; none is cut.
    names = [
        textwrap.fill(_written(f"{row.group}: {short(row)}"), CHARACTERS_OF_A_LINE)
        for row in records(rows)
    ]
    lines = np.array([1 + name.count("\n") for name in names])
    place = lines.cumsum() - lines / 2
    figure, ax = plt.subplots(
        figsize=(plots.WIDTH, 1.2 + 0.24 * lines.sum()), layout="constrained"
    )
    ax.axvspan(-scale * margin, scale * margin, color="#e8edf2", zorder=0)
    ax.axvline(0, color=plots.COLOURS["grey"], linewidth=1, zorder=1)

    is_shown = rows["verdict"] == "shown"
    for among, colour, marker in (
        (is_shown, "vermillion", "o"),
        (~is_shown, "black", "s"),
    ):
        plots.intervals(
            place[among],
            scale * rows["difference"][among],
            scale * rows["low"][among],
            high=scale * rows["high"][among],
            ax=ax,
            colour=colour,
            marker=marker,
            horizontal=True,
        )

    # The whole margin is in view, also where matplotlib does not count a band.
    left, right = ax.get_xlim()
    edge = 1.05 * scale * margin
    ax.set_xlim(min(left, -edge), max(right, edge))
    ax.set(yticks=place, yticklabels=names, ylim=(lines.sum(), 0))
    # Centred below the whole figure, so that long names leave them room.
    figure.supxlabel(AXIS_LABEL.format(unit=unit), fontsize="medium")
    figure.suptitle(_how_many(compared, len(rows)), fontsize="medium")
    return figure


def _how_many(compared: Compared, drawn: int) -> str:
    """Say how many of how many comparisons a figure shows."""
    number = len(compared.rows)
    if drawn == number:
        return f"all {number:,} comparisons" if number > 1 else "the one comparison"
    return f"{drawn:,} of {number:,} comparisons, the clearest of single attributes"


def _clearest(compared: Compared) -> DataFrame:
    """Return the comparisons with the smallest p-values, in their own order."""
    rows = compared.rows
    is_single = rows["attribute"].isin(compared.questions.setting.columns.group)
    drawn = rows[is_single & (rows["verdict"] != "too few")].dropna(subset="low")
    if drawn.empty:
        raise ValueError(
            "comparisons: there is nothing to draw, because no comparison has an "
            "interval"
        )

    # Costs and rates have no common axis; beside rates, costs are on the page alone.
    is_cost = drawn["rate"] == COST
    if not is_cost.all():
        drawn = drawn[~is_cost]
    return drawn.sort_values("p", kind="stable").head(MOST_COMPARISONS).sort_index()


def draw_calibration(bins: DataFrame | None) -> plt.Figure:
    """Draw how often the class is the label where its probability is so and so.

    Parameters
    ----------
    bins : DataFrame or None
        The bins of each group, as of `probabilities.calibration`.
    """
    return _by_attribute(bins, "probability", {"observed": "how often it is the label"})


def draw_thresholds(predicted: DataFrame | None) -> plt.Figure:
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


def _by_attribute(table: DataFrame | None, x: str, words: dict[str, str]) -> plt.Figure:
    """Draw columns over `x`, with axes for each attribute and a colour per group."""
    if table is None:
        raise ValueError(
            f"{x}: nothing to draw without a column of probabilities, or labels, "
            "or groups large enough"
        )

    columns = [name for name in words if name in table]
    attributes = table.groupby("attribute", sort=False)
    figure, axes = plt.subplots(
        len(attributes),
        len(columns),
        layout="constrained",
        figsize=(plots.WIDTH, 2.6 * len(attributes)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )

    for axes_of_attribute, (attribute, rows) in zip(axes, attributes, strict=True):
        sizes = rows.groupby("group", sort=False)["n"].sum()
        largest = sizes.nlargest(MOST_GROUPS).index
        title = attribute
        if len(largest) < len(sizes):
            title = f"{attribute}: the largest"

        styles = zip(largest, plots.COLOURS, plots.MARKERS, strict=False)
        for group, colour, marker in styles:
            of_group = rows[rows["group"] == group]
            name = _written(group.removeprefix(f"{attribute} = "))
            style = {"colour": colour, "marker": marker, "label": name}
            for ax, column in zip(axes_of_attribute, columns, strict=True):
                if x == "threshold":
                    _draw_line(ax, of_group[x], of_group[column], **style)
                else:
                    _draw_bins(
                        ax, of_group[x], of_group[[column, "low", "high"]], **style
                    )

        class_name = _written(rows["class"].iloc[0])
        for ax, column in zip(axes_of_attribute, columns, strict=True):
            ax.axis((-0.02, 1.02, -0.02, 1.02))  # marks at the ends are whole
            ax.set(xlabel=f"{x} of {class_name}", ylabel=words[column])
        axes_of_attribute[-1].legend(
            title=_written(title),
            loc="center left",
            bbox_to_anchor=(1, 0.5),
            frameon=False,
        )
    return figure


def _draw_line(
    ax: plt.Axes, x: Series, y: Series, *, colour: str, marker: str, label: str
) -> None:
    """Draw what each threshold does to a group."""
    ax.plot(x, y, marker, ls="-", markevery=15, c=plots.COLOURS[colour], label=label)


def _draw_bins(
    ax: plt.Axes,
    x: Series,
    ends: DataFrame,
    *,
    colour: str,
    marker: str,
    label: str,
) -> None:
    """Draw the bins of a group, and the line on which probabilities hold."""
    estimate, low, high = (ends[name] for name in ends)
    plots.intervals(
        x, estimate, low, high=high, ax=ax, colour=colour, marker=marker, label=label
    )
    ax.axline((0, 0), slope=1, color=plots.COLOURS["grey"], linewidth=1, zorder=0)


def _written(text: str) -> str:
    """Write a name as one line, of which nothing is a formula."""
    return plain(text.replace("$", r"\$"))
