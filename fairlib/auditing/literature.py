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
