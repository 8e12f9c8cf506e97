"""What the benchmarks of speed share: how a case is measured, and how it is written."""

import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import NamedTuple

BUDGET = 1.0  # seconds: a case is repeated so long


class Case(NamedTuple):
    """One line of the table: what a question costs at n examples, ours and a peer's.

    Parameters
    ----------
    question : str
        What is computed.
    n : int
        How many examples there are.
    ours, theirs : float
        Seconds of the processor.
    memory, peer_memory : float
        The most bytes that are held at a time; None where that is not measured.
    peer : str
        The fastest alternative.
    extrapolated : bool
        Whether the peer's time follows from fewer replicates.
    other_algorithm : bool
        Whether the peer computes the same thing by another algorithm.
    reason : str
        Why the peer is faster, where it is.
    """

    question: str
    n: int
    ours: float
    memory: float
    peer: str
    theirs: float
    extrapolated: bool = False
    peer_memory: float | None = None
    other_algorithm: bool = False
    reason: str = ""


def seconds(call: Callable, *arguments: object) -> float:
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


def memory(call: Callable, *arguments: object) -> float:
    """Return the most bytes that `call(*arguments)` has allocated at a time."""
    tracemalloc.start()
    call(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def best(calls: Mapping[str, Callable[[], object]]) -> tuple[str, float]:
    """Return the name and the time of the fastest of several calls."""
    times = {name: seconds(call) for name, call in calls.items()}
    fastest = min(times, key=times.__getitem__)
    return fastest, times[fastest]


def three_digits(value: float) -> str:
    """Write a number with three digits that count, and without an exponent."""
    if value >= 1e4:
        return f"{value:,.0f}"
    return f"{float(f'{value:.3g}'):,g}"


def duration(value: float) -> str:
    """Write a time in seconds, or in milliseconds where it is short."""
    return f"{three_digits(value * 1e3)} ms" if value < 10 else f"{value:,.0f} s"


def megabytes(value: float | None) -> str:
    """Write a size in megabytes; nothing where it was not measured."""
    return "" if value is None else f"{value / 1e6:.1f} MB"


def written(cases: list[Case]) -> str:
    """Return the cases as a table, and below it the reasons why peers are faster."""
    lines = [
        "| question | n | ours | memory | best alternative | kind | it takes | "
        "its memory | times ours |",
        "| :-- | --: | --: | --: | :-- | :-- | --: | --: | --: |",
    ]
    reasons: dict[str, None] = {}
    for case in cases:
        star = " \\*" if case.extrapolated else ""
        kind = "algorithm" if case.other_algorithm else "implementation"
        cells = (
            case.question,
            f"{case.n:,}",
            duration(case.ours),
            megabytes(case.memory),
            case.peer,
            f"another {kind}",
            duration(case.theirs) + star,
            megabytes(case.peer_memory),
            f"**{three_digits(case.theirs / case.ours)}**",
        )
        lines.append(f"| {' | '.join(cells)} |")
        if case.theirs < case.ours and case.reason:
            reasons[f"- {case.question}, beside {case.peer}: {case.reason}"] = None

    if not reasons:
        return "\n".join(lines)
    return "\n".join(
        [*lines, "", "## Where the alternative is faster, and why", "", *reasons]
    )
