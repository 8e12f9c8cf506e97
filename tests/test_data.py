import hashlib
import http.server
import os
import threading
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import data
from fairlib.data import DataError, File
from fairlib.download import fetch

CONTENT = b"race,score\n" + b"a,1\nb,2\n" * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HAS_ORIGINALS = bool(os.environ.get("FAIRLIB_DATA"))
BUNDLED = sorted(path.parent.name for path in data.BUNDLED.glob("*/card.toml"))


class Server(http.server.SimpleHTTPRequestHandler):
    """A file server that understands ranges, counts what it sent, and can break off a connection."""

    sent = 0
    break_after = None

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as stream:
            content = stream.read()
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        body = content[start:]
        if type(self).break_after is not None:
            body, type(self).break_after = body[: type(self).break_after], None
        type(self).sent += len(body)
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "people.csv").write_bytes(CONTENT)
    with zipfile.ZipFile(folder / "people.zip", "w") as archive:
        archive.writestr("inside/people.csv", CONTENT)
    Server.sent, Server.break_after = 0, None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(folder))) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


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
    assert {"title", "origin", "licence", "computed", "command", "file", "sha256", "rows"} <= set(card)
    assert all(str(value).strip() for value in card.values())
    # Several models' tables come out of one training, which has a target of its own.
    assert card["command"] == "make models" or f"python -m fairlib data build {name}" in card["command"]
    assert name in data._recipes()


@pytest.mark.skipif(not HAS_ORIGINALS, reason="FAIRLIB_DATA names no folder of originals")
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_tables_follow_from_the_originals(name):
    recipe = data._recipes()[name]
    if recipe.costly:
        pytest.skip("takes minutes; run its command")
    if recipe.bundle is None and not all(map(data.at_hand, recipe.files)):
        pytest.skip("its originals are not at hand")
    pd.testing.assert_frame_equal(
        (recipe.bundle or recipe.compute)(), fairlib.load(name, source="bundled"), check_dtype=False, check_exact=True
    )


def test_reconstruction_follows_from_what_is_bundled():
    """The one bundled table that is no count of originals can be rebuilt by everybody."""
    rebuilt = data._recipes()["mnli_costs"].bundle()
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
    with pytest.raises(DataError, match="missing; restore it .* python -m fairlib data build compas_scores"):
        fairlib.load("compas_scores", source="bundled")


# --- names and sources ---


def test_unknown_name_and_source_are_named():
    with pytest.raises(ValueError, match="name must be one of .*compas_scores.*found 'compass'"):
        fairlib.load("compass")
    with pytest.raises(ValueError, match="source must be one of bundled, original, auto, found 'web'"):
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


# --- originals: truncated, altered, of another shape ---


def test_truncated_and_altered_originals(originals):
    file = File("people.csv", sha256=SHA256, size=len(CONTENT))
    originals.mkdir()
    path = originals / "people.csv"
    path.write_bytes(CONTENT[:100])
    with pytest.raises(DataError, match=f"truncated: 100 bytes, expected {len(CONTENT):,}. Delete it"):
        data.original(file)
    path.write_bytes(CONTENT + b"!")
    with pytest.raises(DataError, match="too long"):
        data.original(file)
    path.write_bytes(b"?" * len(CONTENT))
    with pytest.raises(DataError, match="not the expected file"):
        data.original(file)
    path.write_bytes(CONTENT)
    assert data.original(file) == path


def test_missing_column_names_file_and_column():
    with pytest.raises(DataError, match=r"people.csv lacks the column\(s\) score; it has race"):
        data.require_columns(pd.DataFrame({"race": ["a"]}), ["race", "score"], "people.csv")


def test_original_without_address_says_how_to_get_it(originals):
    with pytest.raises(DataError, match="is not there and has no download address. Ask its owner."):
        data.original(File("secret.csv", how="Ask its owner."))


# --- downloads ---


