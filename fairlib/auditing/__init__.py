"""An audit of anybody's classifier: one call on one's own predictions, one report that says what they show and what not.

tally (frame -> counts) -> rates (counts -> sums per group) -> groups (who is compared) -> contrasts (differences, intervals,
tests) -> findings (sentences) -> page (HTML); `command` is `python -m fairlib audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.auditing import contrasts, findings, groups, rates, tally
from fairlib.auditing.setting import Setting

__all__ = ["Report", "audit", "main", "report"]


@dataclass(frozen=True, eq=False)
class Report:
    """What an audit found: `print(report)` for the sentences, `to_frame()` for the numbers, `to_html()` for a page to hand on."""

    rows: pd.DataFrame = field(repr=False)
    setting: Setting
    cases: int
    sources: int | None
    classes: tuple[str, ...]
    notes: tuple[str, ...]  # how columns were read, where that is not obvious

    @property
    def findings(self) -> list[findings.Finding]:
        """Return the sentences, each with its interval, what chance would do, and how many more cases would tell."""
        return findings.findings(self.rows, self.setting)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per comparison.

        attribute, group, against, rate, class; n and value of both sides; difference with low and high, an interval that holds
        for this comparison alone; method; p, how often chance does this in this comparison; p_corrected, how often at most
        chance leads to such a claim in an audit of this size (Holm); verdict; detectable, the true difference that would be
        shown with the setting's power; more, how many more cases of the group would show a difference of the margin.
        """
        return self.rows.copy()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one self-contained page, and write it to `path` if given."""
        from fairlib.auditing import page
        from fairlib.data import write_whole

        html = page.document(self)
        if path is not None:
            write_whole(Path(path), lambda beside: beside.write_text(html, encoding="utf-8"))
        return html

    def _repr_html_(self) -> str:
        from fairlib.auditing import page

        return page.fragment(self)

    def __str__(self) -> str:
        return "\n".join([self.summary, *self.notes, *(f"- {finding}" for finding in self.findings)])

    @property
    def summary(self) -> str:
        """Say what was compared and how it came out."""
        count = self.rows["verdict"].value_counts()
        tested = int(self.rows["p_corrected"].notna().sum())
        told = {
            "shown": "are shown",
            "hint": "are no more than hints",
            "small": f"of {100 * self.setting.margin:g} points or more are ruled out",
            "open": "remain open",
        }
        outcome = "; ".join(f"{count.get(verdict, 0):,} {words}" for verdict, words in told.items())
        untested = "".join(
            f" {count[verdict]:,} more comparisons were not made: {why}."
            for verdict, why in (("too few", f"too few {self.setting.unit}"), ("undefined", "nothing varies"))
            if verdict in count
        )
        return (
            f"{self.setting.title}: {self.cases:,} cases, {self.rows['group'].nunique():,} groups. "
            f"Of {tested:,} differences that were tested, {outcome}.{untested}"
        )


def audit(
    frame,
    *,
    group: str | Sequence[str],
    label: str | None = None,
    prediction: str | None = None,
    probability: str | None = None,
    source: str | None = None,
    count: str | None = None,
    positive=None,
    threshold: float = 0.5,
    reference: str | Mapping[str, object] | None = None,
    depth: int = 2,
    metrics: str | Sequence[str] | None = None,
    margin: float = 0.05,
    minimum: int = 30,
    confidence: float = 0.95,
    power: float = 0.8,
    title: str = "Audit",
) -> Report:
    """Audit predictions: which groups fare differently, how sure that is, and what the data cannot say.

    Parameters
    ----------
    frame : one row per case, in any library that narwhals knows (pandas, polars, Arrow, DuckDB, ...); lazy frames too.
    group : one or several columns that say who somebody is. Several are looked at one by one and crossed, up to `depth` at once.
    label, prediction : columns with the true and the predicted class. Without labels only what is predicted can be compared.
    probability : column with the probability of the `positive` class; where there is no prediction, that class is predicted
        from `threshold` on.
    source : column that says which cases belong together (one person, one template). What counts then is the number of
        sources, and paired designs get the precision of pairs.
    count : column with the number of cases that a row stands for, for data that are counts already.
    positive : the class that is measured against the rest; by default the last in order of two, or each of several.
    reference : the group that others are compared with, or {column: group}; by default everyone else.
    metrics : names from `fairlib.auditing.rates.RATES`; by default all that the columns allow.
    margin : the smallest difference that matters: 0.05 for 5 percentage points.
    minimum : groups with fewer independent cases are not tested; they are named instead.
    confidence, power : of the intervals and verdicts; of "so many more cases would show a difference of `margin`".

    Costs one pass over the rows, then only counts matter. Wrong columns or values raise a ValueError that names them.
    """
    names = (group,) if isinstance(group, str) else tuple(group)
    columns = tally.Columns(names, label, prediction, probability, source, count, threshold)
    setting = Setting(columns, reference, depth, metrics, margin, minimum, confidence, power, title)
    return report(tally.read(frame, columns, positive=positive), setting)


def report(counted: tally.Tally, setting: Setting) -> Report:
    """Compare everybody that the tally counts."""
    chosen = rates.measured(counted, setting.metrics)
    parts = [
        _compare(sums, family, counted, setting.confidence)
        for family in groups.families(counted, depth=setting.depth, reference=setting.references)
        for sums in rates.sums(counted, chosen)
    ]
    rows = pd.concat(parts, ignore_index=True)
    units, variance, others = (rows.pop(name).to_numpy() for name in ("units", "variance", "variance_others"))
    rows["p_corrected"] = contrasts.corrected(rows["p"].where(units >= setting.minimum).to_numpy())
    rows["verdict"] = findings.verdicts(rows, setting, units=units)
    # Planned for the level at which one comparison among so many is shown; Holm's first step, so a little too careful.
    plan = {"alpha": setting.alpha / max(1, int(rows["p_corrected"].notna().sum())), "power": setting.power}
    have = rows["n"].to_numpy() if counted.source is None else units
    rows["detectable"] = contrasts.detectable(variance, have, others, **plan)
    rows["more"] = contrasts.more_needed(variance, have, others, margin=setting.margin, **plan)
    sources = None if counted.source is None else int(counted.source.max()) + 1
    return Report(rows, setting, len(counted), sources, counted.classes, counted.notes)


def _compare(sums: rates.Sums, family: groups.Family, counted: tally.Tally, confidence: float) -> pd.DataFrame:
    sides, found = contrasts.contrast(sums, family, source=counted.source, confidence=confidence)
    about = {
        "attribute": " × ".join(family.attributes),
        "group": [groups.spoken(family.attributes, family.names[code]) for code in family.compared],
        "against": family.against,
        "rate": sums.name,
        "class": sums.class_name,
    }
    table = pd.DataFrame(about | sides | found._asdict())
    return table.astype({"n": np.int64, "n_against": np.int64})


def main(arguments: list[str]) -> None:
    """`python -m fairlib audit FILE ...`."""
    from fairlib.auditing import command

    command.main(arguments)
