"""An audit of your own classifier: one call on its predictions, one page of results.

The audit is imported when it is first used, so that its command line can write its help
without loading tables and statistics.
"""

from typing import TYPE_CHECKING

from fairlib import _door

if TYPE_CHECKING:
    from fairlib.auditing import rates, report, summary
    from fairlib.auditing.report import Report, audit

__all__ = ["Report", "audit", "rates", "report", "summary"]

__getattr__, __dir__ = _door.lazy_names(
    __name__,
    {
        "Report": "fairlib.auditing.report:Report",
        "audit": "fairlib.auditing.report:audit",
        "rates": "fairlib.auditing.rates",
        "report": "fairlib.auditing.report",
        "summary": "fairlib.auditing.summary",
    },
)
