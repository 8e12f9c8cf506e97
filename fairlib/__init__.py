"""How unfair is a classifier, and how sure can one be?

Only names live here; each module is imported when its name is first used, so that `import fairlib` stays light.
"""

from importlib import import_module

_MODULES = (
    "amplification",
    "amplification_combinations",
    "amplification_intervals",
    "annotation",
    "auditing",
    "bernstein",
    "blanks",
    "bounds",
    "captions",
    "comparisons",
    "data",
    "gaps",
    "generated_images",
    "ledger",
    "metrics",
    "multiplicity",
    "planning",
    "plots",
    "resampling",
    "scores",
    "sequential",
    "spans",
    "tables",
    "templates",
)
_NAMES = {
    "Interval": "interval",
    "METRICS": "metrics",
    "Metric": "metrics",
    "auc": "measuring",
    "audit": "auditing",
    "corrected": "splitting",
    "disparity_interval": "bounds",
    "load": "data",
    "measure": "measuring",
    "measure_sequences": "sequences",
    "metric_gap": "score_gaps",
}

__all__ = sorted([*_MODULES, *_NAMES])


def __getattr__(name: str):
    if name in _MODULES:
        return import_module(f"fairlib.{name}")
    if name in _NAMES:
        return getattr(import_module(f"fairlib.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'fairlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
