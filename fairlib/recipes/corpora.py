"""SemEval-2018 and CoNLL-2003: where the files come from, and how they are read."""

import html
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import DataError, originals_folder
from fairlib.recipes.originals import File, from_hub, original

SEMEVAL_HOW = (
    "It is in the English archive of SemEval-2018 Task 1 (EI-oc, V-oc), which the "
    "organisers hand out on the task's page, "
    "competitions.codalab.org/competitions/17751, for research and without the right "
    "to pass it on."
)
SEMEVAL = {
    split: File(
        f"semeval2018/2018-Valence-oc-En-{name}.txt",
        sha256=sha256,
        size=size,
        how=SEMEVAL_HOW,
    )
    for split, name, sha256, size in (
        (
            "train",
            "train",
            "d5e541a1c66aa7b3fc48fcd966f58c11546d1bc26751a9d8d9362a1f5cd43182",
            201555,
        ),
        (
            "dev",
            "dev",
            "2ac84765921dd409023573b7075972ea79072fe8df76ebf555996bf1be191928",
            77263,
        ),
        (
            "test",
            "test-gold",
            "3a02a4d264c7b54373a7169e189c0982d71eb3781657f7f6a0c12ed6a4695477",
            160161,
        ),
    )
}
CONLL_HOW = (
    "Its text is the Reuters Corpus, which NIST hands out for research; the annotation "
    "is at www.cnts.ua.ac.be/conll2003/ner. With network it is also read from the hub "
    "(eriktks/conll2003)."
)
CONLL = {
    split: File(f"conll2003/eng.{name}", sha256=sha256, size=size, how=CONLL_HOW)
    for split, name, sha256, size in (
        (
            "train",
            "train",
            "1f829db7620be0f4a5fff90203eeef27580a75546fdbf180e36ff542b92e6a92",
            3281527,
        ),
        (
            "dev",
            "testa",
            "426445b024120cfbd770fb4c0dafb6710f35afc08056b82837aa166a8cd6aef7",
            827009,
        ),
        (
            "test",
            "testb",
            "ae78c673d851c4308090fed5fb4412474c8b1fc91fe20728fdf62fdbfa1a5b2c",
            748094,
        ),
    )
}
HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
# The order of the hub's numbered tags.
HUB_TAGS = np.array(
    ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"]
)


def read_semeval(path: Path) -> pd.DataFrame:
    """Return the tweets (text) and their valence, an integer from -3 (very negative) to 3 (very positive).

    A line holds identifier, tweet, dimension and class, separated by tabs; the training file has no header.
    """
    lines = pd.Series(path.read_text(encoding="utf-8").split("\n"))
    fields = lines[lines.str.strip() != ""].str.split("\t")
    if (bad := fields.str.len() != 4).any():
        line = fields.index[bad][0]
        raise DataError(
            f"{path}, line {line + 1}: expected 4 fields separated by tabs, found "
            f"{lines[line]!r}"
        )
    if fields.iloc[0][-1] == "Intensity Class":
        fields = fields.iloc[1:]
    valence = pd.to_numeric(
        fields.str[3].str.extract(r"^(-?\d):", expand=False), errors="coerce"
    )
    if (bad := ~valence.isin(range(-3, 4))).any():
        line = fields.index[bad][0]
        raise DataError(
            f"{path}, line {line + 1}: the class must begin with -3: to 3:, found "
            f"{fields[line][3]!r}"
        )
    text = fields.str[1].map(html.unescape)
    return pd.DataFrame({"text": text, "valence": valence.astype(int)}).reset_index(
        drop=True
    )


def sentiment(tweets: pd.DataFrame, *, classes: int) -> pd.DataFrame:
    """Return text and label: 3 classes by the sign of the valence, or 2 classes without the neutral tweets.

    Reference: Czarnowska et al. (2021), footnote 7.
    """
    if classes not in (2, 3):
        raise ValueError(f"classes must be 2 or 3, found {classes!r}")
    label = np.sign(tweets["valence"]).map(
        {-1: "negative", 0: "neutral", 1: "positive"}
    )
    table = pd.DataFrame({"text": tweets["text"], "label": label})
    return (
        table[table["label"] != "neutral"].reset_index(drop=True)
        if classes == 2
        else table
    )


def read_conll(path: Path) -> pd.DataFrame:
    """Return one row per token: sentence (numbered from 0), token, label (BILOU).
    Document separators are left out.
    """
    lines = pd.Series(path.read_text(encoding="utf-8").split("\n"))
    blank = lines.str.strip() == ""
    kept = ~blank & ~lines.str.startswith("-DOCSTART-")
    fields = lines[kept].str.split()
    if (bad := fields.str.len() != 4).any():
        line = fields.index[bad][0]
        raise DataError(
            f"{path}, line {line + 1}: expected token, two tags and the entity tag, "
            f"found {lines[line]!r}"
        )
    return _tokens(
        pd.factorize(blank.cumsum()[kept])[0],
        fields.str[0].to_numpy(),
        fields.str[3].to_numpy(),
    )


def _tokens(sentence: np.ndarray, token: np.ndarray, iob: np.ndarray) -> pd.DataFrame:
    from fairlib.recipes.training.tags import bilou_from_iob

    return pd.DataFrame(
        {"sentence": sentence, "token": token, "label": bilou_from_iob(iob, sentence)}
    )


def conll(split: str) -> pd.DataFrame:
    """Return one split of CoNLL-2003 (train, dev, test), from the folder of originals
    or else from the hub.
    """
    if (originals_folder() / CONLL[split].path).exists():
        return read_conll(original(CONLL[split]))
    table = from_hub(
        "eriktks/conll2003", split=HUB_SPLITS[split], revision="refs/convert/parquet"
    )
    table = table[table["tokens"].str[0] != "-DOCSTART-"].reset_index(drop=True)
    tokens = table[["tokens", "ner_tags"]].explode(["tokens", "ner_tags"])
    iob = HUB_TAGS[tokens["ner_tags"].to_numpy(dtype=int)]
    return _tokens(tokens.index.to_numpy(), tokens["tokens"].to_numpy(), iob)


def semeval(split: str, *, classes: int) -> pd.DataFrame:
    """Return one split of SemEval-2018's English valence tweets (train, dev, test) with
    2 or 3 classes.
    """
    return sentiment(read_semeval(original(SEMEVAL[split])), classes=classes)
