"""The masking experiment of paper 3: on generated images, and on COCO's photographs
where they were at hand.
"""

from dataclasses import replace

import pandas as pd

from fairlib.amplification import Counts, directions, from_counts
from fairlib.recipes.generated_images import Contrast, common_objects
from fairlib.recipes.originals import recipe
from fairlib.recipes.photographs import with_photographs

CONTRASTS = {
    "faint": 0.8,
    "clear": 2.0,
}  # of the objects: hard or easy to recognise beside noise of 0.2


@recipe(files=[], costly=True)
def masking_runs() -> pd.DataFrame:
    """Test counts of five networks per mask, with faint and with clear objects; and of
    VGG16 on photographs, if any.
    """
    from fairlib.recipes.training import masking

    settings = {
        name: masking.Setting(contrast=Contrast(objects=value))
        for name, value in CONTRASTS.items()
    }
    runs = [
        masking.run(common_objects(), setting=setting).assign(objects=name)
        for name, setting in settings.items()
    ]
    return with_photographs(pd.concat(runs).assign(inputs="generated images"), "coco")


def by_run(runs: pd.DataFrame) -> pd.DataFrame:
    """Return bias amplification, average precision and gender accuracy of each network in `masking_runs`.

    Directions y_at are those of the training labels. "blind" is what a network of the same error rates would have whose
    errors in one thing do not depend on the other, as in `captions.coco_caption_amplification`. "A→T, released script"
    is what the authors' script prints under that name: the formula of T→A, P(A | T predicted) - P(A | T), with the
    directions of the test labels.
    """
    keys = ["objects", "mask", "seed"]
    return pd.DataFrame(
        {key: _measure(rows) for key, rows in runs.groupby(keys, sort=False)}
    ).T.rename_axis(keys)


def _measure(rows: pd.DataFrame) -> dict[str, float]:
    train, labels = (
        _counts(rows, "training_there", "training_images"),
        _counts(rows, "there", "images"),
    )
    named, called = (
        _counts(rows, "named", "images"),
        _counts(rows, "there_called", "called"),
    )
    named_blindly, called_blindly = _blind(rows, labels, named)
    released = (2 * directions(labels) - 1) * (
        named.attribute_given_task - labels.attribute_given_task
    )
    return {
        "MALS": from_counts("MALS", train, _counts(rows, "named_called", "called")),
        "A→T": from_counts("A->T", labels, named, train=train),
        "T→A": from_counts("T->A", labels, called, train=train),
        "A→T blind": from_counts("A->T", labels, named_blindly, train=train),
        "T→A blind": from_counts("T->A", labels, called_blindly, train=train),
        "A→T, released script": released.mean(),
        "average precision": rows["mean_precision"].iloc[0],
        "gender accuracy": rows["gender_accuracy"].iloc[0],
    }


def _blind(rows: pd.DataFrame, labels: Counts, named: Counts) -> tuple[Counts, Counts]:
    """Return the objects named, and the genders called, with the same errors dealt out
    without regard to the other.
    """
    right = _counts(
        rows, "there_named", "called_right"
    )  # of both kinds: objects named, and genders called
    seen = right.task / labels.task
    made_up = (named.task - right.task) / (labels.n - labels.task)
    joint = seen * labels.joint + made_up * (labels.attribute[:, None] - labels.joint)
    wrong = 1 - right.attribute / labels.attribute
    called = (1 - wrong[:, None]) * labels.joint + (wrong[:, None] * labels.joint)[
        ::-1
    ]  # the other of two genders
    return replace(labels, task=joint.sum(axis=0), joint=joint), replace(
        labels, joint=called
    )


def _counts(rows: pd.DataFrame, joint: str, group: str) -> Counts:
    """Return the counts of one run: the column `joint` by gender and object, the column
    `group` by gender.
    """
    table = rows.pivot(index="gender", columns="object", values=joint)
    sizes = rows.groupby("gender")[group].first().loc[table.index]
    return Counts(
        sizes.sum(), sizes, table.sum(), table, tuple(table.index), tuple(table.columns)
    )
