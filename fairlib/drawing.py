"""Other data that could have been: sources and terms drawn again, exchanged between groups, or split in two halves.

Sentences made from one template, or around one identity term, succeed and fail together. So whole templates and whole
terms are drawn, never sentences; to see what a fair model would give, whole terms are exchanged between groups. Where
nothing ties examples together they are drawn and exchanged one by one, which takes no more than their counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from fairlib.examples import Examples

MOST = 10**9 - 1  # examples that are exchanged or halved: NumPy's generator takes no more, SciPy's ends the process
KIND = ("label", "prediction", "probabilities")  # what makes examples of a group alike, where nothing ties them


class NothingToExchange(ValueError):
    """No two groups have terms that could stand in for each other."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Some replicates of the data, as weights: nothing is copied, every metric is a function of weighted sums."""

    source_weight: np.ndarray  # (replicates, sources)
    term_weight: np.ndarray  # (replicates, terms)
    term_group: np.ndarray  # (replicates, terms) the group that each term stands for


def bootstrap(examples: Examples, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Draw the data again, by whatever ties examples together."""
    if examples.counted:
        return weighted_counts(examples.count, examples.group, replicates=replicates, batch=batch, rng=rng)
    sources = int(examples.source.max()) + 1
    return weighted_draws(sources, examples.term_group, replicates=replicates, batch=batch, rng=rng)


def null(examples: Examples, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Exchange examples between groups, by whatever ties them together; counted examples must be `complete`."""
    if examples.counted:
        return exchanged_counts(examples, replicates=replicates, batch=batch, rng=rng)
    tied = (examples.source, examples.term, examples.term_group)
    return exchanged_draws(*tied, replicates=replicates, batch=batch, rng=rng)


# --- Sources and terms ------------------------------------------------------------------------------------------------


def weighted_draws(sources: int, term_group: np.ndarray, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Draw sources and terms again, `batch` replicates at a time: the Bayesian bootstrap of whole sources and terms.

    Every source and every term gets an exponential weight of mean 1, and an example the product of its two: with two
    crossed ways to vary, the variance comes out right or a little large (Owen and Eckles 2012, "Bootstrapping data
    arrays of arbitrary order", Annals of Applied Statistics 6). Unlike counts, such weights lose no group or class.
    """
    rng = np.random.default_rng(rng)
    for size in _batches(replicates, batch):
        yield Draws(
            rng.standard_exponential((size, sources)),
            rng.standard_exponential((size, len(term_group))),
            np.broadcast_to(term_group, (size, len(term_group))),
        )


def exchanged_draws(
    source: np.ndarray, term: np.ndarray, term_group: np.ndarray, *, replicates: int, batch: int, rng
) -> Iterator[Draws]:
    """Exchange whole identity terms between groups at random: what the metric would be if groups made no difference.

    Terms are exchanged among those that occur in the same sources (adjectives with adjectives), so that every source
    keeps its number of variations per group. Exchanging sentences instead would call a fair model unfair most of the
    time, for sentences of one term are alike. Where no term can change its group, there is nothing to draw from.
    """
    rng = np.random.default_rng(rng)
    kinds = same_sources(source, term, len(term_group))
    movable = [kind for kind in kinds if len(set(term_group[kind].tolist())) > 1]
    if not movable:
        raise NothingToExchange(
            "term: no two terms of different groups occur in the same sources, so none can be exchanged"
        )
    sources = int(source.max()) + 1
    for size in _batches(replicates, batch):
        groups = np.tile(term_group, (size, 1))
        for kind in movable:
            groups[:, kind] = rng.permuted(groups[:, kind], axis=1)
        yield Draws(np.ones((size, sources)), np.ones(groups.shape), groups)


def halved_draws(
    source_kind: np.ndarray, term_kind: np.ndarray, term_group: np.ndarray, *, by: str, splits: int, batch: int, rng
) -> Iterator[Draws]:
    """Split the data at random into two halves, again and again, by whole "terms" or whole "sources".

    The first half of the replicates in each batch are the one halves; the other halves follow in the same order. Every
    kind of term of every group, or every kind of source, is split as evenly as it can be; so is every group.
    """
    rng = np.random.default_rng(rng)
    for size in _batches(splits, max(1, batch // 2)):
        source_weight = np.ones((2 * size, len(source_kind)))
        term_weight = np.ones((2 * size, len(term_group)))
        if by == "terms":
            chosen = _halves(np.asarray(term_group), term_kind, size, rng)
            term_weight = np.concatenate([chosen, 1 - chosen])
        else:
            chosen = _halves(np.zeros_like(source_kind), source_kind, size, rng)
            source_weight = np.concatenate([chosen, 1 - chosen])
        yield Draws(source_weight, term_weight, np.broadcast_to(term_group, (2 * size, len(term_group))))


def _halves(group: np.ndarray, kind: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return 1 for one half and 0 for the other, (size, items): every second one of a shuffled list sorted by kind."""
    items = len(group)
    order_of_kinds = rng.random((size, int(kind.max()) + 1))[:, kind]
    shuffled = np.lexsort((rng.random((size, items)), order_of_kinds, np.broadcast_to(group, (size, items))), axis=-1)
    first = np.searchsorted(np.sort(group), np.arange(int(group.max()) + 1))  # of each group, in the shuffled list
    coin = rng.integers(2, size=(size, len(first)))
    sorted_group = np.sort(group)
    side = (np.arange(items) - first[sorted_group] + coin[:, sorted_group]) % 2
    chosen = np.empty((size, items))
    np.put_along_axis(chosen, shuffled, side.astype(float), axis=1)
    return chosen


def same_sources(source: np.ndarray, term: np.ndarray, terms: int) -> list[np.ndarray]:
    """Group terms by the set of sources that they occur in: a set is known by the sum of its sources' random labels."""
    label = np.random.default_rng(0).integers(0, 2**62, size=(int(source.max()) + 1, 2), dtype=np.uint64)
    keys = np.zeros((terms, 2), dtype=np.uint64)
    source, term = np.unique(np.stack([source, term]), axis=1)
    np.add.at(keys, term, label[source])  # wraps around, which is fine for a label
    which = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])


# --- Examples that nothing ties together: counts are enough -----------------------------------------------------------


def weighted_counts(count: np.ndarray, group: np.ndarray, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Draw examples again, given how many there are of each kind: the same bootstrap as `weighted_draws` of each one.

    The exponential weights of k examples of one kind add up to a Gamma(k) variable, so one is drawn for all of them.
    """
    rng = np.random.default_rng(rng)
    for size in _batches(replicates, batch):
        yield _of_counts(rng.standard_gamma(count, size=(size, len(count))), group)


def exchanged_counts(examples: Examples, *, replicates: int, batch: int, rng) -> Iterator[Draws]:
    """Exchange single examples between groups: tables of counts with the same sizes of groups and kinds of example.

    Patefield's algorithm (SciPy's `random_table`) draws such a table at a cost that does not grow with the examples.
    """
    if examples.count.sum() > MOST:
        raise NothingToExchange(f"count: {examples.count.sum():,} examples, more than the {MOST:,} to exchange at most")
    rng = np.random.default_rng(rng)
    table = examples.count.reshape(len(examples.groups), -1)
    random = stats.random_table(table.sum(axis=1), table.sum(axis=0))
    for size in _batches(replicates, batch):
        drawn = random.rvs(size, method="patefield", random_state=rng)
        yield _of_counts(np.reshape(drawn, (size, -1)).astype(float), examples.group)


def halved_counts(
    count: np.ndarray, group: np.ndarray, kind: np.ndarray, *, splits: int, batch: int, rng
) -> Iterator[Draws]:
    """Split single examples into two halves, in the order of `halved_draws`; every kind of every group evenly."""
    if count.sum() > MOST:
        raise ValueError(f"count: {count.sum():,} examples, more than the {MOST:,} to halve at most")
    rng = np.random.default_rng(rng)
    strata = [np.flatnonzero((group == g) & (kind == k)) for g in np.unique(group) for k in np.unique(kind)]
    for size in _batches(splits, max(1, batch // 2)):
        chosen = np.zeros((size, len(count)))
        for cells in filter(len, strata):
            half = (count[cells].sum() + rng.integers(2)) // 2
            chosen[:, cells] = rng.multivariate_hypergeometric(count[cells], half, size=size, method="marginals")
        yield _of_counts(np.concatenate([chosen, count - chosen]), group)


def complete(examples: Examples) -> Examples:
    """Return counted examples with a row for every group and kind of example, also where their number is 0.

    The rows are ordered by group, so that the counts are a table of groups x kinds.
    """
    columns = [getattr(examples, name) for name in KIND]
    kinds = np.column_stack([column for column in columns if column is not None])
    first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)[1:]
    groups, size = len(examples.groups), len(first)
    count = np.bincount(examples.group * size + kind.ravel(), examples.count, minlength=groups * size)
    rows = np.tile(first, groups)
    group = np.repeat(np.arange(groups), size)
    picked = {name: None if column is None else column[rows] for name, column in zip(KIND, columns, strict=True)}
    return replace(
        examples, group=group, term=np.arange(len(rows)), term_group=group, source=np.zeros(len(rows), dtype=int),
        count=count.astype(np.int64), **picked,
    )  # fmt: skip


def _of_counts(weights: np.ndarray, group: np.ndarray) -> Draws:
    return Draws(np.ones((len(weights), 1)), weights, np.broadcast_to(group, weights.shape))


def _batches(replicates: int, batch: int) -> Iterator[int]:
    for start in range(0, replicates, batch):
        yield min(batch, replicates - start)
