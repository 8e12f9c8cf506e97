"""How often the intervals of `fairlib.measure` contain the truth, and their widths.

`python benchmarks/resampling.py` writes resampling.md, in about ten minutes.

A world is drawn anew many times: its templates, its terms, and the noise of every
sentence. In each the interval of `measure` is computed. The same worlds show how far
the value varies in fact, so the interval can be compared with an honest one of the same
centre: 1.96 standard deviations of the values over worlds.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator
from pandas import DataFrame
from scipy import special, stats

import fairlib
from fairlib.data import write_whole

RESULT = Path(__file__).with_name("resampling.md")
WORLDS = 200
REPLICATES = 199
LARGE = 1_000_000
METRICS = ("AvgScoreDifference", "AvgGF")
# What makes sentences differ: the numbers of the simulated models of dossier 03.
OF_TEMPLATES = 0.6
MIDDLE = 1.6


@dataclass(frozen=True, kw_only=True)
class World:
    """Two groups in filled templates, and what makes sentences differ.

    Parameters
    ----------
    terms : int
        Terms of each group.
    templates : int
        Templates, of which half are positive.
    of_terms : float
        Standard deviation between terms, in log-odds of being right.
    of_reactions : float
        Standard deviation between templates in what they make of the second group.
    noise : float
        Scale of the logistic noise of single sentences.
    less : float
        How much smaller the second group's log-odds of being right are.
    fixed_labels : bool
        Whether exactly half of the templates are positive in every world. If not, each
        is with probability one half.
    """

    terms: int = 5
    templates: int = 60
    of_terms: float = 0.0
    of_reactions: float = 0.0
    noise: float = 0.4
    less: float = 0.0
    fixed_labels: bool = True


WORLDS_SHOWN = {
    "noise alone": World(),
    "noise alone, 20 terms, 100 templates": World(terms=20, templates=100),
    "terms": World(of_terms=0.5),
    "terms, labels drawn": World(of_terms=0.5, fixed_labels=False),
    "terms, 40 a group": World(of_terms=0.5, terms=40),
    "templates react to the group": World(of_reactions=0.5, noise=0.05),
    "terms and reactions": World(of_terms=0.3, of_reactions=0.5),
    "a group worse off": World(less=0.8),
    "a group worse off, labels drawn": World(less=0.8, fixed_labels=False),
    "a group worse off, and terms": World(of_terms=0.5, less=0.8),
}


def drawn(world: World, rng: Generator) -> DataFrame:
    """Return the predictions of a world that is drawn anew."""
    shape = (world.templates, 2, world.terms)
    source, group, term = np.indices(shape).reshape(3, -1)

    sure = MIDDLE + rng.normal(0, OF_TEMPLATES, world.templates)[source]
    sure += rng.normal(0, world.of_terms, shape[1:])[group, term]
    sure += rng.normal(0, world.of_reactions, world.templates)[source] * group
    sure += rng.logistic(0, world.noise, len(source)) - world.less * group
    right = special.expit(sure)

    label_of = np.arange(world.templates) % 2
    if not world.fixed_labels:
        label_of = rng.integers(2, size=world.templates)
    label = label_of[source]
    p = np.where(label == 1, right, 1 - right)
    return DataFrame(
        {
            "source": source,
            "group": group,
            "term": group * world.terms + term,
            "label": label,
            "p_1": p,
            "p_0": 1 - p,
        }
    )


def truth(world: World, rng: Generator) -> dict[str, float]:
    """Return the values that infinitely many templates and terms would give.

    AvgScoreDifference compares sentences of the measured class as they are, and half of
    the sentences have the other label; so both labels are drawn.
    """
    of_group = []
    for group in (0, 1):
        spread = np.sqrt(
            OF_TEMPLATES**2 + world.of_terms**2 + group * world.of_reactions**2
        )
        # Even numbers of both labels at even quantiles of one normal: less noise.
        normal = stats.norm.ppf((rng.permutation(LARGE) + 0.5) / LARGE)
        noise = stats.logistic.ppf((rng.permutation(LARGE) + 0.5) / LARGE)
        sure = MIDDLE + spread * normal + world.noise * noise - world.less * group
        right = special.expit(sure)
        of_group.append(np.concatenate([right, 1 - right]))

    first, second = map(np.sort, of_group)
    both = np.sort(np.concatenate([first, second]))[1::2]
    return {
        "AvgScoreDifference": first.mean() - second.mean(),
        "AvgGF": np.mean([np.abs(np.sort(p) - both).mean() for p in (first, second)]),
    }


def studied(name: str, world: World) -> DataFrame:
    """Return one row per metric: coverage and width in redrawn worlds."""
    rng = np.random.default_rng(7)
    results = []
    for _ in range(WORLDS):
        table = fairlib.measure(
            drawn(world, rng), METRICS, classes=[1], replicates=REPLICATES, rng=rng
        )
        results.append(table[table["group"] == "accumulated"].set_index("metric"))
    true_value = truth(world, rng)

    rows = []
    for metric in METRICS:
        of_worlds = DataFrame([result.loc[metric] for result in results])
        value = of_worlds["value"].astype(float)
        covers = (of_worlds["low"] <= true_value[metric] + 1e-12) & (
            true_value[metric] - 1e-12 <= of_worlds["high"]
        )
        half_width = (of_worlds["high"] - value).mean()
        honest = stats.norm.ppf(0.975) * value.std()
        rows.append(
            {
                "world": name,
                "metric": metric,
                "truth": true_value[metric],
                "mean value": value.mean(),
                "coverage": covers.mean(),
                "error": np.sqrt(
                    max(covers.mean() * (1 - covers.mean()), 1e-9) / WORLDS
                ),
                "half-width": half_width,
                "1.96 sd": honest,
                "ratio": half_width / honest,
                "its error": half_width / honest / np.sqrt(2 * WORLDS),
            }
        )
    return DataFrame(rows)


def main() -> None:
    """Write the result."""
    table = pd.concat([studied(name, world) for name, world in WORLDS_SHOWN.items()])
    digits = {"truth": 4, "mean value": 4, "coverage": 3, "error": 3}
    digits |= {"half-width": 4, "1.96 sd": 4, "ratio": 2, "its error": 2}
    written = table.copy()
    for column, places in digits.items():
        written[column] = table[column].map(f"{{:.{places}f}}".format)
    lines = [
        list(written),
        ["---"] * len(written.columns),
        *written.to_numpy().tolist(),
    ]

    parts = [
        "# Do the intervals of `measure` contain the truth?",
        "`python benchmarks/resampling.py` writes this file. "
        f"{WORLDS} worlds each, {REPLICATES} replicates, 95 % intervals, two groups.",
        WHY,
        "\n".join("| " + " | ".join(line) + " |" for line in lines),
    ]
    text = "\n\n".join(parts) + "\n"
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


WHY = """\
For a signed difference of means the intervals miss the truth too rarely: they are up
to 2.6 times too wide here. There are two reasons.

First, every template gets a random weight, every term gets one, and a sentence gets
the product of both. What a template or a term has in common varies as it should. But
the noise of single sentences is counted three times: it moves the means of templates,
it moves the means of terms, and the product of the two weights varies by itself.
Where this noise is all there is, the variance is three times as large as it should
be, and the interval 1.73 times as wide ("noise alone"). Where templates differ in how
they treat a group, and by more than single sentences do, the width is right
("templates react to the group").

Second, the weights of templates change the share of positive ones. A suite fixes that
share, and an interval for such suites need not allow for it. Where the labels are
drawn as well, most of the excess is gone ("labels drawn").

AvgGF cannot be negative, and noise makes it larger. Its intervals are too wide for
the spread of its values in most worlds, and yet they miss the truth in up to 20 % of
worlds, in place of 5 %, where groups have five terms that differ: five weights say
little about how terms vary, and the value is above the truth. With 40 terms a group
it is 10 %. Whether there is any difference is a question for the p-value, not for
these intervals."""

if __name__ == "__main__":
    main()
