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
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairlib.metrics import comparisons, scores

KINDS = {  # and the normalizer that is correct for each
    "PCM": "|T| choose 2",  # pairs of groups: do the groups differ from one another? (eq. 1, 2)
    "BCM": "|T|",  # each group with its background, summed up: do groups differ from the rest? (eq. 3, 4)
    "VBCM": "",  # the same, one value per group: which group differs, and which way? (section 3.2)
    "MCM": "",  # all groups at once: does the attribute matter at all? (eq. 5, 6)
}
NORMALIZERS = {
    "1": lambda groups: 1,
    "|T|": lambda groups: groups,
    "|T| choose 2": lambda groups: groups * (groups - 1) // 2,
}
ALLOWED = {
    "kind": KINDS,
    "normalizer": ("", *NORMALIZERS),
    "background": ("all", "complement"),
    "fairness": ("group", "counterfactual"),
    "examples": ("all", "gold", "other"),
    "uses": ("predictions", "probabilities"),
}


@dataclass(frozen=True)
class Metric:
    """A fairness metric: two choices, phi and d, and how the comparisons are put together."""

    kind: str  # PCM, BCM, VBCM or MCM
    score: Callable  # phi: Cells -> numbers or a Sample per cell
    comparison: Callable  # d
    normalizer: str = (
        ""  # N: "1", "|T|", "|T| choose 2"; empty for the correct one of the kind
    )
    background: str = "all"  # beta: "all" or "complement"
    fairness: str = "group"  # or "counterfactual": the same source across groups, averaged over sources
    examples: str = "all"  # or "gold": only those of the class that is measured; "other": only those of other classes
    single: bool = False  # A = {x}: one variation per group at a time, averaged over their product; for PCM and MCM
    per_class: bool = True  # measured for each class against the rest; False where the score takes all classes together
    two_groups: bool = (
        False  # d is not commutative: not defined for more than two groups
    )
    uses: str = "predictions"  # or "probabilities"
    title: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        for name, allowed in ALLOWED.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, found {value!r}"
                )
        if self.single and "BCM" in self.kind:
            raise ValueError(
                "single must be False for metrics with a background, which has many variations"
            )
        if not self.per_class and self.examples != "all":
            raise ValueError(
                f"examples must be 'all' where per_class is False, found {self.examples!r}"
            )
        if not self.normalizer:
            object.__setattr__(self, "normalizer", KINDS[self.kind])

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


def read(file) -> list[dict[str, Metric]]:
    """Return the metrics of each place in a file such as `table2.csv`: Table 2, the paper's own variants, and others.

    Notebook 03 says where a row of Table 2 differs from the print. A variant is for the examples of the true class
    (TC), or correctly normalized (*, section 6). AvgGF (TC) is compared with all groups; compared with the other
    groups, as in the released code, its values are larger by a factor of 1 / (1 − the group's share).
    """
    flags = {"true_values": ["yes"], "false_values": ["no"]}
    rows = pd.read_csv(
        file,
        index_col="name",
        dtype={"normalizer": str},
        keep_default_na=False,
        **flags,
    )
    rows["score"], rows["comparison"] = (
        rows["score"].map(vars(scores)),
        rows["comparison"].map(vars(comparisons)),
    )
    places = rows.groupby(rows.pop("place"), sort=False)
    return [
        {name: Metric(**row) for name, row in some.to_dict("index").items()}
        for _, some in places
    ]


TABLE_2, VARIANTS, AUCS = read(Path(__file__).with_name("table2.csv"))
METRICS: dict[str, Metric] = TABLE_2 | VARIANTS
