"""What is asked beside the comparisons: within strata, of crossed attributes, of another model, of probabilities.

Strata: applicants for one department are compared with applicants for the same department. The common difference is
Mantel and Haenszel's: Σ w (p₁ - p₂) / Σ w over strata with w = n₁ n₂ / (n₁ + n₂). Either side is then a mean of its
rates with the same weights, worth m (1 - m) / V independent cases, where V is the variance of the mean; a stratum that
holds one side only says nothing. Greenland and Robins 1985, Biometrics 41.

Probabilities are looked at by cases counted by group, label and level of the probability (`people.by_level`), so the
cost does not depend on the number of cases. A level is a hundredth of the log odds wide: none moves by more than .0025.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps

import numpy as np
import pandas as pd
from scipy import stats

from fairlib.auditing import comparing, groups, rates, summary
from fairlib.auditing.comparing import Contrast
from fairlib.auditing.groups import Family
from fairlib.auditing.people import Coded, People
from fairlib.auditing.rates import Sums
from fairlib.intervals import multiplicity
from fairlib.intervals.proportions import mcnemar

MOST = (
    20  # crossings that are tested, those that matter most: each at a 20th of the level
)
MOST_GROUPS = 25  # whose probabilities are looked at, the largest
BINS = 10  # of the probabilities, at equal shares of all cases
THRESHOLDS = np.arange(1, 100) / 100


def common(sums: Sums, family: Family, within: Coded | None) -> Contrast:
    """Return what either side of each comparison says, within strata if there are any."""
    if within is None:
        return comparing.contrast(sums, family)
    parts = [part for _, part in _parts(sums, family, within)]
    n, value, worth = (
        np.stack([getattr(part, name) for part in parts])
        for name in ("n", "value", "worth")
    )
    weight, span = n.prod(axis=1) / np.maximum(n.sum(axis=1), 1), parts[0].span
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = (weight / weight.sum(axis=0))[:, None]
        share = ((value + span - 1) / span * n + 0.5) / (n + 1)  # off the edge
        each = share * (1 - share) / np.where(sums.rate.uses_probability, worth, n)
        third = weight**3 * np.stack([part.third for part in parts])
        terms = (
            n,
            weight * value,
            weight * share,
            weight**2 * each,
            weight**2 / n,
            third,
        )
        used, mean, own, variance, size, third = (
            np.where(weight > 0, term, 0.0).sum(axis=0) for term in terms
        )
        worth, units = (
            own * (1 - own) / variance,
            np.floor(np.where(size > 0, 1 / size, 0.0) + 1e-9),
        )
    mean = np.where(units > 0, mean, np.nan)
    worth = worth if sums.rate.uses_probability else np.minimum(worth, used)
    others, every, none = (
        variance[1] * span**2,
        np.full(mean.shape, np.inf),
        np.zeros(len(span)),
    )
    return Contrast(
        used,
        mean,
        units,
        worth,
        every,
        none,
        span,
        others * units[1],
        others,
        none * np.nan,
        third,
    )


def strata(report) -> pd.DataFrame | None:
    """Return the comparisons in each stratum, each with an interval for itself alone; None without `within`."""
    if (within := report.people.within) is None:
        return None
    found = []
    for sums, family in report.questions:
        for stratum, part in _parts(sums, family, within):
            sides = {
                "n": part.n[0],
                "n_against": part.n[1],
                "value": part.value[0],
                "value_against": part.value[1],
            }
            low, high = comparing.ends(part, report.setting.alpha)
            said = {
                "stratum": stratum,
                **sides,
                "difference": part.difference,
                "low": low,
                "high": high,
            }
            found.append(pd.DataFrame(sums.about(family) | said))
    rows = pd.concat(found, ignore_index=True).astype(
        {"n": np.int64, "n_against": np.int64}
    )
    return report.people.in_units(rows)


def _parts(sums: Sums, family: Family, within: Coded) -> Iterator[tuple[str, Contrast]]:
    for code, name in enumerate(within.names):
        if name != within.missing:
            yield name, comparing.contrast(sums.only(within.codes == code), family)


def adding(
    people: People, questions: Sequence[tuple[Sums, Family]], *, alpha: float
) -> Callable[[object], bool]:
    """Return a test of whether a comparison says more than the attributes that it crosses, of the first `MOST`."""
    asked = {
        (family.attribute, sums.name, sums.class_name): (sums, family)
        for sums, family in questions
    }
    tested = iter(range(MOST))

    def adds(row) -> bool:
        sums, family = asked[row.attribute, row.rate, row.class_name]
        if len(family.attributes) == 1 or next(tested, None) is None:
            return len(family.attributes) == 1
        group = next(code for code in family.kept if family.called(code) == row.group)
        more, p = interaction(people, sums, family, group)
        return bool(p <= alpha / MOST and more * row.difference > 0)

    return adds


def interaction(
    people: People, sums: Sums, family: Family, group: int
) -> tuple[float, float]:
    """Return by how much a group's mean is more than its attributes add up to, and how often chance does that.

    For two attributes (a, b) it is (m₁₁ − m₀₁) − (m₁₀ − m₀₀), where 1 stands for the group's own value and 0 for all
    others; for more, the same of higher order. Normal intervals of the four means, half a case added for rare ones; by
    source, of what each source adds to the sum (Liang and Zeger 1986).
    """
    attributes, names = (
        [people.attributes[name] for name in family.attributes],
        family.names[group],
    )
    inside = [
        one.codes == one.names.index(name)
        for one, name in zip(attributes, names, strict=True)
    ]
    cells, cell = (
        2 ** len(inside),
        sum(mine.astype(int) << place for place, mine in enumerate(inside)),
    )
    sign = np.array(
        [(-1.0) ** (len(inside) - code.bit_count()) for code in range(cells)]
    )
    sizes = sums.count, sums.power(1, 0), sums.power(0, 1), sums.power(2, 0)
    cases, n, k, n2 = (np.bincount(cell, values, cells) for values in sizes)
    if cases.min() < 2 or not (n2 < n**2).all():
        return np.nan, np.nan
    mean, smooth, freedom = k / n, (k + 0.5) / (n + 1), np.inf
    if people.source is not None:
        residual = (sums.power(0, 1) - mean[cell] * sums.power(1, 0)) * (sign / n)[cell]
        sources = min(
            len(np.unique(people.source[cell == code])) for code in range(cells)
        )
        variance = (
            (np.bincount(people.source, residual) ** 2).sum()
            * sources
            / max(sources - 1, 1e-9)
        )
        freedom = max(sources - 1, 1)
    elif not sums.of_shares:
        squares = sums.power(0, 2) - mean[cell] * (
            2 * sums.power(1, 1) - mean[cell] * sums.power(2, 0)
        )
        variance = (np.bincount(cell, squares, cells) / (n**2 - n2)).sum()
    else:
        variance = (smooth * (1 - smooth) / n).sum()
    more = float(sign @ mean)
    if variance <= 0:
        return more, float(abs(more) < 1e-12)
    return more, float(2 * stats.t.sf(abs(more) / np.sqrt(variance), freedom))


def changes(report) -> pd.DataFrame | None:
    """Return by how much each rate of each group changes: `after`, if the other model, `compare`, takes its place.

    A case counts where the models differ (McNemar 1947); rates whose cases depend on the prediction are left out. more,
    fewer : cases that are counted after and not before, and the reverse. low, high : exact, with probability
    1 - confidence / 20 to spare. p : the exact test of more against fewer; p_corrected : for all of these (Holm).
    """
    people, setting = report.people, report.setting
    if people.compare is None:
        return None
    fixed = (
        {*rates.OUTCOMES},
        {"TP", "FN"},
        {"FP", "TN"},
    )  # alike, whatever is predicted
    asked = rates.measured(people, setting.every_rate, own=setting.rates).items()
    asked, found = (
        {name: rate for name, rate in asked if {*rate.outcomes[-1]} in fixed},
        [],
    )
    models = (
        rates.sums(one, asked)
        for one in (people, replace(people, prediction=people.compare))
    )
    for before, after in zip(*models, strict=True):
        cells = {
            "n": before.count,
            "before": before.power(0, 1),
            "after": after.power(0, 1),
        }
        cells["more"] = np.where(cells["before"] > 0, 0, cells["after"])
        cells["fewer"] = np.where(cells["after"] > 0, 0, cells["before"])
        for family in {
            one.attribute: one
            for _, one in report.questions
            if len(one.attributes) == 1
        }.values():
            about = {
                "attribute": family.attribute,
                "group": [family.called(code) for code in family.kept],
            }
            about |= {"rate": before.name, "class": before.class_name}
            found.append(
                pd.DataFrame(
                    about
                    | {
                        name: family.total(own)[family.kept]
                        for name, own in cells.items()
                    }
                )
            )
    rows = pd.concat(found, ignore_index=True).astype(
        dict.fromkeys(("n", "more", "fewer"), np.int64)
    )
    rows["before"], rows["after"] = (
        rows["before"] / rows["n"],
        rows["after"] / rows["n"],
    )
    rows["change"] = rows["after"] - rows["before"]
    rows["low"], rows["high"] = mcnemar(
        rows["more"], rows["fewer"], rows["n"], alpha=setting.alpha
    )
    least, apart = rows[["more", "fewer"]].min(axis=1), rows["more"] + rows["fewer"]
    rows["p"] = np.minimum(2 * stats.binom.cdf(least, apart, 0.5), 1)
    rows.loc[
        rows["n"] < setting.minimum, ["before", "after", "change", "low", "high", "p"]
    ] = np.nan
    return rows.assign(p_corrected=multiplicity.holm(rows["p"]))


def _by_probability(ask: Callable) -> Callable:
    """Make what `ask` yields of an attribute's largest groups a table of a report; None where there is nothing to say.

    Intervals are NaN where there are too many cases to count them by source (`people.MOST_TIED`).
    """

    @wraps(ask)
    def asked(report) -> pd.DataFrame | None:
        setting, found = report.setting, []
        for name, people in report.levels.items():
            family = groups.family(people, (name,), {})
            enough, _ = summary.large_enough(family, people, setting)
            largest = np.sort(
                enough[np.argsort(-family.total(people.count)[enough], kind="stable")][
                    :MOST_GROUPS
                ]
            )
            untied = setting.columns.source is not None and people.source is None
            for code, said in ask(
                people,
                family.codes,
                largest.tolist(),
                np.nan if untied else setting.alpha,
            ):
                about = {
                    "attribute": name,
                    "group": family.called(code),
                    "class": people.classes[people.positive[0]],
                }
                found.append(
                    pd.DataFrame(
                        about | said, index=range(max(map(np.size, said.values())))
                    )
                )
        return pd.concat(found, ignore_index=True) if found else None

    return asked


@_by_probability
def calibration(
    people: People, group: np.ndarray, codes: list[int], alpha: float
) -> Iterator[tuple]:
    """Return, for the bins of each group, the mean probability and how often the class is the label (`observed`).

    low, high : of `observed`, each for itself: Clopper and Pearson's limits, for as many cases as the variance between
    sources makes of them.
    """
    if people.label is None:
        return
    truth = people.count * (people.label == people.positive[0])
    places, place = np.unique(people.probability(BINS), return_inverse=True)
    cells = (int(group.max()) + 1) * len(places)
    bins = Family(
        (),
        ((),) * cells,
        group * len(places) + place,
        np.arange(cells),
        None,
        people.source,
    )
    sums = Sums("observed", rates.RATES["misses"], "", people.count, {(0, 1): truth})
    sides = comparing.contrast(sums, bins)
    low, high = (
        np.where(np.isnan(alpha), np.nan, end) for end in comparing.limits(sides, alpha)
    )
    probability = bins.total(people.score) / np.maximum(sides.n[0], 1)
    for code in codes:
        here = code * len(places) + np.arange(len(places))
        here = here[sides.n[0, here] > 0]
        ends = {"low": low[0, here], "high": high[0, here]}
        n, observed = sides.n[0, here].astype(np.int64), sides.value[0, here]
        yield (
            code,
            {"n": n, "probability": probability[here], "observed": observed} | ends,
        )


@_by_probability
def thresholds(
    people: People, group: np.ndarray, codes: list[int], alpha: float
) -> Iterator[tuple]:
    """Return how often the class is predicted from each threshold on: of all cases, where it is the label, and not."""
    place = np.searchsorted(
        THRESHOLDS, people.probability() + 1e-9, side="right"
    )  # how many thresholds it reaches
    for code in codes:

        def reached(among: np.ndarray | bool, code: int = code) -> np.ndarray:
            count = np.bincount(
                place,
                people.count * ((group == code) & among),
                minlength=len(THRESHOLDS) + 1,
            )
            return (
                count[::-1].cumsum()[::-1][1:] / count.sum()
                if count.sum()
                else np.full(len(THRESHOLDS), np.nan)
            )

        said = {
            "threshold": THRESHOLDS,
            "n": int(people.count[group == code].sum()),
            "predicted": reached(True),
        }
        if people.label is not None:
            truth = people.label == people.positive[0]
            said |= {"hits": reached(truth), "false alarms": reached(~truth)}
        yield code, said
