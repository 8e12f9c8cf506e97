"""How the parts of an audit share the promise that it makes.

All claims of one page together promise that a fair model is accused in at most 5 % of
audits (with the default confidence). Each part of the page makes its claims within a
share of these 5 %. An audit that lacks a part, because it has no labels or no other
model, leaves that share to the other parts.
"""

from fairlib.auditing.counts import Counts

# The weight of each part: most of the promise belongs to the comparisons.
_WEIGHTS = {
    "comparisons": 12,
    "outcomes": 1,
    "metrics": 3,
    "odds": 1,
    "calibration": 1,
    "selection": 2,
    "changes": 2,
    "gap_changes": 2,
}


def shares_of_alpha(counts: Counts) -> dict[str, float]:
    """Return the share of alpha that each part of an audit has; they add up to 1.

    Parameters
    ----------
    counts : Counts
        The cases. Their columns decide which parts there are.
    """
    has_label = counts.label is not None
    has_prediction = counts.prediction is not None
    takes_metrics = counts.within is None and (1, 0) not in counts.powers

    is_there = {
        "comparisons": True,
        "outcomes": has_label,
        "metrics": has_prediction and takes_metrics,
        "odds": has_label and has_prediction and takes_metrics,
        "calibration": has_label and counts.score is not None and takes_metrics,
        "selection": has_prediction,
        "changes": counts.compare is not None,
        "gap_changes": counts.compare is not None,
    }
    weights = {part: _WEIGHTS[part] for part in _WEIGHTS if is_there[part]}
    total = sum(weights.values())
    return {part: weights.get(part, 0) / total for part in _WEIGHTS}
