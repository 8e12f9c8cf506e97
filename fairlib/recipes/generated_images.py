"""Generated images for experiments on masking: a person who carries an attribute, and objects, on noise.

An image shows a person, whose clothes carry the attribute as a pattern (women's stripes run down, men's across), and
objects, each a fixed glyph in its part of the image. The attribute is in the clothes alone: the silhouettes are the
same, so that a full mask takes it away. Nothing here is a photograph.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.recipes.photographs import MASKS
from fairlib.recipes.wang2021 import EVERY

SIDE = 36  # pixels
CELL = 12  # an object lives in one of 3 x 3 cells
GLYPH = 7
COMMON = 0.03  # objects in at least this share of the images: enough examples to learn a glyph


@dataclass(frozen=True)
class Contrast:
    """How hard it is to see what is there: the standard deviation of the noise, and the
    largest contrasts beside it.
    """

    noise: float = 0.2
    pattern: float = 0.25  # of the clothes; each person's is drawn uniformly below it
    objects: float = (
        0.8  # each object's is drawn uniformly between a fifth of it and all of it
    )


@dataclass(frozen=True)
class GeneratedImages:
    """Generated images (n x pixels) with the person's pixels that nothing covers, and
    the labels.
    """

    pixels: np.ndarray
    person: np.ndarray
    task: np.ndarray  # n x |T|
    man: np.ndarray

    def masked(self, mask: str, rng) -> np.ndarray:
        """Return the pixels with none, a random half, or all of the person's uncovered
        pixels set to 0.
        """
        if mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, found {mask!r}")
        share = {"none": 0.0, "noisy": 0.5, "full": 1.0}[mask]
        hidden = self.person & (
            np.random.default_rng(rng).random(self.person.shape, dtype=np.float32)
            < share
        )
        return np.where(hidden, np.float32(0), self.pixels)


def draw_labels(n: int, counts: pd.DataFrame, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw who is a man, and which objects are there, given the gender independently, at COCO's real rates.

    counts : images by object with the columns man, woman, the first row those of every image.
    """
    rng = np.random.default_rng(rng)
    every, objects = counts.iloc[0][["man", "woman"]], counts.iloc[1:]
    man = rng.random(n) < every["man"] / every.sum()
    rates = (objects[["man", "woman"]] / every).to_numpy(dtype=float)
    return man, rng.random((n, len(objects))) < np.where(
        man[:, None], rates[:, 0], rates[:, 1]
    )


def draw_images(
    man: np.ndarray, task: np.ndarray, *, contrast: Contrast, rng
) -> GeneratedImages:
    """Paint the images that the labels describe. O(n pixels), plus one pass per object
    over the images that show it.
    """
    rng = np.random.default_rng(rng)
    glyphs, homes = _design(task.shape[1])
    n = len(man)
    canvas = np.full((n, SIDE, SIDE), 0.5, dtype=np.float32)
    person = _silhouettes(n, rng)
    stripes = (
        np.indices((SIDE, SIDE)) // 2 % 2 - 0.5
    )  # women's run down the image, men's across it
    visible = rng.uniform(0, contrast.pattern, n).astype(np.float32)
    clothes = np.where(man[:, None, None], stripes[0], stripes[1]).astype(np.float32)
    canvas += person * (0.1 + visible[:, None, None] * clothes)
    covered = np.zeros_like(person)
    for index in range(task.shape[1]):
        shown = np.flatnonzero(task[:, index])
        corner = homes[index] * CELL + 2 + rng.integers(-1, 2, (len(shown), 2))
        rows = (corner[:, 0, None] + np.arange(GLYPH))[:, :, None]
        columns = (corner[:, 1, None] + np.arange(GLYPH))[:, None, :]
        strength = rng.uniform(0.2, 1.0, (len(shown), 1, 1)) * contrast.objects
        canvas[shown[:, None, None], rows, columns] = 0.5 + strength * (
            glyphs[index] - 0.5
        )
        covered[shown[:, None, None], rows, columns] = True
    canvas += contrast.noise * rng.standard_normal(canvas.shape, dtype=np.float32)
    return GeneratedImages(
        canvas.reshape(n, -1), (person & ~covered).reshape(n, -1), task, man
    )


def _design(objects: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each object's glyph and home cell: the same in every run, as a cat looks
    the same in every data set.
    """
    rng = np.random.default_rng(66)
    return rng.integers(0, 2, (objects, GLYPH, GLYPH)).astype(np.float32), rng.integers(
        0, 3, (objects, 2)
    )


def _silhouettes(n: int, rng) -> np.ndarray:
    """Return n x SIDE x SIDE booleans: a head over a body, of random size and place,
    the same for all genders.
    """
    row, column = np.indices((SIDE, SIDE), dtype=np.float32)[:, None]
    middle = rng.uniform(13, 23, (n, 1, 1)).astype(np.float32)
    top = rng.uniform(2, 10, (n, 1, 1)).astype(np.float32)
    width = rng.uniform(4, 7, (n, 1, 1)).astype(np.float32)
    head = (row - top - 3) ** 2 + (column - middle) ** 2 < 3.5**2
    body = (row > top + 6) & (row < top + 26) & (np.abs(column - middle) < width)
    return head | body


def common_objects() -> pd.DataFrame:
    """Return images by object and gender (dev and test together) for the objects that
    are common enough.
    """
    counts = load("coco_objects", source="bundled")
    counts = (
        counts[counts["split"] != "train"]
        .groupby("object", sort=False)[["man", "woman"]]
        .sum()
        .reset_index()
    )
    images = counts[["man", "woman"]].sum(axis=1)
    every = images[counts["object"] == EVERY].item()
    common = counts[images >= COMMON * every]
    # The row of every image comes first, in whatever order the table is.
    return common.sort_values(
        "object", key=lambda names: names != EVERY, kind="stable", ignore_index=True
    )
