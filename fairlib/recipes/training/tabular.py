"""Classifiers for a table of binary attributes.

They stand in for image networks where there are no images. Each is trained several
times with different seeds: how much of a fairness metric is due to the model, and how
much to the run? All three are random: in the order of the examples, the start values,
or the features that a tree may look at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

from fairlib.amplification import calibrated_threshold
from fairlib.amplification.cooccurrence import count
from fairlib.recipes.training.tallies import assess

_EPOCHS = 10  # the paper's
_TREES = 100
BALANCES = ("weights", "subsample")


@dataclass(frozen=True)
class Examples:
    """One split of a table.

    Parameters
    ----------
    inputs : numpy.ndarray
        n x features.
    task, group : numpy.ndarray
        The task's label and the group of each example, 0 or 1.
    """

    inputs: np.ndarray
    task: np.ndarray
    group: np.ndarray

    def __post_init__(self) -> None:
        for name in ("task", "group"):
            values = np.unique(getattr(self, name))
            if not np.array_equal(values, [0, 1]):
                raise ValueError(
                    f"{name} must take the values 0 and 1, both, found "
                    f"{values.tolist()[:5]}"
                )

        for name, kind in {"inputs": np.float32, "task": int, "group": int}.items():
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))

        same_length = len(self.inputs) == len(self.task) == len(self.group)
        if self.inputs.ndim != 2 or not same_length:
            raise ValueError(
                "inputs must be n x features with n labels and n groups, found inputs "
                f"{self.inputs.shape}, task {self.task.shape}, group {self.group.shape}"
            )


class Splits(NamedTuple):
    """The three splits of a table; each has only the use that its name says."""

    train: Examples
    valid: Examples
    test: Examples


def split(table: pd.DataFrame, *, task: str, group: str) -> Splits:
    """Split a table of 0/1 columns by its column "split".

    Parameters
    ----------
    table : pandas.DataFrame
        The column "split" says train, valid or test.
    task, group : str
        Columns of the task's label and of the group. Neither is an input.

    Returns
    -------
    Splits
        The three splits.
    """
    missing = [column for column in (task, group, "split") if column not in table]
    if missing:
        raise ValueError(
            "table must have the columns task, group and split, "
            f"{', '.join(missing)} not found"
        )
    missing_values = {*Splits._fields} - {*table["split"]}
    if missing_values:
        raise ValueError(
            "split must take the values train, valid and test, "
            f"{', '.join(sorted(missing_values))} not found"
        )

    inputs = table.columns.difference([task, group, "split"], sort=False)
    parts = [table[table["split"] == name] for name in Splits._fields]
    return Splits(*(Examples(part[inputs], part[task], part[group]) for part in parts))


def run(
    data: Splits,
    *,
    model: str,
    ratio: float | None = None,
    balance: str = "weights",
    rng,
) -> dict:
    """Train once, and count the test examples by group, label and prediction.

    The threshold marks as many validation examples as the share of positives in
    training asks for (section 3.3).

    Parameters
    ----------
    data : Splits
        The examples.
    model : str
        A name in `MODELS`.
    ratio : float, optional
        Train at this ratio of majority to minority groups, see `majority`; by default
        the data are used as they are.
    balance : str, default "weights"
        How the ratio is reached: "weights" as in the authors' code, or "subsample".
    rng : numpy.random.Generator or int
        Random numbers.

    Returns
    -------
    dict
        The counts, `0_true_negative` and so on, and the average precision.
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, found {model!r}")
    if balance not in BALANCES:
        raise ValueError(
            f"balance must be one of {', '.join(BALANCES)}, found {balance!r}"
        )

    generator = np.random.default_rng(rng)
    train = data.train
    weights = None
    if ratio is not None and balance == "weights":
        weights = balancing_weights(train.task, train.group, ratio)
    elif ratio is not None:
        rows = subsample(train.task, train.group, ratio, rng=generator)
        train = Examples(train.inputs[rows], train.task[rows], train.group[rows])

    valid, test = MODELS[model](
        train, weights, data.valid, inputs=data.test.inputs, rng=generator
    )
    threshold = calibrated_threshold(valid, data.train.task.mean())
    return assess(data.test.task, data.test.group, test, threshold)


