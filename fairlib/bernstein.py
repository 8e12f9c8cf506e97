"""Bernstein-bounded unfairness: how far an estimated bias may lie from the truth.

This module is paper 1 in code: Kawin Ethayarajh, "Is Your Classifier Actually Biased?
Measuring Fairness under Uncertainty with Bernstein Bounds", ACL 2020,
https://doi.org/10.18653/v1/2020.acl-main.262. The functions follow the paper's order.

First the bias. A prediction imposes a cost c(y, ŷ) in [0, C] on its example (definition
2.1). The membership f(x) of the example is +1 in the protected group A, -1 in the
unprotected group B, and 0 in neither. The bias is the difference between the mean costs
of the two groups, and every example has an estimate of it, the amortized disparity::

    δ(f; c) = E_a[c(y_a, ŷ_a)] - E_b[c(y_b, ŷ_b)]            (definition 2.2)
    δ̂(x, f; c) = c(y, ŷ) f(x) / Pr[f = f(x)]                 (definition 2.3)

Then the bound. The estimate δ̄ is the mean of n independent values δ̂ with variance σ².
Each value lies between -m and m, and Bernstein's inequality limits how far δ̄ strays::

    Pr[|δ̄ - δ| > t] ≤ 2 exp(-n t² / (2 σ² + 2 m t / 3))      (eq. 1)

(The theorem asks more: that no value is farther than m from its expected value. A value
can be farther, by at most |δ|, which the paper leaves out and which hardly matters.)

Each group has at least the share γ of the population (definition 2.4), so m = C / γ
(proposition 2.5). This value turns eq. 1 into::

    Pr[|δ̄ - δ| > t] ≤ 2 exp(-n t² / (2 σ² + 2 C t / (3 γ)))  (eq. 2)

Last, its two uses. Set the right side of eq. 2 to 1 - ρ, where ρ is the confidence, and
write L for log[(1 - ρ)/2]. Solved for t, the equation gives the half width of an
interval (eq. 3). Solved for n, with t = δ̄, it gives the number of examples from which
on the interval around a bias δ̄ excludes 0 (eq. 4)::

    t = (B + √(B² - 8 n σ² L)) / (2 n),   B = -2 C / (3 γ) L  (eq. 3)
    n > (2 σ² + 2 C / (3 γ) δ̄) (-L) / δ̄²                     (eq. 4)

Functions of examples take the costs and the memberships as two arrays, with one value
per example. Functions of numbers accept arrays too and broadcast them.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from fairlib.checks import checked, examples, shown
from fairlib.interval import Interval

_ROUNDING = 1e-12  # by how much two shares may exceed 1 in floating-point numbers
_LARGEST_SIZE = 2.0**53  # a float holds every whole number up to this one


def groupwise_disparity(cost: ArrayLike, membership: ArrayLike) -> float:
    """Return the bias: how much more the protected group pays, on average.

    δ(f; c) = E_a[c(y_a, ŷ_a)] - E_b[c(y_b, ŷ_b)]

    A positive value means that the classifier costs group A more than group B. With
    c = 1[y ≠ ŷ] the value is a difference of error rates.

    Parameters
    ----------
    cost : array_like of float
        What the prediction costs each example, at least 0.
    membership : array_like of int
        +1 in the protected group A, -1 in the unprotected group B, 0 in neither.

    Returns
    -------
    float
        The mean cost of group A minus the mean cost of group B.

    References
    ----------
    Ethayarajh (2020), definition 2.2.

    Examples
    --------
    >>> groupwise_disparity(cost=[1, 0, 1, 0, 0, 0], membership=[1, 1, 1, -1, -1, 0])
    0.6666666666666666
    """
    costs, groups = examples(cost, membership)

    protected = costs[groups == 1]
    unprotected = costs[groups == -1]
    return float(protected.mean() - unprotected.mean())


def amortized_disparity(
    cost: ArrayLike, membership: ArrayLike, *, proportions: ArrayLike | None = None
) -> ndarray:
    """Return the disparity as each single example estimates it.

    δ̂(x, f; c) = c(y, ŷ) f(x) / Pr[f = f(x)]

    The mean of these estimates is the groupwise disparity. Bernstein's inequality is
    about such means of independent values.

    Parameters
    ----------
    cost : array_like of float
        What the prediction costs each example, at least 0.
    membership : array_like of int
        +1 in the protected group A, -1 in the unprotected group B, 0 in neither.
    proportions : (float, float), optional
        Pr[f = +1] and Pr[f = -1] in the population, where they are known. By default
        the shares in the sample, with which the mean is exactly the value of
        `groupwise_disparity`.

    Returns
    -------
    ndarray of float
        One value per example; 0 for examples in neither group.

    References
    ----------
    Ethayarajh (2020), definition 2.3.

    Examples
    --------
    >>> amortized_disparity(cost=[1, 0, 1, 1], membership=[1, 1, -1, 0]).tolist()
    [2.0, 0.0, -4.0, 0.0]
    """
    costs, groups = examples(cost, membership)

    if proportions is None:
        share_a = np.mean(groups == 1)
        share_b = np.mean(groups == -1)
    else:
        share_a, share_b = _checked_proportions(proportions)

    share_of_own_group = np.where(groups == 1, share_a, share_b)
    return costs * groups / share_of_own_group


def half_width(
    n: ArrayLike,
    *,
    variance: ArrayLike,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
) -> Any:
    """Return how far the estimated disparity may lie from the true one.

    t = (B + √(B² - 8 n σ² log[(1 - ρ)/2])) / (2 n),   B = -2 C / (3 γ) log[(1 - ρ)/2]

    With a probability of at least ρ, the true disparity lies between the estimate minus
    t and the estimate plus t. The half width t shrinks with more examples and with a
    larger γ. It grows with the variance and with the confidence.

    Parameters
    ----------
    n : array_like of float
        Number of annotated examples.
    variance : array_like of float or "maximal"
        σ², the variance of the amortized disparity. "maximal" is the paper's (C/γ)².
    gamma : array_like of float
        γ, a lower bound on the share of the smaller group, in (0, 0.5] (definition
        2.4).
    max_cost : array_like of float, default 1.0
        C, the largest cost that an example can have.
    confidence : array_like of float, default 0.95
        ρ, in [0, 1).

    Returns
    -------
    float or ndarray of float
        t: a number if all arguments are numbers, else an array of their common shape.

    References
    ----------
    Ethayarajh (2020), proposition 2.6, eq. 3.

    Examples
    --------
    >>> round(half_width(500, variance="maximal", gamma=0.5), 3)
    0.248
    """
    size = checked("n", n, "positive", lambda n: n > 0)
    sigma_squared, slope, log_term = _constants(variance, gamma, max_cost, confidence)

    b = -slope * log_term
    root = np.sqrt(b**2 - 8 * size * sigma_squared * log_term)
    return _plain((b + root) / (2 * size))


def interval(
    cost: ArrayLike,
    membership: ArrayLike,
    *,
    variance: ArrayLike = "sample",
    gamma: float | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Return the disparity between the groups with its Bernstein interval.

    [δ̄ - t, δ̄ + t], with t from eq. 3

    If the interval excludes 0, the sample supports the claim that the classifier is
    biased.

    Parameters
    ----------
    cost : array_like of float
        What the prediction costs each example, from 0 to `max_cost`.
    membership : array_like of int
        +1 in the protected group A, -1 in the unprotected group B, 0 in neither.
    variance : "sample", "maximal" or float, default "sample"
        σ². "sample" is the sample variance of the amortized disparity; an interval with
        this estimate has no guarantee at a finite sample size. "maximal" is (C/γ)²,
        which is always valid and far above the variance of any data.
    gamma : float, optional
        γ, a lower bound on the share of the smaller group. By default its share of this
        sample.
    max_cost : float, default 1.0
        C, the largest cost that an example can have.
    confidence : float, default 0.95
        ρ, in [0, 1).

    Returns
    -------
    Interval
        The estimated disparity δ̄ and the two ends.

    References
    ----------
    Ethayarajh (2020), proposition 2.6.

    Examples
    --------
    >>> print(interval(cost=[1, 0, 0, 0] * 100, membership=[1, 1, -1, -1] * 100))
    0.500 [0.376, 0.624] (95% bernstein)
    """
    costs, groups = examples(cost, membership, max_cost=max_cost)
    amortized = amortized_disparity(costs, groups)

    sigma_squared = variance
    if isinstance(variance, str) and variance == "sample":
        sigma_squared = amortized.var(ddof=1)

    if gamma is None:
        smallest_share = float(min(np.mean(groups == 1), np.mean(groups == -1)))
    else:
        smallest_share = gamma

    t = half_width(
        len(costs),
        variance=sigma_squared,
        gamma=smallest_share,
        max_cost=max_cost,
        confidence=confidence,
    )
    estimate = float(amortized.mean())
    return Interval(
        estimate,
        low=estimate - t,
        high=estimate + t,
        confidence=confidence,
        method="bernstein",
    )


