"""The word lists, on sentences written for this test."""

import pandas as pd
import pytest

from fairlib.recipes import caption_words as captions

GENDERS = [
    ("a man holding an umbrella", True, False),
    ("two women at a table", False, True),
    ("A Woman and a boy on a bench.", True, True),
    ("a person riding a wave", False, False),
    ("a human being near a mankind museum", False, False),  # whole words only
    ("a groom and his bride", True, True),
    ("a dog next to her bowl", False, False),  # possessives do not count
    ("a female tennis player in action", False, True),
    ("a child brushing himself", True, False),
]


@pytest.mark.parametrize(("sentence", "man", "woman"), GENDERS)
def test_gender_words(sentence, man, woman):
    found = captions.read_gender(pd.Series([sentence])).iloc[0]
    assert (found["man"], found["woman"]) == (man, woman)


OBJECTS = [
    ("a man eating a hot dog", {"hot_dog"}),
    ("a dog watching two hot dogs", {"hot_dog", "dog"}),
    ("a woman slicing a carrot in her car", {"car"}),
    ("racquets and rackets on the court", {"tennis_racket"}),
    ("a plate of doughnuts", {"donut"}),
    ("glasses of wine on a wooden table", {"wine_glass", "dining_table"}),
    ("a man on a dirt bike", {"motorcycle"}),
    ("a woman riding a bike past buses", {"bicycle", "bus"}),
    ("knives in the kitchen sink", {"knife", "sink"}),
    ("a boy with a game controller", {"remote"}),
    ("people walking up a ski slope", set()),
    ("a man catching a train in the bedroom", {"train"}),
    ("a man in a suit and tie with a cellphone", {"tie", "cell_phone"}),
    ("a baseball player swinging a bat", {"baseball_bat"}),
    ("a teddy bear in bed", {"teddy_bear", "bed"}),
]
NAMES = sorted(
    {name for _, names in OBJECTS for name in names}
    | {"skis", "bear", "potted_plant"} - {"bear"}
)


@pytest.mark.parametrize(("sentence", "names"), OBJECTS)
def test_object_words(sentence, names):
    found = captions.read_objects(pd.Series([sentence]), NAMES).iloc[0]
    assert set(found.index[found]) == names


def test_every_word_is_found_alone_and_columns_keep_their_order():
    for name, words in captions.OBJECT_WORDS.items():
        assert captions.read_objects(
            pd.Series([f"a {word} here" for word in words]), [name]
        )[name].all(), name
    for gender, words in captions.GENDER_WORDS.items():
        assert captions.read_gender(pd.Series([f"a {word} here" for word in words]))[
            gender
        ].all(), gender
    assert list(captions.read_objects(pd.Series(["x"]), ["tie", "bed"])) == [
        "tie",
        "bed",
    ]


def test_a_missing_caption_does_not_count_as_one_that_names_nobody():
    with pytest.raises(ValueError, match="captions must be texts, found 1 missing"):
        captions.read_gender(pd.Series(["a man", None]))


RELEASED_GENDERS = [
    ("a man holding an umbrella", True, False),
    ("Two women, at a table.", False, True),
    ("a lady and a boy", True, True),
    ("a groom and some girls", False, False),  # five words a gender, whole
    ("a human near a mankind museum", False, False),
]


@pytest.mark.parametrize(("sentence", "man", "woman"), RELEASED_GENDERS)
def test_genders_by_the_rule_of_the_released_script(sentence, man, woman):
    table = captions.read_gender_as_released(pd.Series([sentence]))
    assert table.loc[0, ["man", "woman"]].tolist() == [man, woman]


RELEASED_OBJECTS = [
    ("a woman slicing a carrot", set()),
    ("a carrot in her car", {"car"}),
    ("a scar on a hot dog", {"hot_dog", "car"}),
    ("hot dogs, and a dog", {"hot_dog", "dog"}),
    ("a woman located in a church", {"cat"}),  # a part of another word
    ("a boy at bedtime", {"bed"}),
    ("a man in neckties", {"tie"}),
    ("he puts it in a cell-phone", {"cell_phone"}),  # without punctuation
    ("look at veg", {"tv"}),  # over the space between two words
    ("a doughnut", set()),  # no other names of an object
]
RELEASED_NAMES = ["car", "dog", "hot_dog", "cat", "bed", "tie", "cell_phone", "tv"]


@pytest.mark.parametrize(("sentence", "names"), RELEASED_OBJECTS)
def test_objects_by_the_rule_of_the_released_script(sentence, names):
    objects = [*RELEASED_NAMES, "donut"]
    table = captions.read_objects_as_released(pd.Series([sentence]), objects)
    assert set(table.columns[table.iloc[0]]) == names
