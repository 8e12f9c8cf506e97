"""CelebA: its attributes counted, and classifiers of them that stand in for the image
networks of Figure 4.
"""

import pandas as pd

from fairlib.data import DataError
from fairlib.recipes.originals import File, at_hand, original, recipe, require_columns
from fairlib.recipes.photographs import RATIOS, SEEDS, TASKS, with_photographs

ATTRIBUTES = File(
    "celeba/attributes.parquet",
    sha256="fd6e45a36ebc7ceca60f525e345a0a6ae1926f6ddf21f57ffebc6087fd74a495",
    size=963_871,
    how="Put list_attr_celeba.txt and list_eval_partition.txt of CelebA "
    "(mmlab.ie.cuhk.edu.hk/projects/CelebA.html) there; they are read instead.",
)
LABELS, PARTITION = (
    File("celeba/list_attr_celeba.txt"),
    File("celeba/list_eval_partition.txt"),
)
SIZES = {"train": 162_770, "valid": 19_867, "test": 19_962}

GROUP = "Male"
RATIO_MODEL = (
    "neural network"  # as the paper's scripts vary the ratio for one network, ResNet18
)


def attributes() -> pd.DataFrame:
    """Return CelebA's table: image_id, split and 40 attributes, 0 or 1, from either
    form in which it is passed on.
    """
    if at_hand(ATTRIBUTES) or not at_hand(LABELS):
        table = pd.read_parquet(original(ATTRIBUTES))
    else:
        table = read_released(original(LABELS), original(PARTITION))
    names = ["image_id", "split", GROUP, *TASKS, "Wearing_Lipstick"]
    sizes = (
        require_columns(table, names, ATTRIBUTES.path)["split"].value_counts().to_dict()
    )
    if sizes != SIZES or table.shape[1] != 42:
        raise DataError(
            f"CelebA must have 40 attributes and {SIZES} images, found "
            f"{table.shape[1] - 2} and {sizes}"
        )
    flags = table.columns.drop(["image_id", "split"])
    return table.astype({"split": str} | dict.fromkeys(flags, int))


def read_released(labels, partition) -> pd.DataFrame:
    """Read the two text files of the release: attributes as -1 and 1, the split as 0, 1
    and 2.
    """
    table = (pd.read_csv(labels, sep=r"\s+", skiprows=1) == 1).astype(int)
    part = pd.read_csv(partition, sep=r"\s+", header=None, index_col=0)[1]
    if not table.index.sort_values().equals(part.index.sort_values()):
        raise DataError(f"{labels} and {partition} must name the same images")
    table.insert(0, "split", part.map(dict(enumerate(SIZES))).reindex(table.index))
    return table.rename_axis("image_id").reset_index()


@recipe(files=[ATTRIBUTES])
def celeba_counts() -> pd.DataFrame:
    """Images by split, gender, the two tasks, and one attribute that gives gender away."""
    columns = ["split", GROUP, *TASKS, "Wearing_Lipstick"]
    counts = attributes()[columns].value_counts().rename("count").reset_index()
    return counts.rename(columns=str.lower).sort_values(
        [name.lower() for name in columns], ignore_index=True
    )


@recipe(files=[ATTRIBUTES], costly=True)
def celeba_runs() -> pd.DataFrame:
    """One row per training: its setting and seed, average precision, threshold, and test images by outcome and gender.

    The stand-ins take 8 minutes on one core: 3 classifiers x 2 tasks x 5 seeds, and 5 ratios x 2 ways x 2 tasks x
    5 seeds. Rows with the inputs "photographs" are the paper's own networks, trained by `make images`.
    """
    from fairlib.recipes.training.tabular import BALANCES, MODELS, run, split

    table = attributes()
    settings = [(model, "as is", None) for model in MODELS]
    settings += [
        (RATIO_MODEL, balance, ratio) for balance in BALANCES for ratio in RATIOS
    ]
    rows = []
    for task in TASKS:
        data = split(table.drop(columns="image_id"), task=task, group=GROUP)
        for model, balance, ratio in settings:
            options = {} if ratio is None else {"ratio": ratio, "balance": balance}
            for seed in SEEDS:
                setting = {
                    "task": task.lower(),
                    "model": model,
                    "balance": balance,
                    "ratio": ratio,
                    "seed": seed,
                }
                rows.append(setting | run(data, model=model, rng=seed, **options))
    return with_photographs(
        readable(pd.DataFrame(rows)).assign(inputs="attributes"), "celeba"
    )


def readable(found: pd.DataFrame) -> pd.DataFrame:
    """Name the groups women and men, and round what is measured."""
    names = {
        name: name.replace("0_", "women_").replace("1_", "men_")
        for name in found
        if name[:2] in ("0_", "1_")
    }
    return found.rename(columns=names).round(
        dict.fromkeys(found.filter(regex="precision|threshold"), 6)
    )
