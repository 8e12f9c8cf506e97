"""From a network's scores to the counts that bias amplification needs: calibrate, predict, count."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairlib.amplification import calibrated_threshold
from fairlib.cooccurrence import count


def calibrate(validation: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return a threshold per column of validation scores that marks as many as the training rates ask for (3.3)."""
    return np.array([calibrated_threshold(validation[:, k], rate) for k, rate in enumerate(rates)])


def tally(*, training: tuple, test: tuple, predicted: tuple, tasks: tuple[str, ...]) -> pd.DataFrame:
    """Count by object and gender: labels, predictions of either, and of both.

    training, test, predicted : (task, man), n x |T| and n, the last two of the same images. Columns: images of this
    gender in training (training_images) and in test (images), test images called this gender (called), and with the
    object: in training labels (training_there), in test labels (there), in the predictions (named), in the labels among
    those called (there_called), in both predictions (named_called).
    """
    groups = {name: np.column_stack([man, ~man]) for name, (_, man) in (("training", training), ("test", test))}
    called = np.column_stack([predicted[1], ~predicted[1]])
    seen = count(training[0], groups["training"])
    tables = {
        "there": count(test[0], groups["test"]),
        "named": count(predicted[0], groups["test"]),
        "there_called": count(test[0], called),
        "named_called": count(predicted[0], called),
    }
    columns = {
        "training_images": np.repeat(seen.attribute, len(tasks)),
        "training_there": seen.joint.ravel(),
        "images": np.repeat(tables["there"].attribute, len(tasks)),
        "called": np.repeat(tables["there_called"].attribute, len(tasks)),
    }
    columns |= {name: table.joint.ravel() for name, table in tables.items()}
    table = pd.DataFrame(columns).astype(int)
    table.insert(0, "object", np.tile(tasks, 2))
    table.insert(1, "gender", np.repeat(["man", "woman"], len(tasks)))
    return table
