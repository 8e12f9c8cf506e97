"""An audit of a classifier: one call on its predictions, one report of what they show.

An audit is a chain of steps, each in a module of its own:

1. `counts`: a table becomes `Counts`, how many cases share groups and outcomes;
2. `questions`: `Questions`, every rate (`rates`, `sums`) for every way to form groups
   (`groups`), as the `setting` asks;
3. `compared`: `Compared`, the differences with their intervals, tests and verdicts
   (the mathematics is in `comparing` and `strata`);
4. `parts`: `Parts`, all further tables, such as `summary`, `odds`, `selection` and
   `gap_changes`. Each makes its claims within its share of the promise (`shares`);
5. `conclusions`: `Conclusions`, whatever is said in words: `headlines`, `findings` and
   `answers`, and whether the audit fails;
6. here: `Report`, which also writes them as a page (`page`) or a figure (`figures`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pandas import DataFrame

from fairlib.auditing import page
from fairlib.auditing.arrays import table_of
from fairlib.auditing.compared import compare_groups
from fairlib.auditing.conclusions import Conclusions
from fairlib.auditing.counts import Counts, by_level, read
from fairlib.auditing.findings import Finding
from fairlib.auditing.headlines import Headline
from fairlib.auditing.parts import Parts
from fairlib.auditing.questions import Questions, questions_about
from fairlib.auditing.setting import Setting
from fairlib.auditing.wording import plain
from fairlib.checks import check_word
from fairlib.data import write_text

_FIGURES = ("comparisons", "calibration", "thresholds")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report:
    """The results of an audit, as sentences, tables, a page and figures.

    `print(report)` writes sentences, `report.to_frame()` returns the numbers, and
    `report.to_html("report.html")` writes a page that can be sent to others. All tables
    but the comparisons are computed when they are first used.

    Attributes
    ----------
    parts : Parts
        All tables of the audit.
    """

    parts: Parts

    @cached_property
    def conclusions(self) -> Conclusions:
        """Whatever the audit says in words."""
        return Conclusions(parts=self.parts)

    @property
    def verdict(self) -> str:
        """The main result: one or two sentences for each question."""
        return self.conclusions.verdict

    @property
    def headlines(self) -> list[Headline]:
        """The answer to each question: errors, selection, and what else was asked."""
        return list(self.conclusions.headlines)

    @property
    def summary(self) -> str:
        """How many differences were tested, and with which verdicts."""
        return self.conclusions.summary

    @property
    def findings(self) -> list[Finding]:
        """At most five findings; the most important finding comes first."""
        return list(self.conclusions.findings)

    @property
    def by_attribute(self) -> DataFrame:
        """One answer for each attribute, with its clearest difference."""
        return self.conclusions.by_attribute

    @property
    def aside(self) -> list[str]:
        """Notes: which groups are too small to test, which cases were set aside."""
        return list(self.conclusions.aside)

    @property
    def rows(self) -> DataFrame:
        """The table that `to_frame` copies: one row per comparison."""
        return self.parts.comparisons

    @property
    def questions(self) -> Questions:
        """Which rates were compared between which groups, and the counted cases."""
        return self.parts.questions

    @property
    def setting(self) -> Setting:
        """The columns and options of the audit."""
        return self.questions.setting

    @property
    def counts(self) -> Counts:
        """How many cases share each combination of groups and outcomes."""
        return self.questions.counts

    @property
    def metrics(self) -> DataFrame:
        """The fairness metrics of the literature, for each attribute."""
        return self.parts.metrics

    @property
    def odds(self) -> DataFrame | None:
        """The largest difference in the true or false positive rate, by attribute."""
        return self.parts.odds

    @property
    def outcomes(self) -> DataFrame | None:
        """Whether the outcome is as frequent in each group; None without labels."""
        return self.parts.outcomes

    @property
    def groups(self) -> DataFrame:
        """The rates of each group, each with an interval for itself alone."""
        return self.parts.groups

    @property
    def selection(self) -> DataFrame | None:
        """How often each group gets the favourable prediction, against the best rate.

        None without predictions, or if it is open which class is favourable.
        """
        return self.parts.selection

    @property
    def local_law_144(self) -> DataFrame | None:
        """The tables of Local Law 144; None unless they were asked for."""
        return self.parts.local_law_144

    @property
    def strata(self) -> DataFrame | None:
        """The comparisons in each stratum; None without a column `within`."""
        return self.parts.strata

    @property
    def changes(self) -> DataFrame | None:
        """How the rates of each group change with the other model; None without it."""
        return self.parts.changes

    @property
    def gap_changes(self) -> DataFrame | None:
        """Whether the other model narrows the gaps between groups; None without it."""
        return self.parts.gap_changes

    @property
    def calibration(self) -> DataFrame | None:
        """How often the class occurs at each level of its probability, by group.

        None without a column of probabilities or without a column of labels.
        """
        return self.parts.calibration

    @property
    def calibration_test(self) -> DataFrame | None:
        """Whether the same probability means the same in all groups.

        None without a column of probabilities or without a column of labels.
        """
        return self.parts.calibration_test

    @property
    def thresholds(self) -> DataFrame | None:
        """The rates of each group at other thresholds; None without probabilities."""
        return self.parts.thresholds

    def fails(self, verdict: str = "shown") -> bool:
        """Return whether a difference has a verdict, or a surer one (`--fail-on`).

        With labels, this looks at errors, calibration and costs; at selection only if
        it was asked for by name (in `metrics`), or if there are no labels.

        Parameters
        ----------
        verdict : {"shown", "hint", "open"}, default "shown"
            The weakest verdict that fails.
        """
        return self.conclusions.fails(verdict)

    def to_frame(self) -> DataFrame:
        """Return a table with one row per comparison.

        Returns
        -------
        DataFrame
            With these columns. Names that end in "_against" belong to the cases that
            the group is compared with.

            - attribute : the column of groups, or the columns that are crossed.
            - group, against : the group, and what it is compared with.
            - question : "errors" (given the outcome), "selection" (whatever the
              outcome), "mix" (of both), or "cost".
            - rate, class : the rate, and the class that it is about. For the rate
              "cost", the class is the name of the column of costs.
            - n, n_against : the number of cases that the rate is about.
            - value, value_against : the rate. A share lies between 0 and 1; a cost is
              in its own units.
            - units, units_against : the number of independent cases. It is n, unless
              there are sources or weights. With them it is Kish's effective sample
              size: the number of sources of equal size, or of cases of equal weight.
            - ratio, ratio_low, ratio_high : value / value_against with its interval,
              for shares only. The interval excludes 1 exactly if the interval of the
              difference excludes 0.
            - difference : value - value_against.
            - p : the p-value of this comparison alone. If the two sides did not differ,
              a difference like this one would occur at most this often.
            - margin : the smallest difference that matters (the option `margin` or
              `cost_margin`).
            - p_corrected : p, corrected for the number of comparisons (Holm). If no
              group differed from any other, at most this share of audits would find any
              difference that is as clear. It is missing if the comparison was not
              tested.
            - confidence, low, high : the interval of the difference, and its
              confidence. The interval excludes 0 exactly if p is at most
              1 - confidence. All intervals but those of hints are widened for the
              number of comparisons: at a confidence of 0.95, at most 1 in 20 of the
              intervals with the verdict "shown" or "small" misses the true difference.
              Benjamini and Yekutieli (2005) prove this for independent comparisons.
              For the dependent ones of an audit it is measured, in
              benchmarks/audits.md. The interval of a hint is for this comparison alone.
            - verdict : "shown" is strong evidence of a difference and "hint" is some
              evidence; "small" means that a difference as large as the margin is ruled
              out; "open" means that the data are too weak to tell; "too few" and
              "undefined" were not tested.
            - size, ratio_size : what the interval of the difference, or of the ratio,
              supports: "beyond" the margin, "within" it, or "open".
            - crude, crude_against : with strata, the rates of the cases themselves;
              `value` and `value_against` are means over strata.
            - more_of : the group that more cases are planned for: the smaller of two
              groups, otherwise the group itself.
            - settled_by : how many more cases of that group would probably give a clear
              answer. With the probability `power`, they would show a true difference as
              large as the estimate or as the margin, whichever is larger. It is
              infinite if more cases of this group alone are not enough.
            - settled_growth : how many times as many cases of all groups would be
              enough.
        """
        return self.rows.copy()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as a self-contained HTML page.

        Parameters
        ----------
        path : str or Path, optional
            The file to write as well.

        Returns
        -------
        str
            The page. It loads nothing from elsewhere and runs no script.
        """
        return write_text(page.render(self.conclusions, framed=True), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the verdict, the findings and all comparisons as JSON.

        Parameters
        ----------
        path : str or Path, optional
            The file to write as well.

        Returns
        -------
        str
            The JSON text; numbers that are missing or infinite are null.
        """
        return write_text(page.as_json(self.conclusions), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """Return the verdict and the findings as a section for a model card.

        Parameters
        ----------
        path : str or Path, optional
            The file to write as well.

        Returns
        -------
        str
            The section, as Markdown.
        """
        return write_text(page.as_markdown(self.conclusions), path)

    def plot(self, kind: str = "comparisons"):
        """Draw one of three figures.

        Parameters
        ----------
        kind : {"comparisons", "calibration", "thresholds"}, default "comparisons"
            "comparisons" draws the differences with their intervals, for attributes
            that are not crossed. "calibration" draws how often the class occurs at each
            level of its probability. "thresholds" draws the rates of each group at
            other thresholds.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        RuntimeError
            If matplotlib or seaborn is not installed.
        ValueError
            If `kind` is unknown, or needs a column that the audit does not have.
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
        return draw_comparisons(self.parts.compared)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary}>"

    def _repr_html_(self) -> str:
        return page.render(self.conclusions, framed=False)

    def __str__(self) -> str:
        answers = [
            f"{row.attribute}: {row.answer}." for row in self.by_attribute.itertuples()
        ]
        findings = [f"- {finding}" for finding in self.findings]
        lines = [self.summary, self.verdict, *answers, *findings, *self.aside]
        return "\n".join(map(plain, lines))


