"""Tables of the third paper on COCO and imSitu: released gender shares, and labels counted by gender.

Counts and rates only: no image's labels leave the genuine files.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.amplification.measures import Counts
from fairlib.recipes.originals import File, original, recipe, require_columns

COCO_RATIOS = File(
    "coco/men_also_like_shopping_dev.csv",
    sha256="10291b1a183588337b126673d9dbb60f93a16c9f807adfab4f734fe646545766",
    how="Released with Zhao et al. 2017: columns object, training_ratio, "
    "gender_ratio_before_RBA and gender_ratio_after_RBA (the share of men with each of "
    "66 objects).",
)
IMSITU_RATIOS = File(
    "imsitu/men_also_like_shopping_dev.csv",
    sha256="2ec20493fe407241327281981ce02fbfa9c09a5b95383078084366f03099427c",
    how="Released with Zhao et al. 2017: as the COCO table, for 212 verbs of imSitu.",
)
LABELS = File(
    "coco/gender_objects_dev_test.parquet",
    sha256="193d5a0caadce061841b8530fad7d9d5ea5e8c4ca736a0e16b8724e16653b91d",
    how="The dev and test images of Zhao et al. 2017 "
    "(github.com/uclanlp/reducingbias): columns split, image_id, gender (man, woman), "
    "and one boolean column per COCO category.",
)
TRAINING = File(
    "coco/train_gender.csv",
    sha256="0371513a98fa82117b3a40bc93c2f342e53b0de74d619405e2565ed8000f3924",
    how="Gender of the training images: columns image_id, gender.",
)
GENDERS = ("man", "woman")
EVERY = "(every image)"  # in place of an object: all images of a gender
MOST_IMAGES = 25_000  # more than the training images: twelve digits leave one fraction with a denominator below it
LEVEL = 0.001  # a multiple is ruled out where the development images would be as few, or as many, so rarely


def _majorities(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turn shares of men into the share of the gender that holds most of the training
    images, and its changes.
    """
    before, after = table["gender_ratio_before_RBA"], table["gender_ratio_after_RBA"]
    men = table["training_ratio"]
    sign = np.where(men > 0.5, 1, -1)
    return pd.DataFrame(
        {
            name: table[name],
            "majority": np.where(
                men > 0.5, "man", np.where(men < 0.5, "woman", "neither")
            ),
            "training_share": np.where(men > 0.5, men, 1 - men),
            "change_before": np.where(men == 0.5, 0.0, sign * (before - men)),
            "change_after": np.where(men == 0.5, 0.0, sign * (after - men)),
        }
    )


@recipe(files=[COCO_RATIOS])
def coco_mals() -> pd.DataFrame:
    """Per object: who holds the majority in training, its share, and how much larger it is among the predictions.

    The changes are y_at Δ_at of eq. (1) on the dev set, before and after corpus-level constraints.
    """
    return _majorities(pd.read_csv(original(COCO_RATIOS)), "object")


@recipe(files=[IMSITU_RATIOS])
def imsitu_mals() -> pd.DataFrame:
    """As `coco_mals`, for 212 verbs of imSitu."""
    return _majorities(pd.read_csv(original(IMSITU_RATIOS)), "verb")


@recipe(files=[COCO_RATIOS, LABELS])
def coco_training() -> pd.DataFrame:
    """Training images of COCO with each object, and men among them, from the released shares.

    A share of twelve digits is one fraction of whole numbers, in lowest terms: men / images. The counts are a multiple
    of it. "person", on nearly every image, stands for their number; for the others the development images, drawn from
    the same pool, say which multiples can be: those from `lowest` to `highest`, `multiple` being the nearest.
    """
    shares = pd.read_csv(original(COCO_RATIOS), dtype=str).set_index("object")[
        "training_ratio"
    ]
    fractions = [Fraction(share).limit_denominator(MOST_IMAGES) for share in shares]
    men, images = (
        np.array([getattr(one, part) for one in fractions])
        for part in ("numerator", "denominator")
    )
    labels = image_labels().query("split == 'dev'").assign(person=True)
    seen, everything = (
        labels[shares.index].sum().to_numpy(),
        images[shares.index.get_loc("person")],
    )
    multiples = np.arange(1, MOST_IMAGES // images.min())[:, None]
    counts, share = multiples * images, everything / (everything + len(labels))
    tails = [
        stats.binom.cdf(counts, counts + seen, share),
        stats.binom.sf(counts - 1, counts + seen, share),
    ]
    possible = (2 * np.minimum(*tails) >= LEVEL) & (counts <= everything)
    nearest = np.abs(counts / everything - seen / len(labels)).argmin(axis=0)
    last = len(possible) - 1 - possible[::-1].argmax(axis=0)
    chosen = {
        "multiple": nearest + 1,
        "lowest": possible.argmax(axis=0) + 1,
        "highest": last + 1,
    }
    return pd.DataFrame(
        {
            "object": shares.index,
            "men": men,
            "images": images,
            **chosen,
            "development": seen,
        }
    )


def training_counts(mals: pd.DataFrame, objects: list[str], *, men: float) -> Counts:
    """Return rates from which the direction y_at follows: P(man | object) against P(man), both of the training data.

    mals : the table `coco_mals`. men : share of men among the training images, from the "train" row of `coco_objects`.
    How often an object occurs (`coco_training`) does not matter to the direction.
    """
    shares = mals["training_share"].where(
        mals["majority"] != "woman", 1 - mals["training_share"]
    )
    shares = shares.set_axis(mals["object"])[objects]
    joint = np.stack([shares, 1 - shares]) / 2
    return Counts(
        1.0, [men, 1 - men], np.full(len(objects), 0.5), joint, GENDERS, tuple(objects)
    )


def objects_but_person() -> list[str]:
    """The paper's objects but for "person", which every image here shows."""
    return [
        name
        for name in pd.read_csv(original(COCO_RATIOS))["object"]
        if name != "person"
    ]


def image_labels() -> pd.DataFrame:
    """Gender and objects of the dev and test images, one row per image."""
    columns = ["split", "image_id", "gender", *objects_but_person()]
    return require_columns(pd.read_parquet(original(LABELS)), columns, LABELS.path)


def training_genders() -> dict[str, int]:
    """Training images by gender."""
    found = pd.read_csv(original(TRAINING))["gender"].value_counts()
    return {gender: int(found[gender]) for gender in GENDERS}


@recipe(files=[LABELS, TRAINING, COCO_RATIOS])
def coco_objects() -> pd.DataFrame:
    """Labelled images by split, object and gender; the training split has only the row
    of every image.
    """
    labels = image_labels().assign(**{EVERY: True})
    names = [EVERY, *objects_but_person()]
    counts = labels.groupby(["split", "gender"])[names].sum()
    tidy = counts.rename_axis(columns="object").stack().unstack("gender").reset_index()
    tidy["object"] = pd.Categorical(tidy["object"], names)
    first = pd.DataFrame({"split": ["train"], "object": [EVERY], **training_genders()})
    tidy = tidy.sort_values(["split", "object"]).astype({"object": str})
    return pd.concat([first, tidy], ignore_index=True).rename_axis(columns=None)
