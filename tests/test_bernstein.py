import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlib import bernstein

biases = st.floats(0.001, 1.0)
gammas = st.floats(0.01, 0.5)
variances = st.floats(0.0, 100.0)
confidences = st.floats(0.0, 0.999)
sizes = st.integers(1, 10**7)
PAPER = {"variance": "maximal", "gamma": 0.5}
quick = settings(max_examples=30, deadline=None)


# --- the paper's numbers ---


def test_sample_size_of_the_paper():
    assert bernstein.sample_size(0.05, **PAPER) == 11903
    assert isinstance(bernstein.sample_size(0.05, **PAPER), int)


def test_smallest_bias_of_winobias():
    assert bernstein.smallest_bias(3160, **PAPER) == pytest.approx(0.0974195453)
    assert bernstein.sample_size(0.0975, **PAPER) == 3155


def test_centred_cost_needs_a_quarter():
    assert bernstein.sample_size(0.05, variance=1.0, gamma=0.5, max_cost=0.5) == 3001


def test_half_width_solves_bernsteins_inequality():
    """At t, eq. 2 gives the probability of missing: another way to eq. 3."""
    n, variance, gamma, cost, confidence = 700, 0.31, 0.2, 1.5, 0.9
    t = bernstein.half_width(
        n, variance=variance, gamma=gamma, max_cost=cost, confidence=confidence
    )
    assert 2 * np.exp(
        -n * t**2 / (2 * variance + 2 * cost / (3 * gamma) * t)
    ) == pytest.approx(1 - confidence)


# --- eq. 3 and eq. 4 are inverses, and move the right way ---


@quick
@given(biases, variances, gammas, confidences)
def test_sample_size_is_the_smallest_that_supports_the_claim(
    bias, variance, gamma, confidence
):
    setting = {"variance": variance, "gamma": gamma, "confidence": confidence}
    n = bernstein.sample_size(bias, **setting)
    assert bernstein.half_width(n, **setting) < bias
    if n > 1:
        assert bernstein.half_width(n - 1, **setting) >= bias


@quick
@given(sizes, variances, gammas, confidences)
def test_smallest_bias_inverts_sample_size(n, variance, gamma, confidence):
    setting = {"variance": variance, "gamma": gamma, "confidence": confidence}
    bias = bernstein.smallest_bias(n, **setting)
    assert bernstein.sample_size(bias * (1 + 1e-9), **setting) <= n
    assert bernstein.sample_size(bias * (1 - 1e-9), **setting) > n
    assert (
        bernstein.sample_size(bias, **setting) == n + 1
    )  # n examples reach this bias and do not exceed it


@quick
@given(sizes, variances, gammas, confidences)
def test_interval_shrinks_with_n_and_gamma_and_grows_with_confidence(
    n, variance, gamma, confidence
):
    setting = {"variance": variance, "gamma": gamma, "confidence": confidence}
    t = bernstein.half_width(n, **setting)
    assert bernstein.half_width(n + 1, **setting) < t
    assert bernstein.half_width(n, **(setting | {"gamma": gamma / 2})) > t
    assert (
        bernstein.half_width(n, **(setting | {"confidence": (1 + confidence) / 2})) > t
    )
    assert bernstein.half_width(n, **(setting | {"variance": variance + 0.1})) > t


@quick
@given(sizes, gammas, st.floats(0.1, 50))
def test_scaling_the_cost_scales_the_half_width(n, gamma, cost):
    unit = bernstein.half_width(n, variance="maximal", gamma=gamma)
    assert bernstein.half_width(
        n, variance="maximal", gamma=gamma, max_cost=cost
    ) == pytest.approx(cost * unit)


def test_everything_broadcasts():
    n = np.array([[100], [1000], [10_000]])
    gamma = np.array([0.1, 0.5])
    table = bernstein.half_width(n, variance="maximal", gamma=gamma)
    assert table.shape == (3, 2)
    assert table[1, 0] == bernstein.half_width(1000, variance="maximal", gamma=0.1)
    sizes = bernstein.sample_size([0.05, 0.1], variance=4.0, gamma=0.5)
    assert sizes.tolist() == [
        bernstein.sample_size(0.05, **PAPER),
        bernstein.sample_size(0.1, **PAPER),
    ]


# --- disparities ---


@st.composite
def annotated(draw):
    n = draw(st.integers(4, 60))
    cost = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    rest = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n - 2, max_size=n - 2))
    return np.array(cost), np.array([1, -1, *rest])


@quick
@given(annotated())
def test_mean_of_amortized_is_groupwise_disparity(examples):
    cost, membership = examples
    assert bernstein.amortized_disparity(cost, membership).mean() == pytest.approx(
        bernstein.groupwise_disparity(cost, membership), abs=1e-12
    )


@quick
@given(annotated())
def test_amortized_disparity_against_a_loop(examples):
    cost, membership = examples
    share = {
        value: sum(m == value for m in membership) / len(membership)
        for value in (-1, 1)
    }
    expected = [
        c * m / share[m] if m else 0.0 for c, m in zip(cost, membership, strict=True)
    ]
    assert bernstein.amortized_disparity(cost, membership) == pytest.approx(expected)


