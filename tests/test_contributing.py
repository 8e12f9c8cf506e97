"""What CONTRIBUTING.md says is done: its recipes are followed and its checks run."""

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import fairlib
from fairlib.data import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
KINDS = ("bug", "finding", "question")
COPIED = (
    "fairlib",
    "tests",
    "notebooks",
    "data",
    "figures",
    "docs",
    "site",
    "pyproject.toml",
    "requirements.lock",
    "environment.yml",
    "Makefile",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
)
# Behind which line a recipe's lines go, where they do not go to the end of a file.
PLACES = {
    "tests/auditing/test_auditing.py": r"^        \"unreliable\": lambda.*\n",
    "fairlib/intervals/disparity.py": r"^METHODS: (?:.*\n)+?(?=}\n)",
    "tests/metrics/test_table2.py": r"^    gaps\[\"ParityGap .*\] = accuracy\n",
}


def steps(recipe):
    """Return the lines of a recipe by their file, which the text above them names."""
    (text,) = re.findall(
        rf"^## Add an? {recipe}\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE
    )
    blocks = re.findall(
        r"\n\n([^\n](?:.(?!\n\n))*.)\n\n```\w+\n(.*?)```", text, flags=re.DOTALL
    )
    return {
        re.search(r"`([\w./]+\.\w+)`", said).group(1): code for said, code in blocks
    }


@pytest.fixture
def checkout(tmp_path):
    """A copy of the project, in which a recipe is followed as a contributor would."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            hidden = shutil.ignore_patterns("__pycache__", "original")
            shutil.copytree(source, tmp_path / name, ignore=hidden)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def follow(recipe, checkout):
    """Put the lines of a recipe where the page says they go."""
    for name, code in steps(recipe).items():
        path = checkout / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code, encoding="utf-8")
            continue

        text = path.read_text(encoding="utf-8")
        if name not in PLACES:
            blank_lines = "\n\n" if path.suffix == ".py" else ""
            path.write_text(text + blank_lines + code, encoding="utf-8")
            continue

        (place,) = re.finditer(PLACES[name], text, flags=re.MULTILINE)
        path.write_text(text[: place.end()] + code + text[place.end() :], "utf-8")


def replace_once(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(checkout, *arguments):
    """Run Python in a copy of the project; return how it ended, and what it wrote."""
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    environment.pop("FAIRLIB_DATA", None)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
    )


def check(recipe, checkout):
    """Run the tests that the page asks for after "Check:"."""
    (text,) = re.findall(
        rf"^## Add an? {recipe}\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE
    )
    (command,) = re.findall(r"`\.venv/bin/python (-m pytest [^`]+)`", text)
    options = ["-q", "-p", "no:cacheprovider"]
    ended = run(checkout, *shlex.split(command), *options)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    return ended.stdout


def run_tests(checkout, path, expression):
    """Run some tests of a copy."""
    options = ["-q", "-p", "no:cacheprovider", "-k", expression]
    return run(checkout, "-m", "pytest", path, *options)


# --- the recipes ---


@pytest.mark.slow
def test_a_metric(checkout):
    follow("metric", checkout)
    assert "passed" in check("metric", checkout)

    code = "import fairlib; print(fairlib.METRICS['FORGap'].given)"
    assert run(checkout, "-c", code).stdout == "prediction\n"

    scores = checkout / "fairlib" / "metrics" / "scores.py"
    replace_once(scores, "among=~cells.predicted)", "among=cells.predicted)")
    slow = "test_equals_a_slow_second_implementation"
    ended = run_tests(checkout, "tests/metrics/test_table2.py", f"{slow} and FORGap")
    assert "AssertionError" in ended.stdout


@pytest.mark.slow
def test_a_rate_of_the_audit(checkout):
    follow("rate to the audit", checkout)
    assert "passed" in check("rate to the audit", checkout)

    rates = checkout / "fairlib" / "auditing" / "rates.toml"
    replace_once(rates, 'share = "FN / FN TN"', 'share = "FN / TN"')
    every_rate = "test_every_rate_of_every_group"
    ended = run_tests(checkout, "tests/auditing/test_auditing.py", every_rate)
    assert ended.returncode == 1


# Errors and examples of two groups.
TABLES = ((7, 34, 1, 34), (0, 10, 3, 20), (5, 5, 0, 9))


@pytest.mark.slow
def test_an_interval(checkout):
    follow("interval", checkout)
    assert "passed" in check("interval", checkout)

    code = f"""
import fairlib
for table in {TABLES}:
    low, high = fairlib.bounds.METHODS["agresti_caffo"].counts(*table, alpha=0.1)
    print(float(low), float(high))
