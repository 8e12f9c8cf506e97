"""The suites are complete, balanced and grammatical in every filled form."""

import re

import numpy as np
import pandas as pd
import pytest

from fairlib.metrics import templates
from fairlib.recipes import suites

# Table 3 of the paper, typed from the paper; nationality by six quantiles, names by the two typical genders.
GROUPS = {
    "gender": "aab female male cis many-genders no-gender non-binary trans",
    "sexual_orientation": "asexual homosexual heterosexual bisexual other",
    "religion": "atheism buddhism baha'i-faith christianity hinduism islam judaism mormonism sikhism taoism",
    "race": "african_american american_indian asian hispanic pacific_islander white",
    "age": "young adult old",
    "disability": "cerebral_palsy chronic_illness cognitive down_syndrome epilepsy hearing mental_health mobility "
    "physical short_stature sight unspecified without",
    "nationality": "1q 2q 3q 4q 5q 6q",
    "names": "female male",
}
# Every word that follows "an" in some sentence. Anything else that follows an article must follow "a".
AFTER_AN = {
    *("AMAB", "AFAB", "ambigender", "androgynous", "intersex", "agender", "asexual", "atheist", "Orthodox", "African"),
    *("American", "Alaska", "Asian", "adult", "old", "older", "elderly", "Algerian", "Angolan", "Argentine", "Afghan"),
    *("Egyptian", "Ethiopian", "Indian", "Indonesian", "Iranian", "Iraqi", "Italian", "intellectual", "able-bodied"),
    *("appointment", "apartment", "electrician", "office", "amazing"),
}


@pytest.fixture(scope="module")
def everything():
    return pd.concat([suites.suite(attribute) for attribute in templates.ATTRIBUTES], ignore_index=True)


def test_groups_are_those_of_table_3():
    assert set(GROUPS) == set(templates.ATTRIBUTES)
    for attribute, groups in GROUPS.items():
        expected = {group.replace("_", " ") for group in groups.split()}
        assert set(suites.suite(attribute)["group"]) == expected, attribute


def test_every_suite_has_sixty_templates_balanced_over_the_classes(everything):
    sources = everything.drop_duplicates(["attribute", "source"])
    counts = pd.crosstab(sources["attribute"], sources["label"])
    assert (counts == 20).all(axis=None) and list(counts) == ["negative", "neutral", "positive"]


def test_thirty_templates_are_shared_by_the_explicit_attributes_and_thirty_are_their_own(everything):
    sets = everything["source"].str.split("/").str[0]
    counts = everything.drop_duplicates(["attribute", "source"]).groupby(["attribute", sets]).size()
    assert (counts == 30).all()
    for attribute in templates.ATTRIBUTES:
        assert set(counts[attribute].index) == {"people" if attribute == "names" else "generic", attribute}


def test_each_suite_is_the_full_product_of_templates_and_terms(everything):
    for attribute, suite in everything.groupby("attribute"):
        cells = suite.groupby(["source", "group", "term"]).size()
        assert (cells == 1).all()
        assert len(cells) == 60 * len(suites.terms(attribute))


def test_no_sentence_occurs_twice_within_an_attribute(everything):
    assert not everything.duplicated(["attribute", "text"]).any()
    assert not everything.drop_duplicates(["source"])["text"].duplicated().any()


def test_every_sentence_is_one_sentence_without_an_open_slot(everything):
    text = everything["text"]
    assert text.str.fullmatch(r"[A-Z][^.!?{}]*[.!?]").all()
    assert not text.str.contains(r"  | [,.]|^ | $").any()


def test_every_article_fits_the_word_that_follows(everything):
    text = " ".join(everything["text"].unique())
    found = set(re.findall(r"\b[Aa]n ([\w'-]+)", text))
    assert found <= AFTER_AN, found - AFTER_AN
    after_a = set(re.findall(r"\b[Aa] ([\w'-]+)", text))
    assert not after_a & AFTER_AN
    # Words that begin with a vowel letter but are spoken with a consonant.
    assert {word for word in after_a if word[0].lower() in "aeiou"} <= {"Ugandan", "Ukrainian", "European", "useful"}


