"""All benchmarks in one table: how large they are, and what they can show.

`python -m fairlib.atlas.overview` writes docs/atlas.md.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from pandas import DataFrame

from fairlib.atlas import planning
from fairlib.atlas.cards import Card, card, names
from fairlib.atlas.planning import LIKE_THESE, Setting
from fairlib.data import ROOT, write_whole

PAGE = ROOT / "docs" / "atlas.md"
_SETTING = Setting()
_WIDEST_SCALE = 2.0  # from -1 to 1; a wider scale is none of shares
_INTRODUCTION = """\
# Can this benchmark show it?

<!-- Written by `python -m fairlib.atlas.overview` from data/atlas: edit the cards. -->

A benchmark for bias is a list of items: sentences, questions or pictures. A model \
answers each of them, and the answers for two groups are compared. If the list is \
short, a model without bias can score as badly as a biased one, by chance. This page \
says how large the bias of a model has to be before a benchmark can show it.

Three things decide that:

- **Items.** The more there are, the smaller the bias that can be shown.
- **Pairs.** Two items of a pair differ in the group only, for example in one pronoun. \
Pairs help, because everything else is equal.
- **Clusters.** Items of a cluster share something, for example a template or an \
occupation. Ten sentences from one template are not ten independent observations. So \
clusters hurt, if a claim is about all sentences *like these* and not only about these.

The *smallest bias* is the smallest difference that a 95 % interval finds with a \
probability of 80 %. It is given in points, which are hundredths of the scale. Errors \
of the better group are taken to be 20 %, and 20 % of pairs to have two different \
answers. The smallest bias depends on what is assumed:

| smallest bias | what is assumed |
|---|---|
| items | all items are independent, and pairs are not used |
| pairs | all pairs are independent: "these templates" |
| worst | all items of a cluster repeat each other: a limit, and not an estimate |
| measured | items of a cluster resemble each other as they did in answers that were \
released: "templates like these" |

A dash means that a benchmark has no such number: it has no pairs, its dependence was \
not measured, or it has so few clusters that no bias can be shown. A benchmark with \
more than two groups is planned for the two smallest. Word tests have none, because \
their scale has no points. Pairs are planned exactly and clusters approximately, so \
two plans for the same numbers can differ in the last digit. Plans over 60 clusters or \
fewer are simulated: other draws would move such a number by about 2 % of its value, \
and seldom by more than 4 %. So 18.2 points may also come out as 17.9 or 18.5.

`fairlib benchmark NAME` prints the same for one benchmark, and \
`fairlib benchmark NAME ANSWERS.csv` says what your answers show. Add `--compare \
OTHER.csv` with the answers of a second model to the same items, and it says how far \
apart the two models are. For a benchmark of your own, write a card like those in \
`data/atlas/`, and use `fairlib benchmark --card MINE.toml`.
"""
_COUNTED = """
## Benchmarks that were counted

Every number was counted by `python -m fairlib data build atlas_counts`, from public \
repositories. The cards in `data/atlas/` name the repository, the commit and the \
licence, and say in words what an item, a pair and a cluster is.
"""
_MEASURED = """
## Parts whose dependence was measured