"""
    ends = np.array(run(checkout, "-c", code).stdout.split(), dtype=float).reshape(3, 2)
    for table, ours in zip(TABLES, ends, strict=True):
        theirs = confint_proportions_2indep(
            *table, compare="diff", method="agresti-caffo", alpha=0.1
        )
        assert ours == pytest.approx(np.clip(theirs, -1, 1))

    formulas = checkout / "fairlib" / "intervals" / "proportions.py"
    replace_once(formulas, " + rate_b * (1 - rate_b) / (n_b + 2)", "")
    ended = run_tests(checkout, "tests/intervals/test_proportions.py", "agresti_caffo")
    assert "AssertionError" in ended.stdout


def test_a_data_set(checkout):
    follow("data set", checkout)
    originals = checkout / "data" / "original" / "ratings"
    originals.mkdir(parents=True)
    rows = "rating,group\ngood,b\nbad,a\ngood,b\n"
    (originals / "ratings.csv").write_text(rows)
    built = run(checkout, "-m", "fairlib", "data", "build", "ratings")
    assert built.stdout == "data/bundled/ratings/ratings.csv\n", built.stderr
    table = (checkout / "data" / "bundled" / "ratings" / "ratings.csv").read_text()
    assert table == "group,rating,count\na,bad,1\nb,good,2\n"
    assert "passed" in check("data set", checkout)


def parts_of_the_ledger(checkout):
    """Write what every notebook recorded, as `make reproduce` leaves it."""
    folder = checkout / "build" / "ledger"
    folder.mkdir(parents=True)
    table = pd.read_csv(ROOT / "figures" / "ledger.csv", dtype=str)
    for name, rows in table.groupby("notebook"):
        rows.to_csv(folder / f"{name}.csv", index=False)


@pytest.mark.slow
def test_a_dossier_and_a_published_claim(checkout):
    name = "20_enough_examples"
    claim, _ = steps("published claim").values()
    follow("published claim", checkout)
    follow("dossier", checkout)
    # The page writes the notebook by a script, where other recipes show the file.
    script = checkout / f"notebooks/dossier/{name}.ipynb"
    lines = script.read_text(encoding="utf-8")
    written = run(checkout, "-c", lines)
    assert written.returncode == 0, written.stderr
    path = f"notebooks/dossier/{name}.ipynb"

    stored = (checkout / path).read_bytes()
    assert run(checkout, "notebooks/execute.py", "--strip", path).returncode == 0
    assert (checkout / path).read_bytes() == stored
    parts_of_the_ledger(checkout)
    executed = run(checkout, "notebooks/execute.py", path, f"build/{name}.ipynb")
    assert executed.returncode == 0, executed.stderr
    listed = run(checkout, "notebooks/pages.py")
    assert listed.returncode == 0, listed.stderr
    index = checkout / "notebooks" / "dossier" / "README.md"
    assert f"({name}.ipynb)" in index.read_text(encoding="utf-8")
    assembled = run(checkout, "-m", "fairlib", "ledger")
    assert assembled.returncode == 0, assembled.stderr
    assert "passed" in check("dossier", checkout)
    assert "passed" in check("published claim", checkout)

    ledger_rows = pd.read_csv(checkout / "figures" / "ledger.csv").set_index("id")
    (identity, *values) = next(csv.reader([claim]))
    assert ledger_rows.loc[identity, "status"] == "reproduced"
    columns = re.search(
        r"^The columns: (.*?)\.", PAGE, flags=re.DOTALL | re.MULTILINE
    ).group(1)
    assert len(re.sub(r"\s*\([^)]*\)", "", columns).split(", ")) == 1 + len(values)


# --- and what surrounds them ---


@pytest.mark.parametrize(
    "recipe", ["metric", "rate to the audit", "interval", "data set", "dossier"]
)
def test_lines_fit_where_they_go(recipe):
    for path, code in steps(recipe).items():
        longest = 88 if path.startswith(("fairlib/", "tests/")) else 120
        assert (
            path.endswith((".md", ".csv"))
            or max(map(len, code.splitlines())) <= longest
        ), path


PAGES = [
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/release.md",
    *(f".github/ISSUE_TEMPLATE/{kind}.md" for kind in KINDS),
]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    made = {"data/original/ratings", *steps("data set"), *steps("dossier")}
    named = re.findall(
        r"\b(?<![/.])(?:fairlib|tests|notebooks|data|figures|docs|benchmarks)/[\w/.]*\w|\.ci/\w+",
        text,
    )
    assert not [
        path for path in named if path not in made and not (ROOT / path).exists()
    ]
    links = {link for link in re.findall(r"\]\(([^)#:]+)\)", text) if link not in made}
    assert not [
        link for link in links if not (ROOT / page).parent.joinpath(link).exists()
    ]
    targets = re.findall(
        r"^([a-z]+):",
        (ROOT / "Makefile").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert {*re.findall(r"`make (?:-j2 )?(\w+)", text)} <= {*targets}


@pytest.mark.parametrize("kind", KINDS)
def test_issue_templates_have_a_name_and_say_what_they_are_for(kind):
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / f"{kind}.md").read_text(
        encoding="utf-8"
    )
    head, body = re.fullmatch(r"---\n(.*?)---\n\n(.*)", text, flags=re.DOTALL).groups()
    assert dict(line.split(": ", 1) for line in head.splitlines()).keys() >= {
        "name",
        "about",
        "labels",
    }
    assert 3 <= len(body.splitlines()) <= 25


def test_the_changelog_begins_with_this_version():
    versions = re.findall(
        r"^## ([\d.]+) - ",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert versions[0] == fairlib.__version__
    assert versions == sorted(
        versions, key=lambda version: [*map(int, version.split("."))], reverse=True
    )


def test_the_papers_are_cited():
    _, *papers = re.split(
        r"\n  - type: ", (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    )
    firsts = {
        re.search(r"family-names: (\w+)", paper).group(1).lower()
        + re.search(r"\n    year: (\d+)", paper).group(1)
        for paper in papers
    }
    assert firsts == {
        path.stem for path in (ROOT / "data" / "published").glob("*.csv")
    } - {"experiments"}
    for paper in papers:
        assert re.search(r"\n    (doi: 10\.|url: \"https://)", paper)
        assert re.search(r"\n    (journal|collection-title): ", paper)


def test_the_command_of_the_release_page_says_the_version():
    said = subprocess.check_output(
        [sys.executable, "-m", "fairlib", "--version"], cwd=ROOT, text=True
    )
    assert said == f"fairlib {fairlib.__version__}\n"