@quick
@given(annotated(), st.randoms())
def test_relabelling_the_groups_flips_the_sign_and_order_does_not_matter(
    examples, random
):
    cost, membership = examples
    order = random.sample(range(len(cost)), len(cost))
    one, other = (
        bernstein.interval(cost, membership),
        bernstein.interval(cost[order], -membership[order]),
    )
    assert (other.estimate, other.low, other.high) == pytest.approx(
        (-one.estimate, -one.high, -one.low), abs=1e-12
    )


def test_known_proportions_weigh_the_examples():
    cost, membership = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1, 1, -1, 0])
    amortized = bernstein.amortized_disparity(cost, membership, proportions=(0.25, 0.5))
    assert amortized.tolist() == [4.0, 0.0, -2.0, 0.0]


def test_interval_uses_the_variance_it_is_told():
    rng = np.random.default_rng(0)
    cost, membership = (
        rng.integers(0, 2, 300).astype(float),
        np.repeat([1, -1], [100, 200]),
    )
    amortized = bernstein.amortized_disparity(cost, membership)
    for variance, number in (
        ("sample", amortized.var(ddof=1)),
        ("maximal", 9.0),
        (2.5, 2.5),
    ):
        expected = bernstein.half_width(300, variance=number, gamma=1 / 3)
        assert bernstein.interval(
            cost, membership, variance=variance
        ).half_width == pytest.approx(expected)


def test_gamma_defaults_to_the_smaller_share_and_can_be_lowered():
    cost, membership = [0, 1, 0, 1], [1, -1, -1, -1]
    default = bernstein.interval(cost, membership, variance=1.0).half_width
    assert default == pytest.approx(bernstein.half_width(4, variance=1.0, gamma=0.25))
    assert (
        bernstein.interval(cost, membership, variance=1.0, gamma=0.1).half_width
        > default
    )


# --- the three standard measures ---

LABEL = np.array([1, 1, 0, 0, 1, 1, 0, 0])
PREDICTION = np.array([1, 0, 1, 0, 1, 1, 0, 0])
PROTECTED = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def disparity(measure):
    return bernstein.groupwise_disparity(*measure(LABEL, PREDICTION, PROTECTED))


def test_demographic_parity_is_the_gap_in_rejections():
    assert disparity(bernstein.demographic_parity) == (1 - 2 / 4) - (1 - 2 / 4)
    shifted = bernstein.demographic_parity(LABEL, [0, 0, 1, 0, 1, 1, 0, 0], PROTECTED)
    assert bernstein.groupwise_disparity(*shifted) == (1 - 1 / 4) - (1 - 2 / 4)


def test_equal_opportunity_is_the_gap_in_false_negatives():
    assert disparity(bernstein.equal_opportunity) == 1 / 2 - 0


def test_equalized_odds_sees_false_positives():
    assert disparity(bernstein.equalized_odds) == 2 / 4 - 0
    only_false_positives = bernstein.equalized_odds(
        [1, 0, 1, 0], [1, 1, 1, 0], [True, True, False, False]
    )
    assert bernstein.groupwise_disparity(*only_false_positives) == 0.5


def test_equal_opportunity_leaves_the_unqualified_out():
    _, membership = bernstein.equal_opportunity(LABEL, PREDICTION, PROTECTED)
    assert membership.tolist() == [1, 1, 0, 0, -1, -1, 0, 0]


# --- errors name what is wrong ---


@pytest.mark.parametrize("confidence", [1.0, 1.5, -0.1, np.nan])
def test_confidence_outside(confidence):
    with pytest.raises(ValueError, match=r"confidence must be in \[0, 1\), found"):
        bernstein.half_width(10, variance=1.0, gamma=0.5, confidence=confidence)


@pytest.mark.parametrize("gamma", [0.0, 0.51, -1.0, np.nan, [0.1, 0.9]])
def test_gamma_outside(gamma):
    with pytest.raises(ValueError, match=r"gamma must be in \(0, 0.5\], found"):
        bernstein.sample_size(0.1, variance=1.0, gamma=gamma)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("n", {"n": 0}),
        ("n", {"n": np.nan}),
        ("variance", {"variance": -1.0}),
        ("variance", {"variance": "sample"}),
        ("max_cost", {"max_cost": 0.0}),
        ("max_cost", {"max_cost": np.inf}),
    ],
)
def test_other_settings_outside(name, change):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        bernstein.half_width(**({"n": 10, "variance": 1.0, "gamma": 0.5} | change))


@pytest.mark.parametrize("bias", [0.0, -0.1, np.nan])
def test_bias_outside(bias):
    with pytest.raises(ValueError, match="bias must be positive, found"):
        bernstein.sample_size(bias, variance=1.0, gamma=0.5)


@pytest.mark.parametrize("bias", [1e-10, 1e-200, [0.05, 1e-10]])
def test_a_sample_size_beyond_integers_is_refused(bias):
    with pytest.raises(ValueError, match="bias must be large enough"):
        bernstein.sample_size(bias, variance=1.0, gamma=0.5)


