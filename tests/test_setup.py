"""The set-up: dependencies, a light import, clean notebooks, and their runner."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_cells import DOSSIERS, LESSONS, NOTEBOOKS, name_of
from timing import slowness

import fairlib
from fairlib import ledger
from fairlib.data import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
EXTRAS = PROJECT["optional-dependencies"]
LOCKED = [
    *PROJECT["dependencies"],
    *(d for extra in ("notebooks", "develop", "engines") for d in EXTRAS[extra]),
]
CONDA_NAMES = {"duckdb": "python-duckdb"}  # where a package is called otherwise there
RUNNER = ROOT / "notebooks" / "execute.py"


def test_environment_yml_is_the_door_to_the_same_set():
    listed = re.findall(
        r"^  - ([\w-]+)(.*)$",
        (ROOT / "environment.yml").read_text(),
        flags=re.MULTILINE,
    )
    found = {
        name: specification
        for name, specification in listed
        if name not in ("conda-forge", "pip")
    }
    declared = [re.match(r"([\w-]+)(.*)", dependency).groups() for dependency in LOCKED]
    expected = {
        CONDA_NAMES.get(name, name): specification for name, specification in declared
    }
    assert found == expected | {"python": PROJECT["requires-python"]}


def test_lock_pins_every_dependency_with_hashes_and_without_addresses():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    pinned = set(re.findall(r"^([a-z0-9._-]+)==", text, flags=re.MULTILINE))
    for dependency in LOCKED:
        assert re.match(r"[\w-]+", dependency).group() in pinned
    for block in re.split(r"\n(?=[a-z])", text):
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_every_dependency_says_what_it_is_for():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for line in lines:
        if re.match(r'    "[\w-]+[>=]=', line):
            assert "# " in line, line


def test_the_wheel_holds_every_room_and_every_place_names_one_version():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "tool"
    ]["setuptools"]
    packages, shipped = setup["packages"], setup["package-data"]
    besides = {
        path
        for path in ROOT.glob("fairlib/**/*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert besides <= {
        path
        for room, names in shipped.items()
        for name in names
        for path in (ROOT / room.replace(".", "/")).glob(name)
    }
    rooms = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in ROOT.glob("fairlib/**/__init__.py")
    }
    assert set(packages) == rooms | {"fairlib._data"}
    assert (
        f"version: {fairlib.__version__}"
        in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    )


def test_import_is_light():
    code = (
        "import time; t = time.process_time(); import fairlib; "
        "print(time.process_time() - t)"
    )
    times = [
        float(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT))
        for _ in range(3)
    ]
    assert min(times) < 0.3 * max(1, slowness())
    heavy = (
        "import fairlib, sys; names = ('datasets', 'torch', 'matplotlib', 'pandas'); "
        "print([name for name in names if name in sys.modules])"
    )
    assert (
        subprocess.check_output(
            [sys.executable, "-c", heavy], cwd=ROOT, text=True
        ).strip()
        == "[]"
    )


def test_every_public_name_can_be_had():
    for name in fairlib.__all__:
        assert getattr(fairlib, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fairlib.nothing  # noqa: B018


def test_make_help_lists_the_targets():
    shown = subprocess.check_output(["make", "help"], cwd=ROOT, text=True)
    for target in (
        "reproduce",
        "test",
        "site",
        "bench",
        "lab",
        "student",
        "slides",
        "lint",
        "clean",
    ):
        assert re.search(rf"^  make {target} +\w", shown, flags=re.MULTILINE)


FAKE_PYTHON = """#!/bin/sh
# In place of the interpreter: writes what a notebook or the ledger would write, and
# keeps a list of who ran.
mkdir -p build/ledger figures
if [ "$1" = notebooks/execute.py ]; then
    name=${2#notebooks/} && name=${name%.ipynb}
    echo "$name $FAIRLIB_DATA" >>ran.txt
    mkdir -p build/dossier build/ledger/dossier figures/dossier
    touch "$3" figures/"$name".png build/ledger/"$name".csv
    printf 'figures/%s.png\nbuild/ledger/%s.csv\n' "$name" "$name" >"${3%ipynb}outputs"
elif [ "$1" = notebooks/pages.py ]; then
    echo "pages of $(echo "$@" | cut -d" " -f2-)" >>pages.txt
    mkdir -p docs/lessons
    touch figures/README.md docs/lessons/01_one.md
else
    echo "ledger $FAIRLIB_DATA" >>ran.txt
    touch figures/ledger.csv figures/ledger.md figures/ledger.png
fi
"""


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A checkout of two notebooks with the real Makefile; calling it returns who ran.

    It says with which folder of data.
    """
    monkeypatch.delenv("FAIRLIB_DATA", raising=False)
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    for name in (
        "fairlib",
        "notebooks/dossier",
        "data/bundled",
        "data/published",
        "data/templates",
        ".venv/bin",
    ):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "fairlib/page.css",
        "fairlib/report.html",
        "fairlib/data.py",
        "notebooks/execute.py",
        "notebooks/pages.py",
        "notebooks/01_one.ipynb",
        "notebooks/dossier/02_two.ipynb",
        "requirements.lock",
        "pyproject.toml",
        ".venv/.installed",
    ):
        (tmp_path / name).touch()
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    (tmp_path / ".venv/bin/python").write_text(FAKE_PYTHON)
    (tmp_path / ".venv/bin/python").chmod(0o755)

    def make(*arguments, **environment):
        (tmp_path / "ran.txt").unlink(missing_ok=True)
        time.sleep(0.02)  # files written just now must be older than what make writes
        command = ["make", "--silent", "reproduce", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | environment,
            capture_output=True,
            text=True,
        )
        ran = (
            (tmp_path / "ran.txt").read_text().splitlines()
            if (tmp_path / "ran.txt").exists()
            else []
        )
        return (
            sorted(line.strip() for line in ran)
            if done.returncode == 0
            else done.stderr
        )

    make.folder = tmp_path
    return make


