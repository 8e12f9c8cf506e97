"""An audit of your own classifier: one call on its predictions, one page of results.

The audit is imported when it is first used, so that its command line can write its help
without loading tables and statistics.
"""

from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlib.auditing.report import Report, audit

__all__ = ["Report", "audit"]


def __getattr__(name: str) -> object:
    if name in __all__ or name == "report":
        import fairlib.auditing.report as module

        return module if name == "report" else getattr(module, name)

    if name in ("rates", "summary"):
        return _module_with_names(name)
    raise AttributeError(f"module 'fairlib.auditing' has no attribute {name!r}")


def _module_with_names(name: str) -> ModuleType:
    """Return a module whose names may be asked for in `audit(metrics=...)`."""
    if name == "rates":
        import fairlib.auditing.rates as rates

        return rates

    import fairlib.auditing.summary as summary

    return summary


def __dir__() -> list[str]:
    return [*__all__, "rates", "report", "summary"]
