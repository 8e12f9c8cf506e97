"""How often is an audit right? Simulated models whose truth is known, audited again and again.

`python benchmarks/audits.py` writes benchmarks/audits.md, in some minutes; what an earlier version did with the same
data is kept beside it in benchmarks/audits.csv (`--as before` records the version that is installed as the earlier one,
`--quick` takes a tenth of the audits and writes nothing).
"""

# ruff: noqa: E402
import os

for library in (
    "OMP",
    "OPENBLAS",
    "MKL",
):  # before NumPy is imported, which reads them once
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import fairlib
from fairlib import amplification
from fairlib.data import write_whole

RESULT = Path(__file__).with_name("audits.md")
COLUMNS = {"group": "group", "label": "label", "prediction": "prediction"}
MARGIN = 0.05
MOVED = {
    "ParityGap",
    "DisparityScore",
    "DisparityScore*",
    "F1Difference",
    "F1Ratio",
    "predicted",
    "unreliable",
}
MOVED_BY = "base rates alone move ParityGap, F1, how often a class is predicted and how reliably"
INTRODUCTION = f"""\
# How often an audit is right

Simulations: models whose truth is known, audited again and again, by an earlier version and by this one on the same
data. In brackets the Monte Carlo error (one standard error). A claim is a difference that is "shown", or a summary
metric that is "more than chance", where the truth has none; {MOVED_BY},
and do not count. The earlier version knew neither costs nor weights. Aims are the most, or the least (≥), that is
promised. `python benchmarks/audits.py` writes it.

"""


class Tally(NamedTuple):
    """How often something came out, of so many times."""

    hits: float
    trials: float


class Case(NamedTuple):
    """A world to simulate: `once` audits one sample of it."""

    name: str
    once: Callable  # rng -> quantity -> Tally
    audits: int = 200


def _table(group, label, wrong, **columns) -> pd.DataFrame:
    label = np.asarray(label).astype(int)
    return pd.DataFrame(
        {
            "group": group,
            "label": label,
            "prediction": np.where(wrong, 1 - label, label),
        }
        | columns
    )


def _counts(frame: pd.DataFrame) -> dict:
    keys = [name for name in frame if name != "n"]
    return {"frame": frame.value_counts(keys).rename("n").reset_index(), "count": "n"}


def _audit(frame: pd.DataFrame, **options):
    return fairlib.audit(
        **_counts(frame), **COLUMNS, positive=1, margin=MARGIN, **options
    )


def _claims(report, *, summary: bool = True) -> dict[str, Tally]:
    """Count an audit in which nothing differs but base rates: did it claim anything?"""
    rows = report.to_frame()
    compared = ((rows["verdict"] == "shown") & ~rows["rate"].isin(MOVED)).any()
    found = {"any claim by a comparison": Tally(compared, 1)}
    if summary:
        metrics = report.metrics
        summed = (
            (metrics["p_corrected"].astype(float) <= 0.05)
            & ~metrics["metric"].isin(MOVED)
        ).any()
        found |= {
            "any claim by a summary metric": Tally(summed, 1),
            "any claim at all": Tally(compared | summed, 1),
        }
    return found


def _coverage(rows: pd.DataFrame, truth: np.ndarray) -> dict[str, Tally]:
    """Count how many intervals hold the truth, which findings do not, and which differences are ruled out falsely."""
    tested, shown, small = (
        rows["p_corrected"].notna(),
        rows["verdict"] == "shown",
        rows["verdict"] == "small",
    )
    inside = (rows["low"] <= truth) & (rows["high"] >= truth)
    missed, beyond = (shown | small) & ~inside, np.abs(truth) >= MARGIN
    return {
        "intervals that hold the truth": Tally((inside & tested).sum(), tested.sum()),
        "intervals of findings that miss it": Tally(
            missed.sum() / max(1, (shown | small).sum()), 1
        ),
        "differences beyond the margin that are ruled out": Tally(
            (small & beyond).sum(), (tested & beyond).sum()
        ),
        "differences beyond the margin that are shown": Tally(
            (shown & beyond).sum(), (tested & beyond).sum()
        ),
    }


# --- Worlds -----------------------------------------------------------------------------------------------------------


