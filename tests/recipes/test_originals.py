import concurrent.futures
import contextlib
import hashlib
import http.server
import multiprocessing
import os
import threading
import time
import zipfile
from functools import partial, partialmethod

import pandas as pd
import pytest

from fairlib import data
from fairlib.data import DataError
from fairlib.recipes import originals as recipes
from fairlib.recipes.download import fetch
from fairlib.recipes.originals import File, original

CONTENT = b"race,score\n" + b"a,1\nb,2\n" * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.SimpleHTTPRequestHandler):
    """A file server that understands ranges, counts what it sent, and can break off a
    connection.
    """

    sent = 0
    break_after = None

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.exists(path):
            self.send_error(404)
            return
        with open(path, "rb") as stream:
            content = stream.read()
        start = int(
            self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-")
        )
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
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Server, directory=str(folder))
    ) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def originals(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path / "originals"))
    return tmp_path / "originals"


# --- originals: truncated, altered, of another shape ---


def test_truncated_and_altered_originals(originals):
    file = File("people.csv", sha256=SHA256, size=len(CONTENT))
    originals.mkdir()
    path = originals / "people.csv"
    path.write_bytes(CONTENT[:100])
    with pytest.raises(
        DataError, match=f"truncated: 100 bytes, expected {len(CONTENT):,}. Delete it"
    ):
        original(file)
    path.write_bytes(CONTENT + b"!")
    with pytest.raises(DataError, match="too long"):
        original(file)
    path.write_bytes(b"?" * len(CONTENT))
    with pytest.raises(DataError, match="not the expected file"):
        original(file)
    path.write_bytes(CONTENT)
    assert original(file) == path


def test_missing_column_names_file_and_column():
    with pytest.raises(
        DataError, match=r"people.csv lacks the column\(s\) score; it has race"
    ):
        recipes.require_columns(
            pd.DataFrame({"race": ["a"]}), ["race", "score"], "people.csv"
        )


def test_original_without_address_says_how_to_get_it(originals):
    with pytest.raises(
        DataError, match="is not there and has no download address. Ask its owner."
    ):
        original(File("secret.csv", how="Ask its owner."))


# --- downloads ---


def test_download_is_checked_and_leaves_no_part(server, originals, capsys):
    file = File(
        "sub/people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv"
    )
    path = original(file)
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["people.csv"]
    assert "people.csv: 100%" in capsys.readouterr().err  # the progress bar


def test_broken_connection_is_resumed_where_it_stopped(server, originals):
    file = File(
        "people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv"
    )
    Server.break_after = 1000
    with pytest.raises(DataError, match="Load again to go on where it stopped"):
        original(file)
    assert not (
        originals / "people.csv"
    ).exists()  # half a download never counts as data
    assert original(file).read_bytes() == CONTENT
    assert Server.sent == len(CONTENT)  # and no byte was fetched twice


def test_wrong_content_is_refused_and_forgotten(server, originals):
    file = File(
        "people.csv", sha256="0" * 64, size=len(CONTENT), url=f"{server}/people.csv"
    )
    with pytest.raises(DataError, match="not the expected file"):
        original(file)
    assert list(originals.iterdir()) == []


def test_member_of_a_zip_archive(server, originals):
    file = File(
        "people.csv",
        sha256=SHA256,
        url=f"{server}/people.zip",
        member="inside/people.csv",
    )
    assert original(file).read_bytes() == CONTENT
    with pytest.raises(DataError, match=r"damaged or lacks inside/nobody.csv"):
        original(
            File("nobody.csv", url=f"{server}/people.zip", member="inside/nobody.csv")
        )


def test_complete_part_is_taken_as_it_is(server, originals):
    originals.mkdir()
    (originals / "people.csv.part").write_bytes(CONTENT)
    file = File(
        "people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv"
    )
    assert original(file).read_bytes() == CONTENT
    assert Server.sent == 0


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/people.csv", "{server}/nobody.csv"]
)
def test_no_network_is_one_clear_error(server, originals, url):
    with pytest.raises(DataError, match=r"could not be downloaded .* source='bundled'"):
        fetch(
            File("people.csv", url=url.format(server=server)), originals / "people.csv"
        )


