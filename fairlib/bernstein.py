"""Bernstein-bounded unfairness: how far a bias estimate may lie from the truth, and how much data a claim needs.

Kawin Ethayarajh, "Is Your Classifier Actually Biased? Measuring Fairness under Uncertainty with Bernstein Bounds",
ACL 2020, https://doi.org/10.18653/v1/2020.acl-main.262. The paper's definitions and equations follow in its own order.

Every example has a cost c(y, ŷ) in [0, C], which its prediction imposes on it, and a membership f(x): +1 in the
protected group A, -1 in the unprotected group B, 0 in neither. Whoever has a cost function and an annotation function
calls them first and passes the two arrays. All functions of numbers broadcast over arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairlib.interval import Interval

# --- Definitions 2.2 and 2.3: the disparity ---------------------------------------------------------------------------


def groupwise_disparity(cost: ArrayLike, membership: ArrayLike) -> float:
    """Return how much more the protected group pays, on average: the bias itself.

    δ(f; c) = E_a[c(y_a, ŷ_a)] - E_b[c(y_b, ŷ_b)]  (definition 2.2)

    >>> groupwise_disparity(cost=[1, 0, 1, 0, 0, 0], membership=[1, 1, 1, -1, -1, 0])
    0.6666666666666666
    """
    cost, membership = _examples(cost, membership)
    return float(cost[membership == 1].mean() - cost[membership == -1].mean())


def amortized_disparity(
    cost: ArrayLike, membership: ArrayLike, *, proportions: tuple[float, float] | None = None
) -> np.ndarray:
    """Return each example's own estimate of the disparity; their mean is the groupwise disparity.

    δ̂(x, f; c) = c(y, ŷ) f(x) / Pr[f = f(x)]  (definition 2.3)

    proportions : (Pr[f = +1], Pr[f = -1]) of the population where they are known; by default the shares in the sample,
        with which the mean is exactly `groupwise_disparity`.
    """
    cost, membership = _examples(cost, membership)
    share_a, share_b = _proportions(membership, proportions)
    return cost * membership / np.where(membership == 1, share_a, share_b)


# --- Equations 3 and 4: from data to uncertainty, and from a claim to data --------------------------------------------


def half_width(
    n: ArrayLike,
    *,
    variance: ArrayLike | str,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
):
    """Return t: with probability `confidence` the true disparity lies within ± t of the estimate.

    t = (B + √(B² - 8 n σ² log[(1 - ρ)/2])) / (2 n),  B = -(2 C / 3 γ) log[(1 - ρ)/2]  (eq. 3)

    n : number of annotated examples.
    variance : σ², of the amortized disparity; or "maximal" for the paper's (C/γ)².
    gamma : γ, a lower bound on the share of the smaller group, in (0, 0.5].
    max_cost : C.
    confidence : ρ, in [0, 1).

    >>> round(half_width(500, variance="maximal", gamma=0.5), 3)
    0.248
    """
    n = _numbers("n", n, "positive", lambda n: n > 0)
    variance, gamma, max_cost, log_term = _setting(variance, gamma, max_cost, confidence)
    b = 2 * max_cost / (3 * gamma) * log_term
    return _plain((b + np.sqrt(b**2 + 8 * n * variance * log_term)) / (2 * n))


def sample_size(
    bias: ArrayLike,
    *,
    variance: ArrayLike | str,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
):
    """Return the smallest n with which an observed `bias` supports a claim: its interval excludes 0.

    n > (2 σ² + (2 C / 3 γ) δ̄) (-log[(1 - ρ)/2]) / δ̄²  (eq. 4)

    The arguments are those of `half_width`, whose inverse this is: `half_width(n) < bias` from this n on.

    >>> sample_size(0.05, variance="maximal", gamma=0.5)
    11903
    """
    bias = _numbers("bias", bias, "positive", lambda bias: bias > 0)
    variance, gamma, max_cost, log_term = _setting(variance, gamma, max_cost, confidence)
    with np.errstate(divide="ignore", over="ignore"):
        bound = (2 * variance + 2 * max_cost / (3 * gamma) * bias) * log_term / bias**2
    if not np.all(bound < 2.0**62):
        raise ValueError(f"bias must be large enough for fewer than 2^62 examples, found {_shown(bias)}")
    n = np.floor(bound) + 1
    # Where eq. 4 gives an integer up to rounding errors, eq. 3 decides on which side of it we are.
    setting = {"variance": variance, "gamma": gamma, "max_cost": max_cost, "confidence": confidence}
    n = np.where((n > 1) & (half_width(np.maximum(n - 1, 1), **setting) < bias), n - 1, n)
    n = np.where(half_width(n, **setting) < bias, n, n + 1)
    return _plain(n.astype(np.int64))


def smallest_bias(
    n: ArrayLike,
    *,
    variance: ArrayLike | str,
    gamma: ArrayLike,
    max_cost: ArrayLike = 1.0,
    confidence: ArrayLike = 0.95,
):
    """Return the bias above which n examples support a claim: the exact inverse of eq. 4.

    An estimate δ̄ supports a claim when t < δ̄. Since t does not depend on δ̄, the threshold is t itself (eq. 3); it has a
    name of its own because it answers the question that a data set's owner asks.

    >>> round(smallest_bias(3160, variance="maximal", gamma=0.5), 5)
    0.09742
    """
    return half_width(n, variance=variance, gamma=gamma, max_cost=max_cost, confidence=confidence)


def interval(
    cost: ArrayLike,
    membership: ArrayLike,
    *,
    variance: float | str = "sample",
    gamma: float | None = None,
    proportions: tuple[float, float] | None = None,
    max_cost: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Return the disparity between the groups with its Bernstein interval, [δ̄ - t, δ̄ + t] with t from eq. 3.

    variance : "sample" for the sample variance of the amortized disparity, a plug-in without a finite-sample guarantee;
        "maximal" for (C/γ)², which holds always and is far from what any data have; or σ² itself.
    gamma : lower bound on the share of the smaller group; by default the smaller of `proportions`.
    proportions : the groups' shares of the population where known; by default their shares of this sample.
    """
    cost, membership = _examples(cost, membership, max_cost=max_cost)
    amortized = amortized_disparity(cost, membership, proportions=proportions)
    smaller = min(_proportions(membership, proportions))
    if gamma is None:
        gamma = min(smaller, 0.5)
    elif proportions is not None and gamma > smaller:
        raise ValueError(f"gamma must be a lower bound on the proportions {proportions}, found {gamma}")
    if isinstance(variance, str) and variance == "sample":
        variance = float(amortized.var(ddof=1))
    t = half_width(len(cost), variance=variance, gamma=gamma, max_cost=max_cost, confidence=confidence)
    estimate = float(amortized.mean())
    return Interval(estimate, estimate - t, estimate + t, confidence, "bernstein")


