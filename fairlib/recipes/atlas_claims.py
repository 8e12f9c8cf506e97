"""Published claims about bias, tested again with the answers that were released.

Each claim is a number that authors printed, such as a score of BBQ or a gap between two
groups of HateCheck. It gets up to four intervals, from the same answers:

- *items*: every item counts as independent of all others;
- *pairs*: items that differ in nothing but the group are compared with each other;
- *clusters*: templates, terms or statements are a sample of many like them;
- *bernstein*: the bound of the first paper, with the variance of a rate of one half.

All numbers are in points (hundredths). A claim is corrected for how many claims of its
kind are tested: its interval excludes 0 with confidence 1 - 0.05 / claims, too.
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd
from numpy import ndarray
from pandas import DataFrame
from scipy.special import ndtri, stdtrit

from fairlib.data import load
from fairlib.intervals import clusters
from fairlib.intervals.proportions import mcnemar
from fairlib.recipes import atlas_methods as methods
from fairlib.recipes.atlas_answers import (
    HATECHECK_GROUPS,
    STEREOSET_MODELS,
    WINOMT_SYSTEMS,
)
from fairlib.recipes.originals import recipe

KINDS = ("bernstein", "items", "pairs", "clusters")
# How a benchmark's clusters are called.
CLUSTERS = {
    "HateCheck": "functionality",
    "BBQ": "template",
    "StereoSet": "target term",
    "DecodingTrust": "statement",
}
# These rates rest on few functionalities, in which a system may make no error at all.
_PARTS_OF_ERRORS = ("gap of false positive rates", "gap of false negative rates")
_DECIMALS = 4
_DRAWS = 10_000
_POINTS = 100
# Systems whose StereoSet scores are compared: neither the ensemble nor the classifier
# of sentiment is a language model of its own.
_RANKED_MODELS = [
    model
    for model in STEREOSET_MODELS
    if model not in ("EnsembleModel", "SentimentModel")
]
# Winogender, section 4: per cent of 240 pairs in which the male and the female pronoun
# are resolved to the occupation, and of pairs that are resolved differently.
_WINOGENDER_PAIRS = {"RULE": (72, 29, 68), "STAT": (71, 63, 28), "NEURAL": (87, 80, 13)}
# Table 2: accuracy in per cent without and with a "gotcha", 120 sentences each.
_WINOGENDER_GOTCHAS = {
    ("RULE", "female"): (38.3, 10.0),
    ("RULE", "male"): (51.7, 37.5),
    ("STAT", "female"): (50.8, 45.8),
    ("STAT", "male"): (61.7, 40.0),
    ("NEURAL", "female"): (50.8, 36.7),
    ("NEURAL", "male"): (49.2, 46.7),
}


@recipe(files=[], costly=True)
def atlas_claims() -> DataFrame:
    """Published claims about bias with the intervals that their own answers give."""
    claims = [
        *_hatecheck(),
        *_bbq_scores(),
        *_bbq_costs(),
        *_stereoset_scores(),
        *_stereoset_ranks(),
        *_winomt(),
        *_winogender(),
        *_decodingtrust(),
    ]

    family = pd.Series([(claim["benchmark"], claim["quantity"]) for claim in claims])
    sizes = family.map(family.value_counts())
    rows = [
        _tested(claim, claims_of_kind=size)
        for claim, size in zip(claims, sizes, strict=True)
    ]
    return DataFrame(rows).round(_DECIMALS)


@recipe(files=[], costly=True)
def atlas_dependence() -> DataFrame:
    """How many times the variance grows because items share a template or a term.

    The design effect is the variance of a score if clusters are a sample, divided by
    its variance if all items were independent. Its interval is Student's, for the
    logarithm, with the jackknife's standard error over clusters.
    """
    rows = []
    for claim in [*_hatecheck(), *_bbq_scores(), *_bbq_costs(), *_stereoset_scores()]:
        if claim["quantity"] in _PARTS_OF_ERRORS:
            continue

        effect, low, high = methods.design_effect(claim["sums"], claim["effect"])
        rows.append(
            {
                "benchmark": claim["benchmark"],
                "part": claim["part"],
                "model": claim["model"],
                "quantity": claim["quantity"],
                "cluster": CLUSTERS[claim["benchmark"]],
                "clusters": len(claim["sums"]),
                "design_effect": effect,
                "low": low,
                "high": high,
            }
        )
    return DataFrame(rows).round(_DECIMALS)


@recipe(files=[], costly=True)
def atlas_redrawn() -> DataFrame:
    """How often intervals for BBQ's ambiguous scores cover if templates are redrawn.

    The 25 templates of a category are drawn again, with replacement, 10,000 times.
    """
    rng = np.random.default_rng(0)
    rows = []
    for claim in _bbq_scores():
        if "ambiguous" not in claim["quantity"]:
            continue

        n, k, squares = claim["sums"].T
        drawn = rng.integers(0, len(n), size=(_DRAWS, len(n)))
        truth = k.sum() / n.sum()
        total = n[drawn].sum(axis=1)
        mean = k[drawn].sum(axis=1) / total
        variance = squares[drawn].sum(axis=1) / total - mean**2
        margin = -ndtri(methods.ALPHA / 2) * np.sqrt(variance / total)
        low, high = clusters.from_sums(n[drawn], k[drawn], bounds=(-1, 1))

        rows.append(
            {
                "category": claim["part"],
                "format": claim["model"],
                "items": np.mean(np.abs(mean - truth) <= margin),
                "clusters": np.mean((low <= truth) & (truth <= high)),
            }
        )
    return DataFrame(rows).round(_DECIMALS)


def _tested(claim: dict, *, claims_of_kind: int) -> dict:
    """Return a claim with its intervals, and whether they exclude 0 when corrected."""
    row = {
        name: claim[name]
        for name in ("benchmark", "part", "model", "quantity", "n", "estimate")
    }
    row["claims_of_kind"] = claims_of_kind
    for kind in KINDS:
        method = claim["methods"].get(kind)
        low, high = (np.nan, np.nan) if method is None else method(methods.ALPHA)
        row[f"{kind}_low"] = _POINTS * low
        row[f"{kind}_high"] = _POINTS * high

    for kind in KINDS:
        method = claim["methods"].get(kind)
        if method is None:
            row[f"{kind}_corrected"] = ""
            continue
        low, high = method(methods.ALPHA / claims_of_kind)
        row[f"{kind}_corrected"] = "shown" if low > 0 or high < 0 else "open"

    low, high = claim.get("cr1", (np.nan, np.nan))
    row["t_low"] = _POINTS * low
    row["t_high"] = _POINTS * high
    return row


def _hatecheck() -> Iterable[dict]:
    """Yield the gaps between groups of HateCheck: all errors, and by label."""
    templates = load("atlas_hatecheck", source="bundled")
    quantities = {
        "gap of error rates": templates["hateful"] >= 0,
        "gap of false positive rates": templates["hateful"] == 0,
        "gap of false negative rates": templates["hateful"] == 1,
    }

    for quantity, is_used in quantities.items():
        for system, rows in templates[is_used].groupby("system"):
            for a, b in combinations(range(len(HATECHECK_GROUPS)), 2):
                yield _hatecheck_gap(rows, a, b) | {
                    "model": system,
                    "quantity": quantity,
                }


def _hatecheck_gap(rows: DataFrame, a: int, b: int) -> dict:
    """Return the gap between two groups, from the patterns of errors."""
    errors = DataFrame(
        {
            "functionality": rows["functionality"],
            "n": rows["templates"],
            "k_a": rows["templates"] * rows["errors"].str[a].eq("x"),
            "k_b": rows["templates"] * rows["errors"].str[b].eq("x"),
            "both": rows["templates"]
            * (rows["errors"].str[a] + rows["errors"].str[b]).eq("xx"),
        }
    )

    n, k_a, k_b, both = errors.drop(columns="functionality").sum()
    by_functionality = errors.groupby("functionality")[["n", "k_a", "n", "k_b"]].sum()
    sums = by_functionality.to_numpy(dtype=float)
    gap, residuals = methods.difference(sums)

    return {
        "benchmark": "HateCheck",
        "part": f"{HATECHECK_GROUPS[a]} / {HATECHECK_GROUPS[b]}",
        "n": n,
        "estimate": _POINTS * gap,
        "methods": {
            "bernstein": methods.bernstein(k_a, n, k_b, n),
            "items": methods.exact(k_a, n, k_b, n),
            "pairs": lambda alpha: mcnemar(k_a - both, k_b - both, n, alpha=alpha),
            "clusters": methods.clustered_difference(sums),
        },
        "cr1": methods.student(gap, residuals),
        "sums": sums,
        "effect": methods.effect_of_difference,
    }


def _bbq_scores() -> Iterable[dict]:
    """Yield the bias scores of BBQ.

    An answer counts 1 if it is biased, -1 if it is the opposite, and 0 if it says that
    the context does not tell. The score is the mean of these numbers: over all readable
    answers in ambiguous contexts, and over those that name a person in clear ones. That
    is the authors' score, written as a mean.
    """
    answers = load("atlas_bbq", source="bundled")
    names = {"ambig": "bias score, ambiguous", "disambig": "bias score, disambiguated"}
    for (category, style, context), rows in answers.groupby(
        ["category", "format", "context"]
    ):
        by_template = _answers_by_template(rows)
        used = by_template["biased"] + by_template["counter"]
        n = used + by_template["unknown"] if context == "ambig" else used
        k = by_template["biased"] - by_template["counter"]
        sums = np.column_stack([n, k, used]).astype(float)

        yield _mean_score(sums) | {
            "benchmark": "BBQ",
            "part": category,
            "model": style,
            "quantity": names[context],
        }


def _answers_by_template(rows: DataFrame) -> DataFrame:
    """Count the answers of each template by what they say about the stereotype."""
    counts = rows.pivot_table(
        index="template", columns="answer", values="questions", aggfunc="sum"
    )
    columns = ["biased", "counter", "unknown", "unclear", "unread"]
    return counts.reindex(columns=columns).fillna(0)


def _mean_score(sums: ndarray) -> dict:
    """Return a mean of items between -1 and 1, from sums over clusters."""
    n, k, squares = sums.sum(axis=0)
    mean = k / n
    standard_error = np.sqrt((squares / n - mean**2) / n)

    return {
        "n": n,
        "estimate": _POINTS * mean,
        "methods": {
            "items": lambda alpha: (
                mean + ndtri(alpha / 2) * standard_error,
                mean - ndtri(alpha / 2) * standard_error,
            ),
            "clusters": lambda alpha: clusters.from_sums(
                sums[:, 0], sums[:, 1], bounds=(-1, 1), confidence=1 - alpha
            ),
        },
        "cr1": methods.student(mean, (sums[:, 1] - mean * sums[:, 0]) / n),
        "sums": sums,
        "effect": methods.effect_of_mean,
    }


def _bbq_costs() -> Iterable[dict]:
    """Yield what BBQ's accuracy loses where the right answer is not the stereotype."""
    answers = load("atlas_bbq", source="bundled")
    answers = answers[answers["context"].eq("disambig") & answers["aligned"].ne("none")]
    for (category, style), rows in answers.groupby(["category", "format"]):
        right = rows.assign(right=rows["right"] * rows["questions"]).pivot_table(
            index="template",
            columns="aligned",
            values=["questions", "right"],
            aggfunc="sum",
            fill_value=0,
        )
        n_a = right["questions", "no"].to_numpy()
        n_b = right["questions", "yes"].to_numpy()
        k_a = right["right", "no"].to_numpy()
        k_b = right["right", "yes"].to_numpy()
        sums = np.column_stack([n_a, k_a, n_b, k_b]).astype(float)

        totals = (k_a.sum(), n_a.sum(), k_b.sum(), n_b.sum())
        gap, residuals = methods.difference(sums)
        yield {
            "benchmark": "BBQ",
            "part": category,
            "model": style,
            "quantity": "cost in accuracy",
            "n": n_a.sum() + n_b.sum(),
            "estimate": _POINTS * gap,
            "methods": {
                "bernstein": methods.bernstein(*totals),
                "items": methods.exact(*totals),
                "clusters": methods.clustered_difference(sums),
            },
            "cr1": methods.student(gap, residuals),
            "sums": sums,
            "effect": methods.effect_of_difference,
        }


