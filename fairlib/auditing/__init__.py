"""An audit of anybody's classifier: one call on one's own predictions, one report of what they show and what not.

tally (frame -> counts) -> rates (counts -> sums per group) -> groups (who is compared) -> comparing
(differences, intervals, tests) -> findings (sentences) -> page (HTML); `command` is `python -m fairlib audit`.
Beside it: scored (frame -> counts per level of a probability) -> summary (Table 2, AUCs) -> overview (HTML).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from fairlib import multiplicity
from fairlib.auditing import comparing, contrasts, findings, groups, rates, scored, summary, tally
from fairlib.auditing.groups import EVERYONE_ELSE
from fairlib.auditing.markup import plain
from fairlib.auditing.setting import Setting
from fairlib.gaps import interval as interval_of_gap

__all__ = ["Report", "audit", "main", "report"]

GAPS = ["attribute", "rate", "class", "groups", "highest", "lowest", "gap", "low", "high"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What an audit found: `print` it for sentences, `to_frame()` for numbers, `to_html()` for a page to hand on."""

    rows: pd.DataFrame
    gaps: pd.DataFrame  # highest less lowest group: columns `GAPS`; the interval can reach 0
    setting: Setting
    cases: int
    sources: int | None
    classes: tuple[str, ...]
    notes: tuple[str, ...]  # how columns were read, where that is not obvious
    counted: tally.Tally
    scored: dict[str, tally.Tally]  # by attribute, where there are probabilities
    progress: bool = False

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """Return the metrics of the paper's Table 2 that the columns allow, and AUCs, for each attribute as a whole.

        attribute, metric, class, group ("accumulated", or the group where a metric has no aggregate), value; low and
        high, an interval around the value by drawing cases or sources again; corrected, the value without what chance
        adds to it (split-sign); null, the mean of the metric where groups make no difference; p, how often it is as far
        from "no difference" then; p_corrected, the same for all these metrics together (max-T within an attribute,
        whose metrics hang together closely, times the number of attributes). `attrs["notes"]` says who was left out.
        Computed when first asked for, which takes up to a few seconds per attribute.
        """
        return summary.summarize(self.counted, self.scored, self.setting, progress=self.progress)

    @property
    def findings(self) -> list[findings.Finding]:
        """Return the sentences, each with its interval, what chance would do, and how many more cases would tell."""
        return findings.findings(self.rows, self.setting)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per comparison.

        attribute, group, against, rate, class; n and value of both sides, and units, how many of n are independent:
        all, or as many as there are sources; difference with low and high, an interval that holds for this comparison
        alone, and its method; p, how often chance does this in this comparison (none where there are too few cases);
        p_corrected, how often at most chance leads to such a claim in an audit of this size (Holm); verdict;
        detectable, the true difference that would be shown with the setting's power; more, how many more cases of the
        group would show a difference of the margin (infinite where those that it is compared with are too few as well);
        growth, how many times as many cases of all groups would.
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

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        from fairlib.auditing import page

        return page.fragment(self)

    def __str__(self) -> str:
        return "\n".join(map(plain, [self.summary, *self.notes, *(f"- {finding}" for finding in self.findings)]))

    @property
    def summary(self) -> str:
        """Say what was compared and how it came out."""
        rows, count = self.rows, self.rows["verdict"].value_counts()
        tested = int(rows["p_corrected"].notna().sum())
        groups = len(set(rows["group"]) | set(rows["against"]) - {EVERYONE_ELSE})
        told = {
            "shown": "shown",
            "hint": "no more than hinted at",
            "open": "open",
            "small": f"ruled out to be {100 * self.setting.margin:g} points or more",
        }
        outcome = ", ".join(f"{count[verdict]:,} {words}" for verdict, words in told.items() if verdict in count)
        why = {"too few": f"too few {self.setting.unit}", "undefined": "nothing varies"}
        untested = ", ".join(f"{count[verdict]:,} ({words})" for verdict, words in why.items() if verdict in count)
        facts = f"{self.setting.title}: {self.cases:,} cases, {groups:,} groups."
        asked = f"{findings.counted(tested, 'differences')} tested" + (f": {outcome}." if outcome else ".")
        return f"{facts} {asked}" + (f" Not tested: {untested}." if untested else "")


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
    interval: str = "auto",
    title: str = "Audit",
    progress: bool = False,
) -> Report:
    """Audit predictions: which groups fare differently, how sure that is, and what the data cannot say.

    Parameters
    ----------
    frame : one row per case, in any library that narwhals knows (pandas, polars, Arrow, DuckDB, ...); lazy frames too.
    group : one or several columns that say who somebody is. Several are looked at one by one and crossed, up to `depth`
        at once.
    label, prediction : columns with the true and the predicted class. Without labels only what is predicted can be
        compared.
    probability : column with the probability of the `positive` class; where there is no prediction, that class is
        predicted from `threshold` on.
    source : column that says which cases belong together (one person, one template). What counts then is the number of
        sources, and paired designs get the precision of pairs.
    count : column with the number of cases that a row stands for, for data that are counts already.
    positive : the class that is measured against the rest; by default the last in order of two, or each of several.
    reference : the group that others are compared with, or {column: group}; by default everyone else.
    metrics : names of rates (`fairlib.auditing.rates.RATES`) and of summary metrics (Table 2 and AUCs,
        `fairlib.auditing.summary.SUMMARY`); of a kind of which none is named, all that the columns allow.
    margin : the smallest difference that matters: 0.05 for 5 percentage points.
    minimum : groups with fewer independent cases are not tested; they are named instead.
    confidence, power : of the intervals and verdicts; of "so many more cases would show a difference of `margin`".
    interval : how differences of shares get theirs: a method of `fairlib.bounds` for independent groups, or "counts":
        Newcombe's where events are not few, else exact ones. By default "counts"; for sources that are pairs, betting
        on their differences.
    progress : show a bar on the error stream where it takes more than 2 s.

    Costs one pass over the rows, then only counts matter. Wrong columns or values raise a ValueError that names them.
    """
    names = tuple(group) if isinstance(group, list | tuple) else (group,)
    columns = tally.Columns(names, label, prediction, probability, source, count, threshold)
    setting = Setting(columns, reference, depth, metrics, margin, minimum, confidence, power, title, interval)
    counted = tally.read(frame, columns, positive=positive)
    levels = scored.read(frame, columns, len(counted), positive=positive)
    return report(counted, setting, levels, progress=progress)


