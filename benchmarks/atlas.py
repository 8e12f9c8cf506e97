"""Do the atlas's intervals and plans keep their word?

`python benchmarks/atlas.py` writes atlas.md, in about two minutes.

Worlds whose truth is known are drawn again and again: clusters, such as templates, with
true means that vary, and items of 0 or 1 in each. `clusters.py` studies means and
differences; here are the parts that the atlas adds: plans, ratios, the largest of many
differences, and what goes wrong if items are taken to be independent.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, product
from pathlib import Path

import numpy as np
from numpy import ndarray
from scipy.stats import chi2

from fairlib.data import write_whole
from fairlib.intervals import cluster_planning, cluster_ratios, clusters, proportions
from fairlib.intervals.cluster_power import Worlds

RESULT = Path(__file__).with_suffix(".md")
WORLDS = 4000
SIZE = 40
SEED = 20
CLUSTERS = (3, 5, 10, 25, 40, 100)
CORRELATIONS = (0.0, 0.1, 0.4)


def main() -> None:
    """Write the study."""
    sections = [
        INTRODUCTION,
        power_table(),
        ratio_table(),
        largest_table(),
        independent_table(),
        design_effect_table(),
    ]
    text = "\n".join(sections)
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


INTRODUCTION = f"""# What the atlas promises: plans, ratios, and the largest difference

