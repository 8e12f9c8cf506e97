"""Recipes: how a bundled table is computed from genuine files.

The module also finds the genuine files and checks them. A recipe is a function with the
name of its table, in a module that the table's card names. `python -m fairlib data`
lists the recipes and builds tables again.
"""

import argparse
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairlib.data import (
    BUNDLED,
    ROOT,
    DataError,
    card,
    names,
    originals_folder,
    recipe_of,
    verify,
    write_csv,
    write_whole,
)
from fairlib.recipes.download import File, fetch


@dataclass(frozen=True)
class Recipe:
    """How a table is computed from genuine files.

    Parameters
    ----------
    compute : callable
        Returns the table.
    files : tuple of File
        The genuine files that it reads.
    costly : bool
        Whether it takes minutes (training): such a recipe never runs unless asked for.
    bundle : callable, optional
        Returns what is bundled, where that is a stand-in and not the result of
        `compute`.
    """

    compute: Callable[[], pd.DataFrame]
    files: tuple[File, ...]
    costly: bool
    bundle: Callable[[], pd.DataFrame] | None

    def __call__(self, *, bundle: bool = False) -> pd.DataFrame:
        """Compute the table, or with `bundle` what ships in its place.

        A computed table says in its `attrs` that it is the original one.
        """
        compute = self.compute
        if bundle and self.bundle is not None:
            compute = self.bundle

        try:
            frame = compute()
        except ModuleNotFoundError as error:
            raise DataError(
                f"computing {self.compute.__name__!r} needs the package "
                f"{error.name!r}; `make models` installs what training needs, "
                "source='bundled' loads what it made"
            ) from error

        if not bundle:
            # The title is the recipe's own first line, not the card's title: what ships
            # may be a stand-in, and its card says so.
            frame.attrs["source"] = "original"
            frame.attrs["title"] = self.title
        return frame

    @property
    def ready(self) -> bool:
        """Whether it takes seconds and its genuine files are at hand."""
        return not self.costly and all(map(at_hand, self.files))

    @property
    def title(self) -> str:
        """The first line of the function's docstring."""
        text = self.compute.__doc__ or self.compute.__name__
        return text.strip().splitlines()[0].rstrip(".")


def recipe(
    *,
    files: Iterable[File],
    costly: bool = False,
    bundle: Callable[[], pd.DataFrame] | None = None,
) -> Callable[[Callable[[], pd.DataFrame]], Recipe]:
    """Make the decorated function the recipe of the table that has its name.

    Parameters
    ----------
    files : iterable of File
        The genuine files that the function reads.
    costly : bool, default False
        Whether it takes minutes.
    bundle : callable, optional
        Returns what is bundled in place of the function's result.

    Returns
    -------
    callable
        A decorator that returns a `Recipe`.
    """

    def decorate(compute: Callable[[], pd.DataFrame]) -> Recipe:
        return Recipe(compute, tuple(files), costly, bundle)

    return decorate


def at_hand(file: File) -> bool:
    """Return whether the genuine file lies in the folder of originals."""
    return (originals_folder() / file.path).exists()


def original(file: File) -> Path:
    """Return the path of a genuine file, downloaded if need be, and verified.

    Parameters
    ----------
    file : File
        The file.

    Returns
    -------
    pathlib.Path
        Where it lies.

    Raises
    ------
    DataError
        If it is neither there nor can be downloaded, or has another size or checksum.
    """
    path = originals_folder() / file.path
    if not path.exists():
        if not file.url:
            raise DataError(
                f"{path} is not there and has no download address. {file.how}".strip()
            )
        fetch(file, path)
    verify(path, size=file.size, sha256=file.sha256)
    return path


def require_columns(
    frame: pd.DataFrame, columns: Iterable[str], where: object
) -> pd.DataFrame:
    """Return a table, unless columns are missing.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    columns : iterable of str
        The columns that it must have.
    where : object
        The file that it was read from, for the error message.

    Returns
    -------
    pandas.DataFrame
        The table itself.

    Raises
    ------
    DataError
        If columns are missing; the message names them.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise DataError(
            f"{where} lacks the column(s) {', '.join(missing)}; "
            f"it has {', '.join(map(str, frame))}"
        )
    return frame


def from_hub(
    repository: str,
    *,
    split: str,
    config: str | None = None,
    revision: str | None = None,
) -> pd.DataFrame:
    """Return one split of a data set on the Hugging Face hub.

    It is loaded through the package `datasets`, which caches it and shows progress.

    Parameters
    ----------
    repository : str
        Name of the data set on the hub.
    split : str
        Name of the split.
    config, revision : str, optional
        Configuration and version of the data set.

    Returns
    -------
    pandas.DataFrame
        The split.

    Raises
    ------
    DataError
        If it could not be loaded.
    """
    import datasets

    try:
        data = datasets.load_dataset(repository, config, split=split, revision=revision)
        return data.to_pandas()
    except Exception as error:
        # The library raises a dozen kinds of errors; a reader needs one sentence.
        raise DataError(
            f"{repository} could not be loaded from the hub ({type(error).__name__}: "
            f"{error}). Check the network, or put the files into {originals_folder()}."
        ) from error


def build(name: str) -> Path:
    """Compute a bundled table again and write it; return its path."""
    return store(name, _recipe(name)(bundle=True))


def store(name: str, frame: pd.DataFrame) -> Path:
    """Write a bundled table, and its checksum and number of rows into its card.

    Parameters
    ----------
    name : str
        Name of the table.
    frame : pandas.DataFrame
        Its rows.

    Returns
    -------
    pathlib.Path
        The file that was written.
    """

    def write_parquet(beside: Path) -> None:
        with beside.open("wb") as stream:
            frame.to_parquet(stream, index=False, compression="zstd")

    def write_card(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")

    path = BUNDLED / name / card(name)["file"]
    if path.suffix == ".csv":
        write_csv(frame, path)
    else:
        write_whole(path, write_parquet)

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path_of_card = path.parent / "card.toml"
    text = path_of_card.read_text(encoding="utf-8")
    text = re.sub(r'^sha256 = ".*"$', f'sha256 = "{digest}"', text, flags=re.MULTILINE)
    text = re.sub(r"^rows = \d+$", f"rows = {len(frame)}", text, flags=re.MULTILINE)
    write_whole(path_of_card, write_card)
    return path


def main(arguments: list[str]) -> None:
    """`python -m fairlib data list | fetch NAME ... | build NAME ...`."""
    parser = argparse.ArgumentParser(
        prog="python -m fairlib data", description=main.__doc__
    )
    parser.add_argument("action", choices=("list", "fetch", "build"))
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="tables; if none, all that need only minutes",
    )
    options = parser.parse_args(arguments)

    if options.action == "list":
        for name in names():
            print(_state(name))
        return

    not_costly = [name for name in names() if not recipe_of(name).costly]
    for name in options.names or not_costly:
        if options.action == "build":
            print(build(name).relative_to(ROOT))
        else:
            print(*map(original, _recipe(name).files), sep="\n")


def _state(name: str) -> str:
    """Return a line that says whether the genuine files of a table are at hand."""
    files = recipe_of(name).files
    if not files:
        return f"{name}: needs no files"
    state = "at hand" if all(map(at_hand, files)) else "not at hand"
    return f"{name}: originals {state}"


def _recipe(name: str) -> Recipe:
    """Return the recipe of a table, or raise if there is no table of this name."""
    if name not in names():
        raise ValueError(f"name must be one of {', '.join(names())}, found {name!r}")
    return recipe_of(name)
