"""Paper 3: directional bias amplification (Wang and Russakovsky 2021)."""

from fairlib.amplification.cooccurrence import Counts, calibrated_threshold, count
from fairlib.amplification.measures import (
    attribute_to_task,
    directions,
    from_counts,
    from_table,
    mals,
    task_to_attribute,
)
from fairlib.amplification.uncertainty import interval

__all__ = [
    "Counts",
    "attribute_to_task",
    "calibrated_threshold",
    "count",
    "directions",
    "from_counts",
    "from_table",
    "interval",
    "mals",
    "task_to_attribute",
]
