"""The figures of lesson 06: an exchange of terms, and the heatmaps of sentiment."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._cells import frame, frame_style, shorten_numbers
from fairlib.drawings._findings import write_finding

EXCHANGE = (
    "A template written for this project, filled with seven identity terms, and the "
    "groups of the terms after one exchange. Invented example. No data are involved."
)
DRAWS = (
    "Histogram: difference between the mean probabilities of 'positive' for female and "
    "for male names, after 10,000 exchanges of names. Lines: the real difference, and "
    "as far on the other side. Curves: p after m draws, for ten people. Word counts "
    "with logistic regression, 100 names a group, 60 templates, three classes. Data: a "
    "model trained here on tweets; its outputs for the paper's released suite."
)
HEATMAP = (
    "Metrics for the positive class, mean of three seeds (Pert...: all classes). "
    "Shade: value over the largest of its row in both tasks. Solid frame: yes, more "
    "than exchanged terms give (9,999 exchanges, 128 tests; on average at most 5 % of "
    "such answers are false). Dashed frame: undecided. n: 40 (SemEval-2) or 60 "
    "templates, 11 to 200 terms. Data: a model trained here on tweets; its outputs for "
    "the paper's released suites."
)
NAMED_TEST = (
    "Average Group Fairness, mean of three seeds. Grey: 90 % of what exchanges of "
    "terms give. Beside each mark: the answer, as in the first row of the heatmaps. On "
    "the right: the smallest effect, a rise of the mean probability that a single test "
    "at 5 % finds in 80 % of worlds. n: 40 (SemEval-2) or 60 templates, 11 to 200 "
    "terms. Data: a model trained here on tweets; its outputs for the paper's released "
    "suites."
)
# The rows of the heatmaps.
BLOCKS = {
    "tested": [
        "AvgGF",
        "AvgGF (TC)",
        "TPRGap",
        "TNRGap",
        "FPED*",
        "FNED*",
        "ParityGap",
        "DisparityScore*",
    ],
    "not tested": [
        "CFGap",
        "CFGap (TC)",
        "AvgIF",
        "AvgIF (TC)",
        "PertSS",
        "PertSD",
        "PertSR",
    ],
    "as first defined": ["FPED", "FNED", "DisparityScore"],
}
_SHORT = {
    "Gender (names)": "names",
    "Sexual Orientation": "orientation",
}


def exchange(
    template: str,
    terms: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw a filled template, and which group each term counts for.

    Parameters
    ----------
    template : str
        The sentence with its slot.
    terms : sequence of str
        The terms that fill the slot.
    groups : mapping of str to sequence of str
        For each world its title and the group of each term.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        Terms on the left, and their groups in both worlds.
    """
    figure, (panel,) = plots.page(narrow, heights=(2.6, 3.0))
    names = sorted({name for world in groups.values() for name in world})
    colours = dict(zip(names, plots.COLOURS.values(), strict=False))
    columns = (0.34, 0.70)

    panel.text(0, len(terms) + 0.9, template, fontsize=8 if narrow else 9)
    for place, term in enumerate(terms):
        height = len(terms) - 1 - place
        panel.text(0.0, height, term, va="center")
        for column, world in zip(columns, groups.values(), strict=True):
            panel.text(
                column,
                height,
                world[place],
                va="center",
                color="white" if colours[world[place]] == "#0072B2" else "black",
                bbox={
                    "facecolor": colours[world[place]],
                    "edgecolor": "none",
                    "boxstyle": "round,pad=0.25",
                },
            )
    for column, title in zip(columns, groups, strict=True):
        panel.text(column, len(terms) - 0.1, title, va="center", weight="bold")
    panel.text(0.0, len(terms) - 0.1, "term", va="center", weight="bold")

    panel.set(xlim=(0, 1), ylim=(-0.6, len(terms) + 1.2))
    panel.axis("off")
    write_finding(
        figure, "An exchange keeps all sentences and deals out the groups anew"
    )
    return figure


