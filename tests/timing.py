"""How long something takes, in seconds of the machine where the limits were written.

Continuous integration runs on slower and busier machines. A limit in plain seconds
fails there without any fault in the code, so we measure a fixed piece of work beside
each action and scale by how long that work takes.
"""

import time
from collections.abc import Callable

import numpy as np

REFERENCE = 0.10  # processor seconds that `_reference_work` took where limits were set


def _reference_work() -> None:
    """Do a fixed amount of interpreter and array work, as the package does."""
    numbers = np.random.default_rng(0).random(400_000)
    for _ in range(2):
        np.sort(numbers)
    total = 0
    for value in range(600_000):
        total += value % 7


def slowness() -> float:
    """How many times slower than the machine of reference this machine is now."""
    started = time.process_time()
    _reference_work()
    return (time.process_time() - started) / REFERENCE


def seconds(action: Callable[[], object]) -> float:
    """Processor seconds of `action`, scaled to the machine of reference."""
    before = slowness()
    started = time.process_time()
    action()
    taken = time.process_time() - started
    return taken / max(before, slowness())


def quicker_than(limit: float, action: Callable[[], object]) -> bool:
    """Whether one of two runs is quick enough, because the machine may be busy."""
    return any(seconds(action) < limit for _ in range(2))
