"""The results in words and tables: one section per question, and which aims are met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from timing import Cost, exponent

MILLION = 1_000_000


class Aim(NamedTuple):
    """Something that was to be reached, and what was found."""

    aim: str
    found: str
    met: bool


# --- Numbers and tables -----------------------------------------------------------------------------------------------


def seconds(cost: Cost) -> str:
    """Write a time with three digits in a unit that suits it; an asterisk marks what was extrapolated."""
    star = " \\*" if cost.extrapolated else ""
    for unit, size, least in (("h", 3600, 3600), ("min", 60, 120), ("s", 1, 1), ("ms", 1e-3, 1e-3)):
        if cost.seconds >= least:
            return f"{cost.seconds / size:.3g} {unit}{star}"
    return f"{cost.seconds * 1e6:.3g} µs{star}"


def memory(cost: Cost) -> str:
    """Write megabytes."""
    return "not measured" if np.isnan(cost.memory) else f"{cost.memory / 1e6:.1f} MB"


def times(first: Cost, second: Cost) -> str:
    """Write how many times as long the first takes as the second."""
    value = first.seconds / second.seconds
    return f"{value:,.0f} ×" if value >= 10 else f"{value:.3g} ×"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    rows = [list(row) for row in rows]
    if wrong := [row for row in rows if len(row) != len(heads)]:
        raise ValueError(f"every row must have {len(heads)} cells, found {wrong[0]!r}")
    lines = [heads, [":--", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


Column = tuple[str, Callable, str] | tuple[str, Callable, str, str]


def compared(heads: Sequence[str], found: dict, *columns: Column) -> str:
    """Return a table with a row per case. A column is its head, how it is written, and the names of the costs in it."""
    rows = []
    for key, costs in found.items():
        case = [f"{part:,}" if isinstance(part, int) else part for part in (key if isinstance(key, tuple) else (key,))]
        rows.append([*case, *(write(*(costs[name] for name in names)) for _, write, *names in columns)])
    return table([*heads, *(head for head, *_ in columns)], rows)


def bold(write: Callable) -> Callable:
    """Return a writer that makes bold what another writes."""
    return lambda *costs: f"**{write(*costs)}**"


# --- The questions ----------------------------------------------------------------------------------------------------


def counting(found: dict[tuple[str, int], dict[str, Cost]]) -> tuple[str, list[Aim]]:
    """Write question 1, for frames of pandas."""
    shown = compared(
        ["columns", "n"], found,
        ("ours", seconds, "ours"),
        ("`bincount` of a ready code", seconds, "bincount"),
        ("ours is", bold(times), "ours", "bincount"),
        ("packed by hand", seconds, "expert"),
        ("ours is", times, "ours", "expert"),
        ("`groupby`", seconds, "pandas"),
        ("it is", times, "pandas", "ours"),
        ("reading the bytes", seconds, "read"),
        ("ours is", times, "ours", "read"),
        ("our memory", memory, "ours"),
        ("of `groupby`", memory, "pandas"),
    )  # fmt: skip
    aims = [
        Aim(
            f"counting within 3 × of `numpy.bincount` at n = {n:,}: {kind}",
            times(costs["ours"], costs["bincount"]),
            costs["ours"].seconds <= 3 * costs["bincount"].seconds,
        )
        for (kind, n), costs in found.items()
        if n >= MILLION
    ]
    text = """\
## 1. Counting groups × labels × predictions

`fairlib.tables.counts(frame, ["group", "label", "prediction"])`, ten groups. The floor is `numpy.bincount` of a code
that somebody made before; packed by hand is what an expert writes, the making of the code included; reading is the time
to add up as many bytes as the columns have. In "categories" and "words" the group is one, beside two booleans. Below a
million rows one sees the fixed cost of a call, most of a millisecond. Three columns of int64 are 24 bytes a row where
the ready code is 8; words have to be looked up one by one, which is what takes the expert's time too."""
    return f"{text}\n\n{shown}", aims


def engines(found: dict[str, dict[str, Cost]], n: int) -> str:
    """Write question 1 for other engines."""
    shown = compared(
        ["engine"], found,
        ("through `tables.counts`", seconds, "ours"),
        ("its own group-by", seconds, "own"),
        ("ours is", times, "ours", "own"),
    )  # fmt: skip
    text = f"The same count of {n:,} rows where another engine holds them (wall time, for these use several threads):"
    return f"{text}\n\n{shown}"


def four_metrics(found: dict[int, dict[str, Cost]]) -> str:
    """Write question 2."""
    shown = compared(
        ["n"], found,
        ("`measure`", seconds, "measure"),
        ("counts, then rates", seconds, "counts and rates"),
        ("fairlearn `MetricFrame`", seconds, "fairlearn"),
        ("it is, of `measure`", bold(times), "fairlearn", "measure"),
        ("of counts, then rates", times, "fairlearn", "counts and rates"),
        ("memory of `measure`", memory, "measure"),
        ("of fairlearn", memory, "fairlearn"),
    )  # fmt: skip
    text = """\
## 2. Four metrics, ten groups

Accuracy, selection rate, true and false positive rate of ten groups, from columns of int64. `measure` also compares all
pairs of groups; the other column is `tables.counts`, and four lines of NumPy for the rates."""
    return f"{text}\n\n{shown}"


