"""Write docs/published_audits.md: what the impact ratios of published audits can show.

`python benchmarks/published_audits.py` writes the page from the bundled counts.
"""

from string import Template

from pandas import DataFrame

from fairlib.data import ROOT, load
from fairlib.recipes.local_law_144_audits import AUDITS

PAGE = ROOT / "docs" / "published_audits.md"
TEMPLATE = ROOT / "benchmarks" / "published_audits_page.md"
SIZES = ("1-29", "30-99", "100-999", "1000-9999", "10000+")
REASONS = {
    "no single reference": "No single reference rate gives all printed ratios of the "
    "table, even if every printed rate and ratio was rounded.",
    "rounding": "Rounding of the printed rates can explain the distance.",
    "highest rate of the table": "The ratio fits if the highest rate of the table is "
    "the reference, although another category has the printed ratio 1.",
    "highest rate of the audit": "The ratio fits if the highest rate of all tables of "
    "the audit is the reference.",
    "counts contradict the rate": "The counts do not give the printed rate.",
    "unexplained": "None of these.",
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8")


def text() -> str:
    """Return the page, with numbers from the bundled counts."""
    ratios = load("local_law_144_ratios", source="bundled")
    audits = load("local_law_144_audits", source="bundled")
    rows = load("local_law_144_rows", source="bundled")
    agree = ratios[ratios["reason"] == "recomputes"]
    clean = agree[agree["table_recomputes"] == "yes"]

    judged = total(ratios)
    with_both = int(rows.query("counts == 'yes' and ratio == 'yes'")["rows"].sum())
    no_ratio = rows.query("counts == 'yes' and ratio == 'no'")
    reassuring = audits.query("recomputed == 'yes' and printed_below == 'no'")

    numbers = {
        "audits": audits["audits"].sum(),
        "rows": rows["rows"].sum(),
        "without_counts": rows.query("counts == 'no'")["rows"].sum(),
        "without_ratio": no_ratio["rows"].sum(),
        "other_rows": with_both - judged,
        "judged": judged,
        "recomputed": total(agree),
        "other": judged - total(agree),
        "reasons": table_of_reasons(ratios),
        "in_clean_tables": total(clean),
        "verdicts": table_of_verdicts(agree),
        "clean_verdicts": table_of_verdicts(clean),
        "below": total(agree, "printed == 'below'"),
        "at_least": total(agree, "printed == 'at least'"),
        "shown": total(agree, "printed == 'below' and verdict == 'shown'"),
        "reach": total(agree, "printed == 'at least' and verdict != 'excluded'"),
        "without_below": reassuring["audits"].sum(),
        "without_below_undecided": audits_with(reassuring, "undecided"),
        "never_shown": total(agree, "could_show == 'no'"),
        "never_excluded": total(agree, "could_exclude == 'no'"),
        "sizes": table_of_sizes(agree),
        "katz_shown": total(agree, "printed == 'below' and katz == 'shown'"),
        "katz_reach": total(agree, "printed == 'at least' and katz != 'excluded'"),
        "katz_audits": audits_with(reassuring, "katz_undecided"),
        "folder": AUDITS.file.path,
        "commit": AUDITS.commit,
    }
    words = {
        name: value if isinstance(value, str) else f"{value:,}"
        for name, value in numbers.items()
    }
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(words)


def total(ratios: DataFrame, query: str = "") -> int:
    """Return the number of ratios for which a condition holds."""
    chosen = ratios.query(query) if query else ratios
    return int(chosen["ratios"].sum())


def audits_with(audits: DataFrame, column: str) -> int:
    """Return the number of audits that have a property."""
    return int(audits.loc[audits[column] == "yes", "audits"].sum())


def table_of_reasons(ratios: DataFrame) -> str:
    """Return why ratios do not recompute, as a table in Markdown."""
    lines = [
        f"| {sentence} | {total(ratios, f'reason == {reason!r}')} |"
        for reason, sentence in REASONS.items()
    ]
    return "\n".join(["| reason | ratios |", "|:--|--:|", *lines])


def table_of_verdicts(ratios: DataFrame) -> str:
    """Return verdicts by the side on which the printed ratio lies."""
    lines = ["| printed ratio | shown | undecided | excluded |", "|:--|--:|--:|--:|"]
    for printed, words in {"below": "below 0.8", "at least": "0.8 or above"}.items():
        cells = [
            f"{total(ratios, f'printed == {printed!r} and verdict == {verdict!r}'):,}"
            for verdict in ("shown", "undecided", "excluded")
        ]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def table_of_sizes(ratios: DataFrame) -> str:
    """Return, by the size of the category, what its counts could have said."""
    lines = [
        "| applicants in the category | ratios | undecided | could never be shown "
        "| could never be excluded |",
        "|:--|--:|--:|--:|--:|",
    ]
    for size in SIZES:
        of_size = ratios[ratios["cases"] == size]
        cells = [
            total(of_size),
            total(of_size, "verdict == 'undecided'"),
            total(of_size, "could_show == 'no'"),
            total(of_size, "could_exclude == 'no'"),
        ]
        lines.append(f"| {in_words(size)} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def in_words(size: str) -> str:
    """Return a range of sizes as a reader expects it."""
    if size.endswith("+"):
        return f"{int(size[:-1]):,} or more"
    first, last = size.split("-")
    return f"{int(first):,} to {int(last):,}"


if __name__ == "__main__":
    main()
