"""The fairness metrics of the paper's Table 2, as data.

A metric is a kind of comparison, a score (phi), a comparison (d), a normalizer and a
background. `METRICS` holds the metrics of Table 2 and their variants.

>>> METRICS["FNED"].comparison.__name__
'absolute_difference'

A metric of your own takes three lines. Here `given` says what the score conditions on,
so that `measure` leaves it as it is where it exchanges groups:

>>> def precision(cells):
...     return cells.share(cells.gold, among=cells.predicted)
>>> precision.given = "prediction"
>>> precision_gap = Metric("PCM", precision, comparisons.absolute_difference)
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd

from fairlib.metrics import comparisons, scores
from fairlib.metrics.cells import Cells, Sample

# The kinds of comparison, each with the normalizer that is correct for it.
KINDS = {
    # Pairs of groups: do the groups differ from one another? (eq. 1 and 2)
    "PCM": "|T| choose 2",
    # Each group with its background, added up: do groups differ from the rest?
    # (eq. 3 and 4)
    "BCM": "|T|",
    # The same, with one value per group: which group differs, and in which direction?
    # (section 3.2)
    "VBCM": "",
    # All groups at once: does the attribute matter at all? (eq. 5 and 6)
    "MCM": "",
}


def _nothing(groups: int) -> int:
    """The sum is not divided."""
    return 1


def _number_of_groups(groups: int) -> int:
    """The number of groups, |T|."""
    return groups


def _number_of_pairs(groups: int) -> int:
    """The number of pairs of groups."""
    return groups * (groups - 1) // 2


# What the sum of all comparisons is divided by, as a function of the number of groups.
NORMALIZERS = {
    "1": _nothing,
    "|T|": _number_of_groups,
    "|T| choose 2": _number_of_pairs,
}
_ALLOWED = {
    "kind": tuple(KINDS),
    "normalizer": ("", *NORMALIZERS),
    "background": ("all", "complement"),
    "fairness": ("group", "counterfactual"),
    "examples": ("all", "gold", "other"),
    "uses": ("predictions", "probabilities"),
}


@dataclass(frozen=True)
class Metric:
    """A fairness metric: what is measured, how it is compared, and how it is summed up.

    Parameters
    ----------
    kind : {"PCM", "BCM", "VBCM", "MCM"}
        Which scores are compared: those of pairs of groups (PCM), those of each group
        with those of its background (BCM; VBCM if every group keeps its own value), or
        those of all groups at once (MCM).
    score : callable
        What is measured on a group, phi: a function of `Cells`.
    comparison : callable
        How scores are compared, d: a function from `fairlib.comparisons`, or your own.
    normalizer : {"", "1", "|T|", "|T| choose 2"}
        What the sum of the comparisons is divided by, N; by default what is correct for
        the kind. T is the set of groups.
    background : {"all", "complement"}
        What a group is compared with, beta: all examples, or those of other groups.
    fairness : {"group", "counterfactual"}
        Whether the examples of a group are taken together; or those of each source are
        compared, and the comparisons averaged over sources.
    examples : {"all", "gold", "other"}
        Whether all examples count, only those whose label is the measured class, or
        only those with another label.
    single : bool, default False
        Whether one example per group and source is compared at a time, and the
        comparisons averaged over all combinations. Only for PCM and MCM.
    per_class : bool, default True
        Whether each class is measured against the rest; False for a score that takes
        all classes together.
    two_groups : bool, default False
        Whether there may be two groups only, because d(x, y) is not d(y, x).
    uses : {"predictions", "probabilities"}
        What the score looks at.
    title : str
        The name in full.
    reference : str
        The papers that introduced the metric.

    Raises
    ------
    ValueError
        If a choice is not one of those above, or if two choices exclude each other.
    """

    kind: str
    score: Callable[[Cells], np.ndarray | Sample]
    comparison: Callable[..., np.ndarray]
    _: KW_ONLY
    normalizer: str = ""
    background: str = "all"
    fairness: str = "group"
    examples: str = "all"
    single: bool = False
    per_class: bool = True
    two_groups: bool = False
    uses: str = "predictions"
    title: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            choice = getattr(self, name)
            if choice not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, "
                    f"found {choice!r}"
                )
        if self.single and "BCM" in self.kind:
            raise ValueError(
                "single must be False for metrics with a background, "
                "which has many variations"
            )
        if not self.per_class and self.examples != "all":
            raise ValueError(
                "examples must be 'all' where per_class is False, "
                f"found {self.examples!r}"
            )

        if not self.normalizer:
            object.__setattr__(self, "normalizer", KINDS[self.kind])

    @property
    def signed(self) -> bool:
        """Whether the value says which way groups differ, not only how much."""
        return getattr(self.comparison, "signed", False)

    @property
    def given(self) -> str:
        """What a null leaves as it is: "label", "prediction", or "" for neither.

        This is what the score conditions on. F1 counts as given the label: its null has
        the groups' base rates.
        """
        if self.examples != "all":
            return "label"
        return getattr(self.score, "given", "")

    @property
    def neutral(self) -> float:
        """The comparison of two groups that do not differ: 0, or 1 for a ratio."""
        return getattr(self.comparison, "neutral", 0.0)


def read(file: str | Path | TextIO) -> list[dict[str, Metric]]:
    """Read metrics from a file such as `table2.csv`.

    The file of this package has three places: Table 2, the paper's own variants of it,
    and others. A variant looks only at examples of the true class (TC), or is correctly
    normalized (*, section 6). Dossier 03 says where a row of Table 2 differs from the
    print.

    Parameters
    ----------
    file : str, Path or file object
        A CSV file with the columns place, name, and one for each choice of `Metric`.
        Scores and comparisons are named as in `fairlib.scores` and
        `fairlib.comparisons`.

    Returns
    -------
    list of dict
        The metrics of each place, by name.

    Notes
    -----
    AvgGF (TC) compares a group with all groups. The released code compares it with the
    other groups; its values are larger by a factor of 1 / (1 − the group's share).
    """
    rows = pd.read_csv(
        file,
        dtype={"normalizer": str},
        keep_default_na=False,
        true_values=["yes"],
        false_values=["no"],
    )

    metrics_of_places: dict[str, dict[str, Metric]] = {}
    for row in rows.to_dict("records"):
        metrics = metrics_of_places.setdefault(row.pop("place"), {})
        name = row.pop("name")
        row["score"] = getattr(scores, row["score"])
        row["comparison"] = getattr(comparisons, row["comparison"])
        metrics[name] = Metric(**row)
    return list(metrics_of_places.values())


TABLE_2, VARIANTS, AUCS = read(Path(__file__).with_name("table2.csv"))
METRICS: dict[str, Metric] = TABLE_2 | VARIANTS