def test_a_stream_of_pieces_that_breaks_off_is_one_clear_error(
    server, originals, monkeypatch
):
    def in_pieces(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\ngroup\r\n9\r\nlab")

    monkeypatch.setattr(Server, "do_GET", in_pieces)
    with pytest.raises(DataError, match="could not be downloaded .* Load again"):
        original(File("people.csv", url=f"{server}/people.csv"))


def test_hub_tables_come_through_datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "a_set"
    folder.mkdir()
    table = pd.DataFrame({"text": ["a", "b"], "label": [0, 1]})
    table.to_parquet(folder / "train.parquet")
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    pd.testing.assert_frame_equal(recipes.from_hub(str(folder), split="train"), table)
    with pytest.raises(
        DataError, match=r"could not be loaded from the hub .* put the files into"
    ):
        recipes.from_hub(str(tmp_path / "nothing"), split="train")


def test_a_package_that_training_lacks_is_named(monkeypatch):
    def recipe():
        import nobodys_package  # noqa: F401

    found = recipes.Recipe(recipe, (), True, None)
    monkeypatch.setattr(
        f"fairlib.recipes.{data.card('text_scores')['recipe']}.text_scores", found
    )
    for compute in (
        lambda: data.load("text_scores", source="original"),
        lambda: recipes.build("text_scores"),
    ):
        with pytest.raises(
            DataError,
            match=r"'recipe' needs the package 'nobodys_package'.* `make models`",
        ):
            compute()


# --- what a server or a disk can do ---


def zipped(url):
    return File(
        "people.csv", sha256=SHA256, url=f"{url}/people.zip", member="inside/people.csv"
    )


def altered(archive):
    """Break what is packed and leave the directory as it is."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as content:
        content.writestr("inside/people.csv", CONTENT)
    broken = bytearray(archive.read_bytes())
    broken[60:70] = b"\xff" * 10
    archive.write_bytes(broken)


def encrypted(archive):
    """Say that a member is encrypted."""
    content = bytearray(archive.read_bytes())
    for start, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(start) + place] |= 1
    archive.write_bytes(content)


@pytest.mark.parametrize("harm", [lambda archive: archive.write_bytes(b"PK"), altered])
def test_a_broken_archive_is_fetched_again(server, originals, harm):
    file = zipped(server)
    originals.mkdir()
    harm(originals / "people.zip")
    assert original(file).read_bytes() == CONTENT


@pytest.mark.parametrize("harm", [altered, encrypted])
def test_an_archive_that_cannot_be_unpacked_is_one_clear_error(
    server, originals, tmp_path, harm
):
    file = zipped(server)
    harm(tmp_path / "served" / "people.zip")
    with pytest.raises(
        DataError, match=r"people.zip is damaged or lacks inside/people.csv"
    ):
        original(file)
    assert list(originals.iterdir()) == []


def in_step(self, *, both):
    """Send the second half of the file when two have received the first."""
    self.send_response(200)
    self.send_header("Content-Length", str(len(CONTENT)))
    self.end_headers()
    self.wfile.write(CONTENT[:1000])
    both.wait()
    time.sleep(0.1)  # until both have written it
    self.wfile.write(CONTENT[1000:])


def test_several_may_fetch_one_file(server, originals, monkeypatch):
    monkeypatch.setattr(
        Server, "do_GET", partialmethod(in_step, both=threading.Barrier(2, timeout=60))
    )
    file = File(
        "people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv"
    )
    with concurrent.futures.ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context("spawn")
    ) as pool:
        list(pool.map(fetch, [file] * 2, [originals / "people.csv"] * 2))
    assert [path.name for path in originals.iterdir()] == ["people.csv"]
    assert (originals / "people.csv").read_bytes() == CONTENT


def endless(self, *, pause=0.0, chunk=1000):
    """Send without end, and without a word on how much."""
    self.send_response(200)
    self.end_headers()
    with contextlib.suppress(OSError):
        while True:
            self.wfile.write(CONTENT[:chunk])
            time.sleep(pause)


def test_a_body_that_never_ends_is_cut(server, originals, monkeypatch):
    monkeypatch.setattr(Server, "do_GET", endless)
    file = File(
        "people.csv", sha256=SHA256, size=len(CONTENT), url=f"{server}/people.csv"
    )
    with pytest.raises(DataError, match="not the expected file"):
        original(file)


def test_a_drip_feed_times_out(server, originals, monkeypatch):
    monkeypatch.setattr(Server, "do_GET", partialmethod(endless, pause=0.02, chunk=1))
    monkeypatch.setattr("fairlib.recipes.download.SECONDS", 0.3)
    with pytest.raises(DataError, match="fewer than 1,000 bytes a second"):
        original(File("people.csv", url=f"{server}/people.csv"))
