"""Classifiers for a table of binary attributes: what stands in for image networks where there are no images.

Each is trained several times with different seeds: how much of a fairness metric is the model, and how much is the run?
All three are random: in the order of the examples, the start values, the features that a tree may look at.
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

from fairlib.amplification.cooccurrence import count
from fairlib.amplification.measures import calibrated_threshold
from fairlib.recipes.training.tallies import assess

EPOCHS = 10  # the paper's
TREES = 100
BALANCES = ("weights", "subsample")


@dataclass(frozen=True)
class Examples:
    """One split of a table: inputs (n x features), the task's label and the group, 0/1
    each.
    """

    inputs: np.ndarray
    task: np.ndarray
    group: np.ndarray

    def __post_init__(self) -> None:
        for name in ("task", "group"):
            found = np.unique(getattr(self, name))
            if not np.array_equal(found, [0, 1]):
                raise ValueError(
                    f"{name} must take the values 0 and 1, both, found "
                    f"{found.tolist()[:5]}"
                )
        for name, kind in {"inputs": np.float32, "task": int, "group": int}.items():
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        if self.inputs.ndim != 2 or not len(self.inputs) == len(self.task) == len(
            self.group
        ):
            sizes = f"inputs {self.inputs.shape}, task {self.task.shape}, group {self.group.shape}"
            raise ValueError(
                f"inputs must be n x features with n labels and n groups, found {sizes}"
            )


class Splits(NamedTuple):
    """The three splits of a table; each is used for what its name says, and for nothing
    else.
    """

    train: Examples
    valid: Examples
    test: Examples


def split(table: pd.DataFrame, *, task: str, group: str) -> Splits:
    """Split a table of 0/1 columns by its column "split" (train, valid, test); neither
    task nor group is an input.
    """
    if missing := [column for column in (task, group, "split") if column not in table]:
        raise ValueError(
            f"table must have the columns task, group and split, {', '.join(missing)} "
            "not found"
        )
    if missing := {*Splits._fields} - {*table["split"]}:
        raise ValueError(
            "split must take the values train, valid and test, "
            f"{', '.join(sorted(missing))} not found"
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
    """Train once and count the test examples by group, label and prediction, as `0_true_negative` etc.

    The threshold marks as many validation examples as the share of positives in training asks for (section 3.3).

    model : a name in `MODELS`.
    ratio : train at this ratio of majority to minority groups, see `majority`; None for the data as they are.
    balance : how: "weights" as in the authors' code, or "subsample".
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, found {model!r}")
    if balance not in BALANCES:
        raise ValueError(
            f"balance must be one of {', '.join(BALANCES)}, found {balance!r}"
        )
    rng = np.random.default_rng(rng)
    train, weights = data.train, None
    if ratio is not None and balance == "weights":
        weights = balancing_weights(train.task, train.group, ratio)
    elif ratio is not None:
        rows = subsample(train.task, train.group, ratio, rng=rng)
        train = Examples(train.inputs[rows], train.task[rows], train.group[rows])
    valid, test = MODELS[model](train, weights, data.valid, data.test.inputs, rng)
    threshold = calibrated_threshold(valid, data.train.task.mean())
    return assess(data.test.task, data.test.group, test, threshold)


def majority(task: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Mark the examples of the majority groups: those that have group and task, 0/1, the way these are associated.

    With "young" and gender: young women and men who are not young; the others are the minority groups.
    """
    both = count(task, group)
    associated = both.n * both.joint[0, 0] > both.attribute[0] * both.task[0]
    return (np.asarray(task) == np.asarray(group)) == associated


def balancing_weights(task: np.ndarray, group: np.ndarray, ratio: float) -> np.ndarray:
    """Return weights with mean 1 that make the majority groups weigh `ratio` times as
    much as the minority groups.
    """
    major = majority(task, group)
    weights = np.where(major, _positive(ratio) / major.sum(), 1 / (~major).sum())
    return weights / weights.mean()


def subsample(task: np.ndarray, group: np.ndarray, ratio: float, *, rng) -> np.ndarray:
    """Return sorted rows that hold `ratio` times as many majority as minority examples,
    as many as possible.
    """
    major = majority(task, group)
    kinds = np.flatnonzero(major), np.flatnonzero(~major)
    minor = min(len(kinds[1]), int(len(kinds[0]) / _positive(ratio)))
    sizes = min(len(kinds[0]), round(ratio * minor)), minor
    return np.sort(
        np.concatenate(
            [
                rng.permutation(kind)[:size]
                for kind, size in zip(kinds, sizes, strict=True)
            ]
        )
    )


def _linear(train, weights, valid, inputs, rng):
    """Logistic regression by stochastic gradient descent, a step of 0.01 per example."""
    model = SGDClassifier(
        loss="log_loss", alpha=1e-6, learning_rate="constant", eta0=0.01, shuffle=False
    )
    return _by_epochs(model, train, weights, valid, inputs, rng)


def _network(train, weights, valid, inputs, rng):
    """Network of one hidden layer of 32 units, Adam, batches of 256."""
    seed = int(rng.integers(2**31))
    model = MLPClassifier(
        (32,),
        batch_size=256,
        learning_rate_init=0.002,
        shuffle=False,
        random_state=seed,
    )
    return _by_epochs(model, train, weights, valid, inputs, rng)


def _trees(train, weights, valid, inputs, rng):
    """Gradient boosting of 100 trees; each node looks at a random third of the
    features.
    """
    seed = int(rng.integers(2**31))
    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_features=1 / 3, early_stopping=False, random_state=seed
    )
    model.fit(train.inputs, train.task, sample_weight=weights)
    return model.predict_proba(valid.inputs)[:, 1], model.predict_proba(inputs)[:, 1]


def _by_epochs(model, train, weights, valid, inputs, rng):
    """Train epoch by epoch and return the scores of the epoch with the lowest loss on
    the validation data.
    """
    best, scores = np.inf, None
    for _ in range(EPOCHS):
        order = rng.permutation(len(train.task))
        weight = None if weights is None else weights[order]
        model.partial_fit(
            train.inputs[order], train.task[order], classes=[0, 1], sample_weight=weight
        )
        probability = model.predict_proba(valid.inputs)[:, 1]
        if (loss := log_loss(valid.task, probability)) < best:
            best, scores = loss, (probability, model.predict_proba(inputs)[:, 1])
    return scores


# A model is a function (train, weights, valid, inputs, rng) -> the scores of valid, and
# of inputs.
MODELS: dict[str, Callable] = {
    "logistic regression": _linear,
    "gradient boosting": _trees,
    "neural network": _network,
}


def _positive(ratio: float) -> float:
    if not 0 < ratio < np.inf:
        raise ValueError(f"ratio must be positive and finite, found {ratio}")
    return ratio
