"""Tables of the third paper: CelebA with classifiers of its attributes, and occupations with pronouns.

The classifiers stand in for the image networks of Figure 4, counts of words for the language model of Table 2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pandas as pd

from fairlib.data import DataError, File, at_hand, load, original, recipe, require_columns

ATTRIBUTES = File(
    "celeba/attributes.parquet",
    sha256="fd6e45a36ebc7ceca60f525e345a0a6ae1926f6ddf21f57ffebc6087fd74a495",
    size=963_871,
    how="Put list_attr_celeba.txt and list_eval_partition.txt of CelebA (mmlab.ie.cuhk.edu.hk/projects/CelebA.html) "
    "there; they are read instead.",
)
LABELS, PARTITION = File("celeba/list_attr_celeba.txt"), File("celeba/list_eval_partition.txt")
SIZES = {"train": 162_770, "valid": 19_867, "test": 19_962}

OCCUPATIONS = File(
    "winobias/occupations_us_labor_force_2016.csv",
    sha256="5b04794e443438684f167c6ff657baef1ebb94f1f7f45f1df0bed6d05eb0741f",
    size=771,
    how="The 32 occupations of appendix A.3: share of women (WinoBias) and persons employed, in thousands (U.S. Bureau "
    "of Labor Statistics, 2016); columns occupation, stereotyped_as, percent_women, employed_thousands.",
)
WINOGENDER = File(
    "winogender/occupations-stats.tsv",
    sha256="3f7f37c16381a70571356982ea7fe613ac700ad04a6d3b19b9f2be18248df567",
    size=1_578,
    url="https://raw.githubusercontent.com/rudinger/winogender-schemas/master/data/occupations-stats.tsv",
)
WIKITEXT = [
    File(f"wikitext-2/{name}.txt", sha256=sha256, size=size, how="WikiText-2, word level (Merity et al. 2016).")
    for name, size, sha256 in (
        ("valid", 1_121_681, "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
        ("test", 1_256_449, "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
    )
]
# Who a sentence speaks of, by its words, as the authors' script has them.
GENDERED = {"he": {"he", "man", "his", "boy", "son"}, "she": {"she", "woman", "her", "girl", "daughter"}}

TASKS = ("Big_Nose", "Young")
GROUP = "Male"
SEEDS = range(5)
RATIOS = (1.5, 1.75, 2.0, 2.25, 2.5)
RATIO_MODEL = "neural network"  # as the paper's scripts vary the ratio for one network, ResNet18


def attributes() -> pd.DataFrame:
    """Return CelebA's table: image_id, split and 40 attributes, 0 or 1, from either form in which it is passed on."""
    if at_hand(ATTRIBUTES) or not at_hand(LABELS):
        table = pd.read_parquet(original(ATTRIBUTES))
    else:
        table = read_released(original(LABELS), original(PARTITION))
    names = ["image_id", "split", GROUP, *TASKS, "Wearing_Lipstick"]
    sizes = require_columns(table, names, ATTRIBUTES.path)["split"].value_counts().to_dict()
    if sizes != SIZES or table.shape[1] != 42:
        raise DataError(f"CelebA must have 40 attributes and {SIZES} images, found {table.shape[1] - 2} and {sizes}")
    flags = table.columns.drop(["image_id", "split"])
    return table.astype({"split": str} | dict.fromkeys(flags, int))


def read_released(labels, partition) -> pd.DataFrame:
    """Read the two text files of the release: attributes as -1 and 1, the split as 0, 1 and 2."""
    table = (pd.read_csv(labels, sep=r"\s+", skiprows=1) == 1).astype(int)
    part = pd.read_csv(partition, sep=r"\s+", header=None, index_col=0)[1]
    if not table.index.sort_values().equals(part.index.sort_values()):
        raise DataError(f"{labels} and {partition} must name the same images")
    table.insert(0, "split", part.map(dict(enumerate(SIZES))).reindex(table.index))
    return table.rename_axis("image_id").reset_index()


@recipe("celeba_counts", files=[ATTRIBUTES])
def celeba_counts() -> pd.DataFrame:
    """Images by split, gender, the two tasks, and one attribute that gives gender away."""
    columns = ["split", GROUP, *TASKS, "Wearing_Lipstick"]
    counts = attributes()[columns].value_counts().rename("count").reset_index()
    return counts.rename(columns=str.lower).sort_values([name.lower() for name in columns], ignore_index=True)


