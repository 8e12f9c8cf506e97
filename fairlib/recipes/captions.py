"""What six captioning models say about 10,840 COCO images.

Who is in the picture, and which objects are there? The word lists are the whole method,
and can be read here. They are made for the captions of models trained on COCO, which
use some 800 words, in lower case and without names. A caption's words are matched
whole, in singular and plural. Tables hold only counts and figures computed from counts:
no caption and no image's labels leave the genuine files.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairlib.amplification.measures import directions
from fairlib.data import read_parquet
from fairlib.recipes.originals import File, original, recipe, require_columns
from fairlib.recipes.wang2021 import (
    COCO_RATIOS,
    EVERY,
    GENDERS,
    LABELS,
    TRAINING,
    coco_mals,
    image_labels,
    objects_but_person,
    training_counts,
    training_genders,
)

CAPTIONS = File(
    "coco/captions_eccv2018.parquet",
    sha256="2c077400068be64f391a3d869843910e964b95e63dfe5a16e3d22a8b702ae647",
    how="The captions of Hendricks et al. 2018, released again in "
    "github.com/princetonvisualai/directional-bias-amp "
    "(coco_captioning/final_captions_eccv2018/*.json): columns image_id, baseline_ft, "
    "balanced, upweight, confusion, confident, equalizer.",
)
MODELS = ("baseline_ft", "balanced", "upweight", "confusion", "confident", "equalizer")
# An object that the Baseline names in fewer captions is hardly a task of these models.
_NAMED_OFTEN = 25
_A_LITTLE = 1e-4  # by which an image's weight is changed to see its influence

_MEASURES = ("A->T", "A->T blind", "A->T excess", "T->A", "T->A blind", "T->A excess")

# Other shares of men among the training images than that of the public file: the lowest
# and the highest that fit what the paper prints about ovens.
_OVEN_SHARES = {"oven, lowest": 0.699, "oven, highest": 0.7045}

# Nouns and reflexives that say who is in the picture. Possessives (his, her) are left
# out, since they may speak of another person.
GENDER_WORDS = {
    "man": (
        "man",
        "men",
        "male",
        "males",
        "boy",
        "boys",
        "gentleman",
        "gentlemen",
        "guy",
        "guys",
        "groom",
        "cowboy",
        "himself",
    ),
    "woman": (
        "woman",
        "women",
        "female",
        "females",
        "girl",
        "girls",
        "lady",
        "ladies",
        "bride",
        "herself",
    ),
}

# How captions name COCO's categories, where they use other words than the category's
# own name and its plural.
OBJECT_WORDS = {
    "airplane": ("airplane", "plane", "jet", "jetliner", "biplane"),
    "baseball_bat": ("bat", "baseball bat"),
    "baseball_glove": ("baseball glove", "glove", "mitt"),
    "bicycle": ("bicycle", "bike"),
    "boat": ("boat", "sailboat", "ship"),
    "cell_phone": ("cell phone", "cellphone", "phone", "smartphone"),
    "couch": ("couch", "sofa"),
    "cow": ("cow", "cattle"),
    "cup": ("cup", "mug"),
    "dining_table": ("table",),
    "donut": ("donut", "doughnut"),
    "fire_hydrant": ("hydrant",),
    "handbag": ("handbag", "purse"),
    "knife": ("knife", "knives"),
    "laptop": ("laptop",),
    "motorcycle": ("motorcycle", "motor bike", "dirt bike"),
    "oven": ("oven", "stove"),
    "potted_plant": ("plant",),
    "refrigerator": ("refrigerator", "fridge", "freezer"),
    "remote": ("remote", "controller"),  # COCO labels game controllers as remotes
    "skateboard": ("skateboard", "skate board"),
    "skis": ("skis",),  # "ski" is mostly a slope or a lift
    "sports_ball": ("ball", "basketball"),
    "suitcase": ("suitcase", "luggage", "baggage"),
    "surfboard": ("surfboard", "surf board"),
    "teddy_bear": ("teddy bear", "stuffed animal", "stuffed bear"),
    "tennis_racket": ("racket", "racquet"),
    "tie": ("tie", "necktie"),
    "toothbrush": ("toothbrush", "tooth brush"),
    "traffic_light": ("traffic light", "stop light"),
    "tv": ("tv", "television"),
    "umbrella": ("umbrella", "parasol"),
    "wine_glass": ("wine glass", "glass of wine", "glasses of wine"),
}
# The words by which the released script reads a gender, whole.
RELEASED_GENDER_WORDS = {
    "man": ("man", "boy", "gentleman", "male", "men"),
    "woman": ("woman", "girl", "lady", "female", "women"),
}
# The released script looks for an object's name in the caption without spaces; a carrot
# is no car, and a hot dog no dog.
_RELEASED_PATTERNS = {"car": "car(?!rot)", "dog": "(?<!hot)dog"}

# A hot dog is no dog, and a dirt bike is no bicycle.
_NOT_BEFORE = {
    "dog": ("hot ",),
    "bike": ("dirt ", "motor "),
}


def read_gender(captions: pd.Series) -> pd.DataFrame:
    """Return whether a caption names a man, a woman, both or neither.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.

    Returns
    -------
    pandas.DataFrame of bool
        Columns man and woman.
    """
    return pd.DataFrame(
        {gender: _names(captions, words) for gender, words in GENDER_WORDS.items()}
    )


def read_objects(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return whether a caption names an object.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.
    objects : list of str
        COCO's categories, with underscores.

    Returns
    -------
    pandas.DataFrame of bool
        One column per object.
    """
    columns = {}
    for name in objects:
        words = OBJECT_WORDS.get(name, (name.replace("_", " "),))
        columns[name] = _names(captions, words, ending="(?:e?s)?")
    return pd.DataFrame(columns)


