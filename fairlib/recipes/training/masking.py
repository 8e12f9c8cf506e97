"""The masking experiment of section 4.1 as a simulation: generated images for COCO's, a small network for VGG16.

In the images of `recipes.generated_images`, which objects go with men and with women follows the *real* COCO counts;
all else - glyphs, contrast, noise - is made up. The three conditions are the paper's: the person left, half of the
person's pixels blacked out at random ("noisy"), or all of them ("full"); an object in front of the person stays
visible. The numbers say what the mechanism does, not how large it is in COCO.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPClassifier

from fairlib.recipes.generated_images import (
    MASKS,
    Contrast,
    GeneratedImages,
    draw_images,
    draw_labels,
)
from fairlib.recipes.training.tallies import cross_entropy, tally


@dataclass(frozen=True)
class Setting:
    """How the images are made and the network is trained: chosen for images that are
    neither easy nor hopeless.
    """

    training: int = 20_000
    validation: int = 5_000
    test: int = 10_000
    contrast: Contrast = field(default_factory=Contrast)
    hidden: int = 128
    epochs: int = 12
    rate: float = 0.001
    data_seed: int = 2021


def train(
    images: dict[str, GeneratedImages],
    *,
    tasks: tuple,
    mask: str,
    setting: Setting,
    seed: int,
) -> pd.DataFrame:
    """Train one network on masked images, and return the test counts of its best epoch,
    see `tally`.
    """
    rng = np.random.default_rng(seed)
    x = {part: some.masked(mask, rng) for part, some in images.items()}
    y = {
        part: np.column_stack([some.task, some.man]).astype(int)
        for part, some in images.items()
    }
    network = MLPClassifier(
        (setting.hidden,),
        learning_rate_init=setting.rate,
        batch_size=64,
        random_state=seed,
    )
    best, scores = np.inf, {}
    for _ in range(setting.epochs):
        network.partial_fit(
            x["training"], y["training"], classes=np.arange(y["training"].shape[1])
        )
        probability = {
            part: network.predict_proba(x[part]) for part in ("validation", "test")
        }
        if (loss := cross_entropy(y["validation"], probability["validation"])) < best:
            best, scores = loss, probability
    return tally(images, scores, tasks=tasks, mask=mask, seed=seed)


def run(counts: pd.DataFrame, *, setting: Setting, seeds: int = 5) -> pd.DataFrame:
    """Generate the images once, train `seeds` networks per mask, and return one row per
    run, object and gender.
    """
    rng = np.random.default_rng(setting.data_seed)
    images = {}
    for part in ("training", "validation", "test"):
        man, task = draw_labels(getattr(setting, part), counts, rng)
        images[part] = draw_images(man, task, contrast=setting.contrast, rng=rng)
    tasks = tuple(counts["object"].iloc[1:])
    runs = [{"mask": mask, "seed": seed} for mask in MASKS for seed in range(seeds)]
    return pd.concat(
        [train(images, tasks=tasks, setting=setting, **one) for one in runs],
        ignore_index=True,
    )