def _stereoset_choices() -> dict[str, tuple[ndarray, ndarray]]:
    """Return by domain the sizes of terms, and choices by term and model."""
    items = load("atlas_stereoset", source="bundled")
    choices = DataFrame(
        {
            model: items["choices"].str[place].eq("s") * items["items"]
            for place, model in enumerate(STEREOSET_MODELS)
        }
    )

    result = {}
    for domain in sorted(set(items["domain"])):
        is_used = items["domain"] == domain
        by_term = items["term"][is_used]
        sizes = items["items"][is_used].groupby(by_term).sum()
        result[domain] = (sizes.to_numpy(), choices[is_used].groupby(by_term).sum())
    return result


def _stereoset_scores() -> Iterable[dict]:
    """Yield the scores of StereoSet: a mean over terms, less the fair score of 50."""
    for domain, (n, choices) in _stereoset_choices().items():
        for model in STEREOSET_MODELS:
            k = choices[model].to_numpy()
            sums = np.column_stack([n, k]).astype(float)
            rates = k / n
            excess = rates.mean() - 0.5

            yield {
                "benchmark": "StereoSet",
                "part": domain,
                "model": model,
                "quantity": "stereotype score minus 50",
                "n": n.sum(),
                "estimate": _POINTS * excess,
                "methods": {
                    "items": methods.stratified(sums),
                    "clusters": methods.clustered_score(sums),
                },
                "cr1": methods.student(excess, (rates - rates.mean()) / len(n)),
                "sums": sums,
                "effect": methods.effect_of_terms,
            }


