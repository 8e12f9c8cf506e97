"""The metrics of the literature that an audit computes: Table 2 and AUCs."""

from fairlib.metrics import scores
from fairlib.metrics.table2 import AUCS, METRICS, Metric

# Which cases of a group a metric of each group looks at: those with the class as label
# ("gold"), those with another one ("other"), or both.
NEEDS = {
    "FPRRatio": ("other",),
    "FNRRatio": ("gold",),
    "PosAvgEG": ("gold",),
    "NegAvgEG": ("other",),
    "SubgroupAUCGap": ("gold", "other"),
    "BPSNGap": ("other",),
    "BNSPGap": ("gold",),
}
# Counterfactual metrics compare versions of one text, and attachment scores are about
# tokens; here a row is a case.
_GROUP_METRICS = {
    name: metric
    for name, metric in METRICS.items()
    if metric.fairness == "group" and metric.score is not scores.attachment
}
_AUC_METRICS = {f"{name}Gap": metric for name, metric in AUCS.items()}
SUMMARY: dict[str, Metric] = _GROUP_METRICS | _AUC_METRICS

# What a score is a share of: cases with the class as label, or with another label.
_SCORES_GIVEN_THE_CLASS = (
    scores.true_positive_rate,
    scores.false_negative_rate,
    scores.recall,
)
_SCORES_GIVEN_ANOTHER_CLASS = (
    scores.false_positive_rate,
    scores.true_negative_rate,
    *(metric.score for metric in AUCS.values()),
)
# What does not look at labels at all.
_SCORES_OF_PREDICTIONS = (
    scores.predicted_rate,
    scores.probabilities,
    scores.probability,
    scores.mean_probability,
)


def question_of(metric: str | Metric, classes: int) -> str:
    """Say which question a metric answers: about errors, selection, or a mix of both.

    Parameters
    ----------
    metric : str or Metric
        A metric, or its name in `SUMMARY`.
    classes : int
        How many classes the labels have.

    Returns
    -------
    {"errors", "selection", "mix"}
        "errors" : what the model does to cases whose label is known. A perfect
        classifier has no difference, nor has one with equal rates of errors in all
        groups, whatever the base rates are. "selection" : what the model predicts,
        regardless of the label. "mix" : both take part, so that base rates can move the
        metric, as with accuracy or F1. With more than two classes, a rate of false
        alarms is a mix as well: its cases have several labels, and groups may hold
        these in different proportions.

    Examples
    --------
    >>> question_of("FPRRatio", classes=2)
    'errors'
    >>> question_of("FPRRatio", classes=3)
    'mix'
    """
    chosen = SUMMARY[metric] if isinstance(metric, str) else metric
    looks_at_predictions = chosen.score in _SCORES_OF_PREDICTIONS

    if chosen.score in _SCORES_GIVEN_THE_CLASS:
        return "errors"
    if looks_at_predictions and chosen.examples == "gold":
        return "errors"
    if looks_at_predictions and chosen.examples == "all":
        return "selection"

    # What is left conditions on "another label", or on the prediction.
    is_given_other = looks_at_predictions and chosen.examples == "other"
    is_given_other |= chosen.score in _SCORES_GIVEN_ANOTHER_CLASS
    return "errors" if is_given_other and classes <= 2 else "mix"


def explained(metric: Metric) -> str:
    """Say in a line what a metric measures, compared in which way, and with whom."""
    score = getattr(metric.score, "words", metric.score.__name__)
    comparison = getattr(metric.comparison, "words", metric.comparison.__name__)

    among = {
        "gold": ", of cases of the class",
        "other": ", of cases of other classes",
    }.get(metric.examples, "")
    whom = {
        "BCM": "each group with all cases",
        "VBCM": "a group with the others",
        "PCM": "groups in pairs",
    }

    return f"{score}{among}. {comparison}, {whom[metric.kind]}."
