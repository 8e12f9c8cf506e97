"""The 95 trainings of paper 3 on photographs, and where the finished trainings lie.

`make images` trains them one after another from COCO 2014 and CelebA in the folder of
originals. Each training leaves a file below `<folder>/coco/runs` or
`<folder>/celeba/runs`. Their rows are in the bundled tables beside those of the
stand-ins; the column `inputs` distinguishes them.
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

_SETTINGS = [(model, "as is", None) for model in MODELS]
_SETTINGS += [(RATIO_MODEL, "weights", ratio) for ratio in RATIOS]
TRAININGS = {
    "coco": [{"mask": mask, "seed": seed} for mask, seed in product(MASKS, SEEDS)],
    "celeba": [
        {"task": task, "model": model, "balance": balance, "ratio": ratio, "seed": seed}
        for task, (model, balance, ratio), seed in product(TASKS, _SETTINGS, SEEDS)
    ],
}
TABLES = {"coco": "masking_runs", "celeba": "celeba_runs"}


def path_of(images: str, training: dict) -> Path:
    """Return where the counts of one training lie, such as coco/runs/full_0.csv.

    Parameters
    ----------
    images : str
        "coco" or "celeba".
    training : dict
        One of `TRAININGS`.

    Returns
    -------
    pathlib.Path
        A path below the folder of originals.
    """
    parts = [str(value) for value in training.values() if value not in (None, "as is")]
    name = "_".join(parts).lower() + ".csv"
    return originals_folder() / images / "runs" / name


def with_photographs(table: pd.DataFrame, images: str) -> pd.DataFrame:
    """Return the stand-ins' rows of a table, followed by those of the photographs.

    The rows of the photographs are added once all trainings are finished.

    Parameters
    ----------
    table : pandas.DataFrame
        A table of trainings, with the column `inputs`.
    images : str
        "coco" or "celeba".

    Returns
    -------
    pandas.DataFrame
        The rows, with the columns of `table`.
    """
    stand_ins = table[table["inputs"] != PHOTOGRAPHS]
    paths = [path_of(images, training) for training in TRAININGS[images]]
    if not all(path.exists() for path in paths):
        return stand_ins

    runs = [pd.read_csv(path) for path in paths]
    return pd.concat([stand_ins, *runs], ignore_index=True)[list(table)]