def _stereoset_ranks() -> Iterable[dict]:
    """Yield the differences between scores of nine models on StereoSet."""
    items = load("atlas_stereoset", source="bundled")
    for domain, (n, choices) in _stereoset_choices().items():
        patterns = items[items["domain"] == domain]
        for a, b in combinations(_RANKED_MODELS, 2):
            first = patterns["choices"].str[list(STEREOSET_MODELS).index(a)]
            second = patterns["choices"].str[list(STEREOSET_MODELS).index(b)]
            only_a = patterns["items"][(first + second) == "so"].sum()
            only_b = patterns["items"][(first + second) == "os"].sum()
            differences = ((choices[a] - choices[b]) / n).to_numpy()

            yield {
                "benchmark": "StereoSet",
                "part": domain,
                "model": f"{a} / {b}",
                "quantity": "difference of stereotype scores",
                "n": n.sum(),
                "estimate": _POINTS * differences.mean(),
                "methods": {
                    "pairs": methods.discordant(only_a, only_b, n.sum()),
                    "clusters": methods.mean_of_terms(differences),
                },
                "cr1": methods.student(
                    differences.mean(),
                    (differences - differences.mean()) / len(differences),
                ),
            }


def _winomt() -> Iterable[dict]:
    """Yield WinoMT's gaps: recall of men minus recall of women, by system."""
    cells = load("atlas_winomt", source="bundled")
    cells["right"] = cells["sentences"] * cells["gold"].eq(cells["predicted"])
    recalls = cells.groupby(["system", "language", "gold"])[["right", "sentences"]]
    counts = recalls.sum().unstack()
    for system, languages in WINOMT_SYSTEMS.items():
        for language in languages.split():
            row = counts.loc[system, language]
            male = (row["right", "male"], row["sentences", "male"])
            female = (row["right", "female"], row["sentences", "female"])
            gap = male[0] / male[1] - female[0] / female[1]

            yield {
                "benchmark": "WinoMT",
                "part": language,
                "model": system,
                "quantity": "recall of men minus women",
                "n": male[1] + female[1],
                "estimate": _POINTS * gap,
                "methods": {
                    "bernstein": methods.bernstein(*male, *female),
                    "items": methods.exact(*male, *female),
                },
            }


