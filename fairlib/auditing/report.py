"""An audit of a classifier: one call on its predictions, one report of what they show and what not.

people (table -> counts) -> groups (who is compared) -> rates (what is asked; counts -> sums) -> comparing (differences,
intervals, tests, cases needed) -> findings (a verdict, what matters most) -> page. Beside it: summary (Table 2, AUCs),
further (strata, another model, crossings, probabilities). `command` is the command line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from fairlib.auditing import comparing, findings, further, groups, page, people, summary
from fairlib.auditing.rates import Setting, Sums, measured, sums
from fairlib.checks import check_word
from fairlib.data import write_whole
from fairlib.tables.coding import Columns


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What an audit found: `print` it for sentences, `to_frame()` for numbers, `to_html()` for a page to hand on."""

    rows: pd.DataFrame  # as of `to_frame`
    questions: list[tuple[Sums, groups.Family]]  # what is compared, in this order
    setting: Setting
    people: people.People
    levels: dict[str, people.People]  # by attribute, where there are probabilities
    progress: bool = False

    # In this order: from their lines on, `summary` and `findings` are no longer the modules.
    metrics = cached_property(summary.summarize)
    strata = cached_property(further.strata)
    changes = cached_property(further.changes)
    calibration = cached_property(further.calibration)
    thresholds = cached_property(further.thresholds)
    verdict = property(findings.verdict)
    summary = property(findings.summary)
    aside = property(findings.aside)
    findings = cached_property(findings.findings)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per comparison.

        units : how many of the n cases are independent: all, or as many sources as weigh the same. p : how often chance
        does this in this comparison. p_corrected : how often at most it leads to such a claim in an audit of this size
        (Holm; none where there are too few). low, high : an interval with that `confidence`, of which 0 is a part where
        p is more than 1 - confidence. Of all intervals of findings, shown or ruled out, 1 in 20 at most misses (at
        0.95; Benjamini and Yekutieli 2005); that of a hint is for this comparison alone. ratio, ratio_low, ratio_high :
        value / value_against, of shares; its interval leaves out 1 where that of the difference leaves out 0.
        settled_by : how many more cases of the group would show, with the setting's power, a true difference like the
        one found, or the margin if that is more (infinite where the others are too few as well). settled_growth : how
        many times as many of all groups would.

        Of costs ("cost", with the name of their column as class), values are in their units; margin : what matters.
        """
        return self.rows.copy()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one self-contained page, and write it to `path` if given."""
        return _written(page.render(self), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return verdict, findings and all comparisons as JSON, and write it to `path` if given."""
        return _written(page.as_json(self), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return a section for a model card, and write it to `path` if given."""
        return _written(page.as_markdown(self), path)

    def plot(self, kind: str = "comparisons"):
        """Return a matplotlib figure: the "comparisons" of single attributes, "calibration" or "thresholds"."""
        try:
            from fairlib.auditing.figures import KINDS
        except ImportError as error:
            needed = "a figure needs matplotlib and seaborn: pip install 'fairlib-audit[notebooks]'"
            raise RuntimeError(f"{needed} ({error})") from error
        check_word("kind", kind, KINDS)
        return KINDS[kind](self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        return page.render(self, framed=False)

    def __str__(self) -> str:
        lines = [
            self.summary,
            self.verdict,
            *(f"- {finding}" for finding in self.findings),
            *self.aside,
        ]
        return "\n".join(map(findings.plain, lines))


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_whole(
            Path(path), lambda beside: beside.write_text(text, encoding="utf-8")
        )
    return text


def audit(
    frame,
    predicted=None,
    groups_of=None,
    *,
    group: str | Sequence[str] | None = None,
    label: str | None = None,
    prediction: str | None = None,
    probability: str | None = None,
    source: str | None = None,
    count: str | None = None,
    within: str | None = None,
    compare: str | None = None,
    cost: str | None = None,
    weight: str | None = None,
    positive=None,
    threshold: float = 0.5,
    reference: str | Mapping[str, object] | None = None,
    depth: int = 2,
    metrics: str | Sequence[str] | None = None,
    rates: Mapping[str, str] | None = None,
    margin: float = 0.05,
    cost_margin: float | None = None,
    minimum: int = 30,
    confidence: float = 0.95,
    power: float = 0.8,
    title: str = "Audit",
    progress: bool = False,
) -> Report:
    """Audit predictions: which groups fare differently, how sure that is, and what the data cannot say.

    frame : one row per case, in whatever `fairlib.tables` reads; or arrays, as `audit(y_true, y_pred, groups)`: true
        classes (or None), predicted ones (or None beside probabilities), and groups, an array or several by name.
        Then `probability`, `source`, `cost` and so on are arrays as well.
    group : one or several columns that hold groups. Several are also crossed.
    label : column with the true class. Without labels only predictions can be compared.
    prediction : column with the predicted class.
    probability : column with the probability of the `positive` class.
    source : column that says which cases belong together (one person, one template). What counts then is the number of
        sources, and paired designs get the precision of pairs.
    count : column with the number of cases that a row stands for, for data that are counts already.
    within : column of strata (departments, hospitals): groups are compared within them, by the Mantel-Haenszel common
        difference. `Report.strata` has it in each. Metrics of the literature are of all cases together.
    compare : column with another model's predictions of the same cases. `Report.changes` says what changes for whom.
    cost : column with a number for each case (an amount, minutes waited), beside predictions or instead of them. Its
        mean is compared in its own units; as costs may be skewed, few cases can leave an interval undefined.
    weight : column with the weight of each case in a survey. Rates are weighted means, with linearised variances.
    positive : the class that is measured against the rest (by default the last in order of two, or each of several), or
        a name for class 1.
    threshold : from which probability on the positive class is predicted where there is no prediction.
    reference : the group that others are compared with, or {column: group}; by default everyone else.
    depth : how many columns of groups are crossed at once.
    metrics : names of rates and of summary metrics (Table 2 and AUCs); of a kind of which none is named, all that the
        columns allow. They are those of `fairlib.auditing.rates.RATES` and `fairlib.auditing.summary.SUMMARY`.
    rates : rates of your own, as {"wrongly approved": "FP / TP FP FN TN"}: outcomes that are counted, of those that
        qualify. A case is a true or false (T, F) positive or negative (P, N) for a class.
    margin : the smallest difference that matters: 0.05 for 5 percentage points.
    cost_margin : the smallest difference of costs that matters, in their units (default: none is named).
    minimum : groups with fewer independent cases are not tested; they are named instead.
    confidence : of the intervals and verdicts.
    power : with which "so many more cases" would show a difference of `margin`.
    title : of the report; by default of a file its name.
    progress : show a bar on the error stream where it takes more than 2 s.

    Intervals of differences add Clopper and Pearson's limits of either side (`fairlib.auditing.comparing`). The default
    of `fairlib.disparity_interval` for 0-1 costs, "exact_unconditional", is a promise and a few percent narrower on two
    plain samples, but has no answer for sources, strata, probabilities and ratios, and takes its time for each of
    thousands of comparisons. This one covers 95 % but where one rate is nearly 0, the other nearly 1 (.927).

    Takes one pass over the rows, one more per group column where there are probabilities, one more for costs.

    >>> found = audit([1] * 400, [0, 1, 1, 1] * 100, {"sex": ["f", "m"] * 200}, metrics="misses")
    >>> found.to_frame()[["group", "against", "rate", "difference", "verdict"]].to_dict("records")
    [{'group': 'sex = f', 'against': 'sex = m', 'rate': 'misses', 'difference': 0.5, 'verdict': 'shown'}]
    """
    names = tuple(group) if isinstance(group, list | tuple) else (group,)
    columns = Columns(
        names,
        label,
        prediction,
        probability,
        source,
        count,
        threshold,
        within,
        compare,
        cost,
        weight,
    )
    if groups_of is not None:
        frame, columns = people.of_arrays(frame, predicted, groups_of, columns)
    asked, own = (
        (metrics,) if isinstance(metrics, str) else tuple(metrics or ()),
        rates or {},
    )
    setting = Setting(
        columns,
        reference,
        depth,
        asked,
        margin,
        minimum,
        confidence,
        power,
        title,
        own,
        cost_margin,
    )
    cases = people.read(frame, columns, positive=positive)
    chosen = measured(
        cases,
        setting.every_rate,
        [name for name in asked if name not in summary.SUMMARY],
        own,
    )
    families = groups.families(cases, depth=depth, reference=setting.references)
    questions = [
        (each.of(family), family) for each in sums(cases, chosen) for family in families
    ]
    rows = pd.concat(
        [pd.DataFrame(each.about(family)) for each, family in questions],
        ignore_index=True,
    )
    bar = tqdm(questions, desc="comparing", delay=2, disable=not progress)
    found = comparing.joined([further.common(*pair, cases.within) for pair in bar])
    rows, levels = (
        findings.decided(rows, found, setting, cases),
        people.by_level(frame, columns, len(cases), positive),
    )
    return Report(rows, questions, setting, cases, levels, progress)
