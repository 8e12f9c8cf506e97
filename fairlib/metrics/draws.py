"""Other data that might have been seen: resampled, or exchanged between groups.

A draw is one such world. Sentences that are made from one template, or around one
identity term, succeed and fail together, so they are drawn together. Where nothing ties
examples together, each is drawn on its own; if these are counted, the cost does not
grow with the counts.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray
from numpy.random import Generator

from fairlib.metrics.examples import Examples
from fairlib.metrics.random_tables import tables_with_margins

# Examples that can be exchanged: with more, SciPy's generator would end the process.
MOST = 10**9 - 1
# Numbers in the largest array of one batch of draws.
NUMBERS_PER_BATCH = 2_000_000
# Examples of a group that nothing ties together are alike if they are alike in these.
_COLUMNS_OF_A_PROFILE = ("label", "prediction", "probabilities")


class NothingToExchange(ValueError):
    """No two groups have terms that could be exchanged for each other."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Some draws of the data, as weights of sources and terms and as groups of terms.

    Nothing is copied: every metric is a function of weighted sums.

    Parameters
    ----------
    source_weight : ndarray of shape (draws, sources)
        How often each source counts.
    term_weight : ndarray of shape (draws, terms)
        How often each term counts. An example counts as often as the product of the
        weights of its source and of its term says.
    term_group : ndarray of shape (draws, terms)
        The group that each term belongs to in each draw.
    """

    source_weight: ndarray
    term_weight: ndarray
    term_group: ndarray


def bootstrap(examples: Examples, replicates: int, rng: Generator) -> Iterator[Draws]:
    """Draw the data again: whole sources and terms, or single examples if nothing ties.

    This is the Bayesian bootstrap: every source and every term gets an exponential
    weight of mean 1, and an example gets the product of its two weights. Unlike counts,
    such weights never lose a group or a class.

    Parameters
    ----------
    examples : Examples
        The data.
    replicates : int
        How many draws.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Yields
    ------
    Draws
        Some of the draws, as many as fit into memory at once.

    Notes
    -----
    With two crossed ways to vary, the variance is right or too large. What the examples
    of one source or one term have in common is counted once. The noise of single
    examples is counted three times: it moves the means of sources and of terms, and the
    product of two weights varies by itself. If this noise is all there is, intervals
    are 1.7 times as wide as they should be (Owen and Eckles 2012). The numbers of
    sources of each label vary too, although many suites fix them.
    `benchmarks/resampling.md` has the coverage in worlds that are drawn anew.

    References
    ----------
    A. B. Owen and D. Eckles (2012). Bootstrapping data arrays of arbitrary order.
    Annals of Applied Statistics 6.
    """
    for size in _batches(examples, replicates):
        if examples.counted:
            # The exponential weights of k examples of one profile add up to Gamma(k).
            count = examples.need("count")
            weights = rng.standard_gamma(count, size=(size, len(examples)))
            yield _weighted(examples, weights)
        else:
            sources = rng.standard_exponential((size, _number_of_sources(examples)))
            terms = rng.standard_exponential((size, len(examples.term_group)))
            yield _weighted(examples, terms, sources)


def exchanged(
    examples: Examples, replicates: int, rng: Generator, *, given: str = ""
) -> Iterator[Draws]:
    """Exchange whole identity terms between groups at random.

    A metric of such draws is what it would be if groups made no difference.

    Terms are exchanged with terms that occur in the same sources (adjectives with
    adjectives), so every source keeps its number of variations per group. Without
    sources, terms are exchanged with terms of about as many examples, for a rate of ten
    large terms is steadier than a rate of ten small ones; and within what is `given`,
    for groups may differ in how often a label is true and yet be treated alike.

    Parameters
    ----------
    examples : Examples
        The data; without sources, the result of `exchangeable`.
    replicates : int
        How many draws.
    rng : numpy.random.Generator
        Where the random numbers come from.
    given : {"", "label", "prediction"}
        Within which column terms stay; by default none.

    Yields
    ------
    Draws
        Some of the draws, as many as fit into memory at once.

    Raises
    ------
    NothingToExchange
        If no two groups have terms that can be exchanged, or if there are more than
        `MOST` counted examples.

    Notes
    -----
    For counted examples, Patefield's algorithm draws tables of counts in which each
    group and each profile keeps its size.
    """
    if examples.counted:
        return _exchanged_counts(examples, replicates, rng, given)
    return _exchanged_terms(examples, replicates, rng, given)


def _exchanged_counts(
    examples: Examples, replicates: int, rng: Generator, given: str
) -> Iterator[Draws]:
    """Exchange counted examples: draw the table of groups x profiles anew."""
    count = examples.need("count")
    cases = count.sum()
    if cases > MOST:
        raise NothingToExchange(
            f"count: {cases:,} examples, more than the {MOST:,} to exchange at most"
        )

    table = count.reshape(len(examples.groups), -1)
    parts = _parts_of_table(examples, table, given)
    margins = [(table[part].sum(axis=1), table[part].sum(axis=0)) for part in parts]

    for size in _batches(examples, replicates):
        drawn = np.tile(table.astype(float), (size, 1, 1))
        for (rows, columns), sums in zip(parts, margins, strict=True):
            drawn[:, rows, columns] = tables_with_margins(*sums, size, rng)
        yield _weighted(examples, drawn.reshape(size, -1))


def _parts_of_table(
    examples: Examples, table: ndarray, given: str
) -> list[tuple[ndarray, ndarray]]:
    """Return the parts of a table (groups, profiles) in which counts are exchanged.

    There is one for each value of what is given, as the numbers of its rows and columns
    that are not empty. Parts, rows and columns are ordered by their counts, so that the
    same random numbers lead to the same tables whatever the groups are called.
    """
    profiles = table.shape[1]
    fixed = examples.need(given)[:profiles] if given else np.zeros(profiles)

    parts = []
    for value in np.unique(fixed):
        in_part = table.any(axis=0) & (fixed == value)
        rows = np.flatnonzero(table[:, in_part].any(axis=1))
        columns = np.flatnonzero(in_part)

        # In a table with one row nothing can change, and SciPy's draws go below 0.
        if min(rows.size, columns.size) > 1:
            part = table[np.ix_(rows, columns)]
            by_count = np.ix_(rows[_by_counts(part)], columns[_by_counts(part.T)])
            parts.append(by_count)
    return sorted(parts, key=lambda part: np.sort(table[part].sum(axis=1)).tolist())


def _by_counts(table: ndarray) -> ndarray:
    """Return the order of rows by their sums, and of equal sums by their counts."""
    keys = np.column_stack([table.sum(axis=1), np.sort(table, axis=1)])
    return np.lexsort(keys.T[::-1])


def _exchanged_terms(
    examples: Examples, replicates: int, rng: Generator, given: str
) -> Iterator[Draws]:
    """Exchange whole terms: shuffle the groups among terms that are alike."""
    strata = [
        terms
        for terms in _strata(examples, given)
        if np.ptp(examples.term_group[terms]) > 0
    ]
    if not strata:
        raise NothingToExchange(
            "term: no terms of different groups occur in the same sources: "
            "none can be exchanged"
        )

    for size in _batches(examples, replicates):
        groups = np.tile(examples.term_group, (size, 1))
        for terms in strata:
            groups[:, terms] = rng.permuted(groups[:, terms], axis=1)
        yield replace(_weighted(examples, np.ones(groups.shape)), term_group=groups)


def different_worlds(examples: Examples, *, apart: Hashable = None) -> int:
    """Return how many worlds an exchange of terms makes that a metric could tell apart.

    Worlds in which two groups have only swapped all of their terms count once, because
    a metric of all groups has the same value in both. A p-value by exchange is at least
    one over this number.

    Parameters
    ----------
    examples : Examples
        The data, with sources.
    apart : group, optional
        A group that is told from all others, because its own value is looked at.
    """
    groups = len(examples.groups)
    sizes = np.array(
        [
            np.bincount(examples.term_group[terms], minlength=groups)
            for terms in _strata(examples, "")
        ]
    )
    ways = math.prod(_ways_to_share(stratum) for stratum in sizes.tolist())

    # Groups of equal sizes in all strata can swap their terms.
    of_others = [
        tuple(size)
        for name, size in zip(examples.groups, sizes.T.tolist(), strict=True)
        if name != apart
    ]
    swaps = math.prod(math.factorial(times) for times in Counter(of_others).values())
    return ways // swaps


def _ways_to_share(sizes: list[int]) -> int:
    """Return in how many ways things can be shared out into heaps of these sizes."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def exchangeable(examples: Examples, given: str) -> Examples:
    """Return the same examples in the form that `exchanged` needs without sources.

    Parameters
    ----------
    examples : Examples
        The data.
    given : {"", "label", "prediction"}
        The column within which terms are going to be exchanged.

    Returns
    -------
    table : Examples
        The examples of one term that differ in what is given belong to different terms.
        Counted examples have a row for every group and profile, even if its count is 0,
        so that their counts are a table of groups x profiles.
    """
    if examples.counted:
        return _complete_table(examples)
    if not given:
        return examples

    fixed = examples.need(given)
    pairs = examples.term * (fixed.max() + 1) + fixed
    _, first, term = np.unique(pairs, return_index=True, return_inverse=True)
    return replace(examples, term=term, term_group=examples.group[first])