ALL = ["01_one", "dossier/02_two", "ledger"]


def test_make_runs_again_what_lost_an_output_or_changed_a_source(workshop):
    assert workshop() == ALL
    assert workshop() == []
    for lost, again in {
        "figures/01_one.png": ["01_one", "ledger"],
        "build/dossier/02_two.ipynb": ["dossier/02_two", "ledger"],
        "build/ledger/dossier/02_two.csv": ["dossier/02_two", "ledger"],
        "figures/ledger.png": ["ledger"],
        "figures/ledger.md": ["ledger"],
        "figures/README.md": ["ledger"],
        "docs/lessons/01_one.md": ["ledger"],
    }.items():
        (workshop.folder / lost).unlink()
        assert workshop() == again, lost
        assert workshop() == []
    shutil.rmtree(workshop.folder / "build" / "ledger")
    assert workshop() == ALL
    pages = (workshop.folder / "pages.txt").read_text().splitlines()
    assert {*pages} == {"pages of build/01_one.ipynb"}
    for source in (
        "fairlib/page.css",
        "fairlib/report.html",
        "fairlib/data.py",
        "notebooks/execute.py",
    ):
        (workshop.folder / source).touch()
        assert workshop() == ALL, source
    assert workshop() == []


def test_make_sees_genuine_files_wherever_they_lie(
    workshop, tmp_path_factory, monkeypatch
):
    assert workshop() == ALL
    default = workshop.folder / "data" / "original" / "mnli"
    default.mkdir(parents=True)
    assert workshop() == []  # an empty folder is nothing new
    (default / "dev.jsonl").write_text("1")
    assert workshop() == ALL
    (default / "dev.jsonl").write_text("2")  # another file of the same name
    assert workshop() == ALL
    (default / "person.jpg").touch()
    assert workshop() == []
    home = tmp_path_factory.mktemp("home")
    (home / "genuine").mkdir()
    (workshop.folder / "my files").symlink_to(home / "genuine")
    assert workshop(FAIRLIB_DATA="my files") == [
        f"{name} {workshop.folder / 'my files'}" for name in ALL
    ]
    (home / "genuine" / "dev.jsonl").touch()
    everywhere = [f"{name} {home / 'genuine'}" for name in ALL]
    assert workshop("FAIRLIB_DATA=~/genuine", HOME=str(home)) == everywhere
    assert workshop("FAIRLIB_DATA=~/genuine", HOME=str(home)) == []
    assert workshop() == ALL  # back to the default
    (default / "dev.jsonl").unlink()
    assert workshop() == ALL
    assert "FAIRLIB_DATA must name a folder, found 'nowhere'" in workshop(
        FAIRLIB_DATA="nowhere"
    )


