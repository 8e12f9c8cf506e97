"""The masking experiment of section 4.1 as a simulation: generated images for COCO's, a small network for VGG16.

Images come from `fairlib.generated_images`: which objects go with men and with women follows the *real* COCO counts,
all else - glyphs, contrast, noise - is made up. The three conditions are the paper's: the person left, half of the
person's pixels blacked out at random ("noisy"), or all of them ("full"); an object in front of the person stays
visible. The numbers say what the mechanism does, not how large it is in COCO.

`python -m fairlib data build masking_runs` trains all runs again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score
from sklearn.neural_network import MLPClassifier

from fairlib.generated_images import MASKS, Contrast, GeneratedImages, draw_images, draw_labels
from fairlib.training.tallies import calibrate, tally


@dataclass(frozen=True)
class Setting:
    """How the images are made and the network is trained: chosen for images that are neither easy nor hopeless."""

    training: int = 20_000
    validation: int = 5_000
    test: int = 10_000
    contrast: Contrast = field(default_factory=Contrast)
    hidden: int = 128
    epochs: int = 12
    rate: float = 0.001
    data_seed: int = 2021


def train(images: dict[str, GeneratedImages], mask: str, *, setting: Setting, seed: int) -> pd.DataFrame:
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
        images[part] = draw_images(man, task, contrast=setting.contrast, rng=rng)
    tables = [train(images, mask, setting=setting, seed=seed) for mask in MASKS for seed in range(seeds)]
    table = pd.concat(tables, ignore_index=True)
    table["object"] = table["object"].map(dict(enumerate(counts["object"].iloc[1:])))
    return table


def _cross_entropy(label: np.ndarray, chance: np.ndarray) -> float:
    chance = np.clip(chance, 1e-7, 1 - 1e-7)
    return float(-np.mean(label * np.log(chance) + (1 - label) * np.log(1 - chance)))