The design effect says how many times larger the variance of a score is because items \
of a cluster resemble each other. Of several models, the largest is given. Its \
interval is wide if there are few clusters.
"""
_OPEN = """
## Benchmarks that could not be counted
"""


def overview(cards: Iterable[Card] | None = None) -> DataFrame:
    """Return how large benchmarks are, and the smallest bias that each can show.

    Parameters
    ----------
    cards : iterable of Card, optional
        The benchmarks, or parts of them. By default all that were counted, which takes
        a few seconds.

    Returns
    -------
    DataFrame
        One row for each card. `items_alone`, `paired`, `worst` and `measured` are the
        smallest bias under the assumptions that `plan` names; NaN if there is none.
        `design_effect` is the one that was measured.
    """
    listed = _counted() if cards is None else cards
    return pd.DataFrame([_row(one) for one in listed])


def _counted() -> list[Card]:
    """Return the cards of all benchmarks that were counted."""
    return [one for one in map(card, names()) if one.status == "counted"]


def _row(one: Card) -> dict[str, object]:
    """Return the numbers of one card."""
    plan = planning.plan(one, _SETTING)
    low, high = one.score.bounds
    if high - low > _WIDEST_SCALE:
        plan = planning.no_plan()

    of_clusters = plan[plan["question"] == LIKE_THESE]
    of_these = plan[plan["question"] != LIKE_THESE]
    is_of_items = of_these["assumption"] == "items are independent"
    measured = {"design_effect": np.nan, "low": np.nan, "high": np.nan}
    if one.dependence is not None:
        measured = {key: getattr(one.dependence, key) for key in measured}

    return {
        "name": one.name,
        "title": one.title,
        "items": one.items.number,
        "groups": one.groups.number,
        "pairs": one.pairs.number,
        "clusters": one.clusters.number,
        "cluster": one.clusters.what,
        "items_alone": _only(of_these[is_of_items]),
        "paired": _only(of_these[~is_of_items]),
        "worst": _only(of_clusters.head(1)),
        "measured": _only(of_clusters.tail(-1)),
        **measured,
    }


def _only(rows: DataFrame) -> float:
    """Return the smallest bias of the only row, or NaN if there is none."""
    return float(rows["smallest_bias"].iloc[0]) if len(rows) else np.nan


def page() -> str:
    """Return the page about all benchmarks, in Markdown.

    Returns
    -------
    str
        An introduction and three tables.
    """
    every = [card(name) for name in names()]
    still_open = [one for one in every if one.status == "open"]
    parts = [part for one in every for part in one.parts.values()]
    with_dependence = [part for part in parts if part.dependence is not None]

    lines = [
        _INTRODUCTION,
        *_COUNTED.splitlines(),
        "",
        *_table_of_counted(overview()),
        *_MEASURED.splitlines(),
        "",
        *_table_of_measured(overview(with_dependence)),
        *_OPEN.splitlines(),
        "",
        "| benchmark | why not |",
        "|---|---|",
        *(f"| {one.title} ({one.year}) | {one.reason} |" for one in still_open),
    ]
    return "\n".join(lines) + "\n"


def _table_of_counted(table: DataFrame) -> list[str]:
    """Return the lines of the table of benchmarks."""
    lines = [
        "| benchmark | items | groups | pairs | clusters "
        "| smallest bias: items | pairs | worst |",
        "|---|--:|--:|--:|---|--:|--:|--:|",
    ]

    for row in table.itertuples():
        cells = [
            row.title,
            f"{row.items:,}",
            f"{row.groups:,}",
            f"{row.pairs:,}" if row.pairs else "–",
            f"{row.clusters:,} × {row.cluster}",
            _points(row.items_alone),
            _points(row.paired),
            _points(row.worst),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _table_of_measured(table: DataFrame) -> list[str]:
    """Return the lines of the table of parts whose dependence was measured."""
    lines = [
        "| part | clusters | design effect "
        "| smallest bias: items or pairs | measured | worst |",
        "|---|---|--:|--:|--:|--:|",
    ]

    for row in table.itertuples():
        independent = row.items_alone if np.isnan(row.paired) else row.paired
        cells = [
            row.title,
            f"{row.clusters:,} × {row.cluster}",
            f"{row.design_effect:.1f} [{row.low:.1f}, {row.high:,.1f}]",
            _points(independent),
            _points(row.measured),
            _points(row.worst),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _points(share: float) -> str:
    """Return a share of the scale in points, or a dash if it is not known or too large.

    More than the whole scale cannot be the bias of any model.
    """
    return "–" if np.isnan(share) or share > 1 else f"{100 * share:.1f}"


def main(path: Path = PAGE) -> None:
    """Write the page."""
    text = page()
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
