"""Downloads that can be resumed, are checked, and never leave half a file where data is expected."""

from __future__ import annotations

import http.client
import shutil
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm

from fairlib.data import DataError, verify, write_whole

CHUNK = 1 << 20
SECONDS = 60  # without a byte before a connection is given up


@dataclass(frozen=True)
class File:
    """A genuine file: where it lies below the folder of originals, how to know it, and where to get it."""

    path: str
    sha256: str = ""
    size: int = 0
    url: str = ""  # of the file itself, or of a zip archive that holds it
    member: str = ""  # its name inside that archive
    how: str = ""  # what a person does to get it, where no address can be given


def fetch(file: File, path: Path) -> None:
    """Bring the genuine `file` to `path`: directly, or out of the zip archive at its address."""
    if not file.member:
        _download(file.url, path, size=file.size, sha256=file.sha256)
        return
    archive = path.parent / file.url.rsplit("/", 1)[-1]
    if not archive.exists():
        _download(file.url, archive)
    write_whole(path, lambda beside: _extract(archive, file, beside))


def _download(url: str, path: Path, *, size: int = 0, sha256: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    done = part.stat().st_size if part.exists() else 0
    try:
        request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
        with urllib.request.urlopen(request, timeout=SECONDS) as response:
            if response.status != 206:  # the server sends everything again
                done = 0
            total = int(response.headers.get("Content-Length") or 0) + done
            with (
                part.open("ab" if done else "wb") as stream,
                tqdm(total=total or None, initial=done, unit="B", unit_scale=True, desc=path.name) as bar,
            ):
                while chunk := response.read(CHUNK):
                    stream.write(chunk)
                    bar.update(len(chunk))
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing after the last byte at hand; if that was not the whole file, start afresh
            return _finish(part, path, size=size, sha256=sha256)
        raise _unreachable(url, path, error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(url, path, error) from error
    if total and part.stat().st_size < total:
        raise _unreachable(url, path, OSError(f"connection ended after {part.stat().st_size:,} of {total:,} bytes"))
    _finish(part, path, size=size, sha256=sha256)


def _finish(part: Path, path: Path, *, size: int, sha256: str) -> None:
    try:
        verify(part, size=size, sha256=sha256)
    except DataError:
        part.unlink()
        raise
    part.replace(path)


def _extract(archive: Path, file: File, target: Path) -> None:
    try:
        with (
            zipfile.ZipFile(archive) as content,
            content.open(file.member) as source,
            target.open("wb") as sink,
        ):
            shutil.copyfileobj(source, sink)
    except (zipfile.BadZipFile, KeyError) as error:
        archive.unlink()
        raise DataError(
            f"{archive} is damaged or lacks {file.member} ({error}); load again to fetch it anew"
        ) from error
    verify(target, size=file.size, sha256=file.sha256)


def _unreachable(url: str, path: Path, error: Exception) -> DataError:
    return DataError(
        f"{url} could not be downloaded ({error}). Load again to go on where it stopped, or put the file at {path}; "
        "the bundled data need no network: source='bundled'."
    )
