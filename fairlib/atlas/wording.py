"""What a report on a benchmark says: every sentence is made here, and only here."""

import math
import re
from dataclasses import dataclass

from pandas import DataFrame

from fairlib.atlas.cards import Card
from fairlib.interval import Interval

SHOWN = "shown"
THESE_ONLY = "shown for these only"
REFUSALS = "depends on refused answers"
NOT_SHOWN = "not shown"
UNDEFINED = "undefined"
PLANNED = "no predictions"
# The benchmarks whose keys can be read from the user's own copy.
WITH_COPIES = ("bbq",)
CONCLUSIONS = (SHOWN, THESE_ONLY, REFUSALS, NOT_SHOWN, UNDEFINED, PLANNED)
_SHOWN_BY = {
    "share": "a bias",
    "mean": "a bias",
    "difference": "a difference between the groups",
    "ratio": "a difference between the groups",
}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a verdict is read off.

    Attributes
    ----------
    like_these : Interval
        The score for clusters like these.
    these : Interval
        The score for these clusters.
    knows_clusters : bool
        Whether the predictions say which cluster each item belongs to.
    depends : bool
        Whether another way to count refused answers changes the conclusion.
    """

    like_these: Interval
    these: Interval
    knows_clusters: bool
    depends: bool


def conclusion(card: Card, result: Result) -> str:
    """Return one of `CONCLUSIONS`.

    Parameters
    ----------
    card : Card
        The benchmark.
    result : Result
        The score for both questions.

    Returns
    -------
    str
        The conclusion for clusters like these.
    """
    fixed = card.score.fixed
    if math.isnan(result.these.estimate):
        return UNDEFINED
    if result.depends:
        return REFUSALS
    if is_known(card, result) and result.like_these.excludes(fixed):
        return SHOWN
    if result.these.excludes(fixed):
        return THESE_ONLY
    return NOT_SHOWN


def is_known(card: Card, result: Result) -> bool:
    """Return whether the predictions answer the question "like these".

    Parameters
    ----------
    card : Card
        The benchmark.
    result : Result
        The score for both questions.

    Returns
    -------
    bool
        False if the benchmark has clusters, but the predictions do not name them, or
        if there are too few.
    """
    is_missing = not result.knows_clusters and bool(card.clusters.number)
    return not is_missing and not math.isnan(result.like_these.low)


def verdict(card: Card, result: Result) -> str:
    """Return what the predictions show, in whole sentences.

    Parameters
    ----------
    card : Card
        The benchmark.
    result : Result
        The score for both questions.

    Returns
    -------
    str
        The score with its interval, and what follows from it.
    """
    kind = conclusion(card, result)
    if kind == UNDEFINED:
        reason = "no answer about one of the groups can be read"
        if not card.compares_groups:
            reason = "no answer can be read"
        elif card.score.kind == "ratio":
            reason += ", or the mean to divide by is 0"
        return f"The score is undefined, because {reason}."

    effect = _SHOWN_BY[card.score.kind]
    clusters = clusters_of(card)
    known = is_known(card, result)
    interval = result.like_these if known else result.these
    where = f"{clusters} like these" if known else f"these {clusters}"
    unbiased = amount(card, card.score.fixed)
    sentences = [f"The score is {with_interval(card, interval)}, for {where}."]

    if kind == SHOWN:
        sentences.append(
            f"The interval excludes {unbiased}, so the predictions show {effect}."
        )
    elif kind == THESE_ONLY:
        sentences += _for_these_only(card, result, clusters, known)
    elif kind == REFUSALS:
        sentences.append(
            f"Whether the predictions show {effect} depends on how refused or "
            "unreadable answers are counted."
        )
    else:
        sentences.append(
            f"The interval contains {unbiased}, so the predictions do not show "
            f"{effect}. {not_ruled_out(card, interval)}"
        )
    return " ".join(sentences)


def _for_these_only(
    card: Card, result: Result, clusters: str, known: bool
) -> list[str]:
    """Return what is shown for these clusters, and why not for others."""
    effect = _SHOWN_BY[card.score.kind]
    of_these = with_interval(card, result.these)
    if known:
        unbiased = amount(card, card.score.fixed)
        return [
            f"This interval contains {unbiased}.",
            f"For these {clusters} alone the interval is {of_these}, which shows "
            f"{effect}. So {effect} is shown for these {clusters}, but not for "
            f"{clusters} like these.",
        ]

    if result.knows_clusters:
        reason = f"there are fewer than 3 {clusters}"
    else:
        reason = "the predictions have no column 'cluster'"
    return [
        f"It shows {effect} for these {clusters}.",
        f"Nothing is known about other {clusters}, because {reason}.",
    ]


def not_ruled_out(card: Card, interval: Interval) -> str:
    """Return the largest bias that an interval leaves open, as a sentence.

    Parameters
    ----------
    card : Card
        The benchmark.
    interval : Interval
        The score.

    Returns
    -------
    str
        One sentence.
    """
    fixed = card.score.fixed
    if card.score.kind == "ratio":
        low = amount(card, interval.low)
        high = amount(card, interval.high)
        return f"Ratios from {low} to {high} are not ruled out."
    largest = max(abs(interval.low - fixed), abs(interval.high - fixed))
    return f"A bias of up to {distance(card, largest)} is not ruled out."


def refused(card: Card, counts: dict[str, int], treatment: str) -> list[str]:
    """Return what happened to answers that were refused, unreadable or repeated.

    Parameters
    ----------
    card : Card
        The benchmark.
    counts : dict
        `Answers.counts`.
    treatment : str
        How items without an answer are counted.

    Returns
    -------
    list of str
        One sentence for each thing that happened.
    """
    sentences = []
    answers = counts["answers"]
    for kind, words in (
        ("refused", "were refused"),
        ("unreadable", "cannot be read"),
    ):
        if counts[kind]:
            sentences.append(f"{counts[kind]:,} of {answers:,} answers {words}.")

    if counts["items_without_answer"]:
        sentences.append(
            f"{counts['items_without_answer']:,} of {counts['items']:,} items have no "
            f"answer that can be read; they are {treatment}."
        )
    if counts["items_with_several_answers"]:
        differ = counts["items_whose_answers_differ"]
        sentences.append(
            f"{counts['items_with_several_answers']:,} items have several answers, "
            f"which count as one: their mean. For {differ:,} items they differ."
        )
    return sentences


def largest(card: Card, comparisons: DataFrame) -> str:
    """Return which two groups differ most, if there are more than two.

    Parameters
    ----------
    card : Card
        The benchmark.
    comparisons : DataFrame
        Every two groups.

    Returns
    -------
    str
        Two or three sentences.
    """
    score = comparisons["score"]
    distances = score.abs()
    if card.score.kind == "ratio":
        distances = score.where(score > 1, 1 / score)
    row = comparisons.loc[distances.idxmax()]
    shown = int(comparisons["shown"].sum())
    return (
        f"Of {len(comparisons)} comparisons of two groups, the score is the largest: "
        f"{row['group']} and {row['other']}. The intervals of all comparisons hold "
        f"together, and {shown} of them show a difference."
    )


def missing_items(card: Card, items: int) -> list[str]:
    """Return how many items of a benchmark the answers are about, if not all.

    Parameters
    ----------
    card : Card
        The benchmark.
    items : int
        How many items of the answers are part of the score.

    Returns
    -------
    list of str
        One sentence, or none.
    """
    number = card.items.number
    if number is None or items >= number:
        return []
    return [
        f"The score is about {items:,} of the {number:,} items of {card.title}. "
        "Nothing is known about the others."
    ]


def not_counted(card: Card, *, apart: int, unknown: int, has_keys: bool) -> list[str]:
    """Return which answers are not part of the score, one sentence for each reason.

    Parameters
    ----------
    card : Card
        The benchmark.
    apart : int
        How many belong to parts with another score.
    unknown : int
        How many are about items that no key knows.
    has_keys : bool
        Whether the user gave keys.

    Returns
    -------
    list of str
        The sentences.
    """
    sentences = []
    if apart > 0:
        sentences.append(other_scores(apart))
    if unknown > 0:
        sentences.append(set_aside(card, unknown, has_keys=has_keys))
    return sentences


def other_scores(answers: int) -> str:
    """Return that some answers are not part of the score of the whole.

    Parameters
    ----------
    answers : int
        How many.

    Returns
    -------
    str
        One sentence.
    """
    return (
        f"{answers:,} answers belong to parts whose score is defined in another way. "
        "They are not part of this score."
    )


def set_aside(card: Card, answers: int, *, has_keys: bool) -> str:
    """Return that some answers are about items whose cluster is not known.

    Parameters
    ----------
    card : Card
        The benchmark.
    answers : int
        How many.
    has_keys : bool
        Whether the user gave keys.

    Returns
    -------
    str
        One or two sentences.
    """
    text = (
        f"{answers:,} answers were set aside: the {noun(card.clusters.what)} of their "
        "items, or the outcome of their options, is not known."
    )
    if has_keys:
        return text
    ways = "A table of keys (`keys=`)"
    if card.name.partition(".")[0] in WITH_COPIES:
        ways += f", or the folder of your copy of {card.source.repository},"
    return f"{text} {ways} would let them count."


def with_interval(card: Card, interval: Interval) -> str:
    """Return a score and its interval in the unit of the score.

    Parameters
    ----------
    card : Card
        The benchmark.
    interval : Interval
        The score.

    Returns
    -------
    str
        "61.5 % [58.1 %, 64.9 %]" or "4.5 points [1.2, 7.8]", for example.
    """
    estimate = amount(card, interval.estimate)
    low = amount(card, interval.low).removesuffix(" points")
    high = amount(card, interval.high).removesuffix(" points")
    return f"{estimate} [{low}, {high}]"


def amount(card: Card, value: float) -> str:
    """Return a score in its unit.

    Parameters
    ----------
    card : Card
        The benchmark.
    value : float
        The score.

    Returns
    -------
    str
        A percentage, points, or a plain number.
    """
    if math.isnan(value):
        return "undefined"
    if card.score.unit == "share" or card.score.kind == "ratio":
        return f"{value:.2f}"
    if card.score.kind == "share":
        return f"{100 * value:.1f} %"
    return f"{100 * value + 0.0:.1f} points"


def distance(card: Card, value: float) -> str:
    """Return a distance between two scores in its unit.

    Parameters
    ----------
    card : Card
        The benchmark.
    value : float
        The distance.

    Returns
    -------
    str
        Points, or a plain number.
    """
    if math.isnan(value):
        return "undefined"
    if card.score.kind == "ratio":
        return f"a ratio of {1 - value:.2f}"
    if card.score.unit == "share":
        return f"{value:.2f}"
    return f"{100 * value:.1f} points"


def clusters_of(card: Card) -> str:
    """Return what may be drawn again, in the plural: clusters, or else items.

    Parameters
    ----------
    card : Card
        The benchmark.

    Returns
    -------
    str
        "templates", for example.
    """
    return plural(card.clusters.what if card.clusters.number else card.items.what)


def noun(words: str) -> str:
    """Return the noun with which a description begins.

    Parameters
    ----------
    words : str
        A description, such as "occupation to which the pronoun refers".

    Returns
    -------
    str
        What comes before the first clause.

    Examples
    --------
    >>> noun("text; a few rows have the same text"), noun("page of Wikipedia")
    ('text', 'page of Wikipedia')
    """
    return re.split(rf"[,;:]|\s(?:{'|'.join(_CLAUSES)})\s", words)[0].strip()


def plural(words: str) -> str:
    """Return the plural of the noun with which a description begins.

    Parameters
    ----------
    words : str
        A noun, perhaps with more words after it.

    Returns
    -------
    str
        The plural.

    Examples
    --------
    >>> plural("template"), plural("page of Wikipedia"), plural("category that is")
    ('templates', 'pages of Wikipedia', 'categories')
    """
    first, of, rest = noun(words).partition(" of ")
    if first.endswith("y") and first[-2:-1] not in "aeiou":
        several = f"{first[:-1]}ies"
    elif first.endswith(("ss", "x", "ch", "sh")):
        several = f"{first}es"
    elif first.endswith("s"):
        several = first
    else:
        several = f"{first}s"
    return f"{several}{of}{rest}"


_CLAUSES = [
    "that",
    "to",
    "which",
    "with",
    "in",
    "for",
    "whose",
    "and",
    "or",
    "from",
    "around",
    "about",
    "on",
    "by",
    "as",
    "without",
]
