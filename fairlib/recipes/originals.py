"""Recipes: how a bundled table is computed from genuine files, where those lie, and how they are checked.

A recipe is a function with the name of its table, in a module that the table's card names. `python -m fairlib data`
lists them and builds tables again.
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
    """How a table is computed from genuine files."""

    compute: Callable[[], pd.DataFrame]
    files: tuple[File, ...]
    costly: bool  # takes minutes (training): never run unless asked for
    bundle: (
        Callable[[], pd.DataFrame] | None
    )  # how the bundled stand-in is made, where it is not `compute`'s result

    def __call__(self, *, bundle: bool = False) -> pd.DataFrame:
        """Compute the table, which says that it is the original one, or with `bundle`
        what ships in its place.
        """
        try:
            frame = (self.bundle or self.compute)() if bundle else self.compute()
        except ModuleNotFoundError as error:
            raise DataError(
                f"computing {self.compute.__name__!r} needs the package "
                f"{error.name!r}; `make models` installs what training needs, "
                "source='bundled' loads what it made"
            ) from error
        if not bundle:
            # The recipe's own first line, not the card's title: what ships may be a
            # stand-in, and its card says so.
            frame.attrs |= {"source": "original", "title": self.title}
        return frame

    @property
    def ready(self) -> bool:
        """Whether it takes seconds and its genuine files are at hand."""
        return not self.costly and all(map(at_hand, self.files))

    @property
    def title(self) -> str:
        """The first line of the function's docstring."""
        return (
            (self.compute.__doc__ or self.compute.__name__)
            .strip()
            .splitlines()[0]
            .rstrip(".")
        )


def recipe(
    *,
    files: Iterable[File],
    costly: bool = False,
    bundle: Callable[[], pd.DataFrame] | None = None,
) -> Callable:
    """Make the decorated function the recipe of the table that has its name."""
    return lambda compute: Recipe(compute, tuple(files), costly, bundle)


def at_hand(file: File) -> bool:
    """Whether the genuine file lies in the folder of originals."""
    return (originals_folder() / file.path).exists()


def original(file: File) -> Path:
    """Return the path of a genuine file, downloaded if need be, and verified against
    its size and checksum.
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
    """Return `frame`, or raise `DataError` naming the columns that the file at `where`
    lacks.
    """
    if missing := [column for column in columns if column not in frame.columns]:
        raise DataError(
            f"{where} lacks the column(s) {', '.join(missing)}; it has "
            f"{', '.join(map(str, frame))}"
        )
    return frame


def from_hub(
    repository: str,
    *,
    split: str,
    config: str | None = None,
    revision: str | None = None,
) -> pd.DataFrame:
    """Return one split of a set on the Hugging Face hub, through `datasets` (which
    caches and shows progress).
    """
    import datasets

    try:
        return datasets.load_dataset(
            repository, config, split=split, revision=revision
        ).to_pandas()
    except (
        Exception
    ) as error:  # the library raises a dozen kinds; a reader needs one sentence
        raise DataError(
            f"{repository} could not be loaded from the hub ({type(error).__name__}: "
            f"{error}). Check the network, or put the files into {originals_folder()}."
        ) from error


def build(name: str) -> Path:
    """Compute the bundled table `name` again and write it."""
    return store(name, _recipe(name)(bundle=True))


def store(name: str, frame: pd.DataFrame) -> Path:
    """Write the bundled table `name`, and its checksum and number of rows into the
    card.
    """
    path = BUNDLED / name / card(name)["file"]
    if path.suffix == ".csv":
        write_csv(frame, path)
    else:
        write_whole(
            path,
            lambda beside: frame.to_parquet(beside, index=False, compression="zstd"),
        )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    text = (path.parent / "card.toml").read_text(encoding="utf-8")
    text = re.sub(r'^sha256 = ".*"$', f'sha256 = "{digest}"', text, flags=re.MULTILINE)
    text = re.sub(r"^rows = \d+$", f"rows = {len(frame)}", text, flags=re.MULTILINE)
    write_whole(
        path.parent / "card.toml",
        lambda beside: beside.write_text(text, encoding="utf-8"),
    )
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
            files = recipe_of(name).files
            state = "at hand" if all(map(at_hand, files)) else "not at hand"
            print(f"{name}: originals {state}" if files else f"{name}: needs no files")
        return
    for name in options.names or [
        name for name in names() if not recipe_of(name).costly
    ]:
        if options.action == "build":
            print(build(name).relative_to(ROOT))
        else:
            print(*map(original, _recipe(name).files), sep="\n")


def _recipe(name: str) -> Recipe:
    if name not in names():
        raise ValueError(f"name must be one of {', '.join(names())}, found {name!r}")
    return recipe_of(name)
