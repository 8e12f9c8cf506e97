"""How fast is it, beside what a user would take instead? `make bench` writes benchmarks/results.md, in some minutes.

Ours and the peers run on the same data in the same run; what counts is the ratio. Matrix products use one thread, so
that the ratio does not depend on how many cores there are.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for library in ("OMP", "OPENBLAS", "MKL"):  # before NumPy is imported, which reads them once
    os.environ[f"{library}_NUM_THREADS"] = "1"

import datetime
from pathlib import Path

import cases
import report
from timing import Cost, machine

from fairlib.data import write_whole

RESULT = Path(__file__).with_name("results.md")
INTRODUCTION = """\
# How fast, and beside what

Every table gives the shortest of several times (of the processor, with one thread): ours, and that of what a user would
take instead, on the same data in the same run. Read the ratios, first those in bold; the times are those of the machine
below. Memory is the most that a call takes beyond what was there before it. An asterisk marks a time that is
extrapolated; below the table it says from what. All results were checked to agree with one another, to 1e-12 where
nothing is drawn. `make bench` writes this file."""


def ours(found: dict[tuple[str, int], dict[str, Cost]], name: str, *, smallest: int = 0) -> dict[str, dict[int, Cost]]:
    """Return our own costs by n for each kind of column."""
    lines: dict[str, dict[int, Cost]] = {}
    for (kind, n), costs in found.items():
        if n >= smallest:
            lines.setdefault(f"{name}, {kind}", {})[n] = costs["ours"]
    return lines


def main() -> None:
    """Measure everything, then write the result."""
    cases.warm_up()
    counted = {
        (kind, n): cases.counting(n, kind)
        for kind in cases.KINDS
        for n in (*cases.SIZES, cases.MANY)
        if (kind, n) != ("words", cases.MANY)
    }
    engines = cases.engines(max(cases.SIZES))
    plain = {n: cases.four_metrics(n) for n in cases.SIZES}
    replicates, pairs = {}, {}
    for n in cases.SIZES:
        replicates[n] = cases.resampled(n, plain[n], replicates.get(n // 10))
    for kind in cases.WHOLE:
        for n in cases.SIZES:
            pairs[kind, n] = cases.amplified(n, kind, pairs.get((kind, n // 10)))
    lines = ours(counted, "counting", smallest=100_000) | ours(pairs, "BiasAmp A→T")
    answers = [
        report.counting(counted),
        (report.engines(engines, max(cases.SIZES)), []),
        (report.four_metrics(plain), []),
        report.resampled(replicates),
        report.amplified(pairs),
        report.growth(lines),
        report.flatness(cases.replicates_in_memory()),
    ]
    sections, aims = zip(*answers, strict=True)
    reached = [[aim.aim, aim.found, "met" if aim.met else "**not met**"] for some in aims for aim in some]
    parts = [INTRODUCTION, f"Run on {datetime.date.today()}:\n\n{machine()}", "## Aims"]
    text = "\n\n".join([*parts, report.table(["aim", "found", ""], reached), *sections])
    write_whole(RESULT, lambda path: path.write_text(text + "\n", encoding="utf-8"))


if __name__ == "__main__":
    main()
