"""Tables that ship with the project, and the genuine files that they come from.

A bundled table lies in `data/bundled/<name>/`. The card beside it (`card.toml`) gives
its origin, its licence, and the module of `fairlib.recipes` that computes the same
table from the genuine files. These files are looked for in the folder that the
environment variable FAIRLIB_DATA names; `python -m fairlib data fetch NAME` downloads
those that can be downloaded.
"""

import hashlib
import os
import tomllib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from pandas import DataFrame

from fairlib.checks import check_word


def _working_folder() -> Path:
    """Return the folder in which the program was started."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        # It was deleted. Only what is named relative to it cannot be found then.
        return Path()


# Relative paths begin here, even if the program changes its folder later.
_WORKING_FOLDER = _working_folder()
_CHECKOUT = Path(__file__).resolve().parents[1]

if (_CHECKOUT / "data" / "bundled").is_dir():
    ROOT = _CHECKOUT
    DATA = _CHECKOUT / "data"
else:
    # fairlib was installed as a package: figures belong to the folder of the user.
    ROOT = _WORKING_FOLDER
    DATA = Path(__file__).with_name("_data")
BUNDLED = DATA / "bundled"
FIGURES = ROOT / "figures"


class DataError(RuntimeError):
    """Data that cannot be used: missing, truncated, altered or of another shape."""


class _Recipe(Protocol):
    """What this room needs of a `fairlib.recipes.originals.Recipe`."""

    @property
    def ready(self) -> bool: ...

    def __call__(self, *, bundle: bool = False) -> DataFrame: ...


def load(name: str, source: str = "auto") -> DataFrame:
    """Return a table of the project.

    Parameters
    ----------
    name : str
        The table, one of `names()`.
    source : {"auto", "bundled", "original"}, default "auto"
        "bundled" reads the table that ships with the project. "original" computes it
        from the genuine files, and downloads them if need be. "auto" computes it if the
        genuine files are at hand and this takes seconds; otherwise it reads the bundled
        table.

    Returns
    -------
    DataFrame
        The table; `attrs["source"]` says whether it is "bundled" or "original".

    Raises
    ------
    ValueError
        If there is no such table or source.
    DataError
        If the files are missing or altered.

    Examples
    --------
    >>> load("winobias_sentences", source="bundled")["sentences"].sum()
    np.int64(3168)
    """
    check_word("source", source, ("bundled", "original", "auto"))
    check_word("name", name, names())

    if source == "original" or (source == "auto" and _is_at_hand(name)):
        return recipe_of(name)()
    return _bundled(name)


def names() -> list[str]:
    """Return the names of all tables.

    Returns
    -------
    list of str
        The names, in the order of the alphabet.
    """
    return sorted(path.parent.name for path in BUNDLED.glob("*/card.toml"))


def card(name: str) -> dict[str, Any]:
    """Return the card of a table, which says what it is and where it comes from.

    Parameters
    ----------
    name : str
        The table.

    Returns
    -------
    dict
        Its title, origin, licence, computed, command, recipe, file, sha256 and rows.
    """
    return tomllib.loads((BUNDLED / name / "card.toml").read_text(encoding="utf-8"))


def recipe_of(name: str) -> _Recipe:
    """Return the recipe of a table; only here is a recipe imported.

    Parameters
    ----------
    name : str
        The table.

    Returns
    -------
    fairlib.recipes.originals.Recipe
        Call it to compute the table from the genuine files.
    """
    module = import_module(f"fairlib.recipes.{card(name)['recipe']}")
    return getattr(module, name)


def provenance(frame: DataFrame) -> str:
    """Say in half a sentence where a table comes from, for the caption of a figure.

    Parameters
    ----------
    frame : DataFrame
        A table from `load`.

    Returns
    -------
    str
        Its title and its source.

    Examples
    --------
    >>> provenance(load("winobias_sentences", source="bundled"))
    'sentences in each file of the WinoBias release (bundled data)'
    """
    return f"{frame.attrs['title']} ({frame.attrs['source']} data)"


def originals_folder() -> Path:
    """Return the folder of the genuine files.

    Returns
    -------
    Path
        The folder that FAIRLIB_DATA names, or else `data/original/`. A relative path
        begins at the folder in which the program was started.
    """
    named = os.environ.get("FAIRLIB_DATA") or ROOT / "data" / "original"
    return _WORKING_FOLDER / Path(named).expanduser()


def verify(path: Path, *, size: int = 0, sha256: str = "") -> None:
    """Raise an error unless a file has the size and the checksum that it should have.

    Parameters
    ----------
    path : Path
        The file, which is read once.
    size : int, default 0
        The bytes that it should have; 0 if this is not known.
    sha256 : str, default ""
        Its SHA-256 checksum, in hexadecimal digits; empty if this is not known.

    Raises
    ------
    DataError
        If the file does not have this size or this checksum.
    """
    actual_size = path.stat().st_size
    if size and actual_size != size:
        fault = "truncated" if actual_size < size else "too long"
        raise DataError(
            f"{path} is {fault}: {actual_size:,} bytes, expected {size:,}. "
            "Delete it and load again."
        )

    if sha256:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != sha256:
            raise DataError(
                f"{path} is not the expected file: "
                f"SHA-256 {digest}, expected {sha256}. "
                "Delete it and load again, or restore the released version."
            )


def read_parquet(path: Path) -> DataFrame:
    """Return the table in a Parquet file, whatever letters the path is written with.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        The table.
    """
    # Python opens the file. Arrow could not encode an accent where the locale is C.
    with path.open("rb") as stream:
        return pd.read_parquet(stream)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file completely or not at all, even if the program is interrupted.

    The content is first written to a new file in the same folder, which then takes
    the name of the old one. The target of a link is written, and the link remains. A
    device or a pipe is written to directly.

    Parameters
    ----------
    path : Path
        The file to write; its folder is made if need be.
    write : callable
        Writes the content to the path that it is called with.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        write(path)
        return

    try:
        target = path.resolve()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} cannot be written: the folder in which this program works no "
            "longer exists"
        ) from None
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        write(unfinished)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_csv(frame: DataFrame, path: Path) -> None:
    """Write a table as a CSV file that is the same on every machine.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is not written.
    path : Path
        The file, which is written completely or not at all.
    """
    write_whole(path, partial(frame.to_csv, index=False, lineterminator="\n"))


def _is_at_hand(name: str) -> bool:
    """Return whether a table can be computed here in seconds, from its own files."""
    return originals_folder().is_dir() and recipe_of(name).ready


def _bundled(name: str) -> DataFrame:
    """Read a table that ships with the project."""
    facts = card(name)
    path = BUNDLED / name / facts["file"]
    if not path.exists():
        raise DataError(
            f"{path} is missing; restore it from the repository "
            f"or run: {facts['command']}"
        )
    verify(path, sha256=facts["sha256"])

    if path.suffix == ".csv":
        # "NA" and "None" are words here, names of groups for example.
        frame = pd.read_csv(path, keep_default_na=False, na_values=["NaN", ""])
    else:
        frame = read_parquet(path)
    frame.attrs["source"] = "bundled"
    frame.attrs["title"] = facts["title"]
    return frame


def write_text(text: str, path: str | Path | None) -> str:
    """Return a text, after writing it to a file if there is a path.

    Parameters
    ----------
    text : str
        The text.
    path : str or Path, optional
        The file to write.

    Returns
    -------
    str
        The text.
    """
    if path is not None:
        write_whole(Path(path), lambda target: target.write_text(text, "utf-8"))
    return text
