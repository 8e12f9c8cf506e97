import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import data
from fairlib.data import DataError

HAS_ORIGINALS = bool(os.environ.get("FAIRLIB_DATA"))
BUNDLED = data.names()


@pytest.fixture
def originals(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path / "originals"))
    return tmp_path / "originals"


# --- what ships ---


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_load_and_know_their_source(name):
    frame = fairlib.load(name, source="bundled")
    assert frame.attrs["source"] == "bundled"
    assert len(frame) == data.card(name)["rows"] > 0
    assert "bundled data" in data.provenance(frame)


@pytest.mark.parametrize("name", BUNDLED)
def test_cards_are_complete_and_name_a_working_command(name):
    card = data.card(name)
    assert {
        "title",
        "origin",
        "licence",
        "computed",
        "command",
        "recipe",
        "file",
        "sha256",
        "rows",
    } <= set(card)
    assert all(str(value).strip() for value in card.values())
    # Several models' tables come out of one training, which has a target of its own.
    assert (
        card["command"] == "make models"
        or f"python -m fairlib data build {name}" in card["command"]
    )
    assert data.recipe_of(name).title


@pytest.mark.skipif(
    not HAS_ORIGINALS, reason="FAIRLIB_DATA names no folder of originals"
)
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_follow_from_the_originals(name):
    recipe = data.recipe_of(name)
    if recipe.costly:
        pytest.skip("takes minutes; run its command")
    if recipe.bundle is None and not recipe.ready:
        pytest.skip("its originals are not at hand")
    pd.testing.assert_frame_equal(
        recipe(bundle=True),
        fairlib.load(name, source="bundled"),
        check_dtype=False,
        check_exact=True,
    )


def test_reconstruction_follows_from_what_is_bundled():
    """The one table that is no count of originals can be rebuilt by everybody."""
    rebuilt = data.recipe_of("mnli_costs")(bundle=True)
    pd.testing.assert_frame_equal(rebuilt, fairlib.load("mnli_costs", source="bundled"))


def test_altered_bundled_file_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "compas_scores"
    folder.mkdir()
    for path in (data.BUNDLED / "compas_scores").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(data, "BUNDLED", tmp_path)
    assert len(fairlib.load("compas_scores", source="bundled"))
    (folder / "compas_scores.csv").write_text("race\nnobody\n")
    with pytest.raises(DataError, match="not the expected file: SHA-256"):
        fairlib.load("compas_scores", source="bundled")
    (folder / "compas_scores.csv").unlink()
    with pytest.raises(
        DataError,
        match="missing; restore it .* python -m fairlib data build compas_scores",
    ):
        fairlib.load("compas_scores", source="bundled")


# --- names and sources ---


def test_unknown_name_and_source_are_named():
    with pytest.raises(
        ValueError, match="name must be one of .*compas_scores.*found 'compass'"
    ):
        fairlib.load("compass")
    with pytest.raises(
        ValueError, match="source must be one of bundled, original, auto, found 'web'"
    ):
        fairlib.load("compas_scores", source="web")


def test_auto_takes_the_bundled_table_without_originals(originals):
    assert fairlib.load("compas_scores").attrs["source"] == "bundled"


def test_a_frame_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")

    def fail(path):
        path.write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        data.write_whole(target, fail)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_command_line_reports_one_line(capsys):
    from fairlib.__main__ import main

    with pytest.raises(
        SystemExit, match=r"fairlib data: name must be one of .* found 'nothing'"
    ):
        main(["data", "build", "nothing"])
    main(["data", "list"])
    listed = capsys.readouterr().out
    assert "compas_scores: originals" in listed
    assert (
        "masking_runs: needs no files" in listed
    )  # not "at hand": there is nothing to look for


def test_the_help_of_the_command_line_imports_no_room():
    code = "import sys, fairlib.__main__ as door; sys.argv[1:] = ['--help']; "
    code += "import atexit; atexit.register(lambda: print(*sys.modules)); door.main()"
    printed = subprocess.check_output(
        [sys.executable, "-c", code], cwd=data.ROOT, text=True
    )
    assert "which groups a classifier treats differently" in printed
    loaded = printed.splitlines()[-1].split()
    rooms = {name for name in loaded if name.startswith("fairlib.")}
    assert rooms == {"fairlib.__main__", "fairlib._door"}
    assert not {"numpy", "pandas"} & {*loaded}


def test_no_pickle_is_ever_loaded_but_by_a_reader_that_refuses_code():
    for path in (data.ROOT / "fairlib").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # Its files were released so; test_training_images.py gives it code to refuse.
        if path.name == "image_sets.py":
            assert not re.search(r"pickle\.loads?\(|read_pickle", text)
            continue
        assert (
            "pickle" not in text.replace("never pickle", "").replace("no pickle", "")
            or "allow_pickle=False" in text
        )
    assert not np.load.__kwdefaults__ or not np.load.__kwdefaults__.get("allow_pickle")
