"""Write benchmarks/which_interval.md: coverage, width and time of intervals.

`python benchmarks/which_interval.py` writes the page. Coverage and width of methods
that need only counts are exact: every sample is enumerated. Bootstraps are simulated.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy import ndarray
from pandas import DataFrame
from scipy import stats

from fairlib.data import ROOT, load
from fairlib.intervals import clusters, proportions
from fairlib.intervals.disparity import METHODS
from fairlib.intervals.exact import exact_unconditional
from fairlib.recipes.intervals import GAP_METHODS

PAGE = ROOT / "benchmarks" / "which_interval.md"
TEMPLATE = ROOT / "benchmarks" / "which_interval_page.md"
ALPHA = 0.05
SAMPLES = 1000  # of each world, for bootstraps
RESAMPLES = 1000
TIMED = (12, 50, 20, 50)  # events and cases of two groups
TIMED_PAIRS = (12, 5, 50)
TIMED_GAP = ((30, 42, 38, 51, 45), (200, 200, 200, 200, 200))
TIMED_CLUSTERS = (20, (4, 7, 3, 9, 2, 5, 8, 4, 6, 1))  # items, and events of each
_UNLIKELY = 1e-9  # samples that hardly ever occur are left out
_ROUNDING = 1e-12

Ends = tuple[ndarray, ndarray]

# Cases of both groups, and the rates: small, unequal, and larger groups.
GROUPS = (
    (10, 10, 0.2, 0.2),
    (10, 10, 0.5, 0.2),
    (20, 80, 0.05, 0.05),
    (20, 80, 0.2, 0.05),
    (50, 50, 0.2, 0.2),
    (50, 50, 0.4, 0.2),
)
# Pairs, and the shares of pairs in which only one side has the event.
PAIRS = (
    (20, 0.1, 0.1),
    (20, 0.3, 0.1),
    (50, 0.02, 0.02),
    (50, 0.15, 0.05),
    (200, 0.05, 0.05),
    (200, 0.15, 0.05),
)

# Clusters, items of each, the mean, and how much items of one cluster correlate.
CLUSTERS = (
    (5, 20, 0.5, 0.1),
    (5, 20, 0.2, 0.3),
    (10, 20, 0.5, 0.3),
    (10, 20, 0.05, 0.1),
    (25, 20, 0.2, 0.3),
    (25, 20, 0.05, 0.1),
)
OF_GAPS = {
    "percentile bootstrap": "bootstrap of the gap (fairlearn)",
    "largest pair": "interval of the pair that differs most",
    "gaps.interval": "gaps.interval (fairlib)",
}


def wald(x_a, n_a, x_b, n_b, *, alpha: float) -> Ends:
    """Return the interval of most textbooks: estimate plus and minus z errors."""
    a = x_a / n_a
    b = x_b / n_b
    reach = stats.norm.isf(alpha / 2) * np.sqrt(a * (1 - a) / n_a + b * (1 - b) / n_b)
    return a - b - reach, a - b + reach


def agresti_caffo(x_a, n_a, x_b, n_b, *, alpha: float) -> Ends:
    """Return Wald's interval after one success and one failure more in each group."""
    return wald(x_a + 1, n_a + 2, x_b + 1, n_b + 2, alpha=alpha)


def one_by_one(function: Callable[..., Ends], *counts, alpha: float) -> Ends:
    """Return the intervals of a function that takes one table at a time."""
    tables = np.broadcast_arrays(*counts)
    rows = zip(*(table.ravel() for table in tables), strict=True)
    ends = np.array([function(*map(int, row), alpha=alpha) for row in rows])
    return ends[:, 0].reshape(tables[0].shape), ends[:, 1].reshape(tables[0].shape)


def wald_pairs(only_a, only_b, n, *, alpha: float) -> Ends:
    """Return the large-sample interval for the difference within pairs."""
    difference = (only_a - only_b) / n
    variance = ((only_a + only_b) / n - difference**2) / n
    reach = stats.norm.isf(alpha / 2) * np.sqrt(np.maximum(variance, 0))
    return difference - reach, difference + reach