def read_gender_as_released(captions: pd.Series) -> pd.DataFrame:
    """Return whether a caption names a gender, by the rule of the released script.

    The rule is that of `coco_captioning/caption_parser.py` of Wang and Russakovsky
    (2021): five whole words a gender, in lower case, without punctuation.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.

    Returns
    -------
    pandas.DataFrame of bool
        Columns man and woman.
    """
    words = _without_punctuation(captions).str.split()
    return pd.DataFrame(
        {
            gender: words.map(
                lambda named, listed=frozenset(listed): bool(listed & {*named})
            )
            for gender, listed in RELEASED_GENDER_WORDS.items()
        }
    )


def read_objects_as_released(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return whether a caption names an object, by the rule of the released script.

    An object counts wherever its name stands in the caption when all spaces are left
    out: "cat" in "located", and "tie" in "neckties".

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.
    objects : list of str
        COCO's categories, with underscores.

    Returns
    -------
    pandas.DataFrame of bool
        One column per object.
    """
    texts = _without_punctuation(captions).str.replace(" ", "")
    columns = {}
    for name in objects:
        written = name.replace("_", "")
        columns[name] = texts.str.contains(_RELEASED_PATTERNS.get(written, written))
    return pd.DataFrame(columns)


def _without_punctuation(captions: pd.Series) -> pd.Series:
    """Return captions in lower case, without punctuation."""
    return captions.str.lower().str.translate(str.maketrans("", "", string.punctuation))


@dataclass(frozen=True)
class _Reader:
    """How captions are read."""

    gender: Callable[[pd.Series], pd.DataFrame]
    objects: Callable[[pd.Series, list[str]], pd.DataFrame]


_OURS = _Reader(read_gender, read_objects)
_RELEASED = _Reader(read_gender_as_released, read_objects_as_released)


def _names(
    captions: pd.Series, words: tuple[str, ...], *, ending: str = ""
) -> pd.Series:
    """Return whether captions have one of these words, whole."""
    missing = int(captions.isna().sum())
    if missing:
        raise ValueError(f"captions must be texts, found {missing} missing")

    preceding = [before for word in words for before in _NOT_BEFORE.get(word, ())]
    not_after = "".join(f"(?<!{before})" for before in preceding)
    pattern = rf"{not_after}\b(?:{'|'.join(words)}){ending}\b"
    return captions.str.contains(pattern, case=False, regex=True)


@recipe(files=[CAPTIONS, LABELS, COCO_RATIOS])
def coco_captions() -> pd.DataFrame:
    """Images by captioning model, object and gender, as labelled and as captioned.

    Returns
    -------
    pandas.DataFrame
        One row per model, gender and object. "(every image)" stands for any object.

        - `images`, `there`: images of this gender, and those with the object in their
          labels.
        - `named`, `named_there`: the caption names the object, and the object is there.
        - `called_man`, `called_woman`, `called_both`: whom the caption names, among the
          images with the object. An image whose caption names both counts in the first
          two columns as well.
    """
    captions, labels = _captioned()
    objects = objects_but_person()
    there = labels[objects].assign(**{EVERY: True})[[EVERY, *objects]]

    tables = []
    for model in MODELS:
        named = read_objects(captions[model], objects).assign(**{EVERY: False})
        named = named[there.columns]
        called = read_gender(captions[model])
        called["both"] = called["man"] & called["woman"]

        parts = {"there": there, "named": named, "named_there": named & there}
        for who in (*GENDERS, "both"):
            parts[f"called_{who}"] = there.mul(called[who], axis=0)
        counts = {
            part: flags.groupby(labels["gender"]).sum().stack()
            for part, flags in parts.items()
        }

        table = pd.DataFrame(counts).rename_axis(["gender", "object"]).reset_index()
        images = table["gender"].map(labels["gender"].value_counts())
        table.insert(0, "model", model)
        table.insert(3, "images", images)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_amplification() -> pd.DataFrame:
    """Bias amplification by model, object and measure, with standard errors.

    The table has each value and its change from the Baseline, for objects that the
    Baseline names in at least 25 captions. "(every image)" is the mean over these
    objects, the aggregate of eq. (2). Directions y_at are those of the training data:
    the released share of men with an object against the share of men among all training
    images.

    Notes
    -----
    *Measures.* A->T; T->A among the captions that name exactly one gender. "blind" is
    the value of a captioner that has the same error rates, but whose errors in one
    thing do not depend on the other: for A->T blind, an object is named as often where
    it is there, and as often where it is not there, for men as for women; for T->A
    blind, men are called women as often as by this model, and women men, each at their
    own rate, whatever the object. "excess" is the value minus "blind".

    *Standard errors* need the images one by one. They are those of the infinitesimal
    jackknife (Jaeckel 1972), the root of the sum of the squared influences of the
    images. No random numbers are drawn, and all models are read on the same images.
    """
    return _amplification(_OURS, MODELS)


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_amplification_as_released() -> pd.DataFrame:
    """Bias amplification of two models' captions, read as the released script does.

    The columns are those of `coco_caption_amplification`.
    """
    return _amplification(_RELEASED, ("baseline_ft", "equalizer"))


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_shares() -> pd.DataFrame:
    """Mean bias amplification by model and measure, for four shares of men in training.

    The share of men among the training images decides which objects go with men. The
    paper does not print it. "public file" is the share that the rows of
    `coco_caption_amplification` use, the two shares named "oven" are the ends of what
    fits the paper's numbers about ovens, and "released shares" is that of the images
    with a person in the release of Zhao et al. (2017).

    Notes
    -----
    The measures are those of `coco_caption_amplification`, as means over its objects,
    and four more: "wrong gender" is the share of wrong genders among the captions that
    name one gender, and "T->A excess per error" is the excess divided by this share.
    "T->A, all objects" and "T->A excess, all objects" are means over all objects, also
    those that captions hardly name. Standard errors are computed in the same way.
    """
    captions, labels = _captioned()
    objects = _objects_named_often(captions, _OURS)
    all_objects = objects_but_person()
    released = coco_mals().set_index("object")["training_share"]
    shares = {"public file": _share_of_men(), **_OVEN_SHARES}
    shares["released shares"] = released["person"]

    tables = []
    baseline: dict[tuple[str, str], np.ndarray] = {}
    for model in MODELS:
        features = _features(captions[model], labels, objects, reader=_OURS)
        features_of_all = _features(captions[model], labels, all_objects, reader=_OURS)
        totals = _totals(features)
        totals_of_all = _totals(features_of_all)
        for source, share in shares.items():
            means = _means(totals, _lean(objects, men=share))
            means_of_all = _means(totals_of_all, _lean(all_objects, men=share))
            for measure in ("T->A", "T->A excess"):
                means[f"{measure}, all objects"] = means_of_all[measure]
            for measure, values in means.items():
                change = values - baseline.setdefault((source, measure), values)
                row = {
                    "source": source,
                    "share_of_men": share,
                    "measure": measure,
                    "model": model,
                    **_with_errors(values, change),
                }
                tables.append(pd.DataFrame(row))

    return pd.concat(tables).sort_values(
        "source",
        key=lambda names: names.map(list(shares).index),
        kind="stable",
        ignore_index=True,
    )


def _objects_named_often(captions: pd.DataFrame, reader: _Reader) -> list[str]:
    named = reader.objects(captions["baseline_ft"], objects_but_person()).sum()
    return list(named.index[named >= _NAMED_OFTEN])


def _share_of_men() -> float:
    """Return the share of men among the training images of the public file."""
    genders = training_genders()
    return genders["man"] / sum(genders.values())


def _lean(objects: list[str], *, men: float) -> np.ndarray:
    """Return +1 where a gender goes with an object in training, and -1 elsewhere."""
    return 2 * directions(training_counts(coco_mals(), objects, men=men)) - 1


def _means(
    totals: dict[tuple[str, str], np.ndarray], lean: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the measures of `coco_caption_shares`, each a column of totals."""
    means = {
        measure: np.nanmean(by_object, axis=1, keepdims=True)
        for measure, by_object in _measures(totals, lean).items()
    }
    wrong = sum(_by_gender(totals, "wrong").values())
    means["wrong gender"] = wrong / sum(_by_gender(totals, "one").values())
    means["T->A excess per error"] = means["T->A excess"] / means["wrong gender"]
    return means


def _amplification(reader: _Reader, models: tuple[str, ...]) -> pd.DataFrame:
    """Return the measures of these models, and how they change from the first."""
    captions, labels = _captioned()
    objects = _objects_named_often(captions, reader)
    lean = _lean(objects, men=_share_of_men())

    tables = []
    baseline: dict[str, np.ndarray] = {}
    for model in models:
        features = _features(captions[model], labels, objects, reader=reader)
        totals = _totals(features)
        for measure, by_object in _measures(totals, lean).items():
            mean = np.nanmean(by_object, axis=1, keepdims=True)
            values = np.concatenate([mean, by_object], axis=1)
            change = values - baseline.setdefault(measure, values)
            columns = {
                "measure": measure,
                "model": model,
                "object": [EVERY, *objects],
                **_with_errors(values, change),
            }
            tables.append(pd.DataFrame(columns))

    return pd.concat(tables).sort_values(
        "measure",
        key=lambda names: names.map(_MEASURES.index),
        kind="stable",
        ignore_index=True,
    )


def _captioned() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the captions and, in the same order, the labels of the same images."""
    captions = require_columns(
        read_parquet(original(CAPTIONS)), ["image_id", *MODELS], CAPTIONS.path
    )
    by_image = image_labels().set_index("image_id")
    labels = by_image.loc[captions["image_id"]].reset_index()
    return captions.reset_index(drop=True), labels


def _features(
    captions: pd.Series, labels: pd.DataFrame, objects: list[str], *, reader: _Reader
) -> dict[tuple[str, str], np.ndarray]:
    """Return what `_measures` needs the sums of, each images x columns, by gender."""
    there = labels[objects].to_numpy(dtype=bool)
    named = reader.objects(captions, objects).to_numpy()
    called = reader.gender(captions)
    called_one_gender = (called["man"] ^ called["woman"]).to_numpy()[:, None]

    features = {}
    for gender in GENDERS:
        of_gender = (labels["gender"] == gender).to_numpy()[:, None]
        called_one = called_one_gender & of_gender
        called_wrong = called_one & ~called[[gender]].to_numpy()

        features["images", gender] = of_gender
        features["there", gender] = there & of_gender
        features["named", gender] = named & of_gender
        features["named there", gender] = named & there & of_gender
        features["one", gender] = called_one
        features["one there", gender] = called_one & there
        features["wrong", gender] = called_wrong
        features["wrong there", gender] = called_wrong & there
    return features


def _totals(
    features: dict[tuple[str, str], np.ndarray],
) -> dict[tuple[str, str], np.ndarray]:
    """Return (1 + images) x columns for each feature, for the jackknife.

    The first row are the sums. In each further row one image weighs a little more.
    """
    totals = {}
    for name, flags in features.items():
        unchanged = np.zeros((1, flags.shape[1]))
        totals[name] = flags.sum(axis=0) + _A_LITTLE * np.vstack([unchanged, flags])
    return totals


def _with_errors(values: np.ndarray, change: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of a value and of its change, each with a standard error."""
    return {
        "value": values[0],
        "standard_error": _standard_error(values),
        "change": change[0],
        "change_error": _standard_error(change),
    }


def _standard_error(values: np.ndarray) -> np.ndarray:
    """Return the infinitesimal jackknife's standard error by column, see `_totals`."""
    influences = (values[1:] - values[0]) / _A_LITTLE
    return np.sqrt((influences**2).sum(axis=0))


def _measures(
    totals: dict[tuple[str, str], np.ndarray], lean: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the values of `_MEASURES`, each rows of totals x objects."""
    a_to_t, a_to_t_blind = _attribute_to_task(totals, lean)
    t_to_a, t_to_a_blind = _task_to_attribute(totals, lean)
    return {
        "A->T": a_to_t,
        "A->T blind": a_to_t_blind,
        "A->T excess": a_to_t - a_to_t_blind,
        "T->A": t_to_a,
        "T->A blind": t_to_a_blind,
        "T->A excess": t_to_a - t_to_a_blind,
    }


def _by_gender(
    totals: dict[tuple[str, str], np.ndarray], feature: str
) -> dict[str, np.ndarray]:
    return {gender: totals[feature, gender] for gender in GENDERS}


def _balance(change: dict[str, np.ndarray], lean: np.ndarray) -> np.ndarray:
    """Return the mean change over the genders, positive where the association grows."""
    man, woman = GENDERS
    return (lean[0] * change[man] + lean[1] * change[woman]) / 2


def _attribute_to_task(
    totals: dict[tuple[str, str], np.ndarray], lean: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return A->T, and A->T of a captioner whose errors do not depend on the gender."""
    images = _by_gender(totals, "images")
    there = _by_gender(totals, "there")
    named = _by_gender(totals, "named")
    right = _by_gender(totals, "named there")
    share = {gender: there[gender] / images[gender] for gender in GENDERS}

    # How often an object is named where it is there, and where it is not.
    sum_there = sum(there.values())
    sum_right = sum(right.values())
    rate_there = sum_right / sum_there
    rate_absent = (sum(named.values()) - sum_right) / (sum(images.values()) - sum_there)

    change = {}
    change_blind = {}
    for gender in GENDERS:
        change[gender] = named[gender] / images[gender] - share[gender]
        blind = rate_there * share[gender] + rate_absent * (1 - share[gender])
        change_blind[gender] = blind - share[gender]
    return _balance(change, lean), _balance(change_blind, lean)


def _task_to_attribute(
    totals: dict[tuple[str, str], np.ndarray], lean: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return T->A, and T->A of a captioner whose errors do not depend on the object."""
    man, woman = GENDERS
    called_one = _by_gender(totals, "one there")
    wrong = _by_gender(totals, "wrong there")

    # Each gender is called wrong at its own rate, whatever the object.
    wrong_blind = {}
    for gender in GENDERS:
        rate = totals["wrong", gender] / totals["one", gender]
        wrong_blind[gender] = called_one[gender] * rate

    together = called_one[man] + called_one[woman]
    together = np.where(together > 0, together, np.nan)

    def called_men(wrong: dict[str, np.ndarray]) -> np.ndarray:
        """Return women called men minus men called women, per image with the object."""
        # Women lose what men gain.
        gain = (wrong[woman] - wrong[man]) / together
        return _balance({man: gain, woman: -gain}, lean)

    return called_men(wrong), called_men(wrong_blind)
