"""Many pairs of groups compared at once.

`comparing.contrast` compares each group with one reference, or with everyone else.
Where every group is compared with every other one, what is needed of each group is
summed up once here. The cost is that of the cells, and of one number for each pair of
groups.
"""

import numpy as np
from numpy import ndarray

from fairlib.auditing.comparing import Contrast, from_moments, from_shares
from fairlib.auditing.groups import Family
from fairlib.auditing.sums import Sums


def contrast_of_pairs(
    sums: Sums, family: Family, *, first: ndarray, second: ndarray
) -> Contrast:
    """Return what both groups of each pair say, and how surely.

    Parameters
    ----------
    sums : Sums
        The rate.
    family : Family
        The groups.
    first, second : ndarray of int
        The codes of the groups of each pair.
    """

    def sides(per_group: ndarray) -> ndarray:
        return np.stack([per_group[first], per_group[second]]).astype(float)

    cases = sides(family.total(sums.count))
    n = sides(family.total(sums.power(1, 0)))
    total = sides(family.total(sums.power(0, 1)))

    with np.errstate(invalid="ignore", divide="ignore"):
        if family.source is not None:
            moments_of_source, shared = _over_sources(sums, family)
            return from_moments(
                sums,
                lambda a, b: sides(moments_of_source(a, b)),
                cases=cases,
                n=n,
                mean=total / n,
                shared=shared[first, second],
            )

        def moment(a: int, b: int) -> ndarray:
            return sides(family.total(sums.power(a, b)))

        if sums.of_shares:
            return from_shares(sums, moment, cases=cases, n=n, total=total)
        return from_moments(sums, moment, cases=cases, n=n, mean=total / n)


def _over_sources(sums: Sums, family: Family):
    """Return Σ nᵃ kᵇ over the sources of each group, and Σ r r' of each two groups."""
    source_of_pair, group_of_pair, pair_of_cell = family.pairs
    pairs = len(group_of_pair)
    n = np.bincount(pair_of_cell, sums.power(1, 0), minlength=pairs)
    k = np.bincount(pair_of_cell, sums.power(0, 1), minlength=pairs)

    def by_group(values: ndarray) -> ndarray:
        return np.bincount(group_of_pair, values, minlength=len(family))

    def moment(a: int, b: int) -> ndarray:
        return by_group(n**a * k**b)

    mean = by_group(k) / by_group(n)
    residual = k - np.nan_to_num(mean)[group_of_pair] * n
    # Only data with sources need sparse matrices.
    from scipy.sparse import csr_array

    shape = (int(source_of_pair.max()) + 1, len(family))
    residuals = csr_array((residual, (source_of_pair, group_of_pair)), shape=shape)
    return moment, (residuals.T @ residuals).toarray()
