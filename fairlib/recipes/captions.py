"""What six captioning models say about 10,840 COCO images.

Who is in the picture, and which objects are there? `caption_words` reads the captions.
Tables hold only counts and figures computed from counts: no caption and no image's
labels leave the genuine files.
"""

import numpy as np
import pandas as pd

from fairlib.amplification.measures import directions
from fairlib.data import read_parquet
from fairlib.recipes.caption_words import (
    OURS,
    RELEASED,
    Reader,
    read_gender,
    read_objects,
)
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
_PAIR = ("baseline_ft", "equalizer")  # the two that are compared picture by picture
_OTHER = "other"  # what a caption is called that names no gender or both
# An object that the Baseline names in fewer captions is hardly a task of these models.
_NAMED_OFTEN = 25
_A_LITTLE = 1e-4  # by which an image's weight is changed to see its influence

_MEASURES = ("A->T", "A->T blind", "A->T excess", "T->A", "T->A blind", "T->A excess")
_RATES = ("men called women", "women called men")  # of wrong genders, as GENDERS

# Other shares of men among the training images than that of the public file: the lowest
# and the highest that fit what the paper prints about ovens.
_OVEN_SHARES = {"oven, lowest": 0.699, "oven, highest": 0.7045}


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
    return _amplification(OURS, MODELS)


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_amplification_as_released() -> pd.DataFrame:
    """Bias amplification of two models' captions, read as the released script does.

    The columns are those of `coco_caption_amplification`.
    """
    return _amplification(RELEASED, ("baseline_ft", "equalizer"))


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
    shares = _shares_of_men()

    tables = []
    baseline: dict[tuple[str, str], np.ndarray] = {}
    for model in MODELS:
        means = _means_by_share(captions, model, labels=labels, shares=shares)
        for (source, measure), values in means.items():
            if measure in _RATES:
                continue
            change = values - baseline.setdefault((source, measure), values)
            row = {
                "source": source,
                "share_of_men": shares[source],
                "measure": measure,
                "model": model,
                **_with_errors(values, change),
            }
            tables.append(pd.DataFrame(row))
    return _sorted_by_source(tables, shares)