def report(
    counted: tally.Tally, setting: Setting, levels: dict[str, tally.Tally] | None = None, *, progress: bool = False
) -> Report:
    """Compare everybody that the tally counts; `levels` are for the summary metrics that need probabilities."""
    chosen = rates.measured(counted, [name for name in setting.metrics if name not in summary.SUMMARY])
    compared = groups.families(counted, depth=setting.depth, reference=setting.references)
    questions = [(family, sums) for sums in rates.sums(counted, chosen) for family in compared]
    how = {"interval": setting.interval, "minimum": setting.minimum, "confidence": setting.confidence}
    parts, gaps = [], []
    for family, sums in tqdm(questions, desc="comparing", delay=2, disable=not progress):
        parts.append(_compare(sums, family, **how))
        if counted.source is None and not sums.rate.uses_probability:
            gaps += _gap(sums, family, setting)
    rows = pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
    planned = contrasts.Contrast(**{name: rows[name].to_numpy() for name in contrasts.Contrast._fields})
    rows = rows.drop(columns=["variance", "variance_others", "expected"])
    rows = rows.astype({"units": np.int64, "units_against": np.int64})
    # Holm, not max-T: these are p-values of tests of several kinds, exact for shares, and Holm holds however they hang
    # together. Max-T would need all comparisons again for every draw, and no p could be below 1 / (1 + draws), where a
    # report says "fewer than 1 in 10,000". The summary metrics, few, alike and known by draws only, take max-T.
    rows["p_corrected"] = multiplicity.adjust(rows["p"].where(planned.fewer >= setting.minimum))
    rows["verdict"] = findings.verdicts(rows, setting)
    # Planned for the level at which one comparison among so many is shown; Holm's first step, so a little too careful.
    level = {"alpha": setting.alpha / max(1, int(rows["p_corrected"].notna().sum())), "power": setting.power}
    rows["detectable"] = contrasts.detectable(planned, planned.units, **level)
    rows["more"] = contrasts.more_needed(planned, planned.units, margin=setting.margin, **level)
    rows["growth"] = contrasts.growth(planned, planned.units, margin=setting.margin, **level)
    sources = None if counted.source is None else int(counted.source.max()) + 1
    apart = pd.DataFrame(gaps, columns=GAPS)
    facts = len(counted), sources, counted.classes, counted.notes
    return Report(rows, apart, setting, *facts, counted, levels or {}, progress)


def _compare(sums: rates.Sums, family: groups.Family, **how) -> dict[str, np.ndarray]:
    """Return the columns of the comparisons of one rate within one family."""
    sides, found = comparing.contrast(sums, family, **how)
    size = len(family.compared)
    called = [groups.spoken(family.attributes, family.names[code]) for code in family.compared]
    same = {"group": called, "against": family.against, "rate": sums.name, "class": sums.class_name}
    about = {"attribute": " × ".join(family.attributes)} | same
    columns = {name: np.array(np.broadcast_to(value, size), dtype=object) for name, value in about.items()}
    return (
        columns
        | {name: values.astype(np.int64) if name.startswith("n") else values for name, values in sides.items()}
        | found._asdict()
    )


def _gap(sums: rates.Sums, family: groups.Family, setting: Setting) -> list[tuple]:
    """Return how far the groups are apart that are large enough to say; of two, their difference says it already."""
    count, total = family.total(sums.count), family.total(sums.total)
    enough = np.flatnonzero(count >= setting.minimum)
    if len(enough) < 3:
        return []
    order = enough[np.argsort(total[enough] / count[enough], kind="stable")]
    apart = interval_of_gap(total[enough], count[enough], confidence=setting.confidence)
    highest, lowest = (groups.spoken(family.attributes, family.names[code]) for code in (order[-1], order[0]))
    about = (" × ".join(family.attributes), sums.name, sums.class_name, len(enough), highest, lowest)
    return [(*about, apart.estimate, apart.low, apart.high)]


def main(arguments: list[str]) -> None:
    """`python -m fairlib audit FILE ...`."""
    from fairlib.auditing import command

    command.main(arguments)
