"""What six captioning models say about 10,840 COCO images: who is in the picture, and which objects are there?

The word lists are the whole method, and stand here to be read. They are made for the captions of models trained on
COCO, which use some 800 words: lower case, no names. A caption's words are matched whole, in singular and plural.
Tables hold counts and figures computed from them only: no caption and no image's labels leave the genuine files.
"""

from __future__ import annotations

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
RESAMPLES, ROWS = 2000, 2000  # worlds, and images that are weighed at a time: both decide the draws

# Nouns and reflexives that say who is in the picture. Possessives (his, her) may speak of another person: left out.
GENDER_WORDS = {
    "man": (
        *("man", "men", "male", "males", "boy", "boys", "gentleman", "gentlemen"),
        *("guy", "guys", "groom", "cowboy", "himself"),
    ),
    "woman": ("woman", "women", "female", "females", "girl", "girls", "lady", "ladies", "bride", "herself"),
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
NOT_BEFORE = {"dog": ("hot ",), "bike": ("dirt ", "motor ")}  # a hot dog is no dog, a dirt bike no bicycle


def read_gender(captions: pd.Series) -> pd.DataFrame:
    """Return boolean columns man and woman: whether a caption names one, the other, both or neither."""
    return pd.DataFrame({gender: _names(captions, words) for gender, words in GENDER_WORDS.items()})


def read_objects(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return one boolean column per object (COCO's category, with underscores): whether a caption names it."""
    named = {name: OBJECT_WORDS.get(name, (name.replace("_", " "),)) for name in objects}
    return pd.DataFrame({name: _names(captions, words, ending="(?:e?s)?") for name, words in named.items()})


def _names(captions: pd.Series, words: tuple[str, ...], *, ending: str = "") -> pd.Series:
    if missing := int(captions.isna().sum()):
        raise ValueError(f"captions must be texts, found {missing} missing")
    before = "".join(f"(?<!{other})" for word in words for other in NOT_BEFORE.get(word, ()))
    return captions.str.contains(rf"{before}\b(?:{'|'.join(words)}){ending}\b", case=False, regex=True)


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
        named = read_objects(captions[model], objects).assign(**{EVERY: False})[there.columns]
        called = read_gender(captions[model])
        called["both"] = called["man"] & called["woman"]
        parts = {"there": there, "named": named, "named_there": named & there}
        parts |= {f"called_{who}": there.mul(called[who], axis=0) for who in (*GENDERS, "both")}
        counts = {part: flags.groupby(labels["gender"]).sum().stack() for part, flags in parts.items()}
        table = pd.DataFrame(counts).rename_axis(["gender", "object"]).reset_index()
        images = table["gender"].map(labels["gender"].value_counts())
        table.insert(0, "model", model)
        table.insert(3, "images", images)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_amplification() -> pd.DataFrame:
    """Bias amplification by model, object and measure, and its change from the Baseline, with standard errors.

    The standard errors need the images one by one: the standard deviation over a Poisson bootstrap of the images, the
    same images for all models. Directions y_at are those of the training data. Objects that the Baseline names in at
    least 25 captions; "(every image)" is their mean, the aggregate of eq. (2).

    measures: A->T; T->A among the captions that name exactly one gender; T->A blind, what a captioner would have that
    errs as often about men and about women, whatever the object; T->A excess, the difference of the last two.
    """
    captions, labels = _captioned()
    named = read_objects(captions["baseline_ft"], objects_but_person()).sum()
    objects = list(named.index[named >= NAMED_OFTEN])
    genders = training_genders()
    train = training_counts(coco_mals(), objects, men=genders["man"] / sum(genders.values()))
    lean = 2 * directions(train) - 1  # +1 where a gender goes with an object
    totals = _poisson_totals(_features(captions, labels, objects))
    by_model = [_measures(totals, model, lean) for model in MODELS]
    rows = []
    for measure in by_model[0]:
        values = np.stack([measures[measure] for measures in by_model], axis=1)  # resamples x models x objects
        values = np.concatenate([np.nanmean(values, axis=2, keepdims=True), values], axis=2)
        change = values - values[:, :1]
        columns = {
            "measure": measure,
            "model": np.repeat(MODELS, 1 + len(objects)),
            "object": [EVERY, *objects] * len(MODELS),
            "value": values[0].ravel(),
            "standard_error": np.nanstd(values[1:], axis=0).ravel(),
            "change": change[0].ravel(),
            "change_error": np.nanstd(change[1:], axis=0).ravel(),
        }
        rows.append(pd.DataFrame(columns))
    return pd.concat(rows, ignore_index=True)


def _captioned() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the captions and, in the same order, the labels of the same images."""
    captions = require_columns(pd.read_parquet(original(CAPTIONS)), ["image_id", *MODELS], CAPTIONS.path)
    labels = image_labels().set_index("image_id").loc[captions["image_id"]].reset_index()
    return captions.reset_index(drop=True), labels


def _features(captions: pd.DataFrame, labels: pd.DataFrame, objects: list[str]) -> dict[tuple, np.ndarray]:
    """Return what `_measures` needs the sums of, each images x columns: labels and what a model says, by gender."""
    there = labels[objects].to_numpy(dtype=bool)
    features = {}
    for gender in GENDERS:
        of_gender = (labels["gender"] == gender).to_numpy()[:, None]
        features |= {("images", gender): of_gender, ("there", gender): there & of_gender}
        for model in MODELS:
            called = read_gender(captions[model])
            one = (called["man"] ^ called["woman"]).to_numpy()[:, None] & of_gender
            wrong = one & ~called[[gender]].to_numpy()
            features[model, "named", gender] = read_objects(captions[model], objects).to_numpy() & of_gender
            features |= {(model, "one", gender): one, (model, "one there", gender): one & there}
            features |= {(model, "wrong", gender): wrong, (model, "wrong there", gender): wrong & there}
    return features


def _poisson_totals(features: dict[tuple, np.ndarray]) -> dict[tuple, np.ndarray]:
    """Return (1 + RESAMPLES) x columns for each feature: its sums, then those with each image counted Poisson(1) times.

    The bootstrap of images without drawing images: one matrix product of weights and features per block of rows.
    """
    rng, totals, images = np.random.default_rng(2021), 0.0, np.hstack([*features.values()])
    for start in range(0, len(images), ROWS):
        part = images[start : start + ROWS].astype(float)
        weights = rng.poisson(1.0, size=(RESAMPLES, len(part))).astype(float)
        totals = totals + np.vstack([part.sum(axis=0), weights @ part])
    ends = np.cumsum([feature.shape[1] for feature in features.values()])[:-1]
    return dict(zip(features, np.split(totals, ends, axis=1), strict=True))


def _measures(totals: dict[tuple, np.ndarray], model: str, lean: np.ndarray) -> dict[str, np.ndarray]:
    """Return each measure of a model's captions, resamples x objects."""
    man, woman = GENDERS
    change = {g: (totals[model, "named", g] - totals["there", g]) / totals["images", g] for g in GENDERS}
    one, wrong = ({g: totals[model, f"{what} there", g] for g in GENDERS} for what in ("one", "wrong"))
    rate = {g: totals[model, "wrong", g] / totals[model, "one", g] for g in GENDERS}
    together = one[man] + one[woman]
    together = np.where(together > 0, together, np.nan)
    # Women called men, less men called women, per image with the object: men are over-predicted by that much, and women
    # under-predicted by the same.
    lean_to_men = (lean[0] - lean[1]) / 2
    found = lean_to_men * (wrong[woman] - wrong[man]) / together
    blind = lean_to_men * (one[woman] * rate[woman] - one[man] * rate[man]) / together
    a_to_t = (lean[0] * change[man] + lean[1] * change[woman]) / 2
    return {"A->T": a_to_t, "T->A": found, "T->A blind": blind, "T->A excess": found - blind}
