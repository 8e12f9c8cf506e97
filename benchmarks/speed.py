"""How fast fairlib is, beside what a user would take instead.

`make bench` writes benchmarks/results.md, in some minutes. Every case runs ours and a
peer on the same data in the same run, checks that the results agree, and gives the
ratio. Matrix products use one thread, so that the ratio does not depend on how many
cores there are.
"""

# ruff: noqa: E402
import os

# NumPy reads these once, when it is imported.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import datetime
import platform
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
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
GROUPS = 10
TASKS = 66
REPLICATES = 1000
NAMES = ["group", "label", "prediction"]
# The gaps between groups in fairlearn's four rates
FOUR = ["ParityGap (accuracy)", "ParityGap", "TPRGap", "TNRGap"]
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

The shortest of several times of the processor, with one thread: ours, and that of \
what a user would take instead, on
the same data in the same run. Read the ratios; the times are those of the machine \
below. Memory is the most that our
call allocates. An asterisk marks a peer's time that is extrapolated from fewer \
replicates. All results were checked to
agree, to 1e-12 where nothing is drawn. `make bench` writes this file.
"""


class Case(NamedTuple):
    """One line of the table: what a question costs at n examples, ours and a peer's."""

    question: str
    n: int
    ours: float  # seconds
    memory: float  # bytes, of ours
    peer: str
    theirs: float  # seconds
    extrapolated: bool = False


def seconds(call: Callable, *arguments) -> float:
    """Return the shortest of the times that `call(*arguments)` takes.

    The first time also loads what the call needs.
    """
    times: list[float] = []
    began = time.monotonic()
    while len(times) < 2 or time.monotonic() - began < BUDGET:
        started = time.process_time()
        call(*arguments)
        times.append(time.process_time() - started)
        if times[-1] > BUDGET:
            break
    return min(times)


