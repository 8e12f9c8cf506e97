"""What the pages in docs/ say of the ledger, notebooks and works is true."""

import re

import pandas as pd
import pytest

from fairlib import ledger
from fairlib.data import ROOT

FOUND = (ROOT / "docs" / "found_in_the_papers.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPER = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
TABLE = pd.read_csv(
    ROOT / "figures" / "ledger.csv", dtype=str, keep_default_na=False
).set_index("id")


def test_each_id_on_the_page_has_the_status_that_stands_beside_it():
    named = re.findall(r"`((?:ethayarajh|czarnowska|wang)\d{4}/[^`]+)`", FOUND)
    said = dict(
        re.findall(r"`((?:ethayarajh|czarnowska|wang)\d{4}/[^`]+)` \((\w+)\)", FOUND)
    )
    assert set(named) == set(said)
    assert said == TABLE["status"].reindex(list(said)).to_dict()


def test_the_page_leaves_out_no_number_that_differs():
    differs = set(TABLE.index[TABLE["status"] == "differs"])
    assert {name for name in differs if f"`{name}` (differs)" not in FOUND} == set()


def test_each_finding_names_a_notebook_that_there_is():
    notebooks = {path.stem for path in ROOT.glob("notebooks/*.ipynb")}
    assert set(re.findall(r"`(\d\d[a-z]?_\w+)`", FOUND)) <= notebooks
    for finding in re.findall(r"^\d+\. .*(?:\n {3,}.*)*", FOUND, flags=re.MULTILINE):
        assert re.search(r"`\d\d[a-z]?_\w+`", finding), finding


@pytest.mark.parametrize("page", [FOUND, PAPER], ids=["found", "paper"])
def test_the_pages_say_what_the_ledger_says(page):
    assert f"{ledger.sentence(ledger.verdicts(TABLE.reset_index()))}." in " ".join(
        page.split()
    )  # wherever lines end


def test_the_badges_say_what_the_ledger_says():
    sentence = ledger.sentence(ledger.verdicts(TABLE.reset_index()))
    words = dict(
        re.findall(
            r"!\[([^]]+)\]\(https://img\.shields\.io/badge/\w+-([^)]+)-\w+\)", README
        )
    )
    shown = {
        alt: drawn.replace("_", " ").replace("%2C", ",") for alt, drawn in words.items()
    }
    experiments, differ, _ = shown
    assert sentence.startswith(experiments) and shown[
        experiments
    ] == experiments.replace(" experiments", "")
    assert (
        f"{differ.split()[0]} differs" in sentence
        and shown[differ].split(",")[0] == differ.split()[0]
    )


def test_the_paper_cites_what_its_bibliography_has_and_nothing_else():
    works = re.findall(
        r"^@\w+\{(\w+),$",
        (ROOT / "docs" / "paper.bib").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert len(works) == len(set(works))
    assert set(re.findall(r"@(\w+)", PAPER)) == set(works)


def test_the_paper_has_the_length_and_the_sections_that_the_journal_asks_for():
    _, header, text = PAPER.split("---\n", 2)
    assert {
        "title:",
        "tags:",
        "authors:",
        "affiliations:",
        "date:",
        "bibliography:",
    } <= set(re.findall(r"^\w+:", header, flags=re.MULTILINE))
    assert re.findall(r"^# (.+)$", text, flags=re.MULTILINE) == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(text.split()) <= 1750
