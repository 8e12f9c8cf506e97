"""The masking experiment of paper 3, on generated images and on COCO's photographs.

The photographs are used only where they were at hand.
"""

from dataclasses import replace

import pandas as pd

from fairlib.amplification import Counts, directions, from_counts
from fairlib.recipes.generated_images import Contrast, common_objects
from fairlib.recipes.originals import recipe
from fairlib.recipes.photographs import with_photographs

# Of the objects: hard or easy to recognise beside noise of 0.2.
_CONTRASTS = {"faint": 0.8, "clear": 2.0}


@recipe(files=[], costly=True)
def masking_runs() -> pd.DataFrame:
    """Test counts of five networks per mask, with faint and with clear objects.

    The counts of VGG16 on photographs follow, if there are any.
    """
    from fairlib.recipes.training import masking

    objects = common_objects()
    tables = []
    for name, contrast in _CONTRASTS.items():
        setting = masking.Setting(contrast=Contrast(objects=contrast))
        tables.append(masking.run(objects, setting=setting).assign(objects=name))
    table = pd.concat(tables).assign(inputs="generated images")
    return with_photographs(table, "coco")


def by_run(runs: pd.DataFrame) -> pd.DataFrame:
    """Return bias amplification, average precision and gender accuracy of each network.

    Directions y_at are those of the training labels.

    Parameters
    ----------
    runs : pandas.DataFrame
        The table `masking_runs`.

    Returns
    -------
    pandas.DataFrame
        One row per network. "blind" is the value of a network that has the same error
        rates, but whose errors in one thing do not depend on the other, as in
        `captions.coco_caption_amplification`. "A→T, released script" is what the
        authors' script prints under that name: the formula of T→A,
        P(A | T predicted) - P(A | T), with the directions of the test labels.
    """
    keys = ["objects", "mask", "seed"]
    measures = {key: _measure(rows) for key, rows in runs.groupby(keys, sort=False)}
    return pd.DataFrame(measures).T.rename_axis(keys)


def _measure(rows: pd.DataFrame) -> dict[str, float]:
    """Return the measures of one network."""
    train = _counts(rows, "training_there", "training_images")
    labels = _counts(rows, "there", "images")
    named = _counts(rows, "named", "images")
    called = _counts(rows, "there_called", "called")
    named_called = _counts(rows, "named_called", "called")

    # Both kinds of right answers: objects that were named, genders that were called.
    right = _counts(rows, "there_named", "called_right")
    named_blindly = _named_blindly(labels, named, right)
    called_blindly = _called_blindly(labels, right)

    sign = 2 * directions(labels) - 1
    released = sign * (named.attribute_given_task - labels.attribute_given_task)
    return {
        "MALS": from_counts("MALS", train, named_called),
        "A→T": from_counts("A->T", labels, named, train=train),
        "T→A": from_counts("T->A", labels, called, train=train),
        "A→T blind": from_counts("A->T", labels, named_blindly, train=train),
        "T→A blind": from_counts("T->A", labels, called_blindly, train=train),
        "A→T, released script": released.mean(),
        "average precision": rows["mean_precision"].iloc[0],
        "gender accuracy": rows["gender_accuracy"].iloc[0],
    }


def _named_blindly(labels: Counts, named: Counts, right: Counts) -> Counts:
    """Return the objects named if errors were as frequent for men as for women."""
    rate_there = right.task / labels.task
    rate_absent = (named.task - right.task) / (labels.n - labels.task)
    absent = labels.attribute[:, None] - labels.joint
    joint = rate_there * labels.joint + rate_absent * absent
    return replace(labels, task=joint.sum(axis=0), joint=joint)


def _called_blindly(labels: Counts, right: Counts) -> Counts:
    """Return the genders called if errors were as frequent whatever the object."""
    rate_wrong = (1 - right.attribute / labels.attribute)[:, None]
    # Whoever is called wrong is called the other gender: the two rows change places.
    called_wrong = (rate_wrong * labels.joint)[::-1]
    return replace(labels, joint=(1 - rate_wrong) * labels.joint + called_wrong)


def _counts(rows: pd.DataFrame, joint: str, group: str) -> Counts:
    """Return the counts of one run.

    The column `joint` is by gender and object, the column `group` is by gender.
    """
    table = rows.pivot(index="gender", columns="object", values=joint)
    sizes = rows.groupby("gender")[group].first().loc[table.index]
    return Counts(
        sizes.sum(),
        sizes,
        table.sum(),
        joint=table,
        attributes=tuple(table.index),
        tasks=tuple(table.columns),
    )