def draws(
    differences: NDArray,
    real: float,
    running: tuple[NDArray, NDArray],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw what exchanges give, and how a p-value settles.

    Parameters
    ----------
    differences : ndarray
        The difference in each drawn world.
    real : float
        The difference as it is.
    running : (ndarray, ndarray)
        Numbers of draws, and the p-values after them, one row per set of draws.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A histogram, and a line for each set of draws.
    """
    figure, (left, right) = plots.page(narrow, panels=(1, 2), heights=(2.5, 4.8))
    left.hist(differences, bins=50, color=plots.COLOURS["grey"])
    for place, style in ((real, "-"), (-real, ":")):
        left.axvline(
            place, color=plots.COLOURS["vermillion"], linewidth=2, linestyle=style
        )
    height = 0.85 * left.get_ylim()[1]
    plots.note("real", (real, height), ax=left)
    plots.note("as far", (-real, height), offset=(-4, 4), ha="right", ax=left)
    left.set(
        xlabel="female minus male names",
        ylabel="worlds of 10,000",
        xticks=[-0.01, 0, 0.01],
    )

    numbers, p_values = running
    right.plot(numbers, p_values.T, color=plots.COLOURS["blue"], linewidth=0.7)
    right.axhline(0.05, color="black", linewidth=1)
    plots.log_axis([100, 1000, 10_000], axis="x", ax=right)
    right.set(xlabel="worlds drawn, m", ylabel="p", ylim=(0, 0.2))
    write_finding(figure, "With a hundred draws, it is luck whether p is below 5 %")
    return figure


def heatmap(
    values: DataFrame,
    shades: DataFrame,
    answers: DataFrame,
    *,
    task: str,
    narrow: bool = False,
) -> Figure:
    """Draw metrics by attribute as the paper does, with the answers of tests as frames.

    Parameters
    ----------
    values, shades : DataFrame
        Metrics by attribute: what the cells print, and how dark they are.
    answers : DataFrame of str
        A cell has a solid frame for "yes", and a dashed one for "undecided".
    task : str
        The name of the task, for the title.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each block of rows.
    """
    heights = [len(rows) for rows in BLOCKS.values()]
    figure, axes = plots.page(
        narrow, panels=(3, 1), heights=(5.4, 6.2), height_ratios=heights
    )
    for panel, (title, rows) in zip(axes, BLOCKS.items(), strict=True):
        plots.heatmap(values.loc[rows], shade=shades.loc[rows], ax=panel)
        shorten_numbers(panel)
        for text in panel.texts:
            if narrow and len(text.get_text()) > 4:
                text.set_text(f"{float(text.get_text()):.2f}")
        # A metric as first defined has the answer of its starred form.
        starred = [f"{row}*" if f"{row}*" in values.index else row for row in rows]
        for answer in ("yes", "undecided"):
            framed = (answers.loc[starred] == answer).to_numpy()
            frame(framed, panel, narrow=narrow, dashed=answer == "undecided")
        panel.set_title(title, loc="left")
        panel.set_yticklabels(rows, rotation=0)
        panel.set_xticks([])

    names = [_SHORT.get(name, name) for name in values.columns]
    axes[-1].set_xticks(
        np.arange(len(names)) + 0.5, names, rotation=90 if narrow else 0
    )
    keys = [
        Patch(fill=False, label=answer, linewidth=1.2, **frame_style(dashed=dashed))
        for answer, dashed in (("yes", False), ("undecided", True))
    ]
    axes[0].legend(
        handles=keys,
        loc="lower right",
        bbox_to_anchor=(1, 0.98),
        borderpad=0,
        ncols=2,
        frameon=False,
    )
    write_finding(
        figure, f"{task}: Disability is darkest in most rows, but has no frame"
    )
    return figure


def named_test(tables: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw one metric by attribute, what exchanges give, and what a test can find.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        For each task a table by attribute, with columns value, null_low, null_high,
        answer and smallest_effect.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each task.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(3.1, 5.8), sharey=True)
    for panel, (task, table) in zip(axes, tables.items(), strict=True):
        places = np.arange(len(table))
        panel.hlines(
            places,
            table["null_low"],
            table["null_high"],
            color=plots.COLOURS["grey"],
            linewidth=6,
            alpha=0.7,
        )
        panel.plot(table["value"], places, "D", color=plots.COLOURS["blue"])

        for place, row in enumerate(table.itertuples()):
            plots.note(
                row.answer,
                (max(row.value, row.null_high), place),
                offset=(5, -3),
                ax=panel,
                weight="bold" if row.answer == "yes" else "normal",
            )
            panel.text(
                0.095, place, f"{row.smallest_effect:.3f}", ha="right", va="center"
            )
        panel.text(0.095, -0.8, "smallest\neffect", ha="right", va="bottom")

        panel.set_title(task, loc="left")
        panel.set(xlim=(0, 0.096), xticks=[0, 0.02, 0.04, 0.06])
        panel.set_yticks(places, [_SHORT.get(name, name) for name in table.index])
        panel.tick_params(axis="y", length=0)
        panel.set_xlabel("Average Group Fairness")

    axes[0].invert_yaxis()
    write_finding(
        figure, "For names a test finds small effects, for Disability only large ones"
    )
    return figure
