"""The worlds of audits.py: simulated models whose truth is known.

A world is a function of a random generator. It draws one sample, audits it, and returns
for each quantity how often it came out: a `Tally`.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

import fairlib
from fairlib import amplification

COLUMNS = {"group": "group", "label": "label", "prediction": "prediction"}
MARGIN = 0.05
HELD = "intervals that hold the truth"
# Base rates alone move these.
MOVED = {
    "ParityGap",
    "DisparityScore",
    "DisparityScore*",
    "F1Difference",
    "F1Ratio",
    "predicted",
    "unreliable",
}


class Tally(NamedTuple):
    """How often something came out, of so many times."""

    hits: float
    trials: float


Once = Callable[[np.random.Generator], dict[str, Tally]]


class Case(NamedTuple):
    """A world to simulate: `once` audits one sample of it."""

    name: str
    once: Once
    audits: int = 200


def _table(group, label, wrong, **columns) -> pd.DataFrame:
    """Return examples whose predictions are wrong where `wrong` is true."""
    truth = np.asarray(label).astype(int)
    prediction = np.where(wrong, 1 - truth, truth)
    return pd.DataFrame(
        {"group": group, "label": truth, "prediction": prediction, **columns}
    )


def _counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how often each row occurs, in the column n."""
    keys = [name for name in frame if name != "n"]
    return frame.value_counts(keys).rename("n").reset_index()


def _audit(frame: pd.DataFrame, **options):
    """Return the audit of counted examples."""
    return fairlib.audit(
        _counted(frame), count="n", **COLUMNS, positive=1, margin=MARGIN, **options
    )


def _claims(report, *, summary: bool = True) -> dict[str, Tally]:
    """Count whether an audit claims anything where nothing but base rates differs."""
    rows = report.to_frame()
    is_claim = (rows["verdict"] == "shown") & ~rows["rate"].isin(MOVED)
    by_comparison = is_claim.any()
    tallies = {"any claim by a comparison": Tally(by_comparison, 1)}
    if not summary:
        return tallies

    metrics = report.metrics
    is_significant = metrics["p_corrected"].astype(float) <= 0.05
    by_summary = (is_significant & ~metrics["metric"].isin(MOVED)).any()
    tallies["any claim by a summary metric"] = Tally(by_summary, 1)
    tallies["any claim at all"] = Tally(by_comparison | by_summary, 1)
    return tallies


def _coverage(rows: pd.DataFrame, truth: np.ndarray) -> dict[str, Tally]:
    """Count intervals that hold the truth, findings that do not, and false rulings."""
    is_tested = rows["p_corrected"].notna()
    is_shown = rows["verdict"] == "shown"
    is_small = rows["verdict"] == "small"
    is_finding = is_shown | is_small
    is_inside = (rows["low"] <= truth) & (rows["high"] >= truth)
    is_missed = is_finding & ~is_inside
    is_beyond = np.abs(truth) >= MARGIN

    missed_share = is_missed.sum() / max(1, is_finding.sum())
    beyond = (is_tested & is_beyond).sum()
    return {
        "intervals that hold the truth": Tally(
            (is_inside & is_tested).sum(), is_tested.sum()
        ),
        "intervals of findings that miss it": Tally(missed_share, 1),
        "differences beyond the margin that are ruled out": Tally(
            (is_small & is_beyond).sum(), beyond
        ),
        "differences beyond the margin that are shown": Tally(
            (is_shown & is_beyond).sum(), beyond
        ),
    }


def _held(interval, truth: float, *, held: str = HELD) -> dict[str, Tally]:
    """Count whether an interval is defined, and whether it then holds the truth."""
    is_defined = np.isfinite(interval["low"])
    holds = is_defined and interval["low"] <= truth <= interval["high"]
    return {
        held: Tally(holds, is_defined),
        "samples without an interval": Tally(not is_defined, 1),
    }


# --- Worlds ---


def base_rates(*rates: float, size: int = 500, wrong: float = 0.15) -> Once:
    """Error rates are equal in all groups, base rates are not."""

    def once(rng):
        group = np.repeat(np.arange(len(rates)), size)
        label = rng.random(len(group)) < np.array(rates)[group]
        is_wrong = rng.random(len(group)) < wrong
        return _claims(_audit(_table(group, label, is_wrong)))

    return once


