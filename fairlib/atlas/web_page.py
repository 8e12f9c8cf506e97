"""Reports on a benchmark as one page, with the look of the page of an audit.

Here a report becomes plain rows of text. `templates` has the words, and the audit's
templates have the look.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pandas import DataFrame

from fairlib.atlas import plan_wording, wording
from fairlib.atlas.cards import Card
from fairlib.atlas.contents import Compared, Contents
from fairlib.atlas.picture import Row, picture, signed
from fairlib.auditing.look import environment
from fairlib.auditing.rows import records
from fairlib.auditing.wording import safe
from fairlib.interval import Interval

MOST_DRAWN = 12  # groups in a picture; a table holds more
_ENVIRONMENT = environment(Path(__file__).parent / "templates")
# The classes of the page's style for what was concluded.
_BADGES = {
    wording.SHOWN: "shown",
    wording.THESE_ONLY: "hint",
    wording.REFUSALS: "hint",
    wording.NOT_SHOWN: "open",
    wording.UNDEFINED: "undefined",
}
_MEANINGS = {
    wording.SHOWN: "The interval for {} like these excludes a model without bias.",
    wording.THESE_ONLY: "Other {} of this kind might show something else.",
    wording.REFUSALS: "Another way to count items without an answer changes it.",
    wording.NOT_SHOWN: "That is no evidence that there is no bias.",
    wording.UNDEFINED: "The answers do not give a score.",
}
_COUNTS = {
    "items": "items",
    "items_without_answer": "items without an answer that can be read",
    "items_with_several_answers": "items with several answers",
    "items_whose_answers_differ": "items whose answers differ",
    "answers": "answers",
    "refused": "answers that were refused",
    "unreadable": "answers that cannot be read",
}
_ALWAYS_COUNTED = ("items", "answers", "refused", "unreadable")


@dataclass(frozen=True, kw_only=True)
class _Unit:
    """How a card's scores are written: plain numbers, percentages or points."""

    card: Card

    @property
    def is_plain(self) -> bool:
        """Whether scores are written as they are, and not in hundredths."""
        return self.card.score.unit == "share" or self.card.score.kind == "ratio"

    @property
    def name(self) -> str:
        """What the numbers of a score are."""
        if self.card.score.kind == "ratio":
            return "ratios"
        if self.is_plain:
            return "shares"
        if self.card.score.kind == "share":
            return "percent"
        return "points"

    @property
    def of_groups(self) -> str:
        """What the means of groups are."""
        if self.is_plain:
            return "shares"
        return "points" if self.card.score.kind == "mean" else "percent"

    def scaled(self, value: float) -> float:
        """Return a score as it is written."""
        return value if self.is_plain else 100 * value

    def written(self, value: float) -> str:
        """Return a score without its unit."""
        if not math.isfinite(value):
            return "–"
        digits = 2 if self.is_plain else 1
        return f"{self.scaled(value):z.{digits}f}".replace("-", "−")

    def between(self, low: float, high: float) -> str:
        """Return an interval without its unit."""
        if math.isnan(low) or math.isnan(high):
            return "–"
        return f"[{self.written(low)}, {self.written(high)}]"


def render(report: Contents, *, framed: bool = True) -> str:
    """Return the page of a report.

    Parameters
    ----------
    report : Contents
        The report.
    framed : bool, default True
        Whether to return the whole page. A notebook shows it without its frame.
    """
    card = report.card
    unit = _Unit(card=card)
    clusters = wording.clusters_of(card)
    subject = "what the benchmark can show" if report.score is None else "the answers"

    html = _ENVIRONMENT.get_template("benchmark.html").render(
        framed=framed,
        title=f"{card.title}: {subject}",
        report=report,
        card=card,
        badge_of=_BADGES,
        meaning={name: text.format(clusters) for name, text in _MEANINGS.items()},
        scores=Markup(_scores(report, unit)),
        level=f"{report.setting.confidence:.0%}",
        power=f"{report.setting.power:.0%}",
        clusters=clusters,
        has_clusters=bool(card.clusters.number),
        dependence=_dependence(report),
        unit=unit.name,
        unit_of_groups=unit.of_groups,
        unit_of_bias="ratios" if card.score.kind == "ratio" else unit.name,
        counts=_counts(report.counts),
        report_notes=[note for note in report.notes if note not in card.notes],
        parts=_with_titles(_with_both(report.by_part, "part", "score", unit), card),
        groups=_with_both(report.by_group, "group", "mean", unit),
        groups_drawn=Markup(_groups_drawn(report, unit)),
        comparisons=_with_interval(report.comparisons, unit),
        refusals=_with_interval(report.refusals, unit),
        plan=_plan(report.planning, unit),
        plan_notes=_plan_notes(report),
        facts=_facts(card),
    )
    return safe(html)


