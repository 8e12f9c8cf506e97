"""How fast is it, beside what a user would take instead? `make bench` writes benchmarks/results.md, in some minutes.

Every case runs ours and a peer on the same data in the same run, checks that the results agree, and gives the ratio.
Matrix products use one thread, so that the ratio does not depend on how many cores there are.
"""

# ruff: noqa: E402
import os

for library in (
    "OMP",
    "OPENBLAS",
    "MKL",
):  # before NumPy is imported, which reads them once
    os.environ[f"{library}_NUM_THREADS"] = "1"

import datetime
import platform
import time
import tracemalloc
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from fairlearn import metrics as fairlearn
from scipy import stats
from sklearn.metrics import accuracy_score

import fairlib
from fairlib import amplification, resampling, tables
from fairlib.data import write_whole

RESULT = Path(__file__).with_name("results.md")
SIZES = (10_000, 100_000, 1_000_000)
GROUPS, TASKS, REPLICATES = 10, 66, 1000
NAMES = ["group", "label", "prediction"]
FOUR = [
    "ParityGap (accuracy)",
    "ParityGap",
    "TPRGap",
    "TNRGap",
]  # the gaps between groups in fairlearn's four rates
PEER = {
    "accuracy": accuracy_score,
    "selection": fairlearn.selection_rate,
    "true positives": fairlearn.true_positive_rate,
    "false positives": fairlearn.false_positive_rate,
}
BUDGET = 1.5  # seconds: a case is repeated so long
PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "narwhals",
    "pyarrow",
    "fairlearn",
    "scikit-learn",
)
INTRODUCTION = """\
# How fast, and beside what

The shortest of several times of the processor, with one thread: ours, and that of what a user would take instead, on
the same data in the same run. Read the ratios; the times are those of the machine below. Memory is the most that our
call allocates. An asterisk marks a peer's time that is extrapolated from fewer replicates. All results were checked to
agree, to 1e-12 where nothing is drawn. `make bench` writes this file.
"""


class Case(NamedTuple):
    """One line of the table: a question at n examples, what ours and the peer's call cost."""

    question: str
    n: int
    ours: float  # seconds
    memory: float  # bytes, of ours
    peer: str
    theirs: float  # seconds
    extrapolated: bool = False


def seconds(call: Callable, *arguments) -> float:
    """Return the shortest of the times that `call(*arguments)` takes; the first time also loads what it needs."""
    taken, began = [], time.monotonic()
    while len(taken) < 2 or time.monotonic() - began < BUDGET:
        started = time.process_time()
        call(*arguments)
        taken.append(time.process_time() - started)
        if taken[-1] > BUDGET:
            break
    return min(taken)