def base_rates(*rates: float, size: int = 500, wrong: float = 0.15) -> Callable:
    """Error rates are equal in all groups, base rates are not."""

    def once(rng):
        group = np.repeat(np.arange(len(rates)), size)
        label = rng.random(len(group)) < np.array(rates)[group]
        return _claims(_audit(_table(group, label, rng.random(len(group)) < wrong)))

    return once


def rare_events(rng):
    """Eight groups of 30 to 60 and one of 2,000; one case in fifty is wrong."""
    group = np.repeat(np.arange(9), [*range(30, 61, 4), 2000])
    return _claims(
        _audit(
            _table(group, rng.random(len(group)) < 0.3, rng.random(len(group)) < 0.02)
        )
    )


def _sizes(rng, sources: int, tail: float) -> np.ndarray:
    return np.minimum(np.ceil((1 - rng.random(sources)) ** (-1 / tail)), 2000).astype(
        int
    )


def unequal_sources(
    tail: float, rate: float, *, mixed: bool, alike: float = 1.0, sources: int = 400
) -> Callable:
    """Four groups of equal error rate; sources of Pareto sizes whose cases go together, of one group or of several."""

    def once(rng):
        size = _sizes(rng, sources, tail)
        chance = np.where(rng.random(sources) < alike, rng.random(sources) < rate, rate)
        source = np.repeat(np.arange(sources), size)
        group = rng.integers(4, size=len(source)) if mixed else source % 4
        wrong = rng.random(len(source)) < chance[source]
        label = rng.random(len(source)) < 0.5
        return _claims(
            _audit(_table(group, label, wrong, source=source), source="source"),
            summary=not mixed,
        )

    return once