def test_download_is_checked_and_leaves_no_part(server, originals, capsys):
    file = File("sub/people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv")
    path = data.original(file)
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["people.csv"]
    assert "people.csv: 100%" in capsys.readouterr().err  # the progress bar


def test_broken_connection_is_resumed_where_it_stopped(server, originals):
    file = File("people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv")
    Server.break_after = 1000
    with pytest.raises(DataError, match="Load again to go on where it stopped"):
        data.original(file)
    assert not (originals / "people.csv").exists()  # half a download never counts as data
    assert data.original(file).read_bytes() == CONTENT
    assert Server.sent == len(CONTENT)  # and no byte was fetched twice


def test_wrong_content_is_refused_and_forgotten(server, originals):
    file = File("people.csv", sha256="0" * 64, size=len(CONTENT), url=f"{server}/people.csv")
    with pytest.raises(DataError, match="not the expected file"):
        data.original(file)
    assert list(originals.iterdir()) == []


def test_member_of_a_zip_archive(server, originals):
    file = File("people.csv", sha256=SHA256, url=f"{server}/people.zip", member="inside/people.csv")
    assert data.original(file).read_bytes() == CONTENT
    with pytest.raises(DataError, match=r"damaged or lacks inside/nobody.csv"):
        data.original(File("nobody.csv", url=f"{server}/people.zip", member="inside/nobody.csv"))


def test_complete_part_is_taken_as_it_is(server, originals):
    originals.mkdir()
    (originals / "people.csv.part").write_bytes(CONTENT)
    file = File("people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv")
    assert data.original(file).read_bytes() == CONTENT
    assert Server.sent == 0


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/people.csv", "{server}/nobody.csv"])
def test_no_network_is_one_clear_error(server, originals, url):
    with pytest.raises(DataError, match=r"could not be downloaded .* source='bundled'"):
        fetch(File("people.csv", url=url.format(server=server)), originals / "people.csv")


def test_a_stream_of_pieces_that_breaks_off_is_one_clear_error(server, originals, monkeypatch):
    def in_pieces(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\ngroup\r\n9\r\nlab")

    monkeypatch.setattr(Server, "do_GET", in_pieces)
    with pytest.raises(DataError, match="could not be downloaded .* Load again"):
        data.original(File("people.csv", url=f"{server}/people.csv"))


def test_hub_tables_come_through_datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "a_set"
    folder.mkdir()
    table = pd.DataFrame({"text": ["a", "b"], "label": [0, 1]})
    table.to_parquet(folder / "train.parquet")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    pd.testing.assert_frame_equal(data.from_hub(str(folder), split="train"), table)
    with pytest.raises(DataError, match=r"could not be loaded from the hub .* put the files into"):
        data.from_hub(str(tmp_path / "nothing"), split="train")


def test_a_package_that_training_lacks_is_named(monkeypatch):
    def recipe():
        import nobodys_package  # noqa: F401

    monkeypatch.setitem(data._recipes(), "text_scores", data.Recipe(recipe, (), True, None))
    for compute in (lambda: data.load("text_scores", source="original"), lambda: data.build("text_scores")):
        with pytest.raises(DataError, match=r"'text_scores' needs the package 'nobodys_package'.* `make models`"):
            compute()


def test_command_line_reports_one_line(capsys):
    from fairlib.__main__ import main

    with pytest.raises(SystemExit, match=r"fairlib data: name must be one of .* found 'nothing'"):
        main(["data", "build", "nothing"])
    main(["data", "list"])
    listed = capsys.readouterr().out
    assert "compas_scores: originals" in listed
    assert "masking_runs: needs no files" in listed  # not "at hand": there is nothing to look for


def test_no_pickle_is_ever_loaded():
    for path in (data.ROOT / "fairlib").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "pickle" not in text.replace("never pickle", "").replace("no pickle", "") or "allow_pickle=False" in text
    assert not np.load.__kwdefaults__ or not np.load.__kwdefaults__.get("allow_pickle")