def rare_events(rng):
    """Eight groups of 30 to 60 and one of 2,000; one case in fifty is wrong."""
    group = np.repeat(np.arange(9), [*range(30, 61, 4), 2000])
    label = rng.random(len(group)) < 0.3
    is_wrong = rng.random(len(group)) < 0.02
    return _claims(_audit(_table(group, label, is_wrong)))


def _sizes(rng, sources: int, tail: float) -> np.ndarray:
    """Return sizes of sources from a Pareto distribution, cut at 2,000."""
    pareto = (1 - rng.random(sources)) ** (-1 / tail)
    return np.minimum(np.ceil(pareto), 2000).astype(int)


def unequal_sources(
    tail: float, rate: float, *, mixed: bool, alike: float = 1.0, sources: int = 400
) -> Once:
    """Four groups of equal error rate, with sources of Pareto sizes.

    The cases of a source go together; they are of one group, or of several (`mixed`).
    """

    def once(rng):
        size = _sizes(rng, sources, tail)
        together = rng.random(sources) < alike
        chance = np.where(together, rng.random(sources) < rate, rate)
        source = np.repeat(np.arange(sources), size)
        group = rng.integers(4, size=len(source)) if mixed else source % 4

        is_wrong = rng.random(len(source)) < chance[source]
        label = rng.random(len(source)) < 0.5
        table = _table(group, label, is_wrong, source=source)
        return _claims(_audit(table, source="source"), summary=not mixed)

    return once