def one_large_source(rng):
    """Twenty-nine people with one case, and one with 300 that are right or wrong together, against the like."""
    size = np.tile([1] * 29 + [300], 2)
    source = np.repeat(np.arange(60), size)
    wrong = (rng.random(60) < 0.3)[source]
    table = _table(source // 30, np.ones(len(source)), wrong, source=source)
    return _claims(_audit(table, source="source", metrics=["errors"]), summary=False)


def twenty_groups(rng):
    """Twenty groups of 300 whose error rates differ with a standard deviation of 3 points."""
    rates = np.clip(rng.normal(0.2, 0.03, 20), 0.02, 0.9)
    group = np.repeat(np.arange(20), 300)
    rows = _audit(
        _table(group, 0 * group, rng.random(6000) < rates[group]), metrics=["errors"]
    ).to_frame()
    code = rows["group"].str.removeprefix("group = ").astype(int).to_numpy()
    return _coverage(rows, (rates[code] - (rates.sum() - rates[code]) / 19))


def few_sources(
    rate: float,
    other: float,
    *,
    sources: int = 30,
    others: int = 500,
    alike: float = 1.0,
) -> Callable:
    """A group of 30 sources against one of 500, three cases each that go together to some degree."""

    def once(rng):
        source = np.repeat(np.arange(sources + others), 3)
        group = (source >= sources).astype(int)
        chance = np.where(np.arange(sources + others) < sources, rate, other)
        together = rng.random(len(chance)) < alike
        chance = np.where(together, rng.random(len(chance)) < chance, chance)
        table = _table(
            group, 0 * group, rng.random(len(source)) < chance[source], source=source
        )
        rows = _audit(table, source="source", metrics=["errors"]).to_frame()
        return _coverage(rows, np.full(len(rows), rate - other))

    return once


def skewed_probabilities(sizes: tuple[int, int]) -> Callable:
    """Probabilities with a rare large value (Beta(0.05, 1)), in a small group and the rest."""

    def once(rng):
        group = np.repeat([0, 1], sizes)
        frame = pd.DataFrame(
            {"group": group, "score": rng.beta(0.05, 1, len(group)), "label": 1}
        )
        named = {
            "group": "group",
            "label": "label",
            "probability": "score",
            "positive": 1,
        }
        rows = fairlib.audit(
            frame, **named, metrics=["mean probability"], margin=MARGIN
        ).to_frame()
        return _coverage(rows, np.zeros(len(rows)))

    return once


def costs(
    draw: Callable,
    sizes: tuple[int, int],
    *,
    held: str = "intervals that hold the truth",
) -> Callable:
    """Costs of one distribution in both groups; where they are too skewed, an audit gives no interval."""

    def once(rng):
        frame = pd.DataFrame(
            {"group": np.repeat([0, 1], sizes), "cost": draw(rng, sum(sizes))}
        )
        (row,) = (
            fairlib.audit(frame, group="group", cost="cost")
            .to_frame()
            .to_dict("records")
        )
        defined = np.isfinite(row["low"])
        return {
            "any claim by a comparison": Tally(row["verdict"] == "shown", 1),
            held: Tally(defined and row["low"] <= 0 <= row["high"], defined),
            "samples without an interval": Tally(not defined, 1),
        }

    return once


def weights(
    select: Callable, size: int, *, shares: tuple[float, float] = (0.1, 0.3)
) -> Callable:
    """A survey of two groups that `select` draws: outcomes and weights that go together."""

    def draw(rng, size: int) -> pd.DataFrame:
        outcome, weight = select(rng, np.repeat(shares, size))
        return pd.DataFrame(
            {
                "group": np.repeat([0, 1], size),
                "prediction": outcome.astype(int),
                "weight": weight,
            }
        )

    @cache
    def truth() -> float:
        whole = draw(np.random.default_rng(0), 1_000_000)
        return np.subtract(
            *(
                np.average(one["prediction"], weights=one["weight"])
                for _, one in whole.groupby("group")
            )
        )

    def once(rng):
        named = {
            "group": "group",
            "prediction": "prediction",
            "weight": "weight",
            "positive": 1,
        }
        (row,) = (
            fairlib.audit(draw(rng, size), **named, metrics=["predicted"])
            .to_frame()
            .to_dict("records")
        )
        defined = np.isfinite(row["low"])
        return {
            "intervals that hold the truth": Tally(
                defined and row["low"] <= truth() <= row["high"], defined
            ),
            "samples without an interval": Tally(not defined, 1),
        }

    return once


def by_outcome(rng, share):
    """Select cases of outcome 1 four times as often as others; weights make up for it, but for some noise."""
    outcome = rng.random(len(share)) < 0.8 * share / (0.8 * share + 0.2 * (1 - share))
    return outcome, np.where(outcome, 1 / 0.8, 1 / 0.2) * rng.gamma(4, 0.25, len(share))


def by_weight(rng, share):
    """Select cases with 1 / w; what happens to them happens more often where w is large."""
    weight = np.exp(rng.normal(0, 0.8, len(share)))
    return rng.random(len(share)) < np.clip(share * np.sqrt(weight), 0, 1), weight


def gamma(rng, n):
    """Skewness 1."""
    return rng.gamma(4.0, size=n)


def exponential(rng, n):
    """Skewness 2."""
    return rng.exponential(size=n)


def lognormal(rng, n):
    """Skewness 6."""
    return rng.lognormal(0.0, 1.0, n)


def mostly_none(rng, n):
    """Four fifths are 0, the others exponential."""
    return rng.exponential(size=n) * (rng.random(n) < 0.2)


def planted(extra: float, *, size: int, source: bool = False) -> Callable:
    """Four groups, one of which is wrong `extra` more often than 20 %; if `source`, ten cases to each source."""

    def once(rng):
        group = np.repeat(np.arange(4), size)
        rate = 0.2 + extra * (group == 0)
        frame = _table(
            group, rng.random(len(group)) < 0.5, rng.random(len(group)) < rate
        )
        options = {}
        if source:
            frame, options = (
                frame.assign(source=np.arange(len(group)) // 10),
                {"source": "source"},
            )
        rows = _audit(
            frame, **options, metrics=["errors", "misses", "false alarms"]
        ).to_frame()
        hit = rows[(rows["group"] == "group = 0") & (rows["rate"] == "errors")]
        return {
            "planted difference is shown": Tally((hit["verdict"] == "shown").sum(), 1)
        }

    return once


def amplified(
    direction: str, error: float, *, n: int, tasks: int = 6, fair: bool = True
) -> Callable:
    """A test set of n, a model that errs without regard to the other label (`fair`) or with it."""

    def draw(rng, n):
        woman = rng.random(n) < 0.4
        lean = np.linspace(-0.5, 0.5, tasks)
        task = rng.random((n, tasks)) < 0.25 * (
            1 + np.where(woman[:, None], lean, -lean)
        )
        leaning = 1 if fair else 1 + np.where(woman[:, None], lean, -lean)
        flip = rng.random((n, tasks)) < np.where(task, error, error / 3 * leaning)
        seen = woman ^ (rng.random(n) < error * (1 if fair else 1 + task[:, -1]))
        columns = {"A->T": task ^ flip, "T->A": np.stack([seen, ~seen], axis=1)}
        return task, np.stack([woman, ~woman], axis=1), columns[direction]

    @cache
    def known() -> tuple:
        train = amplification.count(*draw(np.random.default_rng(0), 20_000)[:2])
        measure = {
            "A->T": amplification.attribute_to_task,
            "T->A": amplification.task_to_attribute,
        }[direction]
        return train, measure(*draw(np.random.default_rng(1), 300_000), train=train)

    def once(rng):
        train, truth = known()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tasks that never occur
            found = amplification.interval(direction, *draw(rng, n), train=train)
        defined = np.isfinite(found.low)
        return {
            "intervals that hold the truth": Tally(defined and truth in found, defined),
            "samples without an interval": Tally(not defined, 1),
        }

    return once


CASES = [
    Case("base rates of 10 and 90 %", base_rates(0.1, 0.9)),
    Case("base rates of 15 and 5 %", base_rates(0.15, 0.05)),
    Case("base rates of 20, 40 and 60 %", base_rates(0.2, 0.4, 0.6)),
    Case("eight small groups, rare events", rare_events),
    Case(
        "sources of Pareto(1.1) sizes, 20 % wrong",
        unequal_sources(1.1, 0.2, mixed=False),
    ),
    Case(
        "sources of Pareto(1.5) sizes, 20 % wrong",
        unequal_sources(1.5, 0.2, mixed=False),
    ),
    Case(
        "sources of Pareto(1.5) sizes, 2 % wrong",
        unequal_sources(1.5, 0.02, mixed=False),
    ),
    Case(
        "sources of Pareto(1.1) sizes that hold several groups",
        unequal_sources(1.1, 0.2, mixed=True),
    ),
    Case(
        "sources of Pareto(1.5) sizes that hold several groups",
        unequal_sources(1.5, 0.2, mixed=True),
    ),
    Case("one large source among thirty", one_large_source),
    Case("twenty groups of 300, differences of sd 3 points", twenty_groups),
    Case("30 sources against 500, 2 % and 2 % wrong", few_sources(0.02, 0.02)),
    Case("30 sources against 500, 10 % and 2 % wrong", few_sources(0.1, 0.02)),
    Case(
        "30 sources against 500, 20 % and 30 % wrong", few_sources(0.2, 0.3, alike=0.5)
    ),
    Case(
        "40 sources against 40, 5 % and 12 % wrong",
        few_sources(0.05, 0.12, sources=40, others=40),
    ),
    Case("probabilities, 35 against 1,000", skewed_probabilities((35, 1000))),
    Case("probabilities, 100 against 100", skewed_probabilities((100, 100))),
    Case("costs, gamma(4), 100 against 100", costs(gamma, (100, 100)), 1000),
    Case("costs, gamma(4), 40 against 400", costs(gamma, (40, 400)), 1000),
    Case("costs, exponential, 100 against 100", costs(exponential, (100, 100)), 1000),
    Case("costs, exponential, 40 against 400", costs(exponential, (40, 400)), 1000),
    Case("costs, lognormal(1), 100 against 100", costs(lognormal, (100, 100)), 1000),
    Case("costs, lognormal(1), 40 against 400", costs(lognormal, (40, 400)), 1000),
    Case("costs, four fifths 0, 100 against 100", costs(mostly_none, (100, 100)), 1000),
    Case(
        "costs, four fifths 0, 30 against 30",
        costs(mostly_none, (30, 30), held="of the few, hold the truth"),
        4000,
    ),
    Case("survey, selected by outcome, 60 a group", weights(by_outcome, 60), 1000),
    Case("survey, selected by outcome, 250 a group", weights(by_outcome, 250), 1000),
    Case("survey, outcome follows weight, 60 a group", weights(by_weight, 60), 1000),
    Case("survey, outcome follows weight, 250 a group", weights(by_weight, 250), 1000),
    Case("planted: 8 points, 600 a group", planted(0.08, size=600)),
    Case(
        "planted: 8 points, 60 sources of 10 a group",
        planted(0.08, size=600, source=True),
    ),
    Case("A→T, truth 0, 3 % errors, n = 80", amplified("A->T", 0.03, n=80), 1000),
    Case("T→A, 3 % errors, n = 80", amplified("T->A", 0.03, n=80), 1000),
    Case("T→A, 3 % errors, n = 400", amplified("T->A", 0.03, n=400), 1000),
    Case("T→A, 0.2 % errors, n = 400", amplified("T->A", 0.002, n=400), 1000),
    Case(
        "A→T, 15 % errors that lean, n = 600",
        amplified("A->T", 0.15, n=600, fair=False),
        1000,
    ),
    Case(
        "T→A, 15 % errors that lean, n = 300",
        amplified("T->A", 0.15, n=300, fair=False),
        1000,
    ),
]
AIMS = {
    "any claim by a comparison": "5 %",
    "any claim by a summary metric": "5 %",
    "any claim at all": "5 %",
    "intervals that hold the truth": "≥ 93 %",
    "intervals of findings that miss it": "5 %",
    "differences beyond the margin that are ruled out": "5 %",
}


def measured(case: Case, audits: int) -> dict[str, tuple[float, float]]:
    """Return each quantity's share of an infinity of audits, estimated, with its standard error; NaN without a trial.

    Tallies of one audit belong together, so that the error is that of a ratio of sums over audits.
    """
    seed = np.random.SeedSequence([*case.name.encode()])
    tallies = [case.once(np.random.default_rng(child)) for child in seed.spawn(audits)]
    found = {}
    for quantity in tallies[0]:
        hits, trials = np.array([tally[quantity] for tally in tallies], dtype=float).T
        if trials.sum():
            share = hits.sum() / trials.sum()
            deviation = (hits - share * trials).std(ddof=1)
            found[quantity] = share, deviation * np.sqrt(audits) / trials.sum()
        else:
            found[quantity] = np.nan, np.nan
    return found


def run(*, share: float = 1.0) -> pd.DataFrame:
    """Measure all cases with this version: one row per case and quantity."""
    audits = [max(2, int(case.audits * share)) for case in CASES]
    with ProcessPoolExecutor(max_workers=2) as pool:
        found = [
            pool.submit(_by_place, place, size) for place, size in enumerate(audits)
        ]
        rows = [
            (case.name, quantity, size, *numbers)
            for case, size, result in zip(CASES, audits, found, strict=True)
            for quantity, numbers in result.result().items()
        ]
    return pd.DataFrame(rows, columns=["case", "quantity", "audits", "share", "error"])


def _by_place(
    place: int, audits: int
) -> dict:  # closures do not travel between processes
    return measured(CASES[place], audits)


def written(rows: pd.DataFrame) -> str:
    """Return the table in Markdown."""

    def told(share: float, error: float) -> str:
        return "–" if np.isnan(share) else f"{100 * share:.1f} % ({100 * error:.1f})"

    lines = [
        "| truth | what | audits | aim | before | now |",
        "| :-- | :-- | --: | --: | --: | --: |",
    ]
    for row in rows.to_dict("records"):
        ends = (
            told(row[f"share_{when}"], row[f"error_{when}"])
            for when in ("before", "now")
        )
        start = f"| {row['case']} | {row['quantity']} | {row['audits']:,} | {AIMS.get(row['quantity'], '')} | "
        lines.append(start + " | ".join(ends) + " |")
    return INTRODUCTION + "\n".join(lines) + "\n"


def main() -> None:
    """Run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--as", dest="when", choices=("before", "now"), default="now")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    found = run(share=0.1 if options.quick else 1.0)
    if options.quick:
        print(found.to_string())
        return
    data = RESULT.with_suffix(".csv")
    key, numbers = (
        ["case", "quantity"],
        {name: f"{name}_{options.when}" for name in ("share", "error")},
    )
    found = found.rename(columns=numbers)
    if options.when == "now":
        found = found.merge(
            pd.read_csv(data)[[*key, "share_before", "error_before"]],
            on=key,
            how="left",
        )
        write_whole(
            RESULT, lambda beside: beside.write_text(written(found), encoding="utf-8")
        )
    write_whole(
        data,
        lambda beside: found.round(5).to_csv(beside, index=False, lineterminator="\n"),
    )


if __name__ == "__main__":
    main()
