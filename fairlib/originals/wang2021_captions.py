"""What six captioning models say about 10,840 COCO images: counts by object and gender, and their bias amplification.

Counts and figures computed from them only: no caption and no image's labels leave the genuine files.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairlib.amplification import directions
from fairlib.captions import read_gender, read_objects
from fairlib.data import File, original, recipe, require_columns
from fairlib.originals.wang2021 import (
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
from fairlib.resampling import poisson_totals

CAPTIONS = File(
    "coco/captions_eccv2018.parquet",
    sha256="2c077400068be64f391a3d869843910e964b95e63dfe5a16e3d22a8b702ae647",
    how="The captions of Hendricks et al. 2018, released again in github.com/princetonvisualai/directional-bias-amp "
    "(coco_captioning/final_captions_eccv2018/*.json): columns image_id, baseline_ft, balanced, upweight, confusion, "
    "confident, equalizer.",
)
MODELS = ("baseline_ft", "balanced", "upweight", "confusion", "confident", "equalizer")
NAMED_OFTEN = 25  # an object that the Baseline names in fewer captions is hardly a task of these models
RESAMPLES = 2000


@recipe("coco_captions", files=[CAPTIONS, LABELS, COCO_RATIOS])
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


@recipe("coco_caption_amplification", files=[CAPTIONS, LABELS, TRAINING, COCO_RATIOS])
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
    task = labels[objects].to_numpy()
    men = (labels["gender"] == "man").to_numpy()
    reading = [(read_objects(captions[model], objects).to_numpy(), read_gender(captions[model])) for model in MODELS]
    totals = poisson_totals(_features(task, men, reading), resamples=RESAMPLES, rng=2021)
    genders = training_genders()
    train = training_counts(coco_mals(), objects, men=genders["man"] / sum(genders.values()))
    lean = 2 * directions(train) - 1  # +1 where a gender goes with an object
    values = _values(totals, len(objects), lean)
    rows = []
    for measure, array in values.items():  # resamples x models x (1 + objects)
        change = array - array[:, :1]
        columns = {
            "measure": measure,
            "model": np.repeat(MODELS, 1 + len(objects)),
            "object": [EVERY, *objects] * len(MODELS),
            "value": array[0].ravel(),
            "standard_error": np.nanstd(array[1:], axis=0).ravel(),
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


def _features(task: np.ndarray, men: np.ndarray, reading: list, rows: int = 2000):
    """Yield blocks of the sums that `_values` needs: labels by gender, then per model what it names and says."""
    for start in range(0, len(task), rows):
        part = slice(start, start + rows)
        t, groups = task[part].astype(float), (men[part], ~men[part])
        columns = [np.stack(groups, axis=1), *(t * group[:, None] for group in groups)]
        for named, called in reading:
            one = (called["man"] ^ called["woman"]).to_numpy()[part]
            says_man = called["man"].to_numpy()[part] & one
            columns += [named[part] * group[:, None] for group in groups]
            for group in groups:
                kept, wrong = group & one, group & one & (says_man != groups[0])
                columns += [np.stack([kept, wrong], axis=1), t * kept[:, None], t * wrong[:, None]]
        yield np.hstack([column.astype(float) for column in columns])


def _values(totals: np.ndarray, objects: int, lean: np.ndarray) -> dict[str, np.ndarray]:
    """Return each measure as resamples x models x (mean over objects, then each object)."""
    position = 0

    def take(width):
        nonlocal position
        position += width
        return totals[:, position - width : position]

    images = take(2)
    there = [take(objects), take(objects)]
    names = ("A->T", "T->A", "T->A blind", "T->A excess")
    found = {name: [] for name in names}
    for _ in MODELS:
        named = [take(objects), take(objects)]
        change = [(named[g] - there[g]) / images[:, [g]] for g in range(2)]
        found["A->T"].append((lean[0] * change[0] + lean[1] * change[1]) / 2)
        kept, wrong = [], []
        rate = []
        for _ in range(2):
            every = take(2)
            rate.append(every[:, [1]] / every[:, [0]])
            kept.append(take(objects))
            wrong.append(take(objects))
        together = kept[0] + kept[1]
        together = np.where(together > 0, together, np.nan)
        # Women called men, less men called women, per image with the object: men are over-predicted by that much, and
        # women under-predicted by the same.
        men = (lean[0] - lean[1]) / 2
        found["T->A"].append(men * (wrong[1] - wrong[0]) / together)
        found["T->A blind"].append(men * (kept[1] * rate[1] - kept[0] * rate[0]) / together)
        found["T->A excess"].append(found["T->A"][-1] - found["T->A blind"][-1])
    stacked = {name: np.stack(arrays, axis=1) for name, arrays in found.items()}
    return {name: np.concatenate([np.nanmean(v, axis=2, keepdims=True), v], axis=2) for name, v in stacked.items()}
