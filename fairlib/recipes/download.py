"""Downloads that can be resumed, are checked, and never leave half a file where data is expected."""

import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tqdm.auto import tqdm

from fairlib.data import DataError, verify, write_whole

CHUNK = 1 << 20
SECONDS = 60  # without a byte before a connection is given up
SLOWEST = 1000  # bytes a second, over as many seconds


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
    at_hand = archive.exists()
    if not at_hand:
        _download(file.url, archive)
    try:
        write_whole(path, lambda beside: _extract(archive, file, beside))
    except DataError:
        if not at_hand:
            raise
        _download(file.url, archive)  # what lay here was broken, and is deleted
        write_whole(path, lambda beside: _extract(archive, file, beside))


def _download(url: str, path: Path, *, size: int = 0, sha256: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _own_part(path) as part:
        try:
            done = part.stat().st_size if part.exists() else 0
            request = urllib.request.Request(
                url, headers={"Range": f"bytes={done}-"} if done else {}
            )
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                done = (
                    done if response.status == 206 else 0
                )  # or the server sends everything again
                announced = int(response.headers.get("Content-Length") or 0)
                total = announced + done if announced else 0
                _receive(response, part, done, total or size, path.name)
        except urllib.error.HTTPError as error:
            if (
                error.code != 416
            ):  # else nothing is left after the last byte at hand, which may be the whole file
                raise _unreachable(url, path, error) from error
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(url, path, error) from error
        _finish(part, path, size=size, sha256=sha256)


@contextmanager
def _own_part(path: Path):
    """Lend the part of a file that is at hand already, so that of several processes each fetches into its own."""
    part, own = (
        path.with_name(f"{path.name}{end}") for end in (".part", f".{os.getpid()}.part")
    )
    with suppress(FileNotFoundError):
        part.replace(own)
    try:
        yield own
    finally:
        if own.exists():
            own.replace(part)


def _receive(response, part: Path, done: int, total: int, name: str) -> None:
    """Append what the server sends to a part of a file; neither endlessly nor at a drip."""
    since, before = time.monotonic(), done
    with (
        part.open("ab" if done else "wb") as stream,
        tqdm(
            total=total or None, initial=done, unit="B", unit_scale=True, desc=name
        ) as bar,
    ):
        while chunk := response.read1(min(CHUNK, total - done) if total else CHUNK):
            done += stream.write(chunk)
            bar.update(len(chunk))
            if (passed := time.monotonic() - since) > SECONDS:
                if done - before < SLOWEST * passed:
                    raise OSError(f"fewer than {SLOWEST:,} bytes a second")
                since, before = time.monotonic(), done
            if done == total:
                return
    if done < total:
        raise OSError(f"connection ended after {done:,} of {total:,} bytes")


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
        verify(target, size=file.size, sha256=file.sha256)
    except (
        zipfile.BadZipFile,
        KeyError,
        zlib.error,
        EOFError,
        RuntimeError,
    ) as error:  # RuntimeError: encrypted, or altered
        archive.unlink(missing_ok=True)
        why = (
            f"is damaged or lacks {file.member} ({error}); load again to fetch it anew"
        )
        raise DataError(f"{archive} {why}") from error


def _unreachable(url: str, path: Path, error: Exception) -> DataError:
    return DataError(
        f"{url} could not be downloaded ({error}). Load again to go on where it stopped, or put the file at {path}; "
        "the bundled data need no network: source='bundled'."
    )
