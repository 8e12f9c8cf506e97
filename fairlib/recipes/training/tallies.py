"""From a network's scores to the counts that bias amplification needs: calibrate, predict, count."""

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, log_loss

from fairlib.amplification.cooccurrence import count
from fairlib.amplification.measures import calibrated_threshold

OUTCOMES = ("true_negative", "false_positive", "false_negative", "true_positive")


def cross_entropy(
    label: np.ndarray, probability: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the mean over images and labels (n x labels, 0/1): what the best epoch has least of, on validation."""
    weights = None if weights is None else np.repeat(weights, label.shape[1])
    probability = np.clip(probability, 1e-7, 1 - 1e-7).ravel()
    return log_loss(label.ravel(), probability, labels=[0, 1], sample_weight=weights)


def assess(
    task: np.ndarray, group: np.ndarray, scores: np.ndarray, threshold: float
) -> dict:
    """Count the examples by group, label and prediction, as `0_true_negative` etc., beside the average precision.

    The average precision of finding the task's absence is another number: the rarer of the two is harder to find.
    """
    task, group = np.asarray(task, dtype=int), np.asarray(group, dtype=int)
    cells = np.bincount(4 * group + 2 * task + (scores >= threshold), minlength=8)
    counts = {
        f"{group}_{name}": cells[4 * group + cell]
        for group in (0, 1)
        for cell, name in enumerate(OUTCOMES)
    }
    found = {
        "average_precision": average_precision_score(task, scores),
        "average_precision_of_absence": average_precision_score(1 - task, -scores),
        "threshold": threshold,
    }
    return found | counts


def tally(
    images: dict,
    scores: dict[str, np.ndarray],
    *,
    tasks: tuple,
    calibrate: str = "training",
    **facts,
) -> pd.DataFrame:
    """Predict the test images and count by object and gender: labels, predictions of either, and of both.

    images : training, validation and test, with the labels task (n x |T|) and man (n).
    scores : validation and test, n x |T|, with a last column for "man" if that is predicted too. A threshold marks as
        many validation images as the share of positives asks for.
    calibrate : whose share: "training" (section 3.3), or "validation" (the released scripts).
    facts : further columns.

    Columns: images of this gender in training (training_images) and in test (images), test images called this gender
    (called, called_right), and with the object: in training labels (training_there), in test labels (there), in the
    predictions (named), in both (there_named), in the labels among those called (there_called), in both predictions
    (named_called); and the mean average precision of the tasks and the accuracy of the gender. All four outcomes of an
    object for a gender follow: there_named, named - there_named, there - there_named, and the rest of images.
    """
    training, test, known = images["training"], images["test"], images[calibrate]
    rates = np.column_stack([known.task, known.man]).mean(axis=0)[
        : scores["test"].shape[1]
    ]
    cuts = [
        calibrated_threshold(*pair)
        for pair in zip(scores["validation"].T, rates, strict=True)
    ]
    predicted = scores["test"] >= cuts
    named, man = (
        predicted[:, : len(tasks)],
        predicted[:, -1] if len(rates) > len(tasks) else test.man,
    )
    genders, called = (
        np.column_stack([test.man, ~test.man]),
        np.column_stack([man, ~man]),
    )
    seen = count(training.task, np.column_stack([training.man, ~training.man]))
    counts = {
        "there": count(test.task, genders),
        "named": count(named, genders),
        "there_named": count(test.task & named, genders),
        "there_called": count(test.task, called),
        "named_called": count(named, called),
    }
    columns = {
        "object": np.tile(tasks, 2),
        "gender": np.repeat(["man", "woman"], len(tasks)),
        "training_images": np.repeat(seen.attribute, len(tasks)).astype(int),
        "training_there": seen.joint.ravel().astype(int),
        "images": np.repeat(counts["there"].attribute, len(tasks)).astype(int),
        "called": np.repeat(counts["there_called"].attribute, len(tasks)).astype(int),
        "called_right": np.repeat((genders & called).sum(axis=0), len(tasks)),
    }
    columns |= {name: table.joint.ravel().astype(int) for name, table in counts.items()}
    shown = test.task.any(axis=0)
    precision = average_precision_score(
        test.task[:, shown], scores["test"][:, : len(tasks)][:, shown]
    )
    accuracy = np.nan if man is test.man else (man == test.man).mean()
    return pd.DataFrame(columns).assign(
        **facts, mean_precision=precision, gender_accuracy=accuracy
    )