@recipe(files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
def coco_caption_shares_common() -> pd.DataFrame:
    """Mean T->A amplification of a model and of the Baseline, on the same pictures.

    Each model is compared with the Baseline on those pictures in which the captions of
    both name one gender; `pictures` is their number. `coco_caption_shares` compares
    them on different pictures, because T->A leaves out a caption that names no gender.

    Notes
    -----
    The measures are those of `coco_caption_shares`, without A->T, which leaves out no
    picture. "women called men" and "men called women" are the shares of wrong genders
    among these pictures' women and men. `baseline` is the Baseline's value on the same
    pictures, and `change` the model's value minus `baseline`. `own_minus_common` is the
    change on each model's own pictures (`coco_caption_shares`) minus `change`. Standard
    errors are computed in the same way.
    """
    captions, labels = _captioned()
    shares = _shares_of_men()
    names_one_gender = {
        model: _names_one_gender(captions[model], OURS) for model in MODELS
    }

    settings = {"labels": labels, "shares": shares}
    on_own_pictures = {
        model: _means_by_share(captions, model, **settings) for model in MODELS
    }

    tables = []
    baseline, *others = MODELS
    for model in others:
        common = names_one_gender[baseline] & names_one_gender[model]
        of_baseline, of_model = (
            _means_by_share(captions, either, **settings, pictures=common)
            for either in (baseline, model)
        )
        for key, values in of_model.items():
            source, measure = key
            if measure.startswith("A->T"):
                continue
            before = of_baseline[key]
            change = values - before
            own_change = on_own_pictures[model][key] - on_own_pictures[baseline][key]
            further = own_change - change
            row = {
                "source": source,
                "share_of_men": shares[source],
                "measure": measure,
                "model": model,
                "pictures": common.sum(),
                "baseline": before[0],
                "baseline_error": _standard_error(before),
                **_with_errors(values, change),
                "own_minus_common": further[0],
                "own_minus_common_error": _standard_error(further),
            }
            tables.append(pd.DataFrame(row))
    return _sorted_by_source(tables, shares)


@recipe(files=[CAPTIONS, LABELS, COCO_RATIOS])
def coco_caption_pairs() -> pd.DataFrame:
    """Images by object, gender, and whom the Baseline and Equalizer call them.

    Returns
    -------
    pandas.DataFrame
        One row for each combination. "(every image)" stands for any object.

        - `reader`: how the captions are read, by "our word lists" or by the rule of
          the "released script".
        - `object`, `gender`: what the labels say.
        - `baseline_ft`, `equalizer`: what the model's caption says: "man", "woman", or
          "other" where it names no gender or both.
        - `images`: how many there are.
    """
    captions, labels = _captioned()
    objects = objects_but_person()
    there = labels[objects].assign(**{EVERY: True})[[EVERY, *objects]]
    calls = (*GENDERS, _OTHER)

    tables = []
    for name, reader in (("our word lists", OURS), ("released script", RELEASED)):
        called = {model: _called(captions[model], reader) for model in _PAIR}
        keys = pd.DataFrame({"gender": labels["gender"], **called})
        combinations = pd.MultiIndex.from_product(
            [GENDERS, calls, calls], names=keys.columns
        )
        sums = there.groupby([keys[column] for column in keys]).sum()
        counts = sums.reindex(combinations, fill_value=0).T.rename_axis("object")
        images = counts.stack(keys.columns.tolist(), future_stack=True)
        table = images.rename("images").reset_index()
        table.insert(0, "reader", name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


@recipe(files=[CAPTIONS, LABELS, COCO_RATIOS])
def coco_caption_shared() -> pd.DataFrame:
    """Images that show two objects, and in which one captioner alone says man.

    The images are those in which the captions of the Baseline and of Equalizer both
    name one gender, as in `coco_caption_shares_common`. A mean over objects needs to
    know how many of them two objects share, because these count for both.

    Returns
    -------
    pandas.DataFrame
        One row for each ordered pair of objects that share an image; with itself, an
        object shares all of its images.

        - `object`, `other`: what the labels say.
        - `images`: how many show both.
        - `only_baseline`, `only_equalizer`: in how many of them this captioner says
          "man" and the other one says "woman".
    """
    captions, labels = _captioned()
    objects = objects_but_person()
    of_baseline, of_equalizer = (_called(captions[model], OURS) for model in _PAIR)

    there = labels[objects].to_numpy(dtype=int)
    man, woman = GENDERS
    flags = {
        "images": (of_baseline != _OTHER) & (of_equalizer != _OTHER),
        "only_baseline": (of_baseline == man) & (of_equalizer == woman),
        "only_equalizer": (of_baseline == woman) & (of_equalizer == man),
    }
    index = pd.MultiIndex.from_product([objects, objects], names=["object", "other"])
    counts = {
        name: (there.T @ (there * flag[:, None])).ravel()
        for name, flag in flags.items()
    }
    table = pd.DataFrame(counts, index).reset_index()
    return table[table["images"] > 0].reset_index(drop=True)


def _shares_of_men() -> dict[str, float]:
    """Return the shares of men of `coco_caption_shares`, by where they come from."""
    released = coco_mals().set_index("object")["training_share"]
    shares = {"public file": _share_of_men(), **_OVEN_SHARES}
    shares["released shares"] = released["person"]
    return shares


def _means_by_share(
    captions: pd.DataFrame,
    model: str,
    *,
    labels: pd.DataFrame,
    shares: dict[str, float],
    pictures: np.ndarray | None = None,
) -> dict[tuple[str, str], np.ndarray]:
    """Return measures by the source of the share of men.

    They are those of `coco_caption_shares`, and the two rates of wrong genders. T->A
    and the rates are those of these pictures, if pictures are given.
    """
    objects = _objects_named_often(captions, OURS)
    all_objects = objects_but_person()
    totals, totals_of_all = (
        _totals(
            _features(captions[model], labels, names, reader=OURS, pictures=pictures)
        )
        for names in (objects, all_objects)
    )

    means_by_share = {}
    for source, share in shares.items():
        means = _means(totals, _lean(objects, men=share))
        means_of_all = _means(totals_of_all, _lean(all_objects, men=share))
        for measure in ("T->A", "T->A excess"):
            means[f"{measure}, all objects"] = means_of_all[measure]
        for gender, measure in zip(GENDERS, _RATES, strict=True):
            means[measure] = totals["wrong", gender] / totals["one", gender]
        for measure, values in means.items():
            means_by_share[source, measure] = values
    return means_by_share


def _sorted_by_source(
    tables: list[pd.DataFrame], shares: dict[str, float]
) -> pd.DataFrame:
    return pd.concat(tables).sort_values(
        "source",
        key=lambda names: names.map(list(shares).index),
        kind="stable",
        ignore_index=True,
    )


def _objects_named_often(captions: pd.DataFrame, reader: Reader) -> list[str]:
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


def _amplification(reader: Reader, models: tuple[str, ...]) -> pd.DataFrame:
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


def _called(captions: pd.Series, reader: Reader) -> np.ndarray:
    """Return the one gender that each caption names, or `_OTHER`."""
    is_man = reader.gender(captions)["man"].to_numpy()
    gender = np.where(is_man, *GENDERS)
    return np.where(_names_one_gender(captions, reader), gender, _OTHER)


def _names_one_gender(captions: pd.Series, reader: Reader) -> np.ndarray:
    called = reader.gender(captions)
    return (called["man"] ^ called["woman"]).to_numpy()


def _features(
    captions: pd.Series,
    labels: pd.DataFrame,
    objects: list[str],
    *,
    reader: Reader,
    pictures: np.ndarray | None = None,
) -> dict[tuple[str, str], np.ndarray]:
    """Return what `_measures` needs the sums of, each images x columns, by gender.

    `pictures` are those whose captions' genders count; if there are none, all do.
    """
    there = labels[objects].to_numpy(dtype=bool)
    named = reader.objects(captions, objects).to_numpy()
    called = reader.gender(captions)
    called_one_gender = _names_one_gender(captions, reader)[:, None]
    if pictures is not None:
        called_one_gender = called_one_gender & pictures[:, None]

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