# --- Section 2, standard fairness measures: each a cost with an annotation --------------------------------------------


def demographic_parity(label: ArrayLike, prediction: ArrayLike, protected: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in rejection rates: Pr[ŷ=0 | A] - Pr[ŷ=0 | B].

    c = 1 - ŷ, and every example is annotated. The label has no part in it; it stands here so that the three measures
    are called alike.
    """
    _, prediction, membership = _outcomes(label, prediction, protected)
    return 1.0 - prediction, membership


def equal_opportunity(label: ArrayLike, prediction: ArrayLike, protected: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in false negative rates.

    c = 1 - ŷ, and only the qualified are annotated: g(x) = f(x) y(x).
    """
    label, prediction, membership = _outcomes(label, prediction, protected)
    return 1.0 - prediction, membership * label


def equalized_odds(label: ArrayLike, prediction: ArrayLike, protected: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in error rates, false positives included.

    c = 1[y ≠ ŷ], and every example is annotated. The paper keeps g(x) = f(x) y(x) here, but that leaves out all
    examples with y = 0, the only ones that can be false positives, and gives equal opportunity once more. A gap of zero
    is necessary for equalized odds and not sufficient: see also `equal_opportunity(label, prediction, protected)` for
    the false negatives and `equal_opportunity(1 - label, 1 - prediction, protected)` for the false positives.
    """
    label, prediction, membership = _outcomes(label, prediction, protected)
    return (label != prediction).astype(float), membership


# --- The one place where input is checked -----------------------------------------------------------------------------


def _setting(variance, gamma, max_cost, confidence) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return σ², γ, C and -log[(1 - ρ)/2], checked."""
    gamma = _numbers("gamma", gamma, "in (0, 0.5]", lambda gamma: (gamma > 0) & (gamma <= 0.5))
    max_cost = _numbers("max_cost", max_cost, "positive", lambda cost: cost > 0)
    confidence = _numbers("confidence", confidence, "in [0, 1)", lambda rho: (rho >= 0) & (rho < 1))
    if isinstance(variance, str):
        if variance != "maximal":
            raise ValueError(f"variance must be a number or 'maximal', found {variance!r}")
        variance = (max_cost / gamma) ** 2
    variance = _numbers("variance", variance, "at least 0", lambda variance: variance >= 0)
    return variance, gamma, max_cost, -np.log((1 - confidence) / 2)


def _examples(cost: ArrayLike, membership: ArrayLike, *, max_cost: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    cost = _numbers("cost", cost, f"in [0, max_cost={max_cost:g}]", lambda cost: (cost >= 0) & (cost <= max_cost))
    membership = _numbers("membership", membership, "-1, 0 or +1", lambda value: np.isin(value, [-1, 0, 1]))
    if cost.ndim != 1 or cost.shape != membership.shape:
        raise ValueError(
            f"cost and membership must be lists of the same length, found shapes {cost.shape} and {membership.shape}"
        )
    for value, group in {1: "the protected group A (+1)", -1: "the unprotected group B (-1)"}.items():
        if not np.any(membership == value):
            raise ValueError(f"membership must name both groups, found no example of {group}")
    return cost, membership.astype(int)


def _proportions(membership: np.ndarray, proportions: tuple[float, float] | None) -> tuple[float, float]:
    if proportions is None:
        return float(np.mean(membership == 1)), float(np.mean(membership == -1))
    known = _numbers("proportions", proportions, "in (0, 1)", lambda share: (share > 0) & (share < 1))
    if known.shape != (2,) or known.sum() > 1 + 1e-12:
        raise ValueError(
            f"proportions must be two shares, of A and of B, that add up to at most 1, found {proportions}"
        )
    return float(known[0]), float(known[1])


def _outcomes(label, prediction, protected) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return label and prediction as 0/1, and membership as ±1, checked."""
    arrays = {"label": label, "prediction": prediction, "protected": protected}
    checked = [_numbers(name, values, "0 or 1", lambda x: (x == 0) | (x == 1)) for name, values in arrays.items()]
    if len({values.shape for values in checked}) > 1:
        lengths = ", ".join(f"{name} {values.size}" for name, values in zip(arrays, checked, strict=True))
        raise ValueError(f"label, prediction and protected must have the same length, found {lengths}")
    label, prediction, protected = (values.astype(int) for values in checked)
    return label, prediction, 2 * protected - 1


def _numbers(name: str, values: ArrayLike, allowed: str, test) -> np.ndarray:
    """Return `values` as floats, or raise naming the argument, what was found and what is allowed. NaN never passes."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {allowed}, found {_shown(values)}") from None
    good = np.isfinite(numbers) & test(numbers)
    if not np.all(good):
        raise ValueError(f"{name} must be {allowed}, found {_shown(numbers[~good])}")
    return numbers


def _shown(values: ArrayLike) -> str:
    """Write the first few values for an error message."""
    flat = np.ravel(values)
    return ", ".join(f"{value:g}" if isinstance(value, np.number) else str(value) for value in flat[:3]) + (
        f" and {flat.size - 3} more" if flat.size > 3 else ""
    )


def _plain(values: np.ndarray):
    """Return a Python number for a scalar, the array otherwise."""
    return values.item() if values.ndim == 0 else values
