"""Downloads that can be resumed, are checked, and never leave half a file behind."""

import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from tqdm.auto import tqdm

from fairlib.data import DataError, verify, write_whole

_BYTES_AT_A_TIME = 1 << 20
SECONDS = 60  # without a byte before a connection is given up
_SLOWEST = 1000  # bytes a second, over as many seconds


@dataclass(frozen=True)
class File:
    """A genuine file: where it lies, how to recognise it, and where to get it.

    Parameters
    ----------
    path : str
        Where it lies below the folder of originals.
    sha256 : str, optional
        Its checksum.
    size : int, optional
        Its number of bytes; 0 if it is not known.
    url : str, optional
        Address of the file itself, or of a zip archive that holds it.
    member : str, optional
        Its name inside that archive.
    how : str, optional
        What a person does to get it, where no address can be given.
    """

    path: str
    _: KW_ONLY
    sha256: str = ""
    size: int = 0
    url: str = ""
    member: str = ""
    how: str = ""


def fetch(file: File, path: Path) -> None:
    """Bring a genuine file to a path, directly or out of the archive at its address.

    Parameters
    ----------
    file : File
        The file, with its address.
    path : pathlib.Path
        Where it is to lie.

    Raises
    ------
    DataError
        If it cannot be downloaded, or is not the file that was expected.
    """
    if not file.member:
        _download(file.url, path, size=file.size, sha256=file.sha256)
        return

    def extract(beside: Path) -> None:
        _extract(archive, file, beside)

    archive = path.parent / file.url.rsplit("/", 1)[-1]
    if not archive.exists():
        _download(file.url, archive)
        write_whole(path, extract)
        return

    try:
        write_whole(path, extract)
    except DataError:
        # The archive that lay here was broken, and is deleted by now.
        _download(file.url, archive)
        write_whole(path, extract)


def _download(url: str, path: Path, *, size: int = 0, sha256: str = "") -> None:
    """Download a file, from where an earlier attempt stopped, and check it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _part_of_this_process(path) as part:
        try:
            _receive(url, part, name=path.name, size=size)
        except urllib.error.HTTPError as error:
            # 416: nothing is left after the last byte at hand, so that the part may be
            # the whole file.
            if error.code != 416:
                raise _unreachable(url, path, error) from error
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(url, path, error) from error

        _finish(part, path, size=size, sha256=sha256)


@contextmanager
def _part_of_this_process(path: Path) -> Iterator[Path]:
    """Lend the part of a file that is at hand already to this process alone.

    So several processes that fetch the same file each write into a part of their own.
    """
    shared = path.with_name(f"{path.name}.part")
    private = path.with_name(f"{path.name}.{os.getpid()}.part")

    with suppress(FileNotFoundError):
        shared.replace(private)
    try:
        yield private
    finally:
        if private.exists():
            private.replace(shared)


def _receive(url: str, part: Path, *, name: str, size: int) -> None:
    """Ask the server for what is missing from a part of a file, and append it."""
    at_hand = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={at_hand}-"} if at_hand else {}
    request = urllib.request.Request(url, headers=headers)

    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        # Any status but 206 (partial content) means that the whole file is sent again.
        start = at_hand if response.status == 206 else 0
        announced = int(response.headers.get("Content-Length") or 0)
        total = announced + start if announced else size
        _append(response, part, start=start, total=total, name=name)


def _append(response, part: Path, *, start: int, total: int, name: str) -> None:
    """Append what the server sends to a part of a file, unless it is too slow.

    `total` is the number of bytes of the whole file, or 0 if it is not known.
    """
    done = start
    done_before = start
    since = time.monotonic()
    progress = tqdm(
        total=total or None, initial=start, unit="B", unit_scale=True, desc=name
    )

    with part.open("ab" if start else "wb") as stream, progress as bar:
        while True:
            # Never read beyond the end: the server may send bytes endlessly.
            wanted = min(_BYTES_AT_A_TIME, total - done) if total else _BYTES_AT_A_TIME
            chunk = response.read1(wanted)
            if not chunk:
                break
            done += stream.write(chunk)
            bar.update(len(chunk))

            passed = time.monotonic() - since
            if passed > SECONDS:
                if done - done_before < _SLOWEST * passed:
                    raise OSError(f"fewer than {_SLOWEST:,} bytes a second")
                since = time.monotonic()
                done_before = done

            if done == total:
                return

    if done < total:
        raise OSError(f"connection ended after {done:,} of {total:,} bytes")


def _finish(part: Path, path: Path, *, size: int, sha256: str) -> None:
    """Check a downloaded part, and give it the name of the file."""
    try:
        verify(part, size=size, sha256=sha256)
    except DataError:
        part.unlink()
        raise
    part.replace(path)


def _extract(archive: Path, file: File, target: Path) -> None:
    """Copy a file out of an archive; a damaged archive is deleted."""
    # zipfile raises a RuntimeError for an archive that is encrypted or was altered.
    damaged = (zipfile.BadZipFile, KeyError, zlib.error, EOFError, RuntimeError)

    try:
        with (
            zipfile.ZipFile(archive) as content,
            content.open(file.member) as source,
            target.open("wb") as sink,
        ):
            shutil.copyfileobj(source, sink)
        verify(target, size=file.size, sha256=file.sha256)
    except damaged as error:
        archive.unlink(missing_ok=True)
        raise DataError(
            f"{archive} is damaged or lacks {file.member} ({error}); "
            "load again to fetch it anew"
        ) from error


def _unreachable(url: str, path: Path, error: Exception) -> DataError:
    """Return the error to raise where a file could not be downloaded."""
    return DataError(
        f"{url} could not be downloaded ({error}). Load again to go on where it "
        f"stopped, or put the file at {path}; the bundled data need no network: "
        "source='bundled'."
    )
