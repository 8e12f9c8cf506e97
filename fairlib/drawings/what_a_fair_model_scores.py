"""The figures of lesson 05: what chance alone gives to a metric."""

from collections.abc import Sequence
from textwrap import fill

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray
from pandas import DataFrame, Series

from fairlib import plots
from fairlib.drawings._findings import write_finding

DISTANCES = (
    "Miss rate of each group, for one simulated model that treats all groups alike; "
    "100 sentences a group. Line: all groups together. Bar: distance of a group from "
    "the line. Computed by simulation."
)
EXCHANGE = (
    "A template filled in five ways, the groups of its words, and the groups after one "
    "exchange. A line follows each label. Invented example: we wrote the template, and "
    "this exchange is one of many. No data are involved."
)
EXCHANGED = (
    "FNED of the suite about disability after 999 exchanges of its 24 words between "
    "13 groups. Line: FNED of the real groups. 1,401 readings of positive sentences by "
    "three models. Data: outputs of models trained here, on the paper's released suite."
)
# The template of the five sentences, before and after its slot.
_OPENING = "My neighbour is "
_ENDING = ", and the garden they planted is a delight."


def distances(
    rates: Series, overall: float, total: float, *, narrow: bool = False
) -> Figure:
    """Draw the distance of each group's miss rate from that of all.

    Parameters
    ----------
    rates : Series
        The miss rate of each group.
    overall : float
        The miss rate of all groups together.
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
    panel.axhline(overall, color="black", linewidth=1)
    plots.note("all\ngroups", (rates.index[-1] + 0.6, overall), offset=(0, 3), ax=panel)

    panel.vlines(
        rates.index, overall, rates, color=plots.COLOURS["vermillion"], linewidth=5
    )
    panel.plot(rates.index, rates, "o", color="black", markersize=3)
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    panel.set(
        xlabel="group",
        ylabel="miss rate",
        xticks=rates.index,
        xlim=(rates.index[0] - 0.6, rates.index[-1] + 2.9),
        ylim=(0, None),
    )

    write_finding(
        figure,
        f"{len(rates)} groups treated alike: the bars add up to an FNED of {total:.2f}",
    )
    return figure


def exchange(
    sentences: DataFrame, order: Sequence[int], *, narrow: bool = False
) -> Figure:
    """Draw a filled template, and where an exchange moves the labels of the groups.

    Parameters
    ----------
    sentences : DataFrame
        The sentences of the template, as `text`, and the `group` of each.
    order : sequence of int
        For each sentence, the row from which its label comes after the exchange.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A row for each sentence, with its label before and after the exchange.
    """
    figure, (panel,) = plots.page(narrow, heights=(2.3, 3.3))
    before, after = (0.49, 0.85) if narrow else (0.48, 0.82)
    names = list(dict.fromkeys(sentences["group"]))
    colours = dict(zip(names, plots.COLOURS.values(), strict=False))
    groups = list(sentences["group"])

    def label(name: str, place: int, x: float) -> None:
        panel.text(
            x,
            place,
            name,
            ha="center",
            va="center",
            color="white" if colours[name] == plots.COLOURS["blue"] else "black",
            bbox={"facecolor": colours[name], "edgecolor": "none", "pad": 3},
        )

    for place, (text, source) in enumerate(zip(sentences["text"], order, strict=True)):
        filled = text.removeprefix(_OPENING).removesuffix(_ENDING)
        panel.text(0.03, place, fill(filled, 18 if narrow else 40), va="center")
        name = groups[source]
        panel.plot((before, after), (source, place), color=colours[name], linewidth=2)
        label(groups[place], place, before)
        label(name, place, after)

    panel.text(0, -1, f"{_OPENING}…", va="center")
    panel.text(0, len(groups), f"…{_ENDING}", va="center")
    titles = {before: "group", after: fill("after one exchange", 10 if narrow else 40)}
    for x, title in titles.items():
        panel.text(x, -1, title, ha="center", va="center", weight="bold")
    panel.set(xlim=(0, 1), ylim=(len(groups) + 0.5, -1.5))
    panel.axis("off")
    write_finding(
        figure,
        "An exchange moves the labels, and each group keeps its number of words",
    )
    return figure


def exchanged(worlds: NDArray, real: float, *, narrow: bool = False) -> Figure:
    """Draw what a metric scores in fair worlds, and its real value.

    Parameters
    ----------
    worlds : ndarray
        The metric after each exchange.
    real : float
        The metric with the real groups.
    narrow : bool, default False
        Whether the figure is for a phone.

    Returns
    -------
    Figure
        A histogram and a line.
    """
    figure, (panel,) = plots.page(narrow, heights=(2.5, 2.7))
    panel.hist(worlds, bins=30, color=plots.COLOURS["grey"])
    panel.axvline(real, color=plots.COLOURS["vermillion"], linewidth=2)
    plots.note(
        f"real groups: {real:.2f}",
        (real, 1.02 * panel.get_ylim()[1]),
        offset=(-4, 0),
        ax=panel,
        horizontalalignment="right",
    )

    panel.set(
        xlabel="FNED",
        ylabel=f"fair worlds (of {len(worlds)})",
        xlim=(0, None),
        ylim=(0, 1.12 * panel.get_ylim()[1]),
    )
    write_finding(
        figure, "About half of the fair worlds score at least as much as the real one"
    )
    return figure
