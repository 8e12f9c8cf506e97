"""Calls that once ended in somebody else's error: each is answered with a named one."""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import checks, data, intervals
from fairlib.data import ROOT
from fairlib.intervals import annotation, sequential

N = 200
RIGHT_AND_WRONG = [0, 1] * 20
SIDES = [1, 1, -1, -1] * 10


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "group": rng.choice(["u", "v"], N),
            "label": rng.integers(0, 2, N),
            "prediction": rng.integers(0, 2, N),
            "wait {min}": rng.random(N) * 10,
            "nothing": pd.Series([None] * N, dtype=object),
            "no number": np.nan,
            "a or nothing": ["a"] * 150 + [None] * 50,
        }
    )


def audit(frame, **options):
    columns = {"group": "group", "label": "label", "prediction": "prediction"}
    return fairlib.audit(frame, **columns | options)


# --- columns of an audit ---


def test_one_group_beside_missing_values_that_are_the_reference(frame):
    """The metrics of the literature, which leave out missing values, once failed."""
    report = audit(frame, group="a or nothing", reference="(missing)")
    assert len(report.to_frame()) > 0
    assert len(report.metrics) == 0
    assert "a or nothing: there is one group only" in str(report.metrics.attrs["notes"])
    assert "</html>" in report.to_html()


@pytest.mark.parametrize("name", ["nothing", "no number"])
def test_strata_without_any_value(frame, name):
    with pytest.raises(ValueError, match=f"within: column '{name}' has no value"):
        audit(frame, within=name)


@pytest.mark.parametrize("name", ["nothing", "no number"])
def test_groups_without_any_value(frame, name):
    with pytest.raises(ValueError, match=f"group: column '{name}' has no value"):
        audit(frame, group=name)


@pytest.mark.parametrize("name", ["wait {min}", "{0}", "%s", "wait } x"])
def test_a_cost_whose_name_could_be_a_place_to_fill_in(frame, name):
    costs = frame.rename(columns={"wait {min}": name})[["group", name]]
    report = fairlib.audit(costs, group="group", cost=name, cost_margin=1.0)
    assert name in report.to_markdown()


# --- numbers that are no single number ---

NO_NUMBERS = [[0.9], [0.9, 0.95], np.array([0.9]), "0.9", None]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_confidence_that_is_not_one_number(value):
    costs = RIGHT_AND_WRONG, RIGHT_AND_WRONG
    with pytest.raises(ValueError, match="^confidence must be"):
        fairlib.disparity_interval(*costs, confidence=value)
    with pytest.raises(ValueError, match="^confidence must be"):
        intervals.clusters.interval([0.1, 0.2, 0.3], [1, 2, 3], confidence=value)
    with pytest.raises(ValueError, match="^confidence must lie"):
        fairlib.audit(*costs, ["a", "b"] * 20, confidence=value)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_largest_cost_that_is_not_one_number(value):
    costs = RIGHT_AND_WRONG, RIGHT_AND_WRONG
    with pytest.raises(ValueError, match="^max_cost must be"):
        fairlib.disparity_interval(*costs, max_cost=value)
    with pytest.raises(ValueError, match="^max_cost must be"):
        fairlib.bernstein.interval(RIGHT_AND_WRONG, SIDES, max_cost=value)
    with pytest.raises(ValueError, match="^max_cost must be"):
        sequential.confidence_sequence(RIGHT_AND_WRONG, SIDES, max_cost=value)
    with pytest.raises(ValueError, match="^max_cost must be"):
        annotation.prediction_powered(
            RIGHT_AND_WRONG, RIGHT_AND_WRONG, SIDES, max_cost=value
        )
    if value is not None:
        with pytest.raises(ValueError, match="^max_cost must be"):
            checks.costs("cost", RIGHT_AND_WRONG, max_cost=value)


# --- tables without rows, files without tables ---


def test_tables_without_rows(frame):
    names = ["source", "group", "term", "position", "slot", "label", "prediction"]
    empty = pd.DataFrame({name: [] for name in names})
    with pytest.raises(ValueError, match="tokens has no rows"):
        fairlib.measure_sequences(empty)
    with pytest.raises(ValueError, match="predictions has no rows"):
        fairlib.measure(empty)
    with pytest.raises(ValueError, match="the table has no rows"):
        audit(frame.head(0))


