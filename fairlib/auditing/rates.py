"""The rates of an audit: what can be counted in a group; `rates.toml` has their words.

Every rate is a mean over those cases of a group that qualify. The rate of misses, for
instance, is a mean over the cases whose label is the class: of these, it counts the
ones for which another class was predicted.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlib.tables import listed

# The rate whose values are in the units of a column of costs; its class is the name of
# that column.
COST = "cost"
# The outcomes of a case for a class: the class is predicted (P) or not (N), and that
# is true (T) or false (F).
OUTCOMES = ("TN", "FP", "FN", "TP")
# The outcomes of cases whose label is the class, and of all other cases.
_IS_CLASS = {"TP", "FN"}
_IS_OTHER = {"FP", "TN"}
# The outcomes of cases for which the class is predicted, and of all other cases.
_PREDICTED = {"TP", "FP"}
_NOT_PREDICTED = {"TN", "FN"}


@dataclass(frozen=True, kw_only=True)
class Rate:
    """One question to every group: which cases qualify, and what is counted there.

    Attributes
    ----------
    question : {"errors", "selection", "mix", "cost"}
        What the rate asks. "errors" are rates given the outcome, such as misses: they
        do not depend on how often the outcome occurs. "selection" is what is predicted,
        whatever the outcome. A "mix" depends on both errors and outcomes.
    title : str
        The name in headings, where {c} is the class.
    noun : str
        What is counted, as a plural: "misses of {c}".
    words : str
        A sentence about one group: {value}, {n} and {c}, the class, are filled in.
    qualifies : str
        Which cases can be used at all; completes "cases ...".
    share : str
        "outcomes that are counted / outcomes that qualify"; empty for means of numbers
        such as probabilities.
    needs : sequence of str
        The columns that the rate needs.
    per_class : bool
        Whether each class has a rate of its own. Otherwise all classes are taken at
        once: a right prediction is a TP, a wrong one an FN.
    farthest : int
        How far apart two cases can be: 2 for values between -1 and 1, which are
        written in points.
    """

    question: str
    title: str
    words: str
    noun: str = ""
    qualifies: str = ""
    share: str = ""
    needs: Sequence[str] = ("label", "prediction")
    per_class: bool = True
    farthest: int = 1

    @property
    def uses_probability(self) -> bool:
        """Whether it is a mean of numbers, such as probabilities, and no share."""
        return not self.share

    def topic(self, class_name: str = "") -> str:
        """Return what is counted, of a class if it is named."""
        if not class_name:
            return self.noun.removesuffix(" of {c}")
        return self.noun.replace("{c}", f"‘{class_name}’")

    @property
    def outcomes(self) -> list[list[str]]:
        """The outcomes that are counted, and the outcomes that qualify."""
        return [part.split() for part in self.share.split("/")]


_TEXT = (Path(__file__).parent / "rates.toml").read_text(encoding="utf-8")
RATES = {name: Rate(**fields) for name, fields in tomllib.loads(_TEXT).items()}


def custom_rate(name: str, share: str) -> Rate:
    """Return a rate that a user defines by the outcomes that it counts.

    Parameters
    ----------
    name : str
        A new name, such as "wrongly approved".
    share : str
        The outcomes that are counted, "/", and the outcomes that qualify.

    Raises
    ------
    ValueError
        If the name is taken, or the share is not of this form.

    Examples
    --------
    >>> custom_rate("wrongly approved", "FP / TP FP FN TN").outcomes
    [['FP'], ['TP', 'FP', 'FN', 'TN']]
    """
    parts = share.split("/") if isinstance(share, str) else []
    outcomes = [{*part.split()} for part in parts]
    is_share = (
        len(outcomes) == 2
        and bool(outcomes[0])
        and outcomes[0] < outcomes[1] <= {*OUTCOMES}
    )
    if name in RATES or not is_share:
        form = (
            "as in 'FN / TP FN', outcomes that are counted and those that qualify, "
            f"of {listed(OUTCOMES)}"
        )
        raise ValueError(
            f"rates: {name!r} must be a new name with a share, {form}; found {share!r}"
        )

    qualifies = ""
    among = ""
    if len(outcomes[1]) < len(OUTCOMES):
        qualifies = f"that are {' or '.join(parts[1].split())} of {{c}}"
        among = f" {qualifies}"

    # Braces of the name are doubled, as the sentence is filled in by `str.format`.
    written_name = name.replace("{", "{{").replace("}", "}}")
    return Rate(
        question=_question(*outcomes),
        title=f"{name} ({share}, of {{c}})",
        words=f"of {{n}} cases{among}, {{value}} are {written_name}",
        noun=f"cases that are {name}",
        qualifies=qualifies,
        share=share,
    )


def _question(counted: set[str], qualifying: set[str]) -> str:
    """Return what a rate asks that counts some outcomes among those that qualify."""
    if qualifying in (_IS_CLASS, _IS_OTHER):
        return "errors"
    if qualifying == {*OUTCOMES} and counted in (_PREDICTED, _NOT_PREDICTED):
        return "selection"
    return "mix"