def render_comparison(comparison: Compared, *, framed: bool = True) -> str:
    """Return the page of a comparison of two models.

    Parameters
    ----------
    comparison : Compared
        The comparison.
    framed : bool, default True
        Whether to return the whole page. A notebook shows it without its frame.
    """
    card = comparison.card
    clusters = wording.clusters_of(card)
    rows = [
        _row(label, interval, fixed=0.0, scale=100)
        for label, interval in _questions(
            clusters, comparison.difference, comparison.difference_these
        ).items()
    ]

    html = _ENVIRONMENT.get_template("comparison.html").render(
        framed=framed,
        title=f"{card.title}: two models",
        comparison=comparison,
        card=card,
        drawn=Markup(picture(rows, fixed=0.0, unit="points, first minus second")),
        level=f"{comparison.difference.confidence:.0%}",
        clusters=clusters,
        facts=_facts(card),
    )
    return safe(html)


def _questions(
    clusters: str, like_these: Interval, these: Interval
) -> dict[str, Interval]:
    """Return both intervals, by the question that they answer."""
    return {f"{clusters} like these": like_these, f"these {clusters}": these}


def _row(label: str, interval: Interval, *, fixed: float, scale: float) -> Row:
    """Return a row of a picture."""
    return Row(
        label=label,
        estimate=scale * interval.estimate,
        low=scale * interval.low,
        high=scale * interval.high,
        is_shown=interval.excludes(fixed),
    )


def _scores(report: Contents, unit: _Unit) -> str:
    """Draw the score with its two intervals."""
    if report.score is None or report.score_these is None:
        return ""

    fixed = report.card.score.fixed
    clusters = wording.clusters_of(report.card)
    rows = [
        _row(label, interval, fixed=fixed, scale=unit.scaled(1.0))
        for label, interval in _questions(
            clusters, report.score, report.score_these
        ).items()
    ]
    if not report.card.clusters.number:
        rows = rows[:1]  # without clusters, both questions are the same
    words = "score, a ratio" if unit.name == "ratios" else f"score, in {unit.name}"
    return picture(rows, fixed=unit.scaled(fixed), unit=words)


def _groups_drawn(report: Contents, unit: _Unit) -> str:
    """Draw the groups of a score that is beside a fixed value, if they are few."""
    table = report.by_group
    if table is None or report.card.compares_groups:
        return ""
    if not 1 < len(table) <= MOST_DRAWN:
        return ""

    fixed = report.card.score.fixed
    rows = [
        Row(
            label=str(row.group),
            estimate=unit.scaled(row.mean),
            low=unit.scaled(row.low),
            high=unit.scaled(row.high),
            is_shown=row.low > fixed or row.high < fixed,
        )
        for row in records(table)
    ]
    clusters = wording.clusters_of(report.card)
    words = f"mean of each group, in {unit.name}, for {clusters} like these"
    return picture(rows, fixed=unit.scaled(fixed), unit=words)


def _dependence(report: Contents) -> str:
    """Say how much the answers of a cluster resemble each other, if that is known."""
    effect = report.dependence
    if effect is None or not math.isfinite(effect.estimate):
        return ""
    same = wording.noun(report.card.clusters.what)
    return (
        f"Items of the same {same} may resemble each other, which changes the "
        "variance of the score. The factor is called the design effect, and it is 1 "
        "for items that do not resemble each other. With these answers it is "
        f"{effect.estimate:.1f} [{effect.low:.1f}, {effect.high:.1f}]."
    )


