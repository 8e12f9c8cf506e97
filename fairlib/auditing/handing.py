"""A report in other forms: data for programs, a section of a model card, a figure."""

from __future__ import annotations

import json
import re

import numpy as np

from fairlib.auditing import findings
from fairlib.auditing.findings import grouped, records

FOUR_FIFTHS = 0.8  # Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D
MOST = 30  # comparisons in a figure


def as_json(report) -> str:
    """Return verdict, findings, who is set aside, and all comparisons as JSON; what is undefined is null."""
    columns = report.setting.columns._asdict()
    about = {name: value for name, value in vars(report.setting).items() if name != "columns"} | columns
    found = [vars(finding) for finding in report.findings]
    said = {"title": report.setting.title, "verdict": report.verdict, "summary": report.summary, "findings": found}
    rows = json.loads(report.rows.to_json(orient="records", double_precision=15))
    return json.dumps(said | {"aside": report.aside, "setting": about, "comparisons": rows}, indent=1, default=str)


def as_markdown(report) -> str:
    """Return a section for a model card: the verdict, what matters most, and who is set aside."""
    lines = [f"## Fairness: {report.setting.title}", "", f"**{report.verdict}**", ""]
    lines += [f"{place}. {finding}" for place, finding in enumerate(report.findings, 1)]
    lines += ["", report.summary, *(["", *report.aside] if report.aside else [])]
    return "\n".join(_escaped(findings.plain(line)) if line else line for line in lines) + "\n"


def _escaped(line: str) -> str:
    """Keep names from being markup: of what Markdown reads, only what the section itself writes at a line's edges."""
    edges = re.fullmatch(r"(## |\*\*|\d+\. )?(.*?)(\*\*)?", line)
    start, text, end = (part or "" for part in edges.groups())
    return start + re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text) + end


def impact(report) -> dict[str, list]:
    """Return, by attribute and class, how often groups are predicted, as ratios, beside the four-fifths line."""
    rows = report.rows[(report.rows["rate"] == "predicted") & report.rows["ratio"].notna()]
    rows = rows[~rows["verdict"].isin(["too few", "undefined"])]
    below, above = rows["ratio_high"] < FOUR_FIFTHS, rows["ratio_low"] > 1 / FOUR_FIFTHS
    within = (rows["ratio_low"] > FOUR_FIFTHS) & (rows["ratio_high"] < 1 / FOUR_FIFTHS)
    words = np.select([below, above, within], ["under 4/5", "others under 4/5", "within 4/5"], "undecided")
    single = [name for name, family in report.families.items() if len(family.attributes) == 1]
    rows = rows.assign(line=words)
    return grouped(records(rows[rows["attribute"].isin(single)]), "attribute", "class_name", "against")


def figure(report):
    """Draw the comparisons of single attributes, those of the clearest 30, with the margin as a band; a figure."""
    try:
        import matplotlib.pyplot as plt

        from fairlib import plots
    except ImportError as error:
        raise RuntimeError(
            f"a figure needs matplotlib and seaborn: pip install 'fairlib-audit[notebooks]' ({error})"
        ) from error
    single = [name for name, family in report.families.items() if len(family.attributes) == 1]
    rows = report.rows[report.rows["attribute"].isin(single) & report.rows["low"].notna()]
    rows = rows[rows["verdict"] != "too few"].sort_values("p", kind="stable").head(MOST).sort_index()
    height = 0.9 + 0.24 * len(rows)
    drawn, ax = plt.subplots(figsize=(plots.WIDTH, height), layout="constrained")
    margin = 100 * report.setting.margin
    ax.axvspan(-margin, margin, color="#e8edf2", zorder=0)
    ax.axvline(0, color=plots.COLOURS["grey"], linewidth=1, zorder=1)
    for place, row in enumerate(records(rows)):
        look = {"colour": "vermillion", "marker": "o"} if row.verdict == "shown" else {"colour": "black", "marker": "s"}
        ends = ([100 * getattr(row, name)] for name in ("difference", "low", "high"))
        plots.intervals([place], *ends, ax=ax, horizontal=True, **look)
    names = [f"{row.group}: {row.rate}" + (f" ({row.class_name})" if row.class_name else "") for row in records(rows)]
    names = [findings.plain(name.replace("$", r"\$"))[:80] for name in names]
    ax.set(yticks=range(len(rows)), yticklabels=names, ylim=(len(rows) - 0.5, -0.5))
    ax.set(xlabel="percentage points more (+) or less (−) than those compared with\nred circles: strong evidence")
    return drawn
