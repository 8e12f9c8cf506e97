"""One answer for each attribute that was asked about.

Somebody who asks about sex and race should find both on the first screen, whatever was
found about the other.
"""

import numpy as np
from pandas import DataFrame

from fairlib.auditing.findings import strongest
from fairlib.auditing.parts import Parts
from fairlib.auditing.sentences import apart
from fairlib.auditing.wording import counted, joined

COLUMNS = (
    "attribute",
    "answer",
    "verdict",
    "question",
    "rate",
    "class",
    "group",
    "against",
    "difference",
    "low",
    "high",
    "shown",
    "tested",
)


def by_attribute(parts: Parts) -> DataFrame:
    """Return one row per attribute with its clearest difference and an answer in words.

    Returns
    -------
    DataFrame
        `answer` says it in words; `rate`, `class`, `group`, `against`, `difference`,
        `low` and `high` are those of the clearest difference; `shown` of `tested`
        comparisons have strong evidence.
    """
    names = parts.questions.setting.columns.group
    rows = [_answer(parts, name) for name in names]
    return DataFrame(rows, columns=list(COLUMNS))


def _answer(parts: Parts, attribute: str) -> dict[str, object]:
    """Return the answer about one attribute."""
    rows = parts.comparisons
    of_attribute = rows[rows["attribute"] == attribute]
    tested = of_attribute[of_attribute["p_corrected"].notna()]
    shown = tested[tested["verdict"] == "shown"]
    claims = parts.claims
    others = claims[
        (claims["attribute"] == attribute)
        & claims["part"].isin(["metrics", "odds", "calibration"])
        & (claims["verdict"] == "shown")
    ]
    counts = {
        "attribute": attribute,
        "shown": len(shown),
        "tested": len(tested),
        "difference": np.nan,
        "low": np.nan,
        "high": np.nan,
        "question": "",
        "rate": "",
        "class": "",
        "group": "",
        "against": "",
    }
    beside = [*dict.fromkeys(others["name"])]
    metrics = others.loc[others["part"] == "metrics", "name"].nunique()
    further = [name for name in beside if name in ("equalized odds", "calibration")]

    if len(shown):
        row = strongest(shown, parts.questions)
        answer = _without_errors(row, tested)
        rate = parts.questions.setting.every_rate[row.rate]
        answer += f"{rate.topic(row.class_name)} are {apart(row)}"
        answer += f"{_whose(row, attribute)}; "
        answer += _rest(len(shown) - 1, metrics, further)
        return counts | {
            "answer": answer,
            "verdict": "shown",
            "question": row.question,
            "rate": row.rate,
            "class": row.class_name,
            "group": row.group,
            "against": row.against,
            "difference": row.difference,
            "low": row.low,
            "high": row.high,
        }

    if beside:
        answer = "no single rate has strong evidence of a difference, but there is "
        answer += f"strong evidence of differences in {', '.join(beside[:3])}"
        if len(beside) > 3:
            answer += f" and {counted(len(beside) - 3, 'more metrics')}"
        return counts | {"answer": answer, "verdict": "shown"}

    if tested.empty:
        unit = parts.questions.setting.unit
        answer = f"too few {unit} to say anything"
        return counts | {"answer": answer, "verdict": "none"}

    small = int((tested["verdict"] == "small").sum())
    answer = f"no strong evidence of a difference; {_ruled_out(small, len(tested))}"
    if untested := len(of_attribute) - len(tested):
        answer += f"; {untested:,} could not be tested"
    verdict = "small" if small == len(tested) else "open"
    return counts | {"answer": answer, "verdict": verdict}


def _ruled_out(small: int, tested: int) -> str:
    """Say in how many comparisons a difference as large as the margin is ruled out."""
    large = "a difference as large as the margin"
    if small == tested:
        return f"each comparison rules out {large}"
    if tested == 1:
        return f"the one comparison does not rule out {large}"
    if not small:
        return f"none of the {tested:,} comparisons rules out {large}"
    rule = "rules" if small == 1 else "rule"
    return f"{small:,} of the {tested:,} comparisons {rule} out {large}"


def _without_errors(row, tested: DataFrame) -> str:
    """Say first that no error rate differs, if something else does."""
    errors = tested[tested["question"] == "errors"]
    if row.question == "errors" or errors.empty:
        return ""
    return "no strong evidence that error rates differ; "


def _whose(row, attribute: str) -> str:
    """Name the group that is worse off, and those it is compared with."""
    group = row.group.removeprefix(f"{attribute} = ")
    against = row.against.removeprefix(f"{attribute} = ")
    more = "more" if row.difference > 0 else "less"
    return f", {more} for {group} than for {against}"


def _rest(more: int, metrics: int, further: list[str]) -> str:
    """Say how many further differences of the attribute are shown."""
    parts = []
    if more:
        parts.append(counted(more, "more differences"))
    if metrics:
        parts.append(counted(metrics, "metrics"))
    parts += further
    if not parts:
        return "no other difference has strong evidence"

    is_single = more + metrics == 1 and not further
    has = "has" if is_single or parts == ["calibration"] else "have"
    return f"{joined(parts)} {has} strong evidence"
