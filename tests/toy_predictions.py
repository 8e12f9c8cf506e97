"""Made-up predictions on template suites, for the tests of metrics."""

import itertools

import numpy as np
import pandas as pd

import fairlib
from fairlib import METRICS

MANY_GROUPS = [name for name, metric in METRICS.items() if not metric.two_groups]


def suite(
    sources=6,
    *,
    groups=("a", "b", "c"),
    terms=2,
    classes=("neg", "neu", "pos"),
    seed=0,
    digits=None,
):
    """Return predictions on every source with every term of every group."""
    rng = np.random.default_rng(seed)
    keys = itertools.product(range(sources), groups, range(terms))
    frame = pd.DataFrame(
        [(s, g, f"{g}{t}") for s, g, t in keys], columns=["source", "group", "term"]
    )
    label = (np.arange(sources) % len(classes))[frame["source"]]
    logits = rng.normal(size=(len(frame), len(classes)))
    logits[np.arange(len(frame)), label] += 0.7
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    if digits is not None:
        # Rounding makes many ties.
        p = np.round(p, digits)
        p[:, -1] = 1 - p[:, :-1].sum(axis=1)
        p = np.clip(p, 0, 1)
    frame["label"] = np.array(classes)[label]
    frame["prediction"] = np.array(classes)[p.argmax(axis=1)]
    return frame.assign(**{f"p_{name}": p[:, i] for i, name in enumerate(classes)})


def value(frame, metric, class_name=None, group="accumulated", **options):
    """Return one value of one metric."""
    found = fairlib.measure(frame, metric, **options)
    rows = found[
        (found["group"] == group)
        & ((class_name is None) | (found["class"] == class_name))
    ]
    assert len(rows) == 1
    return rows["value"].item()
