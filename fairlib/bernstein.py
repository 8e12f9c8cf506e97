"""Bernstein-bounded unfairness: how far a bias estimate may lie from the truth, and how much data a claim needs.

Kawin Ethayarajh, "Is Your Classifier Actually Biased? Measuring Fairness under Uncertainty with Bernstein Bounds",
ACL 2020, https://doi.org/10.18653/v1/2020.acl-main.262. What follows is in the paper's order.

Definition 2.1: every example has a cost c(y, ŷ) in [0, C], which its prediction imposes on it. It has a membership
f(x) too: +1 in the protected group A, -1 in the unprotected group B, 0 in neither. Functions of examples take both as
arrays, one value per example; functions of numbers broadcast over arrays.
"""

import numpy as np

from fairlib.checks import checked, examples, shown
from fairlib.interval import Interval


def groupwise_disparity(cost, membership) -> float:
    """Return how much more the protected group pays, on average: the bias itself (definition 2.2).

    δ(f; c) = E_a[c(y_a, ŷ_a)] - E_b[c(y_b, ŷ_b)]

    >>> groupwise_disparity(cost=[1, 0, 1, 0, 0, 0], membership=[1, 1, 1, -1, -1, 0])
    0.6666666666666666
    """
    cost, membership = examples(cost, membership)
    return float(cost[membership == 1].mean() - cost[membership == -1].mean())


def amortized_disparity(cost, membership, *, proportions=None) -> np.ndarray:
    """Return each example's own estimate of the disparity; their mean is the groupwise disparity (definition 2.3).

    δ̂(x, f; c) = c(y, ŷ) f(x) / Pr[f = f(x)]

    proportions : (Pr[f = +1], Pr[f = -1]) of the population where they are known; by default the shares in the sample,
        with which the mean is exactly `groupwise_disparity`.

    >>> amortized_disparity(cost=[1, 0, 1, 1], membership=[1, 1, -1, 0]).tolist()
    [2.0, 0.0, -4.0, 0.0]
    """
    cost, membership = examples(cost, membership)
    if proportions is None:
        proportions = np.mean(membership == 1), np.mean(membership == -1)
    shares = checked(
        "proportions", proportions, "in (0, 1)", lambda share: (share > 0) & (share < 1)
    )
    if shares.shape != (2,) or shares.sum() > 1 + 1e-12:
        raise ValueError(
            f"proportions must be two shares that add up to at most 1, found {proportions}"
        )
    return cost * membership / np.where(membership == 1, *shares)


def half_width(n, *, variance, gamma, max_cost=1.0, confidence=0.95):
    """Return t: with probability `confidence` the true disparity lies within ± t of the estimate (proposition 2.6).

    t = (B + √(B² - 8 n σ² log[(1 - ρ)/2])) / (2 n),  B = -(2 C / 3 γ) log[(1 - ρ)/2]  (eq. 3)

    n : number of annotated examples.
    variance : σ², of the amortized disparity; or "maximal" for the paper's (C/γ)².
    gamma : γ, a lower bound on the share of the smaller group, in (0, 0.5] (definition 2.4).
    max_cost : C.
    confidence : ρ, in [0, 1).

    >>> round(half_width(500, variance="maximal", gamma=0.5), 3)
    0.248
    """
    n = checked("n", n, "positive", lambda n: n > 0)
    variance, gamma, max_cost, log_term = _setting(
        variance, gamma, max_cost, confidence
    )
    b = 2 * max_cost / (3 * gamma) * log_term
    return _plain((b + np.sqrt(b**2 + 8 * n * variance * log_term)) / (2 * n))


def interval(
    cost, membership, *, variance="sample", gamma=None, max_cost=1.0, confidence=0.95
) -> Interval:
    """Return the disparity between the groups with its Bernstein interval, [δ̄ - t, δ̄ + t] with t from eq. 3.

    variance : "sample" for the sample variance of the amortized disparity, a plug-in without a finite-sample guarantee;
        "maximal" for (C/γ)², which holds always and is far from what any data have; or σ² itself.
    gamma : γ; by default the smaller group's share of this sample.

    >>> print(interval(cost=[1, 0, 0, 0] * 100, membership=[1, 1, -1, -1] * 100))
    0.500 [0.376, 0.624] (95% bernstein)
    """
    cost, membership = examples(cost, membership, max_cost=max_cost)
    amortized = amortized_disparity(cost, membership)
    if gamma is None:
        gamma = min(np.mean(membership == 1), np.mean(membership == -1))
    if isinstance(variance, str) and variance == "sample":
        variance = amortized.var(ddof=1)
    t = half_width(
        len(cost),
        variance=variance,
        gamma=gamma,
        max_cost=max_cost,
        confidence=confidence,
    )
    estimate = float(amortized.mean())
    return Interval(estimate, estimate - t, estimate + t, confidence, "bernstein")


