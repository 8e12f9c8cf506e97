"""How often intervals over few clusters contain the truth, and how wide they are.

`python benchmarks/clusters.py` writes clusters.md, in ten to twenty minutes; with
`--quick` it prints a tenth of the simulations.

Everything is simulated from worlds whose truth is known, so every share has a Monte
Carlo error, which stands in the tables.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import betaincinv, ndtri

import fairlib
from fairlib.data import write_whole
from fairlib.intervals import betting, clusters

RESULT = Path(__file__).with_name("clusters.md")
SAMPLES = 4000
FEWER_SAMPLES = 400  # for methods that are slow
AUDITS = 120
CLUSTERS = (3, 5, 10, 25, 40)
SOURCES = (3, 5, 8, 12, 25)
SIZE = 40  # mean number of examples of a cluster
ALPHA = 0.05
REPLICATES = 399  # of the wild bootstrap
WEBB = np.sqrt([0.5, 1.0, 1.5])

Array = np.ndarray
Ends = tuple[Array, Array]


# --- Worlds ---


@dataclass(frozen=True)
class World:
    """Clusters whose means and sizes are drawn at random.

    `means` draws the true means of clusters and `sizes` the numbers of examples, both
    for (samples, clusters). If `growth` is not 0, sizes are multiplied by
    exp(growth * mean). `noise` is None for examples that are 0 or 1, and otherwise the
    precision of beta-distributed scores around the cluster's mean.
    """

    name: str
    means: Callable[[np.random.Generator, tuple], Array]
    sizes: Callable[[np.random.Generator, tuple], Array]
    growth: float = 0.0
    noise: float | None = None
    weights: str = "items"

    def draw(self, rng: np.random.Generator, shape: tuple) -> tuple[Array, Array]:
        """Return sizes and sums of clusters."""
        mean, n = self.drawn(rng, shape)
        if self.noise is None:
            return n, rng.binomial(n.astype(int), mean).astype(float)

        # The sum of n scores, from its mean and variance; scores are many.
        variance = n * mean * (1 - mean) / (1 + self.noise)
        total = rng.normal(n * mean, np.sqrt(variance))
        return n, np.clip(total, 0, n)

    def drawn(self, rng: np.random.Generator, shape: tuple) -> tuple[Array, Array]:
        """Return true means and sizes of clusters."""
        mean = self.means(rng, shape)
        n = self.sizes(rng, shape)
        if self.growth:
            n = np.maximum(np.round(n * np.exp(self.growth * mean)), 1)
        return mean, n

    def truth(self) -> tuple[float, float]:
        """Return the true mean and the design effect, from 400,000 clusters."""
        mean, n = self.drawn(np.random.default_rng(0), (1, 400_000))
        of_items = np.average(mean, weights=n)
        truth = of_items if self.weights == "items" else mean.mean()

        correlation = mean.var() / max(mean.mean() * (1 - mean.mean()), 1e-9)
        return float(truth), float(1 + (n.mean() - 1) * correlation)


def equal(rng, shape):
    """Return equal sizes."""
    return np.full(shape, float(SIZE))


def unequal(rng, shape):
    """Return lognormal sizes: the largest of 25 holds five times its share."""
    drawn = rng.lognormal(-0.32, 0.8, shape)
    return np.maximum(np.round(SIZE * drawn), 1)


def pareto(rng, shape):
    """Return sizes of which few are very large."""
    drawn = rng.pareto(1.3, shape) + 1
    return np.clip(np.ceil(SIZE / 4 * drawn), 1, 50 * SIZE)


def one_large(rng, shape):
    """Return equal sizes, except that the first cluster holds a third of all."""
    n = equal(rng, shape)
    n[:, 0] *= (shape[1] - 1) / 2
    return n


def beta(mean: float, correlation: float):
    """Return a draw of beta-distributed means with an intraclass correlation."""

    def draw(rng, shape):
        if correlation == 0:
            return np.full(shape, mean)
        if correlation == 1:
            return (rng.random(shape) < mean).astype(float)
        total = 1 / correlation - 1
        return rng.beta(mean * total, (1 - mean) * total, shape)

    return draw


def logit_normal(centre: float, deviation: float):
    """Return a draw of means whose logits are normal."""

    def draw(rng, shape):
        logit = np.log(centre / (1 - centre)) + deviation * rng.standard_normal(shape)
        return 1 / (1 + np.exp(-logit))

    return draw


def rare_clusters(mean: float, other: float, share: float):
    """Return a draw of means of which a small share is very different."""

    def draw(rng, shape):
        return np.where(rng.random(shape) < share, other, mean)

    return draw


WORLDS = (
    World("equal, 50 %, ICC 0", beta(0.5, 0), equal),
    World("equal, 50 %, ICC .05", beta(0.5, 0.05), equal),
    World("equal, 50 %, ICC .5", beta(0.5, 0.5), equal),
    World("equal, 20 %, ICC .1", beta(0.2, 0.1), equal),
    World("equal, 20 %, ICC 1", beta(0.2, 1), equal),
    World("equal, 5 %, ICC .05", beta(0.05, 0.05), equal),
    World("equal, 5 %, ICC .3", beta(0.05, 0.3), equal),
    World("equal, 1 %, ICC .1", beta(0.01, 0.1), equal),
    World("equal, 98 %, ICC .1", beta(0.98, 0.1), equal),
    World("unequal, 50 %, ICC 0", beta(0.5, 0), unequal),
    World("unequal, 50 %, ICC .05", beta(0.5, 0.05), unequal),
    World("unequal, 50 %, ICC .5", beta(0.5, 0.5), unequal),
    World("unequal, 20 %, ICC .1", beta(0.2, 0.1), unequal),
    World("unequal, 5 %, ICC .3", beta(0.05, 0.3), unequal),
    World("Pareto, 50 %, ICC .2", beta(0.5, 0.2), pareto),
    World("Pareto, 20 %, ICC .4", beta(0.2, 0.4), pareto),
    World("one holds a third, 20 %, ICC .2", beta(0.2, 0.2), one_large),
    World("unequal, logit-normal, 10 %, sd .5", logit_normal(0.1, 0.5), unequal),
    World("unequal, logit-normal, 10 %, sd 1.5", logit_normal(0.1, 1.5), unequal),
    World("unequal, scores around 50 %", beta(0.5, 0.05), unequal, noise=9.0),
    World("unequal, scores around 5 %", beta(0.05, 0.02), unequal, noise=9.0),
    World("grow with the mean, 50 %, ICC .1", beta(0.5, 0.1), unequal, growth=1.0),
    World("grow with the mean, 50 %, ICC .4", beta(0.5, 0.4), unequal, growth=1.0),
    World("grow with the mean, 20 %, ICC .1", beta(0.2, 0.1), unequal, growth=1.0),
    World("grow with the mean, 20 %, ICC .4", beta(0.2, 0.4), unequal, growth=1.0),
    World("grow with the mean, 5 %, ICC .3", beta(0.05, 0.3), unequal, growth=1.0),
    World("a tenth at 50 %, others 2 %", rare_clusters(0.02, 0.5, 0.1), equal),
    World("a tenth at 50 %, others 10 %", rare_clusters(0.1, 0.5, 0.1), equal),
)
WORLDS_OF_CLUSTERS = tuple(
    World(name, means, unequal, growth=growth, weights="clusters")
    for name, means, growth in (
        ("unequal, 50 %, ICC .1", beta(0.5, 0.1), 0.0),
        ("unequal, 20 %, ICC .4", beta(0.2, 0.4), 0.0),
        ("unequal, 5 %, ICC .05", beta(0.05, 0.05), 0.0),
        ("grow with the mean, 20 %, ICC .4", beta(0.2, 0.4), 1.0),
        ("grow with the mean, 5 %, ICC .3", beta(0.05, 0.3), 1.0),
    )
)


# --- Methods: from sizes and sums, both (samples, clusters), to ends ---


def shares_and_residuals(n: Array, k: Array) -> tuple[Array, Array, Array]:
    """Return the means, the clusters' shares h, and the residuals r."""
    total = n.sum(axis=1, keepdims=True)
    mean = k.sum(axis=1, keepdims=True) / total
    return mean[:, 0], n / total, (k - mean * n) / total


