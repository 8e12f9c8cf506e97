"""The notebooks as a course: their order, and exercises that one can pass and fail."""

import re

import matplotlib.pyplot as plt
import nbformat
import pytest
from notebook_cells import cells_behind, shortened
from test_setup import NOTEBOOKS, runner_module

from fairlib import ledger, plots
from fairlib.data import ROOT

# To be brought to these rules; empty once all are.
TAGS = {
    "hosted",
    "prediction",
    "widget",
    "exercise",
    "stub",
    "solution",
    "check",
    "ledger",
}
HOSTED = """\
# Only where fairlib is not installed yet, as in a hosted notebook; \
elsewhere this does nothing.
import importlib.util

if importlib.util.find_spec("fairlib") is None:
    %pip install --quiet "fairlib-audit[notebooks]\""""


def cells_of(path):
    return nbformat.read(path, as_version=4).cells


def tag_of(cell):
    """The one tag of a cell, or an empty text."""
    tags = cell.metadata.get("tags", [])
    assert len(tags) <= 1, cell.id
    return "".join(tags)


def solved(cells):
    """Whether an exercise's solution is code, so that it has a stub and a check."""
    return any(cell.cell_type == "code" for cell in cells if tag_of(cell) == "solution")


course = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@course
def test_cells_have_known_tags_of_the_right_kind(path):
    allowed = {
        "markdown": {"", "prediction", "exercise", "solution"},
        "code": TAGS - {"prediction", "exercise"} | {""},
    }
    for cell in cells_of(path):
        assert set(cell.metadata) <= {"tags"}, cell.id
        assert tag_of(cell) in allowed[cell.cell_type], cell.id


@course
def test_it_opens_with_what_one_will_be_able_to_do(path):
    cells = cells_of(path)
    title = cells[0].source
    assert re.match(
        r"# \d\d[a-z]? .+\n\n"
        r"\*\*After this notebook you can\*\*\n\n?(- .+\n(  .+\n)*){2,4}\n\S",
        title,
    ), title
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert tag_of(code[0]) == code[0].id == "hosted"
    assert code[0].source == HOSTED
    assert all(len(cell.source.splitlines()) <= 55 for cell in code)


@course
def test_it_asks_for_a_prediction_before_the_first_figure(path):
    cells = cells_of(path)
    for place, cell in enumerate(cells):
        assert cell.source.startswith("**Predict.**") == (
            tag_of(cell) == "prediction"
        ), cell.id
        if tag_of(cell) == "prediction":
            assert "?" in cell.source, cell.id
            assert any(later.cell_type == "code" for later in cells[place + 1 :]), (
                cell.id
            )
    first = next(
        (place for place, cell in enumerate(cells) if "plots.save(" in cell.source),
        len(cells),
    )
    assert any(tag_of(cell) == "prediction" for cell in cells[:first])


@course
def test_a_widget_answers_a_question_and_has_a_picture(path):
    cells = cells_of(path)
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        assert ("widgets.interact(" in cell.source) == (tag_of(cell) == "widget"), (
            cell.id
        )
        if tag_of(cell) == "widget":
            assert before.cell_type == "markdown", before.id
            assert "?" in before.source, before.id
            assert "plots.save(" in after.source, after.id


@course
def test_it_ends_with_exercises(path):
    cells = cells_of(path)
    doubt, heading = (
        next(
            place
            for place, cell in enumerate(cells)
            if re.search(f"^## {words}$", cell.source, re.MULTILINE)
        )
        for words in ("What to doubt", "Exercises")
    )
    assert doubt <= heading
    letters = {
        "exercise": "e",
        "stub": "t",
        "solution": "s",
        "check": "c",
        "": "-",
        "ledger": "l",
    }
    order = "".join(letters[tag_of(cell)] for cell in cells[heading + 1 :])
    found = re.fullmatch(r"(?:ets+c|es+){3,4}(?:-?l)*", order)
    assert found, order
    assert not {"exercise", "stub", "solution", "check"} & {
        tag_of(cell) for cell in cells[:heading]
    }
    exercises = re.findall(r"e[tsc]+", order)
    assert exercises[0].startswith("et")
    assert sum("t" in letters for letters in exercises) >= 2
    place = heading + 1
    for number, one in enumerate(exercises, start=1):
        own = cells[place : place + len(one)]
        assert own[0].source.startswith(f"**Exercise {number}.**")
        assert solved(own) == ("t" in one) == ("c" in one), own[0].id
        for cell in own:
            if tag_of(cell) == "solution" and cell.cell_type == "markdown":
                assert cell.source.startswith("**Solution.**"), cell.id
            if tag_of(cell) == "check":
                assert re.search("^ *assert ", cell.source, re.MULTILINE), cell.id
        place += len(one)


@course
def test_the_copy_for_students_lacks_the_solutions_and_nothing_else(path, tmp_path):
    runner_module().main(["--student", str(tmp_path), str(path)])
    first, *copied = cells_of(tmp_path / path.name)
    assert "student's copy" in first.source
    assert copied == [cell for cell in cells_of(path) if tag_of(cell) != "solution"]


def test_stripping_keeps_tags_and_no_other_metadata(tmp_path):
    cell = nbformat.v4.new_code_cell(
        "1", id="one", metadata={"tags": ["stub"], "collapsed": True}, execution_count=1
    )
    path = tmp_path / "99_example.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    runner_module().main(["--strip", str(path)])
    (stored,) = cells_of(path)
    assert stored.metadata == {"tags": ["stub"]}
    assert stored.execution_count is None


@pytest.mark.filterwarnings("ignore::pandas.errors.PerformanceWarning")
@course
def test_in_the_copy_for_students_the_checks_fail_and_nothing_else(
    path, tmp_path, monkeypatch
):
    """Without the solutions every check must notice.

    `make reproduce` runs all cells. Here only the exercises run again, and the cells on
    which they rest; what these write must not take the place of what is committed.
    """
    for drawing in ("save", "heatmap"):
        monkeypatch.setattr(plots, drawing, lambda *arguments, **options: None)
    monkeypatch.setattr(ledger, "PARTS", tmp_path)
    monkeypatch.chdir(ROOT / "notebooks")
    runner_module().student(path, tmp_path / path.name)
    copied = {
        cell.id: cell
        for cell in cells_of(tmp_path / path.name)
        if cell.cell_type == "code" and tag_of(cell) not in ("hosted", "ledger")
    }
    exercises = {name for name in copied if tag_of(copied[name]) in ("stub", "check")}
    sources = {name: shortened(cell.source) for name, cell in copied.items()}

    failures = {}
    space = {"display": print}
    for name, source in cells_behind(sources, exercises).items():
        try:
            exec(compile(source, name, "exec"), space)
        except Exception as error:
            failures[name] = error
        plt.close("all")

    checks = {name for name in copied if tag_of(copied[name]) == "check"}
    assert set(failures) == checks, failures
    for error in failures.values():
        assert isinstance(error, AssertionError | TypeError | NameError), repr(error)
