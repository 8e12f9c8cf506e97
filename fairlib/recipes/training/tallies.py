"""From a network's scores to the counts that bias amplification needs.

The scores are calibrated, turned into predictions, and counted.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, log_loss

from fairlib.amplification import calibrated_threshold
from fairlib.amplification.cooccurrence import Counts, count

OUTCOMES = ("true_negative", "false_positive", "false_negative", "true_positive")


def cross_entropy(
    label: np.ndarray, probability: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the mean cross entropy over images and labels.

    The best epoch is the epoch with the lowest cross entropy on the validation images.

    Parameters
    ----------
    label : numpy.ndarray
        0 or 1, n x labels.
    probability : numpy.ndarray
        Predicted probability of each label, n x labels.
    weights : numpy.ndarray, optional
        Weight of each image.

    Returns
    -------
    float
        The mean.
    """
    weight_of_each = None
    if weights is not None:
        weight_of_each = np.repeat(weights, label.shape[1])
    inside = np.clip(probability, 1e-7, 1 - 1e-7)
    return log_loss(
        label.ravel(), inside.ravel(), labels=[0, 1], sample_weight=weight_of_each
    )


def assess(
    task: np.ndarray, group: np.ndarray, scores: np.ndarray, threshold: float
) -> dict:
    """Count the examples by group, label and prediction, and compute the precision.

    Parameters
    ----------
    task, group : numpy.ndarray
        0 or 1 for each example.
    scores : numpy.ndarray
        Score of each example.
    threshold : float
        A score as high as this or higher is a positive prediction.

    Returns
    -------
    dict
        The average precision, the average precision of finding the task's absence (a
        different number, since the rarer of the two is harder to find), the threshold,
        and the counts, `0_true_negative` and so on.
    """
    is_task = np.asarray(task, dtype=int)
    in_group = np.asarray(group, dtype=int)

    cell = 4 * in_group + 2 * is_task + (scores >= threshold)
    sizes = np.bincount(cell, minlength=8)
    names = [f"{group_number}_{name}" for group_number in (0, 1) for name in OUTCOMES]

    quality = {
        "average_precision": average_precision_score(is_task, scores),
        "average_precision_of_absence": average_precision_score(1 - is_task, -scores),
        "threshold": threshold,
    }
    return quality | dict(zip(names, sizes, strict=True))


def tally(
    images: Mapping,
    scores: dict[str, np.ndarray],
    *,
    tasks: tuple,
    calibrate: str = "training",
    **facts,
) -> pd.DataFrame:
    """Predict the test images, and count them by object and gender.

    Parameters
    ----------
    images : mapping
        The training, validation and test images, with the labels task (n x |T|) and
        man (n).
    scores : dict of numpy.ndarray
        Scores of the validation and test images, n x |T|, with a last column for "man"
        if the gender is predicted too.
    tasks : tuple of str
        Names of the objects.
    calibrate : str, default "training"
        A threshold marks as many validation images as the share of positives asks for:
        the share in "training" (section 3.3), or in "validation" (as the released
        scripts do).
    **facts
        Further columns.

    Returns
    -------
    pandas.DataFrame
        One row per object and gender.

        - `training_images`, `images`: images of this gender in training and in test.
        - `called`, `called_right`: test images that were called this gender, and
          rightly so.
        - With the object: in training labels (`training_there`), in test labels
          (`there`), in the predictions (`named`), in both (`there_named`), in the
          labels among the images that were called this gender (`there_called`), and in
          both predictions (`named_called`).
        - `mean_precision`, `gender_accuracy`: the mean average precision of the tasks,
          and the accuracy of the gender.

    Notes
    -----
    All four outcomes of an object for a gender follow: there_named, named -
    there_named, there - there_named, and the rest of images.
    """
    training = images["training"]
    test = images["test"]
    objects = len(tasks)

    predicted = scores["test"] >= _thresholds(images[calibrate], scores)
    predicts_gender = scores["test"].shape[1] > objects
    named = predicted[:, :objects]
    man = predicted[:, -1] if predicts_gender else test.man

    genders = np.column_stack([test.man, ~test.man])
    called = np.column_stack([man, ~man])
    in_training = count(training.task, np.column_stack([training.man, ~training.man]))
    there = count(test.task, genders)
    there_called = count(test.task, called)
    called_right = (genders & called).sum(axis=0)

    table = pd.DataFrame(
        {
            "object": np.tile(tasks, 2),
            "gender": np.repeat(["man", "woman"], objects),
            "training_images": _of_genders(in_training, objects),
            "training_there": _of_objects(in_training),
            "images": _of_genders(there, objects),
            "called": _of_genders(there_called, objects),
            "called_right": np.repeat(called_right, objects),
            "there": _of_objects(there),
            "named": _of_objects(count(named, genders)),
            "there_named": _of_objects(count(test.task & named, genders)),
            "there_called": _of_objects(there_called),
            "named_called": _of_objects(count(named, called)),
        }
    )

    # The precision of an object that no test image shows is not defined.
    shown = test.task.any(axis=0)
    precision = average_precision_score(
        test.task[:, shown], scores["test"][:, :objects][:, shown]
    )
    accuracy = (man == test.man).mean() if predicts_gender else np.nan
    return table.assign(**facts, mean_precision=precision, gender_accuracy=accuracy)


def _thresholds(known, scores: dict[str, np.ndarray]) -> list[float]:
    """Return a threshold per label that marks the known share of validation images."""
    predicted_labels = scores["test"].shape[1]
    rates = np.column_stack([known.task, known.man]).mean(axis=0)[:predicted_labels]
    return [
        calibrated_threshold(values, rate)
        for values, rate in zip(scores["validation"].T, rates, strict=True)
    ]


def _of_genders(counts: Counts, objects: int) -> np.ndarray:
    """Return the images of each gender, once for each object."""
    return np.repeat(counts.attribute, objects).astype(int)


def _of_objects(counts: Counts) -> np.ndarray:
    """Return the images of each gender and object."""
    return counts.joint.ravel().astype(int)