def test_a_folder_without_parquet_files(tmp_path):
    with pytest.raises(ValueError, match=r"the folder '.*' holds no Parquet files"):
        fairlib.measure(tmp_path)
    with pytest.raises(ValueError, match=r"the folder '.*' holds no Parquet files"):
        audit(str(tmp_path))


@pytest.mark.parametrize("content", ["", "group,label\na,1\n"])
def test_a_file_that_is_not_parquet(tmp_path, content):
    path = tmp_path / "predictions.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match="must be a Parquet file .*Delimited"):
        fairlib.measure(path)
    with pytest.raises(ValueError, match="must be a Parquet file .*Delimited"):
        fairlib.measure(str(tmp_path))


# --- an accent in a path where the locale knows only ASCII ---

IN_ASCII = """
import sys
from pathlib import Path
from fairlib import data, tables
data.BUNDLED = Path(sys.argv[1])
rows = data.load("suite_predictions", source="bundled")
path = data.BUNDLED / "suite_predictions" / "suite_predictions.parquet"
for table in (path, str(path), path.parent / "only"):
    counts = tables.counts(table, [rows.columns[0]])
    print(len(rows) == counts[tables.COUNT].sum())
"""


def test_an_accent_in_a_path_where_the_locale_knows_only_ascii(tmp_path):
    """Arrow once failed to encode what Python had made of the letters of the path."""
    bundled = tmp_path / "été à Zürich"
    shutil.copytree(data.BUNDLED / "suite_predictions", bundled / "suite_predictions")
    shutil.copytree(
        data.BUNDLED / "suite_predictions",
        bundled / "suite_predictions" / "only",
        ignore=shutil.ignore_patterns("card.toml"),
    )
    settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    printed = subprocess.check_output(
        [sys.executable, "-c", IN_ASCII, bundled],
        env=os.environ | settings | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert printed.split() == ["True"] * 3


# --- a folder that is gone, a disk that is full ---

FROM_NOWHERE = """
import os, sys
os.rmdir(os.getcwd())
import fairlib
from fairlib.__main__ import main
print(len(fairlib.load("winobias_sentences", source="bundled")))
report = fairlib.audit([0, 1] * 40, [0, 1, 1, 1] * 20, ["a", "b"] * 40)
try:
    report.to_html("page.html")
except FileNotFoundError as error:
    print(error)
main(["audit", "p.csv", "--group", "a", "--label", "b", "--prediction", "c"])
"""


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be deleted")
def test_a_working_folder_that_was_deleted(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FROM_NOWHERE],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    rows, error = done.stdout.splitlines()
    assert int(rows) == len(fairlib.load("winobias_sentences", source="bundled"))
    assert error.startswith("page.html cannot be written: the folder")
    assert done.stderr == (
        "fairlib audit: the folder in which the command was started no longer exists\n"
    )


def runner_of_notebooks():
    path = ROOT / "notebooks" / "execute.py"
    specification = importlib.util.spec_from_file_location("execute", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_full_disk_leaves_no_file_of_an_executed_notebook(tmp_path, monkeypatch):
    def write_half(notebook, path, *arguments, **options):
        Path(path).write_text("{")
        raise OSError(errno.ENOSPC, "No space left on device")

    source = tmp_path / "01_one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), source)
    before = source.read_bytes()
    monkeypatch.setattr(nbformat, "write", write_half)

    runner = runner_of_notebooks()
    with pytest.raises(OSError, match="No space left"):
        runner.strip(source)
    with pytest.raises(OSError, match="No space left"):
        runner.student(source, tmp_path / "student" / source.name)
    assert source.read_bytes() == before
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [source]


def test_a_full_disk_leaves_no_file_of_a_table(tmp_path):
    def write_half(path):
        path.write_text("group,")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        data.write_whole(tmp_path / "counts.csv", write_half)
    assert list(tmp_path.iterdir()) == []