def mid_p(only_a, only_b, n, *, alpha: float) -> Ends:
    """Return McNemar's mid-p interval, with the share of discordant pairs as seen.

    Half of the probability of the observed split counts, in place of all of it.
    """
    discordant = np.asarray(only_a) + only_b
    low = np.zeros(discordant.shape)
    high = np.ones(discordant.shape)
    ends = []
    for tail in (alpha / 2, 1 - alpha / 2):
        below, above = low.copy(), high.copy()
        for _ in range(40):
            middle = (below + above) / 2
            chance = stats.binom.sf(only_a, discordant, middle)
            chance = chance + stats.binom.pmf(only_a, discordant, middle) / 2
            is_low = chance < tail
            below = np.where(is_low, middle, below)
            above = np.where(is_low, above, middle)
        ends.append((below + above) / 2)
    share = discordant / n
    return share * (2 * ends[0] - 1), share * (2 * ends[1] - 1)


def bootstrap(x_a, n_a, x_b, n_b, *, alpha: float, kind: str, rng) -> Ends:
    """Return bootstrap intervals: "percentile", or "BCa" (Efron 1987)."""
    a = np.asarray(x_a)[:, None] / n_a
    b = np.asarray(x_b)[:, None] / n_b
    drawn_a = rng.binomial(n_a, np.broadcast_to(a, (len(a), RESAMPLES))) / n_a
    drawn_b = rng.binomial(n_b, np.broadcast_to(b, (len(b), RESAMPLES))) / n_b
    drawn = np.sort(drawn_a - drawn_b, axis=1)

    z = stats.norm.isf(alpha / 2)
    shares = np.tile([alpha / 2, 1 - alpha / 2], (len(a), 1))
    if kind == "BCa":
        observed = a - b
        is_below = (drawn < observed).mean(axis=1) + (drawn == observed).mean(1) / 2
        bias = stats.norm.ppf(np.clip(is_below, 1e-3, 1 - 1e-3))[:, None]
        # The third and second moments of the influence of single cases.
        third = a * (1 - a) * (1 - 2 * a) / n_a**2 - b * (1 - b) * (1 - 2 * b) / n_b**2
        second = a * (1 - a) / n_a + b * (1 - b) / n_b
        skew = third / np.maximum(second, 1e-12) ** 1.5 / 6
        distance = bias + np.array([[-z, z]])
        shares = stats.norm.cdf(bias + distance / (1 - skew * distance))
    places = np.clip((shares * RESAMPLES).astype(int), 0, RESAMPLES - 1)
    ends = np.take_along_axis(drawn, places, axis=1)
    return ends[:, 0], ends[:, 1]


OF_GROUPS = {
    "Wald (textbooks)": wald,
    "Agresti-Caffo": agresti_caffo,
    "Newcombe": METHODS["newcombe"].counts,
    "Miettinen-Nurminen": METHODS["miettinen_nurminen"].counts,
    "exact (fairlib's default)": partial(one_by_one, exact_unconditional),
    "empirical Bernstein": METHODS["empirical_bernstein"].counts,
    "Hoeffding": METHODS["hoeffding"].counts,
    "Bernstein of paper 1": METHODS["bernstein_maximal"].counts,
}
BOOTSTRAPS = {"bootstrap, percentile": "percentile", "bootstrap, BCa": "BCa"}
OF_PAIRS = {
    "Wald (textbooks)": wald_pairs,
    "mid-p McNemar, rescaled": mid_p,
    "Tango": proportions.tango,
    "exact McNemar": proportions.mcnemar,
    "Hoeffding": proportions.hoeffding_pairs,
}


def of_groups(world: tuple, function: Callable[..., Ends]) -> tuple[float, float]:
    """Return the exact coverage and mean width for two independent groups."""
    n_a, n_b, rate_a, rate_b = world
    x_a, x_b = np.meshgrid(np.arange(n_a + 1), np.arange(n_b + 1), indexing="ij")
    chance = stats.binom.pmf(x_a, n_a, rate_a) * stats.binom.pmf(x_b, n_b, rate_b)
    is_likely = chance > _UNLIKELY
    counts = (x_a[is_likely], n_a, x_b[is_likely], n_b)
    return summed(
        function(*counts, alpha=ALPHA), chance[is_likely], truth=rate_a - rate_b
    )


