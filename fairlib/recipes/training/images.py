"""Image networks for the masking experiment on COCO (section 4.1) and for CelebA (section 5.2).

It needs the images, the optional package torch, torchvision for the networks with ImageNet weights, and better a GPU.
One command is one run:

    python -m fairlib.recipes.training.images coco /data/coco --network vgg16 --mask full --seed 0 --out full_0.csv
    python -m fairlib.recipes.training.images celeba /data/celeba --task Young --network resnet18 --out young.csv

It writes counts by object and gender, as in the bundled `masking_runs`: what `amplification.from_counts` takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import write_whole
from fairlib.ledger import published
from fairlib.recipes.training.image_sets import READERS, ImageSet
from fairlib.recipes.training.tabular import balancing_weights
from fairlib.recipes.training.tallies import cross_entropy, tally

LAST_LAYER = {"vgg16": "classifier.6", "alexnet": "classifier.6", "resnet18": "fc"}  # of torchvision's networks
RATES = {"vgg16": 0.00014, "alexnet": 0.0003, "resnet18": 0.0001, "tiny": 0.05}  # appendix A.2, for CelebA
MEAN, DEVIATION = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], dtype=np.float32)  # of ImageNet's channels


@dataclass(frozen=True)
class Setting:
    """How a network is trained: the paper's choices."""

    network: str = "vgg16"  # vgg16, alexnet, resnet18, or tiny: no weights, to try everything else
    rate: float | None = None  # of stochastic gradient descent; by default the network's in appendix A.2
    momentum: float = 0.5
    batch: int = 64
    epochs: int = 10
    side: int = 224
    pretrained: bool = True
    predict_attribute: bool = True  # COCO yes; CelebA no, so that there is no T->A
    mask: str = "none"
    workers: int = 4
    device: str = ""  # by default the GPU if there is one

    def __post_init__(self) -> None:
        if self.network not in RATES:
            raise ValueError(f"network must be one of {', '.join(RATES)}, found {self.network!r}")


def build(setting: Setting, outputs: int):
    """Return the network with a new last layer of `outputs` logits."""
    from torch import nn

    if setting.network == "tiny":
        layers = [nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 5, stride=2), nn.ReLU()]
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, outputs))
    from torchvision import models

    network = getattr(models, setting.network)(weights="IMAGENET1K_V1" if setting.pretrained else None)
    parent, _, name = LAST_LAYER[setting.network].rpartition(".")
    owner = network.get_submodule(parent)
    setattr(owner, name, nn.Linear(getattr(owner, name).in_features, outputs))
    return network


def train(images: dict[str, ImageSet], *, setting: Setting, seed: int, weights: np.ndarray | None = None) -> dict:
    """Train one network; return the validation and test scores of the epoch with the lowest validation loss, and it.

    weights : one per training image, multiplies its loss: how section 5.2 sets the ratio of majority to minority.
    """
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    labels = {split: _labels(some, setting) for split, some in images.items()}
    device = setting.device or ("cuda" if torch.cuda.is_available() else "cpu")
    network = build(setting, labels["training"].shape[1]).to(device)
    rate = setting.rate or RATES[setting.network]
    descent = torch.optim.SGD(network.parameters(), lr=rate, momentum=setting.momentum)
    weights = np.ones(len(labels["training"]), dtype=np.float32) if weights is None else np.float32(weights)
    if weights.shape != (len(labels["training"]),):
        raise ValueError(f"weights must be one per training image ({len(labels['training'])}), found {weights.shape}")
    best, scores = np.inf, {}
    for epoch in range(setting.epochs):
        network.train()
        for rows, pixels in _batches(images["training"], rng.permutation(len(weights)), setting, rng):
            answer = network(torch.from_numpy(pixels).to(device))
            target = torch.from_numpy(labels["training"][rows]).to(device)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(answer, target, reduction="none")
            loss = (losses.mean(dim=1) * torch.from_numpy(weights[rows]).to(device)).mean()
            descent.zero_grad()
            loss.backward()
            descent.step()
        found = {split: _predict(network, images[split], setting, device, seed) for split in ("validation", "test")}
        if (loss := cross_entropy(labels["validation"], found["validation"])) < best:
            best, scores = loss, found | {"epoch": epoch}
    return scores