def majority(task: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mark the examples of the majority groups.

    These are the examples whose group and task are combined as the association
    suggests. With "young" and gender, they are young women and men who are not young;
    the others are the minority groups.

    Parameters
    ----------
    task, group : numpy.ndarray
        0 or 1 for each example.

    Returns
    -------
    numpy.ndarray of bool
        One element per example.
    """
    counts = count(task, group)
    together = counts.n * counts.joint[0, 0]
    associated = together > counts.attribute[0] * counts.task[0]
    return (np.asarray(task) == np.asarray(group)) == associated


def balancing_weights(task: np.ndarray, group: np.ndarray, ratio: float) -> np.ndarray:
    """Return weights that give the majority groups a chosen weight.

    Parameters
    ----------
    task, group : numpy.ndarray
        0 or 1 for each example.
    ratio : float
        How many times as much the majority groups weigh as the minority groups.

    Returns
    -------
    numpy.ndarray
        Weights with mean 1.
    """
    major = majority(task, group)
    weights = np.where(major, _positive(ratio) / major.sum(), 1 / (~major).sum())
    return weights / weights.mean()


def subsample(task: np.ndarray, group: np.ndarray, ratio: float, *, rng) -> np.ndarray:
    """Return rows with a chosen ratio of majority to minority examples.

    Parameters
    ----------
    task, group : numpy.ndarray
        0 or 1 for each example.
    ratio : float
        How many times as many majority as minority examples.
    rng : numpy.random.Generator
        Random numbers.

    Returns
    -------
    numpy.ndarray of int
        Sorted rows, as many as possible.
    """
    is_major = majority(task, group)
    major = np.flatnonzero(is_major)
    minor = np.flatnonzero(~is_major)

    minor_size = min(len(minor), int(len(major) / _positive(ratio)))
    major_size = min(len(major), round(ratio * minor_size))
    kept_major = rng.permutation(major)[:major_size]
    kept_minor = rng.permutation(minor)[:minor_size]
    return np.sort(np.concatenate([kept_major, kept_minor]))


def _linear(train: Examples, weights, valid: Examples, inputs: np.ndarray, rng):
    """Train logistic regression by gradient descent, a step of 0.01 per example."""
    model = SGDClassifier(
        loss="log_loss", alpha=1e-6, learning_rate="constant", eta0=0.01, shuffle=False
    )
    return _by_epochs(model, train, weights, valid=valid, inputs=inputs, rng=rng)


def _network(train: Examples, weights, valid: Examples, inputs: np.ndarray, rng):
    """Train a network of one hidden layer of 32 units, Adam, batches of 256."""
    seed = int(rng.integers(2**31))
    model = MLPClassifier(
        (32,),
        batch_size=256,
        learning_rate_init=0.002,
        shuffle=False,
        random_state=seed,
    )
    return _by_epochs(model, train, weights, valid=valid, inputs=inputs, rng=rng)


def _trees(train: Examples, weights, valid: Examples, inputs: np.ndarray, rng):
    """Train gradient boosting; each node looks at a random third of the features."""
    seed = int(rng.integers(2**31))
    model = HistGradientBoostingClassifier(
        max_iter=_TREES, max_features=1 / 3, early_stopping=False, random_state=seed
    )
    model.fit(train.inputs, train.task, sample_weight=weights)
    return model.predict_proba(valid.inputs)[:, 1], model.predict_proba(inputs)[:, 1]


def _by_epochs(
    model, train: Examples, weights, *, valid: Examples, inputs: np.ndarray, rng
):
    """Train epoch by epoch; return the scores of the epoch with the lowest loss.

    The loss is that on the validation data.
    """
    lowest_loss = np.inf
    scores = None
    for _ in range(_EPOCHS):
        order = rng.permutation(len(train.task))
        weight = None if weights is None else weights[order]
        model.partial_fit(
            train.inputs[order], train.task[order], classes=[0, 1], sample_weight=weight
        )

        probability = model.predict_proba(valid.inputs)[:, 1]
        loss = log_loss(valid.task, probability)
        if loss < lowest_loss:
            lowest_loss = loss
            scores = (probability, model.predict_proba(inputs)[:, 1])
    return scores


# A model is a function of (train, weights, valid, inputs, rng) that returns the scores
# of the validation examples, and those of the inputs.
MODELS: dict[str, Callable] = {
    "logistic regression": _linear,
    "gradient boosting": _trees,
    "neural network": _network,
}


def _positive(ratio: float) -> float:
    """Return a ratio, unless it is not positive and finite."""
    if not 0 < ratio < np.inf:
        raise ValueError(f"ratio must be positive and finite, found {ratio}")
    return ratio