def t_quantile(freedom: Array) -> Array:
    """Return the quantile of Student's t for intervals of 95 %."""
    return stats.t.ppf(1 - ALPHA / 2, freedom)


def clipped(mean: Array, margin: Array) -> Ends:
    """Return mean ± margin, within the scale."""
    return np.clip(mean - margin, 0, 1), np.clip(mean + margin, 0, 1)


def freedom_of(h: Array, power: float) -> Array:
    """Return Bell and McCaffrey's degrees of freedom, for independent examples.

    `power` is 1/2 for CR2 and 1 for CR3: residuals are divided by (1 - h)^power.
    """
    number = h.shape[1]
    factor = (1 - h) ** -power
    covariance = -h[:, :, None] * h[:, None, :]
    covariance[:, np.arange(number), np.arange(number)] += h
    covariance *= factor[:, :, None] * factor[:, None, :]
    trace = np.einsum("scc->s", covariance)
    return trace**2 / (covariance**2).sum(axis=(1, 2))


def bell_mccaffrey(n: Array, k: Array) -> Ends:
    """Return t with the CR2 variance and Bell and McCaffrey's degrees of freedom."""
    mean, h, r = shares_and_residuals(n, k)
    variance = (r**2 / (1 - h)).sum(axis=1)
    return clipped(mean, t_quantile(freedom_of(h, 0.5)) * np.sqrt(variance))


