"""Do cases with the same probability have the same outcomes in all groups?

Cases are put into strata by their probability, so narrow that it hardly varies within a
stratum. If groups with the same probability have the same outcomes, the outcomes of a
stratum fall upon its groups at random. Then a group's number of outcomes is a sum of
hypergeometric numbers. Its distribution is known, however few cases there are, and
whatever the probabilities are worth (the exact version of Mantel and Haenszel's test).

Differences at low and at high probabilities may cancel out. So each group is compared
over all probabilities, and over their lower and their upper half.

Cases of one source do not fall at random one by one. There, a deviation counts for less
by the root of the design effect, and has the degrees of freedom of its sources.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy import ndarray
from scipy.special import gammaln, ndtr, ndtri, stdtr

from fairlib.auditing import claims, comparing
from fairlib.auditing.comparing import Contrast

# The part of the level that each comparison of a group has.
PARTS = {"all": 0.5, "lower": 0.25, "upper": 0.25}
# With a larger variance, a number of outcomes is as good as normally distributed.
_LARGEST_EXACT_VARIANCE = 2500.0
# Numbers in the largest array that is transformed at once.
_NUMBERS_AT_ONCE = 2_000_000
# Standard deviations around the mean that are told apart.
_REACH = 12.0
_SMALLEST_P = 1e-15  # what rounding leaves of the distribution


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases:
    """Counted cases by stratum of the probability, group, outcome and source.

    Attributes
    ----------
    count : ndarray
        How many cases a cell holds.
    stratum : ndarray
        The stratum of each cell; strata are in the order of their probabilities.
    group : ndarray
        The code of each cell's group.
    outcome : ndarray
        Whether the class is the label.
    source : ndarray or None
        Which cells belong together.
    """

    count: ndarray
    stratum: ndarray
    group: ndarray
    outcome: ndarray
    source: ndarray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Matched:
    """A group against others with the same probability.

    Attributes
    ----------
    group : int
        The code of the group.
    against : int or None
        The code of the only other group; None for everyone else.
    part : str
        Which probabilities are compared: a key of `PARTS`.
    first, last : int
        The strata that are compared.
    p : float
        The p-value of this comparison alone; NaN if the group shares no stratum with
        others in which outcomes vary.
    contrast : Contrast
        Both sides' rates of outcomes at equal probabilities, as one comparison.
    """

    group: int
    against: int | None
    part: str
    first: int
    last: int
    p: float
    contrast: Contrast

    @property
    def difference(self) -> float:
        """How much more frequent outcomes are in the group, as a share of its cases."""
        return float(self.contrast.difference[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Clearest:
    """The clearest of several comparisons.

    Attributes
    ----------
    matched : Matched
        The comparison.
    p : float
        Its p-value, corrected for all comparisons.
    share : float
        The share of the level that it has among all comparisons.
    """

    matched: Matched
    p: float
    share: float

    def ends(self, level: float, *, is_shown: bool) -> tuple[float, float]:
        """Return an interval that excludes 0 exactly if the difference is shown.

        Parameters
        ----------
        level : float
            How often the interval, or that of any other comparison, may miss.
        is_shown : bool
            Whether the difference is shown.
        """
        level_of_one = level * self.share
        low, high = claims.agreeing(
            self.matched.difference,
            comparing.ends(self.matched.contrast, level_of_one),
            p=self.matched.p,
            level=level_of_one,
            is_shown=is_shown,
        )
        return float(low[0]), float(high[0])


def clearest(cases: Cases, groups: ndarray, *, of_two: bool) -> Clearest | None:
    """Return the clearest difference between a group and others.

    Parameters
    ----------
    cases : Cases
        The cases of all groups.
    groups : ndarray
        The codes of the groups that are large enough to be compared with others.
    of_two : bool
        Whether the cases are of two groups only. Then they are compared once, and the
        one that has the outcome more often is named first.
    """
    chosen = groups
    if of_two:
        chosen = groups[:1] if len(groups) == 2 else groups[:0]

    best: Clearest | None = None
    for group in chosen.tolist():
        for matched in _compare(cases, group):
            share = PARTS[matched.part] / len(chosen)
            if np.isnan(matched.p):
                continue

            p = min(1.0, matched.p / share)
            if best is None or p < best.p:
                best = Clearest(matched=matched, p=p, share=share)

    if best is None or not of_two:
        return best
    first, second = groups.tolist()
    if best.matched.difference < 0:
        # The same comparison, seen from the other side.
        by_part = {matched.part: matched for matched in _compare(cases, second)}
        mirrored = replace(by_part[best.matched.part], against=first)
        return replace(best, matched=mirrored)
    return replace(best, matched=replace(best.matched, against=second))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Strata:
    """The strata that hold cases of a group and of others.

    Attributes
    ----------
    place : ndarray
        The code of each stratum.
    n, total : ndarray
        The number of cases of the group, and of all groups.
    k, outcomes : ndarray
        The number of outcomes in the group, and in all groups.
    """

    place: ndarray
    n: ndarray
    total: ndarray
    k: ndarray
    outcomes: ndarray

    @property
    def expected(self) -> ndarray:
        """The number of outcomes in the group if they fall at random."""
        return self.n * self.outcomes / self.total

    @property
    def variance(self) -> ndarray:
        """The variance of the number of outcomes in the group."""
        others = self.total - self.n
        without = self.total - self.outcomes
        product = self.n * others * self.outcomes * without
        return product / (self.total**2 * (self.total - 1))

    @property
    def weight(self) -> ndarray:
        """What a stratum counts in the common difference (Mantel and Haenszel)."""
        return self.n * (self.total - self.n) / self.total

    def only(self, kept: ndarray) -> "_Strata":
        """Return some of the strata."""
        return _Strata(
            place=self.place[kept],
            n=self.n[kept],
            total=self.total[kept],
            k=self.k[kept],
            outcomes=self.outcomes[kept],
        )


def _compare(cases: Cases, group: int) -> Iterator[Matched]:
    """Compare a group with others that have the same probability, part by part.

    Parameters
    ----------
    cases : Cases
        The cases of all groups.
    group : int
        The code of the group.
    """
    is_member = cases.group == group
    strata = _shared_strata(cases, is_member)
    # Half of the variance lies in either half. It depends on how many outcomes a
    # stratum has, not on which group has them; so the choice favours nobody.
    spread = strata.variance.cumsum()
    is_lower = spread - strata.variance / 2 < spread[-1:].sum() / 2

    masks = {"all": np.full(len(is_lower), True), "lower": is_lower, "upper": ~is_lower}
    for part, kept in masks.items():
        yield _matched(part, strata.only(kept), cases, group)


def _shared_strata(cases: Cases, is_member: ndarray) -> _Strata:
    """Count the cases and outcomes of the strata that hold both sides."""

    def by_stratum(values: ndarray) -> ndarray:
        return np.bincount(cases.stratum, cases.count * values)

    n = by_stratum(is_member)
    total = by_stratum(np.ones(len(is_member)))
    place = np.flatnonzero((n > 0) & (n < total))
    return _Strata(
        place=place,
        n=n[place],
        total=total[place],
        k=by_stratum(is_member & cases.outcome)[place],
        outcomes=by_stratum(cases.outcome)[place],
    )


def _matched(part: str, strata: _Strata, cases: Cases, group: int) -> Matched:
    """Compare a group with others in some strata."""
    design = 1.0
    freedom = np.inf
    if cases.source is not None and len(strata.place):
        design, freedom = _design(strata, cases, cases.group == group)

    places = strata.place if len(strata.place) else np.array([0])
    return Matched(
        group=group,
        against=None,
        part=part,
        first=int(places[0]),
        last=int(places[-1]),
        p=_p_value(strata, design, freedom),
        contrast=_contrast(strata, design, freedom),
    )


def _p_value(strata: _Strata, design: float, freedom: float) -> float:
    """Return how often chance leads to a number of outcomes as far from the mean.

    It is twice the smaller tail.
    """
    variance = strata.variance.sum()
    if not variance > 0:
        return np.nan

    deviation = (strata.k - strata.expected).sum() / np.sqrt(design)
    tail = _tail(strata, deviation)
    if np.isfinite(freedom):
        z = ndtri(max(tail, _SMALLEST_P))
        tail = float(stdtr(freedom, z))
    return min(1.0, 2 * tail)


def _tail(strata: _Strata, deviation: float) -> float:
    """Return the probability of a deviation at least as far on the same side."""
    variance = strata.variance.sum()
    if variance > _LARGEST_EXACT_VARIANCE:
        # Half an outcome corrects for the steps of a count.
        distance = max(abs(deviation) - 0.5, 0.0)
        return float(ndtr(-distance / np.sqrt(variance)))

    chances, first = _distribution(strata)
    expected = strata.expected.sum()
    number = first + np.arange(len(chances))
    rounding = 1e-9 * (1 + expected)
    if deviation > 0:
        is_as_far = number >= expected + deviation - rounding
    else:
        is_as_far = number <= expected + deviation + rounding
    return float(np.clip(chances[is_as_far].sum(), _SMALLEST_P, 1.0))


def _distribution(strata: _Strata) -> tuple[ndarray, int]:
    """Return the distribution of a sum of hypergeometric numbers, and its first value.

    The characteristic functions of all strata are multiplied. What lies farther from
    the mean than `_REACH` standard deviations is too rare to matter.
    """
    variance = strata.variance
    reach = _REACH * np.sqrt(variance.sum()) + 3 * _REACH
    size = 2 ** int(np.ceil(np.log2(2 * reach + 1)))

    stratum, number, chance = _hypergeometric(strata)
    product = np.ones(size // 2 + 1, dtype=complex)
    at_once = max(1, _NUMBERS_AT_ONCE // size)
    for start in range(0, len(variance), at_once):
        strata_of_batch = min(at_once, len(variance) - start)
        chances = np.zeros((strata_of_batch, size))
        is_here = (stratum >= start) & (stratum < start + strata_of_batch)
        here = (stratum[is_here] - start, number[is_here] % size)
        np.add.at(chances, here, chance[is_here])
        product *= np.fft.rfft(chances, axis=1).prod(axis=0)

    # Numbers are known up to multiples of the size; the mean lies in the middle.
    first = int(np.round(strata.expected.sum())) - size // 2
    chances_of_sum = np.clip(np.fft.irfft(product, size), 0, None)
    return np.roll(chances_of_sum, -(first % size)), first


def _hypergeometric(strata: _Strata) -> tuple[ndarray, ndarray, ndarray]:
    """Return strata, numbers of outcomes of the group, and their probabilities."""
    n = strata.n
    total = strata.total
    outcomes = strata.outcomes

    reach = _REACH * np.sqrt(strata.variance) + 3 * _REACH
    low = np.maximum(np.maximum(0, n + outcomes - total), strata.expected - reach)
    high = np.minimum(np.minimum(n, outcomes), strata.expected + reach)
    low = np.ceil(low - 1e-9).astype(int)
    steps = np.floor(high + 1e-9).astype(int) - low + 1

    stratum = np.repeat(np.arange(len(n)), steps)
    number = np.arange(steps.sum()) - np.repeat(steps.cumsum() - steps, steps)
    number += low[stratum]

    def ways(size: ndarray, chosen: ndarray) -> ndarray:
        """Return the logarithm of "size choose chosen"."""
        return gammaln(size + 1) - gammaln(chosen + 1) - gammaln(size - chosen + 1)

    logarithm = (
        ways(n[stratum], number)
        + ways((total - n)[stratum], outcomes[stratum] - number)
        - ways(total, outcomes)[stratum]
    )
    return stratum, number, np.exp(logarithm)


def _contrast(strata: _Strata, design: float, freedom: float) -> Contrast:
    """Return both sides' rates of outcomes, each with the same weights of strata.

    A side is worth as many cases as its weights leave of them (Kish), and fewer by the
    design effect. The rates of strata differ, so that this is careful.
    """
    others = strata.total - strata.n
    n = np.array([strata.n, others])
    k = np.array([strata.k, strata.outcomes - strata.k])

    # The weight of a single case on each side.
    weight_of_case = strata.weight / n
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (weight_of_case * k).sum(axis=1) / strata.weight.sum()
        squares = (weight_of_case**2 * n).sum(axis=1)
        worth = strata.weight.sum() ** 2 / squares / design
    return Contrast(
        n=n.sum(axis=1)[:, None],
        value=value[:, None],
        units=np.floor(worth)[:, None],
        worth=worth[:, None],
        freedom=np.full((2, 1), freedom),
        correlation=np.zeros(1),
        span=np.ones(1),
        variance=np.full(1, np.nan),
        variance_others=np.full(1, np.nan),
        expected=np.full(1, np.nan),
        third=np.zeros((2, 1)),
    )


def _design(strata: _Strata, cases: Cases, is_member: ndarray) -> tuple[float, float]:
    """Return how much more a deviation varies because of sources, and its freedom.

    The variance between sources may be too small by chance where a group has few of
    them. So the design effect is also computed from the correlation within the sources
    of all groups, and the larger of both counts. It is at least 1.
    """
    # Cells of these strata, with what each case of a cell adds to the deviation.
    place = np.searchsorted(strata.place, cases.stratum)
    place = np.minimum(place, len(strata.place) - 1)
    used = strata.place[place] == cases.stratum
    place = place[used]
    count = cases.count[used]
    _, source = np.unique(np.asarray(cases.source)[used], return_inverse=True)

    rate = (strata.outcomes / strata.total)[place]
    residual = cases.outcome[used] - rate
    deviation = np.sqrt(rate * (1 - rate))
    pull = is_member[used] - (strata.n / strata.total)[place]

    def by_source(values: ndarray) -> ndarray:
        return np.bincount(source, count * values)

    # The correlation of two cases of a source, whatever their groups.
    pairs = (by_source(residual) ** 2 - by_source(residual**2)).sum()
    most = (by_source(deviation) ** 2 - by_source(deviation**2)).sum()
    correlation = np.clip(pairs / most, 0, 1) if most > 0 else 0.0

    alone = by_source((pull * deviation) ** 2)
    together = by_source(pull * deviation) ** 2
    expected = (1 - correlation) * alone + correlation * together
    if not expected.sum() > 0:
        return 1.0, np.inf

    observed = (by_source(pull * residual) ** 2).sum()
    observed_alone = by_source((pull * residual) ** 2).sum()
    design = max(
        1.0,
        expected.sum() / alone.sum(),
        observed / observed_alone if observed_alone > 0 else 1.0,
    )
    freedom = expected.sum() ** 2 / (expected**2).sum() - 1
    return float(design), float(max(freedom, 1.0))