def of_pairs(world: tuple, function: Callable[..., Ends]) -> tuple[float, float]:
    """Return the exact coverage and mean width for pairs."""
    n, rate_a, rate_b = world
    only_a, only_b = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    is_possible = only_a + only_b <= n
    counts = np.stack([only_a[is_possible], only_b[is_possible]])
    rest = n - counts.sum(axis=0)
    rates = [rate_a, rate_b, 1 - rate_a - rate_b]
    chance = stats.multinomial.pmf(np.stack([*counts, rest], axis=1), n, rates)
    is_likely = chance > _UNLIKELY
    ends = function(*counts[:, is_likely], n, alpha=ALPHA)
    return summed(ends, chance[is_likely], truth=rate_a - rate_b)


def of_bootstrap(world: tuple, kind: str) -> tuple[float, float]:
    """Return the simulated coverage and mean width of a bootstrap."""
    n_a, n_b, rate_a, rate_b = world
    rng = np.random.default_rng(0)
    x_a = rng.binomial(n_a, rate_a, SAMPLES)
    x_b = rng.binomial(n_b, rate_b, SAMPLES)
    ends = bootstrap(x_a, n_a, x_b, n_b, alpha=ALPHA, kind=kind, rng=rng)
    chance = np.full(SAMPLES, 1 / SAMPLES)
    return summed(ends, chance, truth=rate_a - rate_b)


def summed(ends: Ends, chance: ndarray, *, truth: float) -> tuple[float, float]:
    """Return the coverage and the mean width, weighted by chance."""
    low, high = ends
    covers = (low <= truth + _ROUNDING) & (truth - _ROUNDING <= high)
    share = chance / chance.sum()
    return float(share[covers].sum()), float(share @ (high - low))


