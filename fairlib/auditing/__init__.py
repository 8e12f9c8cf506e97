"""An audit of your own classifier: one call on its predictions, one page that says what they show."""

from fairlib.auditing.report import Report, audit

__all__ = ["Report", "audit"]