def memory(call: Callable, *arguments) -> float:
    """Return the most bytes that `call(*arguments)` has allocated at a time."""
    tracemalloc.start()
    call(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def predictions(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ten groups, a label and a prediction.

    It is wrong a little more often from group to group.
    """
    rng = np.random.default_rng(n)
    group = rng.integers(GROUPS, size=n)
    label = rng.random(n) < 0.4
    wrong = rng.random(n) < 0.1 + 0.01 * group
    return group, label, label ^ wrong


def metric_frame(frame: pd.DataFrame, replicates: int = 0) -> np.ndarray:
    """Return groups x four rates from fairlearn.

    With replicates it draws rows again in a loop.
    """
    options = {}
    if replicates:
        options["n_boot"] = replicates
        options["ci_quantiles"] = [0.025, 0.975]
        options["random_state"] = 0

    peer = fairlearn.MetricFrame(
        metrics=PEER,
        y_true=frame["label"],
        y_pred=frame["prediction"],
        sensitive_features=frame["group"],
        **options,
    )
    return peer.by_group.to_numpy(dtype=float)


def loop_over_pairs(
    task: np.ndarray, attribute: np.ndarray, task_predicted: np.ndarray
) -> float:
    """BiasAmp A->T (eq. 2), pair by pair with masks: the way it is usually written."""
    total = 0.0
    for a in range(attribute.shape[1]):
        for t in range(task.shape[1]):
            has_attribute = attribute[:, a] == 1
            has_task = task[:, t] == 1
            both = np.mean(has_attribute & has_task)
            independent = np.mean(has_attribute) * np.mean(has_task)

            predicted = np.mean(task_predicted[has_attribute, t] == 1)
            delta = predicted - np.mean(task[has_attribute, t] == 1)
            total += delta if both > independent else -delta
    return total / (attribute.shape[1] * task.shape[1])


def counting(n: int) -> Iterator[Case]:
    """Count groups x labels x predictions, in columns of several kinds.

    The peers are a group-by, and a count of a code that is ready.
    """
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

        case = Case(
            question=f"counting 10 × 2 × 2 cells, {kind}",
            n=n,
            ours=seconds(tables.counts, frame, NAMES),
            memory=memory(tables.counts, frame, NAMES),
            peer="pandas `groupby`",
            theirs=seconds(
                lambda frame=frame: frame.groupby(NAMES, observed=True).size()
            ),
        )
        yield case
        if kind == "int64":
            yield case._replace(
                peer="`numpy.bincount` of a ready code",
                theirs=seconds(np.bincount, code),
            )


def metrics(n: int) -> Iterator[Case]:
    """Measure four metrics in ten groups, with and without 1,000 replicates."""
    columns = [column.astype(int) for column in predictions(n)]
    frame = pd.DataFrame(dict(zip(NAMES, columns, strict=True)))

    rates = metric_frame(frame)
    first, second = np.triu_indices(GROUPS, 1)
    expected = np.abs(rates[first] - rates[second]).mean(axis=0)
    measured = fairlib.measure(frame, FOUR, classes=[1])
    gaps = measured.query("group == 'accumulated'")["value"]
    np.testing.assert_allclose(gaps, expected, rtol=0, atol=1e-12)

    question = "four metrics of ten groups"
    peer = "fairlearn `MetricFrame`"
    measure = partial(fairlib.measure, frame, FOUR, classes=[1])
    theirs = seconds(metric_frame, frame)
    yield Case(
        question=question,
        n=n,
        ours=seconds(measure),
        memory=memory(measure),
        peer=peer,
        theirs=theirs,
    )

    # The peer's time is a straight line from none to two replicates.
    measure = partial(measure, replicates=REPLICATES)
    per_replicate = (seconds(metric_frame, frame, 2) - theirs) / 2
    yield Case(
        question=f"{question}, {REPLICATES:,} replicates, interval and null",
        n=n,
        ours=seconds(measure),
        memory=memory(measure),
        peer=peer,
        theirs=theirs + REPLICATES * per_replicate,
        extrapolated=True,
    )


def difference(n: int) -> Iterator[Case]:
    """Bootstrap a difference of two rates: from four counts, and from rows."""
    group, label, prediction = predictions(n)
    sides = [(label == prediction)[group % 2 == half] for half in (0, 1)]
    counts = np.array([[side.sum(), (~side).sum()] for side in sides])

    def of_shares(counts):
        share = counts[:, :, 0] / counts.sum(axis=2)
        return share[:, 0] - share[:, 1]

    def of_means(a, b, axis):
        return a.mean(axis) - b.mean(axis)

    def by_counts():
        return resampling.bootstrap(counts, of_shares, resamples=REPLICATES, rng=0)

    def by_rows(resamples):
        return stats.bootstrap(
            sides,
            of_means,
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, 10_000_000 // n),
            method="percentile",
            rng=0,
        )

    run = min(REPLICATES, 50_000_000 // n)
    yield Case(
        question=f"a difference of two rates, {REPLICATES:,} resamples",
        n=n,
        ours=seconds(by_counts),
        memory=memory(by_counts),
        peer="SciPy `bootstrap`",
        theirs=seconds(by_rows, run) * REPLICATES / run,
        extrapolated=run < REPLICATES,
    )


def amplified(n: int) -> Iterator[Case]:
    """Measure BiasAmp A->T of two attributes and 66 tasks, beside a loop."""
    rng = np.random.default_rng(n)
    woman = rng.random(n) < 0.4
    leaning = np.linspace(-0.05, 0.05, TASKS)
    task = rng.random((n, TASKS)) < 0.1 + leaning * np.where(woman, 1, -1)[:, None]
    attribute = np.stack([woman, ~woman], axis=1)
    predicted = task ^ (rng.random((n, TASKS)) < 0.05)

    arrays = (task, attribute, predicted)
    value = amplification.attribute_to_task(*arrays)
    np.testing.assert_allclose(value, loop_over_pairs(*arrays), rtol=0, atol=1e-12)
    yield Case(
        question="BiasAmp A→T, 66 tasks × 2 attributes",
        n=n,
        ours=seconds(amplification.attribute_to_task, *arrays),
        memory=memory(amplification.attribute_to_task, *arrays),
        peer="a loop over pairs",
        theirs=seconds(loop_over_pairs, *arrays),
    )


def three_digits(value: float) -> str:
    """Write a number with three digits that count, and without an exponent."""
    if value >= 1e4:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):,g}"


def duration(value: float) -> str:
    """Write a time in seconds, or in milliseconds where it is short."""
    return f"{three_digits(value * 1e3)} ms" if value < 10 else f"{value:,.0f} s"


def written(cases: list[Case]) -> str:
    """Return the cases as a table."""
    lines = [
        "| question | n | ours | memory | instead | it takes | times ours |",
        "| :-- | --: | --: | --: | :-- | --: | --: |",
    ]
    for case in cases:
        star = " \\*" if case.extrapolated else ""
        cells = (
            case.question,
            f"{case.n:,}",
            duration(case.ours),
            f"{case.memory / 1e6:.1f} MB",
            case.peer,
            duration(case.theirs) + star,
            f"**{three_digits(case.theirs / case.ours)}**",
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
    machine = (
        f"Run on {datetime.date.today()}: {platform.machine()}, "
        f"Python {platform.python_version()}, {packages}."
    )
    text = "\n".join([INTRODUCTION, written(cases), "", machine, ""])
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