@recipe("celeba_runs", files=[ATTRIBUTES], costly=True)
def celeba_runs() -> pd.DataFrame:
    """One row per training: its setting and seed, average precision, threshold, and test images by outcome and gender.

    About 8 minutes on one core: 3 classifiers x 2 tasks x 5 seeds, and 5 ratios x 2 ways x 2 tasks x 5 seeds.
    """
    from fairlib.training.tabular import BALANCES, MODELS, run, split

    table = attributes()
    settings = [(model, "as is", None) for model in MODELS]
    settings += [(RATIO_MODEL, balance, ratio) for balance in BALANCES for ratio in RATIOS]
    rows = []
    for task in TASKS:
        data = split(table, task=task, group=GROUP, leave_out=["image_id"])
        for model, balance, ratio in settings:
            options = {} if ratio is None else {"ratio": ratio, "balance": balance}
            for seed in SEEDS:
                setting = {"task": task.lower(), "model": model, "balance": balance, "ratio": ratio, "seed": seed}
                rows.append(setting | run(data, model=model, rng=seed, **options))
    found = pd.DataFrame(rows)
    names = {name: name.replace("0_", "women_").replace("1_", "men_") for name in found if name[:2] in ("0_", "1_")}
    return found.rename(columns=names).round(dict.fromkeys(found.filter(regex="precision|threshold"), 6))


@recipe("occupation_rates", files=[OCCUPATIONS, WINOGENDER])
def occupation_rates() -> pd.DataFrame:
    """Percent women in the 32 occupations: labor force of 2016 and (Winogender) 2015-16, and in web text."""
    columns = ["occupation", "stereotyped_as", "percent_women", "employed_thousands"]
    rates = require_columns(pd.read_csv(original(OCCUPATIONS)), columns, OCCUPATIONS.path)[columns]
    others = pd.read_csv(original(WINOGENDER), sep="\t")
    names = {"bls_pct_female": "percent_women_2015", "bergsma_pct_female": "percent_women_web"}
    others = require_columns(others, ["occupation", *names], WINOGENDER.path)[["occupation", *names]]
    return rates.merge(others.rename(columns=names), on="occupation", how="left")


@recipe("occupation_cooccurrence", files=[*WIKITEXT, OCCUPATIONS])
def occupation_cooccurrence() -> pd.DataFrame:
    """Sentences of WikiText-2 with an occupation, and with words for one gender besides."""
    text = "\n".join(original(file).read_text(encoding="utf-8") for file in WIKITEXT)
    occupations = pd.read_csv(original(OCCUPATIONS))["occupation"]
    return pd.concat([cooccurrence(text, occupations, matching=matching) for matching in MATCHING], ignore_index=True)


MATCHING = ("words", "as released")


def cooccurrence(text: str, occupations: Iterable[str], *, matching: str = "words") -> pd.DataFrame:
    """Count sentences that name one occupation, and those of them that have words of `GENDERED` for one gender only.

    matching : "words" compares whole words, plurals and capitals included; "as released" finds an occupation inside
        other words ("cook" in "cookie") and no gendered word with a capital, as the authors' script does.

    The row "(any)" counts all sentences, whether they name an occupation or not.
    """
    if matching not in MATCHING:
        raise ValueError(f"matching must be one of {', '.join(MATCHING)}, found {matching!r}")
    occupations = list(occupations)
    counts = Counter()
    pieces = re.split(r"[.\n]", "\n".join(line for line in text.splitlines() if "=" not in line))
    for sentence in filter(str.strip, pieces):
        if matching == "words":
            words = set(sentence.lower().split())
            named = [name for name in occupations if name in words or f"{name}s" in words]
        else:
            words = set(sentence.split(" "))
            named = [name for name in occupations if name in sentence]
        genders = [gender for gender, gendered in GENDERED.items() if words & gendered]
        for name in [*named, "(any)"] if len(named) == 1 else ["(any)"]:
            counts[name, "sentences"] += 1
            if len(genders) == 1:
                counts[name, genders[0]] += 1
    rows = [
        (matching, name, *(counts[name, what] for what in ("sentences", *GENDERED))) for name in [*occupations, "(any)"]
    ]
    return pd.DataFrame(rows, columns=["matching", "occupation", "sentences", *GENDERED])


@recipe("word_cooccurrence", files=[*WIKITEXT, OCCUPATIONS])
def word_cooccurrence() -> pd.DataFrame:
    """Paragraphs of WikiText-2 with two of the words that the paper's templates are made of."""
    from fairlib.blanks import count_together

    lines = "\n".join(original(file).read_text(encoding="utf-8") for file in WIKITEXT).splitlines()
    paragraphs = [line for line in lines if line.strip() and not line.strip().startswith("=")]
    return count_together(paragraphs, pd.read_csv(original(OCCUPATIONS))["occupation"].tolist())


@recipe("blanks_bert", files=[], costly=True)
def blanks_bert() -> pd.DataFrame:
    """Fill the templates with the paper's model, bert-base-uncased from the hub. Needs torch and transformers."""
    from fairlib.blanks import fill
    from fairlib.training.masked import load as masked_model

    filled = fill(masked_model("bert-base-uncased"), load("occupation_rates")["occupation"].tolist())
    return filled.round({"p_pronoun": 6, "p_occupation": 6})
