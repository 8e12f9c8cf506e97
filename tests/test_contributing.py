"""What CONTRIBUTING.md says is done: its lines go where it says, and what it promises then holds."""

import csv
import importlib.util
import io
import re
import shutil
import subprocess
import sys
from importlib import import_module

import nbformat
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

import fairlib
from fairlib import data, ledger, recipes
from fairlib.__main__ import main
from fairlib.auditing import summary
from fairlib.data import ROOT
from fairlib.intervals import disparity, proportions
from fairlib.metrics import scores, table2
from fairlib.recipes import originals

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
KINDS = ("bug", "finding", "question")


def steps(recipe):
    """Return the lines of a recipe by the file they go into, which is the first that the paragraph above them names."""
    (text,) = re.findall(
        rf"^## Add an? {recipe}\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE
    )
    blocks = re.findall(
        r"\n\n([^\n](?:.(?!\n\n))*.)\n\n```\w+\n(.*?)```", text, flags=re.DOTALL
    )
    return {
        re.search(r"`([\w./]+\.\w+)`", said).group(1): code for said, code in blocks
    }


def opened(path):
    """Return a file of the tests, or the notebooks' runner, as a module."""
    specification = importlib.util.spec_from_file_location(
        f"opened_{(ROOT / path).stem}", ROOT / path
    )
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def defined(code, module, **besides):
    """Run lines as if they stood in a module, which stays as it is; return the function that they define."""
    space = vars(module) | besides
    exec(compile(code, "CONTRIBUTING.md", "exec"), space)
    return space[re.findall(r"^def (\w+)", code, flags=re.MULTILINE)[-1]]


def entered(code, module):
    """Return lines of a table of a module as a dictionary."""
    return eval(f"{{{code.strip()}}}", dict(vars(module)))


def add(monkeypatch, lines, place, table, listing):
    """Add a function to the module `place`, and its entry to the `table` of the module `listing`; return its name."""
    function = defined(lines[0], place)
    monkeypatch.setattr(place, function.__name__, function, raising=False)
    ((name, entry),) = entered(lines[1], listing).items()
    assert name not in table
    monkeypatch.setitem(table, name, entry)
    return name


# --- the five recipes ---


@pytest.mark.parametrize(("right", "slip"), [("", ""), ("among=~", "among=")])
def test_a_metric(tmp_path, monkeypatch, right, slip):
    (first, score), (second, entry), (third, twin) = steps("metric").items()
    assert (first, second) == (
        "fairlib/metrics/scores.py",
        "fairlib/metrics/table2.csv",
    )
    assert right in score
    function = defined(score.replace(right, slip), scores)
    monkeypatch.setattr(scores, function.__name__, function, raising=False)
    header = (ROOT / second).read_text(encoding="utf-8").splitlines(keepends=True)[0]
    ((name, metric),) = table2.read(io.StringIO(header + entry))[0].items()
    assert name not in table2.METRICS
    monkeypatch.setitem(table2.METRICS, name, metric)
    text, place = (
        (ROOT / third).read_text(encoding="utf-8"),
        "    if base in scalar_bcm:\n",
    )
    assert text.count(place) == 1
    (tmp_path / "test_table2.py").write_text(text.replace(place, twin + place))
    tests_of_metrics = opened(tmp_path / "test_table2.py")
    check = tests_of_metrics.test_equals_a_slow_second_implementation
    if right:
        with pytest.raises(AssertionError):
            check(name, None)
        return
    check(name, None)
    check(name, 1)
    assert table2.METRICS[name].given == "prediction"
    assert "FN / (FN + TN)" in summary.explained(metric)

    # A variant may be added among the others, or at the end of the file.
    rows = (ROOT / second).read_text(encoding="utf-8").splitlines(keepends=True)
    for place in (len(rows) - 3, len(rows)):
        added = [*rows[:place], entry, *rows[place:]]
        (tmp_path / "table2.csv").write_text("".join(added), encoding="utf-8")
        tests_of_metrics.check_file(tmp_path / "table2.csv")


@pytest.mark.parametrize(
    ("right", "slip"),
    [("", ""), (" + rate_b * (1 - rate_b) / (n_b + 2)", ""), ("alpha / 2", "alpha")],
)
def test_an_interval(monkeypatch, right, slip):
    formula, entry, check = steps("interval").values()
    assert [*steps("interval")][:2] == [
        "fairlib/intervals/proportions.py",
        "fairlib/intervals/disparity.py",
    ]
    assert right in formula
    name = add(
        monkeypatch,
        (formula.replace(right, slip), entry),
        proportions,
        disparity.METHODS,
        disparity,
    )
    check = defined(check, opened("tests/intervals/test_proportions.py"))
    if right:
        with pytest.raises(AssertionError):
            check()
        return
    check()
    for table in ((7, 34, 1, 34), (0, 10, 3, 20), (5, 5, 0, 9)):
        found = disparity.METHODS[name].counts(*table, alpha=0.1)
        other = confint_proportions_2indep(
            *table, compare="diff", method="agresti-caffo", alpha=0.1
        )
        assert found == pytest.approx(np.clip(other, -1, 1))
    everywhere = opened("tests/intervals/test_disparity.py")
    rng = np.random.default_rng(5)
    costs = (rng.random(60) < 0.4).astype(float), (rng.random(60) < 0.2).astype(float)
    everywhere.test_every_method_says_what_it_promises_and_where_it_comes_from(name)
    everywhere.test_interval_holds_its_estimate_and_is_named(name, costs)
    everywhere.test_scaling_the_cost_scales_the_interval(name, costs)
    everywhere.test_more_confidence_is_wider(name, costs)
    everywhere.test_costs_and_counts_agree(name, costs)
    everywhere.test_extreme_tables(name)