@pytest.mark.parametrize("named", ["mine", "~/mine"])
def test_a_relative_folder_of_originals_is_named_from_where_one_stands(
    tmp_path, monkeypatch, notebook, named
):
    monkeypatch.setenv("FAIRLIB_DATA", named)
    load = "from fairlib import data"
    leave = "import os; os.chdir('/')"
    show = "print(data.originals_folder())"
    print_it = f"{leave}; {load}; {show}"
    later = f"{load}; {leave}; {show}"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    expected = tmp_path / "home" / "mine"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found = subprocess.check_output(
        [sys.executable, "-c", later], cwd=expected.parent, text=True
    )
    assert found == f"{expected}\n"
    target = tmp_path / "build" / "a.ipynb"
    monkeypatch.chdir(expected.parent)
    runner_module().execute(notebook(print_it), target)
    assert str(expected) in target.read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebooks_are_stored_clean(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith(f"# {path.stem.split('_')[0]} ")
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", cell.id), (
            cell.id
        )  # fixed and readable, not random
        assert "sys.path" not in cell.source
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None
    answers = path in DOSSIERS and (ledger.published()["notebook"] == path.stem).any()
    if answers:
        assert re.search(
            rf'ledger\.record\(\s*"{path.stem}"', notebook.cells[-1].source
        )
        assert notebook.cells[-1].metadata.tags == ["ledger"]


def test_every_notebook_is_a_lesson_or_a_dossier():
    stored = {
        path
        for path in (ROOT / "notebooks").rglob("*.ipynb")
        if not path.parent.name.startswith(".")
    }
    assert stored == {*NOTEBOOKS}
    assert len(LESSONS) >= 1 and len(DOSSIERS) >= 16


@pytest.mark.parametrize("name", ["README.md", "docs/your_own_data.md"])
def test_examples_of_the_documents_run_and_print_what_they_say(name, capsys):
    text = (ROOT / name).read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(code, name, "exec"), {})
        printed = capsys.readouterr().out
        for promised in re.findall(r"print\(.*\)  # (.*)", code):
            assert promised in printed


@pytest.fixture
def notebook(tmp_path):
    def write(*cells, name="99_example"):
        made = nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_code_cell(source, id=f"cell-{n}")
                for n, source in enumerate(cells)
            ]
        )
        nbformat.write(made, tmp_path / f"{name}.ipynb")
        return tmp_path / f"{name}.ipynb"

    return write


def test_runner_is_deterministic_and_works_from_anywhere(notebook, tmp_path, capsys):
    """Once as `make` calls it, and once from here."""
    source = notebook(
        "import fairlib, os", "print(fairlib.Interval(0.5, 0.4, 0.6)); os.getcwd()"
    )
    targets = [tmp_path / "build" / name for name in ("a.ipynb", "b.ipynb")]
    runner_module().execute(source, targets[0])
    called = subprocess.check_output(
        [sys.executable, RUNNER, source, targets[1]], cwd=tmp_path, text=True
    )
    for said in (capsys.readouterr().out, called):
        assert re.fullmatch(r"99_example: done in [\d.]+ s\n", said), said
    assert targets[0].read_bytes() == targets[1].read_bytes()
    assert "0.500 [0.400, 0.600]" in targets[0].read_text()
    assert (
        not nbformat.read(source, as_version=4).cells[0].outputs
    )  # the source stays as it was


def test_runner_names_notebook_and_cell(notebook, tmp_path):
    source, said = (
        notebook("x = 1", "raise ValueError('no such genre')"),
        "ValueError: no such genre",
    )
    with pytest.raises(
        SystemExit, match=rf"^99_example: cell 2 \(id 'cell-1'\) failed: {said}"
    ):
        runner_module().execute(source, tmp_path / "build" / "a.ipynb")
    assert not (tmp_path / "build" / "a.ipynb").exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import time; time.sleep(60)", "no answer within 2 s"),
        ("import os; os._exit(1)", "Kernel died"),
    ],
)
def test_runner_names_the_cell_that_never_answers(
    notebook, tmp_path, monkeypatch, source, said
):
    runner = runner_module()
    monkeypatch.setattr(runner, "SECONDS_PER_CELL", 2)
    with pytest.raises(
        SystemExit, match=rf"^99_example: cell 2 \(id 'cell-1'\) failed: {said}"
    ):
        runner.execute(notebook("x = 1", source), tmp_path / "a.ipynb")
    assert not (tmp_path / "a.ipynb").exists()


