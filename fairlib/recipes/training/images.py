"""The image networks of paper 3, trained as its released scripts train them: masks on COCO (section 4.1), CelebA (5.2).

It needs the photographs, the extra `images` (torch, torchvision, and once the network for weights of ImageNet) and, in
practice, a GPU. `make images` runs

    python -m fairlib.recipes.training.images

which trains what `fairlib.recipes.photographs` lists, one after another. A finished training is a file that is written
whole: a second call goes on where the first one stopped. When all are there, their counts go into the bundled tables.
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

MEAN, DEVIATION = np.array(
    [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], dtype=np.float32
)  # of ImageNet's channels
RATES = {
    "VGG16": 0.00014,
    "AlexNet": 0.0003,
    "ResNet18": 0.0001,
}  # appendix A.2, for CelebA
RATIO_RATE = 0.00014  # of the released runs at a ratio, although they train ResNet18
AHEAD = 3  # batches that are read while the network is busy
FOLDERS = {"coco": "train2014", "celeba": "img_align_celeba"}


@dataclass(frozen=True)
class Setting:
    """How a network is trained; the defaults are those of the released script for COCO."""

    network: str = "VGG16"
    rate: float = 0.05  # of stochastic gradient descent
    momentum: float = 0.5
    decay: float = 0.0  # of the weights
    batch: int = 64
    epochs: int = 12
    two_logits: bool = (
        False  # per label, with a softmax (CelebA), in place of one with a sigmoid
    )
    predict_attribute: bool = True  # COCO yes; CelebA no, so that there is no T->A
    mask: str = "none"
    ratio: float | None = None  # of majority to minority groups, by weighting the loss
    side: int = 224  # pixels to which images are scaled
    workers: int = 8  # threads that read images


def setting_of(images: str, training: dict) -> Setting:
    """Return the released recipe of one training in `TRAININGS`."""
    if images == "coco":
        return Setting(mask=training["mask"])
    network, ratio = training["model"], training["ratio"]
    recipe = {
        "momentum": 0.9,
        "decay": 5e-4,
        "epochs": 10,
        "two_logits": True,
        "predict_attribute": False,
    }
    return Setting(
        network=network,
        rate=RATES[network] if ratio is None else RATIO_RATE,
        ratio=ratio,
        **recipe,
    )


def build(network: str, outputs: int, weights: str | None = "IMAGENET1K_V1"):
    """Return torchvision's network with a new last layer of `outputs` logits."""
    from torch import nn
    from torchvision import models

    found = getattr(models, network.lower())(weights=weights)
    owner, last = (found, "fc") if hasattr(found, "fc") else (found.classifier, "6")
    setattr(owner, last, nn.Linear(getattr(owner, last).in_features, outputs))
    return found


def train(images: dict[str, ImageSet], *, setting: Setting, seed: int) -> dict:
    """Train one network; return the validation and test scores of the epoch with the
    lowest validation loss, and it.
    """
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    labels = {split: _labels(some, setting) for split, some in images.items()}
    weights = _weights(images, setting.ratio)
    network = build(
        setting.network, labels["training"].shape[1] * (1 + setting.two_logits)
    )
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    rates = {
        "lr": setting.rate,
        "momentum": setting.momentum,
        "weight_decay": setting.decay,
    }
    descent = torch.optim.SGD(network.parameters(), **rates)
    best, scores = np.inf, {}
    for epoch in range(setting.epochs):
        network.train()
        for rows, pixels in _batches(
            images["training"],
            rng.permutation(len(images["training"].paths)),
            setting,
            rng,
        ):
            logits = _logits(network, pixels, setting)
            target, weight = (
                torch.from_numpy(a[rows]).to(logits)
                for a in (labels["training"], weights["training"])
            )
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                logits, target, reduction="none"
            )
            descent.zero_grad()
            (losses.mean(dim=1) * weight).mean().backward()
            descent.step()
        found = _predict(network, images["validation"], setting, seed)
        loss = (
            cross_entropy(labels["validation"], found, weights["validation"])
            if np.isfinite(found).all()
            else np.inf
        )
        if loss < best:
            best = loss
            scores = {
                "validation": found,
                "test": _predict(network, images["test"], setting, seed),
                "epoch": epoch,
            }
    if not scores:
        raise ValueError(
            "setting must let the loss fall, found no epoch with a finite one: "
            f"{setting}"
        )
    return scores