def test_a_data_set(tmp_path, monkeypatch, capsys):
    lines = steps("data set")
    for path in lines:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(lines[path])
    monkeypatch.setattr(
        recipes, "__path__", [*recipes.__path__, str(tmp_path / "fairlib" / "recipes")]
    )
    monkeypatch.setitem(
        sys.modules, "fairlib.recipes.ratings", import_module("fairlib.recipes.ratings")
    )
    monkeypatch.setattr(originals, "ROOT", tmp_path)
    for module in (data, originals):
        monkeypatch.setattr(module, "BUNDLED", tmp_path / "data" / "bundled")
    genuine = tmp_path / "data" / "original"
    monkeypatch.setenv("FAIRLIB_DATA", str(genuine))
    main(["data", "list"])
    assert capsys.readouterr().out == "ratings: originals not at hand\n"
    (genuine / "ratings").mkdir(parents=True)
    (genuine / "ratings" / "ratings.csv").write_text(
        "rating,group\ngood,b\nbad,a\ngood,b\n"
    )
    main(data.card("ratings")["command"].split()[3:])
    assert capsys.readouterr().out == "data/bundled/ratings/ratings.csv\n"
    shipped, computed = (
        fairlib.load("ratings", source=source) for source in ("bundled", "original")
    )
    pd.testing.assert_frame_equal(shipped, computed)
    assert shipped.to_numpy().tolist() == [["a", "bad", 1], ["b", "good", 2]]
    tests_of_all = opened("tests/test_data.py")
    tests_of_all.test_bundled_tables_load_and_know_their_source("ratings")
    tests_of_all.test_cards_are_complete_and_name_a_working_command("ratings")
    (tmp_path / "other").mkdir()
    opened(tmp_path / "tests/recipes/test_ratings.py").test_ratings_are_counted(
        tmp_path / "other", monkeypatch
    )


@pytest.fixture
def claimed(tmp_path, monkeypatch):
    """A ledger with the page's claim among the published ones."""
    ((path, row), _) = steps("published claim").items()
    shutil.copytree(ledger.PUBLISHED, tmp_path / "data" / "published")
    with (tmp_path / path).open("a", encoding="utf-8") as stream:
        stream.write(row)
    monkeypatch.setattr(ledger, "PUBLISHED", tmp_path / "data" / "published")
    monkeypatch.setattr(ledger, "PARTS", tmp_path / "build" / "ledger")
    ledger.published.cache_clear()
    yield row
    ledger.published.cache_clear()


def test_a_notebook(tmp_path, monkeypatch, claimed):
    (_, code), (_, row) = steps("notebook").items()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks").mkdir()
    shutil.copy(
        ROOT / "notebooks" / "01_mnli_genres.ipynb", tmp_path / "notebooks"
    )  # one cell of it is taken over
    exec(compile(code, "CONTRIBUTING.md", "exec"), {})
    (path,) = (tmp_path / "notebooks").glob("20_*")
    assert f"notebooks/{path.name}" in row and len(row.splitlines()) == 1
    titles = re.findall(
        r"^\| (?:notebook|\[01).*$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert {row.count(" | "), *(line.count(" | ") for line in titles)} == {2}
    runner = opened("notebooks/execute.py")
    before = path.read_bytes()
    runner.main(["--check", str(path)])
    runner.main(["--strip", str(path)])
    assert path.read_bytes() == before
    opened("tests/test_setup.py").test_notebooks_are_stored_clean(path)
    rules = opened("tests/test_course.py")
    for rule in (
        "cells_have_known_tags_of_the_right_kind",
        "it_opens_with_what_one_will_be_able_to_do",
        "it_asks_for_a_prediction_before_the_first_figure",
        "it_ends_with_exercises",
    ):
        getattr(rules, f"test_{rule}")(path)
    space = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and cell.id != "hosted":
            exec(compile(cell.source, cell.id, "exec"), space)
    recorded = pd.read_csv(tmp_path / "build" / "ledger" / f"{path.stem}.csv")
    assert recorded[["id", "status"]].to_numpy().tolist() == [
        ["ethayarajh2020/winobias/too_small", "reproduced"]
    ]
    with pytest.raises(
        ValueError,
        match=rf"values lacks 1 claim\(s\) that {path.stem} answers: winobias/too_small",
    ):
        ledger.record(path.stem, {})


def test_a_published_claim(claimed):
    (_, check) = steps("published claim").values()
    row = next(csv.reader([claimed]))
    again = io.StringIO()
    csv.writer(again, lineterminator="\n").writerow(row)
    assert again.getvalue() == claimed  # written as the others are
    rules = opened("tests/test_ledger.py")
    columns = re.search(
        r"^The columns: (.*?)\.", PAGE, flags=re.DOTALL | re.MULTILINE
    ).group(1)
    assert re.sub(r"\s*\([^)]*\)", "", columns).split(", ") == [*rules.COLUMNS]
    assert len(row) == len(rules.COLUMNS) and not rules.broken(ledger.PUBLISHED)
    defined(check, opened("tests/recipes/test_recipes_ethayarajh2020.py"))()
    assert ledger.check(row[0], False).status == "differs"
    for words in (rules.KINDS, ledger.BASES, ledger.APART):
        assert all(word in columns for word in words)


# --- and what surrounds them ---


@pytest.mark.parametrize("recipe", ["metric", "interval", "data set", "notebook"])
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
    made = {"data/original/ratings", *steps("data set"), *steps("notebook")}
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
