"""Files that can be read only once, such as pipes, as files that can be read again.

An audit reads its table more than once. What comes through a pipe is therefore copied
to a temporary file, which is removed after the audit. This module imports nothing
heavy.
"""

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

STANDARD_INPUT = "-"

_LONGEST_MARK = 4
# How files begin that are no plain text, and what their names end in.
_SUFFIXES = {
    b"PAR1": ".parquet",
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\x28\xb5\x2f\xfd": ".zst",
}


def name_of(file: Path) -> str:
    """Return how a report names its file.

    Parameters
    ----------
    file : Path
        The file as the user named it.

    Examples
    --------
    >>> name_of(Path("data/people.csv")), name_of(Path("-"))
    ('people.csv', 'the standard input')
    """
    if str(file) in (STANDARD_INPUT, "/dev/stdin"):
        return "the standard input"
    # This is how shells name the output of a command, <(...).
    if file.parent in (Path("/dev/fd"), Path("/proc/self/fd")):
        return "the output of a command"
    return file.name


@contextmanager
def readable_again(file: Path) -> Iterator[Path]:
    """Yield a file that can be read several times.

    Parameters
    ----------
    file : Path
        A file, a folder, a pipe, or "-" for the standard input.

    Yields
    ------
    Path
        The file itself, or a copy of what came through the pipe. The copy is removed in
        the end.

    Raises
    ------
    ValueError
        If the standard input is closed.
    """
    if str(file) == STANDARD_INPUT:
        with _copied(_standard_input(), file) as copy:
            yield copy
    elif file.is_fifo():
        with file.open("rb") as stream, _copied(stream, file) as copy:
            yield copy
    else:
        yield file


def _standard_input() -> BinaryIO:
    """Return the bytes of the standard input."""
    if sys.stdin is None:
        raise ValueError("the standard input is closed")
    return sys.stdin.buffer


@contextmanager
def _copied(stream: BinaryIO, file: Path) -> Iterator[Path]:
    """Yield a temporary copy of a stream, whose name says what kind of file it is."""
    mark = stream.read(_LONGEST_MARK)
    suffixes = [suffix for start, suffix in _SUFFIXES.items() if mark.startswith(start)]
    # A pipe has no ending of its own, unless somebody has named it.
    named = ".tsv" if ".tsv" in file.suffixes else ""

    with _stopped_like_an_exit(), TemporaryDirectory(prefix="fairlib-") as folder:
        path = Path(folder, "".join(["input", named, *suffixes]))
        with path.open("wb") as copy:
            copy.write(mark)
            shutil.copyfileobj(stream, copy)
        yield path


@contextmanager
def _stopped_like_an_exit() -> Iterator[None]:
    """Let a signal to terminate end the program by an exit, which removes copies."""

    def leave(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    previous = signal.getsignal(signal.SIGTERM) or signal.SIG_DFL
    # Only the main thread may handle signals.
    with suppress(ValueError):
        signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(signal.SIGTERM, previous)
