"""The image networks of paper 3, trained as its released scripts train them.

They are trained with masks on COCO (section 4.1), and on CelebA (section 5.2). This
needs the photographs, the extra `images` (torch, torchvision, and once the network for
weights of ImageNet) and, in practice, a GPU. `make images` runs

    python -m fairlib.recipes.training.images

which trains what `fairlib.recipes.photographs` lists, one training after another. A
finished training is a file that is written whole: a second call goes on where the first
one stopped. When all are there, their counts go into the bundled tables.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pandas as pd

from fairlib.data import DataError, load, originals_folder, write_csv
from fairlib.recipes.celeba import readable
from fairlib.recipes.originals import store
from fairlib.recipes.photographs import (
    PHOTOGRAPHS,
    TABLES,
    TASKS,
    TRAININGS,
    path_of,
    with_photographs,
)
from fairlib.recipes.training.image_sets import READERS, ImageSet
from fairlib.recipes.training.tabular import balancing_weights
from fairlib.recipes.training.tallies import (
    assess,
    calibrated_threshold,
    cross_entropy,
    tally,
)

# Of ImageNet's channels.
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)

# Learning rates for CelebA, of appendix A.2; and that of the released runs at a ratio,
# although they train ResNet18.
RATES = {"VGG16": 0.00014, "AlexNet": 0.0003, "ResNet18": 0.0001}
_RATIO_RATE = 0.00014

_BATCHES_AHEAD = 3  # that are read while the network is busy
_FOLDERS = {"coco": "train2014", "celeba": "img_align_celeba"}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a network is trained; the defaults are those of the released COCO script.

    Parameters
    ----------
    network : str
        Name of the network.
    rate, momentum, decay : float
        Learning rate and momentum of stochastic gradient descent, and the decay of the
        weights.
    batch, epochs : int
        Images in a batch, and how many times all images are seen.
    two_logits : bool
        Whether there are two logits per label, with a softmax (CelebA), in place of one
        logit with a sigmoid.
    predict_attribute : bool
        Whether the attribute is predicted too (COCO: yes; CelebA: no, so that there is
        no T->A).
    mask : str
        "none", "noisy" or "full".
    ratio : float, optional
        Ratio of majority to minority groups, reached by weighting the loss.
    side : int
        Pixels to which images are scaled.
    workers : int
        Threads that read images.
    """

    network: str = "VGG16"
    rate: float = 0.05
    momentum: float = 0.5
    decay: float = 0.0
    batch: int = 64
    epochs: int = 12
    two_logits: bool = False
    predict_attribute: bool = True
    mask: str = "none"
    ratio: float | None = None
    side: int = 224
    workers: int = 8


def setting_of(images: str, training: dict) -> Setting:
    """Return the released recipe of one training.

    Parameters
    ----------
    images : str
        "coco" or "celeba".
    training : dict
        One of `photographs.TRAININGS`.

    Returns
    -------
    Setting
        How the network is trained.
    """
    if images == "coco":
        return Setting(mask=training["mask"])

    network = training["model"]
    ratio = training["ratio"]
    return Setting(
        network=network,
        rate=RATES[network] if ratio is None else _RATIO_RATE,
        momentum=0.9,
        decay=5e-4,
        epochs=10,
        two_logits=True,
        predict_attribute=False,
        ratio=ratio,
    )


def build(network: str, outputs: int, weights: str | None = "IMAGENET1K_V1"):
    """Return torchvision's network with a new last layer.

    Parameters
    ----------
    network : str
        Name of the network.
    outputs : int
        Number of logits of the new layer.
    weights : str, optional
        Name of the pretrained weights.

    Returns
    -------
    torch.nn.Module
        The network.
    """
    from torch import nn
    from torchvision import models

    model = getattr(models, network.lower())(weights=weights)
    if hasattr(model, "fc"):
        owner = model
        last = "fc"
    else:
        owner = model.classifier
        last = "6"
    setattr(owner, last, nn.Linear(getattr(owner, last).in_features, outputs))
    return model


