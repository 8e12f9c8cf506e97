"""Where the numbers come from: tables that ship with the project, or the genuine files they were computed from.

A bundled table lies in `data/bundled/<name>/`, beside a card (`card.toml`): its origin, its licence, and the module of
`fairlib.recipes` that computes the same table from the genuine files. These are looked for in the folder that the
environment variable FAIRLIB_DATA names; `python -m fairlib data fetch NAME` brings those that can be downloaded.
"""

import hashlib
import os
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pandas as pd

from fairlib.checks import check_word

HERE = Path.cwd()  # where the user stands; a folder named from here stays the same wherever the program goes later
CHECKOUT = Path(__file__).resolve().parents[1]
INSTALLED = not (CHECKOUT / "data" / "bundled").is_dir()
ROOT = HERE if INSTALLED else CHECKOUT  # figures and genuine files lie below it
DATA = Path(__file__).with_name("_data") if INSTALLED else CHECKOUT / "data"
BUNDLED, FIGURES = DATA / "bundled", ROOT / "figures"


class DataError(RuntimeError):
    """Data that cannot be used: not there, not reachable, truncated, altered or of another shape."""


def load(name: str, source: str = "auto") -> pd.DataFrame:
    """Return the table `name`; `frame.attrs["source"]` says whether it is "bundled" or "original".

    source : "bundled" for what ships with the project; "original" to compute it from the genuine files, downloading
        them if need be; "auto" for the original where its files are at hand and computing takes seconds, else bundled.

    >>> load("winobias_sentences", source="bundled")["sentences"].sum()
    np.int64(3168)
    """
    check_word("source", source, ("bundled", "original", "auto"))
    check_word("name", name, names())
    if source == "auto":
        source = (
            "original"
            if originals_folder().is_dir() and recipe_of(name).ready
            else "bundled"
        )
    if source == "original":
        return recipe_of(name)()
    facts = card(name)
    path = BUNDLED / name / facts["file"]
    if not path.exists():
        raise DataError(
            f"{path} is missing; restore it from the repository or run: {facts['command']}"
        )
    verify(path, sha256=facts["sha256"])
    csv = path.suffix == ".csv"
    frame = (
        pd.read_csv(path, keep_default_na=False, na_values=["NaN", ""])
        if csv
        else pd.read_parquet(path)
    )
    frame.attrs |= {"source": "bundled", "title": facts["title"]}
    return frame


def names() -> list[str]:
    """Return the names of all tables."""
    return sorted(path.parent.name for path in BUNDLED.glob("*/card.toml"))


def card(name: str) -> dict:
    """Return the data card of a table: title, origin, licence, computed, command, recipe, file, sha256, rows."""
    return tomllib.loads((BUNDLED / name / "card.toml").read_text(encoding="utf-8"))


def recipe_of(name: str):
    """Return the `fairlib.recipes.originals.Recipe` of a table: the one place where a recipe is imported."""
    return getattr(import_module(f"fairlib.recipes.{card(name)['recipe']}"), name)


def provenance(frame: pd.DataFrame) -> str:
    """Say in half a sentence what a frame from `load` is, for a figure's caption."""
    return f"{frame.attrs['title']} ({frame.attrs['source']} data)"


def originals_folder() -> Path:
    """Return the folder of genuine files: FAIRLIB_DATA, from `HERE` if relative, or else `data/original/`."""
    return (
        HERE
        / Path(
            os.environ.get("FAIRLIB_DATA") or ROOT / "data" / "original"
        ).expanduser()
    )


def verify(path: Path, *, size: int = 0, sha256: str = "") -> None:
    """Raise `DataError` unless the file has this size and checksum (either may be unknown). Reads the file once."""
    found = path.stat().st_size
    if size and found != size:
        what = "truncated" if found < size else "too long"
        raise DataError(
            f"{path} is {what}: {found:,} bytes, expected {size:,}. Delete it and load again."
        )
    if sha256:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != sha256:
            other = (
                f"{path} is not the expected file: SHA-256 {digest}, expected {sha256}"
            )
            raise DataError(
                f"{other}. Delete it and load again, or restore the released version."
            )


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then rename it: a file is written whole or not at all.

    A link stays one, and what it points to is written; a device or a pipe is written to and never replaced.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        write(path)
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        write(beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, whole, and alike on every machine."""
    write_whole(
        path, lambda beside: frame.to_csv(beside, index=False, lineterminator="\n")
    )
