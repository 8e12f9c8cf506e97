"""The figures of lesson 06: limits of p-values, and the heatmaps of sentiment."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._cells import frame, frame_style, shorten_numbers
from fairlib.drawings._findings import write_finding

FIVE_TESTS = (
    "Five p-values of one column of the heatmap, Nationality on SemEval-3. Blue: p, "
    "with three standard errors on each side (9,999 draws). Orange: the limit. Here "
    "the answer is yes if the bar is left of the limit, no if it is right of the "
    "limit, and undecided if it crosses the limit. Data: means of three seeds of our "
    "models, trained on tweets; their outputs for the paper's released suite."
)
HEATMAPS = (
    "Metrics for the positive class, mean of three seeds. Shade: value over the "
    "largest of its row. Solid frame: yes, more than exchanges give. Dashed frame: "
    "undecided. No frame: no. 128 tests, each with 9,999 exchanges among terms that "
    "fill the same templates; the limits are about 1 %. n: 40 (SemEval-2) or 60 "
    "templates, 11 to 200 terms. Data: means of three seeds of our models, trained on "
    "tweets; their outputs for the paper's released suites."
)
FIRST_ROW = (
    "Average Group Fairness (AvgGF), mean of three seeds. Grey: the middle 90 % of "
    "what exchanges of terms give. A mark right of its grey bar has p below 5 %. "
    "Beside each mark: the answer, with the limits of the heatmaps, about 1 %. n: 40 "
    "(SemEval-2) or 60 templates, 11 to 200 terms. Data: means of three seeds of our "
    "models, trained on tweets; their outputs for the paper's released suites."
)
# The rows of the heatmaps.
ROWS = [
    "AvgGF",
    "AvgGF (TC)",
    "TPRGap",
    "TNRGap",
    "FPED*",
    "FNED*",
    "ParityGap",
    "DisparityScore*",
]
_SHORT = {
    "Gender (names)": "Names",
    "Sexual Orientation": "Orientation",
}


def five_tests(
    tests: DataFrame, answers: Mapping[str, DataFrame], *, narrow: bool = False
) -> Figure:
    """Draw p-values with their errors, and the limits that they must pass.

    Parameters
    ----------
    tests : DataFrame
        A row for each test, with columns p, lower and higher.
    answers : mapping of str to DataFrame
        For each panel the same rows, with columns limit and answer.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each set of limits.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.3, 4.2), sharey=True)
    places = np.arange(len(tests))
    ends = {"low": tests["lower"], "high": tests["higher"]}
    for panel, (title, table) in zip(axes, answers.items(), strict=True):
        plots.intervals(places, tests["p"], **ends, horizontal=True, ax=panel)
        panel.vlines(
            table["limit"],
            places - 0.35,
            places + 0.35,
            color=plots.COLOURS["vermillion"],
            linewidth=1.2,
            zorder=1,
        )
        for place, answer in zip(places, table["answer"], strict=True):
            plots.note(
                answer,
                (0.097, float(place)),
                offset=(0, -3),
                ax=panel,
                weight="bold" if answer == "yes" else "normal",
            )

        panel.set_title(title, loc="left")
        panel.set(xlim=(0, 0.13), xticks=[0, 0.05, 0.1], xlabel="p")
        panel.set_yticks(places, list(tests.index))
        panel.tick_params(axis="y", length=0)

    axes[0].set_ylim(len(tests) - 0.5, -0.5)
    write_finding(figure, "A p-value needs a lower limit when many tests are made")
    return figure


def heatmaps(
    tables: Mapping[str, Sequence[DataFrame]], *, narrow: bool = False
) -> Figure:
    """Draw metrics by attribute as the paper does, with the answers of tests as frames.

    Parameters
    ----------
    tables : mapping of str to sequence of DataFrame
        For each task two tables of metrics by attribute: the values that the cells
        print, and the answers. A cell has a solid frame for "yes", and a dashed one for
        "undecided".
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each task.
    """
    figure, axes = plots.page(narrow, panels=(2, 1), heights=(5.0, 5.8))
    for panel, (task, (values, answers)) in zip(axes, tables.items(), strict=True):
        plots.heatmap(values.loc[ROWS], ax=panel)
        shorten_numbers(panel)
        for answer in ("yes", "undecided"):
            framed = (answers.loc[ROWS] == answer).to_numpy()
            frame(framed, panel, narrow=narrow, dashed=answer == "undecided")
        panel.set_title(task, loc="left")
        panel.set_yticklabels(ROWS, rotation=0)
        panel.set_xticks(
            np.arange(len(values.columns)) + 0.5,
            [_SHORT.get(name, name) for name in values.columns],
            rotation=90 if narrow else 0,
        )

    axes[0].tick_params(axis="x", labelbottom=False)
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
        figure,
        "The darkest column, Disability, has no frame; "
        "the palest, Nationality, has some",
    )
    return figure


def first_row(tables: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw one metric by attribute beside what exchanges of terms give.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        For each task a table by attribute, with columns value, null_low, null_high and
        answer.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each task.
    """
    figure, axes = plots.page(narrow, panels=(1, 2), heights=(2.9, 5.4), sharey=True)
    for panel, (task, table) in zip(axes, tables.items(), strict=True):
        places = np.arange(len(table))
        panel.hlines(
            places + 0.28,  # below the mark, which would hide a short bar
            table["null_low"],
            table["null_high"],
            color=plots.COLOURS["grey"],
            linewidth=5,
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

        panel.set_title(task, loc="left")
        panel.set(xlim=(0, 0.06), xticks=[0, 0.02, 0.04, 0.06])
        panel.set_yticks(places, [_SHORT.get(name, name) for name in table.index])
        panel.tick_params(axis="y", length=0)
        panel.set_xlabel("Average Group Fairness")

    axes[0].invert_yaxis()
    write_finding(
        figure,
        "Disability has the largest values, but exchanges of its terms give as much",
    )
    return figure