def one_large_source(rng):
    """Twenty-nine people with one case and one with 300, against the like.

    The 300 cases are right or wrong together.
    """
    size = np.tile([1] * 29 + [300], 2)
    source = np.repeat(np.arange(60), size)
    is_wrong = (rng.random(60) < 0.3)[source]
    table = _table(source // 30, np.ones(len(source)), is_wrong, source=source)
    return _claims(_audit(table, source="source", metrics=["errors"]), summary=False)


def twenty_groups(rng):
    """Twenty groups of 300 whose error rates have a standard deviation of 3 points."""
    rates = np.clip(rng.normal(0.2, 0.03, 20), 0.02, 0.9)
    group = np.repeat(np.arange(20), 300)
    table = _table(group, 0 * group, rng.random(6000) < rates[group])
    rows = _audit(table, metrics=["errors"]).to_frame()

    code = rows["group"].str.removeprefix("group = ").astype(int).to_numpy()
    rest = (rates.sum() - rates[code]) / 19
    return _coverage(rows, rates[code] - rest)


def few_sources(
    rate: float,
    rate_of_others: float,
    *,
    sources: int = 30,
    others: int = 500,
    alike: float = 1.0,
) -> Once:
    """A group of 30 sources against one of 500, three cases each.

    The cases of a source go together to some degree.
    """

    def once(rng):
        every = np.arange(sources + others)
        source = np.repeat(every, 3)
        group = (source >= sources).astype(int)
        chance = np.where(every < sources, rate, rate_of_others)
        together = rng.random(len(chance)) < alike
        chance = np.where(together, rng.random(len(chance)) < chance, chance)

        is_wrong = rng.random(len(source)) < chance[source]
        table = _table(group, 0 * group, is_wrong, source=source)
        rows = _audit(table, source="source", metrics=["errors"]).to_frame()
        return _coverage(rows, np.full(len(rows), rate - rate_of_others))

    return once


def skewed_probabilities(sizes: tuple[int, int]) -> Once:
    """Probabilities with a rare large value (Beta(0.05, 1)), in two groups."""

    def once(rng):
        group = np.repeat([0, 1], sizes)
        score = rng.beta(0.05, 1, len(group))
        rows = fairlib.audit(
            pd.DataFrame({"group": group, "score": score, "label": 1}),
            group="group",
            label="label",
            probability="score",
            positive=1,
            metrics=["mean probability"],
            margin=MARGIN,
        ).to_frame()
        return _coverage(rows, np.zeros(len(rows)))

    return once


def costs(draw: Callable, sizes: tuple[int, int], *, held: str = HELD) -> Once:
    """Costs of one distribution in both groups.

    Where they are too skewed, an audit gives no interval.
    """

    def once(rng):
        group = np.repeat([0, 1], sizes)
        frame = pd.DataFrame({"group": group, "cost": draw(rng, sum(sizes))})
        rows = fairlib.audit(frame, group="group", cost="cost").to_frame()
        (row,) = rows.to_dict("records")
        claimed = Tally(row["verdict"] == "shown", 1)
        return {"any claim by a comparison": claimed, **_held(row, 0.0, held=held)}

    return once


def weights(
    select: Callable, size: int, *, shares: tuple[float, float] = (0.1, 0.3)
) -> Once:
    """A survey of two groups that `select` draws.

    Outcomes and weights go together.
    """

    def draw(rng, size: int) -> pd.DataFrame:
        outcome, weight = select(rng, np.repeat(shares, size))
        group = np.repeat([0, 1], size)
        return pd.DataFrame(
            {"group": group, "prediction": outcome.astype(int), "weight": weight}
        )

    @cache
    def truth() -> float:
        whole = draw(np.random.default_rng(0), 1_000_000)
        first, second = (
            np.average(members["prediction"], weights=members["weight"])
            for _, members in whole.groupby("group")
        )
        return first - second

    def once(rng):
        rows = fairlib.audit(
            draw(rng, size),
            group="group",
            prediction="prediction",
            weight="weight",
            positive=1,
            metrics=["predicted"],
        ).to_frame()
        (row,) = rows.to_dict("records")
        return _held(row, truth())

    return once


def by_outcome(rng, share):
    """Select cases of outcome 1 four times as often as others.

    Weights make up for it, except for some noise.
    """
    outcome = rng.random(len(share)) < 0.8 * share / (0.8 * share + 0.2 * (1 - share))
    noise = rng.gamma(4, 0.25, len(share))
    return outcome, np.where(outcome, 1 / 0.8, 1 / 0.2) * noise


def by_weight(rng, share):
    """Select cases with probability 1 / w; outcomes are frequent where w is large."""
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


def planted(extra: float, *, size: int, source: bool = False) -> Once:
    """Four groups, one of which is wrong `extra` more often than 20 %.

    With `source`, ten cases belong to each source.
    """

    def once(rng):
        group = np.repeat(np.arange(4), size)
        rate = 0.2 + extra * (group == 0)
        label = rng.random(len(group)) < 0.5
        frame = _table(group, label, rng.random(len(group)) < rate)
        options = {}
        if source:
            frame = frame.assign(source=np.arange(len(group)) // 10)
            options["source"] = "source"

        metrics = ["errors", "misses", "false alarms"]
        rows = _audit(frame, **options, metrics=metrics).to_frame()
        hit = rows[(rows["group"] == "group = 0") & (rows["rate"] == "errors")]
        is_shown = (hit["verdict"] == "shown").sum()
        return {"planted difference is shown": Tally(is_shown, 1)}

    return once


MEASURES = {
    "A->T": amplification.attribute_to_task,
    "T->A": amplification.task_to_attribute,
}


def amplified(
    direction: str, error: float, *, n: int, tasks: int = 6, fair: bool = True
) -> Once:
    """A test set of n, and a model that errs without regard to the other label.

    If it is not `fair`, it errs with regard to that label.
    """

    def draw(rng, n):
        woman = rng.random(n) < 0.4
        lean = np.linspace(-0.5, 0.5, tasks)
        frequency = 1 + np.where(woman[:, None], lean, -lean)
        task = rng.random((n, tasks)) < 0.25 * frequency

        leaning = 1 if fair else frequency
        flip = rng.random((n, tasks)) < np.where(task, error, error / 3 * leaning)
        leaning = 1 if fair else 1 + task[:, -1]
        seen = woman ^ (rng.random(n) < error * leaning)
        predicted = {"A->T": task ^ flip, "T->A": np.stack([seen, ~seen], axis=1)}
        return task, np.stack([woman, ~woman], axis=1), predicted[direction]

    @cache
    def known() -> tuple:
        task, attribute, _ = draw(np.random.default_rng(0), 20_000)
        train = amplification.count(task, attribute)
        sample = draw(np.random.default_rng(1), 300_000)
        return train, MEASURES[direction](*sample, train=train)

    def once(rng):
        train, truth = known()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tasks that never occur
            interval = amplification.interval(direction, *draw(rng, n), train=train)
        return _held({"low": interval.low, "high": interval.high}, truth)

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