def test_verbs_agree_with_the_slot():
    """The words that follow a slot, read one by one: no plural slot has a singular verb, nor the other way round."""
    table = pd.read_csv(suites.FOLDER / "sentiment.csv")
    slot = r"(?P<before>\w*) ?\{(?:a )?(?P<form>\w+) ?(?P<head>\w*)\},? (?:still )?(?P<next>\w+)"
    slots = table["text"].str.extract(slot).dropna()
    slots = slots[
        ~slots["before"].isin(["for", "by", "of", "in", "with", "on", "to"])
    ]  # there another word is the subject
    plural = slots["form"].eq("nouns") | slots["head"].str.fullmatch(r"\w*[^s]s")
    singular_verbs = {
        "is",
        "was",
        "has",
        "takes",
        "lives",
        "works",
        "teaches",
        "writes",
        "spreads",
        "meets",
        "posts",
        "uses",
    }
    plural_verbs = {"are", "were", "have", "hide", "live", "face", "lead", "achieve", "enjoy", "feel"}
    assert plural.sum() >= 30 and (~plural).sum() >= 150
    assert not set(slots.loc[plural, "next"]) & singular_verbs
    assert not set(slots.loc[~plural, "next"]) & plural_verbs
    assert set(slots.loc[plural, "next"]) & plural_verbs >= {"are", "were", "have"}  # the pattern sees verbs


def test_plural_forms_are_plural():
    irregular = {"woman": "women", "man": "men"}
    for attribute in GROUPS.keys() - {"names"}:
        for row in suites.terms(attribute).itertuples():
            expected = irregular.get(row.noun)
            if expected is None:
                head, *rest = re.split(r"(?<=person)", row.noun, maxsplit=1)
                expected = head.replace("person", "people") + "".join(rest) if "person" in row.noun else row.noun + "s"
            assert row.nouns == expected


def test_slots_do_not_take_a_described_form_that_comes_after_the_noun_twice():
    forms = {"adjective": "with epilepsy", "noun": "person with epilepsy"}
    assert (
        suites.fill("{a adjective engineer} is {a noun}.", forms)
        == "An engineer with epilepsy is a person with epilepsy."
    )


def test_fill_says_which_form_or_slot_is_wrong():
    with pytest.raises(ValueError, match="needs the form 'country', found noun"):
        suites.fill("I live in {country}.", {"noun": "woman"})
    with pytest.raises(ValueError, match="a slot that is not"):
        suites.fill("I met {an noun}.", {"noun": "woman"})


@pytest.mark.parametrize("call", [lambda: suites.suite("hair"), lambda: suites.terms("hair")])
def test_an_unknown_attribute_is_named(call):
    with pytest.raises(ValueError, match=r"attribute must be one of names, gender, .* found 'hair'"):
        call()


def test_a_suite_may_be_changed_without_changing_the_next():
    forms = suites.terms("age")
    forms["noun"] = "changed"
    assert not suites.terms("age")["noun"].eq("changed").any()
    assert not suites.suite("age")["text"].str.contains("changed").any()


def test_countries_are_in_the_order_of_their_figures():
    table = pd.read_csv(suites.FOLDER / "countries.csv")
    per_head = 1e6 * table["gdp_million_usd"] / table["population"]
    assert np.abs(per_head - table["gdp_per_head_usd"]).max() <= 0.5
    assert per_head.is_monotonic_decreasing and table["group"].is_monotonic_increasing
    assert (table["group"].value_counts() == 8).all()


# --- named entities ---------------------------------------------------------------------------------------------------


def test_ner_suite_has_22_sentences_per_country_with_one_slot_each():
    suite = suites.ner_suite()
    sentences = suite.groupby(["source", "term"])
    assert suite["source"].nunique() == 22 and len(sentences) == 22 * 48
    assert (suite["position"] == sentences.cumcount()).all()
    filled = suite[suite["slot"]].groupby(["source", "term"])["token"].agg(" ".join)
    assert (filled == filled.index.get_level_values("term")).all()


def test_ner_tags_are_well_formed_bilou():
    suite = suites.ner_suite()
    pattern = re.compile(r"((O|U-(\w+)|B-(\w+) (I-\4 )*L-\4) )*")
    for _, tags in suite.groupby(["source", "term"])["label"]:
        assert pattern.fullmatch(" ".join(tags) + " ")
    assert set(suite.loc[suite["slot"], "label"]) == {"U-LOC", "B-LOC", "L-LOC"}
    # Outside the slot the tags of a template do not depend on the country, but for its article.
    rest = suite[~suite["slot"] & ~suite["token"].str.lower().eq("the")]
    assert rest.groupby(["source", "term"])["label"].agg(" ".join).groupby("source").nunique().max() == 1


def test_every_ner_sentence_begins_with_a_capital_and_ends_with_a_full_stop():
    sentences = suites.ner_suite().groupby(["source", "term"])["token"].agg(" ".join)
    assert sentences.str.fullmatch(r"[A-Z].* \.").all() and not sentences.str.contains(r"[{}]|  ").any()
    with_article = sentences[sentences.str.contains("[Tt]he (?:United|Philippines)")].index
    assert set(with_article.get_level_values("term")) == {"United States", "United Kingdom", "Philippines"}
    assert len(with_article) == 22 * 3
