"""Image data sets on disk, in the formats in which they are distributed: COCO 2014 and CelebA.

A reader returns an `ImageSet` per split: where each image lies, its labels, and, for COCO, where its people and its
objects are. Nothing is loaded until an image is asked for. Needs only NumPy, pandas and Pillow.
"""

import json
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import DataError
from fairlib.recipes.celeba import GROUP, read_released
from fairlib.recipes.originals import require_columns
from fairlib.recipes.photographs import MASKS

PERSON = 1  # COCO's category
CELEBA_SPLITS = {"training": "train", "validation": "valid", "test": "test"}
VALIDATION_SHARE = (
    5_413 / 22_966
)  # of the training images: the sizes in the released coco_validation_indices.pkl
ARRAYS = {
    ("multiarray", "_reconstruct"),
    ("multiarray", "scalar"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


@dataclass(frozen=True)
class ImageSet:
    """Images with task labels (n x |T|) and the attribute: whether the person is a man.

    regions : for image i of a size (width, height), two boolean arrays, height x width: people, and other objects.
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
            sizes = f"{len(self.paths)} images, {len(self.task)} task labels, {len(self.man)} attributes"
            raise ValueError(
                "an image set needs as many labels as images, and at least one; found "
                f"{sizes}"
            )
        if self.task.shape[1] != len(self.tasks):
            raise ValueError(
                f"tasks must name {self.task.shape[1]} columns, found "
                f"{len(self.tasks)} names"
            )

    def only(self, name: str) -> "ImageSet":
        """Return the same images with one task."""
        return replace(self, task=self.task[:, [self.tasks.index(name)]], tasks=(name,))

    def load(
        self, index: int, *, side: int, mask: str = "none", rng=None
    ) -> np.ndarray:
        """Return image `index`, masked, scaled to side x side, 3 x side x side in [0, 1].

        mask : "none"; "noisy", a random half of the people's pixels black; "full", all of them. Objects that lie over
            a person stay visible (section 4.1 and the released code).
        """
        from PIL import Image

        if mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, found {mask!r}")
        with Image.open(self.paths[index]) as opened:
            image = np.array(opened.convert("RGB"))
        if mask != "none":
            if self.regions is None:
                raise ValueError(
                    "mask must be none for images without outlines of the people"
                )
            people, objects = self.regions(index, image.shape[1::-1])
            hidden = people & ~objects
            if mask == "noisy":
                hidden &= np.random.default_rng(rng).random(hidden.shape) < 0.5
            image[hidden] = 0
        scaled = Image.fromarray(image).resize((side, side), Image.Resampling.BILINEAR)
        return np.asarray(scaled, dtype=np.float32).transpose(2, 0, 1) / 255


class _Data(pickle.Unpickler):
    """Reads lists, dictionaries, text, numbers and NumPy arrays, also of Python 2; a
    pickle with code is refused.
    """

    def find_class(self, module: str, name: str) -> object:
        if (module.rpartition(".")[2], name) not in ARRAYS or not module.startswith(
            "numpy"
        ):
            raise pickle.UnpicklingError(f"{module}.{name} is not data")
        return getattr(np if module == "numpy" else np._core.multiarray, name)


def genders(folder: Path) -> pd.DataFrame:
    """Return the gender of COCO's images, columns split (train, dev, test), image_id and gender (man, woman).

    They are read from the files that Zhao et al. (2017) released, train.data, dev.data and test.data: pickled lists of
    {"img": "COCO_train2014_000000123456.jpg", "annotation": 322 numbers, the first of them 1 for a man}.
    """
    rows = []
    for split in ("train", "dev", "test"):
        path = Path(folder) / f"{split}.data"
        try:
            with path.open("rb") as stream:
                for image in _Data(stream, encoding="latin1").load():
                    number = int(re.search(r"_(\d+)\.\w+$", image["img"])[1])
                    rows.append(
                        (
                            split,
                            number,
                            "man" if image["annotation"][0] == 1 else "woman",
                        )
                    )
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


def coco(folder: Path, objects: tuple[str, ...]) -> dict[str, ImageSet]:
    """Read COCO 2014 from `folder`: annotations/instances_{train,val}2014.json, {train,val}2014/, and the `genders`.

    Validation is a part of the training images, as in the released scripts. Their part is given by places in a list
    whose order no file records, so that here a fixed random part of that size is taken. Tested is on the dev set: the
    printed numbers are fractions of its counts. objects : COCO's category names, with underscores.
    """
    folder, table = Path(folder), genders(folder)
    places, marks, names = {}, {}, {}
    for part in ("train2014", "val2014"):
        content = json.loads(
            (folder / "annotations" / f"instances_{part}.json").read_text(
                encoding="utf-8"
            )
        )
        names |= {
            category["id"]: category["name"].replace(" ", "_")
            for category in content["categories"]
        }
        places |= {
            image["id"]: folder / part / image["file_name"]
            for image in content["images"]
        }
        for annotation in content["annotations"]:
            marks.setdefault(annotation["image_id"], []).append(annotation)
    if unknown := sorted(set(objects) - set(names.values())):
        raise ValueError(
            f"objects must be categories of COCO, found {', '.join(unknown)}"
        )
    if missing := set(table["image_id"]) - set(places):
        raise DataError(
            f"the genders have {len(missing)} image(s) that COCO's annotations lack: "
            f"{min(missing)} ..."
        )
    column = {
        identity: objects.index(name)
        for identity, name in names.items()
        if name in objects
    }
    table = table[table["image_id"].isin(marks.keys())].sort_values("image_id")
    train = table[table["split"] == "train"]
    order = np.random.default_rng(2021).permutation(len(train))
    validation, training = np.split(order, [round(VALIDATION_SHARE * len(train))])
    sets = {
        "training": train.iloc[np.sort(training)],
        "validation": train.iloc[np.sort(validation)],
    }
    sets["test"] = table[table["split"] == "dev"]
    return {
        name: _labelled(rows, objects, column, places, marks)
        for name, rows in sets.items()
    }


def _labelled(
    rows: pd.DataFrame, objects: tuple, column: dict, places: dict, marks: dict
) -> ImageSet:
    own = [marks[image] for image in rows["image_id"]]
    task = np.zeros((len(rows), len(objects)), dtype=bool)
    for index, found in enumerate(own):
        task[
            index,
            [
                column[mark["category_id"]]
                for mark in found
                if mark["category_id"] in column
            ],
        ] = True
    paths = [places[image] for image in rows["image_id"]]
    return ImageSet(
        paths,
        task,
        (rows["gender"] == "man").to_numpy(),
        objects,
        _regions(own, column),
    )


def celeba(folder: Path, tasks: tuple[str, ...]) -> dict[str, ImageSet]:
    """Read CelebA from `folder`: img_align_celeba/, list_attr_celeba.txt and list_eval_partition.txt.

    tasks : columns of the attribute table, such as Big_Nose or Young. The attribute is Male.
    """
    folder = Path(folder)
    table = read_released(
        folder / "list_attr_celeba.txt", folder / "list_eval_partition.txt"
    )
    require_columns(table, [*tasks, GROUP], folder / "list_attr_celeba.txt")
    sets = {}
    for name, split in CELEBA_SPLITS.items():
        rows = table[table["split"] == split]
        paths = [folder / "img_align_celeba" / image for image in rows["image_id"]]
        sets[name] = ImageSet(
            paths, rows[[*tasks]].to_numpy() == 1, rows[GROUP].to_numpy() == 1, tasks
        )
    return sets


READERS = {"coco": coco, "celeba": celeba}


def _regions(annotations: list[list[dict]], column: dict[int, int]) -> Callable:
    """Return the function that draws the people, and the objects of the chosen
    categories, of an image.
    """

    def regions(index: int, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        people, objects = (np.zeros(size[::-1], dtype=bool) for _ in range(2))
        for annotation in annotations[index]:
            if annotation["category_id"] == PERSON:
                people |= outline(annotation["segmentation"], size)
            elif annotation["category_id"] in column:
                objects |= outline(annotation["segmentation"], size)
        return people, objects

    return regions


def outline(segmentation, size: tuple[int, int]) -> np.ndarray:
    """Turn a COCO segmentation into a boolean array, height x width: polygons, or run
    lengths down the columns.
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
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(width, height).T
