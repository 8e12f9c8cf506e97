"""The masking experiment of section 4.1 as a simulation.

Generated images take the place of COCO's, and a small network that of VGG16. In the
images of `recipes.generated_images`, the *real* COCO counts decide which objects occur
with men and with women; everything else - glyphs, contrast, noise - is invented. The
three conditions are the paper's: the person is left, half of the person's pixels are
blacked out at random ("noisy"), or all of them ("full"); an object in front of the
person stays visible. The numbers show what the mechanism does, not how large it is in
COCO.
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
    """How the images are made and the network is trained.

    The defaults were chosen for images that are neither easy nor hopeless.
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
    """Train one network on masked images, and count its predictions.

    Parameters
    ----------
    images : dict of GeneratedImages
        The training, validation and test images.
    tasks : tuple of str
        Names of the objects.
    mask : str
        "none", "noisy" or "full".
    setting : Setting
        How the network is trained.
    seed : int
        Seed of the masks and of the network.

    Returns
    -------
    pandas.DataFrame
        Test counts of the best epoch, see `tally`.
    """
    rng = np.random.default_rng(seed)
    pixels = {part: of_part.masked(mask, rng) for part, of_part in images.items()}
    labels = {
        part: np.column_stack([of_part.task, of_part.man]).astype(int)
        for part, of_part in images.items()
    }
    classes = np.arange(labels["training"].shape[1])
    network = MLPClassifier(
        (setting.hidden,),
        learning_rate_init=setting.rate,
        batch_size=64,
        random_state=seed,
    )

    lowest_loss = np.inf
    scores: dict[str, np.ndarray] = {}
    for _ in range(setting.epochs):
        network.partial_fit(pixels["training"], labels["training"], classes=classes)
        probability = {
            part: network.predict_proba(pixels[part]) for part in ("validation", "test")
        }
        loss = cross_entropy(labels["validation"], probability["validation"])
        if loss < lowest_loss:
            lowest_loss = loss
            scores = probability
    return tally(images, scores, tasks=tasks, mask=mask, seed=seed)


def run(counts: pd.DataFrame, *, setting: Setting, seeds: int = 5) -> pd.DataFrame:
    """Generate the images once, and train several networks per mask.

    Parameters
    ----------
    counts : pandas.DataFrame
        Images by object and gender, see `generated_images.draw_labels`.
    setting : Setting
        How the images are made and the networks are trained.
    seeds : int, default 5
        Number of networks per mask.

    Returns
    -------
    pandas.DataFrame
        One row per network, object and gender.
    """
    rng = np.random.default_rng(setting.data_seed)
    images = {}
    for part in ("training", "validation", "test"):
        man, task = draw_labels(getattr(setting, part), counts, rng)
        images[part] = draw_images(man, task, contrast=setting.contrast, rng=rng)

    tasks = tuple(counts["object"].iloc[1:])
    tables = [
        train(images, tasks=tasks, mask=mask, setting=setting, seed=seed)
        for mask in MASKS
        for seed in range(seeds)
    ]
    return pd.concat(tables, ignore_index=True)