`python benchmarks/atlas.py` writes this file. Worlds whose truth is known are drawn
{WORLDS:,} times. Clusters have {SIZE} items; the true means of clusters follow a beta
distribution. ICC is the correlation of two items of one cluster, and the design effect
is 1 + {SIZE - 1} ICC. The Monte Carlo error is 0.3 points for a share of 95 %, and 0.6
points for a share of 80 %.
"""


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    names = list(header)
    lines = ["| " + " | ".join(names) + " |", "|" + " --: |" * len(names)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    """Return a share in percent."""
    return "–" if np.isnan(share) else f"{100 * share:.1f}"


# --- plans ---


def power_table() -> str:
    """Return how often the smallest bias of a plan is shown."""
    rows = []
    for number, correlation in product(CLUSTERS, CORRELATIONS):
        row: list[object] = [number, f"{correlation:g}"]
        for smallest, power in plans(number, correlation):
            effect = smallest()
            shown = np.nan if np.isnan(effect) else power(effect)
            row += [percent(effect), percent(shown)]
        rows.append(row)

    header = ["clusters", "ICC"]
    for kind in ("share", "pairs", "difference"):
        header += [f"{kind}: smallest", "shown"]
    return (
        "\n## Is the smallest bias shown as often as planned?\n\n"
        'Plans ask for a power of 80 %. "Smallest" is the smallest bias in points, '
        '"shown" is how often it is shown, in percent, in worlds that the plan did '
        "not see. A dash says that no bias has that power. A share is compared with "
        "50 %; a difference is that of two groups with half of the items each, and an "
        "error rate of 20 % in the other group; of pairs, 20 % differ.\n\n"
        + table(header, rows)
    )


def plans(number: int, correlation: float) -> list[tuple[Callable, Callable]]:
    """Return for each kind the smallest bias, and how often a bias is shown."""
    sizes = np.full(number, float(SIZE))
    halves = sizes / 2
    effect = 1 + (SIZE - 1) * correlation
    effect_of_halves = 1 + (SIZE / 2 - 1) * correlation

    def worlds(design_effect: float) -> Worlds:
        return Worlds(
            design_effect=design_effect, confidence=0.95, rng=SEED, worlds=WORLDS
        )

    share = partial(cluster_planning.smallest_share, sizes, design_effect=effect)
    pairs = partial(cluster_planning.smallest_change, sizes, design_effect=effect)
    difference = partial(
        cluster_planning.smallest_difference,
        halves,
        halves,
        design_effect=effect_of_halves,
    )
    return [
        (share, partial(worlds(effect).share, sizes=sizes, fixed=0.5)),
        (pairs, partial(worlds(effect).change, sizes=sizes, discordant=0.2)),
        (
            difference,
            partial(
                worlds(effect_of_halves).difference,
                sizes_a=halves,
                sizes_b=halves,
                error=0.2,
            ),
        ),
    ]


# --- ratios ---


def means(
    rate: float, correlation: float, shape: tuple[int, ...], rng: np.random.Generator
) -> ndarray:
    """Return true means of clusters."""
    if correlation == 0:
        return np.full(shape, rate)
    concentration = 1 / correlation - 1
    return rng.beta(rate * concentration, (1 - rate) * concentration, shape)


def ratio_table() -> str:
    """Return how often the interval of a ratio contains it."""
    rows = []
    for number, correlation in product((3, 5, 10, 25, 40), (0.0, 0.1, 0.4)):
        row: list[object] = [number, f"{correlation:g}"]
        for rate, shared in product((0.2, 0.6), (True, False)):
            row.append(percent(covered(number, correlation, rate, shared)))
        rows.append(row)
    header = ["clusters", "ICC"]
    header += ["rate 20 %, shared", "20 %, apart", "rate 60 %, shared", "60 %, apart"]
    return (
        "\n## Do intervals for ratios contain the ratio?\n\n"
        "The mean of group A is 0.8 times that of group B, and the columns give the "
        'mean of group B. "Shared": a cluster\'s means are high or low for both '
        'groups together. "Apart": they vary independently. Cells are the coverage of '
        "95 % intervals in percent.\n\n" + table(header, rows)
    )


def covered(number: int, correlation: float, rate: float, shared: bool) -> float:
    """Return the coverage of intervals for a ratio of 0.8."""
    rng = np.random.default_rng(SEED)
    shape = (WORLDS, number)
    level_b = means(rate, correlation, shape, rng)
    level_a = level_b if shared else means(rate, correlation, shape, rng)
    n = np.full(shape, SIZE // 2)

    k_a = rng.binomial(SIZE // 2, 0.8 * level_a)
    k_b = rng.binomial(SIZE // 2, level_b)
    low, high = cluster_ratios.from_sums(n, k_a, n, k_b)
    return float(np.mean((low <= 0.8) & (high >= 0.8)))


# --- the largest of many differences ---


def largest_table() -> str:
    """Return how often any difference is claimed if groups do not differ."""
    rows = []
    for number, correlation in product((5, 10, 25, 40), CORRELATIONS):
        row: list[object] = [number, f"{correlation:g}"]
        row += [percent(false_claims(number, correlation, g)) for g in (2, 3, 7)]
        rows.append(row)
    return (
        "\n## How often is the largest difference claimed falsely?\n\n"
        "All groups have a true mean of 30 %, but every cluster has a mean of its own "
        "for every group. Cells are the share of worlds in percent in which any two "
        "groups are found to differ; 5 % are allowed.\n\n"
        + table(["clusters", "ICC", "2 groups", "3 groups", "7 groups"], rows)
    )


def false_claims(number: int, correlation: float, groups: int) -> float:
    """Return how often the largest of all differences is shown."""
    rng = np.random.default_rng(SEED)
    shape = (groups, WORLDS, number)
    k = rng.binomial(SIZE // 4, means(0.3, correlation, shape, rng))
    n = np.full((WORLDS, number), SIZE // 4)

    pairs = list(combinations(range(groups), 2))
    is_shown = np.zeros(WORLDS, dtype=bool)
    for one, other in pairs:
        low, high = clusters.difference_from_sums(
            n, k[one], n, k[other], confidence=1 - 0.05 / len(pairs)
        )
        is_shown |= (low > 0) | (high < 0)
    return float(is_shown.mean())


# --- what goes wrong without clusters ---


def independent_table() -> str:
    """Return the coverage of an interval that takes items to be independent."""
    rows = []
    for number, correlation in product((10, 25, 40), (0.0, 0.1, 0.4, 0.8)):
        rng = np.random.default_rng(SEED)
        shape = (WORLDS, number)
        k = rng.binomial(SIZE, means(0.5, correlation, shape, rng))
        low, high = proportions.limits(k.sum(axis=1), SIZE * number, 0.025)
        of_items = np.mean((low <= 0.5) & (high >= 0.5))
        low, high = clusters.from_sums(np.full(shape, SIZE), k)
        of_clusters = np.mean((low <= 0.5) & (high >= 0.5))

        design_effect = 1 + (SIZE - 1) * correlation
        cells = [percent(of_items), percent(of_clusters)]
        rows.append([number, f"{correlation:g}", f"{design_effect:.1f}", *cells])
    header = ["clusters", "ICC", "design effect", "items", "clusters like these"]
    return (
        "\n## What if items are taken to be independent?\n\n"
        "The score is a share whose true value is 50 %, and clusters are drawn again "
        'in every world. "Items" is the coverage of Clopper and Pearson\'s interval '
        'for independent items, "clusters like these" that of the atlas.\n\n'
        + table(header, rows)
    )


# --- design effects ---


def design_effect_table() -> str:
    """Return how often the interval of a design effect contains it."""
    rows = []
    for number, correlation in product((10, 25, 40, 100), (0.0, 0.1, 0.4)):
        rng = np.random.default_rng(SEED)
        shape = (WORLDS, number)
        rate = rng.binomial(SIZE, means(0.5, correlation, shape, rng)) / SIZE

        mean = rate.mean(axis=1)
        freedom = number - 1
        of_clusters = rate.var(axis=1, ddof=1) / number
        measured = of_clusters / (mean * (1 - mean) / (SIZE * number))
        low = measured * freedom / chi2.isf(0.025, freedom)
        high = measured * freedom / chi2.ppf(0.025, freedom)

        truth = 1 + (SIZE - 1) * correlation
        coverage = np.mean((low <= truth) & (high >= truth))
        cells = [f"{np.median(measured):.1f}", percent(coverage)]
        rows.append([number, f"{correlation:g}", f"{truth:.1f}", *cells])
    return (
        "\n## Are design effects known?\n\n"
        "The interval of a design effect takes the sums of clusters to be normal. "
        '"Median" is the median of the estimates.\n\n'
        + table(["clusters", "ICC", "design effect", "median", "coverage"], rows)
    )


if __name__ == "__main__":
    main()