def train(images: dict[str, ImageSet], *, setting: Setting, seed: int) -> dict:
    """Train one network, and return the scores of its best epoch.

    Parameters
    ----------
    images : dict of ImageSet
        The training, validation and test images.
    setting : Setting
        How the network is trained.
    seed : int
        Seed of all random numbers.

    Returns
    -------
    dict
        The validation and test scores of the epoch with the lowest validation loss, and
        the number of this epoch.
    """
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    labels = {split: _labels(of_split, setting) for split, of_split in images.items()}
    weights = _weights(images, setting.ratio)
    outputs = labels["training"].shape[1] * (1 + setting.two_logits)
    network = build(setting.network, outputs)
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    descent = torch.optim.SGD(
        network.parameters(),
        lr=setting.rate,
        momentum=setting.momentum,
        weight_decay=setting.decay,
    )

    lowest_loss = np.inf
    scores: dict = {}
    for epoch in range(setting.epochs):
        network.train()
        order = rng.permutation(len(images["training"].paths))
        for rows, pixels in _batches(images["training"], order, setting, rng):
            logits = _logits(network, pixels, setting)
            target = torch.from_numpy(labels["training"][rows]).to(logits)
            weight = torch.from_numpy(weights["training"][rows]).to(logits)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                logits, target, reduction="none"
            )
            descent.zero_grad()
            (losses.mean(dim=1) * weight).mean().backward()
            descent.step()

        validation = _predict(network, images["validation"], setting, seed)
        loss = np.inf
        if np.isfinite(validation).all():
            loss = cross_entropy(
                labels["validation"], validation, weights["validation"]
            )
        if loss < lowest_loss:
            lowest_loss = loss
            test = _predict(network, images["test"], setting, seed)
            scores = {"validation": validation, "test": test, "epoch": epoch}

    if not scores:
        raise ValueError(
            "setting must let the loss fall, found no epoch with a finite one: "
            f"{setting}"
        )
    return scores


def run(
    images: dict[str, ImageSet], which: str, training: dict, setting: Setting
) -> pd.DataFrame:
    """Train once, and count the test predictions.

    Parameters
    ----------
    images : dict of ImageSet
        The training, validation and test images.
    which : str
        "coco" or "celeba".
    training : dict
        One of `photographs.TRAININGS`.
    setting : Setting
        How the network is trained.

    Returns
    -------
    pandas.DataFrame
        Rows of the bundled table of `which`.
    """
    if which == "coco":
        scores = train(images, setting=setting, seed=training["seed"])
        table = tally(
            images,
            scores,
            tasks=images["test"].tasks,
            calibrate="validation",
            **training,
        )
        return table.assign(objects="photographed", inputs=PHOTOGRAPHS)

    of_task = {split: rows.only(training["task"]) for split, rows in images.items()}
    scores = train(of_task, setting=setting, seed=training["seed"])
    test = of_task["test"]
    threshold = calibrated_threshold(
        scores["validation"][:, 0], of_task["validation"].task.mean()
    )
    counts = assess(test.task[:, 0], test.man, scores["test"][:, 0], threshold)
    row = {**training, "task": training["task"].lower(), **counts}
    return readable(pd.DataFrame([row])).assign(inputs=PHOTOGRAPHS)


def _labels(images: ImageSet, setting: Setting) -> np.ndarray:
    """Return what a network learns to predict, n x labels."""
    columns = [images.task]
    if setting.predict_attribute:
        columns.append(images.man[:, None])
    return np.hstack(columns).astype(np.float32)


