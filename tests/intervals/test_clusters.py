"""Few clusters: against matrices, statsmodels and exact limits; coverage; errors."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.linalg import sqrtm
from statsmodels.stats.proportion import proportion_confint

from fairlib.intervals import clusters
from fairlib.intervals.clusters import difference_from_sums, from_sums, interval

SIZES = np.array([3, 8, 1, 12, 5])
SUMS = np.array([1, 3, 0, 7, 4])
BOTH = ["items", "clusters"]


def examples(n=SIZES, k=SUMS):
    """Return values of 0 and 1, and their clusters, from sizes and sums."""
    cluster = np.repeat(np.arange(len(n)), n)
    values = [np.arange(size) < total for size, total in zip(n, k, strict=True)]
    return np.concatenate(values).astype(float), cluster


def side(n, k):
    return clusters._side(n, k, names=("n", "k"), bounds=(0, 1))


def beta_means(rng, shape, *, mean, correlation):
    total = 1 / correlation - 1
    return rng.beta(mean * total, (1 - mean) * total, shape)


def unequal(rng, shape):
    return np.maximum(np.round(40 * rng.lognormal(-0.32, 0.8, shape)), 1)


# --- The variance and its degrees of freedom ---


def test_the_variance_is_bell_and_mccaffreys_by_matrices():
    """CR2: the residuals of a cluster are multiplied by (I - H_cc)^(-1/2)."""
    value, cluster = examples()
    total = len(value)
    residual = value - value.mean()

    variance = 0.0
    for c in range(len(SIZES)):
        is_inside = cluster == c
        size = is_inside.sum()
        hat = np.ones((size, size)) / total
        adjusted = np.linalg.inv(sqrtm(np.eye(size) - hat)) @ residual[is_inside]
        variance += (adjusted.sum() / total) ** 2

    assert side(SIZES, SUMS).variance == pytest.approx(variance)


def test_without_the_correction_the_variance_is_that_of_statsmodels():
    value, cluster = examples()
    model = sm.OLS(value, np.ones(len(value)))
    fitted = model.fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    one = side(SIZES, SUMS)
    uncorrected = (one.residual**2 * (1 - one.share)).sum()
    assert uncorrected == pytest.approx(fitted.cov_params().item())


def test_clusters_of_one_example_have_statsmodels_hc2():
    value = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.4])
    fitted = sm.OLS(value, np.ones(6)).fit(cov_type="HC2")
    assert side(np.ones(6), value).variance == pytest.approx(fitted.cov_params().item())


def brute_force_freedom(share_a, share_b, of_a, of_b):
    """Return Satterthwaite's df of Σ_c d_c² for independent examples, by matrices.

    An example of side A has variance of_a times the number of A's examples.
    """
    number = len(share_a)
    covariance = np.zeros((number, number))
    for share, variance in ((share_a, of_a), (share_b, of_b)):
        # Cluster c's residual is e_c - h_c Σ e, where e_c has variance h_c.
        residual_maker = np.eye(number) - share[:, None]
        of_residuals = residual_maker @ np.diag(share) @ residual_maker.T
        scale = np.diag(1 / np.sqrt(1 - share))
        covariance += variance * scale @ of_residuals @ scale
    return np.trace(covariance) ** 2 / np.trace(covariance @ covariance)


def test_the_degrees_of_freedom_are_those_of_matrices():
    one = side(SIZES, SUMS)
    nothing = np.zeros(len(SIZES))
    expected = brute_force_freedom(one.share, nothing, 1.0, 0.0)
    assert one.rarity == 0  # rates between 28 and 72 %
    assert one.freedom == pytest.approx(expected)

    equal = side(np.full(9, 4), np.arange(9) % 5)
    assert equal.freedom == pytest.approx(8)


def test_rare_events_leave_about_as_many_degrees_of_freedom_as_there_are_events():
    one = side(np.full(40, 1000), np.r_[np.zeros(38), 1, 1])
    # Two events of different clusters among 40,000 independent cases
    assert 1.5 < one.freedom < 2.0


@pytest.mark.parametrize("other", [[6, 2, 9, 1, 7], [12, 8, 5, 3, 1]])
def test_degrees_of_freedom_of_a_difference_are_those_of_matrices(other):
    a = side(SIZES, SUMS)
    b = side(other, np.array(other) / 2 + [0.5, 0, 0, 0, -0.5])
    found = clusters._freedom_with_parts(a, b, a.variance, b.variance)
    expected = brute_force_freedom(a.share, b.share, a.variance, b.variance)
    assert found == pytest.approx(expected)


def test_degrees_of_freedom_of_a_difference_are_familiar_for_equal_clusters():
    n = np.full(6, 10)
    k = np.array([3, 4, 5, 6, 7, 5])
    shared = clusters._freedom_of_difference(side(n, k), side(n, k[::-1]))
    assert shared == pytest.approx(5)

    zeros = np.zeros(6)
    a = side(np.r_[n, zeros], np.r_[k, zeros])
    b = side(np.r_[zeros, n], np.r_[zeros, k])
    assert clusters._freedom_of_difference(a, b) == pytest.approx(10)

    spread = np.array([1, 9, 5, 5, 2, 8])
    b = side(np.r_[zeros, n], np.r_[zeros, spread])
    means = (k / n, spread / n)
    welch = stats.ttest_ind(*means, equal_var=False).df
    assert clusters._freedom_of_difference(a, b) == pytest.approx(welch)


# --- The interval ---


def test_limits_are_those_of_statsmodels_for_the_effective_number_of_cases():
    one = side(SIZES, SUMS)
    mean = SUMS.sum() / SIZES.sum()
    t = stats.t.ppf(0.95, one.freedom)
    worth = mean * (1 - mean) / one.variance * (stats.norm.ppf(0.95) / t) ** 2
    expected = proportion_confint(mean * worth, worth, alpha=0.1, method="beta")

    found = from_sums(SIZES, SUMS, confidence=0.9)
    assert found == pytest.approx(expected)


def test_many_clusters_of_one_example_are_nearly_clopper_pearson():
    low, high = from_sums(np.ones(2000), np.arange(2000) < 700)
    expected = proportion_confint(700, 2000, method="beta")
    assert (low, high) == pytest.approx(expected, abs=2e-4)


def test_many_clusters_with_means_in_the_middle_are_nearly_student():
    rng = np.random.default_rng(0)
    means = rng.uniform(0.45, 0.55, 100)
    expected = stats.ttest_1samp(means, 0.5).confidence_interval(0.95)
    found = from_sums(np.full(100, 50), 50 * means)
    assert found == pytest.approx((expected.low, expected.high), abs=2e-4)


@pytest.mark.parametrize("number", [3, 5, 25])
def test_clusters_without_an_event_are_as_many_cases_as_clusters(number):
    """With equal sizes that is exact: P(all clusters are without) is at most α/2."""
    expected = proportion_confint(0, number, method="beta")
    assert from_sums(np.full(number, 40), np.zeros(number)) == pytest.approx(expected)

    low, high = from_sums(np.full(number, 40), np.full(number, 40))
    assert (1 - high, 1 - low) == pytest.approx(expected)


def test_clusters_that_are_all_alike_leave_room_for_others():
    found = interval([0.5] * 10, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    share = 0.025 ** (1 / 5)
    assert found.estimate == 0.5
    assert (found.low, found.high) == pytest.approx((0.5 * share, 1 - 0.5 * share))

    # The same up to rounding, and for sizes that differ
    thirds = interval([1 / 3] * 12, [1] * 2 + [2] * 3 + [3] * 7)
    assert thirds.low < 0.2 and thirds.high > 0.5


def test_a_sample_is_at_most_as_certain_as_its_largest_cluster_allows():
    even = from_sums([20, 20, 20, 20], [8, 10, 12, 10])
    uneven = from_sums([65, 5, 5, 5], [26, 2.5, 3, 2.5])
    assert np.diff(uneven) > np.diff(even)


def test_examples_and_sums_agree():
    value, cluster = examples()
    for weights in BOTH:
        found = interval(value, cluster, weights=weights)
        assert (found.low, found.high) == pytest.approx(
            from_sums(SIZES, SUMS, weights=weights)
        )
    assert found.estimate == pytest.approx(np.mean(SUMS / SIZES))
    assert interval(value, cluster).estimate == pytest.approx(value.mean())
    assert str(found).endswith("(95% t over 5 clusters)")


@pytest.mark.parametrize("weights", BOTH)
def test_names_and_order_do_not_matter(weights):
    value, cluster = examples()
    expected = interval(value, cluster, weights=weights)
    order = np.random.default_rng(0).permutation(len(value))
    names = np.array(["b", "ä", "c 1", "", "a"], dtype=object)[cluster]
    found = interval(pd.Series(value[order]), pd.Series(names[order]), weights=weights)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("weights", BOTH)
def test_mirror_images_and_other_scales(weights):
    value, cluster = examples()
    found = interval(value, cluster, weights=weights)
    ends = np.array([found.low, found.high])

    mirrored = interval(1 - value, cluster, weights=weights)
    assert [mirrored.high, mirrored.low] == pytest.approx(1 - ends)

    scaled = interval(6 * value - 2, cluster, weights=weights, bounds=(-2, 4))
    assert [scaled.low, scaled.high] == pytest.approx(6 * ends - 2)
    assert scaled.estimate == pytest.approx(6 * found.estimate - 2)


def test_equal_sizes_have_one_mean_and_its_interval():
    n = np.full(5, 12)
    assert from_sums(n, SUMS) == pytest.approx(from_sums(n, SUMS, weights="clusters"))


def test_many_means_are_those_of_one_at_a_time():
    n = np.array([[3, 8, 1, 12, 5], [4, 4, 4, 0, 0], [9, 0, 7, 6, 0]])
    k = np.array([[1, 3, 0, 7, 4], [0, 0, 0, 0, 0], [2, 0, 7, 1, 0]])
    for weights in BOTH:
        low, high = from_sums(n, k, weights=weights)
        for row in range(3):
            used = n[row] > 0
            alone = from_sums(n[row, used], k[row, used], weights=weights)
            assert (low[row], high[row]) == pytest.approx(alone)


@pytest.mark.parametrize("weights", BOTH)
def test_more_confidence_is_more_width(weights):
    widths = [
        np.diff(from_sums(SIZES, SUMS, weights=weights, confidence=level)).item()
        for level in (0.01, 0.5, 0.8, 0.95, 0.99, 0.999999)
    ]
    assert np.all(np.diff(widths) > 0)
    assert widths[0] >= 0


def test_fewer_than_three_clusters_with_examples_are_undefined():
    low, high = from_sums([[5, 5, 0], [5, 5, 5]], [[1, 2, 0], [1, 2, 3]])
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()


def test_nearly_nothing_known_is_the_whole_scale():
    """One event in the largest of three clusters: hardly a degree of freedom."""
    low, high = from_sums([1, 1, 500], [1, 0, 0])
    assert 0 <= low < 0.01
    assert 0 < high <= 1


# --- Coverage ---

SAMPLES = 4000
WORLDS = [
    # clusters, mean, intraclass correlation, sizes
    (3, 0.5, 0.05, "equal"),
    (5, 0.2, 0.4, "equal"),
    (10, 0.05, 0.3, "equal"),
    (25, 0.5, 0.999, "equal"),
    (5, 0.5, 0.5, "unequal"),
    (10, 0.2, 0.1, "unequal"),
    (25, 0.05, 0.3, "unequal"),
    (40, 0.2, 0.2, "unequal"),
]


def draw(rng, number, *, mean, correlation, sizes):
    shape = (SAMPLES, number)
    n = np.full(shape, 40.0) if sizes == "equal" else unequal(rng, shape)
    share = beta_means(rng, shape, mean=mean, correlation=correlation)
    return n, rng.binomial(n.astype(int), share)


@pytest.mark.parametrize("weights", BOTH)
@pytest.mark.parametrize(("number", "mean", "correlation", "sizes"), WORLDS)
def test_the_interval_covers_at_least_94_percent(
    number, mean, correlation, sizes, weights
):
    rng = np.random.default_rng(11)
    n, k = draw(rng, number, mean=mean, correlation=correlation, sizes=sizes)
    low, high = from_sums(n, k, weights=weights)
    coverage = np.mean((low <= mean) & (mean <= high))
    # Two Monte Carlo errors below 94 %
    assert coverage > 0.94 - 2 * np.sqrt(0.94 * 0.06 / SAMPLES)


@pytest.mark.parametrize("number", [5, 10, 25])
@pytest.mark.parametrize("sizes", ["equal", "unequal"])
def test_where_students_t_is_right_the_interval_is_hardly_wider(number, sizes):
    rng = np.random.default_rng(12)
    n, k = draw(rng, number, mean=0.5, correlation=0.05, sizes=sizes)
    low, high = from_sums(n, k)
    errors = np.sqrt([side(*sums).variance for sums in zip(n, k, strict=True)])
    freedom = [side(*sums).freedom for sums in zip(n, k, strict=True)]
    t_width = 2 * stats.t.ppf(0.975, freedom) * errors
    assert np.median(high - low) < 1.1 * np.median(t_width)


# --- Differences ---


def test_a_difference_changes_its_sign_with_the_sides():
    other = np.array([2, 9, 4, 4, 6])
    low, high = difference_from_sums(SIZES, SUMS, other, other / 2)
    swapped = difference_from_sums(other, other / 2, SIZES, SUMS)
    assert (low, high) == pytest.approx((-swapped[1], -swapped[0]))
    assert low < SUMS.sum() / SIZES.sum() - 0.5 < high

    scaled = difference_from_sums(
        SIZES, 6 * SUMS - 2 * SIZES, other, 3 * other - 2 * other, bounds=(-2, 4)
    )
    assert scaled == pytest.approx((6 * low, 6 * high))


def test_many_pairs_are_nearly_students_paired_t():
    rng = np.random.default_rng(3)
    common = rng.uniform(0.35, 0.65, 200)
    a = common + rng.uniform(-0.05, 0.05, 200)
    b = common + rng.uniform(-0.05, 0.05, 200)
    expected = stats.ttest_rel(a, b).confidence_interval(0.95)
    n = np.full(200, 30)
    found = difference_from_sums(n, 30 * a, n, 30 * b)
    assert found == pytest.approx((expected.low, expected.high), abs=5e-4)


def test_many_clusters_of_each_side_are_nearly_welchs_t():
    rng = np.random.default_rng(4)
    a = rng.uniform(0.4, 0.6, 150)
    b = rng.uniform(0.3, 0.6, 250)
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    n_a = np.r_[np.full(150, 30), np.zeros(250)]
    n_b = np.r_[np.zeros(150), np.full(250, 30)]
    found = difference_from_sums(n_a, np.r_[30 * a, b * 0], n_b, np.r_[a * 0, 30 * b])
    assert found == pytest.approx((expected.low, expected.high), abs=5e-4)


def test_sides_that_go_together_are_compared_more_precisely():
    n = np.full(6, 20)
    a = np.array([2, 5, 9, 12, 15, 18])
    together = difference_from_sums(n, a, n, np.array([1, 6, 8, 13, 14, 17]))
    against = difference_from_sums(n, a, n, np.array([17, 14, 13, 8, 6, 1]))
    assert np.diff(together) < np.diff(against) / 3


def test_sides_that_are_equal_in_every_cluster_leave_room_for_others():
    n = np.full(5, 20)
    k = np.array([8, 12, 10, 9, 11])
    room = 1 - 0.025 ** (1 / 5)
    assert difference_from_sums(n, k, n, k) == pytest.approx((-room, room))
    # No event on either side
    low, high = difference_from_sums(n, 0 * k, n, 0 * k)
    assert -high == low < -room / 2


def test_a_side_of_few_clusters_is_undefined():
    n = [4, 4, 4, 4]
    ends = difference_from_sums(n, [1, 2, 3, 4], [4, 4, 0, 0], [1, 2, 0, 0])
    assert np.isnan(ends).all()


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("number", [5, 12])
@pytest.mark.parametrize(("mean", "correlation"), [(0.5, 0.1), (0.2, 0.4), (0.05, 0.1)])
def test_at_most_5_percent_of_differences_are_claimed_falsely(
    is_shared, number, mean, correlation
):
    rng = np.random.default_rng(5)
    shape = (SAMPLES, number)
    n_a = unequal(rng, shape)
    n_b = unequal(rng, shape)
    mean_a = beta_means(rng, shape, mean=mean, correlation=correlation)
    mean_b = beta_means(rng, shape, mean=mean, correlation=correlation)
    if is_shared:
        mean_b = np.where(rng.random(shape) < 0.5, mean_a, mean_b)

    k_a = rng.binomial(n_a.astype(int), mean_a)
    k_b = rng.binomial(n_b.astype(int), mean_b)
    sides = (n_a, k_a, n_b, k_b)
    if not is_shared:
        none = np.zeros(shape)
        sides = (
            np.hstack([n_a, none]),
            np.hstack([k_a, none]),
            np.hstack([none, n_b]),
            np.hstack([none, k_b]),
        )

    low, high = difference_from_sums(*sides)
    claimed = np.mean((low > 0) | (high < 0))
    assert claimed < 0.05 + 2 * np.sqrt(0.05 * 0.95 / SAMPLES)


def test_few_clusters_against_many_are_not_trusted_because_they_vary_little():
    """Weighing the sides by their estimated variances alone claimed 10 % falsely."""
    rng = np.random.default_rng(6)
    n = np.full((SAMPLES, 104), 40)
    k = rng.binomial(n, beta_means(rng, n.shape, mean=0.2, correlation=0.4))
    is_few = np.arange(104) < 4
    low, high = difference_from_sums(n * is_few, k * is_few, n * ~is_few, k * ~is_few)
    assert np.mean((low > 0) | (high < 0)) < 0.05


# --- Errors ---


@pytest.mark.parametrize(
    ("values", "cluster", "message"),
    [
        ([0, 1, 0, 1], [1, 1, 2, 2], "clusters must name at least 3 clusters, found 2"),
        ([0, np.nan, np.nan], [1, 2, 3], "values must not be missing, found 2 missing"),
        ([0, 1, 0], ["a", None, "b"], "clusters must not be missing, found 1 missing"),
        ([0, 1.2, 0], [1, 2, 3], r"values must be in \[0, 1\], found 1.2"),
        ([0, 1], [1, 2, 3], "must have one length, found 2 and 3"),
        ([[0, 1]], [1, 2, 3], r"values must be a list .* found shape \(1, 2\)"),
        ([], [], "found 0"),
        (["a", "b", "c"], [1, 2, 3], r"values must be in \[0, 1\]"),
    ],
)
def test_bad_examples_are_refused(values, cluster, message):
    with pytest.raises(ValueError, match=message):
        interval(values, cluster)


def test_masks_and_missing_numbers_of_pandas_are_missing():
    masked = np.ma.masked_array([0.0, 1.0, 0.0, 1.0], mask=[0, 1, 0, 0])
    with pytest.raises(ValueError, match="values must not be missing, found 1"):
        interval(masked, [1, 2, 3, 3])
    nullable = pd.Series([1, None, 0], dtype="Int64")
    with pytest.raises(ValueError, match="values must not be missing, found 1"):
        interval(nullable, [1, 2, 3])


def test_series_whose_indexes_differ_are_refused():
    values = pd.Series([0, 1, 0, 1])
    with pytest.raises(ValueError, match="same index"):
        interval(values, pd.Series([1, 2, 3, 3], index=[3, 2, 1, 0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "rows"}, "weights must be one of items, clusters, found 'rows'"),
        ({"bounds": (1, 0)}, "bounds must be two numbers"),
        ({"bounds": (0, np.inf)}, "bounds must be two finite numbers"),
        ({"bounds": (0, 1, 2)}, "bounds must be two numbers"),
        ({"confidence": 1.0}, r"confidence must be in \(0, 1\)"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        interval(*examples(), **options)


@pytest.mark.parametrize(
    ("n", "k", "message"),
    [
        ([5, -1, 5], [1, 0, 1], "n must be finite and at least 0, found -1"),
        (
            [5, 5, 5],
            [1, 6, 1],
            r"k must be sums of n values in \[0, 1\], found 6.0 for",
        ),
        ([5, 5, 5], [1, np.nan, 1], "k must be finite, found nan"),
        ([5, 5, 5], [1, 1], r"n and k must be arrays of one shape.*\(3,\) and \(2,\)"),
        (5, 1, r"n and k must be arrays of one shape"),
        ([5, 5, 0], [1, 1, 1], "found 1.0 for 0.0 values"),
    ],
)
def test_bad_sums_are_refused(n, k, message):
    with pytest.raises(ValueError, match=message):
        from_sums(n, k)


def test_sides_with_other_numbers_of_clusters_are_refused():
    with pytest.raises(ValueError, match="as many clusters, found 3 and 4"):
        difference_from_sums([5, 5, 5], [1, 1, 1], [5] * 4, [1] * 4)
    with pytest.raises(ValueError, match="k_b must be sums of n_b values"):
        difference_from_sums([5, 5, 5], [1, 1, 1], [5] * 3, [9, 1, 1])


@pytest.mark.parametrize("shared", [True, False])
def test_what_sides_are_worth_gives_the_same_interval(shared):
    """The audit puts the sides together itself, and gets the same ends."""
    rng = np.random.default_rng(3)
    n_a = rng.integers(5, 15, 12).astype(float)
    n_b = rng.integers(5, 15, 12).astype(float)
    if not shared:
        n_a[6:] = 0
        n_b[:6] = 0
    rate = rng.beta(2, 3, 12)
    k_a = rng.binomial(n_a.astype(int), rate)
    k_b = rng.binomial(n_b.astype(int), rate)

    worth = clusters.worth_of_sides(n_a=n_a, k_a=k_a, n_b=n_b, k_b=k_b)
    low, high = clusters.difference_from_sums(n_a, k_a, n_b, k_b)
    mean = np.array([k_a.sum() / n_a.sum(), k_b.sum() / n_b.sum()])
    z = stats.norm.ppf(0.025)
    cases = worth.cases * (z / stats.t.ppf(0.025, worth.freedom)) ** 2
    lower = stats.beta.ppf(0.025, mean * cases, cases - mean * cases + 1)
    upper = stats.beta.ppf(0.975, mean * cases + 1, cases - mean * cases)
    below = np.array([mean[0] - lower[0], upper[1] - mean[1]])
    above = np.array([upper[0] - mean[0], mean[1] - lower[1]])
    ends = []
    for sign, sides in ((-1, below), (1, above)):
        squared = (sides**2).sum() - 2 * worth.correlation * sides.prod()
        ends.append(mean[0] - mean[1] + sign * np.sqrt(squared))
    assert ends == pytest.approx([low, high], abs=1e-6)
