"""What six captioning models say about 10,840 COCO images: who is in the picture, and which objects are there?

The word lists are the whole method, and stand here to be read. They are made for the captions of models trained on
COCO, which use some 800 words: lower case, no names. A caption's words are matched whole, in singular and plural.
Tables hold counts and figures computed from them only: no caption and no image's labels leave the genuine files, but
for the eight captions that notebook 07c quotes.
"""

import numpy as np
import pandas as pd

from fairlib.amplification.measures import directions
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
    how="The captions of Hendricks et al. 2018, released again in github.com/princetonvisualai/directional-bias-amp "
    "(coco_captioning/final_captions_eccv2018/*.json): columns image_id, baseline_ft, balanced, upweight, confusion, "
    "confident, equalizer.",
)
MODELS = ("baseline_ft", "balanced", "upweight", "confusion", "confident", "equalizer")
NAMED_OFTEN = 25  # an object that the Baseline names in fewer captions is hardly a task of these models
A_LITTLE = 1e-4  # by which an image's weight is changed to see its influence

MEASURES = ("A->T", "A->T blind", "A->T excess", "T->A", "T->A blind", "T->A excess")

# Nouns and reflexives that say who is in the picture. Possessives (his, her) may speak of another person: left out.
GENDER_WORDS = {
    "man": (
        *("man", "men", "male", "males", "boy", "boys", "gentleman", "gentlemen"),
        *("guy", "guys", "groom", "cowboy", "himself"),
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

# COCO's category: how captions name it, where the category's own name (and its plural) is not all.
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
NOT_BEFORE = {
    "dog": ("hot ",),
    "bike": ("dirt ", "motor "),
}  # a hot dog is no dog, a dirt bike no bicycle


def read_gender(captions: pd.Series) -> pd.DataFrame:
    """Return boolean columns man and woman: whether a caption names one, the other, both or neither."""
    return pd.DataFrame(
        {gender: _names(captions, words) for gender, words in GENDER_WORDS.items()}
    )


def read_objects(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return one boolean column per object (COCO's category, with underscores): whether a caption names it."""
    named = {
        name: OBJECT_WORDS.get(name, (name.replace("_", " "),)) for name in objects
    }
    return pd.DataFrame(
        {
            name: _names(captions, words, ending="(?:e?s)?")
            for name, words in named.items()
        }
    )


def _names(
    captions: pd.Series, words: tuple[str, ...], *, ending: str = ""
) -> pd.Series:
    if missing := int(captions.isna().sum()):
        raise ValueError(f"captions must be texts, found {missing} missing")
    before = "".join(
        f"(?<!{other})" for word in words for other in NOT_BEFORE.get(word, ())
    )
    return captions.str.contains(
        rf"{before}\b(?:{'|'.join(words)}){ending}\b", case=False, regex=True
    )


@recipe(files=[CAPTIONS, LABELS, COCO_RATIOS])
def coco_captions() -> pd.DataFrame:
    """Images by captioning model, object and gender: labelled, and named in the caption.

    images, there : of this gender; and with the object in its labels.
    named, named_there : the caption names the object; and it is there.
    called_man, called_woman, called_both : among the images with the object, who the caption names (both counts in the
        first two as well). In the rows of "(every image)", among all images of the gender.
    """
    captions, labels = _captioned()
    objects = objects_but_person()
    there = labels[objects].assign(**{EVERY: True})[[EVERY, *objects]]
    tables = []
    for model in MODELS:
        named = read_objects(captions[model], objects).assign(**{EVERY: False})[
            there.columns
        ]
        called = read_gender(captions[model])
        called["both"] = called["man"] & called["woman"]
        parts = {"there": there, "named": named, "named_there": named & there}
        parts |= {
            f"called_{who}": there.mul(called[who], axis=0)
            for who in (*GENDERS, "both")
        }
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
    """Bias amplification by model, object and measure, and its change from the Baseline, with standard errors.

    The standard errors need the images one by one: the infinitesimal jackknife (Jaeckel 1972), the root of the sum of
    the squared influences of the images. No random numbers are drawn, and all models are read on the same images.
    Directions y_at are those of the training data: the released share of men with an object against the share of men
    among all training images. Objects that the Baseline names in at least 25 captions; "(every image)" is their mean,
    the aggregate of eq. (2).

    measures: A->T; T->A among the captions that name exactly one gender. "blind" is what a captioner of the same error
    rates would have whose errors in one thing do not depend on the other. A->T blind: an object is named as often where
    it is there, and as often where it is not, for men as for women. T->A blind: men are called women as often as by
    this model, and women men, each at their own rate, whatever the object. "excess" is the rest.
    """
    captions, labels = _captioned()
    named = read_objects(captions["baseline_ft"], objects_but_person()).sum()
    objects = list(named.index[named >= NAMED_OFTEN])
    genders = training_genders()
    train = training_counts(
        coco_mals(), objects, men=genders["man"] / sum(genders.values())
    )
    lean = 2 * directions(train) - 1  # +1 where a gender goes with an object
    rows, baseline = [], {}
    for model in MODELS:
        for measure, values in _measures(
            _totals(_features(captions[model], labels, objects)), lean
        ).items():
            values = np.concatenate(
                [np.nanmean(values, axis=1, keepdims=True), values], axis=1
            )
            change = values - baseline.setdefault(measure, values)
            columns = {"measure": measure, "model": model, "object": [EVERY, *objects]}
            columns |= {"value": values[0], "standard_error": _standard_error(values)}
            columns |= {"change": change[0], "change_error": _standard_error(change)}
            rows.append(pd.DataFrame(columns))
    found = pd.concat(rows).sort_values(
        "measure", key=lambda names: names.map(MEASURES.index), kind="stable"
    )
    return found.reset_index(drop=True)


def _captioned() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the captions and, in the same order, the labels of the same images."""
    captions = require_columns(
        pd.read_parquet(original(CAPTIONS)), ["image_id", *MODELS], CAPTIONS.path
    )
    labels = (
        image_labels().set_index("image_id").loc[captions["image_id"]].reset_index()
    )
    return captions.reset_index(drop=True), labels


def _features(
    captions: pd.Series, labels: pd.DataFrame, objects: list[str]
) -> dict[tuple, np.ndarray]:
    """Return what `_measures` needs the sums of, each images x columns: labels and what the captions say, by gender."""
    there, named = (
        labels[objects].to_numpy(dtype=bool),
        read_objects(captions, objects).to_numpy(),
    )
    called = read_gender(captions)
    features = {}
    for gender in GENDERS:
        of_gender = (labels["gender"] == gender).to_numpy()[:, None]
        one = (called["man"] ^ called["woman"]).to_numpy()[:, None] & of_gender
        wrong = one & ~called[[gender]].to_numpy()
        features |= {
            ("images", gender): of_gender,
            ("there", gender): there & of_gender,
        }
        features |= {
            ("named", gender): named & of_gender,
            ("named there", gender): named & there & of_gender,
        }
        features |= {("one", gender): one, ("one there", gender): one & there}
        features |= {("wrong", gender): wrong, ("wrong there", gender): wrong & there}
    return features


def _totals(features: dict[tuple, np.ndarray]) -> dict[tuple, np.ndarray]:
    """Return (1 + images) x columns for each feature: its sums, then those with one image weighing a little more."""
    none = {name: np.zeros((1, flags.shape[1])) for name, flags in features.items()}
    return {
        name: flags.sum(axis=0) + A_LITTLE * np.vstack([none[name], flags])
        for name, flags in features.items()
    }


def _standard_error(values: np.ndarray) -> np.ndarray:
    """Return the infinitesimal jackknife's standard error of values made from `_totals`, by column."""
    return np.sqrt((((values[1:] - values[0]) / A_LITTLE) ** 2).sum(axis=0))


def _measures(
    totals: dict[tuple, np.ndarray], lean: np.ndarray
) -> dict[str, np.ndarray]:
    """Return each of `MEASURES`, rows of totals x objects."""
    images, there, named, right = (
        {g: totals[what, g] for g in GENDERS}
        for what in ("images", "there", "named", "named there")
    )
    share = {g: there[g] / images[g] for g in GENDERS}
    seen = sum(right.values()) / sum(
        there.values()
    )  # how often an object is named where it is there
    made_up = (sum(named.values()) - sum(right.values())) / (
        sum(images.values()) - sum(there.values())
    )
    man, woman = GENDERS

    def balance(change):
        """Return the mean over the genders of a change, counted positive where it goes with the association."""
        return (lean[0] * change[man] + lean[1] * change[woman]) / 2

    a_to_t = balance({g: named[g] / images[g] - share[g] for g in GENDERS})
    a_to_t_blind = balance(
        {g: seen * share[g] + made_up * (1 - share[g]) - share[g] for g in GENDERS}
    )
    one, wrong = (
        {g: totals[f"{what} there", g] for g in GENDERS} for what in ("one", "wrong")
    )
    rate = {g: totals["wrong", g] / totals["one", g] for g in GENDERS}
    together = one[man] + one[woman]
    together = np.where(together > 0, together, np.nan)

    def called_men(wrong):
        """Return women called men less men called women, per image with the object: women lose what men gain."""
        gain = (wrong[woman] - wrong[man]) / together
        return balance({man: gain, woman: -gain})

    t_to_a, t_to_a_blind = (
        called_men(wrong),
        called_men({g: one[g] * rate[g] for g in GENDERS}),
    )
    found = (
        a_to_t,
        a_to_t_blind,
        a_to_t - a_to_t_blind,
        t_to_a,
        t_to_a_blind,
        t_to_a - t_to_a_blind,
    )
    return dict(zip(MEASURES, found, strict=True))
