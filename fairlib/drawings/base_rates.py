"""The drawings of lesson 12: arrows from base rates, and mixtures of base rates."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame, Series

from fairlib import plots

ARROWS = (
    "Thirteen occupations: share of men at work (hollow) and P(he) of BERT (filled). "
    "Dotted: one half. Data: US labor statistics of 2016, as in Wang and Russakovsky "
    "(2021); BERT from the published log odds of 921 job titles (n = 13)."
)
MIXTURES = (
    "T→A as the base rates move from one half to the share of men at work, with 95 % t "
    "intervals over occupations at the ends; stars: one mixture. Data: BERT at second "
    "hand (n = 13), web text (n = 15), and two rows that Wang and Russakovsky (2021) "
    "print for FitBERT (n = 32, no interval over occupations)."
)


def arrows(men: Series, p_he: Series, *, narrow: bool = False) -> Figure:
    """Draw for each occupation an arrow from the base rate to the model's answer.

    Parameters
    ----------
    men : Series
        The share of men at work, by occupation.
    p_he : Series
        The model's probability of "he", of the same occupations in the same order.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a row for each occupation.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.4, 4.2))
    places = np.arange(len(men))

    for place, start, end in zip(places, men, p_he, strict=True):
        ax.annotate(
            "",
            (end, place),
            (start, place),
            arrowprops={"arrowstyle": "-|>", "color": "black", "shrinkA": 4},
        )
    women_hold_most = men < 0.5
    for chosen, colour, marker, label in (
        (women_hold_most, "orange", "s", "mostly women work there"),
        (~women_hold_most, "blue", "o", "mostly men work there"),
    ):
        style_of_marks = {
            "color": plots.COLOURS[colour],
            "marker": marker,
            "linestyle": "none",
        }
        ax.plot(men[chosen], places[chosen], markerfacecolor="white", **style_of_marks)
        ax.plot(p_he[chosen], places[chosen], label=label, **style_of_marks)

    ax.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
    ax.set(
        title='Women\'s jobs: more "he" than men at work',
        xlabel='share of men at work (hollow), P("he") (filled)',
        xlim=(0, 1),
        yticks=places,
        yticklabels=men.index,
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 2)
    return figure


def mixtures(
    verdicts: DataFrame,
    printed: Series,
    *,
    weight: float,
    marks: Mapping[str, float],
    narrow: bool = False,
) -> Figure:
    """Draw T→A against mixtures of two kinds of base rates.

    Parameters
    ----------
    verdicts : DataFrame of Interval
        A row for each model, a column for each of the two base rates.
    printed : Series
        What a paper prints for the two base rates.
    weight : float
        The weight of the second base rates in the mixture that is marked.
    marks : mapping of str to float
        T→A of each model at this weight.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel, a line for each model.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.1, 4.0))
    looks = {
        "BERT": ("blue", "o", "-", -0.02),
        "web text": ("green", "s", "--", 0.02),
    }

    for name, (colour, marker, style, shift) in looks.items():
        ends = verdicts.loc[name]
        values = [interval.estimate for interval in ends]
        ax.plot([0, 1], values, style, color=plots.COLOURS[colour])
        plots.intervals(
            np.array([0, 1]) + shift, ends, ax=ax, colour=colour, marker=marker
        )
        ax.plot(
            weight,
            marks[name],
            "*",
            color=plots.COLOURS[colour],
            markersize=11,
            label=f"{name}: {marks[name]:+.3f} at {weight:.2f}",
        )

    printed_style = {"color": plots.COLOURS["vermillion"], "markerfacecolor": "white"}
    ax.plot([0, 1], printed, ":D", label="FitBERT, printed", **printed_style)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        title="Each line crosses zero: the choice decides",
        xlabel="weight of the people at work in the base rates",
        ylabel="T→A",
        xticks=[0, 0.5, 1],
        xticklabels=["0\n(one half)", "0.5", "1\n(men at work)"],
        xlim=(-0.12, 1.12),
    )
    figure.legend(loc="outside upper center", ncols=1 if narrow else 3)
    return figure
