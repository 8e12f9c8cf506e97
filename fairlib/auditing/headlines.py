"""One headline for each question: errors, selection, costs, and mixes of both.

Whether errors differ between groups and whether selection differs are two questions. A
classifier that makes no errors still selects more people of a group in which the
outcome is more frequent. So each question has a headline of its own, and the headline
about selection says whether outcomes differ, too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pandas import DataFrame

from fairlib.auditing.findings import strongest
from fairlib.auditing.parts import Parts
from fairlib.auditing.rows import records
from fairlib.auditing.sentences import margin_of
from fairlib.auditing.wording import counted, joined, percent

# What differs, by question.
_SUBJECTS = {
    "errors": "Error rates",
    "selection": "Selection rates",
    "mix": "Rates that depend on both errors and outcomes",
    "cost": "Costs",
}
_NO_PROOF = "which does not prove that there is none"
_MOST_NAMES = 3


@dataclass(frozen=True, kw_only=True)
class Headline:
    """The answer to one question in one or two sentences.

    Attributes
    ----------
    question : {"errors", "selection", "mix", "cost", "calibration", "gap changes"}
        What is asked.
    verdict : {"shown", "open", "small", "none"}
        "shown": a difference is shown. "small": every difference is ruled out to be as
        large as the margin. "open": neither. "none": nothing could be tested.
    text : str
        The answer.
    """

    question: str
    verdict: str
    text: str

    def __str__(self) -> str:
        return self.text


def headlines(parts: Parts) -> tuple[Headline, ...]:
    """Return one headline for each question that the audit answers."""
    writers: Iterable[Callable[[Parts], Headline | None]] = (
        lambda parts: _of_rates(parts, "errors"),
        lambda parts: _of_rates(parts, "cost"),
        _of_calibration,
        lambda parts: _of_rates(parts, "selection"),
        _of_mixes,
        _of_gap_changes,
    )

    lines = [line for writer in writers if (line := writer(parts)) is not None]
    tested = parts.comparisons["p_corrected"].count()
    if any(line.verdict != "none" for line in lines) or not lines:
        lines = [line for line in lines if line.verdict != "none"]
    if not tested and not lines:
        return (_nothing(parts),)
    return tuple(lines)


def _nothing(parts: Parts) -> Headline:
    """Say that nothing could be tested, and what it would need."""
    setting = parts.questions.setting
    skewed = " and are not too skewed" if setting.columns.cost else ""
    return Headline(
        question="errors",
        verdict="none",
        text="Nothing can be said: in no comparison do both sides have at least "
        f"{setting.fewest} {setting.unit} that vary{skewed}.",
    )


def _of_rates(parts: Parts, kind: str) -> Headline | None:
    """Return the headline about errors, selection or costs."""
    rows = parts.comparisons
    of_kind = rows[rows["question"] == kind]
    if of_kind.empty:
        return None

    if kind == "errors" and _has_no_errors(of_kind):
        return Headline(question=kind, verdict="small", text=_no_errors(of_kind))

    tested = of_kind[of_kind["p_corrected"].notna()]
    shown = tested[tested["verdict"] == "shown"]
    metrics = _metrics_shown(parts, kind)
    if shown.empty and not metrics:
        if tested.empty:
            return None
        return _not_shown(parts, kind, tested)

    details = _shown(parts, tested, shown) if len(shown) else _listed(metrics)
    text = f"{_subject(parts, kind)} differ{_between(parts)}: {details}."
    if kind == "selection":
        text += f" {_outcomes(parts)}"
    return Headline(question=kind, verdict="shown", text=text)


def _subject(parts: Parts, kind: str) -> str:
    """Return what a headline is about."""
    if kind == "mix" and _asks_for_wrong_predictions_alone(parts):
        return "Rates of wrong predictions"
    if kind == "cost" and parts.questions.counts.cost is not None:
        return f"Means of ‘{parts.questions.counts.cost.name}’"
    return _SUBJECTS[kind]


def _asks_for_wrong_predictions_alone(parts: Parts) -> bool:
    """Whether the only mix of errors and outcomes is the rate of wrong predictions."""
    rows = parts.comparisons
    return set(rows.loc[rows["question"] == "mix", "rate"]) == {"errors"}


def _between(parts: Parts) -> str:
    """Say between whom rates differ."""
    within = parts.questions.setting.columns.within
    return f" between groups, within {within!r}" if within else " between groups"


def _has_no_errors(of_kind: DataFrame) -> bool:
    """Whether no case of any comparison is an error."""
    largest = of_kind[["value", "value_against"]].max().max()
    return bool(largest == 0)


def _no_errors(of_kind: DataFrame) -> str:
    """Say that there are no errors, and which differences of errors that rules out."""
    text = "Errors do not differ between groups: there are none."
    ends = (
        of_kind.loc[of_kind["p_corrected"].notna(), ["low", "high"]].abs().max(axis=1)
    )
    if len(ends) and ends.notna().any():
        largest = f"{100 * ends.max():.2g}"
        points = "point" if largest == "1" else "points"
        text += (
            " The data rule out that rates of misses or false alarms differ by more "
            f"than {largest} {points}, where they could be tested."
        )
    return text


def _shown(parts: Parts, tested: DataFrame, shown: DataFrame) -> str:
    """Say how many differences have strong evidence, how large they are, and where."""
    have = "has" if len(shown) == 1 else "have"
    number = f"{len(shown):,} of {len(tested):,} differences tested"
    if len(tested) == 1:
        number = "the one difference tested"
    elif len(tested) == len(shown):
        all_of_them = "both" if len(tested) == 2 else f"all {len(tested):,}"
        number = f"{all_of_them} differences tested"

    text = f"{number} {have} strong evidence{_sizes(shown)}"
    if len(tested) == 1:
        return text

    first = strongest(shown, parts.questions)
    subject = "It" if len(shown) == 1 else "The most important one"
    has_classes = tested["class"].nunique() > 1
    rate = parts.questions.setting.every_rate[first.rate]
    topic = rate.topic(first.class_name if has_classes else "")
    return f"{text}. {subject} concerns {topic} for {first.group}"


def _sizes(shown: DataFrame) -> str:
    """Say how many differences are as large as their margin, by their intervals."""
    with_margin = shown[shown["size"] != ""]
    if with_margin.empty:
        return ""

    margin = margin_of(next(iter(records(with_margin))))
    number = with_margin["size"].value_counts()
    is_single = len(shown) == 1
    are = "is" if is_single else "are"
    if number.get("beyond", 0) == len(shown):
        return f" and {are} at least {margin}"
    if number.get("within", 0) == len(shown):
        return f" and {are} less than {margin}"
    if is_single:
        return f", but may be less or more than {margin}"

    words = {
        "beyond": (f"is at least {margin}", f"are at least {margin}"),
        "within": (f"is less than {margin}", f"are less than {margin}"),
        "open": (f"may be less or more than {margin}",) * 2,
    }
    sizes = [
        f"{number[size]:,} {words[size][int(number[size] > 1)]}"
        for size in words
        if number.get(size, 0)
    ]
    return f"; {joined(sizes)}"


def _not_shown(parts: Parts, kind: str, tested: DataFrame) -> Headline:
    """Say that no difference is shown, and what is ruled out."""
    setting = parts.questions.setting
    differences = counted(len(tested), "differences")
    subject = {
        "errors": "in error rates",
        "selection": "in selection rates",
        "mix": "in rates that depend on errors and outcomes",
        "cost": "in costs",
    }[kind]
    if kind == "mix" and _asks_for_wrong_predictions_alone(parts):
        subject = "in rates of wrong predictions"
    small = int((tested["verdict"] == "small").sum())

    margin = setting.points
    if kind == "cost":
        margin = ""
        if setting.cost_margin:
            margin = f"{setting.cost_margin:g} of ‘{setting.columns.cost}’"
    elif setting.margin:
        margin = f"{100 * setting.margin:g} points"

    if small == len(tested):
        comparisons = {1: "the one comparison", 2: "both comparisons"}.get(
            small, f"all {small:,} comparisons"
        )
        text = f"No difference {subject} of {margin} or more: the data rule out so "
        text += f"large a difference in {comparisons}."
        return Headline(
            question=kind, verdict="small", text=text + _untested(parts, kind)
        )

    text = f"There is no strong evidence of a difference {subject}, {_NO_PROOF}. "
    if not margin:
        text += "Without a cost_margin, no difference is ruled out."
    elif small:
        are = "is" if small == 1 else "are"
        remain = len(tested) - small
        remains = "remains" if remain == 1 else "remain"
        text += (
            f"Of {differences} tested, {small:,} {are} ruled out to be {margin} or "
            f"more, and {remain:,} {remains} undecided."
        )
    elif len(tested) == 1:
        text += f"The one difference tested may still be {margin} or more."
    else:
        text += f"Each of the {differences} tested may still be {margin} or more."
    return Headline(question=kind, verdict="open", text=text + _untested(parts, kind))


def _untested(parts: Parts, kind: str) -> str:
    """Say how many differences of a kind could not be tested, if there are some."""
    rows = parts.comparisons
    of_kind = rows[rows["question"] == kind]
    untested = int(of_kind["p_corrected"].isna().sum())
    if not untested:
        return ""
    return f" {counted(untested, 'differences')} could not be tested."


def _metrics_shown(parts: Parts, kind: str) -> list[str]:
    """Return the metrics and the odds that are shown to differ, with attributes."""
    claims = parts.claims
    is_metric = claims["part"].isin(["metrics", "odds"])
    shown = claims[
        is_metric & (claims["question"] == kind) & (claims["verdict"] == "shown")
    ]
    texts = [
        f"{name} by {attribute}"
        for name, attribute in zip(shown["name"], shown["attribute"], strict=True)
    ]
    return [*dict.fromkeys(texts)]


def _listed(names: list[str]) -> str:
    """List a few names, and count the others."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    more = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])} and {counted(more, 'more metrics')}"