def microseconds(function: Callable[[], Ends]) -> float:
    """Return how long one interval takes, the best of five."""
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def table(rows: dict[str, list[str]], heads: list[str]) -> str:
    """Return rows as a table in Markdown."""
    lines = [["method", *heads], [":--", *["--:"] * len(heads)]]
    lines += [[name, *cells] for name, cells in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(result: tuple[float, float]) -> str:
    """Return coverage in percent, in bold where it is too low, and the width."""
    coverage, width = result
    words = f"{100 * coverage:.1f}"
    return f"{f'**{words}**' if coverage < 0.94 else words} ({100 * width:.0f})"


def table_of_groups() -> str:
    """Return the table for two groups."""
    rows = {}
    for name, function in OF_GROUPS.items():
        cells = [cell(of_groups(world, function)) for world in GROUPS]
        x_a, n_a, x_b, n_b = TIMED
        tables = (np.array([x_a]), n_a, np.array([x_b]), n_b)
        taken = microseconds(partial(function, *tables, alpha=ALPHA))
        rows[name] = [*cells, f"{taken:,.0f}"]
    for name, kind in BOOTSTRAPS.items():
        cells = [cell(of_bootstrap(world, kind)) for world in GROUPS]
        rng = np.random.default_rng(0)
        x_a, n_a, x_b, n_b = TIMED
        options = {"alpha": ALPHA, "kind": kind, "rng": rng}
        taken = microseconds(partial(bootstrap, [x_a], n_a, [x_b], n_b, **options))
        rows[name] = [*cells, f"{taken:,.0f}"]
    heads = [f"{a} and {b}, {p:.0%} and {q:.0%}" for a, b, p, q in GROUPS]
    return table(rows, [*heads, "microseconds"])


def table_of_pairs() -> str:
    """Return the table for pairs."""
    rows = {}
    for name, function in OF_PAIRS.items():
        cells = [cell(of_pairs(world, function)) for world in PAIRS]
        only_a, only_b, n = TIMED_PAIRS
        counts = (np.array([only_a]), np.array([only_b]), n)
        taken = microseconds(partial(function, *counts, alpha=ALPHA))
        rows[name] = [*cells, f"{taken:,.0f}"]
    heads = [f"{n} pairs, {p:.0%} and {q:.0%}" for n, p, q in PAIRS]
    return table(rows, [*heads, "microseconds"])


def table_of_gaps(*, sizes: str, gap: float) -> str:
    """Return the table for the largest gap between several groups.

    Parameters
    ----------
    sizes : {"equal", "unequal"}
        Whether all groups are equally large.
    gap : float
        How much higher the rate of one group is.
    """
    gaps: DataFrame = load("gap_coverage", source="bundled")
    chosen = gaps[(gaps["gap"] == gap) & (gaps["sizes"] == sizes)]
    number = sorted(chosen["groups"].unique())
    rows = {}
    for method, name in OF_GAPS.items():
        of_method = chosen[chosen["method"] == method].groupby("groups")
        ranges = of_method["coverage"].agg(["min", "max"]).loc[number]
        widths = 100 * of_method["width"].mean().loc[number]
        rows[name] = [
            f"{100 * least:.0f} to {100 * most:.0f} ({width:.0f})"
            for (least, most), width in zip(
                ranges.itertuples(index=False), widths, strict=True
            )
        ]
    return table(rows, [f"{groups} groups" for groups in number])


def times_of_gaps() -> str:
    """Return how long one interval for the gap of five groups takes."""
    errors, totals = map(np.array, TIMED_GAP)
    rows = {}
    for method, name in OF_GAPS.items():
        rng = np.random.default_rng(0)
        taken = microseconds(partial(GAP_METHODS[method], errors, totals, rng))
        rows[name] = [f"{taken:,.0f}"]
    return table(rows, ["microseconds"])


def as_if_independent(n: ndarray, k: ndarray) -> Ends:
    """Return Wald's interval, as if the items of a cluster were independent."""
    share = k.sum(axis=1) / n.sum(axis=1)
    reach = stats.norm.isf(ALPHA / 2) * np.sqrt(share * (1 - share) / n.sum(axis=1))
    return share - reach, share + reach


def t_of_means(n: ndarray, k: ndarray) -> Ends:
    """Return the t interval of the clusters' means."""
    means = k / n
    number = means.shape[1]
    error = means.std(axis=1, ddof=1) / np.sqrt(number)
    reach = stats.t.isf(ALPHA / 2, number - 1) * error
    return means.mean(axis=1) - reach, means.mean(axis=1) + reach


def bootstrap_of_clusters(n: ndarray, k: ndarray) -> Ends:
    """Return percentile intervals; the same draws of clusters serve all samples."""
    rng = np.random.default_rng(1)
    number = n.shape[1]
    times = rng.multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
    drawn = (k @ times.T) / (n @ times.T)
    low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    return low, high


OF_CLUSTERS: dict[str, Callable[[ndarray, ndarray], Ends]] = {
    "items as if independent (Wald)": as_if_independent,
    "bootstrap of clusters, percentile": bootstrap_of_clusters,
    "t of the clusters' means": t_of_means,
    "clusters.interval (fairlib)": clusters.from_sums,
}


def of_clusters(world: tuple, function: Callable) -> tuple[float, float]:
    """Return the simulated coverage and mean width of an interval over clusters.

    The means of the clusters follow a beta distribution.
    """
    number, size, mean, correlation = world
    rng = np.random.default_rng(0)
    spread = (1 - correlation) / correlation
    shape = (SAMPLES, number)
    rates = rng.beta(mean * spread, (1 - mean) * spread, shape)
    k = rng.binomial(size, rates).astype(float)
    ends = function(np.full(shape, float(size)), k)
    return summed(ends, np.full(SAMPLES, 1 / SAMPLES), truth=mean)


def table_of_clusters() -> str:
    """Return the table for a mean over few clusters."""
    number, right = TIMED_CLUSTERS
    rows = {}
    for name, function in OF_CLUSTERS.items():
        cells = [cell(of_clusters(world, function)) for world in CLUSTERS]
        k = np.array([right], dtype=float)
        taken = microseconds(partial(function, np.full(k.shape, float(number)), k))
        rows[name] = [*cells, f"{taken:,.0f}"]
    heads = [f"{c} of {n}, {p:.0%}, {icc:.1f}" for c, n, p, icc in CLUSTERS]
    return table(rows, [*heads, "microseconds"])


def main() -> None:
    """Write the page."""
    page = TEMPLATE.read_text(encoding="utf-8")
    for name, written in {
        "$groups": table_of_groups,
        "$pairs": table_of_pairs,
        "$equal": partial(table_of_gaps, sizes="equal", gap=0.0),
        "$unequal": partial(table_of_gaps, sizes="unequal", gap=0.0),
        "$higher": partial(table_of_gaps, sizes="equal", gap=0.1),
        "$times": times_of_gaps,
        "$clusters": table_of_clusters,
    }.items():
        page = page.replace(f"{name}\n", f"{written()}\n")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
