"""Paper 2: generalized fairness metrics (Czarnowska, Vyas and Shah 2021)."""

from typing import TYPE_CHECKING

from fairlib import _door

if TYPE_CHECKING:
    from fairlib.metrics.measuring import auc, measure
    from fairlib.metrics.power import smallest_effect
    from fairlib.metrics.sequences import measure_sequences
    from fairlib.metrics.table2 import METRICS, Metric

__all__ = [
    "METRICS",
    "Metric",
    "auc",
    "measure",
    "measure_sequences",
    "smallest_effect",
]

__getattr__, __dir__ = _door.lazy_names(
    __name__,
    {
        "METRICS": "fairlib.metrics.table2:METRICS",
        "Metric": "fairlib.metrics.table2:Metric",
        "auc": "fairlib.metrics.measuring:auc",
        "measure": "fairlib.metrics.measuring:measure",
        "measure_sequences": "fairlib.metrics.sequences:measure_sequences",
        "smallest_effect": "fairlib.metrics.power:smallest_effect",
    },
)
