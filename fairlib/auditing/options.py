"""The options of an audit as a table, for the command line and the documentation.

This module imports nothing heavy, so that `fairlib audit --help` answers at once. A
test holds the table to the signature of `fairlib.audit`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of an audit.

    Attributes
    ----------
    name : str
        Its name in `fairlib.audit`; "--name" on the command line.
    help : str
        One sentence without a period that says what it is.
    kind : type
        The type of its value: str, int or float.
    default : str, int, float or None
        Its value where it is not given, as in `fairlib.audit`.
    metavar : str
        What stands for the value in the help.
    several : bool
        Whether several values may be given.
    required : bool
        Whether it must be given.
    """

    name: str
    help: str
    kind: type = str
    default: str | int | float | None = None
    metavar: str = "COLUMN"
    several: bool = False
    required: bool = False


OPTIONS = (
    Option(
        name="group",
        help="one or several columns that hold groups; several are also crossed",
        several=True,
        required=True,
    ),
    Option(name="label", help="column with the true class"),
    Option(name="prediction", help="column with the predicted class"),
    Option(
        name="probability", help="column with the probability of the positive class"
    ),
    Option(
        name="source",
        help="column that says which cases belong together (one person, one template)",
    ),
    Option(
        name="count",
        help="column with the number of cases that a row stands for, if data are "
        "counts",
    ),
    Option(
        name="within",
        help="column of strata (departments, hospitals): groups are compared within "
        "them, by the Mantel-Haenszel common difference",
    ),
    Option(
        name="compare",
        help="column with another model's predictions of the same cases",
    ),
    Option(
        name="cost",
        help="column with a number for each case (an amount, minutes waited), beside "
        "predictions or instead of them",
    ),
    Option(name="weight", help="column with the weight of each case in a survey"),
    Option(
        name="positive",
        help="the class that is measured against the rest, or a name for class 1 "
        "(default: the last in order of two classes, or each of several)",
        metavar="CLASS",
    ),
    Option(
        name="threshold",
        help="the probability from which on the positive class is predicted, if there "
        "is no column of predictions",
        kind=float,
        default=0.5,
        metavar="NUMBER",
    ),
    Option(
        name="reference",
        help="the group that others are compared with (default: everyone else); with "
        "several columns of groups, COLUMN=GROUP for each",
        metavar="COLUMN=GROUP",
        several=True,
    ),
    Option(
        name="depth",
        help="how many columns of groups are crossed at once",
        kind=int,
        default=2,
        metavar="NUMBER",
    ),
    Option(
        name="metrics",
        help="names of rates and of metrics of the literature (Table 2 and AUCs); if "
        "no name of a kind is given, all of that kind that the columns allow",
        metavar="NAME",
        several=True,
    ),
    Option(
        name="rates",
        help="rates of your own, as 'wrongly approved=FP / TP FP FN TN': the outcomes "
        "that are counted, and the outcomes that qualify",
        metavar="NAME=SHARE",
        several=True,
    ),
    Option(
        name="margin",
        help="the smallest difference that matters: 0.05 for 5 percentage points",
        kind=float,
        default=0.05,
        metavar="NUMBER",
    ),
    Option(
        name="cost_margin",
        help="the smallest difference of costs that matters, in their units (default: "
        "no difference is named)",
        kind=float,
        metavar="NUMBER",
    ),
    Option(
        name="minimum",
        help="groups with fewer independent cases are not tested; they are named "
        "instead",
        kind=int,
        default=30,
        metavar="NUMBER",
    ),
    Option(
        name="confidence",
        help="confidence of the intervals and verdicts",
        kind=float,
        default=0.95,
        metavar="NUMBER",
    ),
    Option(
        name="power",
        help="probability with which 'so many more cases' would show a difference of "
        "the margin",
        kind=float,
        default=0.8,
        metavar="NUMBER",
    ),
    Option(
        name="title",
        help="title of the report; on the command line, the name of the file by "
        "default",
        default="Audit",
        metavar="TEXT",
    ),
)
