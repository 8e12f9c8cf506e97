"""Tables of CelebA: counts, and the models that stand in for Figure 4's networks."""

from pathlib import Path

import pandas as pd

from fairlib.data import DataError, read_parquet
from fairlib.recipes.originals import File, at_hand, original, recipe, require_columns
from fairlib.recipes.photographs import RATIOS, SEEDS, TASKS, with_photographs

ATTRIBUTES = File(
    "celeba/attributes.parquet",
    sha256="fd6e45a36ebc7ceca60f525e345a0a6ae1926f6ddf21f57ffebc6087fd74a495",
    size=963_871,
    how="Put list_attr_celeba.txt and list_eval_partition.txt of CelebA "
    "(mmlab.ie.cuhk.edu.hk/projects/CelebA.html) there; they are read instead.",
)
LABELS = File("celeba/list_attr_celeba.txt")
PARTITION = File("celeba/list_eval_partition.txt")
SIZES = {"train": 162_770, "valid": 19_867, "test": 19_962}

GROUP = "Male"
# The paper's scripts vary the ratio for only one network, ResNet18.
RATIO_MODEL = "neural network"


def attributes() -> pd.DataFrame:
    """Return CelebA's table of images and attributes.

    It is read from either form in which the table is passed on.

    Returns
    -------
    pandas.DataFrame
        Columns image_id, split and 40 attributes, 0 or 1.
    """
    if at_hand(ATTRIBUTES) or not at_hand(LABELS):
        table = read_parquet(original(ATTRIBUTES))
    else:
        table = read_released(original(LABELS), original(PARTITION))

    names = ["image_id", "split", GROUP, *TASKS, "Wearing_Lipstick"]
    require_columns(table, names, ATTRIBUTES.path)
    sizes = table["split"].value_counts().to_dict()
    if sizes != SIZES or table.shape[1] != 42:
        raise DataError(
            f"CelebA must have 40 attributes and {SIZES} images, "
            f"found {table.shape[1] - 2} and {sizes}"
        )

    types = dict.fromkeys(table.columns.drop(["image_id", "split"]), int)
    return table.astype({"split": str, **types})


def read_released(labels: Path, partition: Path) -> pd.DataFrame:
    """Read the two text files of the release.

    Parameters
    ----------
    labels : pathlib.Path
        The attributes, -1 or 1.
    partition : pathlib.Path
        The split of each image, 0, 1 or 2.

    Returns
    -------
    pandas.DataFrame
        Columns image_id, split and the attributes, 0 or 1.
    """
    table = (pd.read_csv(labels, sep=r"\s+", skiprows=1) == 1).astype(int)
    part = pd.read_csv(partition, sep=r"\s+", header=None, index_col=0)[1]
    if not table.index.sort_values().equals(part.index.sort_values()):
        raise DataError(f"{labels} and {partition} must name the same images")

    names = dict(enumerate(SIZES))
    table.insert(0, "split", part.map(names).reindex(table.index))
    return table.rename_axis("image_id").reset_index()


@recipe(files=[ATTRIBUTES])
def celeba_counts() -> pd.DataFrame:
    """Images by split, gender, the two tasks, and an attribute that reveals gender."""
    columns = ["split", GROUP, *TASKS, "Wearing_Lipstick"]
    counts = attributes()[columns].value_counts().rename("count").reset_index()
    table = counts.rename(columns=str.lower)
    return table.sort_values([name.lower() for name in columns], ignore_index=True)


@recipe(files=[ATTRIBUTES], costly=True)
def celeba_runs() -> pd.DataFrame:
    """Trainings on CelebA: settings, precision, and test images by outcome and gender.

    One row per training. The stand-ins take 8 minutes on one core: 3 classifiers x 2
    tasks x 5 seeds, and 5 ratios x 2 ways x 2 tasks x 5 seeds. Rows with the inputs
    "photographs" are the paper's own networks, trained by `make images`.
    """
    from fairlib.recipes.training.tabular import BALANCES, MODELS, run, split

    table = attributes().drop(columns="image_id")
    settings = [{"model": model, "balance": "as is", "ratio": None} for model in MODELS]
    settings += [
        {"model": RATIO_MODEL, "balance": balance, "ratio": ratio}
        for balance in BALANCES
        for ratio in RATIOS
    ]

    rows = []
    for task in TASKS:
        data = split(table, task=task, group=GROUP)
        for setting in settings:
            options = {}
            if setting["ratio"] is not None:
                options = {"ratio": setting["ratio"], "balance": setting["balance"]}
            for seed in SEEDS:
                counts = run(data, model=setting["model"], rng=seed, **options)
                rows.append({"task": task.lower(), **setting, "seed": seed, **counts})

    runs = readable(pd.DataFrame(rows)).assign(inputs="attributes")
    return with_photographs(runs, "celeba")


def readable(runs: pd.DataFrame) -> pd.DataFrame:
    """Name the groups women and men, and round what is measured.

    Parameters
    ----------
    runs : pandas.DataFrame
        Results of trainings, with columns such as `0_true_negative`.

    Returns
    -------
    pandas.DataFrame
        The same, with columns such as `women_true_negative`.
    """
    names = {
        name: name.replace("0_", "women_").replace("1_", "men_")
        for name in runs
        if name.startswith(("0_", "1_"))
    }
    measured = runs.filter(regex="precision|threshold")
    return runs.rename(columns=names).round(dict.fromkeys(measured, 6))
