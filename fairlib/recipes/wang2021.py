"""Tables of the third paper on COCO and imSitu.

They hold released gender shares, and labels counted by gender: only counts and rates,
no image's labels leave the genuine files.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.amplification.cooccurrence import Counts
from fairlib.data import read_parquet
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

# More than the training images: twelve digits leave one fraction with a denominator
# below it.
_MOST_IMAGES = 25_000
# A multiple is ruled out where the development images would be as few, or as many, so
# rarely.
_LEVEL = 0.001


def _majorities(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Turn shares of men into shares of the gender that holds most training images.

    The changes of the share are those before and after corpus-level constraints (RBA).
    """
    men = table["training_ratio"]
    before = table["gender_ratio_before_RBA"]
    after = table["gender_ratio_after_RBA"]

    mostly_men = men > 0.5
    equal = men == 0.5
    sign = np.where(mostly_men, 1, -1)
    not_men = np.where(equal, "neither", "woman")
    return pd.DataFrame(
        {
            name: table[name],
            "majority": np.where(mostly_men, "man", not_men),
            "training_share": np.where(mostly_men, men, 1 - men),
            "change_before": np.where(equal, 0.0, sign * (before - men)),
            "change_after": np.where(equal, 0.0, sign * (after - men)),
        }
    )


@recipe(files=[COCO_RATIOS])
def coco_mals() -> pd.DataFrame:
    """The majority gender of each object, and how its share changes in predictions.

    The changes are y_at Δ_at of eq. (1) on the dev set, before and after corpus-level
    constraints.
    """
    return _majorities(pd.read_csv(original(COCO_RATIOS)), "object")


@recipe(files=[IMSITU_RATIOS])
def imsitu_mals() -> pd.DataFrame:
    """The majority gender of each verb of imSitu, as in `coco_mals`."""
    return _majorities(pd.read_csv(original(IMSITU_RATIOS)), "verb")


@recipe(files=[COCO_RATIOS, LABELS])
def coco_training() -> pd.DataFrame:
    """Training images of COCO with each object, and men among them.

    They follow from the released shares. A share of twelve digits is one fraction of
    whole numbers in lowest terms, men / images; the counts are a multiple of this
    fraction. "person", on nearly every image, gives the number of images. For the other
    objects the development images, drawn from the same pool, show which multiples are
    possible: those from `lowest` to `highest`, and `multiple` is the nearest of them.
    """
    ratios = pd.read_csv(original(COCO_RATIOS), dtype=str).set_index("object")
    shares = ratios["training_ratio"]
    fractions = [Fraction(share).limit_denominator(_MOST_IMAGES) for share in shares]
    men = np.array([fraction.numerator for fraction in fractions])
    images = np.array([fraction.denominator for fraction in fractions])
    all_images = images[shares.index.get_loc("person")]

    labels = image_labels().query("split == 'dev'").assign(person=True)
    development = labels[shares.index].sum().to_numpy()

    # An image that shows the object is a training image with the probability `share`.
    multiples = np.arange(1, _MOST_IMAGES // images.min())[:, None]
    counts = multiples * images
    share = all_images / (all_images + len(labels))
    fewer = stats.binom.cdf(counts, counts + development, share)
    more = stats.binom.sf(counts - 1, counts + development, share)
    possible = (2 * np.minimum(fewer, more) >= _LEVEL) & (counts <= all_images)

    distance = np.abs(counts / all_images - development / len(labels))
    last_possible = len(possible) - 1 - possible[::-1].argmax(axis=0)
    return pd.DataFrame(
        {
            "object": shares.index,
            "men": men,
            "images": images,
            "multiple": distance.argmin(axis=0) + 1,
            "lowest": possible.argmax(axis=0) + 1,
            "highest": last_possible + 1,
            "development": development,
        }
    )


def training_counts(mals: pd.DataFrame, objects: list[str], *, men: float) -> Counts:
    """Return rates from which the direction y_at of each object follows.

    The direction compares P(man | object) with P(man), both of the training data. How
    often an object occurs (`coco_training`) does not matter to the direction.

    Parameters
    ----------
    mals : pandas.DataFrame
        The table `coco_mals`.
    objects : list of str
        Names of the objects.
    men : float
        Share of men among the training images, from the "train" row of `coco_objects`.

    Returns
    -------
    Counts
        Rates by gender and object, as if each object were on half of the images.
    """
    of_majority = mals["training_share"]
    of_men = of_majority.where(mals["majority"] != "woman", 1 - of_majority)
    shares = of_men.set_axis(mals["object"])[objects]
    return Counts(
        1.0,
        [men, 1 - men],
        np.full(len(objects), 0.5),
        joint=np.stack([shares, 1 - shares]) / 2,
        attributes=GENDERS,
        tasks=tuple(objects),
    )


def objects_but_person() -> list[str]:
    """Return the paper's objects except "person", which every image here shows."""
    objects = pd.read_csv(original(COCO_RATIOS))["object"]
    return [name for name in objects if name != "person"]


def image_labels() -> pd.DataFrame:
    """Return gender and objects of the dev and test images, one row per image."""
    columns = ["split", "image_id", "gender", *objects_but_person()]
    return require_columns(read_parquet(original(LABELS)), columns, LABELS.path)


def training_genders() -> dict[str, int]:
    """Return the number of training images of each gender."""
    counts = pd.read_csv(original(TRAINING))["gender"].value_counts()
    return {gender: int(counts[gender]) for gender in GENDERS}


@recipe(files=[LABELS, TRAINING, COCO_RATIOS])
def coco_objects() -> pd.DataFrame:
    """Labelled images by split, object and gender.

    The training split has only the row of every image.
    """
    names = [EVERY, *objects_but_person()]
    labels = image_labels().assign(**{EVERY: True})
    counts = labels.groupby(["split", "gender"])[names].sum()
    by_gender = counts.rename_axis(columns="object").stack().unstack("gender")

    table = by_gender.reset_index()
    table["object"] = pd.Categorical(table["object"], names)
    table = table.sort_values(["split", "object"]).astype({"object": str})

    first = pd.DataFrame({"split": ["train"], "object": [EVERY], **training_genders()})
    return pd.concat([first, table], ignore_index=True).rename_axis(columns=None)
