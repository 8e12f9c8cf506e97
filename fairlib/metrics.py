"""Table 2 as data: every metric is a kind of comparison, a score phi, a comparison d, a normalizer and a background.

>>> METRICS["FNED"].comparison.__name__
'absolute_difference'

A metric of one's own takes three lines:

>>> def precision(cells):
...     return cells.share(cells.gold, among=cells.predicted)
>>> precision_gap = Metric("PCM", precision, comparisons.absolute_difference)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from fairlib import comparisons as d
from fairlib import scores as phi

comparisons, scores = d, phi
KINDS = {
    "PCM": "pairs of groups: do the groups differ from one another? (eq. 1, 2)",
    "BCM": "each group with its background, summed up: do groups differ from the rest? (eq. 3, 4)",
    "VBCM": "each group with its background, one value per group: which group differs, and which way? (section 3.2)",
    "MCM": "all groups at once: does the attribute matter at all? (eq. 5, 6)",
}
NORMALIZERS = {
    "1": lambda groups: 1,
    "|T|": lambda groups: groups,
    "|T| choose 2": lambda groups: groups * (groups - 1) // 2,
}
DEFAULT_NORMALIZER = {"PCM": "|T| choose 2", "BCM": "|T|", "VBCM": "", "MCM": ""}
FAIRNESS = ("group", "counterfactual")
EXAMPLES = ("all", "gold", "other")


@dataclass(frozen=True)
class Metric:
    """A fairness metric: two choices, phi and d, and how the comparisons are put together."""

    kind: str  # PCM, BCM, VBCM or MCM
    score: Callable  # phi: Cells -> numbers or a Sample per cell
    comparison: Callable  # d
    normalizer: str = ""  # N: "1", "|T|", "|T| choose 2"; empty for the correct one of the kind
    background: str = "all"  # beta: "all", "complement", or the name of a group, which then is no longer compared
    fairness: str = "group"  # or "counterfactual": the same source across groups, averaged over sources
    examples: str = "all"  # or "gold": only those of the class that is measured; "other": only those of other classes
    single: bool = False  # A = {x}: one variation per group at a time, averaged over their Cartesian product
    per_class: bool = True  # measured for each class against the rest; False where the score takes all classes together
    two_groups: bool = False  # d is not commutative: not defined for more than two groups
    uses: str = "predictions"  # or "probabilities"
    number: int | None = None  # in Table 2
    title: str = ""
    printed_kind: str = ""  # where Table 2 gives another kind than what is computed (section 5)
    reference: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("kind", self.kind, KINDS),
            ("normalizer", self.normalizer, ("", *NORMALIZERS)),
            ("fairness", self.fairness, FAIRNESS),
            ("examples", self.examples, EXAMPLES),
            ("uses", self.uses, ("predictions", "probabilities")),
        ):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, found {value!r}")
        for name in ("score", "comparison"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name} must be a function, found {getattr(self, name)!r}")
        if not self.per_class and self.examples != "all":
            raise ValueError(f"examples must be 'all' where per_class is False, found {self.examples!r}")
        if not self.normalizer:
            object.__setattr__(self, "normalizer", DEFAULT_NORMALIZER[self.kind])

    @property
    def signed(self) -> bool:
        """Whether the value says which way groups differ, not only how much."""
        return getattr(self.comparison, "signed", False)

    @property
    def neutral(self) -> float:
        """The value of a comparison between groups that do not differ: 0, or 1 for a ratio."""
        return getattr(self.comparison, "neutral", 0.0)


def _pair(number: int, title: str, score: Callable, reference: str, *, comparison=d.difference, **options) -> Metric:
    """A comparison that was only ever defined for two groups, such as female and male."""
    return Metric(
        "PCM",
        score,
        comparison,
        normalizer="1",
        two_groups=True,
        number=number,
        title=title,
        reference=reference,
        **options,
    )


_BORKAN, _PRABHAKARAN = "Borkan et al. 2019", "Prabhakaran et al. 2019"
_P = {"uses": "probabilities"}
_CF = {"uses": "probabilities", "fairness": "counterfactual"}
_ALL_CLASSES = {**_CF, "single": True, "per_class": False}

TABLE_2: dict[str, Metric] = {
    "FPED": Metric(
        "BCM", phi.false_positive_rate, d.absolute_difference, "1", number=1,
        title="False Positive Equality Difference", reference="Dixon et al. 2018",
    ),
    "FNED": Metric(
        "BCM", phi.false_negative_rate, d.absolute_difference, "1", number=2,
        title="False Negative Equality Difference", reference="Dixon et al. 2018",
    ),
    "AvgGF": Metric(
        "BCM", phi.probabilities, d.wasserstein, "|T|", **_P, number=3,
        title="Average Group Fairness", reference="Huang et al. 2020a",
    ),
    "FPRRatio": Metric(
        "VBCM", phi.false_positive_rate, d.ratio_to_background, background="complement", number=4,
        title="FPR Ratio", reference="Beutel et al. 2019",
    ),
    "PosAvgEG": Metric(
        "VBCM", phi.probabilities, d.equality_gap, background="complement", examples="gold", **_P, number=5,
        title="Positive Average Equality Gap", reference=_BORKAN,
    ),
    "NegAvgEG": Metric(
        "VBCM", phi.probabilities, d.equality_gap, background="complement", examples="other", **_P, number=6,
        title="Negative Average Equality Gap", reference=_BORKAN,
    ),
    "DisparityScore": Metric(
        "PCM", phi.f1, d.absolute_difference, "|T|", number=7, title="Disparity Score", reference="Gaut et al. 2020",
        note="divided by the number of groups, as published; DisparityScore* divides by the number of pairs",
    ),
    "TPRGap": Metric(
        "PCM", phi.true_positive_rate, d.absolute_difference, number=8, title="TPR Gap",
        reference="Beutel et al. 2017; Prost et al. 2019",
    ),
    "TNRGap": Metric(
        "PCM", phi.true_negative_rate, d.absolute_difference, number=9, title="TNR Gap", reference="Prost et al. 2019"
    ),
    "ParityGap": Metric(
        "PCM", phi.predicted_rate, d.absolute_difference, number=10, title="Parity Gap", reference="Beutel et al. 2017",
        note="the rate of predicting the class, as in the cited paper; Table 2 prints the rate of being right",
    ),
    "AccuracyDifference": _pair(
        11, "Accuracy Difference", phi.accuracy, "Blodgett and O'Connor 2017; Bhaskaran and Bhallamudi 2019",
        per_class=False,
    ),
    "TPRDifference": _pair(12, "TPR Difference", phi.true_positive_rate, "De-Arteaga et al. 2019"),
    "F1Difference": _pair(13, "F1 Difference", phi.f1, "Stanovsky et al. 2019; Saunders and Byrne 2020"),
    "LASDifference": _pair(
        14, "LAS Difference", phi.attachment, "Blodgett et al. 2018", per_class=False,
        note="one row per token, whose class is its head and its relation together",
    ),
    "RecallDifference": _pair(15, "Recall Difference", phi.recall, "Bamman et al. 2019"),
    "F1Ratio": _pair(
        16, "F1 Ratio", phi.f1, "Webster et al. 2018", comparison=d.ratio,
        note="Table 2 prints recall as its score; the name and the cited paper say F1",
    ),
    "CFGap": Metric(
        "PCM", phi.probability, d.absolute_difference, **_CF, single=True, number=17, printed_kind="BCM",
        title="Counterfactual Token Fairness Gap", reference="Garg et al. 2019",
    ),
    "PertSS": Metric(
        "PCM", phi.gold_probability, d.absolute_difference, **_ALL_CLASSES, number=18, printed_kind="VBCM",
        title="Perturbation Score Sensitivity", reference=_PRABHAKARAN,
    ),
    "PertSD": Metric(
        "MCM", phi.gold_probability, d.standard_deviation, **_ALL_CLASSES, number=19,
        title="Perturbation Score Deviation", reference=_PRABHAKARAN,
    ),
    "PertSR": Metric(
        "MCM", phi.gold_probability, d.score_range, **_ALL_CLASSES, number=20,
        title="Perturbation Score Range", reference=_PRABHAKARAN,
    ),
    "AvgIF": Metric(
        "PCM", phi.probabilities, d.wasserstein, **_CF, number=21,
        title="Average Individual Fairness", reference="Huang et al. 2020a",
    ),
    "AvgScoreDifference": _pair(
        22, "Average Score Difference", phi.mean_probability,
        "Kiritchenko and Mohammad 2018; Popović et al. 2020", **_CF,
    ),
}  # fmt: skip

_FULL = "its correctly normalized version (section 6)"
VARIANTS: dict[str, Metric] = {
    "FNRRatio": replace(TABLE_2["FPRRatio"], score=phi.false_negative_rate, title="FNR Ratio"),
    "AvgGF (TC)": replace(
        TABLE_2["AvgGF"],
        examples="gold",
        title="Average Group Fairness, true class",
        note="the background stays all examples (of the class); compared with the other groups, as in the released "
        "code, the values are larger by a factor of 1 / (1 − the group's share)",
    ),
    "CFGap (TC)": replace(TABLE_2["CFGap"], examples="gold", title="Counterfactual Token Fairness Gap, true class"),
    "AvgIF (TC)": replace(TABLE_2["AvgIF"], examples="gold", title="Average Individual Fairness, true class"),
    "FPED*": replace(TABLE_2["FPED"], normalizer="|T|", note=_FULL),
    "FNED*": replace(TABLE_2["FNED"], normalizer="|T|", note=_FULL),
    "DisparityScore*": replace(TABLE_2["DisparityScore"], normalizer="|T| choose 2", note=_FULL),
    "ParityGap (accuracy)": replace(
        TABLE_2["ParityGap"], score=phi.accuracy, per_class=False, note="with the score that Table 2 prints"
    ),
}

METRICS: dict[str, Metric] = TABLE_2 | VARIANTS


def table(metrics: dict[str, Metric] | None = None) -> pd.DataFrame:
    """Return metrics as the paper's Table 2 shows them, one row each; by default its 22 rows."""
    restricted = {"all": "", "gold": ", y(x) = c", "other": ", y(x) ≠ c"}
    sets = {"all": "S", "complement": "S \\ Sᵗ"}
    rows = []
    for name, metric in (TABLE_2 if metrics is None else metrics).items():
        compared_with_background = metric.kind in ("BCM", "VBCM")
        rows.append(
            {
                "no.": metric.number or "",
                "name": name,
                "metric": metric.title,
                "fairness": metric.fairness,
                "kind": metric.kind + (f" (printed as {metric.printed_kind})" if metric.printed_kind else ""),
                "φ(A)": getattr(metric.score, "symbol", metric.score.__name__) + restricted[metric.examples],
                "d": getattr(metric.comparison, "symbol", metric.comparison.__name__),
                "N": metric.normalizer or "–",
                "β": sets.get(metric.background, metric.background) if compared_with_background else "–",
                "groups": "two" if metric.two_groups else "any",
                "uses": metric.uses,
                "reference": metric.reference,
            }
        )
    return pd.DataFrame(rows).set_index("name")
