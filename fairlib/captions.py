"""What a caption says: is it about a man or a woman, and which objects does it name?

The word lists are the whole method, and stand here to be read. They are made for the captions of models trained on
COCO, which use some 800 words: lower case, no names. A caption's words are matched whole, in singular and plural.
"""

from __future__ import annotations

import pandas as pd

# Nouns and reflexives that say who is in the picture. Possessives (his, her) may speak of another person: left out.
GENDER_WORDS = {
    "man": (
        *("man", "men", "male", "males", "boy", "boys", "gentleman", "gentlemen"),
        *("guy", "guys", "groom", "cowboy", "himself"),
    ),
    "woman": ("woman", "women", "female", "females", "girl", "girls", "lady", "ladies", "bride", "herself"),
}

# COCO's category: how captions name it, where the category's own name (and its plural) is not all.
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
NOT_BEFORE = {"dog": ("hot ",), "bike": ("dirt ", "motor ")}  # a hot dog is no dog, a dirt bike no bicycle


def read_gender(captions: pd.Series) -> pd.DataFrame:
    """Return boolean columns man and woman: whether a caption names one, the other, both or neither."""
    return pd.DataFrame({gender: _names(captions, words) for gender, words in GENDER_WORDS.items()})


def read_objects(captions: pd.Series, objects: list[str]) -> pd.DataFrame:
    """Return one boolean column per object (COCO's category, with underscores): whether a caption names it."""
    named = {name: OBJECT_WORDS.get(name, (name.replace("_", " "),)) for name in objects}
    return pd.DataFrame({name: _names(captions, words, ending="(?:e?s)?") for name, words in named.items()})


def _names(captions: pd.Series, words: tuple[str, ...], *, ending: str = "") -> pd.Series:
    if missing := int(captions.isna().sum()):
        raise ValueError(f"captions must be texts, found {missing} missing")
    before = "".join(f"(?<!{other})" for word in words for other in NOT_BEFORE.get(word, ()))
    return captions.str.contains(rf"{before}\b(?:{'|'.join(words)}){ending}\b", case=False, regex=True)
