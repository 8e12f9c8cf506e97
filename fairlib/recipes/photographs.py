"""The 95 trainings of paper 3 on photographs: which they are, and where those that are finished lie.

`make images` trains them one after another from COCO 2014 and CelebA in the folder of originals; each leaves a file
below `<folder>/coco/runs` or `<folder>/celeba/runs`. Their rows stand in the bundled tables beside those of the
stand-ins; the column `inputs` tells them apart.
"""

from itertools import product
from pathlib import Path

import pandas as pd

from fairlib.data import originals_folder

PHOTOGRAPHS = "photographs"  # in the column `inputs`
SEEDS = range(5)
MASKS = ("none", "noisy", "full")
TASKS = ("Big_Nose", "Young")
MODELS = ("VGG16", "AlexNet", "ResNet18")
RATIOS = (1.5, 1.75, 2.0, 2.25, 2.5)
RATIO_MODEL = "ResNet18"

SETTINGS = [(model, "as is", None) for model in MODELS] + [
    (RATIO_MODEL, "weights", ratio) for ratio in RATIOS
]
TRAININGS = {
    "coco": [{"mask": mask, "seed": seed} for mask, seed in product(MASKS, SEEDS)],
    "celeba": [
        {"task": task, "model": model, "balance": balance, "ratio": ratio, "seed": seed}
        for task, (model, balance, ratio), seed in product(TASKS, SETTINGS, SEEDS)
    ],
}
TABLES = {"coco": "masking_runs", "celeba": "celeba_runs"}


def path_of(images: str, training: dict) -> Path:
    """Return where the counts of one training lie, such as coco/runs/full_0.csv, below
    the folder of originals.
    """
    parts = [str(value) for value in training.values() if value not in (None, "as is")]
    return originals_folder() / images / "runs" / ("_".join(parts).lower() + ".csv")


def with_photographs(table: pd.DataFrame, images: str) -> pd.DataFrame:
    """Return the stand-ins' rows of `table`, followed by those of the photographs once
    all trainings are finished.
    """
    stand_ins = table[table["inputs"] != PHOTOGRAPHS]
    paths = [path_of(images, training) for training in TRAININGS[images]]
    if not all(path.exists() for path in paths):
        return stand_ins
    return pd.concat([stand_ins, *map(pd.read_csv, paths)], ignore_index=True)[
        list(table)
    ]
