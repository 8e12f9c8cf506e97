"""Lessons: short, readable, with room for thought, and exercises one can pass and fail.

The limits are those of a lesson of about an hour: words, cells, lines and numbers.
"""

import ast
import re
import statistics

import matplotlib.pyplot as plt
import nbformat
import pytest
from notebook_cells import LESSONS, cells_behind, name_of, tag_of
from test_setup import runner_module

from fairlib import plots
from fairlib.data import ROOT

MOST_WORDS = 1500
MOST_CELLS = 30
MOST_LINES = 12
TYPICAL_LINES = 5
LONGEST_LINE = 100
MOST_NUMBERS = 3.5  # in a hundred words
TAGS = {
    "markdown": {"", "prediction", "yours", "exercise", "solution"},
    "code": {"", "hosted", "widget", "stub", "solution", "check"},
}
DRAWING = re.compile(
    r"\b(plt|ax|axes|sns)\.|\bsubplots\(|\bmatplotlib\b|\bseaborn\b|\bledger\b"
)
HOSTED = """\
# Only where fairlib is not installed yet, as in a hosted notebook; \
elsewhere this does nothing.
import importlib.util

if importlib.util.find_spec("fairlib") is None:
    %pip install --quiet "fairlib-audit[notebooks]\""""
SAVED = re.compile(r"""plots\.save\([^"']*["']([^"']+)["']""")
# The tags of an exercise's cells, as letters.
LETTERS = {"": "-", "exercise": "e", "stub": "t", "solution": "s", "check": "c"}
WARM_UP = r"e(?:ts+c|s)"
CHECKED = r"ets+c"
JUDGEMENT = r"es"
OPENINGS = ("Warm-up", "Exercise 1", "Exercise 2", "Exercise 3")


lessons = pytest.mark.parametrize("path", LESSONS, ids=name_of)


def cells_of(path):
    return nbformat.read(path, as_version=4).cells


def place_of(cells, heading):
    """Return the number of the cell with a heading of the second rank."""
    places = [
        place
        for place, cell in enumerate(cells)
        if cell.cell_type == "markdown"
        and re.search(rf"^## {heading}$", cell.source, re.MULTILINE)
    ]
    assert len(places) == 1, f"'## {heading}' in {len(places)} cells"
    return places[0]


def body_of(path):
    """Return the cells before the exercises.

    The heading of the exercises opens a cell: text above it in that cell would not be
    counted.
    """
    cells = cells_of(path)
    place = place_of(cells, "Exercises")
    assert cells[place].source.startswith("## Exercises"), cells[place].id
    return cells[:place]


def prose_of(cells):
    """Return the text of cells, without formulas, tables, code and addresses."""
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for pattern, left in (
        (r"^```.*?^```", " "),
        (r"^\|[^\n]*$", " "),
        (r"<[^>]+>", " "),
        (r"\$\$.*?\$\$", " formula "),
        (r"\$[^$]+\$", "formula"),
        (r"`[^`]+`", "code"),
        (r"\]\([^)]*\)", " "),
        (r"^#+ \d\d ", "# "),
    ):
        text = re.sub(pattern, left, text, flags=re.DOTALL | re.MULTILINE)
    return text


def words_in(text):
    return re.findall(r"[^\W_](?:[\w'’.,-]*\w)?", text)


def numbers_in(text):
    """Return the numbers in prose that a reader has to take in."""
    place = r"(?:Figures?|Tables?|Sections?|Equations?|eq\.|Lessons?|Papers?|Dossiers?"
    place += r"|Findings?|Appendix|Chapter|Definition|Proposition)"
    text = re.sub(rf"\b{place} \d[\w.]*(?:(?:, | and | to )\d[\w.]*)*", "", text)
    text = re.sub(rf"\b{place.lower()} \d[\w.]*(?:(?:, | and | to )\d\w*)*", "", text)
    text = re.sub(r"\b95[ \u00a0]?%|\b(?:19|20)\d\d\b", "", text)
    text = re.sub(r"^\s*\d+\. ", "", text, flags=re.MULTILINE)
    return re.findall(r"(?<![\w.])[−-]?\.?\d[\d.,]*(?!\w)", text)


