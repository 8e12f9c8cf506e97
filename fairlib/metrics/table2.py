"""Table 2 as data: every metric is a kind of comparison, a score phi, a comparison d, a normalizer and a background.

>>> METRICS["FNED"].comparison.__name__
'absolute_difference'

A metric of one's own takes three lines:

>>> def precision(cells):
...     return cells.share(cells.gold, among=cells.predicted)
>>> precision.given = "prediction"  # what stays as it is where `measure` exchanges groups
>>> precision_gap = Metric("PCM", precision, comparisons.absolute_difference)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd

from fairlib.metrics import comparisons, scores

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
BACKGROUNDS = {"all": "S", "complement": "S \\ Sᵗ"}
EXAMPLES = {"all": "", "gold": ", y(x) = c", "other": ", y(x) ≠ c"}
ALLOWED = {
    "kind": KINDS, "normalizer": ("", *NORMALIZERS), "fairness": ("group", "counterfactual"), "examples": EXAMPLES,
    "uses": ("predictions", "probabilities"),
}  # fmt: skip


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
    title: str = ""
    printed_kind: str = ""  # where Table 2 gives another kind than what is computed (section 5)
    reference: str = ""

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            if (value := getattr(self, name)) not in allowed:
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
    def given(self) -> str:
        """What a null leaves alone: the "label" or "prediction" that the score conditions on; "" where it is neither.

        F1 counts as given the label: its null has the groups' base rates.
        """
        return "label" if self.examples != "all" else getattr(self.score, "given", "")

    @property
    def neutral(self) -> float:
        """The value of a comparison between groups that do not differ: 0, or 1 for a ratio."""
        return getattr(self.comparison, "neutral", 0.0)


_GAP, _DIFFERENCE = comparisons.absolute_difference, comparisons.difference
_EG, _W1 = comparisons.equality_gap, comparisons.wasserstein
_P = {"uses": "probabilities"}
_OTHERS = {"background": "complement"}
_PAIR = {"normalizer": "1", "two_groups": True}  # only ever defined for two groups, such as female and male
_CF = {"uses": "probabilities", "fairness": "counterfactual"}
_ANY_CLASS = {**_CF, "single": True, "per_class": False}

TABLE_2: dict[str, Metric] = {
    "FPED": Metric("BCM", scores.false_positive_rate, _GAP, "1"),
    "FNED": Metric("BCM", scores.false_negative_rate, _GAP, "1"),
    "AvgGF": Metric("BCM", scores.probabilities, _W1, **_P),
    "FPRRatio": Metric("VBCM", scores.false_positive_rate, comparisons.ratio_to_background, **_OTHERS),
    "PosAvgEG": Metric("VBCM", scores.probabilities, _EG, **_OTHERS, **_P, examples="gold"),
    "NegAvgEG": Metric("VBCM", scores.probabilities, _EG, **_OTHERS, **_P, examples="other"),
    "DisparityScore": Metric("PCM", scores.f1, _GAP, "|T|"),  # as published; see DisparityScore*
    "TPRGap": Metric("PCM", scores.true_positive_rate, _GAP),
    "TNRGap": Metric("PCM", scores.true_negative_rate, _GAP),
    "ParityGap": Metric("PCM", scores.predicted_rate, _GAP),  # as in the cited paper; Table 2 prints accuracy
    "AccuracyDifference": Metric("PCM", scores.accuracy, _DIFFERENCE, **_PAIR, per_class=False),
    "TPRDifference": Metric("PCM", scores.true_positive_rate, _DIFFERENCE, **_PAIR),
    "F1Difference": Metric("PCM", scores.f1, _DIFFERENCE, **_PAIR),
    # One row per token, whose class is its head and its relation together.
    "LASDifference": Metric("PCM", scores.attachment, _DIFFERENCE, **_PAIR, per_class=False),
    "RecallDifference": Metric("PCM", scores.recall, _DIFFERENCE, **_PAIR),
    # Table 2 prints recall as its score; the name and the cited paper say F1.
    "F1Ratio": Metric("PCM", scores.f1, comparisons.ratio, **_PAIR),
    "CFGap": Metric("PCM", scores.probability, _GAP, **_CF, single=True, printed_kind="BCM"),
    "PertSS": Metric("PCM", scores.gold_probability, _GAP, **_ANY_CLASS, printed_kind="VBCM"),
    "PertSD": Metric("MCM", scores.gold_probability, comparisons.standard_deviation, **_ANY_CLASS),
    "PertSR": Metric("MCM", scores.gold_probability, comparisons.score_range, **_ANY_CLASS),
    "AvgIF": Metric("PCM", scores.probabilities, _W1, **_CF),
    "AvgScoreDifference": Metric("PCM", scores.mean_probability, _DIFFERENCE, **_PAIR, **_CF),
}
for _name, _title, _reference in (
    ("FPED", "False Positive Equality Difference", "Dixon et al. 2018"),
    ("FNED", "False Negative Equality Difference", "Dixon et al. 2018"),
    ("AvgGF", "Average Group Fairness", "Huang et al. 2020a"),
    ("FPRRatio", "FPR Ratio", "Beutel et al. 2019"),
    ("PosAvgEG", "Positive Average Equality Gap", "Borkan et al. 2019"),
    ("NegAvgEG", "Negative Average Equality Gap", "Borkan et al. 2019"),
    ("DisparityScore", "Disparity Score", "Gaut et al. 2020"),
    ("TPRGap", "TPR Gap", "Beutel et al. 2017; Prost et al. 2019"),
    ("TNRGap", "TNR Gap", "Prost et al. 2019"),
    ("ParityGap", "Parity Gap", "Beutel et al. 2017"),
    ("AccuracyDifference", "Accuracy Difference", "Blodgett and O'Connor 2017; Bhaskaran and Bhallamudi 2019"),
    ("TPRDifference", "TPR Difference", "De-Arteaga et al. 2019"),
    ("F1Difference", "F1 Difference", "Stanovsky et al. 2019; Saunders and Byrne 2020"),
    ("LASDifference", "LAS Difference", "Blodgett et al. 2018"),
    ("RecallDifference", "Recall Difference", "Bamman et al. 2019"),
    ("F1Ratio", "F1 Ratio", "Webster et al. 2018"),
    ("CFGap", "Counterfactual Token Fairness Gap", "Garg et al. 2019"),
    ("PertSS", "Perturbation Score Sensitivity", "Prabhakaran et al. 2019"),
    ("PertSD", "Perturbation Score Deviation", "Prabhakaran et al. 2019"),
    ("PertSR", "Perturbation Score Range", "Prabhakaran et al. 2019"),
    ("AvgIF", "Average Individual Fairness", "Huang et al. 2020a"),
    ("AvgScoreDifference", "Average Score Difference", "Kiritchenko and Mohammad 2018; Popović et al. 2020"),
):
    TABLE_2[_name] = replace(TABLE_2[_name], title=_title, reference=_reference)

# The paper's own variants: for the examples of the true class (TC), and correctly normalized (*, section 6). AvgGF (TC)
# is compared with all groups; compared with the other groups, as in the released code, its values are larger by a
# factor of 1 / (1 − the group's share).
VARIANTS: dict[str, Metric] = {
    "FNRRatio": replace(TABLE_2["FPRRatio"], score=scores.false_negative_rate, title="FNR Ratio"),
    **{
        f"{name} (TC)": replace(TABLE_2[name], examples="gold", title=f"{TABLE_2[name].title}, true class")
        for name in ("AvgGF", "CFGap", "AvgIF")
    },
    "FPED*": replace(TABLE_2["FPED"], normalizer="|T|"),
    "FNED*": replace(TABLE_2["FNED"], normalizer="|T|"),
    "DisparityScore*": replace(TABLE_2["DisparityScore"], normalizer="|T| choose 2"),
    "ParityGap (accuracy)": replace(TABLE_2["ParityGap"], score=scores.accuracy, per_class=False),  # as printed
}
METRICS: dict[str, Metric] = TABLE_2 | VARIANTS


def table(metrics: dict[str, Metric] | None = None) -> pd.DataFrame:
    """Return metrics as the paper's Table 2 shows them, one row each; by default its 22 rows."""
    numbers = {name: number for number, name in enumerate(TABLE_2, 1)}
    rows = [
        {
            "no.": numbers.get(name, ""),
            "name": name,
            "metric": metric.title,
            "fairness": metric.fairness,
            "kind": metric.kind + (f" (printed as {metric.printed_kind})" if metric.printed_kind else ""),
            "φ(A)": getattr(metric.score, "symbol", metric.score.__name__) + EXAMPLES[metric.examples],
            "d": getattr(metric.comparison, "symbol", metric.comparison.__name__),
            "N": metric.normalizer or "–",
            "β": BACKGROUNDS.get(metric.background, metric.background) if "BCM" in metric.kind else "–",
            "groups": "two" if metric.two_groups else "any",
            "uses": metric.uses,
            "reference": metric.reference,
        }
        for name, metric in (TABLE_2 if metrics is None else metrics).items()
    ]
    return pd.DataFrame(rows).set_index("name")
