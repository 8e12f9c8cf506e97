"""Other data that could have been: resampled, or exchanged between groups.

Sentences made from one template, or around one identity term, succeed and fail together, and so they are drawn. Where
nothing ties examples together they are drawn one by one, at a cost that does not grow with their counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from fairlib.metrics.examples import Examples

MEMORY = 2_000_000  # numbers per array and batch of draws
MOST = 10**9 - 1  # examples that are exchanged: SciPy's generator would end the process
PROFILE = (
    "label",
    "prediction",
    "probabilities",
)  # what makes examples of a group alike, where nothing ties them


class NothingToExchange(ValueError):
    """No two groups have terms that could stand in for each other."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Some replicates of the data, as weights: nothing is copied, every metric is a function of weighted sums."""

    source_weight: np.ndarray  # (replicates, sources)
    term_weight: np.ndarray  # (replicates, terms)
    term_group: np.ndarray  # (replicates, terms) the group that each term stands for


def bootstrap(
    examples: Examples, replicates: int, rng: np.random.Generator
) -> Iterator[Draws]:
    """Draw the data again: the Bayesian bootstrap of whole sources and terms, or else of single examples.

    Every source and every term gets an exponential weight of mean 1, and an example the product of its two: with two
    crossed ways to vary, the variance comes out right or a little large (Owen and Eckles 2012, "Bootstrapping data
    arrays of arbitrary order", Annals of Applied Statistics 6). Unlike counts, such weights lose no group or class.
    """
    for size in _batches(examples, replicates):
        if examples.counted:  # the exponential weights of k examples of one profile add up to a Gamma(k) variable
            yield _weighted(
                examples, rng.standard_gamma(examples.count, size=(size, len(examples)))
            )
        else:
            sources = rng.standard_exponential((size, _sources(examples)))
            yield _weighted(
                examples,
                rng.standard_exponential((size, len(examples.term_group))),
                sources,
            )


def exchanged(
    examples: Examples, replicates: int, rng: np.random.Generator, *, given: str = ""
) -> Iterator[Draws]:
    """Exchange whole identity terms between groups at random: what the metric would be if groups made no difference.

    Terms are exchanged among those that occur in the same sources (adjectives with adjectives), so that every source
    keeps its number of variations per group. Without sources, the examples must be those of `exchangeable`. Terms stay
    within what is `given` ("label" or "prediction"), for groups may differ in how often a label is true and yet be
    treated alike; and among those of about as many examples, for a rate of ten large terms is steadier than one of ten
    small ones. Of counted examples Patefield's algorithm draws counts, with the same sizes of groups and profiles.
    """
    if examples.counted:
        if (cases := examples.count.sum()) > MOST:
            raise NothingToExchange(
                f"count: {cases:,} examples, more than the {MOST:,} to exchange at most"
            )
        table = examples.count.reshape(len(examples.groups), -1)
        fixed = (
            getattr(examples, given)[: table.shape[1]]
            if given
            else np.zeros(table.shape[1])
        )
        strata = [table.any(axis=0) & (fixed == value) for value in np.unique(fixed)]
        strata = [np.ix_(table[:, part].any(axis=1), part) for part in strata]
        strata = [
            part for part in strata if min(table[part].shape) > 1
        ]  # with one row SciPy's draws go below 0
        tables = [
            stats.random_table(table[part].sum(axis=1), table[part].sum(axis=0))
            for part in strata
        ]
        for size in _batches(examples, replicates):
            drawn = np.tile(table.astype(float), (size, 1, 1))
            for part, exchange in zip(strata, tables, strict=True):
                drawn[:, *part] = exchange.rvs(
                    size, method="patefield", random_state=rng
                )
            yield _weighted(examples, drawn.reshape(size, -1))
        return
    exchangeable = [
        terms
        for terms in _same_sources(examples, given)
        if np.ptp(examples.term_group[terms]) > 0
    ]
    if not exchangeable:
        raise NothingToExchange(
            "term: no terms of different groups occur in the same sources: none can be exchanged"
        )
    for size in _batches(examples, replicates):
        groups = np.tile(examples.term_group, (size, 1))
        for terms in exchangeable:
            groups[:, terms] = rng.permuted(groups[:, terms], axis=1)
        yield replace(_weighted(examples, np.ones(groups.shape)), term_group=groups)


def exchangeable(examples: Examples, given: str) -> Examples:
    """Return examples whose terms can be exchanged, a term's examples apart by what is given.

    Those that are counted get a row for every group and profile, 0 or not: a table of groups x profiles.
    """
    if not examples.counted:
        if not given:
            return examples
        pairs = examples.term * (examples.need(given).max() + 1) + examples.need(given)
        first, term = np.unique(pairs, return_index=True, return_inverse=True)[1:]
        return replace(examples, term=term, term_group=examples.group[first])
    profiles = np.column_stack(
        [array for name in PROFILE if (array := getattr(examples, name)) is not None]
    )
    first, profile = np.unique(
        profiles, axis=0, return_index=True, return_inverse=True
    )[1:]
    group = np.repeat(np.arange(len(examples.groups)), len(first))
    count = np.bincount(
        examples.group * len(first) + profile.ravel(),
        examples.count,
        minlength=len(group),
    )
    complete = examples.only(np.tile(first, len(examples.groups)))
    return replace(
        complete,
        group=group,
        count=count.astype(int),
        term=np.arange(len(group)),
        term_group=group,
    )


def _same_sources(examples: Examples, given: str) -> list[np.ndarray]:
    """Group terms by the set of sources that they occur in; without any, by what is given and size (a factor of 2)."""
    if not examples.source.any():
        size = np.bincount(
            examples.term, examples.count, minlength=len(examples.term_group)
        )
        keys = np.zeros((len(size), 2), dtype=int)
        keys[examples.term, 0] = getattr(examples, given) if given else 0
        keys[:, 1] = np.log2(
            np.maximum(size, 0.5)
        )  # a term that no example has stays apart
    else:
        label = np.random.default_rng(0).integers(
            0, 2**62, size=(_sources(examples), 2), dtype=np.uint64
        )
        keys = np.zeros((len(examples.term_group), 2), dtype=np.uint64)
        source, term = np.unique(np.stack([examples.source, examples.term]), axis=1)
        np.add.at(
            keys, term, label[source]
        )  # a set is known by the sum of its sources' labels, which may wrap around
    which = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return np.split(
        np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1]
    )


def _sources(examples: Examples) -> int:
    return int(examples.source.max()) + 1


def _weighted(
    examples: Examples, terms: np.ndarray, sources: np.ndarray | None = None
) -> Draws:
    sources = np.ones((len(terms), _sources(examples))) if sources is None else sources
    return Draws(sources, terms, np.broadcast_to(examples.term_group, terms.shape))


def _batches(examples: Examples, replicates: int) -> Iterator[int]:
    batch = max(1, MEMORY // (len(examples) * len(examples.groups)))
    for start in range(0, replicates, batch):
        yield min(batch, replicates - start)
