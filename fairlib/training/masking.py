"""The masking experiment of section 4.1 as a simulation: generated images for COCO's, a small network for VGG16.

An image shows a person, whose clothes carry the attribute as a pattern, and objects, each a fixed glyph in its part of
the image. Which objects go with men and with women follows the *real* COCO counts; all else - glyphs, contrast, noise -
is made up. The three conditions are the paper's: the person left, half of the person's pixels blacked out at random
("noisy"), or all of them ("full"); an object in front of the person stays visible. Nothing here is a photograph, and
its numbers say what the mechanism does, not how large it is in COCO.

`python -m fairlib data build masking_runs` trains all runs again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score
from sklearn.neural_network import MLPClassifier

from fairlib.training.tallies import calibrate, tally

MASKS = ("none", "noisy", "full")
SIDE = 36  # pixels
CELL = 12  # an object lives in one of 3 x 3 cells
GLYPH = 7


@dataclass(frozen=True)
class Setting:
    """How the images are made and the network is trained: chosen for images that are neither easy nor hopeless."""

    training: int = 20_000
    validation: int = 5_000
    test: int = 10_000
    noise: float = 0.2  # standard deviation of a pixel, whose clean value lies in [0, 1]
    pattern: float = 0.25  # largest contrast of the clothes; each person's is drawn uniformly below it
    glyph: float = 0.8  # largest contrast of an object
    hidden: int = 128
    epochs: int = 12
    rate: float = 0.001
    data_seed: int = 2021


@dataclass(frozen=True)
class Images:
    """Generated images (n x pixels) with the person's pixels that nothing covers, and the labels."""

    pixels: np.ndarray
    person: np.ndarray
    task: np.ndarray  # n x |T|
    man: np.ndarray

    def masked(self, mask: str, rng) -> np.ndarray:
        """Return the pixels with none, a random half, or all of the person's uncovered pixels set to 0."""
        if mask not in MASKS:
            raise ValueError(f"mask must be one of {', '.join(MASKS)}, found {mask!r}")
        share = {"none": 0.0, "noisy": 0.5, "full": 1.0}[mask]
        hidden = self.person & (np.random.default_rng(rng).random(self.person.shape, dtype=np.float32) < share)
        return np.where(hidden, np.float32(0), self.pixels)


