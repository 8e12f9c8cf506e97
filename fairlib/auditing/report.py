"""An audit of a classifier: one call on its predictions, one report of what they show.

An audit is a chain of five steps, each in a module of its own:

1. `counts`: a table becomes `Counts`, how many cases share groups and outcomes;
2. `questions`: `Questions`, every rate (`rates`, `sums`) for every way to form groups
   (`groups`), as the `setting` asks;
3. `compared`: `Compared`, the differences with their intervals, tests and verdicts
   (the mathematics is in `comparing` and `strata`);
4. `findings`: `Findings`, a verdict and the findings that matter most, in words;
5. here: `Report`, which also writes them as a page (`page`) or a figure (`figures`).

Beside the chain, `summary` (metrics of the literature), `changes` (another model) and
`probabilities` (calibration, thresholds) answer further questions. The command line is
in `command`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pandas import DataFrame

from fairlib.auditing import page
from fairlib.auditing.arrays import table_of_arrays
from fairlib.auditing.changes import changes
from fairlib.auditing.compared import Compared, compare_groups
from fairlib.auditing.counts import Counts, by_level, read
from fairlib.auditing.findings import Finding, Findings, findings_of
from fairlib.auditing.probabilities import calibration, thresholds
from fairlib.auditing.questions import Questions, questions_about
from fairlib.auditing.setting import Columns, Setting
from fairlib.auditing.strata import strata
from fairlib.auditing.summary import summarize
from fairlib.auditing.wording import plain
from fairlib.checks import check_word
from fairlib.data import write_whole

_FIGURES = ("comparisons", "calibration", "thresholds")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report:
    """What an audit shows: sentences, tables, a page and figures.

    `print` it for sentences, `to_frame()` for numbers, `to_html()` for a page to hand
    on. Every further table is computed when it is first used.

    Attributes
    ----------
    result : Findings
        All results of the audit; its `compared` holds the comparisons.
    progress : bool
        Whether further tables show a bar where they take more than 2 s.
    """

    result: Findings
    progress: bool = False

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        return self.result.verdict

    @property
    def summary(self) -> str:
        """How many comparisons there are, and with which results."""
        return self.result.summary

    @property
    def findings(self) -> list[Finding]:
        """At most five findings, the one that matters most first."""
        return list(self.result.items)

    @property
    def aside(self) -> list[str]:
        """Who is in no comparison, and what else a reader should know."""
        return list(self.result.aside)

    @property
    def rows(self) -> DataFrame:
        """The comparisons, as of `to_frame`."""
        return self._compared.rows

    @property
    def questions(self) -> Questions:
        """What was compared, and the counts that answer it."""
        return self.result.compared.questions

    @property
    def setting(self) -> Setting:
        """How groups were compared."""
        return self.questions.setting

    @property
    def counts(self) -> Counts:
        """The counted cases."""
        return self.questions.counts

    @cached_property
    def metrics(self) -> DataFrame:
        """The metrics of the literature for each attribute, as of `summarize`."""
        return summarize(self.questions, progress=self.progress)

    @cached_property
    def strata(self) -> DataFrame | None:
        """The comparisons in each stratum; None without strata."""
        return strata(self.questions)

    @cached_property
    def changes(self) -> DataFrame | None:
        """What the other model changes in each group; None without another model."""
        return changes(self.questions)

    @cached_property
    def calibration(self) -> DataFrame | None:
        """How far probabilities hold in each group; None without probabilities."""
        return calibration(self.questions)

    @cached_property
    def thresholds(self) -> DataFrame | None:
        """What other thresholds would predict; None without probabilities."""
        return thresholds(self.questions)

    def to_frame(self) -> DataFrame:
        """Return one row per comparison.

        Returns
        -------
        DataFrame
            With these columns:

            - attribute, group, against, rate, class : what is compared. The class of
              costs ("cost") is the name of their column.
            - n, n_against : the cases of either side.
            - value, value_against : the rate of either side; costs are in their units.
            - units, units_against : how many of the n cases are independent: all, or as
              many sources as weigh the same.
            - ratio, ratio_low, ratio_high : value / value_against, of shares. The
              interval excludes 1 where the interval of the difference excludes 0.
            - difference : value - value_against.
            - p : how often chance does this in this comparison.
            - margin : the smallest difference that matters.
            - p_corrected : how often at most chance leads to such a claim in an audit
              of this size (Holm); missing where there are too few cases.
            - confidence, low, high : an interval of the difference. It includes 0 where
              p is more than 1 - confidence. Of all intervals of findings, shown or
              ruled out, at most 1 in 20 misses (at 0.95; Benjamini and Yekutieli 2005).
              The interval of a hint is for this comparison alone.
            - verdict : "shown", "hint", "open", "small", "too few" or "undefined".
            - settled_by : how many more cases of the group would show, with the power
              of the setting, a true difference like the estimated one, or the margin if
              that is larger. Infinite where the others are too few as well.
            - settled_growth : how many times as many cases of all groups would show it.
        """
        return self.rows.copy()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one self-contained page, and write it to `path`."""
        return _written(self._page(framed=True), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return verdict, findings and comparisons as JSON, and write it to `path`."""
        return _written(page.as_json(self.result), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return a section for a model card, and write it to `path`."""
        return _written(page.as_markdown(self.result), path)

    def plot(self, kind: str = "comparisons"):
        """Return a figure of the report.

        Parameters
        ----------
        kind : {"comparisons", "calibration", "thresholds"}, default "comparisons"
            What is drawn: the comparisons of single attributes, how far probabilities
            hold, or what other thresholds would predict.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        RuntimeError
            If matplotlib or seaborn is not installed.
        """
        try:
            from fairlib.auditing.figures import (
                draw_calibration,
                draw_comparisons,
                draw_thresholds,
            )
        except ImportError as error:
            raise RuntimeError(
                "a figure needs matplotlib and seaborn: "
                f"pip install 'fairlib-audit[notebooks]' ({error})"
            ) from error

        check_word("kind", kind, _FIGURES)
        if kind == "calibration":
            return draw_calibration(self.calibration)
        if kind == "thresholds":
            return draw_thresholds(self.thresholds)
        return draw_comparisons(self._compared)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        return self._page(framed=False)

    def __str__(self) -> str:
        findings = [f"- {finding}" for finding in self.findings]
        lines = [self.summary, self.verdict, *findings, *self.aside]
        return "\n".join(map(plain, lines))

    @property
    def _compared(self) -> Compared:
        return self.result.compared

    def _page(self, *, framed: bool) -> str:
        """Return the page, or what a notebook shows of it."""
        return page.render(
            self.result, metrics=self.metrics, changes=self.changes, framed=framed
        )


def _written(text: str, path: str | Path | None) -> str:
    """Write a text to `path` if there is one, and return it."""
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
    """Audit predictions: find the groups that a classifier treats differently.

    The report says how sure each difference is, and what the data cannot show.

    Parameters
    ----------
    frame : frame, path or array_like
        A table with one row per case, in any form that `fairlib.tables` reads. Or the
        true classes as an array (or None), as in `audit(y_true, y_pred, groups)`; then
        `probability`, `source`, `cost` and so on are arrays as well.
    predicted : array_like, optional
        The predicted classes, if `frame` is an array; None beside probabilities.
    groups_of : array_like or mapping of str to array_like, optional
        The groups, if `frame` is an array: one array, or several by name.
    group : str or sequence of str
        One or several columns that hold groups. Several columns are also crossed.
    label : str, optional
        Column with the true class. Without it, only predictions can be compared.
    prediction : str, optional
        Column with the predicted class.
    probability : str, optional
        Column with the probability of the `positive` class.
    source : str, optional
        Column that says which cases belong together (one person, one template). The
        number of sources then counts, and paired designs get the precision of pairs.
    count : str, optional
        Column with the number of cases that a row stands for, if data are counts.
    within : str, optional
        Column of strata (departments, hospitals). Groups are compared within them, by
        the Mantel-Haenszel common difference. `Report.strata` has the comparisons in
        each stratum. Metrics of the literature are of all cases together.
    compare : str, optional
        Column with another model's predictions of the same cases. `Report.changes`
        says what would change for whom.
    cost : str, optional
        Column with a number for each case (an amount, minutes waited), beside
        predictions or instead of them. Its mean is compared in its own units. Costs may
        be skewed; then the interval is undefined where there are few cases.
    weight : str, optional
        Column with the weight of each case in a survey. Rates are weighted means, with
        linearised variances.
    positive : object, optional
        The class that is measured against the rest, or a name for class 1. By default,
        it is the last in order of two classes, or each of several.
    threshold : float, default 0.5
        The probability from which on the positive class is predicted, if there is no
        column of predictions.
    reference : str or mapping of str to str, optional
        The group that others are compared with, or {column: group}. By default, a group
        is compared with everyone else.
    depth : int, default 2
        How many columns of groups are crossed at once.
    metrics : str or sequence of str, optional
        Names of rates (`fairlib.auditing.rates.RATES`) and of metrics of the literature
        (`fairlib.auditing.summary.SUMMARY`: Table 2 and AUCs). If no name of a kind is
        given, all of that kind are computed that the columns allow.
    rates : mapping of str to str, optional
        Rates of your own, as {"wrongly approved": "FP / TP FP FN TN"}: the outcomes
        that are counted, and the outcomes that qualify. A case is a true or false (T,
        F) positive or negative (P, N) for a class.
    margin : float, default 0.05
        The smallest difference that matters: 0.05 for 5 percentage points.
    cost_margin : float, optional
        The smallest difference of costs that matters, in their units.
    minimum : int, default 30
        Groups with fewer independent cases are not tested; they are named instead.
    confidence : float, default 0.95
        Confidence of the intervals and verdicts.
    power : float, default 0.8
        Probability with which "so many more cases" would show a difference of `margin`.
    title : str, default "Audit"
        Title of the report.
    progress : bool, default False
        Show a bar on the error stream where it takes more than 2 s.

    Returns
    -------
    Report
        `print` it for sentences; `to_frame()` has the numbers, `to_html()` the page.

    Raises
    ------
    ValueError
        If an option or a column cannot be used; the message names it.

    Notes
    -----
    Intervals of differences add Clopper and Pearson's limits of either side
    (`fairlib.auditing.comparing`). They cover 95 % except where one rate is nearly 0
    and the other nearly 1 (.927). The default of `fairlib.disparity_interval` for 0-1
    costs, "exact_unconditional", guarantees its coverage and is a few percent narrower
    for two plain samples. But it has no answer for sources, strata, probabilities and
    ratios, and it is too slow for thousands of comparisons.

    An audit takes one pass over the rows, one more per group column where there are
    probabilities, and one more for costs.

    Examples
    --------
    >>> label = [1] * 400
    >>> prediction = [0, 1, 1, 1] * 100
    >>> sex = ["f", "m"] * 200
    >>> report = audit(label, prediction, {"sex": sex}, metrics="misses")
    >>> row = report.to_frame().iloc[0]
    >>> row["group"], row["against"], float(row["difference"]), row["verdict"]
    ('sex = f', 'sex = m', 0.5, 'shown')
    """
    parts = {
        "label": label,
        "prediction": prediction,
        "probability": probability,
        "source": source,
        "count": count,
        "within": within,
        "compare": compare,
        "cost": cost,
        "weight": weight,
    }
    if groups_of is None:
        names = tuple(group) if isinstance(group, list | tuple) else (group,)
        table = frame
        columns = Columns(group=names, threshold=threshold, **parts)
    else:
        arrays = parts | {"label": frame, "prediction": predicted}
        table, columns = table_of_arrays(groups_of, arrays, threshold=threshold)

    setting = Setting(
        columns=columns,
        reference=reference,
        depth=depth,
        metrics=(metrics,) if isinstance(metrics, str) else tuple(metrics or ()),
        margin=margin,
        minimum=minimum,
        confidence=confidence,
        power=power,
        title=title,
        rates=rates or {},
        cost_margin=cost_margin,
    )
    counts = read(table, columns, positive=positive)
    levels = by_level(table, columns, len(counts), positive)
    questions = questions_about(counts, setting, levels=levels)
    compared = compare_groups(questions, progress=progress)
    return Report(result=findings_of(compared), progress=progress)