def run(images: dict[str, ImageSet], *, setting: Setting, seed: int, weights: np.ndarray | None = None) -> pd.DataFrame:
    """Train one network and count its test predictions, one row per object and gender, see `tally`."""
    scores = train(images, setting=setting, seed=seed, weights=weights)
    facts = {"network": setting.network, "mask": setting.mask, "seed": seed, "epoch": scores["epoch"]}
    return tally(images, scores, tasks=images["test"].tasks, **facts)


def _labels(images: ImageSet, setting: Setting) -> np.ndarray:
    columns = [images.task, images.man[:, None]] if setting.predict_attribute else [images.task]
    return np.hstack(columns).astype(np.float32)


def _batches(images: ImageSet, order: np.ndarray, setting: Setting, rng) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (rows, pixels) in `order`; images are read by threads, each with its own random numbers for its mask."""
    seeds = np.random.default_rng(rng).integers(0, 2**63, len(order))

    def read(index, own):
        pixels = images.load(index, side=setting.side, mask=setting.mask, rng=own)
        return (pixels - MEAN[:, None, None]) / DEVIATION[:, None, None]

    with ThreadPoolExecutor(setting.workers) as pool:
        for start in range(0, len(order), setting.batch):
            rows = order[start : start + setting.batch]
            yield rows, np.stack(list(pool.map(read, rows, seeds[start : start + setting.batch])))


def _predict(network, images: ImageSet, setting: Setting, device: str, seed: int) -> np.ndarray:
    import torch

    network.eval()
    with torch.no_grad():
        batches = _batches(images, np.arange(len(images.paths)), setting, seed)
        parts = [torch.sigmoid(network(torch.from_numpy(pixels).to(device))).cpu().numpy() for _, pixels in batches]
    return np.concatenate(parts)


def paper_objects() -> list[str]:
    """The 66 objects of Table 3."""
    names = published().index[published().index.str.match(r"wang2021/table3/.*/a_to_t/none")]
    return [name.split("/")[2] for name in names]


def main(arguments: list[str] | None = None) -> None:
    """One run of one network: read the images, train, write the counts."""
    parser = argparse.ArgumentParser(prog="python -m fairlib.recipes.training.images", description=main.__doc__)
    parser.add_argument("images", choices=sorted(READERS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", action="append", help="a task; repeat for several (default: the paper's)")
    parser.add_argument("--network", choices=sorted(RATES), default="vgg16")
    parser.add_argument("--mask", choices=("none", "noisy", "full"), default="none")
    parser.add_argument("--rate", type=float, help="learning rate (default: appendix A.2)")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--side", type=int, default=224, help="pixels to which images are scaled")
    parser.add_argument("--ratio", type=float, help="weigh majority to minority groups so (section 5.2, one task)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args(arguments))
    names = ("images", "folder", "task", "seed", "out", "ratio")
    which, folder, tasks, seed, out, ratio = (given.pop(name) for name in names)
    setting = replace(Setting(**given), predict_attribute=which == "coco")
    tasks = tasks or (paper_objects() if which == "coco" else ["Big_Nose"])
    if ratio is not None and len(tasks) != 1:
        raise ValueError(f"ratio needs one task, found {len(tasks)}")
    images = READERS[which](folder, tasks)
    task, man = images["training"].task[:, 0].astype(int), images["training"].man.astype(int)
    weights = None if ratio is None else balancing_weights(task, man, ratio)
    table = run(images, setting=setting, seed=seed, weights=weights).assign(ratio=ratio)
    write_whole(out, lambda beside: table.to_csv(beside, index=False, lineterminator="\n"))


if __name__ == "__main__":
    main()
