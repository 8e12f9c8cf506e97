"""Suites are built as the paper's code builds them.

They are built from a small example here, and from the released files where they are.

What is released is not part of the project: those tests are skipped without it.
"""

import re

import numpy as np
import pandas as pd
import pytest

from fairlib.metrics import sequences
from fairlib.recipes import originals, suites, templates

# Table 3 of the paper, typed from the paper; nationality by six quantiles, names by the
# two typical genders.
GROUPS = {
    "gender": "aab female male cis many-genders no-gender non-binary trans",
    "sexual_orientation": "asexual homosexual heterosexual bisexual other",
    "religion": "atheism buddhism baha'i-faith christianity hinduism islam judaism "
    "mormonism sikhism taoism",
    "race": "african_american american_indian asian hispanic pacific_islander white",
    "age": "young adult old",
    "disability": "cerebral_palsy chronic_illness cognitive down_syndrome epilepsy "
    "hearing mental_health mobility physical short_stature sight unspecified without",
    "nationality": "1q 2q 3q 4q 5q 6q",
    "names": "female male",
}
released = pytest.mark.skipif(
    not all(
        originals.at_hand(file)
        for path, file in suites.ORIGINALS.items()
        if path != suites.LEXICON
    ),
    reason="the released templates and terms are not at hand "
    "(generalized/ in the folder of genuine files)",
)
GENUINE = [
    pytest.param(False, id="example"),
    pytest.param(True, id="released", marks=released),
]


@pytest.fixture(scope="module")
def suite_of():
    made = {}

    def build(attribute, genuine):
        if (attribute, genuine) not in made:
            made[attribute, genuine] = suites.suite(attribute, genuine=genuine)
        return made[attribute, genuine]

    return build


@released
@pytest.mark.parametrize("attribute", GROUPS)
def test_groups_and_templates_are_those_of_the_paper(attribute, suite_of):
    suite = suite_of(attribute, True)
    assert set(suite["group"]) == {
        group.replace("_", " ") for group in GROUPS[attribute].split()
    }
    sources = suite.drop_duplicates("source")
    assert sources["label"].value_counts().to_dict() == {
        "negative": 20,
        "neutral": 20,
        "positive": 20,
    }
    own = ~sources["source"].str.startswith("generic")
    assert own.sum() == {"names": 60, "disability": 31}.get(attribute, 30)


@released
def test_terms_of_the_released_suites_are_those_of_table_4(suite_of):
    """Identity terms of Table 4 by group; its "female (n)" is a term of its own."""
    gender = suite_of("gender", True).groupby("group")["term"].agg(set)
    assert gender["aab"] == {
        "AMAB",
        "AFAB",
        "DFAB",
        "DMAB",
        "female-assigned",
        "male-assigned",
    }
    assert gender["female"] == {"female", "female (noun)", "woman"}
    assert gender["male"] == {"male", "male (noun)", "man"}
    assert gender["no-gender"] == {"agender", "agendered", "genderless"}
    assert len(gender["many-genders"]) == 12
    names = suite_of("names", True).groupby(["source", "group"]).size()
    assert (
        names == 100
    ).all()  # 20 templates a class: the 2,000 of the authors' own counts


@pytest.mark.parametrize("genuine", GENUINE)
@pytest.mark.parametrize("attribute", GROUPS)
def test_every_source_has_every_group_once_per_term_and_no_open_slot(
    attribute, genuine, suite_of
):
    suite = suite_of(attribute, genuine)
    assert not suite.duplicated(["source", "group", "term"]).any()
    assert (
        suite["label"].isin(templates.CLASSES).all()
        and not suite["text"].str.contains("[{}]").any()
    )
    if genuine:  # the example has too few terms for that
        groups = suite.groupby("source")["group"].nunique()
        assert (groups == suite["group"].nunique()).all()
    article = suite["text"].str.extractall(r"(?P<article>\b[Aa]n?) (?P<letter>\w)")
    filled = article[article["letter"].str.lower().isin([*"bcdfgjklmnpqrstvwxyz"])]
    assert not filled["article"].str.lower().eq("an").any()


def test_terms_fill_the_slots_of_their_part_of_speech():
    def words(attribute, slot):
        found = suites.fillers(attribute)
        return found[found["slot"] == slot].set_index("term")["words"].to_dict()

    assert words("sexual_orientation", "identity_adj") == {
        name: name for name in ("gay", "straight", "bisexual")
    }
    people = words("sexual_orientation", "identity_np")
    assert people["gay"] == "gay person" and people["gay (noun)"] == "gay"
    # Listed twice, filled once.
    assert words("gender", "identity_np")["trans woman"] == "trans woman"
    assert "genderfluid" not in words("gender", "identity_adj")  # has no group
    assert set(words("age", "identity_np")) == {
        "young",
        "teenage",
        "middle aged",
        "elderly",
    }  # adjectives only
    disability = words("disability", "disability_friend")
    assert (
        disability["deaf"] == "deaf friend"
        and disability["with epilepsy"] == "friend with epilepsy"
    )
    assert "wheelchair user" not in disability and "wheelchair user" in words(
        "disability", "disability_np"
    )
    assert "handicapped" not in words("disability", "identity_np")  # not recommended
    assert words("religion", "religion") == {"Islam": "Islam", "Judaism": "Judaism"}
    assert words("religion", "person")["Muslim (noun)"] == "Muslim"
    # As the released code writes it.
    assert words("nationality", "country_adj")["New Zealand"] == "New-Zealand"


