"""Sentences that differ in one identity term only, and the test that a prediction does not depend on that term.

A template is a sentence with a slot; a suite is every template filled with every identity term of an attribute. Each
row of a suite is one sentence: its `source` (the template), the `group` and `term` that fill it, and its `label`. The
same suites serve the metrics (`fairlib.measure`) and the behavioural test here (`invariance`).

Slots: {noun} and {nouns} take a noun phrase ("woman", "people with epilepsy"), {adjective nurse} a described noun
("deaf nurse", "nurse with epilepsy"), {person} a first name, {country} a country; {a noun} puts "a" or "an" in front.

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6; Ribeiro, Wu, Guestrin, Singh (2020), CheckList.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from fairlib.interval import check_confidence

FOLDER = Path(__file__).resolve().parents[1] / "data" / "templates"
ATTRIBUTES = {
    "names": "Gender (names)",
    "gender": "Gender",
    "sexual_orientation": "Sexual Orientation",
    "religion": "Religion",
    "nationality": "Nationality",
    "race": "Race",
    "age": "Age",
    "disability": "Disability",
}
CLASSES = ("negative", "neutral", "positive")
SLOT = re.compile(r"\{(?P<article>a )?(?P<form>adjective|nouns?|person|country)(?: (?P<head>\w+))?\}")
AFTER_THE_NOUN = (
    "with",
    "without",
    "of",
    "on",
    "living",
    "using",
)  # "nurse with epilepsy"
SPOKEN_CONSONANT = ("eu", "uga", "ukr", "uni", "one")  # begin with a vowel letter but not with a vowel sound


def suite(attribute: str, *, classes: Sequence[str] = CLASSES) -> pd.DataFrame:
    """Return every sentence of an attribute's suite: its 60 templates, each filled with every identity term.

    classes : the labels to keep; the 2-class suite is `suite(attribute, classes=("negative", "positive"))`.
    Columns: attribute, source, group, term, label, text. Within a source only the identity term differs.
    """
    if unknown := [name for name in classes if name not in CLASSES]:
        raise ValueError(f"classes must be among {', '.join(CLASSES)}, found {', '.join(map(str, unknown))}")
    people = terms(attribute)
    sentences = _read("sentiment.csv")
    suites = ["people" if attribute == "names" else "generic", attribute]
    sentences = sentences[sentences["suite"].isin(suites) & sentences["label"].isin(classes)]
    product = sentences.merge(people, how="cross")
    forms = people.columns.drop(["group", "term"])
    product["text"] = [
        fill(text, dict(zip(forms, words, strict=True)))
        for text, *words in product[["text", *forms]].itertuples(index=False)
    ]
    return product.assign(attribute=attribute)[["attribute", "source", "group", "term", "label", "text"]]


def ner_suite() -> pd.DataFrame:
    """Return the 22 sentences for named-entity recognition, each filled with every country, one row per token.

    Columns: source, group, term, position (from 0), token, slot (whether the token is part of the filled country),
    label (BILOU tag). A country of one token is U-LOC, of two B-LOC L-LOC; its article is O.
    """
    rows = []
    for source, tokens, tags in _read("ner.csv").itertuples(index=False):
        pairs = list(zip(tokens.split(), tags.split(), strict=True))
        for group, term, country in terms("nationality")[["group", "term", "country"]].itertuples(index=False):
            words = [word for token, tag in pairs for word in _fill_token(token, tag, country)]
            rows += [(source, group, term, position, *word) for position, word in enumerate(words)]
    table = pd.DataFrame(rows, columns=["source", "group", "term", "position", "token", "slot", "label"])
    first = table["position"] == 0
    table.loc[first, "token"] = table.loc[first, "token"].str[:1].str.upper() + table.loc[first, "token"].str[1:]
    return table


def terms(attribute: str) -> pd.DataFrame:
    """Return an attribute's identity terms: group, term, and the forms that fill its slots.

    The forms are person (for names), adjective, noun, nouns (explicit terms), and country too (for nationality).
    """
    if attribute not in ATTRIBUTES:
        raise ValueError(f"attribute must be one of {', '.join(ATTRIBUTES)}, found {attribute!r}")
    if attribute == "names":
        return _read("names.csv").assign(term=lambda table: table["person"])[["group", "term", "person"]]
    if attribute == "nationality":
        table = _read("countries.csv")
        table["term"] = table["country"].str.removeprefix("the ")
        table = table.assign(noun=table["adjective"] + " citizen", nouns=table["adjective"] + " citizens")
        return table[["group", "term", "adjective", "noun", "nouns", "country"]]
    table = _read("terms.csv")
    table = table[table["attribute"] == attribute].reset_index(drop=True)
    return table.assign(term=table["adjective"])[["group", "term", "adjective", "noun", "nouns"]]


def fill(template: str, forms: Mapping[str, str]) -> str:
    """Return the sentence that `template` becomes with these forms of an identity term.

    >>> fill("{a adjective nurse} met {a noun}.", {"adjective": "Asian", "noun": "Asian person"})
    'An Asian nurse met an Asian person.'
    >>> fill("{adjective nurses} met.", {"adjective": "with epilepsy"})
    'Nurses with epilepsy met.'
    """

    def phrase(slot: re.Match) -> str:
        if slot["form"] not in forms:
            raise ValueError(f"template {template!r} needs the form {slot['form']!r}, found {', '.join(forms)}")
        words = forms[slot["form"]]
        if slot["head"]:
            words = f"{slot['head']} {words}" if words.split()[0] in AFTER_THE_NOUN else f"{words} {slot['head']}"
        return f"{article(words)} {words}" if slot["article"] else words

    sentence = SLOT.sub(phrase, template)
    if "{" in sentence or "}" in sentence:
        raise ValueError(f"template {template!r} has a slot that is not of the form {SLOT.pattern}")
    return sentence[:1].upper() + sentence[1:]


def article(words: str) -> str:
    """Return "a" or "an", by the sound of the first word: a Ugandan, an AFAB person. Made for these suites."""
    start = words.lower()
    return "an" if start[0] in "aeiou" and not start.startswith(SPOKEN_CONSONANT) else "a"


def invariance(
    predictions: pd.DataFrame,
    *,
    by: str | Sequence[str] = (),
    reference: str | None = None,
    tolerance: float = 0.0,
    group: str = "group",
    term: str = "term",
    source: str = "source",
    prediction: str = "prediction",
    probability: str = "p_{}",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How often does a prediction change when nothing but the identity term changes?

    A source fails for a group when the prediction with *any* of the group's terms differs from the source's reference
    prediction: the one with the term `reference`, as CheckList has it, or by default the most frequent prediction over
    the source's terms (of equally frequent ones the first in sorted order). In the row "accumulated" a source fails
    when its predictions are not all equal, whatever the reference. A failure rate grows with the number of terms, so
    groups with few terms look better; `changed` does not: the share of a group's terms whose prediction differs.

    predictions : one row per source and term.
    by : columns to report separately, such as "attribute" or ["system", "attribute"].
    tolerance : a change counts only if the probability of the reference prediction, in the column that `probability`
        names with the class, moved by more than this too. CheckList's sentiment tests take 0.1 and a reference term.
    Returns one row per group: the columns of `by`, group, terms, sources, failures, failure_rate with low and high,
    changed with changed_low and changed_high. Intervals are Wilson's over sources, the sample here; for `changed`,
    whose variance over sources cannot exceed that of a proportion, they are conservative.

    Reference: Ribeiro et al. (2020), "invariance test" (INV); Wilson (1927).
    """
    by = [by] if isinstance(by, str) else list(by)
    _check(predictions, [*by, group, term, source, prediction], group, reference, tolerance, confidence)
    _check_cells(predictions, by, [source, group, term], reference)
    predictions = predictions.astype({source: object, prediction: object})  # pandas maps categories to wrong ones
    tables = []
    for key, part in predictions.groupby(by, observed=True) if by else [((), predictions)]:
        expected = _reference_rows(part, reference, source, term, prediction)
        differs = part[prediction] != part[source].map(expected[prediction])
        if tolerance:
            differs &= _movement(part, expected, source, prediction, probability) > tolerance
        wide = part.assign(_differs=differs).pivot(index=source, columns=[group, term], values="_differs")
        tables.append(_rates(wide.astype(bool), group).assign(**dict(zip(by, key, strict=True))))
    table = pd.concat(tables, ignore_index=True)
    for rate, low, high in (("failure_rate", "low", "high"), ("changed", "changed_low", "changed_high")):
        count, n = table[rate] * table["sources"], table["sources"]
        table[low], table[high] = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    table["failures"] = (table["failure_rate"] * table["sources"]).round().astype(int)
    ends = ["failures", "failure_rate", "low", "high", "changed", "changed_low", "changed_high"]
    return table[[*by, "group", "terms", "sources", *ends]]


