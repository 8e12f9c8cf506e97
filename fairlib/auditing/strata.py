"""Groups compared within strata: applicants for one department with applicants for the same department.

The common difference is Mantel and Haenszel's: Σ w (p₁ - p₂) / Σ w over strata with w = n₁ n₂ / (n₁ + n₂). Either side
is then a mean of its rates with the same weights, worth m (1 - m) / V independent cases, where V is the variance of the
mean; a stratum that holds one side only says nothing. Greenland and Robins 1985, Biometrics 41.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairlib.auditing import comparing
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.groups import Family
from fairlib.auditing.people import Coded
from fairlib.auditing.rates import Sums

MOST = 200  # strata


def contrast(sums: Sums, family: Family, within: Coded | None) -> Contrast:
    """Return what either side of each comparison says, within strata if there are any."""
    if within is None:
        return comparing.contrast(sums, family)
    parts = [part for _, part in _parts(sums, family, within)]
    n, value, worth = (np.stack([getattr(part, name) for part in parts]) for name in ("n", "value", "worth"))
    span = parts[0].span
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(n.min(axis=1) > 0, n[:, 0] * n[:, 1] / n.sum(axis=1), 0.0)
        weight = (weight / weight.sum(axis=0))[:, None]
        value = np.where(weight > 0, value, 0.0)
        share = np.where(weight > 0, ((value + span - 1) / span * n + 0.5) / (n + 1), 0.0)  # off the edge
        each = share * (1 - share) / np.where(sums.rate.uses_probability, worth, n)
        variance = np.where(weight > 0, weight**2 * each, 0.0).sum(axis=0)
        mean, own = (weight * value).sum(axis=0), (weight * share).sum(axis=0)
        used = np.where(weight > 0, n, 0.0).sum(axis=0)
        units = np.floor(np.nan_to_num(1 / np.where(weight > 0, weight**2 / n, 0.0).sum(axis=0)) + 1e-9)
        mean = np.where(units > 0, mean, np.nan)
        worth = own * (1 - own) / variance
    worth = worth if sums.rate.uses_probability else np.minimum(worth, used)
    others, every, none = variance[1] * span**2, np.full(n.shape[1:], np.inf), np.zeros(n.shape[2])
    return Contrast(used, mean, units, worth, every, none, span, others * units[1], others, none * np.nan)


def table(questions: list[tuple[Sums, Family]], within: Coded, *, alpha: float) -> pd.DataFrame:
    """Return every comparison in every stratum, each with an interval for itself alone."""
    found = []
    for sums, family in questions:
        groups = [family.called(code) for code in family.compared]
        about = {"attribute": family.attribute, "group": groups, "against": family.against, "rate": sums.name}
        for stratum, part in _parts(sums, family, within):
            low, high = comparing.ends(part, alpha)
            sides = {"n": part.n[0], "n_against": part.n[1], "value": part.value[0], "value_against": part.value[1]}
            said = {"class": sums.class_name, "stratum": stratum, **sides, "difference": part.difference}
            found.append(pd.DataFrame(about | said | {"low": low, "high": high}))
    return pd.concat(found, ignore_index=True).astype({"n": np.int64, "n_against": np.int64})


def _parts(sums: Sums, family: Family, within: Coded) -> Iterator[tuple[str, Contrast]]:
    for code, name in enumerate(within.names):
        if code != within.missing:
            here = within.codes == code
            arrays = {part: np.where(here, getattr(sums, part), 0) for part in ("count", "total", "square")}
            yield name, comparing.contrast(sums._replace(**arrays), family)