def memory(call: Callable, *arguments) -> float:
    """Return the most bytes that `call(*arguments)` has allocated at a time."""
    tracemalloc.start()
    call(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def predictions(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ten groups, a label, and a prediction that is wrong a little more often from group to group."""
    rng = np.random.default_rng(n)
    group, label = rng.integers(GROUPS, size=n), rng.random(n) < 0.4
    return group, label, label ^ (rng.random(n) < 0.1 + 0.01 * group)


def metric_frame(frame: pd.DataFrame, replicates: int = 0) -> np.ndarray:
    """Return groups x four rates from fairlearn, which draws rows again in a loop if there are replicates."""
    sampled = (
        {"n_boot": replicates, "ci_quantiles": [0.025, 0.975], "random_state": 0}
        if replicates
        else {}
    )
    columns = {
        "y_true": frame["label"],
        "y_pred": frame["prediction"],
        "sensitive_features": frame["group"],
    }
    return fairlearn.MetricFrame(metrics=PEER, **columns, **sampled).by_group.to_numpy(
        dtype=float
    )


def loop_over_pairs(
    task: np.ndarray, attribute: np.ndarray, task_predicted: np.ndarray
) -> float:
    """BiasAmp A->T (eq. 2), pair by pair with masks over the rows: the way it is usually written."""
    total = 0.0
    for a in range(attribute.shape[1]):
        for t in range(task.shape[1]):
            has_attribute, has_task = attribute[:, a] == 1, task[:, t] == 1
            together = np.mean(has_attribute & has_task) > np.mean(
                has_attribute
            ) * np.mean(has_task)
            delta = np.mean(task_predicted[has_attribute, t] == 1) - np.mean(
                task[has_attribute, t] == 1
            )
            total += delta if together else -delta
    return total / (attribute.shape[1] * task.shape[1])


def counting(n: int) -> Iterator[Case]:
    """Count groups x labels x predictions, in columns of several kinds, beside a group-by and a ready code."""
    group, label, prediction = predictions(n)
    names = np.array([f"group {g}" for g in range(GROUPS)])
    kinds = {
        "int64": group,
        "categories": pd.Categorical.from_codes(group, names),
        "words": names[group],
    }
    code = np.ravel_multi_index(
        [group, label.astype(int), prediction.astype(int)], (GROUPS, 2, 2)
    )
    for kind, column in kinds.items():
        frame = pd.DataFrame(
            {"group": column, "label": label, "prediction": prediction}
        )
        counted = tables.counts(frame, NAMES)
        assert sorted(counted[tables.COUNT]) == sorted(np.bincount(code))
        ours, used = (
            seconds(tables.counts, frame, NAMES),
            memory(tables.counts, frame, NAMES),
        )
        theirs = seconds(lambda frame=frame: frame.groupby(NAMES, observed=True).size())
        yield Case(
            f"counting 10 × 2 × 2 cells, {kind}",
            n,
            ours,
            used,
            "pandas `groupby`",
            theirs,
        )
        if kind == "int64":
            floor = seconds(np.bincount, code)
            yield Case(
                f"counting 10 × 2 × 2 cells, {kind}",
                n,
                ours,
                used,
                "`numpy.bincount` of a ready code",
                floor,
            )


def metrics(n: int) -> Iterator[Case]:
    """Measure four metrics in ten groups, with and without 1,000 bootstrap replicates, beside fairlearn."""
    frame = pd.DataFrame(
        dict(zip(NAMES, (column.astype(int) for column in predictions(n)), strict=True))
    )
    rates = metric_frame(frame)
    first, second = np.triu_indices(GROUPS, 1)
    found = fairlib.measure(frame, FOUR, classes=[1]).query("group == 'accumulated'")[
        "value"
    ]
    np.testing.assert_allclose(
        found, np.abs(rates[first] - rates[second]).mean(axis=0), rtol=0, atol=1e-12
    )
    for replicates in (0, REPLICATES):
        options = {"classes": [1], "replicates": replicates}
        ours, used = (
            cost(lambda options=options: fairlib.measure(frame, FOUR, **options))
            for cost in (seconds, memory)
        )
        theirs = seconds(metric_frame, frame)
        if replicates:  # a straight line from none to two
            theirs += REPLICATES * (seconds(metric_frame, frame, 2) - theirs) / 2
        question = "four metrics of ten groups" + (
            f", {replicates:,} replicates, interval and null" if replicates else ""
        )
        yield Case(
            question, n, ours, used, "fairlearn `MetricFrame`", theirs, bool(replicates)
        )


def difference(n: int) -> Iterator[Case]:
    """Bootstrap a difference of two rates: from four counts, and from rows."""
    group, label, prediction = predictions(n)
    sides = [(label == prediction)[group % 2 == half] for half in (0, 1)]
    counts = np.array([[side.sum(), (~side).sum()] for side in sides])

    def apart(counts):
        share = counts[:, :, 0] / counts.sum(axis=2)
        return share[:, 0] - share[:, 1]

    def of_rows(resamples):
        options = {
            "n_resamples": resamples,
            "batch": max(1, 10_000_000 // n),
            "method": "percentile",
            "rng": 0,
        }
        return stats.bootstrap(
            sides,
            lambda a, b, axis: a.mean(axis) - b.mean(axis),
            vectorized=True,
            **options,
        )

    def of_counts():
        return resampling.bootstrap(counts, apart, resamples=REPLICATES, rng=0)

    run = min(REPLICATES, 50_000_000 // n)
    theirs = seconds(of_rows, run) * REPLICATES / run
    question = f"a difference of two rates, {REPLICATES:,} resamples"
    yield Case(
        question,
        n,
        seconds(of_counts),
        memory(of_counts),
        "SciPy `bootstrap`",
        theirs,
        run < REPLICATES,
    )


def amplified(n: int) -> Iterator[Case]:
    """Measure BiasAmp A->T of two attributes and 66 tasks, beside a loop over the pairs."""
    rng = np.random.default_rng(n)
    woman = rng.random(n) < 0.4
    leaning = np.linspace(-0.05, 0.05, TASKS)
    task = rng.random((n, TASKS)) < 0.1 + leaning * np.where(woman, 1, -1)[:, None]
    arrays = (
        task,
        np.stack([woman, ~woman], axis=1),
        task ^ (rng.random((n, TASKS)) < 0.05),
    )
    value = amplification.attribute_to_task(*arrays)
    np.testing.assert_allclose(value, loop_over_pairs(*arrays), rtol=0, atol=1e-12)
    ours, used = (
        cost(amplification.attribute_to_task, *arrays) for cost in (seconds, memory)
    )
    yield Case(
        "BiasAmp A→T, 66 tasks × 2 attributes",
        n,
        ours,
        used,
        "a loop over pairs",
        seconds(loop_over_pairs, *arrays),
    )


def three_digits(value: float) -> str:
    """Write a number with three digits that count, and without an exponent."""
    return f"{float(f'{value:.3g}'):,g}" if value < 1e4 else f"{value:,.0f}"


def written(cases: list[Case]) -> str:
    """Return the cases as a table."""
    lines = [
        "| question | n | ours | memory | instead | it takes | times ours |",
        "| :-- | --: | --: | --: | :-- | --: | --: |",
    ]
    for case in cases:
        star = " \\*" if case.extrapolated else ""
        ours, theirs = (
            f"{three_digits(value * 1e3)} ms" if value < 10 else f"{value:,.0f} s"
            for value in (case.ours, case.theirs)
        )
        ratio = f"**{three_digits(case.theirs / case.ours)}**"
        cells = (
            case.question,
            f"{case.n:,}",
            ours,
            f"{case.memory / 1e6:.1f} MB",
            case.peer,
            theirs + star,
            ratio,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure everything, then write the result."""
    cases = [
        case
        for question in (counting, metrics, difference, amplified)
        for n in SIZES
        for case in question(n)
    ]
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    machine = f"Run on {datetime.date.today()}: {platform.machine()}, Python {platform.python_version()}, {packages}."
    text = "\n".join([INTRODUCTION, written(cases), "", machine, ""])
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