def _winogender() -> Iterable[dict]:
    """Yield Winogender's claims, from the printed shares of 240 pairs."""
    pairs = 240
    for system, (male, female, discordant) in _WINOGENDER_PAIRS.items():
        gap = round(pairs * male / 100) - round(pairs * female / 100)
        different = round(pairs * discordant / 100)
        # Both must be odd or even together; the shares are rounded to whole per cent.
        different += (different - gap) % 2
        only_male = (different + gap) // 2
        counts = (round(pairs * male / 100), pairs, round(pairs * female / 100), pairs)
        yield {
            "benchmark": "Winogender",
            "part": "male / female",
            "model": system,
            "quantity": "pronouns resolved to the occupation",
            "n": pairs,
            "estimate": _POINTS * gap / pairs,
            "methods": {
                "bernstein": methods.bernstein(*counts),
                "items": methods.exact(*counts),
                "pairs": methods.discordant(only_male, different - only_male, pairs),
            },
        }

    for (system, pronoun), (without, with_one) in _WINOGENDER_GOTCHAS.items():
        yield _gotcha(round(1.2 * without), round(1.2 * with_one)) | {
            "part": pronoun,
            "model": system,
        }


def _gotcha(right_without: int, right_with: int) -> dict:
    """Return how much lower the accuracy is on 120 sentences with a gotcha."""
    n = 120
    gap = (right_without - right_with) / n
    return {
        "benchmark": "Winogender",
        "quantity": "accuracy without minus with a gotcha",
        "n": 2 * n,
        "estimate": _POINTS * gap,
        "methods": {
            "bernstein": methods.bernstein(right_without, n, right_with, n),
            "items": methods.exact(right_without, n, right_with, n),
        },
    }