def _counts(counts: Mapping[str, int] | None) -> list[tuple[str, int]]:
    """Return how many items and answers there are, in words."""
    if counts is None:
        return []
    return [
        (words, counts[name])
        for name, words in _COUNTS.items()
        if counts[name] or name in _ALWAYS_COUNTED
    ]


def _with_both(
    table: DataFrame | None, name: str, value: str, unit: _Unit
) -> list[dict[str, Any]]:
    """Return the rows of a table with intervals for both questions, as text."""
    rows = []
    for row in _as_dicts(table):
        rows.append(
            row
            | {
                "name": row[name],
                value: unit.written(row[value]),
                "like_these": unit.between(row["low"], row["high"]),
                "these": unit.between(row["low_these"], row["high_these"]),
            }
        )
    return rows


def _with_titles(rows: list[dict[str, Any]], card: Card) -> list[dict[str, Any]]:
    """Return the rows of parts, called what the card calls them."""
    return [
        row | {"name": card.part(row["part"]).title.removeprefix(f"{card.title}, ")}
        for row in rows
    ]


def _with_interval(table: DataFrame | None, unit: _Unit) -> list[dict[str, Any]]:
    """Return the rows of a table of scores, as text."""
    return [
        row
        | {
            "score": unit.written(row["score"]),
            "interval": unit.between(row["low"], row["high"]),
        }
        for row in _as_dicts(table)
    ]


def _plan(table: DataFrame, unit: _Unit) -> list[dict[str, Any]]:
    """Return the plan of a benchmark, as text."""
    rows = []
    for row in _as_dicts(table):
        effect = row["design_effect"]
        rows.append(
            row
            | {
                "units": f"{row['number']:,.0f} {wording.plural(row['unit'])}",
                "design_effect": f"{effect:.1f}" if math.isfinite(effect) else "–",
                "smallest_bias": unit.written(row["smallest_bias"]),
            }
        )
    return rows


def _plan_notes(report: Contents) -> list[str]:
    """Return what has to be known of the plan, if the notes do not have it."""
    notes = plan_wording.of_plan(report.card, report.smallest_bias)
    return [note for note in notes if note not in report.notes]


def _as_dicts(table: DataFrame | None) -> Sequence[dict[str, Any]]:
    """Return the rows of a table, if there is one."""
    return [] if table is None else table.to_dict("records")


def _facts(card: Card) -> list[tuple[str, str]]:
    """Return what the card says of the benchmark, with where it was counted."""
    source = card.source
    where = source.repository
    if source.commit:
        where += f", commit {source.commit[:8]}"
    if source.paths:
        where += f": {', '.join(source.paths)}"

    facts = {
        "Whom it concerns": card.concerns,
        "Paper": card.paper,
        "Items": _counted(card.items.number, card.items.what),
        "Groups": _number_of_groups(card),
        "Pairs": _counted(card.pairs.number or None, card.pairs.what),
        "Clusters": _counted(card.clusters.number, card.clusters.what),
        "Score": card.score.definition,
        "Score of a model without bias": signed(
            _Unit(card=card).scaled(card.score.fixed)
        ),
        "Counted in": where,
        "Licence": source.licence,
        "Could not be counted because": card.reason,
    }
    return [(name, text) for name, text in facts.items() if text]


def _counted(number: int | None, what: str) -> str:
    """Return a number with what it counts; nothing if it is not known."""
    if number is None:
        return ""
    clause = what[len(wording.noun(what)) :]
    return f"{number:,} {wording.plural(what)}{clause}"


def _number_of_groups(card: Card) -> str:
    """Return how many groups there are, and by what they differ."""
    if card.groups.number is None:
        return ""
    return f"{card.groups.number:,}, by {card.groups.what}"