@pytest.mark.parametrize(
    ("cost", "membership", "message"),
    [
        ([0.5, 1.2], [1, -1], r"cost must be in \[0, max_cost=1\], found 1.2"),
        ([0.5, -0.2], [1, -1], "cost must be in .* found -0.2"),
        (
            [2, 3, 4, 5, 6],
            [1, -1, 1, 1, 1],
            "cost must be in .* found 2.0, 3.0, 4.0, ...$",
        ),
        ([0.5, np.nan], [1, -1], "cost must be in .* found nan"),
        ([0.5, 0.5], [1, 1], "membership must name both groups, .* found 1.0$"),
        ([0.5, 0.5], [-1, 0], "membership must name both groups, .* found -1.0, 0.0$"),
        ([0.5, 0.5, 0.5], [1, -1], r"one length, found shapes \(3,\) and \(2,\)"),
        ([0.5, 0.5], [1, 2], "membership must be -1, 0 or .1, found 2"),
        ([0.5, 0.5], [1, np.nan], "membership must be -1, 0 or .1, found nan"),
        ([0.5, 0.5], ["f", "m"], "membership must be -1, 0 or .1, found f, m"),
        ([0.5, 0.5], [1, pd.NA], "membership must be -1, 0 or .1, found 1, <NA>"),
        (["low", 0.5], [1, -1], "cost must be in .* found low"),
        ([], [], "cost must be a list of at least one cost"),
    ],
)
def test_examples_outside(cost, membership, message):
    with pytest.raises(ValueError, match=message):
        bernstein.interval(cost, membership)


@pytest.mark.parametrize("proportions", [(0.0, 0.5), (0.7, 0.7), (0.5,), 0.5])
def test_proportions_outside(proportions):
    with pytest.raises(ValueError, match="proportions must be"):
        bernstein.amortized_disparity([1, 0], [1, -1], proportions=proportions)


def test_outcomes_must_be_binary_and_of_one_length():
    with pytest.raises(ValueError, match="label must be 0 or 1, found 2"):
        bernstein.equal_opportunity([2, 1], [1, 1], [0, 1])
    with pytest.raises(
        ValueError,
        match="label, prediction, protected must have one length, found 2, 3, 2",
    ):
        bernstein.equal_opportunity([0, 1], [1, 1, 0], [0, 1])


# --- does it keep its word? ---


@pytest.mark.parametrize("gamma", [0.1, 0.5])
@pytest.mark.parametrize("variance", ["known", "maximal"])
def test_coverage_is_at_least_nominal(gamma, variance):
    """With known proportions, the bound for independent examples is a theorem."""
    rng = np.random.default_rng(7)
    n, runs, rate_a, rate_b = 200, 4000, 0.3, 0.2
    truth = rate_a - rate_b
    protected = rng.random((runs, n)) < gamma
    cost = rng.random((runs, n)) < np.where(protected, rate_a, rate_b)
    estimate = (cost * np.where(protected, 1 / gamma, -1 / (1 - gamma))).mean(axis=1)
    known = rate_a / gamma + rate_b / (1 - gamma) - truth**2
    used = known if variance == "known" else "maximal"
    t = bernstein.half_width(n, variance=used, gamma=gamma)
    assert np.mean(np.abs(estimate - truth) <= t) >= 0.95


def test_a_claim_at_the_sample_size_is_wrong_at_most_one_time_in_twenty():
    """Without any bias, few estimates reach the bias that n was planned for (eq. 4)."""
    rng = np.random.default_rng(8)
    rate, bias = 0.5, 0.2
    n = bernstein.sample_size(bias, variance=2.0, gamma=0.5)  # rate / 0.5 + rate / 0.5
    protected = rng.random((4000, n)) < 0.5
    cost = rng.random((4000, n)) < rate
    estimate = (cost * np.where(protected, 2, -2)).mean(axis=1)
    assert np.mean(np.abs(estimate) >= bias) <= 0.05


def test_equal_error_rates_neither_follow_from_equalized_odds_nor_imply_them():
    label, protected = (
        np.repeat([1, 0, 1, 0], [4, 4, 8, 4]),
        np.repeat([1, 0], [8, 12]),
    )  # shares of y = 1 differ
    prediction = np.array(
        [0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1]
    )  # FNR 1/4, FPR 1/2 in both
    gap = bernstein.groupwise_disparity(
        *bernstein.equalized_odds(label, prediction, protected)
    )
    assert gap == pytest.approx(3 / 8 - 4 / 12)
    label, protected = np.tile([1, 0], 4), np.repeat([1, 0], 4)
    prediction = np.array([0, 0, 1, 0, 1, 1, 1, 0])  # one error each, of the two kinds
    assert (
        bernstein.groupwise_disparity(
            *bernstein.equalized_odds(label, prediction, protected)
        )
        == 0
    )
    assert (
        bernstein.groupwise_disparity(
            *bernstein.equal_opportunity(label, prediction, protected)
        )
        == 0.5
    )