def demographic_parity(
    label: ArrayLike, prediction: ArrayLike, protected: ArrayLike
) -> tuple[ndarray, ndarray]:
    """Return the cost and membership whose disparity is the gap in rejection rates.

    c(y, ŷ) = 1 - ŷ, and every example is annotated.

    Demographic parity asks that both groups are accepted (ŷ = 1) equally often. The
    labels do not matter for it; they are an argument so that the three measures of
    fairness are called alike.

    Parameters
    ----------
    label, prediction, protected : array_like of 0 or 1
        What is true of each example, what the classifier predicts, and whether the
        example belongs to the protected group.

    Returns
    -------
    cost, membership : ndarray
        The arguments of `groupwise_disparity` and `interval`.

    References
    ----------
    Ethayarajh (2020), section 2, standard fairness measures.

    Examples
    --------
    >>> groupwise_disparity(*demographic_parity(
    ...     label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]
    ... ))
    0.5
    """
    _, predictions, memberships = _outcomes(label, prediction, protected)
    return 1.0 - predictions, memberships


def equal_opportunity(
    label: ArrayLike, prediction: ArrayLike, protected: ArrayLike
) -> tuple[ndarray, ndarray]:
    """Return the cost and membership whose disparity is the gap in miss rates.

    c(y, ŷ) = 1 - ŷ, and only examples with y = 1 are annotated.

    Equal opportunity asks that both groups have the same false negative rate: of those
    who qualify (y = 1), the same share is rejected.

    Parameters
    ----------
    label, prediction, protected : array_like of 0 or 1
        What is true of each example, what the classifier predicts, and whether the
        example belongs to the protected group.

    Returns
    -------
    cost, membership : ndarray
        The arguments of `groupwise_disparity` and `interval`; the membership is 0
        where y = 0.

    References
    ----------
    Ethayarajh (2020), section 2, standard fairness measures; Hardt, Price and Srebro
    (2016).

    Examples
    --------
    >>> groupwise_disparity(*equal_opportunity(
    ...     label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]
    ... ))
    1.0
    """
    labels, predictions, memberships = _outcomes(label, prediction, protected)
    return 1.0 - predictions, memberships * labels


