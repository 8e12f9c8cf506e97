"""Table 2 as data: every metric is a kind of comparison, a score phi, a comparison d, a normalizer and a background.

>>> METRICS["FNED"].comparison.__name__
'absolute_difference'

A metric of one's own takes three lines:

>>> def precision(cells):
...     return cells.share(cells.gold, among=cells.predicted)
>>> precision.given = "prediction"  # what stays as it is where `measure` exchanges groups
>>> precision_gap = Metric("PCM", precision, comparisons.absolute_difference)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.metrics import comparisons, scores
from fairlib.metrics.cells import Cells, background, described

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
ALLOWED = {
    "kind": KINDS, "normalizer": ("", *NORMALIZERS), "background": ("all", "complement"),
    "fairness": ("group", "counterfactual"), "examples": ("all", "gold", "other"),
    "uses": ("predictions", "probabilities"),
}  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """A fairness metric: two choices, phi and d, and how the comparisons are put together."""

    kind: str  # PCM, BCM, VBCM or MCM
    score: Callable  # phi: Cells -> numbers or a Sample per cell
    comparison: Callable  # d
    normalizer: str = ""  # N: "1", "|T|", "|T| choose 2"; empty for the correct one of the kind
    background: str = "all"  # beta: "all" or "complement"
    fairness: str = "group"  # or "counterfactual": the same source across groups, averaged over sources
    examples: str = "all"  # or "gold": only those of the class that is measured; "other": only those of other classes
    single: bool = False  # A = {x}: one variation per group at a time, averaged over their product; for PCM and MCM
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
        if self.single and "BCM" in self.kind:
            raise ValueError("single must be False for metrics with a background, which has many variations")
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


def _printed() -> dict[str, Metric]:
    """Return the 22 rows of the paper's Table 2, from `table2.csv`; `printed_kind` says where it prints another kind.

    DisparityScore is normalized as published, see DisparityScore*. Two scores are those of the cited papers: that of
    ParityGap (Table 2 prints accuracy) and of F1Ratio (it prints recall). LASDifference takes one row per token, whose
    class is its head and its relation together. Differences and ratios are only ever defined for two groups.
    """
    rows = pd.read_csv(Path(__file__).with_name("table2.csv"), dtype=str, keep_default_na=False).set_index("name")
    rows["score"], rows["comparison"] = rows["score"].map(vars(scores)), rows["comparison"].map(vars(comparisons))
    for flag in ("single", "per_class", "two_groups"):
        rows[flag] = rows[flag] == "yes"
    return {name: Metric(**row) for name, row in rows.to_dict("index").items()}


TABLE_2: dict[str, Metric] = _printed()

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


def _area(title: str, positives: str, negatives: str) -> Metric:
    """Return a metric of the area under the ROC curve of two sets (Borkan et al. 2019), which is not in Table 2."""

    @described(title, given="label", needs="positive or negative examples to compare")
    def area(cells: Cells) -> np.ndarray:
        """How often a positive example has a higher probability than a negative one."""
        sets = {"its": cells, "others": background(cells, "complement")}
        above = sets[positives].sample(cells.probability, among=cells.gold)
        return comparisons.superiority(above, sets[negatives].sample(cells.probability, among=~cells.gold))

    return Metric(
        "VBCM", area, comparisons.above_background, uses="probabilities", title=title, reference="Borkan et al. 2019"
    )


AUCS: dict[str, Metric] = {
    "SubgroupAUC": _area("AUC within the group", "its", "its"),
    "BPSN": _area("AUC, others' positives, its negatives", "others", "its"),
    "BNSP": _area("AUC, its positives, others' negatives", "its", "others"),
}