def run(
    images: dict[str, ImageSet], which: str, training: dict, setting: Setting
) -> pd.DataFrame:
    """Train once and count the test predictions, in the columns of the bundled table of
    `which`.
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
    images = {split: some.only(training["task"]) for split, some in images.items()}
    scores = train(images, setting=setting, seed=training["seed"])
    threshold = calibrated_threshold(
        scores["validation"][:, 0], images["validation"].task.mean()
    )
    found = assess(
        images["test"].task[:, 0], images["test"].man, scores["test"][:, 0], threshold
    )
    row = training | {"task": training["task"].lower()} | found
    return readable(pd.DataFrame([row])).assign(inputs=PHOTOGRAPHS)


def _labels(images: ImageSet, setting: Setting) -> np.ndarray:
    columns = (
        [images.task, images.man[:, None]]
        if setting.predict_attribute
        else [images.task]
    )
    return np.hstack(columns).astype(np.float32)


def _weights(images: dict[str, ImageSet], ratio: float | None) -> dict[str, np.ndarray]:
    """Return what multiplies each image's loss: how section 5.2 sets the ratio, by
    gender and task in training.
    """
    cells = {split: 2 * some.task[:, 0] + some.man for split, some in images.items()}
    by_cell = np.ones(4, dtype=np.float32)
    if ratio is not None:
        by_cell[cells["training"]] = balancing_weights(
            cells["training"] // 2, cells["training"] % 2, ratio
        )
    return {split: by_cell[cell] for split, cell in cells.items()}


def _logits(network, pixels: np.ndarray, setting: Setting):
    """Return one logit per label; two with a softmax are one, their difference, also to
    the gradient.
    """
    import torch

    found = network(torch.from_numpy(pixels).to(next(network.parameters()).device))
    return found[:, 1::2] - found[:, ::2] if setting.two_logits else found


def _batches(
    images: ImageSet, order: np.ndarray, setting: Setting, rng
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (rows, pixels) in `order`; threads read some batches ahead. Each image has
    random numbers of its own.
    """
    seeds = np.random.default_rng(rng).integers(0, 2**63, len(order))

    def read(index, own):
        pixels = images.load(index, side=setting.side, mask=setting.mask, rng=own)
        return (pixels - MEAN[:, None, None]) / DEVIATION[:, None, None]

    parts = [
        slice(start, start + setting.batch)
        for start in range(0, len(order), setting.batch)
    ]
    with ThreadPoolExecutor(setting.workers) as pool:
        reading = [pool.map(read, order[part], seeds[part]) for part in parts[:AHEAD]]
        for part, later in zip_longest(parts, parts[AHEAD:]):
            pixels = np.stack(list(reading.pop(0)))
            if later:
                reading.append(pool.map(read, order[later], seeds[later]))
            yield order[part], pixels


def _predict(network, images: ImageSet, setting: Setting, seed: int) -> np.ndarray:
    import torch

    network.eval()
    with torch.no_grad():
        batches = _batches(images, np.arange(len(images.paths)), setting, seed)
        return np.concatenate(
            [
                torch.sigmoid(_logits(network, pixels, setting)).cpu().numpy()
                for _, pixels in batches
            ]
        )


def train_all(which: str) -> None:
    """Train what is not finished of "coco" or "celeba", and write the finished runs
    into their bundled table.
    """
    trainings = {path_of(which, training): training for training in TRAININGS[which]}
    left = [path for path in trainings if not path.exists()]
    if left:
        names = (
            tuple(load("coco_mals", source="bundled")["object"])
            if which == "coco"
            else TASKS
        )
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
    there = [
        which for which, inside in FOLDERS.items() if (folder / which / inside).is_dir()
    ]
    if not there:
        raise DataError(
            "no photographs found: put COCO 2014 (train2014/, val2014/, annotations/, "
            "and train.data, dev.data, test.data of Zhao et al. 2017) into "
            f"{folder / 'coco'}, or CelebA (img_align_celeba/, list_attr_celeba.txt, "
            f"list_eval_partition.txt) into {folder / 'celeba'}"
        )
    for which in there:
        train_all(which)


if __name__ == "__main__":
    main()