def jackknife(n: Array, k: Array, *, satterthwaite: bool) -> Ends:
    """Return t with the CR3 variance (leaving clusters out one by one)."""
    mean, h, r = shares_and_residuals(n, k)
    number = n.shape[1]
    variance = (number - 1) / number * ((r / (1 - h)) ** 2).sum(axis=1)
    freedom = freedom_of(h, 1.0) if satterthwaite else number - 1
    return clipped(mean, t_quantile(freedom) * np.sqrt(variance))


def t_of_means(n: Array, k: Array) -> Ends:
    """Return Student's t interval for the means of the clusters."""
    means = k / n
    error = means.std(axis=1, ddof=1) / np.sqrt(n.shape[1])
    return clipped(means.mean(axis=1), t_quantile(n.shape[1] - 1) * error)


def score_t(n: Array, k: Array) -> Ends:
    """Return the means m for which the t test of k - m n = 0 does not reject.

    These follow from a quadratic equation (Fieller).
    """
    mean, h, r = shares_and_residuals(n, k)
    number = n.shape[1]
    t = t_quantile(number - 1)
    q = t**2 * number / (number - 1 + t**2)

    square = 1 - q * (h**2).sum(axis=1)
    half = q * (r * h).sum(axis=1)
    root = np.sqrt(np.maximum(half**2 + square * q * (r**2).sum(axis=1), 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        low = np.where(square > 0, mean - (root + half) / square, 0)
        high = np.where(square > 0, mean + (root - half) / square, 1)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def wild_bootstrap(n: Array, k: Array, *, rng: np.random.Generator) -> Ends:
    """Return the means that the wild cluster bootstrap does not reject.

    The null hypothesis is imposed, and clusters get Webb's six weights.
    """
    weights = rng.choice(np.append(WEBB, -WEBB), (n.shape[1], REPLICATES))
    _, h, _ = shares_and_residuals(n, k)
    h2 = (h**2).sum(axis=1, keepdims=True)

    def rejects(m: Array) -> Array:
        z = k - m[:, None] * n
        total = z.sum(axis=1, keepdims=True)
        squares = ((z - h * total) ** 2).sum(axis=1)
        observed = total[:, 0] ** 2 / np.maximum(squares, 1e-30)

        totals = z @ weights
        crossed = 2 * totals * ((h * z) @ weights)
        drawn_squares = z**2 @ weights**2 - crossed + totals**2 * h2
        drawn = totals**2 / np.maximum(drawn_squares, 1e-30)
        return (drawn >= observed[:, None] * (1 - 1e-9)).mean(axis=1) <= ALPHA

    mean = k.sum(axis=1) / n.sum(axis=1)
    ends = []
    for end in (0.0, 1.0):
        outside = np.full(len(mean), end)
        inside = mean
        is_whole = ~rejects(outside)
        for _ in range(14):
            middle = (outside + inside) / 2
            is_rejected = rejects(middle)
            outside = np.where(is_rejected, middle, outside)
            inside = np.where(is_rejected, inside, middle)
        ends.append(np.where(is_whole, end, outside))
    return ends[0], ends[1]


def bets(n: Array, k: Array) -> Ends:
    """Return betting on the means of the clusters."""
    return betting.ends(k / n, alpha=ALPHA / 2)


def korn_graubard(n: Array, k: Array) -> Ends:
    """Return Clopper and Pearson's limits for the effective size, clusters - 1 df."""
    mean, h, r = shares_and_residuals(n, k)
    variance = (r**2 / (1 - h)).sum(axis=1)
    shrinkage = (ndtri(ALPHA / 2) / t_quantile(n.shape[1] - 1)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        size = mean * (1 - mean) / variance
    size = np.where(np.isfinite(size), size, n.sum(axis=1)) * shrinkage

    def low(share: Array) -> Array:
        events = np.maximum(share * size, 1e-300)
        others = np.maximum(size - events, 0) + 1
        return np.where(share > 0, betaincinv(events, others, ALPHA / 2), 0)

    return low(mean), 1 - low(1 - mean)


METHODS: dict[str, Callable[[Array, Array], Ends]] = {
    "fairlib": clusters.from_sums,
    "t, CR2, BM": bell_mccaffrey,
    "t of means": t_of_means,
    "t, CR3": partial(jackknife, satterthwaite=False),
    "t, CR3, BM": partial(jackknife, satterthwaite=True),
    "score t": score_t,
    "Korn-Graubard": korn_graubard,
    "wild": partial(wild_bootstrap, rng=np.random.default_rng(1)),
    "betting": bets,
}
SLOW = {"wild", "betting"}


# --- One mean ---


def coverage_of(
    world: World, number: int, samples: int, rng: np.random.Generator
) -> list[dict]:
    """Return how often each method contains the truth, and its median width."""
    truth, design_effect = world.truth()
    n, k = world.draw(rng, (samples, number))
    if world.weights == "clusters":
        k = k / n
        n = np.ones(n.shape)

    rows = []
    for name, method in METHODS.items():
        used = samples if name not in SLOW else max(samples // 10, 1)
        low, high = method(n[:used], k[:used])
        is_covered = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        rows.append(
            {
                "world": world.name,
                "weights": world.weights,
                "clusters": number,
                "design effect": design_effect,
                "method": name,
                "coverage": is_covered.mean(),
                "width": np.median(high - low),
            }
        )
    return rows


def table_of_means(rows: pd.DataFrame) -> str:
    """Return the coverage of each method, with its width as a multiple of t's."""
    by_method = rows.pivot_table(
        index=["world", "clusters", "design effect"],
        columns="method",
        values=["coverage", "width"],
        sort=False,
    )
    lines = [
        ["clusters are", "number", "design effect", *METHODS],
        [":--", *["--:"] * (2 + len(METHODS))],
    ]
    for (world, number, effect), row in by_method.iterrows():
        t_width = row["width", "t, CR2, BM"]
        cells = []
        for name in METHODS:
            ratio = row["width", name] / t_width if t_width > 1e-9 else np.inf
            shown = f"{ratio:.2f}" if ratio < 99.5 else "–"
            cells.append(f"{100 * row['coverage', name]:.1f} ({shown})")
        lines.append([world, str(number), f"{effect:.1f}", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary_of_means(rows: pd.DataFrame) -> str:
    """Return the lowest coverage of each method, and its width where t covers."""
    ordinary = rows[~rows["world"].str.contains("grow|tenth")]
    t = ordinary[ordinary["method"] == "t, CR2, BM"]
    key = ["world", "weights", "clusters"]
    t = t.set_index(key)[["coverage", "width"]]

    lines = [
        [
            "method",
            "lowest coverage",
            "where",
            "below 94 %",
            "widest, 3 clusters",
            "widest, 5 to 40",
        ],
        [":--", "--:", ":--", "--:", "--:", "--:"],
    ]
    for name in METHODS:
        of_method = ordinary[ordinary["method"] == name].set_index(key)
        ratio = (of_method["width"] / t["width"])[t["coverage"] >= 0.94]
        is_three = ratio.index.get_level_values("clusters") == 3
        world, _, number = of_method["coverage"].idxmin()
        # Two standard errors below, so that chance alone hardly counts.
        samples = FEWER_SAMPLES if name in SLOW else SAMPLES
        allowed = 0.94 - 2 * np.sqrt(0.94 * 0.06 / samples)
        share = (of_method["coverage"] < allowed).mean()
        lines.append(
            [
                name,
                f"{100 * of_method['coverage'].min():.1f} %",
                f"{world}, {number} clusters",
                f"{100 * share:.0f} %",
                f"{ratio[is_three].max():.2f}",
                f"{ratio[~is_three].max():.2f}",
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# --- Differences ---


@dataclass(frozen=True)
class Pair:
    """Two sides whose sources have means of one distribution, plus a difference."""

    name: str
    mean: float
    correlation: float
    difference: float = 0.0


PAIRS = (
    Pair("50 %, ICC .1", 0.5, 0.1),
    Pair("20 %, ICC .4", 0.2, 0.4),
    Pair("5 %, ICC .1", 0.05, 0.1),
    Pair("20 %, ICC 1", 0.2, 1.0),
    Pair("50 and 35 %, ICC .1", 0.35, 0.1, 0.15),
)


def draw_sides(
    pair: Pair,
    rng: np.random.Generator,
    *,
    shape: tuple,
    other: int,
    is_shared: bool,
    sizes: Callable,
) -> tuple[Array, Array, Array, Array]:
    """Return sizes and sums of both sides, with one column per source.

    Shared sources have the same mean on both sides in half of the sources.
    """
    draw = beta(pair.mean, pair.correlation)
    shape_b = (shape[0], other)
    n_a = sizes(rng, shape)
    n_b = sizes(rng, shape_b)
    mean_a = draw(rng, shape)
    mean_b = draw(rng, shape_b)
    if is_shared:
        mean_b = np.where(rng.random(shape) < 0.5, mean_a, mean_b)

    # A difference turns right cases of side A into wrong ones.
    mean_a = mean_a + (1 - mean_a) * pair.difference / (1 - pair.mean)
    k_a = rng.binomial(n_a.astype(int), mean_a).astype(float)
    k_b = rng.binomial(n_b.astype(int), mean_b).astype(float)
    if is_shared:
        return n_a, k_a, n_b, k_b

    none_a = np.zeros(shape_b)
    none_b = np.zeros(shape)
    return (
        np.hstack([n_a, none_a]),
        np.hstack([k_a, none_a]),
        np.hstack([none_b, n_b]),
        np.hstack([none_b, k_b]),
    )


def t_of_difference(n_a: Array, k_a: Array, n_b: Array, k_b: Array) -> Ends:
    """Return t for what each source adds to the difference; sources - 1 df."""
    mean_a, h_a, r_a = shares_and_residuals(n_a, k_a)
    mean_b, h_b, r_b = shares_and_residuals(n_b, k_b)
    variance = ((r_a / np.sqrt(1 - h_a) - r_b / np.sqrt(1 - h_b)) ** 2).sum(axis=1)
    freedom = np.minimum((n_a > 0).sum(axis=1), (n_b > 0).sum(axis=1)) - 1
    margin = t_quantile(freedom) * np.sqrt(variance)
    difference = mean_a - mean_b
    return difference - margin, difference + margin


def audited(n_a: Array, k_a: Array, n_b: Array, k_b: Array) -> tuple[float, float]:
    """Return the ends that an audit with a low `minimum` has for one sample.

    An audit says nothing where all predictions are 0, or sources are too few.
    """
    if k_a.sum() + k_b.sum() == 0:
        return -1.0, 1.0
    source = np.tile(np.arange(len(n_a)), 4)
    frame = pd.DataFrame(
        {
            "group": np.repeat(["a", "b"], 2 * len(n_a)),
            "source": source,
            "prediction": np.tile(np.repeat([1, 0], len(n_a)), 2),
            "n": np.concatenate([k_a, n_a - k_a, k_b, n_b - k_b]).astype(int),
        }
    )
    report = fairlib.audit(
        frame[frame["n"] > 0],
        group="group",
        prediction="prediction",
        source="source",
        count="n",
        positive=1,
        minimum=2,
        metrics=[],
    )
    # Of two groups the audit may name either one first.
    row = report.to_frame().iloc[0]
    low, high = row[["low", "high"]].astype(float).fillna({"low": -1.0, "high": 1.0})
    return (low, high) if row["group"] == "group = a" else (-high, -low)


def rates_of(ends: Ends, truth: float) -> tuple[float, float, float]:
    """Return how often intervals exclude 0, contain the truth, and their width."""
    low, high = ends
    excludes = ((low > 0) | (high < 0)).mean()
    covers = ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean()
    return excludes, covers, float(np.median(high - low))


def differences(
    samples: int, audits: int, rng: np.random.Generator
) -> list[dict[str, str]]:
    """Return the table of false claims, coverage and widths of differences."""
    designs = [(number, number) for number in SOURCES] + [(5, 100), (12, 100)]
    rows = []
    for is_shared in (True, False):
        for sizes in (equal, unequal):
            for number, other in designs:
                for pair in PAIRS:
                    if is_shared and other != number:
                        continue
                    sides = draw_sides(
                        pair,
                        rng,
                        shape=(samples, number),
                        other=other,
                        is_shared=is_shared,
                        sizes=sizes,
                    )
                    few = [side[:audits] for side in sides]
                    by_audit = [audited(*one) for one in zip(*few, strict=True)]
                    low, high = np.array(by_audit).T
                    rows.append(
                        {
                            "sources": "shared" if is_shared else "own",
                            "sizes": sizes.__name__,
                            "number": f"{number} against {other}",
                            "rates": pair.name,
                            **described("t", t_of_difference(*sides), pair),
                            **described(
                                "fairlib",
                                clusters.difference_from_sums(*sides),
                                pair,
                            ),
                            **described("audit", (low, high), pair),
                        }
                    )
    return rows


def described(name: str, ends: Ends, pair: Pair) -> dict[str, str]:
    """Return the cells of a method: claims, coverage with its error, and width."""
    excludes, covers, width = rates_of(ends, pair.difference)
    samples = len(ends[0])
    variance = max(covers * (1 - covers), 1 / samples)
    error = 100 * np.sqrt(variance / samples)
    return {
        f"{name}: claims": f"{100 * excludes:.1f} %",
        f"{name}: coverage": f"{100 * covers:.1f} % ({error:.1f})",
        f"{name}: width": f"{width:.2f}",
    }


def table(rows: list[dict[str, str]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [list(rows[0]), [":--", ":--", ":--", ":--", *["--:"] * (len(rows[0]) - 4)]]
    lines += [list(row.values()) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def means(samples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the coverage and width of every method in every world."""
    return pd.DataFrame(
        [
            row
            for world in (*WORLDS, *WORLDS_OF_CLUSTERS)
            for number in CLUSTERS
            for row in coverage_of(world, number, samples, rng)
        ]
    )


def written(rows: pd.DataFrame, rows_of_differences: list[dict[str, str]]) -> str:
    """Return the result as text."""
    of_items = rows[rows["weights"] == "items"]
    of_clusters = rows[rows["weights"] == "clusters"]

    parts = [
        "# Intervals over few clusters: do they keep their word?",
        "95 % intervals for worlds whose truth is known, simulated. `python "
        "benchmarks/clusters.py` writes this file.",
        "A cell has the coverage in percent and, in brackets, the median width as a "
        "multiple of the width of the t interval with Bell and McCaffrey's degrees "
        'of freedom ("t, CR2, BM"). '
        f"The Monte Carlo error of a coverage of 95 % is 0.3 points ({SAMPLES:,} "
        f"samples), and 1.1 points for the wild bootstrap and betting "
        f"({FEWER_SAMPLES} samples). ICC is the intraclass correlation of clusters "
        f"with {SIZE} examples on average; the design effect is 1 + (mean size - 1) "
        "ICC.",
        "## In short",
        "Over all worlds of both tables except those where sizes depend on the mean, "
        'and those with few very different clusters. "Below 94 %" is the share of '
        "rows whose coverage is below 94 % by more than two Monte Carlo errors. "
        '"Widest" is the largest median width, as a multiple of that of the t '
        "interval, among the rows where the t interval covers 94 % or more.",
        summary_of_means(rows),
        "## The mean of items",
        table_of_means(of_items),
        "## The mean of clusters' means",
        "All clusters count alike, so all methods see one number for each cluster.",
        table_of_means(of_clusters),
        "## Differences of two means",
        '"Claims" is how often the interval excludes 0: falsely, except in rows with '
        'two rates. The error of the coverage is in brackets. "t" is Student\'s t for '
        "the difference of what each source adds to both means, with one degree of "
        "freedom less than the side with fewer sources has. The audit "
        f"({AUDITS} samples) is `fairlib.audit` with `minimum=2`.",
        table(rows_of_differences),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    share = 0.1 if options.quick else 1.0
    samples = round(SAMPLES * share)
    text = written(
        means(samples, np.random.default_rng(19)),
        differences(samples, round(AUDITS * share), np.random.default_rng(20)),
    )
    print(text)
    if not options.quick:
        write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
