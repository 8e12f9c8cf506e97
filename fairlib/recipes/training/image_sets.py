"""Image data sets on disk, in the formats of COCO 2014 and CelebA.

A reader returns an `ImageSet` per split: where each image lies, its labels, and, for
COCO, where its people and its objects are. Nothing is loaded until an image is asked
for. The module needs only NumPy, pandas and Pillow.
"""

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import DataError
from fairlib.recipes.celeba import GROUP, read_released
from fairlib.recipes.originals import require_columns
from fairlib.recipes.photographs import MASKS

_PERSON = 1  # COCO's category
_CELEBA_SPLITS = {"training": "train", "validation": "valid", "test": "test"}
# Of the training images: the sizes in the released coco_validation_indices.pkl.
_VALIDATION_SHARE = 5_413 / 22_966
_ARRAYS = {
    ("multiarray", "_reconstruct"),
    ("multiarray", "scalar"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """Images with task labels and the attribute: whether the person is a man.

    Parameters
    ----------
    paths : list of pathlib.Path
        Where the images lie.
    task : numpy.ndarray of bool
        n x |T|.
    man : numpy.ndarray of bool
        n.
    tasks : tuple of str
        Names of the tasks.
    regions : callable, optional
        Returns for image i of a size (width, height) two boolean arrays, height x
        width: where people are, and where other objects are.
    """

    paths: list[Path]
    task: np.ndarray
    man: np.ndarray
    tasks: tuple[str, ...]
    regions: Callable[[int, tuple[int, int]], tuple[np.ndarray, np.ndarray]] | None = (
        field(default=None, repr=False)
    )

    def __post_init__(self) -> None:
        if not len(self.paths) == len(self.task) == len(self.man) > 0:
            raise ValueError(
                "an image set needs as many labels as images, and at least one; found "
                f"{len(self.paths)} images, {len(self.task)} task labels, "
                f"{len(self.man)} attributes"
            )
        if self.task.shape[1] != len(self.tasks):
            raise ValueError(
                f"tasks must name {self.task.shape[1]} columns, found "
                f"{len(self.tasks)} names"
            )

    def only(self, name: str) -> "ImageSet":
        """Return the same images with one task."""
        column = self.tasks.index(name)
        return replace(self, task=self.task[:, [column]], tasks=(name,))

    def load(
        self, index: int, *, side: int, mask: str = "none", rng=None
    ) -> np.ndarray:
        """Return an image, masked and scaled.

        Parameters
        ----------
        index : int
            Number of the image.
        side : int
            Its pixels after scaling, in both directions.
        mask : str, default "none"
            "noisy" makes a random half of the people's pixels black, "full" all of
            them. Objects that lie over a person stay visible (section 4.1 and the
            released code).
        rng : numpy.random.Generator or int, optional
            Random numbers for the mask "noisy".

        Returns
        -------
        numpy.ndarray of float32
            3 x side x side, in [0, 1].
        """
        from PIL import Image

        if mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, found {mask!r}")

        with Image.open(self.paths[index]) as opened:
            image = np.array(opened.convert("RGB"))
        if mask != "none":
            image[self._hidden(index, image, mask, rng)] = 0

        scaled = Image.fromarray(image).resize((side, side), Image.Resampling.BILINEAR)
        return np.asarray(scaled, dtype=np.float32).transpose(2, 0, 1) / 255

    def _hidden(self, index: int, image: np.ndarray, mask: str, rng) -> np.ndarray:
        """Return which pixels a mask hides: people's, where no object covers them."""
        if self.regions is None:
            raise ValueError(
                "mask must be none for images without outlines of the people"
            )

        people, objects = self.regions(index, image.shape[1::-1])
        hidden = people & ~objects
        if mask == "noisy":
            hidden &= np.random.default_rng(rng).random(hidden.shape) < 0.5
        return hidden


class _Data(pickle.Unpickler):
    """Reads lists, dictionaries, text, numbers and NumPy arrays, also of Python 2.

    A pickle with code is refused.
    """

    def find_class(self, module: str, name: str) -> object:
        is_array = (module.rpartition(".")[2], name) in _ARRAYS
        if not is_array or not module.startswith("numpy"):
            raise pickle.UnpicklingError(f"{module}.{name} is not data")
        return getattr(np if module == "numpy" else np._core.multiarray, name)


def genders(folder: Path) -> pd.DataFrame:
    """Return the gender of COCO's images.

    It is read from the files that Zhao et al. (2017) released, train.data, dev.data and
    test.data: pickled lists of {"img": "COCO_train2014_000000123456.jpg", "annotation":
    322 numbers, the first of them 1 for a man}.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files lie.

    Returns
    -------
    pandas.DataFrame
        Columns split (train, dev, test), image_id and gender (man, woman).
    """
    rows = []
    for split in ("train", "dev", "test"):
        path = Path(folder) / f"{split}.data"
        try:
            with path.open("rb") as stream:
                for image in _Data(stream, encoding="latin1").load():
                    number = int(re.search(r"_(\d+)\.\w+$", image["img"])[1])
                    gender = "man" if image["annotation"][0] == 1 else "woman"
                    rows.append((split, number, gender))

        except FileNotFoundError:
            raise DataError(
                f"{path} is not there; it is in github.com/uclanlp/reducingbias, "
                "data/COCO"
            ) from None
        except (pickle.UnpicklingError, EOFError, KeyError, TypeError) as error:
            raise DataError(
                f"{path} is not one of the released lists of images ({error})"
            ) from error
    return pd.DataFrame(rows, columns=["split", "image_id", "gender"])


@dataclass
class _Annotations:
    """COCO's annotations, of training and validation images together."""

    places: dict[int, Path] = field(default_factory=dict)  # by image
    marks: dict[int, list[dict]] = field(default_factory=dict)  # by image
    names: dict[int, str] = field(default_factory=dict)  # by category

    def add(self, folder: Path, part: str) -> None:
        """Read the annotations of one part, such as "train2014"."""
        path = folder / "annotations" / f"instances_{part}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        for category in content["categories"]:
            self.names[category["id"]] = category["name"].replace(" ", "_")
        for image in content["images"]:
            self.places[image["id"]] = folder / part / image["file_name"]
        for annotation in content["annotations"]:
            self.marks.setdefault(annotation["image_id"], []).append(annotation)


def coco(folder: Path, objects: tuple[str, ...]) -> dict[str, ImageSet]:
    """Read COCO 2014: its annotations, images, and the `genders`.

    Parameters
    ----------
    folder : pathlib.Path
        Holds annotations/instances_{train,val}2014.json, {train,val}2014/ and the files
        of the genders.
    objects : tuple of str
        COCO's category names, with underscores.

    Returns
    -------
    dict of ImageSet
        The training, validation and test images.

    Notes
    -----
    Validation is a part of the training images, as in the released scripts. These give
    the part by places in a list whose order no file records, so that here a fixed
    random part of that size is taken. The test images are those of the dev set: the
    printed numbers are fractions of its counts.
    """
    table = genders(folder)
    annotations = _Annotations()
    for part in ("train2014", "val2014"):
        annotations.add(Path(folder), part)

    unknown = sorted(set(objects) - set(annotations.names.values()))
    if unknown:
        raise ValueError(
            f"objects must be categories of COCO, found {', '.join(unknown)}"
        )
    missing = set(table["image_id"]) - set(annotations.places)
    if missing:
        raise DataError(
            f"the genders have {len(missing)} image(s) that COCO's annotations lack: "
            f"{min(missing)} ..."
        )

    table = table[table["image_id"].isin(annotations.marks)].sort_values("image_id")
    train = table[table["split"] == "train"]
    order = np.random.default_rng(2021).permutation(len(train))
    validation, training = np.split(order, [round(_VALIDATION_SHARE * len(train))])
    rows_of_sets = {
        "training": train.iloc[np.sort(training)],
        "validation": train.iloc[np.sort(validation)],
        "test": table[table["split"] == "dev"],
    }
    return {
        name: _labelled(rows, objects, annotations)
        for name, rows in rows_of_sets.items()
    }


def _labelled(
    rows: pd.DataFrame, objects: tuple[str, ...], annotations: _Annotations
) -> ImageSet:
    """Return the images of these rows, with their labels and outlines."""
    column = {
        category: objects.index(name)
        for category, name in annotations.names.items()
        if name in objects
    }

    marks_of_images = [annotations.marks[image] for image in rows["image_id"]]
    task = np.zeros((len(rows), len(objects)), dtype=bool)
    for index, marks in enumerate(marks_of_images):
        for mark in marks:
            if mark["category_id"] in column:
                task[index, column[mark["category_id"]]] = True

    return ImageSet(
        paths=[annotations.places[image] for image in rows["image_id"]],
        task=task,
        man=(rows["gender"] == "man").to_numpy(),
        tasks=objects,
        regions=partial(_regions, marks_of_images, set(column)),
    )


def celeba(folder: Path, tasks: tuple[str, ...]) -> dict[str, ImageSet]:
    """Read CelebA; the attribute is Male.

    Parameters
    ----------
    folder : pathlib.Path
        Holds img_align_celeba/, list_attr_celeba.txt and list_eval_partition.txt.
    tasks : tuple of str
        Columns of the attribute table, such as Big_Nose or Young.

    Returns
    -------
    dict of ImageSet
        The training, validation and test images.
    """
    labels = Path(folder) / "list_attr_celeba.txt"
    table = read_released(labels, Path(folder) / "list_eval_partition.txt")
    require_columns(table, [*tasks, GROUP], labels)

    sets = {}
    for name, split in _CELEBA_SPLITS.items():
        rows = table[table["split"] == split]
        images = Path(folder) / "img_align_celeba"
        sets[name] = ImageSet(
            paths=[images / image for image in rows["image_id"]],
            task=rows[[*tasks]].to_numpy() == 1,
            man=rows[GROUP].to_numpy() == 1,
            tasks=tasks,
        )
    return sets


READERS = {"coco": coco, "celeba": celeba}


def _regions(
    marks_of_images: list[list[dict]],
    categories: set[int],
    index: int,
    size: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the people are in an image, and the objects of some categories."""
    width, height = size
    people = np.zeros((height, width), dtype=bool)
    objects = np.zeros((height, width), dtype=bool)
    for mark in marks_of_images[index]:
        if mark["category_id"] == _PERSON:
            people |= outline(mark["segmentation"], size)
        elif mark["category_id"] in categories:
            objects |= outline(mark["segmentation"], size)
    return people, objects


def outline(segmentation: list | dict, size: tuple[int, int]) -> np.ndarray:
    """Turn a COCO segmentation into a boolean array.

    Parameters
    ----------
    segmentation : list or dict
        Polygons, or run lengths down the columns.
    size : tuple of int
        Width and height.

    Returns
    -------
    numpy.ndarray of bool
        height x width.
    """
    from PIL import Image, ImageDraw

    if isinstance(segmentation, list):
        canvas = Image.new("1", size)
        for polygon in segmentation:
            ImageDraw.Draw(canvas).polygon(polygon, fill=1, outline=1)
        return np.array(canvas)

    if not isinstance(segmentation["counts"], list):
        raise ValueError(
            "segmentation must be polygons or plain run lengths, found compressed run "
            "lengths"
        )
    runs = np.asarray(segmentation["counts"])
    height, width = segmentation["size"]
    is_inside = np.arange(len(runs)) % 2 == 1
    return np.repeat(is_inside, runs).reshape(width, height).T
