"""SemEval-2018 and CoNLL-2003: where the files come from, and how they are read."""

import html
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import DataError, originals_folder
from fairlib.recipes.originals import File, from_hub, original

_SEMEVAL_HOW = (
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
        how=_SEMEVAL_HOW,
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
_CONLL_HOW = (
    "Its text is the Reuters Corpus, which NIST hands out for research; the annotation "
    "is at www.cnts.ua.ac.be/conll2003/ner. With network it is also read from the hub "
    "(eriktks/conll2003)."
)
CONLL = {
    split: File(f"conll2003/eng.{name}", sha256=sha256, size=size, how=_CONLL_HOW)
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
_HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
# The order of the hub's numbered tags.
HUB_TAGS = np.array(
    ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"]
)


def read_semeval(path: Path) -> pd.DataFrame:
    """Return the tweets of a file and their valence.

    A line holds identifier, tweet, dimension and class, separated by tabs; the training
    file has no header.

    Parameters
    ----------
    path : pathlib.Path
        A file of the task.

    Returns
    -------
    pandas.DataFrame
        Columns text, and valence: an integer from -3 (very negative) to 3 (very
        positive).
    """
    lines = pd.Series(path.read_text(encoding="utf-8").split("\n"))
    fields = lines[lines.str.strip() != ""].str.split("\t")
    malformed = fields.str.len() != 4
    if malformed.any():
        line = fields.index[malformed][0]
        raise DataError(
            f"{path}, line {line + 1}: expected 4 fields separated by tabs, "
            f"found {lines[line]!r}"
        )

    has_header = fields.iloc[0][-1] == "Intensity Class"
    if has_header:
        fields = fields.iloc[1:]
    number = fields.str[3].str.extract(r"^(-?\d):", expand=False)
    valence = pd.to_numeric(number, errors="coerce")
    unknown = ~valence.isin(range(-3, 4))
    if unknown.any():
        line = fields.index[unknown][0]
        raise DataError(
            f"{path}, line {line + 1}: the class must begin with -3: to 3:, "
            f"found {fields[line][3]!r}"
        )

    text = fields.str[1].map(html.unescape)
    table = pd.DataFrame({"text": text, "valence": valence.astype(int)})
    return table.reset_index(drop=True)


def sentiment(tweets: pd.DataFrame, *, classes: int) -> pd.DataFrame:
    """Return tweets with 2 or 3 classes of sentiment.

    Parameters
    ----------
    tweets : pandas.DataFrame
        As `read_semeval` returns them.
    classes : int
        3 for the sign of the valence, 2 for the same without the neutral tweets.

    Returns
    -------
    pandas.DataFrame
        Columns text and label.

    References
    ----------
    Czarnowska et al. (2021), footnote 7.
    """
    if classes not in (2, 3):
        raise ValueError(f"classes must be 2 or 3, found {classes!r}")

    names = {-1: "negative", 0: "neutral", 1: "positive"}
    label = np.sign(tweets["valence"]).map(names)
    table = pd.DataFrame({"text": tweets["text"], "label": label})
    if classes == 3:
        return table
    return table[table["label"] != "neutral"].reset_index(drop=True)


def read_conll(path: Path) -> pd.DataFrame:
    """Return the tokens of a file, without document separators.

    Parameters
    ----------
    path : pathlib.Path
        A file of the task.

    Returns
    -------
    pandas.DataFrame
        One row per token: sentence (numbered from 0), token, label (BILOU).
    """
    lines = pd.Series(path.read_text(encoding="utf-8").split("\n"))
    blank = lines.str.strip() == ""
    kept = ~blank & ~lines.str.startswith("-DOCSTART-")
    fields = lines[kept].str.split()
    malformed = fields.str.len() != 4
    if malformed.any():
        line = fields.index[malformed][0]
        raise DataError(
            f"{path}, line {line + 1}: expected token, two tags and the entity tag, "
            f"found {lines[line]!r}"
        )

    # Sentences are separated by blank lines.
    sentence, _ = pd.factorize(blank.cumsum()[kept])
    return _tokens(sentence, fields.str[0].to_numpy(), fields.str[3].to_numpy())


def _tokens(sentence: np.ndarray, token: np.ndarray, iob: np.ndarray) -> pd.DataFrame:
    """Return tokens with BILOU tags in place of IOB tags."""
    from fairlib.recipes.training.tags import bilou_from_iob

    label = bilou_from_iob(iob, sentence)
    return pd.DataFrame({"sentence": sentence, "token": token, "label": label})


def conll(split: str) -> pd.DataFrame:
    """Return one split of CoNLL-2003.

    It is read from the folder of originals, or else from the hub.

    Parameters
    ----------
    split : str
        "train", "dev" or "test".

    Returns
    -------
    pandas.DataFrame
        As `read_conll` returns it.
    """
    if (originals_folder() / CONLL[split].path).exists():
        return read_conll(original(CONLL[split]))

    table = from_hub(
        "eriktks/conll2003", split=_HUB_SPLITS[split], revision="refs/convert/parquet"
    )
    is_separator = table["tokens"].str[0] == "-DOCSTART-"
    sentences = table[~is_separator].reset_index(drop=True)
    tokens = sentences[["tokens", "ner_tags"]].explode(["tokens", "ner_tags"])
    iob = HUB_TAGS[tokens["ner_tags"].to_numpy(dtype=int)]
    return _tokens(tokens.index.to_numpy(), tokens["tokens"].to_numpy(), iob)


def semeval(split: str, *, classes: int) -> pd.DataFrame:
    """Return one split of SemEval-2018's English valence tweets.

    Parameters
    ----------
    split : str
        "train", "dev" or "test".
    classes : int
        2 or 3, as for `sentiment`.

    Returns
    -------
    pandas.DataFrame
        Columns text and label.
    """
    return sentiment(read_semeval(original(SEMEVAL[split])), classes=classes)