def _reference_rows(part, reference, source, term, prediction) -> pd.DataFrame:
    """Return, indexed by source, what every prediction of the source is compared with."""
    if reference is None:
        return pd.crosstab(part[source], part[prediction]).idxmax(axis=1).to_frame(prediction)
    return part[part[term] == reference].set_index(source)


def _movement(part, expected, source, prediction, probability) -> np.ndarray:
    """Return for each row how far the probability of its source's reference prediction moved from the reference's."""
    columns = {name: probability.format(name) for name in expected[prediction].unique()}
    if missing := [column for column in columns.values() if column not in part]:
        raise ValueError(f"predictions must have the column(s) {', '.join(missing)}; found {', '.join(part)}")
    compared = expected.loc[part[source]]
    moved = np.full(len(part), np.nan)
    for name, column in columns.items():
        rows = (compared[prediction] == name).to_numpy()
        moved[rows] = np.abs(part[column].to_numpy()[rows] - compared[column].to_numpy()[rows])
    return moved


def _rates(differs: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return terms, sources, failure_rate and changed per group; `differs` is sources x (group, term)."""
    per_group = differs.T.groupby(level=group, sort=False)
    failure_rate, changed = per_group.any().mean(axis=1), per_group.mean().mean(axis=1)
    rows = pd.DataFrame({"terms": per_group.size(), "failure_rate": failure_rate, "changed": changed})
    rows.loc["accumulated"] = [differs.shape[1], differs.any(axis=1).mean(), differs.to_numpy().mean()]
    return rows.astype({"terms": int}).assign(sources=len(differs)).rename_axis("group").reset_index()


def _check(predictions, columns, group, reference, tolerance, confidence) -> None:
    """Raise `ValueError` for arguments and columns that the test is not defined on."""
    if missing := [name for name in columns if name not in predictions]:
        raise ValueError(f"predictions must have the column(s) {', '.join(missing)}; found {', '.join(predictions)}")
    if predictions.empty:
        raise ValueError("predictions must have at least one row, found none")
    if empty := [name for name in columns if predictions[name].isna().any()]:
        raise ValueError(f"column(s) {', '.join(empty)} must not have missing values")
    if (predictions[group] == "accumulated").any():
        raise ValueError(f"column {group!r} must not have the value 'accumulated', the name of the total")
    if not 0 <= tolerance < 1 or (tolerance and reference is None):
        raise ValueError(f"tolerance must be in [0, 1), and 0 without a reference term, found {tolerance}")
    check_confidence(confidence)


def _check_cells(predictions, by, cell, reference) -> None:
    """Raise `ValueError` unless every source of a part has every term of the part once, and one reference."""
    source, _, term = cell
    if (repeats := predictions.duplicated([*by, *cell]).sum()) > 0:
        raise ValueError(f"each {source} must have each {term} once, found {repeats} repeated; name `by` columns?")
    for key, part in predictions.groupby(by, observed=True) if by else [((), predictions)]:
        terms = part[cell[1:]].drop_duplicates()
        if reference is not None and (found := (terms[term] == reference).sum()) != 1:
            where = f" of {', '.join(map(str, key))}" if by else ""
            raise ValueError(
                f"reference must be a value of column {term!r} in one group{where}, found {reference!r} in {found}"
            )
        counts = part.groupby(source, observed=True).size()
        lacking = counts.index[counts < len(terms)]
        if len(lacking):
            raise ValueError(
                f"every {source} must have every {term}; {len(lacking)} lack one, among them {lacking[0]!r}"
            )


def _fill_token(token: str, tag: str, country: str) -> list[tuple[str, bool, str]]:
    """Return the (token, slot, tag) rows that one token of a template becomes."""
    if token != "{country}":
        return [(token, False, tag)]
    entity = tag.removeprefix("U-")
    words = country.split()
    before = [(words.pop(0), False, "O")] if words[0] == "the" else []
    places = ["U"] if len(words) == 1 else ["B", *"I" * (len(words) - 2), "L"]
    return before + [(word, True, f"{place}-{entity}") for word, place in zip(words, places, strict=True)]


def _read(name: str) -> pd.DataFrame:
    return _read_once(name).copy()


@cache
def _read_once(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name, keep_default_na=False)
