"""The drawings of lesson 21: answers by template, and how templates disagree."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from fairlib import plots

ANSWERS = (
    "The answers of two imagined models to four questions from each of five templates. "
    "Filled: the answer follows the stereotype. No data were used: all answers are "
    "made up."
)
TEMPLATES = (
    "Bias score of each of the 25 templates about age (circles), and the mean of all "
    "questions with two 95\u00a0% intervals. The area of a circle is proportional to "
    "the template's number of questions (16 to 168). Data: UnifiedQA (ARC format) on "
    "BBQ's 1,839 ambiguous questions about age with a readable answer, as released."
)
AREA = 0.55  # of a circle, in square points for each question
KEY = (16, 168)  # numbers of questions whose circles are explained


def answers(
    follows: Mapping[str, list[int]], questions: int, *, narrow: bool = False
) -> Figure:
    """Draw which answers follow a stereotype, a column of squares for each template.

    Parameters
    ----------
    follows : mapping
        For each model, how many answers of each template follow the stereotype.
    questions : int
        The number of questions of each template.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        A panel for each model.
    """
    figure, panels = plots.page(narrow, panels=(1, len(follows)), heights=(2.4, 4.4))

    for ax, (model, counts) in zip(panels, follows.items(), strict=True):
        for template, count in enumerate(counts):
            for question in range(questions):
                is_so = question < count
                ax.plot(
                    template,
                    question,
                    "s",
                    markersize=14,
                    color=plots.COLOURS["vermillion"] if is_so else "white",
                    markeredgecolor=plots.COLOURS["grey"],
                )

        ax.set(
            title=f"{model}: {sum(counts)} of {questions * len(counts)}",
            xlabel="template",
            xticks=range(len(counts)),
            xticklabels=[chr(ord("A") + place) for place in range(len(counts))],
            xlim=(-0.7, len(counts) - 0.3),
            yticks=[],
            ylim=(-0.7, questions - 0.3),
        )
        ax.spines["left"].set_visible(False)
    return figure


def templates(scores: DataFrame, means: DataFrame, *, narrow: bool = False) -> Figure:
    """Draw the score of each template, and a mean with two intervals.

    Parameters
    ----------
    scores : DataFrame
        A row for each template, from the lowest score to the highest; columns score,
        in points, and questions. The index has the templates' numbers.
    means : DataFrame
        Two rows, by what is assumed; columns estimate, low and high, in points.
    narrow : bool, default False
        Whether to draw for a phone.

    Returns
    -------
    Figure
        One panel: the templates along x, and the mean to their right.
    """
    figure, (ax,) = plots.page(narrow, heights=(3.0, 3.4))
    grey = plots.COLOURS["grey"]
    circle = {"color": grey, "edgecolor": "white", "linewidth": 0.5}
    places = np.arange(len(scores))
    ax.scatter(
        places, scores["score"], **circle, s=AREA * scores["questions"], zorder=2
    )

    first = len(scores) + 2
    for number, (label, row) in enumerate(means.iterrows()):
        plots.intervals(
            np.array([first + 3 * number]),
            np.array([row["estimate"]]),
            low=np.array([row["low"]]),
            high=np.array([row["high"]]),
            ax=ax,
            colour=("blue", "vermillion")[number],
            marker="os"[number],
            label=str(label),
        )
    figure.legend(
        *ax.get_legend_handles_labels(),
        loc="outside upper center",
        ncols=1 if narrow else 2,
    )

    lowest = scores["score"].iloc[0]
    ax.annotate(
        f"template {scores.index[0]}: {lowest:.0f} points".replace("-", "\u2212"),
        (0, lowest),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
    )
    sizes = [
        ax.scatter([], [], **circle, s=AREA * number, label=f"{number} questions")
        for number in KEY
    ]
    ax.legend(handles=sizes, loc="upper left")

    ax.axhline(0, color="black", linewidth=0.8, zorder=1)
    ax.axvline(len(scores), color=grey, linewidth=0.8, linestyle=":")
    ax.set(
        title="The 25 templates disagree widely",
        ylabel="bias score (points)",
        xticks=[(len(scores) - 1) / 2, first + 1.5],
        xticklabels=[
            "each template, from the lowest score to the highest",
            "all questions",
        ],
        xlim=(-1.5, first + 5),
        ylim=(-60, 112),
    )
    ax.tick_params(axis="x", length=0)
    if narrow:
        ax.set(xticklabels=["each template", "all\nquestions"])
    return figure