def _complete_table(examples: Examples) -> Examples:
    """Return counted examples with one row for every group and profile."""
    columns = [getattr(examples, name) for name in _COLUMNS_OF_A_PROFILE]
    profiles = np.column_stack([column for column in columns if column is not None])
    _, first, profile = np.unique(
        profiles, axis=0, return_index=True, return_inverse=True
    )

    groups = len(examples.groups)
    group = np.repeat(np.arange(groups), len(first))
    cell = examples.group * len(first) + profile.ravel()
    count = np.bincount(cell, examples.count, minlength=len(group))
    return replace(
        examples.only(np.tile(first, groups)),
        group=group,
        count=count.astype(int),
        term=np.arange(len(group)),
        term_group=group,
    )


def _strata(examples: Examples, given: str) -> list[ndarray]:
    """Return sets of terms that are so alike that they can be exchanged."""
    if examples.source.any():
        kinds = _sources_of_terms(examples)
    else:
        kinds = _given_and_sizes_of_terms(examples, given)

    stratum = np.unique(kinds, axis=0, return_inverse=True)[1].ravel()
    terms = np.argsort(stratum, kind="stable")
    return np.split(terms, np.cumsum(np.bincount(stratum))[:-1])


def _sources_of_terms(examples: Examples) -> ndarray:
    """Return two numbers per term that are equal for terms of the same sources.

    Every source gets two random labels. A set of sources is known by the sums of its
    labels, which may wrap around.
    """
    labels = np.random.default_rng(0).integers(
        0, 2**62, size=(_number_of_sources(examples), 2), dtype=np.uint64
    )
    sums = np.zeros((len(examples.term_group), 2), dtype=np.uint64)
    source, term = np.unique(np.stack([examples.source, examples.term]), axis=1)
    np.add.at(sums, term, labels[source])
    return sums