def resampled(found: dict[int, dict[str, Cost]]) -> tuple[str, list[Aim]]:
    """Write question 3."""
    metrics = compared(
        ["n"], found,
        ("counting", seconds, "count"),
        ("`bootstrap` of the counts", seconds, "bootstrap"),
        ("`measure` of the counts", seconds, "measure"),
        ("fairlearn", seconds, "fairlearn"),
        ("it is, of counting and `bootstrap`", bold(times), "fairlearn", "count and bootstrap"),
        ("of counting and `measure`", times, "fairlearn", "count and measure"),
        ("memory of `bootstrap`", memory, "bootstrap"),
        ("of `measure`", memory, "measure"),
    )  # fmt: skip
    difference = compared(
        ["n"], found,
        ("`bootstrap` of the counts", seconds, "difference"),
        ("SciPy", seconds, "scipy"),
        ("it is", bold(times), "scipy", "difference"),
        ("memory of `bootstrap`", memory, "difference"),
        ("of SciPy", memory, "scipy"),
    )  # fmt: skip
    peers = {"fairlearn": "fairlearn", "scipy": "SciPy"}
    few = [
        f"{peer} at n = {n:,} from {costs[name].extrapolated}"
        for name, peer in peers.items()
        for n, costs in found.items()
        if costs[name].extrapolated
    ]
    ours = {"`bootstrap`": "bootstrap", "`measure`, with a null": "measure"}
    aims = [
        Aim(
            f"1,000 replicates of 4 metrics × 10 groups in under 50 ms after counting, n = {n:,}: {name}",
            seconds(costs[which]),
            costs[which].seconds < 0.05,
        )
        for n, costs in found.items()
        if n == MILLION
        for name, which in ours.items()
    ]
    text = f"""\
## 3. The same with 1,000 bootstrap replicates

`resampling.bootstrap` and `measure(..., replicates=1000)` draw the counts again, at a cost that does not grow with n;
`measure` also exchanges examples between groups 1,000 times, for a null. fairlearn draws rows.

{metrics}

One difference of two rates, the accuracy of five groups less that of the other five, beside `scipy.stats.bootstrap`
(percentile method, in batches of ten million numbers; both start from what they need, the counts or the rows):

{difference}

\\* extrapolated to 1,000: {"; ".join(few)}."""
    return text, aims


def amplified(found: dict[tuple[str, int], dict[str, Cost]]) -> tuple[str, list[Aim]]:
    """Write question 4."""
    shown = compared(
        ["0/1 as", "n"], found,
        ("ours", seconds, "ours"),
        ("loop over pairs", seconds, "pairs"),
        ("it is", bold(times), "pairs", "ours"),
        ("loop over rows", seconds, "rows"),
        ("it is", times, "rows", "ours"),
        ("our memory", memory, "ours"),
        ("of the loop over pairs", memory, "pairs"),
    )  # fmt: skip
    aims = [
        Aim(
            f"BiasAmp A→T 20 × faster than the loop over pairs at n = {n:,}: {kind}",
            times(costs["pairs"], costs["ours"]),
            costs["pairs"].seconds >= 20 * costs["ours"].seconds,
        )
        for (kind, n), costs in found.items()
        if n == MILLION
    ]
    text = """\
## 4. BiasAmp A→T, 66 tasks × 2 attributes

`amplification.attribute_to_task`, beside eq. (2) written as a loop over pairs of attribute and task with boolean masks
over the rows, as research code does it, and as a loop over rows in plain Python."""
    (smallest,) = {costs["rows"].extrapolated for costs in found.values()} - {""}
    return f"{text}\n\n{shown}\n\n\\* extrapolated from {smallest}.", aims


def growth(measured: dict[str, dict[int, Cost]]) -> tuple[str, list[Aim]]:
    """Write question 5, how time grows with n."""
    rows, aims = [], []
    for name, costs in measured.items():
        sizes, taken = list(costs), [cost.seconds for cost in costs.values()]
        whole, last = exponent(sizes, taken), exponent(sizes[-2:], taken[-2:])
        rows.append([name, f"{min(sizes):,} to {max(sizes):,}", f"{whole:.2f}", f"{last:.2f}"])
        found = f"n^{whole:.2f}, at last n^{last:.2f}"
        aims.append(Aim(f"time grows no faster than n^1.1: {name}", found, max(whole, last) <= 1.1))
    text = """\
## 5. Growth

The exponent b of time ~ n^b: a least-squares line through the logarithms of the times above, and between the two
largest n, where the fixed cost of a call matters least."""
    return f"{text}\n\n{table(['', 'n', 'exponent', 'at last'], rows)}", aims


def flatness(found: dict[str, dict[str, Cost]]) -> tuple[str, list[Aim]]:
    """Write question 5, how memory grows with the number of replicates."""
    aims = [
        Aim(
            f"memory flat in the number of replicates: {name}",
            f"{memory(costs['10,000'])} after {memory(costs['1,000'])}",
            costs["10,000"].memory <= 1.1 * costs["1,000"].memory + 1e6,
        )
        for name, costs in found.items()
    ]
    shown = compared([""], found, *((number, memory, number) for number in ("1,000", "10,000")))
    return f"Peak memory less the replicates that are returned, 1,000 and 10,000 of them:\n\n{shown}", aims