def _weights(images: dict[str, ImageSet], ratio: float | None) -> dict[str, np.ndarray]:
    """Return what multiplies each image's loss, as section 5.2 sets the ratio.

    The weight depends on gender and task, and is that of the training images.
    """
    cells = {
        split: 2 * of_split.task[:, 0] + of_split.man
        for split, of_split in images.items()
    }
    by_cell = np.ones(4, dtype=np.float32)
    if ratio is not None:
        cell = cells["training"]
        by_cell[cell] = balancing_weights(cell // 2, cell % 2, ratio)
    return {split: by_cell[cell] for split, cell in cells.items()}


def _logits(network, pixels: np.ndarray, setting: Setting):
    """Return one logit per label.

    Two logits with a softmax are one logit, their difference, also to the gradient.
    """
    import torch

    device = next(network.parameters()).device
    outputs = network(torch.from_numpy(pixels).to(device))
    if setting.two_logits:
        return outputs[:, 1::2] - outputs[:, ::2]
    return outputs


def _batches(
    images: ImageSet, order: np.ndarray, setting: Setting, rng
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and pixels of batches, in this order.

    Threads read some batches ahead. Each image has random numbers of its own.
    """
    seeds = np.random.default_rng(rng).integers(0, 2**63, len(order))

    def read(index: int, seed: int) -> np.ndarray:
        pixels = images.load(index, side=setting.side, mask=setting.mask, rng=seed)
        return (pixels - MEAN[:, None, None]) / DEVIATION[:, None, None]

    parts = [
        slice(start, start + setting.batch)
        for start in range(0, len(order), setting.batch)
    ]
    with ThreadPoolExecutor(setting.workers) as pool:
        reading = [
            pool.map(read, order[part], seeds[part]) for part in parts[:_BATCHES_AHEAD]
        ]
        for part, later in zip_longest(parts, parts[_BATCHES_AHEAD:]):
            pixels = np.stack(list(reading.pop(0)))
            if later:
                reading.append(pool.map(read, order[later], seeds[later]))
            yield order[part], pixels


def _predict(network, images: ImageSet, setting: Setting, seed: int) -> np.ndarray:
    """Return the probability of each label, images x labels."""
    import torch

    network.eval()
    probabilities = []
    with torch.no_grad():
        batches = _batches(images, np.arange(len(images.paths)), setting, seed)
        for _, pixels in batches:
            logits = _logits(network, pixels, setting)
            probabilities.append(torch.sigmoid(logits).cpu().numpy())
    return np.concatenate(probabilities)


def train_all(which: str) -> None:
    """Train what is not finished, and write the finished runs into the bundled table.

    Parameters
    ----------
    which : str
        "coco" or "celeba".
    """
    trainings = {path_of(which, training): training for training in TRAININGS[which]}
    left = [path for path in trainings if not path.exists()]
    if left:
        names = TASKS
        if which == "coco":
            names = tuple(load("coco_mals", source="bundled")["object"])
        images = READERS[which](originals_folder() / which, names)

    for number, path in enumerate(left, start=1):
        start = time.perf_counter()
        table = run(images, which, trainings[path], setting_of(which, trainings[path]))
        write_csv(table, path)
        minutes = (time.perf_counter() - start) / 60
        print(
            f"{which}/{path.stem}: {number} of {len(left)}, {minutes:.1f} minutes",
            flush=True,
        )

    table = with_photographs(load(TABLES[which], source="bundled"), which)
    print(f"all {len(trainings)} trainings are in {store(TABLES[which], table)}")


def main() -> None:
    """Train on the photographs that are there."""
    folder = originals_folder()
    at_hand = [
        which
        for which, images in _FOLDERS.items()
        if (folder / which / images).is_dir()
    ]
    if not at_hand:
        raise DataError(
            "no photographs found: put COCO 2014 (train2014/, val2014/, annotations/, "
            "and train.data, dev.data, test.data of Zhao et al. 2017) into "
            f"{folder / 'coco'}, or CelebA (img_align_celeba/, list_attr_celeba.txt, "
            f"list_eval_partition.txt) into {folder / 'celeba'}"
        )

    for which in at_hand:
        train_all(which)


if __name__ == "__main__":
    main()