def _given_and_sizes_of_terms(examples: Examples, given: str) -> ndarray:
    """Return, per term, the value that is given and the size in powers of two."""
    terms = len(examples.term_group)
    size = np.bincount(examples.term, examples.count, minlength=terms)

    kinds = np.zeros((terms, 2), dtype=int)
    if given:
        kinds[examples.term, 0] = examples.need(given)

    # A term without any example stays apart, at the logarithm of one half.
    kinds[:, 1] = np.log2(np.maximum(size, 0.5))
    return kinds


def _number_of_sources(examples: Examples) -> int:
    return int(examples.source.max()) + 1


def _weighted(
    examples: Examples, terms: ndarray, sources: ndarray | None = None
) -> Draws:
    """Return draws with these weights, in which every term keeps its group."""
    if sources is None:
        source_weight = np.ones((len(terms), _number_of_sources(examples)))
    else:
        source_weight = sources
    term_group = np.broadcast_to(examples.term_group, terms.shape)
    return Draws(source_weight, terms, term_group)


def _batches(examples: Examples, replicates: int) -> Iterator[int]:
    """Yield how many draws are made at once, until there are enough."""
    batch = max(1, NUMBERS_PER_BATCH // (len(examples) * len(examples.groups)))
    for start in range(0, replicates, batch):
        yield min(batch, replicates - start)
