"""How an audit writes numbers and names, in sentences, tables and figures."""

import re
from collections.abc import Sequence

import numpy as np

from fairlib.auditing.rates import COST, RATES

# Characters that HTML forbids, that no file can hold, or that make a text read other
# than it is written (controls of the direction of writing).
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def short(row) -> str:
    """Return the name of a row's rate, with its class."""
    return f"{row.rate} ({row.class_name})" if row.class_name else row.rate


def level(row, value: float) -> str:
    """Write a value of a row: a percentage, points if it may be negative, or a cost."""
    if row.rate == COST:
        return amount(value)

    rate = RATES.get(row.rate)
    if rate is not None and rate.farthest > 1:
        return f"{digits(value)} points".replace("-", "−")
    return percent(value)


def amount(value: float) -> str:
    """Write a cost, or a difference of costs, with four significant digits."""
    if not np.isfinite(value):
        return "undefined"
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.12g}".replace("-", "−")


def percent(share: float) -> str:
    """Write a share as a percentage; nearly none does not read as none."""
    return f"{digits(share)}%" if np.isfinite(share) else "undefined"


def digits(share: float) -> str:
    """Write 100 times a share with as many digits as keep it off 0 and 100."""
    size = abs(share)
    if size in (0, 1):
        return f"{100 * share:.0f}"
    if size < 0.0005:
        return np.format_float_positional(
            100 * share, precision=1, fractional=False, trim="-"
        )

    decimals = 1
    while decimals < 9 and size < 1 and round(100 * size, decimals) == 100:
        decimals += 1
    return f"{100 * share:.{decimals}f}"


def counted(number: int, plural: str) -> str:
    """Write a number with what it counts, such as "1 case" and "2 cases"."""
    return f"{number:,} {plural.removesuffix('s') if number == 1 else plural}"


def joined(texts: Sequence[str]) -> str:
    """Join texts with commas, and with "and" before the last."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def safe(text: str) -> str:
    """Replace the characters that no page may hold."""
    return _UNSAFE.sub("\ufffd", text)


def plain(text: str) -> str:
    """Write text as one line, in which no name can steer a terminal."""
    return safe(" ".join(text.split()))