def audit(
    frame=None,
    y_pred=None,
    groups=None,
    y_true=None,
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
    minimum: int | None = None,
    ratio_margin: float = 0.8,
    favourable=None,
    local_law_144: bool = False,
    bands: Mapping[str, Sequence[float]] | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    title: str = "Audit",
    progress: bool = False,
) -> Report:
    """Compare how a classifier treats groups, and say how sure each difference is.

    An audit computes rates (such as how many of the true cases are missed) for each
    group and compares the groups. It reports which differences chance can hardly
    explain, which differences are ruled out to be large, and where the data are too few
    to tell. The verdicts allow for the number of comparisons: a model that treats all
    groups alike is wrongly flagged in at most 5 % of audits (with the default
    `confidence`).

    Parameters
    ----------
    frame : frame, path or array_like
        A table with one row per case: a data frame, the path of a Parquet file, or
        anything else that `fairlib.tables` reads. Or an array of the true classes (None
        if they are not known), as in `audit(y_true, y_pred, groups)`. Then
        `probability`, `source`, `count`, `within`, `compare`, `cost` and `weight` are
        arrays too. Series of pandas must have the same index; arrays without an index
        are matched by position.
    y_pred : array_like, optional
        The predicted classes, if there is no table. They may be left out if there are
        probabilities.
    groups : array_like or mapping of str to array_like, optional
        The group of each case, if there is no table. Several arrays are given as
        {name: array}.
    y_true : array_like, optional
        The true classes by name, as in `audit(y_true=..., y_pred=..., groups=...)`; the
        same as a first argument that is an array.
    group : str or sequence of str
        One or several columns of groups. Several columns are also crossed (see
        `depth`).
    label : str, optional
        The column of true classes. Without it, errors cannot be counted; only what is
        predicted can be compared.
    prediction : str, optional
        The column of predicted classes.
    probability : str, optional
        The column of the probability that the model gives to the class `positive`.
    source : str, optional
        A column that names what a case comes from, such as a person or a template.
        Every case needs one. Cases of the same source are not taken to be independent,
        so the precision depends on the number of sources. If the same sources occur in
        several groups, the comparison of these groups uses the pairs.
    count : str, optional
        The column with the number of cases that a row stands for. Use it if the table
        holds counts instead of single cases.
    within : str, optional
        A column of strata, such as departments or hospitals. Groups are then compared
        within each stratum, and the differences are averaged (Mantel and Haenszel's
        common difference). `Report.strata` has the comparisons in each stratum. The
        metrics of the literature ignore strata and are left out.
    compare : str, optional
        The column with another model's predictions of the same cases.
        `Report.changes` shows how each group's rates would change with that model, and
        `Report.gap_changes` whether it narrows the gaps between groups.
    cost : str, optional
        A column with a number for each case, such as an amount or minutes waited. Its
        means are compared, in its own units. A cost can be audited without any
        predictions. If costs are very skewed and a group has few cases, there is no
        interval, and the verdict is "undefined".
    weight : str, optional
        The column with the survey weight of each case. Rates are then weighted means;
        their variances are linearised. The scale of the weights does not matter.
    positive : object, optional
        The class that the rates are about; all other classes count as negative. By
        default, it is the last of two classes in sorted order. With three or more
        classes, each class in turn is measured against the rest. If the classes are 0
        and 1, or False and True, a text that is no number is a name for the second.
    threshold : float, default 0.5
        If there is no column of predictions, the positive class counts as predicted
        where its probability is at least this number.
    reference : str or mapping of str to str, optional
        The group that the others are compared with; with several columns of groups,
        {column: group}. By default, each group is compared with everyone else.
    depth : int, default 2
        How many columns of groups are crossed, at most. With 2, there are also groups
        such as "sex = female, age = old"; with 1, there are no such groups.
    metrics : str or sequence of str, optional
        The rates (names of `fairlib.auditing.rates.RATES`) and the metrics of the
        literature (names of `fairlib.auditing.summary.SUMMARY`) to compute. If only
        rates are named, all metrics of the literature are computed as well, and the
        other way round. Rates and metrics that need a missing column are left out. It
        is an error to name one of them.
    rates : mapping of str to str, optional
        Your own rates, as {"wrongly approved": "FP / TP FP FN TN"}. The outcomes before
        the slash are counted. The outcomes after it are all those that they are counted
        among. An outcome is a true positive (TP), false positive (FP), false negative
        (FN) or true negative (TN).
    margin : float, default 0.05
        The smallest difference of rates that matters: 0.05 is 5 percentage points.
    cost_margin : float, optional
        The smallest difference of costs that matters, in the units of the costs.
    minimum : int, optional
        Groups with fewer independent cases are not tested. The report names them. By
        default, a group needs 30 cases, or with `source` cases of 5 sources.
    ratio_margin : float, default 0.8
        The smallest ratio of two rates that does not matter: with 0.8, a difference
        matters if the smaller rate is below four fifths of the larger. A difference
        that is small in points may be large as a ratio; the report then says both.
    favourable : object, optional
        The class that people want to be predicted, such as the one that grants a
        credit. By default, it is the class that the rates are about.
    local_law_144 : bool, default False
        Whether to make the tables of New York City's Local Law 144
        (`Report.local_law_144`).
    bands : mapping of str to sequence of float, optional
        The numbers at which a column of groups is cut, as {"age": [30, 45, 60]}: each
        number begins a band. Without this option, a column with more than 60 different
        numbers is cut into four bands, and the report says so first.
    confidence : float, default 0.95
        The confidence of the intervals and verdicts.
    power : float, default 0.8
        If evidence is weak, the report estimates how many more cases a clear answer
        needs. With so many cases, a true difference as large as the one found, or as
        the margin, would be shown with this probability.
    title : str, default "Audit"
        The title of the report.
    progress : bool, default False
        Whether to show a progress bar on the error stream if a step takes more than 2
        seconds, and the stream is a terminal.

    Returns
    -------
    Report
        `print` it to read the findings; its `to_frame()` returns the numbers, and its
        `to_html()` a page.

    Raises
    ------
    ValueError
        If an option or a column cannot be used. The message names it.

    Notes
    -----
    The interval of a difference combines Clopper and Pearson's interval of each side
    (`fairlib.auditing.comparing`). It covers the true difference in 95 % of samples or
    more, except where one rate is nearly 0 and the other nearly 1 (92.7 %). The default
    method of `fairlib.disparity_interval` for costs of 0 and 1, "exact_unconditional",
    guarantees its coverage and is a few percent narrower. But it is made for two simple
    samples: it cannot use sources, strata, probabilities or ratios, and it is too slow
    for thousands of comparisons.

    An audit reads the table once. It reads the table once more for costs or weights,
    and with probabilities once more for each column of groups.

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
    table, columns = table_of(
        frame,
        y_true=y_true,
        y_pred=y_pred,
        groups=groups,
        group=group,
        parts=parts,
        threshold=threshold,
    )
    columns = replace(columns, bands={} if bands is None else bands)

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
        rates={} if rates is None else rates,
        cost_margin=cost_margin,
        ratio_margin=ratio_margin,
        favourable=favourable,
        local_law_144=local_law_144,
    )
    counts = read(table, columns, positive=positive)
    cases = len(counts)
    levels = by_level(table, columns, cases, positive=positive)
    # The scoring rates of the law need the scores of each crossing.
    crossed = range(2, depth + 1) if local_law_144 else ()
    crossed_levels = by_level(table, columns, cases, positive=positive, crossed=crossed)
    questions = questions_about(
        counts, setting, levels=levels, crossed_levels=crossed_levels
    )
    compared = compare_groups(questions, progress=progress)
    return Report(parts=Parts(compared=compared, progress=progress))
