"""The suites are complete, balanced and grammatical in every filled form; the invariance test counts what it says."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from fairlib import templates

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
    return pd.concat([templates.suite(attribute) for attribute in templates.ATTRIBUTES], ignore_index=True)


def test_groups_are_those_of_table_3():
    assert set(GROUPS) == set(templates.ATTRIBUTES)
    for attribute, groups in GROUPS.items():
        expected = {group.replace("_", " ") for group in groups.split()}
        assert set(templates.suite(attribute)["group"]) == expected, attribute


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
        assert len(cells) == 60 * len(templates.terms(attribute))


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
    table = pd.read_csv(templates.FOLDER / "sentiment.csv")
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
        for row in templates.terms(attribute).itertuples():
            expected = irregular.get(row.noun)
            if expected is None:
                head, *rest = re.split(r"(?<=person)", row.noun, maxsplit=1)
                expected = head.replace("person", "people") + "".join(rest) if "person" in row.noun else row.noun + "s"
            assert row.nouns == expected


def test_slots_do_not_take_a_described_form_that_comes_after_the_noun_twice():
    forms = {"adjective": "with epilepsy", "noun": "person with epilepsy"}
    assert (
        templates.fill("{a adjective engineer} is {a noun}.", forms)
        == "An engineer with epilepsy is a person with epilepsy."
    )


def test_fill_says_which_form_or_slot_is_wrong():
    with pytest.raises(ValueError, match="needs the form 'country', found noun"):
        templates.fill("I live in {country}.", {"noun": "woman"})
    with pytest.raises(ValueError, match="a slot that is not"):
        templates.fill("I met {an noun}.", {"noun": "woman"})


def test_two_classes_leave_out_the_neutral_templates():
    suite = templates.suite("age", classes=("negative", "positive"))
    assert set(suite["label"]) == {"negative", "positive"} and suite["source"].nunique() == 40


@pytest.mark.parametrize("call", [lambda: templates.suite("hair"), lambda: templates.terms("hair")])
def test_an_unknown_attribute_is_named(call):
    with pytest.raises(ValueError, match=r"attribute must be one of names, gender, .* found 'hair'"):
        call()


def test_an_unknown_class_is_named():
    with pytest.raises(ValueError, match="classes must be among negative, neutral, positive, found happy"):
        templates.suite("age", classes=("happy",))


def test_a_suite_may_be_changed_without_changing_the_next():
    forms = templates.terms("age")
    forms["noun"] = "changed"
    assert not templates.terms("age")["noun"].eq("changed").any()
    assert not templates.suite("age")["text"].str.contains("changed").any()


def test_countries_are_in_the_order_of_their_figures():
    table = pd.read_csv(templates.FOLDER / "countries.csv")
    per_head = 1e6 * table["gdp_million_usd"] / table["population"]
    assert np.abs(per_head - table["gdp_per_head_usd"]).max() <= 0.5
    assert per_head.is_monotonic_decreasing and table["group"].is_monotonic_increasing
    assert (table["group"].value_counts() == 8).all()


# --- named entities ---------------------------------------------------------------------------------------------------


def test_ner_suite_has_22_sentences_per_country_with_one_slot_each():
    suite = templates.ner_suite()
    sentences = suite.groupby(["source", "term"])
    assert suite["source"].nunique() == 22 and len(sentences) == 22 * 48
    assert (suite["position"] == sentences.cumcount()).all()
    filled = suite[suite["slot"]].groupby(["source", "term"])["token"].agg(" ".join)
    assert (filled == filled.index.get_level_values("term")).all()


def test_ner_tags_are_well_formed_bilou():
    suite = templates.ner_suite()
    pattern = re.compile(r"((O|U-(\w+)|B-(\w+) (I-\4 )*L-\4) )*")
    for _, tags in suite.groupby(["source", "term"])["label"]:
        assert pattern.fullmatch(" ".join(tags) + " ")
    assert set(suite.loc[suite["slot"], "label"]) == {"U-LOC", "B-LOC", "L-LOC"}
    # Outside the slot the tags of a template do not depend on the country, but for its article.
    rest = suite[~suite["slot"] & ~suite["token"].str.lower().eq("the")]
    assert rest.groupby(["source", "term"])["label"].agg(" ".join).groupby("source").nunique().max() == 1


def test_every_ner_sentence_begins_with_a_capital_and_ends_with_a_full_stop():
    sentences = templates.ner_suite().groupby(["source", "term"])["token"].agg(" ".join)
    assert sentences.str.fullmatch(r"[A-Z].* \.").all() and not sentences.str.contains(r"[{}]|  ").any()
    with_article = sentences[sentences.str.contains("[Tt]he (?:United|Philippines)")].index
    assert set(with_article.get_level_values("term")) == {"United States", "United Kingdom", "Philippines"}
    assert len(with_article) == 22 * 3


def test_a_longer_country_gets_inner_tags():
    filled = templates._fill_token("{country}", "U-LOC", "the Republic of Somewhere")
    assert filled == [
        ("the", False, "O"),
        ("Republic", True, "B-LOC"),
        ("of", True, "I-LOC"),
        ("Somewhere", True, "L-LOC"),
    ]


# --- invariance -------------------------------------------------------------------------------------------------------


def _predictions(rows):
    """Return tidy predictions from (source, {(group, term): prediction})."""
    return pd.DataFrame(
        [(source, *key, value) for source, cells in rows for key, value in cells.items()],
        columns=["source", "group", "term", "prediction"],
    )


BY_HAND = _predictions(
    [
        ("s1", {("x", "a"): "+", ("x", "b"): "+", ("y", "c"): "+"}),
        ("s2", {("x", "a"): "+", ("x", "b"): "-", ("y", "c"): "-"}),
        ("s3", {("x", "a"): "-", ("x", "b"): "-", ("y", "c"): "+"}),
        ("s4", {("x", "a"): "+", ("x", "b"): "-", ("y", "c"): "-"}),
    ]
)


def test_invariance_by_hand():
    table = templates.invariance(BY_HAND).set_index("group")
    # Most frequent predictions: + - - -. x fails in s2 and s4 (its term a), y in s3.
    assert table["failures"].to_dict() == {"x": 2, "y": 1, "accumulated": 3}
    assert table["changed"].to_dict() == {"x": 2 / 8, "y": 1 / 4, "accumulated": 3 / 12}
    assert table["terms"].to_dict() == {"x": 2, "y": 1, "accumulated": 3}
    with_reference = templates.invariance(BY_HAND, reference="a").set_index("group")
    assert with_reference["failures"].to_dict() == {"x": 2, "y": 3, "accumulated": 3}


def test_categories_are_read_as_what_they_say():
    as_text = templates.invariance(BY_HAND, reference="a")
    for column in ("source", "prediction"):
        categories = sorted(set(BY_HAND[column]), reverse=True)
        frame = BY_HAND.astype({"source": "category", "prediction": "category"})
        frame[column] = pd.Categorical(frame[column], categories=categories)
        pd.testing.assert_frame_equal(templates.invariance(frame, reference="a"), as_text)
    constant = BY_HAND.assign(prediction=BY_HAND["source"].map({"s1": "y", "s2": "x", "s3": "w", "s4": "v"}))
    found = templates.invariance(constant.astype({"source": "category", "prediction": "category"}))
    assert (found["failures"] == 0).all()


def test_a_tolerance_forgives_changes_of_small_probability():
    frame = BY_HAND.assign(**{"p_+": [0.6, 0.6, 0.6, 0.6, 0.45, 0.45, 0.1, 0.2, 0.9, 0.6, 0.1, 0.1]})
    frame["p_-"] = 1 - frame["p_+"]
    table = templates.invariance(frame, reference="a", tolerance=0.2).set_index("group")
    # Probability of the reference's class: s2 from .6 to .45, s3 from .9 to .1, s4 from .6 to .1.
    assert table["failures"].to_dict() == {"x": 1, "y": 2, "accumulated": 2}
    strict = templates.invariance(frame, reference="a", tolerance=0.1).set_index("group")
    assert strict["failures"].to_dict() == {"x": 2, "y": 3, "accumulated": 3}


def test_invariance_of_a_constant_model_is_zero_with_an_interval_that_is_not():
    table = templates.invariance(BY_HAND.assign(prediction="+"))
    assert (table[["failure_rate", "changed", "low", "changed_low"]] == 0).all(axis=None)
    z2 = norm.ppf(0.975) ** 2
    np.testing.assert_allclose(table["high"], z2 / (4 + z2))  # Wilson's upper end at 0 of 4


def test_invariance_reports_each_part_separately():
    both = pd.concat([BY_HAND.assign(system="one"), BY_HAND.assign(system="two", prediction="+")])
    table = templates.invariance(both, by="system")
    assert list(table)[:2] == ["system", "group"]
    expected = templates.invariance(BY_HAND)
    pd.testing.assert_frame_equal(table[table["system"] == "one"].drop(columns="system"), expected)
    assert (table.loc[table["system"] == "two", "failures"] == 0).all()


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from("+-0"), min_size=5, max_size=5), min_size=1, max_size=8), st.randoms())
def test_invariance_against_a_loop_and_under_renaming_and_reordering(grid, random):
    keys = [("x", "a"), ("x", "b"), ("y", "c"), ("y", "d"), ("z", "e")]
    frame = _predictions([(index, dict(zip(keys, row, strict=True))) for index, row in enumerate(grid)])
    table = templates.invariance(frame, reference="c").set_index("group")
    for group in "xyz":
        columns = [position for position, key in enumerate(keys) if key[0] == group]
        failed = [any(row[position] != row[2] for position in columns) for row in grid]
        changed = [np.mean([row[position] != row[2] for position in columns]) for row in grid]
        assert table.loc[group, "failures"] == sum(failed)
        assert table.loc[group, "changed"] == pytest.approx(np.mean(changed))
    assert table.loc["accumulated", "failures"] == sum(len(set(row)) > 1 for row in grid)
    order = list(range(len(frame)))
    random.shuffle(order)
    again = templates.invariance(frame.iloc[order].rename(columns={"term": "word"}), term="word", reference="c")
    pd.testing.assert_frame_equal(again.set_index("group").loc[table.index], table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="term"), r"must have the column\(s\) term"),
        (lambda frame: frame.assign(prediction=None), "prediction must not have missing values"),
        (lambda frame: frame.iloc[:0], "at least one row"),
        (lambda frame: pd.concat([frame, frame.head(1)]), "once, found 1 repeated"),
        (lambda frame: frame.iloc[1:], "1 lack one, among them 's1'"),
        (lambda frame: frame.assign(group="accumulated"), "must not have the value 'accumulated'"),
    ],
)
def test_invariance_says_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        templates.invariance(change(BY_HAND))


def test_a_tolerance_needs_a_reference_and_probabilities():
    with pytest.raises(ValueError, match=r"0 without a reference term, found 0.1"):
        templates.invariance(BY_HAND, tolerance=0.1)
    with pytest.raises(ValueError, match=r"must have the column\(s\) p_"):
        templates.invariance(BY_HAND, reference="a", tolerance=0.1)


def test_invariance_names_a_reference_that_is_not_one_term():
    with pytest.raises(ValueError, match="reference must be a value of column 'term' in one group, found 'q' in 0"):
        templates.invariance(BY_HAND, reference="q")
    # Without its reference, every source of a part would count as failed.
    parts = pd.concat([BY_HAND.assign(part="one"), BY_HAND.assign(part="two", term=BY_HAND["term"].str.upper())])
    with pytest.raises(ValueError, match="in one group of two, found 'a' in 0"):
        templates.invariance(parts, by="part", reference="a")
    shared = BY_HAND[BY_HAND["term"] != "b"].assign(term="a")
    with pytest.raises(ValueError, match="in one group, found 'a' in 2"):
        templates.invariance(shared, reference="a")
    with pytest.raises(ValueError, match="confidence must be in"):
        templates.invariance(BY_HAND, confidence=95)