def runner_module():
    specification = importlib.util.spec_from_file_location("execute", RUNNER)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_runner_notices_the_reply_to_a_cell_with_a_slider(
    notebook, tmp_path, monkeypatch
):
    # The kernel's reply arrives while the runner is busy with the slider's output. It
    # must not wait out its limit.
    process = NotebookClient.process_message

    def slowly(self, message, *where):
        if message["msg_type"] == "display_data":
            time.sleep(0.6)
        return process(self, message, *where)

    monkeypatch.setattr(NotebookClient, "process_message", slowly)
    runner = runner_module()
    monkeypatch.setattr(runner, "SECONDS_PER_CELL", 60)
    slider = (
        "import ipywidgets, time\n"
        "answer = lambda x: (display('the answer'), time.sleep(0.2))\n"
        "ipywidgets.interact(answer, x=ipywidgets.IntSlider(3));"
    )
    started = time.monotonic()
    runner.execute(notebook(slider), tmp_path / "a.ipynb")
    assert time.monotonic() - started < 55
    executed = nbformat.read(tmp_path / "a.ipynb", as_version=4)
    models = executed.metadata.widgets["application/vnd.jupyter.widget-state+json"][
        "state"
    ].values()
    (shown,) = [
        model["state"]["outputs"]
        for model in models
        if model["model_name"] == "OutputModel"
    ]
    assert "the answer" in shown[0]["data"]["text/plain"]


def test_runner_notices_that_a_widget_fails(notebook, tmp_path):
    slider = "import ipywidgets\nipywidgets.interact(lambda x: 1 / x, x=0);"
    with pytest.raises(
        SystemExit,
        match=r"cell 2 \(id 'cell-1'\) failed: a widget shows ZeroDivisionError",
    ):
        runner_module().execute(notebook("x = 1", slider), tmp_path / "a.ipynb")


def test_runner_refuses_a_warning_in_ci_and_there_only(notebook, tmp_path, monkeypatch):
    source = notebook("import warnings\nwarnings.warn('values are missing')", "x = 1")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(
        SystemExit,
        match=r"cell 1 \(id 'cell-0'\) failed: it printed a warning: .*\n?.*missing",
    ):
        runner_module().execute(source, tmp_path / "a.ipynb")
    assert not (tmp_path / "a.ipynb").exists()

    monkeypatch.delenv("CI")
    runner_module().execute(source, tmp_path / "a.ipynb")
    assert "values are missing" in (tmp_path / "a.ipynb").read_text()


def test_check_and_strip(notebook, tmp_path):
    main, source = runner_module().main, notebook("print(1)")
    main(["--check", str(source)])
    executed = nbformat.read(source, as_version=4)
    executed.cells[0].execution_count, executed.metadata["language_info"] = (
        1,
        {"name": "python"},
    )
    executed.cells[0].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    nbformat.write(executed, path := tmp_path / "executed.ipynb")
    with pytest.raises(SystemExit, match="stored with outputs: [^ ]*executed.ipynb\n"):
        main(["--check", str(source), str(path)])
    main(["--strip", str(path)])
    main(["--check", str(path)])
    with pytest.raises(SystemExit, match="Run a notebook from top to bottom"):
        main([])


def test_nothing_of_a_machine_is_in_the_tree():
    files = subprocess.check_output(
        ["git", "ls-files", "-z"], cwd=ROOT, text=True
    ).split("\0")[:-1]
    for name in files:
        path = ROOT / name
        assert path.stat().st_size < 5_000_000, name
        assert path.suffix not in (".pkl", ".pickle", ".joblib"), name
        if path.suffix in (
            ".py",
            ".md",
            ".toml",
            ".ipynb",
            ".csv",
            ".yml",
            ".lock",
            ".cff",
            "",
        ):
            text = path.read_text(encoding="utf-8")
            assert os.sep + "home" + os.sep not in text, name
            assert os.sep + "root" + os.sep not in text, name
