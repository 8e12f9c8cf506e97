"""Where the numbers come from: tables that ship with the project, or the genuine files they were computed from.

`load(name)` returns the same table whichever way it came, and the frame says which: `frame.attrs["source"]`.

- *bundled*: `data/bundled/<name>/`, a small table with a data card (`card.toml`): origin, licence, how it was computed.
- *original*: a recipe in `fairlib.originals` computes the table from the genuine files, which are looked for in the
  folder named by the environment variable FAIRLIB_DATA (default `data/original/`) and downloaded when they can be.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = ROOT / "data" / "bundled"
SOURCES = ("bundled", "original", "auto")


class DataError(RuntimeError):
    """Data that cannot be used: not there, not reachable, truncated, altered or of another shape."""


@dataclass(frozen=True)
class File:
    """A genuine file: where it lies below the folder of originals, how to know it, and where to get it."""

    path: str
    sha256: str = ""
    size: int = 0
    url: str = ""  # of the file itself, or of a zip archive that holds it
    member: str = ""  # its name inside that archive
    how: str = ""  # what a person does to get it, where no address can be given


@dataclass(frozen=True)
class Recipe:
    """How a table is computed from genuine files."""

    compute: Callable[[], pd.DataFrame]
    files: tuple[File, ...]
    costly: bool  # takes minutes (training): never run unless asked for
    bundle: Callable[[], pd.DataFrame] | None  # how the bundled stand-in is made, where it is not `compute`'s result


RECIPES: dict[str, Recipe] = {}


def recipe(
    name: str,
    *,
    files: Iterable[File],
    costly: bool = False,
    bundle: Callable[[], pd.DataFrame] | None = None,
) -> Callable:
    """Register the decorated function as the way to compute table `name` from the genuine `files`."""

    def register(compute: Callable[[], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
        RECIPES[name] = Recipe(compute, tuple(files), costly, bundle)
        return compute

    return register


def load(name: str, source: str = "auto") -> pd.DataFrame:
    """Return the table `name`; `frame.attrs["source"]` says whether it is "bundled" or "original".

    source : "bundled" for what ships with the project; "original" to compute it from the genuine files, downloading
        them if need be; "auto" for the original where its files are at hand and computing takes seconds, else bundled.
    """
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, found {source!r}")
    recipes = _recipes()
    bundled = {path.parent.name for path in BUNDLED.glob("*/card.toml")}
    if name not in recipes and name not in bundled:
        raise ValueError(f"name must be one of {', '.join(sorted(bundled | set(recipes)))}, found {name!r}")
    if source == "auto":
        ready = name in recipes and not recipes[name].costly and all(map(at_hand, recipes[name].files))
        source = "original" if ready or name not in bundled else "bundled"
    if source == "bundled":
        return _load_bundled(name)
    if name not in recipes:
        raise DataError(f"no recipe computes {name!r} from originals; load it with source='bundled'")
    frame = _computed(name, recipes[name].compute)
    # The recipe's own first line, not the card's title: what ships may be a stand-in, and its card says so.
    title = (recipes[name].compute.__doc__ or name).strip().splitlines()[0].rstrip(".")
    frame.attrs |= {"source": "original", "title": title}
    return frame


def card(name: str) -> dict:
    """Return the data card of a bundled table: title, origin, licence, computed, command, file, sha256, rows."""
    path = BUNDLED / name / "card.toml"
    if not path.exists():
        raise DataError(f"{name!r} is not bundled; load it with source='original'")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def provenance(frame: pd.DataFrame) -> str:
    """Say in half a sentence what a frame from `load` is, for a figure's caption."""
    return f"{frame.attrs['title']} ({frame.attrs['source']} data)"


def at_hand(file: File) -> bool:
    """Whether the genuine file lies in the folder of originals."""
    return (originals_folder() / file.path).exists()


def originals_folder() -> Path:
    """Return the folder of genuine files: FAIRLIB_DATA, or `data/original/` in the checkout."""
    return Path(os.environ.get("FAIRLIB_DATA") or ROOT / "data" / "original")


def original(file: File) -> Path:
    """Return the path of a genuine file, downloaded if need be, and verified against its size and checksum."""
    path = originals_folder() / file.path
    if not path.exists():
        if not file.url:
            raise DataError(f"{path} is not there and has no download address. {file.how}".strip())
        from fairlib.download import fetch

        fetch(file, path)
    verify(path, size=file.size, sha256=file.sha256)
    return path


