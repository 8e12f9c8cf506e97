"""Paper 3: directional bias amplification (Wang and Russakovsky 2021)."""

# ruff: noqa: F401 (the room's public names)
from fairlib.amplification.cooccurrence import Counts, count
from fairlib.amplification.measures import (
    attribute_to_task,
    calibrated_threshold,
    directions,
    from_counts,
    from_table,
    interval,
    mals,
    task_to_attribute,
)