def _decodingtrust() -> Iterable[dict]:
    """Yield DecodingTrust's gaps between men and women, and agreement in general."""
    people = load("atlas_income", source="bundled")
    is_male = people["sex"] == "Male"
    men = people["people"][is_male].sum()
    women = people["people"][~is_male].sum()

    for model in ("GPT-3.5", "GPT-4"):
        says_yes = people[model] == "yes"
        men_with_yes = people["people"][says_yes & is_male].sum()
        women_with_yes = people["people"][says_yes & ~is_male].sum()
        gap = men_with_yes / men - women_with_yes / women
        counts = (men_with_yes, men, women_with_yes, women)
        yield {
            "benchmark": "DecodingTrust",
            "part": "men / women",
            "model": model,
            "quantity": "gap of predicted incomes",
            "n": men + women,
            "estimate": _POINTS * gap,
            "methods": {
                "bernstein": methods.bernstein(*counts),
                "items": methods.exact(*counts),
            },
        }
    yield _larger_gap(people)


def _larger_gap(people: DataFrame) -> dict:
    """Return how much larger GPT-4's gap is than GPT-3.5's, on the same people."""
    change = people["GPT-4"].eq("yes").astype(int) - people["GPT-3.5"].eq("yes")
    moments = []
    for sex in ("Male", "Female"):
        is_used = people["sex"] == sex
        n = people["people"][is_used].sum()
        mean = (people["people"] * change)[is_used].sum() / n
        squares = (people["people"] * change**2)[is_used].sum() / n
        moments.append((mean, (squares - mean**2) / (n - 1), n))

    (mean_men, variance_men, n_men), (mean_women, variance_women, n_women) = moments
    gap = mean_men - mean_women
    variance = variance_men + variance_women
    freedom = variance**2 / (
        variance_men**2 / (n_men - 1) + variance_women**2 / (n_women - 1)
    )
    return {
        "benchmark": "DecodingTrust",
        "part": "men / women",
        "model": "GPT-4 / GPT-3.5",
        "quantity": "difference of gaps",
        "n": n_men + n_women,
        "estimate": _POINTS * gap,
        "methods": {
            "pairs": lambda alpha: (
                gap + stdtrit(freedom, alpha / 2) * np.sqrt(variance),
                gap - stdtrit(freedom, alpha / 2) * np.sqrt(variance),
            )
        },
    }