def verify(path: Path, *, size: int = 0, sha256: str = "") -> None:
    """Raise `DataError` unless the file has this size and checksum (either may be unknown). Reads the file once."""
    found = path.stat().st_size
    if size and found != size:
        what = "truncated" if found < size else "too long"
        raise DataError(f"{path} is {what}: {found:,} bytes, expected {size:,}. Delete it and load again.")
    if sha256:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != sha256:
            raise DataError(
                f"{path} is not the expected file: SHA-256 {digest}, expected {sha256}. "
                "Delete it and load again, or restore the released version."
            )


def require_columns(frame: pd.DataFrame, columns: Iterable[str], where: object) -> pd.DataFrame:
    """Return `frame`, or raise `DataError` naming the columns that the file at `where` lacks."""
    if missing := [column for column in columns if column not in frame.columns]:
        raise DataError(f"{where} lacks the column(s) {', '.join(missing)}; it has {', '.join(map(str, frame))}")
    return frame


def from_hub(repository: str, *, split: str, config: str | None = None, revision: str | None = None) -> pd.DataFrame:
    """Return one split of a set on the Hugging Face hub, through `datasets` (which caches and shows progress)."""
    import datasets

    try:
        return datasets.load_dataset(repository, config, split=split, revision=revision).to_pandas()
    except Exception as error:  # the library raises a dozen kinds; a reader needs one sentence
        raise DataError(
            f"{repository} could not be loaded from the hub ({type(error).__name__}: {error}). Check the network, or "
            f"put the files into {originals_folder()}."
        ) from error


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then rename it: a file is written whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        write(beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def build(name: str) -> Path:
    """Compute the bundled table `name` again and write it with its new checksum in the card."""
    recipes = _recipes()
    if name not in recipes:
        raise ValueError(f"name must be one of {', '.join(sorted(recipes))}, found {name!r}")
    frame = _computed(name, recipes[name].bundle or recipes[name].compute)
    path = BUNDLED / name / card(name)["file"]
    if path.suffix == ".csv":
        write_whole(path, lambda beside: frame.to_csv(beside, index=False, lineterminator="\n"))
    else:
        write_whole(path, lambda beside: frame.to_parquet(beside, index=False, compression="zstd"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    text = (path.parent / "card.toml").read_text(encoding="utf-8")
    text = re.sub(r'^sha256 = ".*"$', f'sha256 = "{digest}"', text, flags=re.MULTILINE)
    text = re.sub(r"^rows = \d+$", f"rows = {len(frame)}", text, flags=re.MULTILINE)
    write_whole(path.parent / "card.toml", lambda beside: beside.write_text(text, encoding="utf-8"))
    return path


def _computed(name: str, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    try:
        return compute()
    except ModuleNotFoundError as error:
        raise DataError(
            f"computing {name!r} needs the package {error.name!r}; `make models` installs what training needs, "
            "source='bundled' loads what it made"
        ) from error


def _load_bundled(name: str) -> pd.DataFrame:
    facts = card(name)
    path = BUNDLED / name / facts["file"]
    if not path.exists():
        raise DataError(f"{path} is missing; restore it from the repository or run: {facts['command']}")
    verify(path, sha256=facts["sha256"])
    if path.suffix == ".csv":
        frame = pd.read_csv(path, keep_default_na=False, na_values=["NaN", ""])
    else:
        frame = pd.read_parquet(path)
    frame.attrs |= {"source": "bundled", "title": facts["title"]}
    return frame


def _recipes() -> dict[str, Recipe]:
    import_module("fairlib.originals")  # its modules register themselves
    return RECIPES


def main(arguments: list[str]) -> None:
    """`python -m fairlib data list | build NAME ...`."""
    parser = argparse.ArgumentParser(prog="python -m fairlib data", description=main.__doc__)
    parser.add_argument("action", choices=("list", "build"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables to build; all that need only minutes if none")
    options = parser.parse_args(arguments)
    recipes = _recipes()
    if options.action == "list":
        for name in sorted(recipes):
            files = recipes[name].files
            state = "at hand" if all(map(at_hand, files)) else "not at hand"
            print(f"{name}: originals {state}" if files else f"{name}: needs no files")
        return
    for name in options.names or [name for name in sorted(recipes) if not recipes[name].costly]:
        print(build(name).relative_to(ROOT))