def equalized_odds(
    label: ArrayLike, prediction: ArrayLike, protected: ArrayLike
) -> tuple[ndarray, ndarray]:
    """Return the cost and membership whose disparity is the gap in error rates.

    c(y, ŷ) = 1[y ≠ ŷ], and every example is annotated.

    Parameters
    ----------
    label, prediction, protected : array_like of 0 or 1
        What is true of each example, what the classifier predicts, and whether the
        example belongs to the protected group.

    Returns
    -------
    cost, membership : ndarray
        The arguments of `groupwise_disparity` and `interval`.

    Notes
    -----
    The paper annotates only examples with y = 1. No such example can be a false
    positive, so the paper's choice measures equal opportunity once more. Here every
    example is annotated.

    Equal error rates do not imply equalized odds, and equalized odds do not imply equal
    error rates (lesson 03 has examples). To test equalized odds, look at both of its
    parts: `equal_opportunity` of these arguments for the false negative rates, and
    `equal_opportunity` of 1 - label and 1 - prediction for the false positive rates.

    References
    ----------
    Ethayarajh (2020), section 2, standard fairness measures; Hardt, Price and Srebro
    (2016).

    Examples
    --------
    >>> groupwise_disparity(*equalized_odds(
    ...     label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]
    ... ))
    0.5
    """
    labels, predictions, memberships = _outcomes(label, prediction, protected)
    return (labels != predictions).astype(float), memberships


def sample_size(
    bias: ArrayLike,
    *,
    variance: ArrayLike,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
) -> Any:
    """Return the smallest number of examples with which an observed bias excludes 0.

    n > (2 σ² + 2 C / (3 γ) δ̄) (-log[(1 - ρ)/2]) / δ̄²

    Fewer annotated examples cannot support the claim that the classifier is biased,
    even if they show a bias of this size. The function is the inverse of `half_width`:
    from this n on, `half_width(n) < bias`.

    Parameters
    ----------
    bias : array_like of float
        δ̄, the bias that the sample shows, positive.
    variance : array_like of float or "maximal"
        σ², the variance of the amortized disparity. "maximal" is the paper's (C/γ)².
    gamma : array_like of float
        γ, a lower bound on the share of the smaller group, in (0, 0.5].
    max_cost : array_like of float, default 1.0
        C, the largest cost that an example can have.
    confidence : array_like of float, default 0.95
        ρ, in [0, 1).

    Returns
    -------
    int or ndarray of int
        n: a number if all arguments are numbers, else an array of their common shape.

    Raises
    ------
    ValueError
        If the bias is so small that 2^53 examples would not suffice.

    References
    ----------
    Ethayarajh (2020), section 3.3, eq. 4.

    Examples
    --------
    >>> sample_size(0.05, variance="maximal", gamma=0.5)
    11903
    """
    delta = checked("bias", bias, "positive", lambda bias: bias > 0)
    sigma_squared, slope, log_term = _constants(variance, gamma, max_cost, confidence)

    with np.errstate(divide="ignore", over="ignore"):
        bound = (2 * sigma_squared + slope * delta) * -log_term / delta**2
    if not np.all(bound < _LARGEST_SIZE):
        raise ValueError(
            "bias must be large enough for fewer than 2^53 examples, "
            f"found {shown(delta)}"
        )

    # Where eq. 4 gives a whole number, its rounding errors hide whether that number
    # suffices. Eq. 3 decides: start just below, and add an example while t is too wide.
    half_width_of = partial(
        half_width,
        variance=variance,
        gamma=gamma,
        max_cost=max_cost,
        confidence=confidence,
    )
    n = np.maximum(np.floor(bound), 1)
    for _ in range(2):
        too_few = half_width_of(n) >= delta
        n = n + too_few

    return _plain(n.astype(np.int64))


