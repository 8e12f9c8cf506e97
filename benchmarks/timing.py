"""What a call costs, and on which machine: the shortest of several times, and the most memory beyond what was there.

Each case runs in a process of its own, forked after the data were made, so that no case leaves anything behind for the
next. The memory is the kernel's high-water mark of resident pages, which Linux can set back; elsewhere there is none.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

HIGH_WATER, RESIDENT = "VmHWM", "VmRSS"
PACKAGES = ("numpy", "pandas", "scipy", "narwhals", "pyarrow", "polars", "duckdb", "fairlearn", "scikit-learn")


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes of a call, and what it returned; `extrapolated` says from what, where it was not run whole."""

    seconds: float
    memory: float = np.nan  # NaN where it was not measured
    value: object = None
    extrapolated: str = ""


def cost(
    call: Callable,
    *,
    prepare: Callable = lambda: (),
    repeats: int = 100,
    budget: float = 1.5,
    clock: Callable[[], float] = time.process_time,
) -> Cost:
    """Run `call(*prepare())` several times in a process of its own; the first time warms up, if there is a second.

    repeats, budget : it is repeated this often, but not begun again after so many seconds.
    clock : by default the processor's time, which does not count what other programs take of the machine.
    """
    if not sys.platform.startswith("linux"):  # forking is not safe everywhere
        return _repeated(call, prepare(), repeats, budget, clock)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(_repeated(call, prepare(), repeats, budget, clock)))
    child.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        raise RuntimeError("a case did not finish; what went wrong stands above") from None
    finally:
        child.join()


def scaled(few: Cost, none: Cost, *, run: int, wanted: int, unit: str) -> Cost:
    """Extrapolate to `wanted` units of work from a run with `run` of them and one with none, as a straight line."""
    each = (few.seconds - none.seconds) / run
    return replace(few, seconds=none.seconds + wanted * each, extrapolated=f"{run:,} {unit}")


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return b of the least-squares line log(seconds) = a + b log(size): 1 where the cost is linear."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _repeated(call: Callable, arguments: tuple, repeats: int, budget: float, clock: Callable) -> Cost:
    """Take the shortest of all times, and the memory of the second: the first also loads what is used first then."""
    seconds, memory = [], np.nan
    began = time.monotonic()
    while not seconds or (len(seconds) < repeats and time.monotonic() - began < budget):
        before = _reset() if len(seconds) < 2 else None
        started = clock()
        value = call(*arguments)
        seconds.append(clock() - started)
        memory = memory if before is None else _pages(HIGH_WATER) - before
    return Cost(min(seconds), memory, value)


def _reset() -> float | None:
    """Set the high-water mark to the memory in use, and return that; None where it can't be done."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # so that memory which was used before counts when it is used again
        Path("/proc/self/clear_refs").write_text("5")
        return _pages(RESIDENT)
    except (AttributeError, OSError, TypeError):
        return None


def _pages(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


# --- The machine ------------------------------------------------------------------------------------------------------


def machine() -> str:
    """Describe the machine and the versions, without its name or any path."""
    installed = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return "\n".join(
        [
            f"- processor: {_processor()}, {cores} cores; one thread used",
            f"- memory: {_memory()}",
            f"- system: {_system()}, {platform.machine()}; Python {platform.python_version()}",
            f"- packages: {installed}",
        ]
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB"
    except (AttributeError, ValueError, OSError):
        return "unknown"


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()
