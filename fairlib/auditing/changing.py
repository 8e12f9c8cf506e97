"""Two models on the same cases: what changes for whom if the other takes the place of the one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import binom

from fairlib.auditing import multiplicity
from fairlib.auditing.groups import Family
from fairlib.auditing.people import People
from fairlib.auditing.rates import EVERY_CLASS, RATES, measured
from fairlib.auditing.setting import Setting
from fairlib.intervals.pairs import mcnemar


def changes(people: People, families: Mapping[str, Family], setting: Setting) -> pd.DataFrame:
    """Return by how much each rate of each group changes: `after`, by the other model, less `before`.

    A case counts where the models differ (McNemar 1947); rates whose cases depend on the prediction are left out. more,
    fewer : cases that are counted after and not before, and the reverse. low, high : exact, with probability
    1 - confidence / 20 to spare. p : the exact test of more against fewer; p_corrected : for all of these (Holm).
    """
    found = []
    names = [name for name in measured(people) if RATES[name].event and name != "unreliable"]
    for name in names:
        rate = RATES[name]
        for c in people.positive if rate.per_class else (None,):
            among = True if rate.among is None else rate.among(people.label, people.prediction, c)
            before, after = (rate.event(people.label, guess, c) for guess in (people.prediction, people.compare))
            for family in families.values():
                if len(family.attributes) > 1:
                    continue
                events = (among, before & among, after & among, after & ~before & among, before & ~after & among)
                counts = [family.total(people.count * event)[family.kept] for event in events]
                called = [family.called(code) for code in family.kept]
                names_of = ("n", "before", "after", "more", "fewer")
                about = {"attribute": family.attribute, "group": called, "rate": name}
                about["class"] = EVERY_CLASS if c is None else people.classes[c]
                found.append(pd.DataFrame(about | dict(zip(names_of, counts, strict=True))))
    return _tested(pd.concat(found, ignore_index=True), setting)


def _tested(rows: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    rows = rows.astype(dict.fromkeys(("n", "more", "fewer"), np.int64))
    with np.errstate(invalid="ignore", divide="ignore"):
        rows["before"], rows["after"] = rows["before"] / rows["n"], rows["after"] / rows["n"]
    rows["change"] = rows["after"] - rows["before"]
    rows["low"], rows["high"] = mcnemar(rows["more"], rows["fewer"], rows["n"], alpha=setting.alpha)
    least, apart = rows[["more", "fewer"]].min(axis=1), rows["more"] + rows["fewer"]
    rows["p"] = np.minimum(2 * binom.cdf(least, apart, 0.5), 1)
    enough = rows["n"] >= setting.minimum
    rows.loc[~enough, ["before", "after", "change", "low", "high", "p"]] = np.nan
    return rows.assign(p_corrected=multiplicity.holm(rows["p"]))