def test_countries_are_cut_into_sixths_of_total_product_from_the_smallest():
    groups = (
        suites.fillers("nationality")
        .query("slot == 'country'")
        .set_index("term")["group"]
    )
    assert (
        groups["Tuvalu"] == "1q" and groups["United States"] == groups["India"] == "6q"
    )
    assert "Somalia" not in groups and groups.value_counts().between(2, 3).all()


@released
def test_the_released_countries_begin_with_the_smallest_economies():
    groups = (
        suites.fillers("nationality", genuine=True)
        .query("slot == 'country'")
        .set_index("term")["group"]
    )
    assert len(groups) == 187 and groups.value_counts().to_dict() == {"1q": 32} | {
        f"{q}q": 31 for q in range(2, 7)
    }
    assert set(groups[["Tuvalu", "Nauru", "Palau", "Saint Lucia"]]) == {"1q"}
    assert set(groups[["United States", "China", "India", "Germany"]]) == {"6q"}


def test_fill_writes_articles_and_capitals_as_the_released_code_does():
    assert (
        suites.fill("{Identity_adj} people met.", "middle aged")
        == "Middle aged people met."
    )
    # By letter.
    assert (
        suites.fill("I am {a:identity_np}.", "European person")
        == "I am an European person."
    )
    assert suites.fill("Alex was raised {a:person}.", "Jew") == "Alex was raised a Jew."


def test_what_is_wrong_is_named(monkeypatch):
    for call in (suites.suite, suites.fillers):
        with pytest.raises(
            ValueError, match=r"attribute must be one of names, gender, .* found 'hair'"
        ):
            call("hair")
    read = suites._read
    monkeypatch.setattr(
        suites, "_read", lambda *args: read(*args).assign(TEMPLATE="no slot at all")
    )
    with pytest.raises(ValueError, match="must have one slot, found 'no slot at all'"):
        suites.suite("age")


# --- named entities ---


@released
def test_there_are_22_templates_for_named_entities_of_which_two_hold_an_adjective():
    suite = suites.ner_suite(genuine=True)
    assert suite["source"].nunique() == 22
    kinds = (
        suite[suite["slot"]]
        .groupby("source")["label"]
        .agg(lambda tags: tags.iloc[0][2:])
    )
    assert kinds.value_counts().to_dict() == {"LOC": 20, "ORG": 1, "MISC": 1}
    assert (
        suite[suite["label"].str.endswith("LOC")]
        .groupby("source")["term"]
        .nunique()
        .eq(187)
        .all()
    )


@pytest.mark.parametrize("genuine", GENUINE)
def test_entity_tags_are_well_formed_and_cover_the_slot(genuine):
    suite = suites.ner_suite(genuine=genuine)
    sentence = suite.groupby(["source", "group", "term"], sort=False).ngroup()
    assert (suite["position"] == suite.groupby(sentence).cumcount()).all()
    for column in ("label", "released"):
        sequences.from_tags(suite[column], sentence, strict=column == "label")
    country = suite[suite["slot"] & suite["label"].str.endswith("LOC")]
    names = country.groupby(["source", "term"])["token"].agg("".join)
    assert (names == names.index.get_level_values("term").str.replace(" ", "")).all()
    # Outside the slot the tags of a template do not depend on the country.
    rest = suite[~suite["slot"]].groupby(["source", "term"])["label"].agg(" ".join)
    assert rest.groupby("source").nunique().max() == 1


def test_the_released_labels_differ_where_a_slot_with_a_capital_takes_several_tokens():
    suite = suites.ner_suite()
    by_sentence = suite.groupby(["source", "term"])[["token", "label", "released"]].agg(
        " ".join
    )
    capital = by_sentence.loc["nationality/03", "New Zealand"]
    assert capital["token"] == "New Zealand will play against Peru on Sunday ."
    assert capital["label"] == "B-LOC L-LOC O O O U-LOC O O O"
    assert capital["released"] == "U-LOC O O O U-LOC O O O O"
    differs = (
        (by_sentence["label"] != by_sentence["released"])
        .groupby(["source", "term"])
        .any()
    )
    several = suite[suite["slot"]].groupby(["source", "term"]).size() > 1
    begins = np.isin(
        several.index.get_level_values("source"), ["nationality/03", "nationality/05"]
    )
    assert (differs == (several & begins)).all()


def test_entities_that_a_template_lacks_are_named(monkeypatch):
    read = suites._read
    monkeypatch.setattr(
        suites, "_read", lambda *args: read(*args).assign(NER="Narnia:U-LOC")
    )
    with pytest.raises(ValueError, match="lacks the token 'Narnia'"):
        suites.ner_suite()


def test_tokens_are_split_at_hyphens_and_before_a_possessive():
    assert suites.TOKEN.findall("Guinea-Bissau's Côte d'Ivoire!") == [
        *("Guinea", "-", "Bissau", "'s", "Côte", "d'Ivoire", "!")
    ]


def test_no_sentence_of_the_example_is_unfinished():
    texts = pd.concat([suites.suite(attribute) for attribute in GROUPS])["text"]
    assert texts.map(
        lambda text: bool(re.fullmatch(r"[A-Z][^.!?{}]*[.!?]", text))
    ).all()
