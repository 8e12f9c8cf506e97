"""Generated images for experiments on masking.

An image shows a person and objects, on noise. The person's clothes carry the attribute
as a pattern: women's stripes run down, men's across. Each object is a fixed glyph in
its part of the image. The attribute is in the clothes alone: the silhouettes are the
same, so that a full mask hides it. Nothing here is a photograph.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.recipes.photographs import MASKS
from fairlib.recipes.wang2021 import EVERY

SIDE = 36  # pixels
_CELL = 12  # an object lives in one of 3 x 3 cells
_GLYPH = 7
_COMMON = 0.03  # objects on at least this share of the images: enough to learn a glyph


@dataclass(frozen=True)
class Contrast:
    """How hard it is to see what is in an image.

    Parameters
    ----------
    noise : float
        Standard deviation of the noise.
    pattern : float
        Largest contrast of the clothes; each person's is drawn uniformly below it.
    objects : float
        Largest contrast of an object; each is drawn uniformly between a fifth of it and
        all of it.
    """

    noise: float = 0.2
    pattern: float = 0.25
    objects: float = 0.8


@dataclass(frozen=True)
class GeneratedImages:
    """Generated images and their labels.

    Parameters
    ----------
    pixels : numpy.ndarray of float
        n x pixels.
    person : numpy.ndarray of bool
        The person's pixels that nothing covers, n x pixels.
    task : numpy.ndarray of bool
        Which objects are there, n x |T|.
    man : numpy.ndarray of bool
        Whether the person is a man.
    """

    pixels: np.ndarray
    person: np.ndarray
    task: np.ndarray
    man: np.ndarray

    def masked(self, mask: str, rng) -> np.ndarray:
        """Return the pixels with some of the person's uncovered pixels set to 0.

        Parameters
        ----------
        mask : str
            "none", "noisy" (a random half of the person's pixels) or "full".
        rng : numpy.random.Generator or int
            Random numbers.

        Returns
        -------
        numpy.ndarray
            n x pixels.
        """
        if mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, found {mask!r}")

        share = {"none": 0.0, "noisy": 0.5, "full": 1.0}[mask]
        generator = np.random.default_rng(rng)
        hidden = generator.random(self.person.shape, dtype=np.float32) < share
        return np.where(self.person & hidden, np.float32(0), self.pixels)


def draw_labels(n: int, counts: pd.DataFrame, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw who is a man and which objects are there, at COCO's real rates.

    Given the gender, the objects are independent of one another.

    Parameters
    ----------
    n : int
        Number of images.
    counts : pandas.DataFrame
        Images by object with the columns man and woman; the first row counts every
        image.
    rng : numpy.random.Generator or int
        Random numbers.

    Returns
    -------
    man, task : numpy.ndarray of bool
        n, and n x |T|.
    """
    generator = np.random.default_rng(rng)
    all_images = counts.iloc[0][["man", "woman"]]
    objects = counts.iloc[1:]

    man = generator.random(n) < all_images["man"] / all_images.sum()
    rates = (objects[["man", "woman"]] / all_images).to_numpy(dtype=float)
    rate = np.where(man[:, None], rates[:, 0], rates[:, 1])
    return man, generator.random((n, len(objects))) < rate


def draw_images(
    man: np.ndarray, task: np.ndarray, *, contrast: Contrast, rng
) -> GeneratedImages:
    """Paint the images that the labels describe.

    Parameters
    ----------
    man, task : numpy.ndarray of bool
        Who is a man (n), and which objects are there (n x |T|).
    contrast : Contrast
        How hard it is to see them.
    rng : numpy.random.Generator or int
        Random numbers.

    Returns
    -------
    GeneratedImages
        The images.

    Notes
    -----
    The cost is n pixels, and for each object one pass over the images that show it.
    """
    generator = np.random.default_rng(rng)
    glyphs, homes = _design(task.shape[1])
    n = len(man)
    canvas = np.full((n, SIDE, SIDE), 0.5, dtype=np.float32)

    # Women's stripes run down the image, men's across it.
    person = _silhouettes(n, generator)
    stripes = np.indices((SIDE, SIDE)) // 2 % 2 - 0.5
    visible = generator.uniform(0, contrast.pattern, n).astype(np.float32)
    clothes = np.where(man[:, None, None], stripes[0], stripes[1]).astype(np.float32)
    canvas += person * (0.1 + visible[:, None, None] * clothes)

    covered = np.zeros_like(person)
    for index in range(task.shape[1]):
        shown = np.flatnonzero(task[:, index])
        shift = generator.integers(-1, 2, (len(shown), 2))
        corner = homes[index] * _CELL + 2 + shift
        rows = (corner[:, 0, None] + np.arange(_GLYPH))[:, :, None]
        columns = (corner[:, 1, None] + np.arange(_GLYPH))[:, None, :]
        place = (shown[:, None, None], rows, columns)

        share = generator.uniform(0.2, 1.0, (len(shown), 1, 1))
        strength = share * contrast.objects
        canvas[place] = 0.5 + strength * (glyphs[index] - 0.5)
        covered[place] = True

    noise = generator.standard_normal(canvas.shape, dtype=np.float32)
    canvas += contrast.noise * noise
    return GeneratedImages(
        pixels=canvas.reshape(n, -1),
        person=(person & ~covered).reshape(n, -1),
        task=task,
        man=man,
    )


def _design(objects: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each object's glyph and home cell.

    They are the same in every run, as a cat looks the same in every data set.
    """
    rng = np.random.default_rng(66)
    glyphs = rng.integers(0, 2, (objects, _GLYPH, _GLYPH)).astype(np.float32)
    homes = rng.integers(0, 3, (objects, 2))
    return glyphs, homes


def _silhouettes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n x SIDE x SIDE booleans: a head over a body, the same for all genders.

    Size and place are random.
    """
    row, column = np.indices((SIDE, SIDE), dtype=np.float32)[:, None]
    middle = rng.uniform(13, 23, (n, 1, 1)).astype(np.float32)
    top = rng.uniform(2, 10, (n, 1, 1)).astype(np.float32)
    width = rng.uniform(4, 7, (n, 1, 1)).astype(np.float32)

    head = (row - top - 3) ** 2 + (column - middle) ** 2 < 3.5**2
    body = (row > top + 6) & (row < top + 26) & (np.abs(column - middle) < width)
    return head | body


def common_objects() -> pd.DataFrame:
    """Return images by object and gender for the objects that are common enough.

    Returns
    -------
    pandas.DataFrame
        Columns object, man, woman, of the dev and test images together. The row of
        every image comes first.
    """
    counts = load("coco_objects", source="bundled")
    labelled = counts[counts["split"] != "train"]
    by_object = labelled.groupby("object", sort=False)[["man", "woman"]].sum()
    table = by_object.reset_index()

    images = table[["man", "woman"]].sum(axis=1)
    all_images = images[table["object"] == EVERY].item()
    common = table[images >= _COMMON * all_images]
    return common.sort_values(
        "object", key=_not_every, kind="stable", ignore_index=True
    )


def _not_every(names: pd.Series) -> pd.Series:
    """Return a key that sorts the row of every image before all others."""
    return names != EVERY