def demographic_parity(label, prediction, protected) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in rejection rates: c = 1 - ŷ, every example annotated.

    The label has no part in it; it stands here so that the three measures are called alike, with 0 or 1 per example.

    >>> groupwise_disparity(*demographic_parity(label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]))
    0.5
    """
    _, prediction, membership = _outcomes(label, prediction, protected)
    return 1.0 - prediction, membership


def equal_opportunity(label, prediction, protected) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in false negative rates: c = 1 - ŷ, annotated where y = 1.

    >>> groupwise_disparity(*equal_opportunity(label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]))
    1.0
    """
    label, prediction, membership = _outcomes(label, prediction, protected)
    return 1.0 - prediction, membership * label


def equalized_odds(label, prediction, protected) -> tuple[np.ndarray, np.ndarray]:
    """Return (cost, membership) whose disparity is the gap in error rates: c = 1[y ≠ ŷ], every example annotated.

    The paper annotates where y = 1, which gives equal opportunity once more: no example with y = 1 is a false positive.
    Nor is a gap of 0 sufficient for equalized odds, or necessary (notebook 02): what decides is `equal_opportunity`
    of the arguments and, for the false positives, of 1 - label and 1 - prediction.

    >>> groupwise_disparity(*equalized_odds(label=[1, 0, 1, 0], prediction=[0, 0, 1, 0], protected=[1, 1, 0, 0]))
    0.5
    """
    label, prediction, membership = _outcomes(label, prediction, protected)
    return (label != prediction).astype(float), membership


def sample_size(bias, *, variance, gamma, max_cost=1.0, confidence=0.95):
    """Return the smallest n with which an observed `bias` supports a claim: its interval excludes 0.

    n > (2 σ² + (2 C / 3 γ) δ̄) (-log[(1 - ρ)/2]) / δ̄²  (eq. 4)

    The other arguments are those of `half_width`, whose inverse this is: `half_width(n) < bias` from this n on.

    >>> sample_size(0.05, variance="maximal", gamma=0.5)
    11903
    """
    bias = checked("bias", bias, "positive", lambda bias: bias > 0)
    variance, gamma, max_cost, log_term = _setting(
        variance, gamma, max_cost, confidence
    )
    with np.errstate(divide="ignore", over="ignore"):
        bound = (2 * variance + 2 * max_cost / (3 * gamma) * bias) * log_term / bias**2
    if not np.all(bound < 2.0**53):
        raise ValueError(
            f"bias must be large enough for fewer than 2^53 examples, found {shown(bias)}"
        )
    n = np.maximum(np.floor(bound), 1)
    for _ in range(
        2
    ):  # where eq. 4 gives an integer up to rounding errors, eq. 3 decides on which side of it n lies
        t = half_width(
            n, variance=variance, gamma=gamma, max_cost=max_cost, confidence=confidence
        )
        n = n + (t >= bias)
    return _plain(n.astype(np.int64))


def smallest_bias(n, *, variance, gamma, max_cost=1.0, confidence=0.95):
    """Return the bias above which n examples support a claim: t itself (eq. 3), and so the exact inverse of eq. 4.

    >>> round(smallest_bias(3160, variance="maximal", gamma=0.5), 5)
    0.09742
    """
    return half_width(
        n, variance=variance, gamma=gamma, max_cost=max_cost, confidence=confidence
    )


def _setting(
    variance, gamma, max_cost, confidence
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return σ², γ, C and -log[(1 - ρ)/2], checked."""
    gamma = checked(
        "gamma", gamma, "in (0, 0.5]", lambda gamma: (gamma > 0) & (gamma <= 0.5)
    )
    max_cost = checked("max_cost", max_cost, "positive", lambda cost: cost > 0)
    confidence = checked(
        "confidence", confidence, "in [0, 1)", lambda rho: (rho >= 0) & (rho < 1)
    )
    if isinstance(variance, str) and variance == "maximal":
        variance = (max_cost / gamma) ** 2
    variance = checked(
        "variance", variance, "at least 0, or 'maximal'", lambda variance: variance >= 0
    )
    return variance, gamma, max_cost, -np.log((1 - confidence) / 2)


def _outcomes(
    label, prediction, protected
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return label and prediction as 0/1, and membership as ±1, checked."""
    arrays = {"label": label, "prediction": prediction, "protected": protected}
    outcomes = [
        checked(name, values, "0 or 1", lambda x: (x == 0) | (x == 1))
        for name, values in arrays.items()
    ]
    if len({values.shape for values in outcomes}) > 1:
        raise ValueError(
            f"{', '.join(arrays)} must have one length, found {', '.join(str(x.size) for x in outcomes)}"
        )
    label, prediction, protected = np.array(outcomes, dtype=int)
    return label, prediction, 2 * protected - 1


def _plain(values: np.ndarray):
    """Return a Python number for a scalar, the array otherwise."""
    return values.item() if values.ndim == 0 else values
