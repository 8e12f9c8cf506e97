"""What the pages in docs/ say of the ledger, notebooks and works is true."""

import re
from html import unescape

import nbformat
import pandas as pd
import play
import pytest
from notebook_cells import LESSONS
from PIL import Image

import fairlib
from fairlib import atlas, ledger
from fairlib.data import ROOT

FOUND = (ROOT / "docs" / "found_in_the_papers.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAPER = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
TABLE = pd.read_csv(
    ROOT / "figures" / "ledger.csv", dtype=str, keep_default_na=False
).set_index("id")


def ids_on_the_page():
    return set(re.findall(r"`((?:ethayarajh|czarnowska|wang)\d{4}/[^`]+)`", FOUND))


def test_each_id_on_the_page_is_in_the_ledger():
    assert ids_on_the_page() <= set(TABLE.index)


def test_the_page_leaves_out_no_number_that_differs():
    differs = set(TABLE.index[TABLE["status"] == "differs"])
    assert differs <= ids_on_the_page()


def test_each_finding_says_what_it_rests_on_and_where_it_is_computed():
    notebooks = {path.stem for path in ROOT.glob("notebooks/dossier/*.ipynb")}
    assert set(re.findall(r"`(\d\d[a-z]?_\w+)`", FOUND)) <= notebooks
    findings = re.split(r"^\d+\. ", FOUND.split("## Small ones")[0], flags=re.MULTILINE)
    for finding in findings[1:]:
        assert "*Rests on " in " ".join(finding.split()), finding
        assert re.search(r"`\d\d[a-z]?_\w+`|`tests/test_letter.py`", finding), finding


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
    assert sentence.split(";")[0] == experiments and shown[
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


def test_the_citation_file_agrees_with_the_paper():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    _, header, _ = PAPER.split("---\n", 2)
    title = re.search(r"^title: '(.+)'$", header, flags=re.MULTILINE).group(1)
    assert f'title: "{title}"' in citation
    author = re.search(r"- name: ([^#\n]+?) *(?:#.*)?$", header, flags=re.MULTILINE)
    assert f'- name: "{author.group(1)}"' in citation

    def listed(text, word):
        """The items of a YAML list of words."""
        items = re.search(rf"^{word}:\n((?:  - .+\n)+)", text, flags=re.MULTILINE)
        return re.findall(r"- (.+)", items.group(1))

    assert listed(citation, "keywords") == listed(header, "tags")

    works = (ROOT / "docs" / "paper.bib").read_text(encoding="utf-8")
    references = re.split(r"\n  - type: ", citation)[1:]
    assert len(references) == 3
    for reference in references:
        title = re.search(r'title: "(.+)"', reference).group(1)
        first, last = (
            re.search(rf"\n    {end}: (\d+)", reference).group(1)
            for end in ("start", "end")
        )
        address = re.search(r'\n    (?:doi|url): "?([^"\s]+)', reference).group(1)
        (work,) = [
            entry
            for entry in re.split(r"\n(?=@)", works)
            if f"title = {title}," in re.sub("[{}]", "", entry)
        ]
        assert f"pages = {{{first}--{last}}}" in work
        assert address in work


def test_every_work_can_be_found():
    works = (ROOT / "docs" / "paper.bib").read_text(encoding="utf-8")
    for work in re.split(r"\n(?=@)", works):
        assert re.search(r"^  (doi|url|pages) = ", work, flags=re.MULTILINE), work


def test_the_letter_is_sent_before_anything_is_made_public():
    release = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    first_step = re.search(r"^1\. (.+)$", release, flags=re.MULTILINE).group(1)
    assert "made public" in first_step
    assert "docs/found_in_the_papers.md" in first_step
    assert "## Replies" in FOUND


def test_the_readme_is_short():
    """Tables, code and badges are looked at; the words outside them are read."""
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    lines = [
        line for line in prose.splitlines() if not line.startswith(("|", "[![", "!["))
    ]
    assert len(" ".join(lines).split()) <= 1100


def test_the_readme_says_how_often_a_dashboard_accuses_the_innocent():
    words = " ".join(README.split())
    often = round(100 * play.often_unfair(points=0)["dashboard"])
    assert f"calls this system unfair in {often} % of all samples" in words
    assert f"check {play.MATCHES} cases of each" in words
    # How often depends on how often the system is right: here, in half of the cases.
    (simulated, *_) = play.crowds()
    right, sentences = simulated.women
    assert round(right / sentences, 1) == 0.5
    assert "right in half of the cases, for two groups alike" in words


def test_the_readme_explains_the_picture_of_the_game():
    words = " ".join(README.split())
    drawn = (ROOT / "docs" / "bias_or_luck.svg").read_text(encoding="utf-8")
    for group in ("women", "men"):
        (right,) = re.findall(rf"(\d+ of 100) about {group}", words)
        assert f"{right} about {group}" in drawn
    low, high = map(float, re.findall(r"Interval: (-?\d+) to (\d+)", drawn)[0])
    assert low < 0 < high
    assert "Here it contains 0" in words


def test_the_picture_of_an_audit_shows_the_report_as_it_is():
    with Image.open(ROOT / "docs" / "audit_page.png") as picture:
        visible = picture.text["Description"].splitlines()
    report = ROOT / "figures" / "dossier" / "11_report.html"
    text = unescape(re.sub(r"<[^>]+>", "", report.read_text(encoding="utf-8")))
    words = " ".join(text.split())
    assert len(visible) > 10
    stale = [line for line in visible if line not in words]
    assert not stale, "run `python site/report_picture.py`, which takes it anew"


def test_teachers_find_notes_on_every_lesson_and_links_that_lead_somewhere():
    folder = ROOT / "docs" / "teaching"
    notes = (folder / "lessons.md").read_text(encoding="utf-8")
    parts = re.split(r"^## Lesson (\d\d)$", notes, flags=re.MULTILINE)
    by_number = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert list(by_number) == [path.stem[:2] for path in LESSONS]
    for path in LESSONS:
        text = by_number[path.stem[:2]]
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
        link = f"[{title[5:]}](../lessons/{path.stem}.md)"
        assert link in text
        for part in ("Aim", "Often wrong", "Discuss", "Skip"):
            assert f"- **{part}.** " in text, (path.stem, part)
    for page in folder.glob("*.md"):
        links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert not [link for link in links if not (folder / link).exists()], page.name


def test_the_map_of_lesson_00_has_every_other_lesson_by_its_own_question():
    (start, *others) = LESSONS
    text = start.read_text(encoding="utf-8")
    for path in others:
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
        assert f"| [{path.stem[:2]}]({path.name}) | {title[5:]} |" in text, path.stem


def test_the_readme_says_what_winobias_can_show():
    report = fairlib.benchmark("winobias")
    words = " ".join(README.split())
    independent = report.planning["smallest_bias"].iloc[0]
    assert f"a bias of {100 * independent:.0f} points can be shown" in words
    assert f"it takes {100 * report.smallest_bias:.0f} points" in words
    assert f"{report.card.items.number:,} sentences about 40 occupations" in words
    counted = [atlas.card(name).status == "counted" for name in atlas.names()]
    assert f"the same for {sum(counted)} benchmarks" in words