def _outcomes(parts: Parts) -> str:
    """Say whether outcomes differ as well, beside selection rates that do."""
    table = parts.outcomes
    if table is None:
        return "Without labels, this audit cannot tell whether outcomes differ as well."
    shown = table[table["verdict"] == "shown"]
    if shown.empty:
        return "There is no strong evidence that outcomes differ."
    clearest = shown.loc[shown["p"].idxmin()]
    rates = sorted([clearest["value"], clearest["value_against"]], reverse=True)
    return (
        f"Outcomes differ, too: the base rates by {clearest['attribute']} are "
        f"{percent(rates[0])} and {percent(rates[1])}."
    )


def _of_mixes(parts: Parts) -> Headline | None:
    """Return a headline about rates that mix errors and outcomes, if some differ."""
    rows = parts.comparisons
    of_kind = rows[(rows["question"] == "mix") & rows["p_corrected"].notna()]
    shown = of_kind[of_kind["verdict"] == "shown"]
    rates = parts.questions.setting.every_rate
    names = [rates[name].topic() for name in dict.fromkeys(shown["rate"])]
    metrics = [*dict.fromkeys(_metrics_shown(parts, "mix"))]
    if not names and not metrics:
        only_kind = set(rows["question"]) == {"mix"}
        return _of_rates(parts, "mix") if only_kind else None

    return Headline(
        question="mix",
        verdict="shown",
        text=f"{_SUBJECTS['mix']} differ as well ({_listed(names or metrics)}). "
        "They would also differ if only outcomes did.",
    )


