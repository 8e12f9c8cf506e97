"""Made-up classifiers that treat groups alike or not, and sources and terms unlike."""

import numpy as np
import pandas as pd

from fairlib import METRICS


def model(rng, *, effect, sources=12, terms=4, source_spread=0.5, term_spread=0.5):
    """Predict every source with every term of every group; `effect` is by group."""
    rng = np.random.default_rng(rng)
    shape = (sources, len(effect), terms)
    sure = (
        0.7
        + rng.normal(0, source_spread, sources)[:, None, None]
        + rng.normal(0, term_spread, shape[1:])
    )
    sure = (
        sure
        + np.asarray(effect, dtype=float)[None, :, None]
        + rng.logistic(0, 0.5, shape)
    ).ravel()
    source, group, term = np.indices(shape).reshape(3, -1)
    label = source % 2
    p = 1 / (1 + np.exp(-np.where(label == 1, sure, -sure)))
    frame = pd.DataFrame(
        {"source": source, "group": group, "term": group * terms + term, "label": label}
    )
    return frame.assign(prediction=(p > 0.5).astype(int), p_0=1 - p, p_1=p)


def independent(rng, *, rates, size):
    """Return `size` positive examples of each group, wrong at the group's rate."""
    rng = np.random.default_rng(rng)
    group = np.repeat(np.arange(len(rates)), size)
    wrong = rng.random(len(group)) < np.asarray(rates)[group]
    return pd.DataFrame({"group": group, "label": 1, "prediction": 1 - wrong})


UNSIGNED = [
    name
    for name, metric in METRICS.items()
    if not metric.signed and metric.neutral == 0
]
