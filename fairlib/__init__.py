"""How unfair is a classifier, and how sure can one be?

Only names live here; each module is imported when its name is first used, so that `import fairlib` stays light.
"""

from importlib import import_module

__version__ = "0.2.0"

_ROOMS = (
    "amplification",
    "auditing",
    "bernstein",
    "data",
    "ledger",
    "metrics",
    "plots",
    "tables",
)
# Public names outlive moves: name -> where it lives; a name after a colon is taken out of the module.
_PUBLIC = {name: name for name in _ROOMS} | {
    "Interval": "interval:Interval",
    "METRICS": "metrics.table2:METRICS",
    "Metric": "metrics.table2:Metric",
    "annotation": "intervals.annotation",
    "auc": "metrics.measuring:auc",
    "audit": "auditing.report:audit",
    "betting": "intervals.betting",
    "bounds": "intervals.disparity",
    "comparisons": "metrics.comparisons",
    "coverage": "recipes.coverage",
    "discoveries": "intervals.multiplicity:discoveries",
    "disparity_interval": "intervals.disparity:disparity_interval",
    "gaps": "intervals.gaps",
    "load": "data:load",
    "measure": "metrics.measuring:measure",
    "measure_sequences": "metrics.sequences:measure_sequences",
    "planning": "intervals.planning",
    "resampling": "interval",
    "scores": "metrics.scores",
    "sequential": "intervals.sequential",
    "spans": "metrics.sequences",
    "suites": "recipes.suites",
    "templates": "recipes.templates",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module 'fairlib' has no attribute {name!r}")
    place, _, inside = _PUBLIC[name].partition(":")
    module = import_module(f"fairlib.{place}")
    return getattr(module, inside) if inside else module


def __dir__() -> list[str]:
    return __all__