def draw_labels(n: int, counts: pd.DataFrame, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw who is a man, and which objects are there, given the gender independently, at COCO's real rates.

    counts : images by object with the columns man, woman, the first row those of every image.
    """
    rng = np.random.default_rng(rng)
    every, objects = counts.iloc[0][["man", "woman"]], counts.iloc[1:]
    man = rng.random(n) < every["man"] / every.sum()
    rates = (objects[["man", "woman"]] / every).to_numpy(dtype=float)
    return man, rng.random((n, len(objects))) < np.where(man[:, None], rates[:, 0], rates[:, 1])


def draw_images(man: np.ndarray, task: np.ndarray, *, setting: Setting, rng) -> Images:
    """Paint the images that the labels describe. O(n pixels), plus one pass per object over the images that show it."""
    rng = np.random.default_rng(rng)
    glyphs, homes = _design(task.shape[1])
    n = len(man)
    canvas = np.full((n, SIDE, SIDE), 0.5, dtype=np.float32)
    person = _silhouettes(n, rng)
    stripes = np.indices((SIDE, SIDE)) // 2 % 2 - 0.5  # women's run down the image, men's across it
    contrast = rng.uniform(0, setting.pattern, n).astype(np.float32)
    clothes = np.where(man[:, None, None], stripes[0], stripes[1]).astype(np.float32)
    canvas += person * (0.1 + contrast[:, None, None] * clothes)
    covered = np.zeros_like(person)
    for index in range(task.shape[1]):
        shown = np.flatnonzero(task[:, index])
        corner = homes[index] * CELL + 2 + rng.integers(-1, 2, (len(shown), 2))
        rows = (corner[:, 0, None] + np.arange(GLYPH))[:, :, None]
        columns = (corner[:, 1, None] + np.arange(GLYPH))[:, None, :]
        strength = rng.uniform(0.2, 1.0, (len(shown), 1, 1)) * setting.glyph
        canvas[shown[:, None, None], rows, columns] = 0.5 + strength * (glyphs[index] - 0.5)
        covered[shown[:, None, None], rows, columns] = True
    canvas += setting.noise * rng.standard_normal(canvas.shape, dtype=np.float32)
    return Images(canvas.reshape(n, -1), (person & ~covered).reshape(n, -1), task, man)


def train(images: dict[str, Images], mask: str, *, setting: Setting, seed: int) -> pd.DataFrame:
    """Train one network on masked images, calibrate on validation, and count its test predictions.

    images : training, validation and test images. The epoch with the lowest validation loss is taken, and thresholds
        mark as many validation images as the training share of positives asks for (section 3.3). Returns one row per
        object and gender, as `run` describes.
    """
    rng = np.random.default_rng(seed)
    x = {part: some.masked(mask, rng) for part, some in images.items()}
    y = {part: np.column_stack([some.task, some.man]).astype(int) for part, some in images.items()}
    network = MLPClassifier((setting.hidden,), learning_rate_init=setting.rate, batch_size=64, random_state=seed)
    best, scores = np.inf, {}
    for _ in range(setting.epochs):
        network.partial_fit(x["training"], y["training"], classes=np.arange(y["training"].shape[1]))
        chance = {part: network.predict_proba(x[part]) for part in ("validation", "test")}
        loss = _cross_entropy(y["validation"], chance["validation"])
        if loss < best:
            best, scores = loss, chance
    predicted = scores["test"] >= calibrate(scores["validation"], y["training"].mean(axis=0))
    precision = average_precision_score(y["test"][:, :-1], scores["test"][:, :-1])
    accuracy = (predicted[:, -1] == images["test"].man).mean()
    table = tally(
        training=(images["training"].task, images["training"].man),
        test=(images["test"].task, images["test"].man),
        predicted=(predicted[:, :-1], predicted[:, -1]),
        tasks=tuple(range(predicted.shape[1] - 1)),
    )
    return table.assign(mask=mask, seed=seed, mean_precision=precision, gender_accuracy=accuracy)


def run(counts: pd.DataFrame, *, setting: Setting | None = None, seeds: int = 5) -> pd.DataFrame:
    """Generate the images once, train `seeds` networks per mask, and return their test counts.

    One row per mask, seed, object and gender, with the columns of `tallies.tally`, and the run's mean average precision
    and gender accuracy.
    """
    setting = setting or Setting()
    rng = np.random.default_rng(setting.data_seed)
    images = {}
    for part in ("training", "validation", "test"):
        man, task = draw_labels(getattr(setting, part), counts, rng)
        images[part] = draw_images(man, task, setting=setting, rng=rng)
    tables = [train(images, mask, setting=setting, seed=seed) for mask in MASKS for seed in range(seeds)]
    table = pd.concat(tables, ignore_index=True)
    table["object"] = table["object"].map(dict(enumerate(counts["object"].iloc[1:])))
    return table


def _design(objects: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each object's glyph and home cell: the same in every run, as a cat looks the same in every data set."""
    rng = np.random.default_rng(66)
    return rng.integers(0, 2, (objects, GLYPH, GLYPH)).astype(np.float32), rng.integers(0, 3, (objects, 2))


def _silhouettes(n: int, rng) -> np.ndarray:
    """Return n x SIDE x SIDE booleans: a head over a body, of random size and place, the same for all genders."""
    row, column = np.indices((SIDE, SIDE), dtype=np.float32)[:, None]
    middle = rng.uniform(13, 23, (n, 1, 1)).astype(np.float32)
    top = rng.uniform(2, 10, (n, 1, 1)).astype(np.float32)
    width = rng.uniform(4, 7, (n, 1, 1)).astype(np.float32)
    head = (row - top - 3) ** 2 + (column - middle) ** 2 < 3.5**2
    body = (row > top + 6) & (row < top + 26) & (np.abs(column - middle) < width)
    return head | body


def _cross_entropy(label: np.ndarray, chance: np.ndarray) -> float:
    chance = np.clip(chance, 1e-7, 1 - 1e-7)
    return float(-np.mean(label * np.log(chance) + (1 - label) * np.log(1 - chance)))
