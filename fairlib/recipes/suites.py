"""Suites of sentences that differ in one identity term only: templates, each filled with every term of an attribute.

Each row of a suite is one sentence: its `source` (the template), the `group` and `term` that fill it, and its `label`.
Slots: {noun} and {nouns} take a noun phrase ("woman", "people with epilepsy"), {adjective nurse} a described noun
("deaf nurse", "nurse with epilepsy"), {person} a first name, {country} a country; {a noun} puts "a" or "an" in front.

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pandas as pd

from fairlib.data import DATA
from fairlib.metrics import spans
from fairlib.metrics.templates import ATTRIBUTES

FOLDER = DATA / "templates"
SLOT = re.compile(r"\{(?P<article>a )?(?P<form>adjective|nouns?|person|country)(?: (?P<head>\w+))?\}")
AFTER_THE_NOUN = ("with", "without", "of", "on", "living", "using")  # "nurse with epilepsy"
SPOKEN_CONSONANT = ("eu", "uga", "ukr", "uni", "one")  # begin with a vowel letter but not with a vowel sound


def suite(attribute: str) -> pd.DataFrame:
    """Return an attribute's 60 templates, each filled with every identity term; the two-class suite has no "neutral".

    Columns: attribute, source, group, term, label, text. Within a source only the identity term differs.

    >>> suite("age").query("term == 'elderly'")["text"].iloc[0]
    'My landlord is an elderly person, and renting that room is a nightmare.'
    """
    people, sentences = terms(attribute), _read("sentiment.csv")
    product = sentences[sentences["suite"].isin(["people" if attribute == "names" else "generic", attribute])]
    product = product.merge(people, how="cross")
    forms = product[people.columns.drop(["group", "term"])].to_dict("records")
    product["text"] = [fill(text, words) for text, words in zip(product["text"], forms, strict=True)]
    return product.assign(attribute=attribute)[["attribute", "source", "group", "term", "label", "text"]]


def ner_suite() -> pd.DataFrame:
    """Return the 22 sentences for named-entity recognition, each filled with every country, one row per token.

    Columns: source, group, term, position (from 0), token, slot (whether the token is part of the filled country),
    label (BILOU tag). A country of one token is U-LOC, of two B-LOC L-LOC; its article is O.
    """
    rows, countries = [], terms("nationality")[["group", "term", "country"]]
    for source, tokens, tags in _read("ner.csv").itertuples(index=False):
        for group, term, country in countries.itertuples(index=False):
            filled = []
            for token, tag in zip(tokens.split(), tags.split(), strict=True):
                if token != "{country}":
                    filled.append((token, False, tag))
                    continue
                if country.startswith("the "):
                    filled.append(("the", False, spans.OUTSIDE))
                words = country.removeprefix("the ").split()
                filled += zip(words, [True] * len(words), spans.fill_slot(tag, len(words)), strict=True)
            rows += [(source, group, term, position, *word) for position, word in enumerate(filled)]
    table = pd.DataFrame(rows, columns=["source", "group", "term", "position", "token", "slot", "label"])
    capital = table["token"].str[:1].str.upper() + table["token"].str[1:]
    return table.assign(token=table["token"].mask(table["position"] == 0, capital))


def terms(attribute: str) -> pd.DataFrame:
    """Return an attribute's identity terms: group, term, and the forms that fill its slots.

    >>> terms("age").iloc[0].to_dict()
    {'group': 'young', 'term': 'young', 'adjective': 'young', 'noun': 'young person', 'nouns': 'young people'}
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
    table = _read("terms.csv").query("attribute == @attribute").reset_index(drop=True)
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
        start = words.lower()  # "a" or "an" by the sound of the first word; made for these suites
        article = "an" if start[0] in "aeiou" and not start.startswith(SPOKEN_CONSONANT) else "a"
        return f"{article} {words}" if slot["article"] else words

    sentence = SLOT.sub(phrase, template)
    if "{" in sentence or "}" in sentence:
        raise ValueError(f"template {template!r} has a slot that is not of the form {SLOT.pattern}")
    return sentence[:1].upper() + sentence[1:]


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name, keep_default_na=False)