def _of_calibration(parts: Parts) -> Headline | None:
    """Return the headline about what probabilities mean."""
    table = parts.calibration_test
    if table is None or table.empty:
        return None

    shown = table[table["verdict"] == "shown"]
    if shown.empty:
        return None
    attributes = _listed([*dict.fromkeys(shown["attribute"])])
    return Headline(
        question="calibration",
        verdict="shown",
        text="The same probability does not mean the same in all groups (calibration "
        f"by {attributes}).",
    )


def _of_gap_changes(parts: Parts) -> Headline | None:
    """Return the headline about what another model does to the gaps."""
    table = parts.gap_changes
    if table is None or table.empty:
        return None
    kinds = parts.questions.looked_at()
    among = " of error rates" if "selection" not in kinds else ""
    of_kind = table[table["question"].isin(kinds)]
    tested = of_kind[of_kind["p_corrected"].notna()]
    if tested.empty:
        return None

    shown = tested[tested["verdict"] == "shown"]
    if shown.empty:
        return Headline(
            question="gap changes",
            verdict="open",
            text="There is no strong evidence that the other model narrows or widens a "
            f"gap{among} ({counted(len(tested), 'gaps')} tested).",
        )

    verbs = {
        "narrower": "narrows",
        "wider": "widens",
        "other sign": "reverses",
    }
    texts = []
    for direction, verb in verbs.items():
        gaps = shown[shown["direction"] == direction]
        if len(gaps):
            first = gaps.loc[gaps["p"].idxmin()]
            rate = parts.questions.setting.every_rate[first["rate"]]
            most_clearly = "" if len(gaps) == 1 else "most clearly "
            texts.append(
                f"{verb} {counted(len(gaps), 'gaps')}{among} ({most_clearly}"
                f"{rate.topic(first['class'])} by {first['attribute']}, "
                f"from {100 * abs(first['gap_before']):.1f} to "
                f"{100 * abs(first['gap_after']):.1f} points)"
            )
    return Headline(
        question="gap changes",
        verdict="shown",
        text=f"The other model {' and '.join(texts)}.",
    )
