"""The figures of lesson 06: an exchange of terms, and the heatmaps of sentiment."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pandas import DataFrame

from fairlib import plots
from fairlib.drawings._cells import frame, shorten_numbers
from fairlib.drawings._findings import write_finding

EXCHANGE = (
    "A template written for this project, filled with seven identity terms, and the "
    "groups of the terms after one exchange. Invented example. No data are involved."
)
DRAWS = (
    "Left: mean probability of 'positive' for female minus male names, after 10,000 "
    "exchanges of names; line: as it is. Right: p after m exchanges, ten sets of "
    "draws. Word counts with logistic regression, 100 names a group, 60 templates, "
    "three classes. Data: outputs of a model trained here, on the paper's released "
    "suite."
)
HEATMAP = (
    "Metrics for the positive class, mean of three seeds (Pert...: all classes). "
    "Shade: value over the largest of its row in both tasks. Framed: more than "
    "exchanged terms give (9,999 exchanges; at most 5 % false among the 128 tested "
    "values). n: 40 or 60 templates, 11 to 200 terms. Data: outputs of a model trained "
    "here, on the paper's released suites."
)
NAMED_TEST = (
    "Average Group Fairness, mean of three seeds. Grey: 90 % of what exchanges of "
    "terms give. Beside each mark: the answer to 16 questions asked at once and, "
    "unless it is yes, the smallest effect that a test at 5 % finds in 80 % of worlds. "
    "Data: outputs of a model trained here, on the paper's released suites."
)
GROUPS = (
    "Metrics by group, three classes, mean of three seeds, positive class (NegAvg...: "
    "negative). Blue: value over the largest of its row. Orange: above, violet: below "
    "1 (ratios) or 0 (last two rows). No shade: 0 or infinite. Framed: more than "
    "exchanged terms give. aab: assigned a gender at birth. n: 60 templates. Data: "
    "outputs of a model trained here, on the paper's released suites."
)
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
    left.axvline(real, color=plots.COLOURS["vermillion"], linewidth=2)
    plots.note("as it is", (real, 0.85 * left.get_ylim()[1]), ax=left)
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
    write_finding(
        figure, "With a hundred draws, the draws decide whether p is below 5 %"
    )
    return figure


def heatmap(
    values: DataFrame,
    shades: DataFrame,
    framed: DataFrame,
    blocks: Mapping[str, Sequence[str]],
    *,
    task: str,
    narrow: bool = False,
) -> Figure:
    """Draw metrics by attribute as the paper does, with frames around what is found.

    Parameters
    ----------
    values, shades : DataFrame
        Metrics by attribute: what the cells print, and how dark they are.
    framed : DataFrame of bool
        Which cells have a frame.
    blocks : mapping of str to sequence of str
        The title of each block of rows, and its metrics.
    task : str
        The name of the task, for the title.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each block.
    """
    heights = [len(rows) for rows in blocks.values()]
    figure, axes = plots.page(
        narrow, panels=(3, 1), heights=(5.4, 5.8), height_ratios=heights
    )
    for panel, (title, rows) in zip(axes, blocks.items(), strict=True):
        plots.heatmap(values.loc[rows], shade=shades.loc[rows], ax=panel)
        shorten_numbers(panel)
        frame(framed.loc[rows].to_numpy(), panel, narrow=narrow)
        panel.set_title(title, loc="left")
        panel.set_yticklabels(rows, rotation=0)
        panel.set_xticks([])

    names = [_SHORT.get(name, name) for name in values.columns]
    axes[-1].set_xticks(
        np.arange(len(names)) + 0.5, names, rotation=90 if narrow else 0
    )
    write_finding(
        figure,
        f"{task}: Disability is darkest, but most frames are around names",
    )
    return figure


def named_test(tables: Mapping[str, DataFrame], *, narrow: bool = False) -> Figure:
    """Draw one metric by attribute, what exchanges give, and what a test can find.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        For each task a table by attribute: value, null_low, null_high, found, effect.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each task.
    """
    figure, axes = plots.page(
        narrow, panels=(1, 2), heights=(3.0, 5.6), sharex=True, sharey=True
    )
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
            answer = row.found
            if answer != "yes":
                answer = f"{answer} (finds {row.effect:.2f})"
            right = max(row.value, row.null_high)
            plots.note(
                answer,
                (right, place),
                offset=(5, -3),
                ax=panel,
                weight="bold" if row.found == "yes" else "normal",
            )

        panel.set(title=task, xlim=(0, 0.095))
        panel.set_yticks(places, list(table.index))
        panel.tick_params(axis="y", length=0)
        panel.set_xlabel("Average Group Fairness")

    axes[0].invert_yaxis()
    write_finding(
        figure, "Where a test can find only huge effects, its 'no' says little"
    )
    return figure


def groups(
    values: DataFrame,
    shades: DataFrame,
    framed: DataFrame,
    blocks: Sequence[Sequence[str]],
    *,
    narrow: bool = False,
) -> Figure:
    """Draw metrics by group of Gender and of names, with frames around what is found.

    Parameters
    ----------
    values, shades : DataFrame
        Metrics by group; the columns are pairs of attribute and group.
    framed : DataFrame of bool
        Which cells have a frame.
    blocks : sequence of sequence of str
        The metrics of each block: first the unsigned ones, which are blue.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        One panel for each block.
    """
    heights = [len(rows) for rows in blocks]
    figure, axes = plots.page(
        narrow, panels=(3, 1), heights=(3.9, 4.4), height_ratios=heights
    )
    for number, (panel, rows) in enumerate(zip(axes, blocks, strict=True)):
        plots.heatmap(
            values.loc[rows],
            shade=shades.loc[rows],
            signed=number > 0,
            digits=2 if narrow else 3,
            ax=panel,
        )
        shorten_numbers(panel)
        frame(framed.loc[rows].to_numpy(), panel, narrow=narrow)
        panel.axvline(8, color="black", linewidth=2)
        panel.set_yticklabels(rows, rotation=0)
        panel.set_xticks([])

    names = [
        f"{group}\n(names)" if attribute == "names" else group.replace("-", "-\n")
        for attribute, group in values.columns
    ]
    if narrow:
        names = [name.replace("\n", " ").replace("- ", "-") for name in names]
    axes[-1].set_xticks(
        np.arange(len(names)) + 0.5, names, rotation=90 if narrow else 0
    )
    write_finding(
        figure, "Names are framed in every row, explicit genders only here and there"
    )
    return figure