def smallest_bias(
    n: ArrayLike,
    *,
    variance: ArrayLike,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
) -> Any:
    """Return the bias that n examples have to exceed before it can be claimed.

    A claim needs an interval that excludes 0, so the observed bias has to be larger
    than t of eq. 3. This function is `half_width` under the name of the question that
    it answers, and the exact inverse of `sample_size`.

    Parameters
    ----------
    n : array_like of float
        Number of annotated examples.
    variance : array_like of float or "maximal"
        σ², the variance of the amortized disparity. "maximal" is the paper's (C/γ)².
    gamma : array_like of float
        γ, a lower bound on the share of the smaller group, in (0, 0.5].
    max_cost : array_like of float, default 1.0
        C, the largest cost that an example can have.
    confidence : array_like of float, default 0.95
        ρ, in [0, 1).

    Returns
    -------
    float or ndarray of float
        t: a number if all arguments are numbers, else an array of their common shape.

    References
    ----------
    Ethayarajh (2020), section 3.3 and Figure 2.

    Examples
    --------
    >>> round(smallest_bias(3160, variance="maximal", gamma=0.5), 5)
    0.09742
    """
    return half_width(
        n, variance=variance, gamma=gamma, max_cost=max_cost, confidence=confidence
    )


def _constants(
    variance: ArrayLike, gamma: ArrayLike, max_cost: ArrayLike, confidence: ArrayLike
) -> tuple[ndarray, ndarray, ndarray]:
    """Return σ², 2 C / (3 γ) and log[(1 - ρ)/2], which eq. 2 to 4 share."""
    share = checked(
        "gamma", gamma, "in (0, 0.5]", lambda gamma: (gamma > 0) & (gamma <= 0.5)
    )
    largest_cost = checked("max_cost", max_cost, "positive", lambda cost: cost > 0)
    rho = checked(
        "confidence", confidence, "in [0, 1)", lambda rho: (rho >= 0) & (rho < 1)
    )

    sigma_squared = variance
    if isinstance(variance, str) and variance == "maximal":
        sigma_squared = (largest_cost / share) ** 2
    sigma_squared = checked(
        "variance",
        sigma_squared,
        "at least 0, or 'maximal'",
        lambda variance: variance >= 0,
    )

    return sigma_squared, 2 * largest_cost / (3 * share), np.log((1 - rho) / 2)


def _checked_proportions(proportions: ArrayLike) -> ndarray:
    """Return the shares of the two groups in the population."""
    shares = checked(
        "proportions", proportions, "in (0, 1)", lambda share: (share > 0) & (share < 1)
    )
    if shares.shape != (2,) or shares.sum() > 1 + _ROUNDING:
        raise ValueError(
            "proportions must be two shares that add up to at most 1, "
            f"found {shown(shares)}"
        )
    return shares


def _outcomes(
    label: ArrayLike, prediction: ArrayLike, protected: ArrayLike
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the labels and predictions as 0 or 1, and the memberships as +1 or -1."""
    arguments = {"label": label, "prediction": prediction, "protected": protected}
    outcomes = [
        checked(name, values, "0 or 1", lambda x: (x == 0) | (x == 1))
        for name, values in arguments.items()
    ]

    if len({values.shape for values in outcomes}) > 1:
        sizes = ", ".join(str(values.size) for values in outcomes)
        raise ValueError(f"{', '.join(arguments)} must have one length, found {sizes}")

    labels, predictions, in_protected_group = np.array(outcomes, dtype=int)
    return labels, predictions, 2 * in_protected_group - 1


def _plain(values: ndarray) -> Any:
    """Return a Python number for a scalar, and an array as it is."""
    return values.item() if values.ndim == 0 else values