def lines_of(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


# --- how much a lesson asks of a reader ---


@lessons
def test_a_lesson_leaves_room_for_thought(path):
    body = body_of(path)
    assert len(body) <= MOST_CELLS
    assert len(words_in(prose_of(body))) <= MOST_WORDS


@lessons
def test_its_prose_has_few_numbers(path):
    text = prose_of(body_of(path))
    numbers = numbers_in(text)
    assert 100 * len(numbers) / len(words_in(text)) <= MOST_NUMBERS, numbers


@lessons
def test_its_cells_of_code_are_short(path):
    code = [cell for cell in cells_of(path) if cell.cell_type == "code"]
    for cell in code:
        if tag_of(cell) != "hosted":
            assert len(lines_of(cell)) <= MOST_LINES, cell.id
    body = [
        len(lines_of(cell))
        for cell in body_of(path)
        if cell.cell_type == "code" and tag_of(cell) != "hosted"
    ]
    assert statistics.median(body) <= TYPICAL_LINES, body


@lessons
def test_its_code_is_one_statement_a_line_and_draws_nothing(path):
    for cell in cells_of(path):
        if cell.cell_type != "code" or tag_of(cell) == "hosted":
            continue
        assert not DRAWING.search(cell.source), (cell.id, DRAWING.search(cell.source))
        statements = [
            node.lineno
            for node in ast.walk(ast.parse(cell.source))
            if isinstance(node, ast.stmt)
        ]
        assert len(statements) == len({*statements}), cell.id
        for line in cell.source.splitlines():
            is_text = re.search(r"[\"']", line)
            assert is_text or len(line) <= LONGEST_LINE, (cell.id, line)


# --- in which order it comes ---


@lessons
def test_cells_have_known_tags_of_the_right_kind(path):
    for cell in cells_of(path):
        assert set(cell.metadata) <= {"tags"}, cell.id
        assert tag_of(cell) in TAGS[cell.cell_type], cell.id


@lessons
def test_it_opens_with_a_question_what_one_will_be_able_to_do_and_the_time(path):
    cells = cells_of(path)
    opening = (
        r"# \d\d .+\?\n\n"
        r"\*\*After this lesson you can\*\*\n\n(- .+\n(  .+\n)*){2,4}\n"
        r"\*\*Time\.\*\* .*\d+ minutes.*\n\n"
        r"\*\*What you need\.\*\* \S"
    )
    assert re.match(opening, cells[0].source), cells[0].source
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert tag_of(code[0]) == code[0].id == "hosted"
    assert code[0].source == HOSTED


@lessons
def test_it_asks_for_a_prediction_before_the_first_figure_and_the_answer(path):
    cells = cells_of(path)
    heading = ""
    for place, cell in enumerate(cells):
        starts_so = cell.source.startswith("**Predict.**")
        assert starts_so == (tag_of(cell) == "prediction"), cell.id
        headings = re.findall(r"^#+ .+$", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and headings:
            heading = headings[-1]
        if tag_of(cell) == "prediction":
            assert "?" in cell.source, cell.id
            assert heading.endswith("?"), f"{heading!r} above {cell.id}"
            answer = cells[place + 1]
            assert tag_of(answer) == "yours", answer.id
            assert any(later.cell_type == "code" for later in cells[place + 1 :])
        if tag_of(cell) == "yours":
            assert cell.source.startswith("**Your prediction:**"), cell.id
            assert tag_of(cells[place - 1]) == "prediction", cell.id

    first = next(
        place for place, cell in enumerate(cells) if "plots.save(" in cell.source
    )
    assert any(tag_of(cell) == "prediction" for cell in cells[:first])


@lessons
def test_its_figures_have_its_number_and_a_caption_that_says_which_data(path):
    number = path.stem.split("_")[0]
    for cell in cells_of(path):
        if cell.cell_type != "code":
            continue
        saved = SAVED.findall(cell.source)
        assert len(saved) == cell.source.count("plots.save("), cell.id
        assert all(name.startswith(f"{number}_") for name in saved), cell.id
        # The wide figure is the value of the cell, so it is saved last.
        wide = [name for name in saved if not name.endswith("_narrow")]
        assert not saved or saved[-1] in wide, cell.id
        for name in saved:
            text = (ROOT / "figures" / f"{name}.svg").read_text(encoding="utf-8")
            description = re.search(r"<dc:description>(.*?)</", text, re.DOTALL)[1]
            assert re.search(r"Data: |Computed |No data ", description), name


@lessons
def test_a_widget_answers_a_question_and_has_a_picture(path):
    cells = cells_of(path)
    assert sum(tag_of(cell) == "widget" for cell in cells) <= 1
    for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
        moves = "widgets.interact(" in cell.source
        assert moves == (tag_of(cell) == "widget"), cell.id
        if moves:
            assert before.cell_type == "markdown", before.id
            assert "?" in before.source, before.id
            assert "plots.save(" in after.source, after.id


@lessons
def test_it_ends_with_doubts_a_recap_of_three_sentences_and_exercises(path):
    cells = cells_of(path)
    doubt, recap, heading = (
        place_of(cells, words) for words in ("What to doubt", "Recap", "Exercises")
    )
    assert doubt <= recap <= heading
    text = cells[recap].source.split("## Recap\n", 1)[1].split("\n## ")[0]
    sentences = re.split(r"(?<=[.?!*])\s+(?=[*\[(]*[A-Z0-9])", " ".join(text.split()))
    items = re.findall(r"^(?:\d+\.|-) ", text, re.MULTILINE)
    assert len(items) == 3 or len(sentences) == 3, sentences


@lessons
def test_its_exercises_rise_from_a_warm_up_to_a_judgement(path):
    cells = cells_of(path)
    heading = place_of(cells, "Exercises")
    exercises = [cell for cell in cells[heading + 1 :] if tag_of(cell)]
    order = "".join(LETTERS[tag_of(cell)] for cell in exercises)
    shape = re.fullmatch(f"({WARM_UP})((?:{CHECKED}){{2,3}})({JUDGEMENT})", order)
    assert shape, order
    before = {tag_of(cell) for cell in cells[:heading]}
    assert not {"exercise", "stub", "solution", "check"} & before

    openings = [cell for cell in exercises if tag_of(cell) == "exercise"]
    names = [*OPENINGS[: len(openings) - 1], "Judgement"]
    for cell, name in zip(openings, names, strict=True):
        assert cell.source.startswith(f"**{name}.**"), cell.id
    for cell in exercises:
        if tag_of(cell) == "solution" and cell.cell_type == "markdown":
            word = "Model answer" if cell is exercises[-1] else "Solution"
            assert cell.source.startswith(f"**{word}.**"), cell.id
        if tag_of(cell) == "check":
            assert re.search(r"^ *assert ", cell.source, re.MULTILINE), cell.id


# --- what it leaves to the student ---


@lessons
def test_the_copy_for_students_lacks_the_solutions_and_nothing_else(path, tmp_path):
    runner_module().main(["--student", str(tmp_path), str(path)])
    first, *copied = cells_of(tmp_path / path.name)
    assert "student's copy" in first.source
    assert copied == [cell for cell in cells_of(path) if tag_of(cell) != "solution"]


@pytest.mark.filterwarnings("ignore::pandas.errors.PerformanceWarning")
@lessons
def test_in_the_copy_for_students_the_checks_fail_and_nothing_else(path, monkeypatch):
    """Without the solutions every check must notice.

    `make reproduce` runs all cells. Here only the exercises run again, and the cells on
    which they rest; what these write must not take the place of what is committed.
    """
    for drawing in ("save", "heatmap"):
        monkeypatch.setattr(plots, drawing, lambda *arguments, **options: None)
    monkeypatch.chdir(path.parent)
    copied = {
        cell.id: cell
        for cell in cells_of(path)
        if cell.cell_type == "code" and tag_of(cell) not in ("hosted", "solution")
    }
    exercises = {name for name in copied if tag_of(copied[name]) in ("stub", "check")}
    sources = {name: cell.source for name, cell in copied.items()}

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


# --- the drawings ---


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("fairlib/drawings/*.py")), ids=lambda path: path.stem
)
def test_drawings_compute_no_statistics(path):
    text = path.read_text(encoding="utf-8")
    computed = r"\.(mean|sum|std|var|quantile|percentile|median)\(|\brandom\b|\bscipy\b"
    assert not re.search(computed + r"|\bstatsmodels\b|\bsklearn\b", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("fairlib"):
            names = {alias.name for alias in node.names}
            is_beside = node.module.startswith("fairlib.drawings")
            is_look = node.module == "fairlib" and names <= {"plots", "metrics"}
            assert is_beside or is_look, names
