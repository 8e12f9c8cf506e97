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
os.environ["POLARS_MAX_THREADS"] = "1"

import datetime
import platform
from collections.abc import Iterator
from functools import partial
from importlib.metadata import packages_distributions, version
from pathlib import Path

import numpy as np
import pandas as pd
import speed_intervals
import speed_peers
import speed_tables
from fairlearn import metrics as fairlearn
from scipy import stats
from sklearn.metrics import accuracy_score
from speed_frame import Case, memory, seconds, written
from speed_tables import FOUR, GROUPS, NAMES, REPLICATES, predictions

import fairlib
from fairlib import amplification, resampling
from fairlib.data import write_whole

RESULT = Path(__file__).with_name("results.md")
SIZES = (10_000, 100_000)
TASKS = 66
PEER = {
    "accuracy": accuracy_score,
    "selection": fairlearn.selection_rate,
    "true positives": fairlearn.true_positive_rate,
    "false positives": fairlearn.false_positive_rate,
}
PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "narwhals",
    "pyarrow",
    "polars",
    "duckdb",
    "fairlearn",
    "scikit-learn",
    "statsmodels",
)
INTRODUCTION = """\
# How fast, and beside what

Each row compares fairlib with the fastest alternative that we know. The times are \
the shortest of several times of the processor, with one
thread, on the same data in the same run. Read the ratios in the last column: fairlib \
is faster where they are above 1. The times
themselves are those of the machine below.

*Another implementation* does the same work as fairlib. *Another algorithm* reaches \
the same answer by other work: it resamples rows where
fairlib resamples counts, for example. A large ratio beside another algorithm says \
nothing about the quality of its code.

Memory is the most that a call allocates. For files and for counts of frames, it is by \
how much a new process grows, because
compiled engines allocate out of sight. An asterisk marks a time that is
extrapolated from fewer replicates. All results agree, to 1e-12 where nothing is \
drawn. `make bench` writes this file.
"""


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
        peer_memory=memory(metric_frame, frame),
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
        other_algorithm=True,
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
        peer_memory=memory(by_rows, run),
        extrapolated=run < REPLICATES,
        other_algorithm=True,
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
        peer_memory=memory(loop_over_pairs, *arrays),
    )


def machine() -> str:
    """Return which peers were not installed, and what the numbers were measured on."""
    missing = ", ".join(speed_peers.not_installed()) or "none"
    installed = [
        packages_distributions()[name][0]
        for name in speed_peers.PEERS
        if speed_peers.is_installed(name)
    ]
    packages = ", ".join(f"{name} {version(name)}" for name in (*PACKAGES, *installed))
    return (
        f"Peers that were not installed, and so are not in the table: {missing}.\n\n"
        f"Run on {datetime.date.today()}: {platform.machine()}, "
        f"Python {platform.python_version()}, {packages}."
    )


def main() -> None:
    """Measure everything, then write the result."""
    measured_on = machine()
    cases = [case for question in speed_tables.QUESTIONS for case in question()]
    for question in (metrics, difference, amplified):
        for n in SIZES:
            cases.extend(question(n))
    for question in (*speed_intervals.QUESTIONS, *speed_peers.QUESTIONS):
        cases.extend(question())

    text = "\n".join([INTRODUCTION, written(cases), "", measured_on, ""])
    write_whole(RESULT, lambda path: path.write_text(text, encoding="utf-8"))


if __name__ == "__main__":
    main()
