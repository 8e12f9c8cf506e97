"""How a caption is read: the words that name a man, a woman, or one of COCO's objects.

The word lists are the whole method, and can be read here. They are made for the
captions of models trained on COCO, which use some 800 words, in lower case and without
names. A caption's words are matched whole, in singular and plural.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

# Nouns and reflexives that say who is in the picture. Possessives (his, her) are left
# out, since they may speak of another person.
GENDER_WORDS = {
    "man": (
        "man",
        "men",
        "male",
        "males",
        "boy",
        "boys",
        "gentleman",
        "gentlemen",
        "guy",
        "guys",
        "groom",
        "cowboy",
        "himself",
    ),
    "woman": (
        "woman",
        "women",
        "female",
        "females",
        "girl",
        "girls",
        "lady",
        "ladies",
        "bride",
        "herself",
    ),
}

# How captions name COCO's categories, where they use other words than the category's
# own name and its plural.
OBJECT_WORDS = {
    "airplane": ("airplane", "plane", "jet", "jetliner", "biplane"),
    "baseball_bat": ("bat", "baseball bat"),
    "baseball_glove": ("baseball glove", "glove", "mitt"),
    "bicycle": ("bicycle", "bike"),
    "boat": ("boat", "sailboat", "ship"),
    "cell_phone": ("cell phone", "cellphone", "phone", "smartphone"),
    "couch": ("couch", "sofa"),
    "cow": ("cow", "cattle"),
    "cup": ("cup", "mug"),
    "dining_table": ("table",),
    "donut": ("donut", "doughnut"),
    "fire_hydrant": ("hydrant",),
    "handbag": ("handbag", "purse"),
    "knife": ("knife", "knives"),
    "laptop": ("laptop",),
    "motorcycle": ("motorcycle", "motor bike", "dirt bike"),
    "oven": ("oven", "stove"),
    "potted_plant": ("plant",),
    "refrigerator": ("refrigerator", "fridge", "freezer"),
    "remote": ("remote", "controller"),  # COCO labels game controllers as remotes
    "skateboard": ("skateboard", "skate board"),
    "skis": ("skis",),  # "ski" is mostly a slope or a lift
    "sports_ball": ("ball", "basketball"),
    "suitcase": ("suitcase", "luggage", "baggage"),
    "surfboard": ("surfboard", "surf board"),
    "teddy_bear": ("teddy bear", "stuffed animal", "stuffed bear"),
    "tennis_racket": ("racket", "racquet"),
    "tie": ("tie", "necktie"),
    "toothbrush": ("toothbrush", "tooth brush"),
    "traffic_light": ("traffic light", "stop light"),
    "tv": ("tv", "television"),
    "umbrella": ("umbrella", "parasol"),
    "wine_glass": ("wine glass", "glass of wine", "glasses of wine"),
}
# The words by which the released script reads a gender, whole.
RELEASED_GENDER_WORDS = {
    "man": ("man", "boy", "gentleman", "male", "men"),
    "woman": ("woman", "girl", "lady", "female", "women"),
}
# The released script looks for an object's name in the caption without spaces; a carrot
# is no car, and a hot dog no dog.
_RELEASED_PATTERNS = {"car": "car(?!rot)", "dog": "(?<!hot)dog"}

# A hot dog is no dog, and a dirt bike is no bicycle.
_NOT_BEFORE = {
    "dog": ("hot ",),
    "bike": ("dirt ", "motor "),
}


def read_gender(captions: pd.Series) -> pd.DataFrame:
    """Return whether a caption names a man, a woman, both or neither.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.

    Returns
    -------
    pandas.DataFrame of bool
        Columns man and woman.
    """
    return pd.DataFrame(
        {gender: _names(captions, words) for gender, words in GENDER_WORDS.items()}
    )


def read_objects(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return whether a caption names an object.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.
    objects : list of str
        COCO's categories, with underscores.

    Returns
    -------
    pandas.DataFrame of bool
        One column per object.
    """
    columns = {}
    for name in objects:
        words = OBJECT_WORDS.get(name, (name.replace("_", " "),))
        columns[name] = _names(captions, words, ending="(?:e?s)?")
    return pd.DataFrame(columns)


def read_gender_as_released(captions: pd.Series) -> pd.DataFrame:
    """Return whether a caption names a gender, by the rule of the released script.

    The rule is that of `coco_captioning/caption_parser.py` of Wang and Russakovsky
    (2021): five whole words a gender, in lower case, without punctuation.

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.

    Returns
    -------
    pandas.DataFrame of bool
        Columns man and woman.
    """
    words = _without_punctuation(captions).str.split()
    return pd.DataFrame(
        {
            gender: words.map(
                lambda named, listed=frozenset(listed): bool(listed & {*named})
            )
            for gender, listed in RELEASED_GENDER_WORDS.items()
        }
    )


def read_objects_as_released(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return whether a caption names an object, by the rule of the released script.

    An object counts wherever its name stands in the caption when all spaces are left
    out: "cat" in "located", and "tie" in "neckties".

    Parameters
    ----------
    captions : pandas.Series of str
        The captions.
    objects : list of str
        COCO's categories, with underscores.

    Returns
    -------
    pandas.DataFrame of bool
        One column per object.
    """
    texts = _without_punctuation(captions).str.replace(" ", "")
    columns = {}
    for name in objects:
        written = name.replace("_", "")
        columns[name] = texts.str.contains(_RELEASED_PATTERNS.get(written, written))
    return pd.DataFrame(columns)


def _without_punctuation(captions: pd.Series) -> pd.Series:
    """Return captions in lower case, without punctuation."""
    return captions.str.lower().str.translate(str.maketrans("", "", string.punctuation))


@dataclass(frozen=True)
class Reader:
    """How captions are read."""

    gender: Callable[[pd.Series], pd.DataFrame]
    objects: Callable[[pd.Series, list[str]], pd.DataFrame]


OURS = Reader(read_gender, read_objects)
RELEASED = Reader(read_gender_as_released, read_objects_as_released)


def _names(
    captions: pd.Series, words: tuple[str, ...], *, ending: str = ""
) -> pd.Series:
    """Return whether captions have one of these words, whole."""
    missing = int(captions.isna().sum())
    if missing:
        raise ValueError(f"captions must be texts, found {missing} missing")

    preceding = [before for word in words for before in _NOT_BEFORE.get(word, ())]
    not_after = "".join(f"(?<!{before})" for before in preceding)
    pattern = rf"{not_after}\b(?:{'|'.join(words)}){ending}\b"
    return captions.str.contains(pattern, case=False, regex=True)
