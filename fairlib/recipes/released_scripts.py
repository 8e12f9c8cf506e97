"""Settings in the scripts that were released with the third paper, and lists of images.

The paper prints some of these numbers; here they are read from what was released.
"""

import re

import pandas as pd

from fairlib.recipes.originals import File, original, recipe

_SCRIPTS = (
    "https://raw.githubusercontent.com/princetonvisualai/directional-bias-amp/"
    "537e76f938869d6877eef5f82ccb50ed92832ffe"
)
_LISTS = (
    "https://raw.githubusercontent.com/kayburns/women-snowboard/"
    "a5c3f5e0a60c018bb3fb6cd4b99018b7f0e60803/research/im2txt/data/bias_splits"
)
CELEBA = File(
    "directional-bias-amp/celeba/run.sh",
    sha256="f5628b70059646df4fb827266742449ee28f6a52b484e7daf13ac67acbd49afb",
    size=2_157,
    url=f"{_SCRIPTS}/celeba/run.sh",
)
MASKS = File(
    "directional-bias-amp/coco_mask/run.sh",
    sha256="4c2573be16fbf12037a024e3cebe2d3911290bfd96f0af93cee9dcc0350165de",
    size=213,
    url=f"{_SCRIPTS}/coco_mask/run.sh",
)
FITBERT = File(
    "directional-bias-amp/fit_bert/fit_sentences.py",
    sha256="e27d8c4c299347aff1564ff1ea77ca4d6a8c812090735a994d2bb0ccee91cbbd",
    size=21_624,
    url=f"{_SCRIPTS}/fit_bert/fit_sentences.py",
)
IMAGES = {
    split: File(
        f"women-snowboard/{split}.ids.txt",
        sha256=checksum,
        size=size,
        url=f"{_LISTS}/{split}.ids.txt",
    )
    for split, checksum, size in (
        (
            "train",
            "8bb393bf0fb64328372694f4e5045efba9c544c48d6a7d50a7feba4fddf31e1e",
            156_381,
        ),
        (
            "dev",
            "5418fde3c46092f8fe302effe603ba5287f6ddd65a475d3dbc4205814706e949",
            36_875,
        ),
        (
            "test",
            "937254dce3339ece51c1b32001f826551a1ff835d579c850c7b20080573f15fb",
            37_521,
        ),
    )
}


@recipe(files=[CELEBA, MASKS, FITBERT, *IMAGES.values()])
def released_settings() -> pd.DataFrame:
    """What released scripts set, and how many images released lists have.

    One row per setting: the experiment, the setting and its value.
    """
    rows = [
        *_of_celeba(original(CELEBA).read_text(encoding="utf-8")),
        *_of_masks(original(MASKS).read_text(encoding="utf-8")),
        *_of_fitbert(original(FITBERT).read_text(encoding="utf-8")),
    ]
    for split, file in IMAGES.items():
        images = original(file).read_text(encoding="utf-8").split()
        rows.append(("coco", f"{split}_images", len(set(images))))
    return pd.DataFrame(rows, columns=["experiment", "setting", "value"])


def _of_celeba(script: str) -> list[tuple[str, str, float]]:
    """Return the settings of the networks on CelebA."""
    trainings = [line for line in script.splitlines() if "classifier.py" in line]
    ratios = [line for line in trainings if "--weighting_ratio" in line]
    models = [line for line in trainings if line not in ratios]

    rows = [
        ("celeba_models", "runs", _length(r"^ *for j in ([\d ]+?) *#", script)),
        ("celeba_models", "architectures", len(models)),
    ]
    for line in models:
        name = _text(r"--model_name (\w+)/", line).lower()
        rate = float(_text(r"--lr ([.\d]+)", line))
        rows.append(("celeba_models", f"learning_rate/{name}", rate))
    for setting, option in (("batch_size", "batch-size"), ("epochs", "epochs")):
        values = {_text(rf"--{option} (\d+)", line) for line in trainings}
        rows.append(("celeba_models", setting, _only(values)))

    for line in ratios:
        ratio = float(_text(r"--weighting_ratio ([.\d]+)", line))
        rows.append(("celeba_ratios", f"ratio/{ratio}", ratio))
    rates = {_text(r"--lr ([.\d]+)", line) for line in ratios}
    rows.append(("celeba_ratios", "learning_rate/resnet18", _only(rates)))
    return rows


def _of_masks(script: str) -> list[tuple[str, str, float]]:
    """Return the settings of the networks on masked images."""
    last = int(_text(r"for i in \{0\.\.(\d+)\}", script))
    return [("masks", "runs", last + 1)]


def _of_fitbert(script: str) -> list[tuple[str, str, float]]:
    """Return the settings of the sentences that FitBERT fills."""
    names = ("men_biased", "women_biased")
    lists = {
        name: [
            len(_quoted(words))
            for words in re.findall(rf"\b{name} = \[(.*?)\]", script)
        ]
        for name in names
    }
    # Before the revision of the occupations, and after it.
    all_occupations, occupations = (
        sum(lists[name][place] for name in names) for place in (0, 1)
    )

    version = script[script.index("elif version == 10") :]
    adjectives = len(_quoted(_text(r"adjectives = \[(.*?)\]", version)))
    tenses = len(re.findall(r"'WORD_A_0 (?:is|was) ", version[:1_000]))
    return [
        ("fitbert", "occupations_winobias", all_occupations),
        ("fitbert", "occupations", occupations),
        ("fitbert", "adjectives", adjectives),
        ("fitbert", "templates", adjectives * tenses),
    ]


def _text(pattern: str, script: str) -> str:
    """Return what the pattern's group finds first, or raise."""
    match = re.search(pattern, script, flags=re.MULTILINE)
    if match is None:
        raise ValueError(f"script must match {pattern!r}, found {script[:60]!r}")
    return match[1]


def _length(pattern: str, script: str) -> int:
    """Return how many words the pattern's group finds."""
    return len(_text(pattern, script).split())


def _quoted(text: str) -> list[str]:
    """Return the words in quotes."""
    return re.findall(r"'([^']+)'", text)


def _only(values: set[str]) -> float:
    """Return the one value that all lines have, or raise."""
    if len(values) != 1:
        raise ValueError(f"all lines must have one value, found {sorted(values)}")
    return float(values.pop())
