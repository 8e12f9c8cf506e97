"""How much a bias amplification would vary from one test set to the next."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairlib.amplification.cooccurrence import Counts, blocks, indicators
from fairlib.amplification.measures import Pairs, counts_of, mean_of, pairs_of
from fairlib.checks import check_confidence
from fairlib.interval import Interval

_FEWEST_WRONG = 5  # examples that an interval needs
_SMALLEST_INFLUENCE = 1e-12  # anything smaller is a rounding error


def interval(
    direction: str,
    task: ArrayLike,
    attribute: ArrayLike,
    predicted: ArrayLike,
    *,
    train: Counts | Sequence[ArrayLike] | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Return a bias amplification with its interval, from one test set.

    The interval says how much the value would vary from one test set to the next. It
    takes the directions y_at as given. Over several trainings of a model, use
    `resampling.over_runs` instead.

    Parameters
    ----------
    direction : "A->T" or "T->A"
        Which measure.
    task : array_like, n x |T|
        Labels of the tasks in the test set.
    attribute : array_like, n x |A|
        Labels of the attributes.
    predicted : array_like
        Predicted tasks ("A->T") or attributes ("T->A"), 0 or 1, or their probabilities.
    train : (task, attribute) or Counts, optional
        The training data, which set y_at, as in `attribute_to_task`.
    confidence : float, default 0.95
        The confidence level, between 0 and 1.

    Returns
    -------
    Interval
        The value and its ends. With fewer than 5 wrong examples that matter the ends
        are NaN, and `method` says why: a model that was never seen to err has a bias of
        0 in this test set, which shows next to nothing about the model.

    Notes
    -----
    The interval is the value ± t s/√n. Here s is the standard deviation of the
    influences u of the examples, which are known in closed form, and t is a quantile of
    Student's distribution. The value depends on the wrong examples, and most of all on
    those in rare groups. So the degrees of freedom are (Σ u²)² / Σ u⁴ (Satterthwaite),
    but at most the number of wrong examples.

    If y_at comes from the training data, the interval is about the association in
    *that* sample. Two exclusive attributes carry the same information, so intervals
    that treat the pairs as independent are too narrow.

    The cost is O(n |A| |T|).

    Examples
    --------
    For one in ten, the model decides by gender whether the person paints.

    >>> woman = np.repeat([1, 0], 200)
    >>> paints = np.repeat([1, 0, 1, 0], [160, 40, 60, 140])
    >>> predicted = np.where(np.arange(400) % 10 == 0, woman, paints)
    >>> print(interval("A->T", paints, np.stack([woman, 1 - woman], axis=1), predicted))
    0.025 [0.008, 0.042] (95% influence function)
    """
    check_confidence(confidence)
    labels, with_predictions = counts_of(direction, task, attribute, predicted)
    table = pairs_of(direction, labels, with_predictions, train=train)
    estimate = mean_of(direction, table)

    influences, wrong = _influences(
        direction, table, with_predictions.n, (task, attribute, predicted)
    )

    squares = (influences**2).sum()
    fourth_powers = max((influences**4).sum(), _SMALLEST_INFLUENCE**4)
    freedom = min(squares**2 / fourth_powers, wrong)
    if freedom < _FEWEST_WRONG:
        return Interval(
            estimate,
            low=np.nan,
            high=np.nan,
            confidence=confidence,
            method=(
                f"influence function: about {freedom:.0f} wrong examples that matter, "
                f"fewer than {_FEWEST_WRONG}"
            ),
        )

    quantile = stats.t.isf((1 - confidence) / 2, freedom)
    margin = quantile * influences.std() / np.sqrt(len(influences))
    return Interval(
        estimate,
        low=estimate - margin,
        high=estimate + margin,
        confidence=confidence,
        method="influence function",
    )


def _influences(
    direction: str,
    table: Pairs,
    n: float,
    arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
) -> tuple[np.ndarray, int]:
    """Return the influence of each example on the value, and how many are wrong.

    The value is the sum over the pairs of w Δ, where w is ±1 over the number of pairs.
    Δ is the mean error in the prediction among the n_a examples of its condition, so
    an example of that condition has the influence w (error - Δ) n / n_a.
    """
    task, attribute, predicted = arrays
    signs = np.where(table.defined, 2 * table.y - 1, 0.0)
    weights = signs / max(table.defined.sum(), 1)
    sizes = np.maximum(table.n, 1)
    delta = np.nan_to_num(table.delta)

    # The rows of the pairs are the conditions, and the columns what is predicted.
    if direction == "A->T":
        condition = attribute
        true = task
    else:
        condition = task
        true = attribute
        weights = weights.T
        sizes = sizes.T
        delta = delta.T
    factor = n / sizes[:, 0]
    offset = (weights * delta).sum(axis=1)

    matrices = indicators(
        {"given": condition, "true": true, "true_predicted": predicted}
    )
    influences = []
    wrong = 0
    for c, t, p in blocks(*matrices):
        errors = (p - t) @ weights.T
        influences.append(((c * factor) * (errors - offset)).sum(axis=1))
        wrong += int(np.count_nonzero((p != t).any(axis=1)))

    influence = np.concatenate(influences)
    influence[np.abs(influence) < _SMALLEST_INFLUENCE] = 0.0
    return influence, wrong
