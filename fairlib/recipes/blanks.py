"""Filling a blank: which pronoun goes with an occupation, and which occupation with a pronoun (Table 2, Figure 5).

Tables of 32 occupations: the share of women in them, and the words that stand beside them in WikiText-2. `fill` asks
anything that can score words for a blank: `count_model`, which knows only how often two words stand in the same
paragraph, or a masked language model (`training.masked`) such as the paper's, bert-base-uncased.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from fairlib.data import load
from fairlib.recipes.originals import File, original, recipe, require_columns
from fairlib.recipes.training.masked import MASK, Score

OCCUPATIONS = File(
    "winobias/occupations_us_labor_force_2016.csv",
    sha256="5b04794e443438684f167c6ff657baef1ebb94f1f7f45f1df0bed6d05eb0741f",
    size=771,
    how="The 32 occupations of appendix A.3: share of women (WinoBias) and persons "
    "employed, in thousands (U.S. Bureau of Labor Statistics, 2016); columns "
    "occupation, stereotyped_as, percent_women, employed_thousands.",
)
WINOGENDER = File(
    "winogender/occupations-stats.tsv",
    sha256="3f7f37c16381a70571356982ea7fe613ac700ad04a6d3b19b9f2be18248df567",
    size=1_578,
    url="https://raw.githubusercontent.com/rudinger/winogender-schemas/master/data/occupations-stats.tsv",
)
WIKITEXT = [
    File(
        f"wikitext-2/{name}.txt",
        sha256=sha256,
        size=size,
        how="WikiText-2, word level (Merity et al. 2016).",
    )
    for name, size, sha256 in (
        (
            "valid",
            1_121_681,
            "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
        ),
        (
            "test",
            1_256_449,
            "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
        ),
    )
]
BERT_TITLES = File(
    "bert_occupations/he_she_log_odds.csv",
    sha256="a8c4491b0679260ca3d2d1711b45e772d7f0c4e372a59b7027c69c4ecb12a095",
    how="Printed by Exposing_Bias_BERT.ipynb in "
    "github.com/keitakurita/contextual_embedding_bias_measure: columns title and "
    "log_odds_he_she, by bert-base-uncased, of 921 job titles.",
)
# Who a sentence speaks of, by its words, as the authors' script has them.
GENDERED = {
    "he": {"he", "man", "his", "boy", "son"},
    "she": {"she", "woman", "her", "girl", "daughter"},
}

FORMS = {  # the words that count as a pronoun
    "he": {"he", "him", "his", "himself"},
    "she": {"she", "her", "hers", "herself"},
    "they": {"they", "them", "their", "theirs", "themselves"},
}
PRONOUNS = tuple(FORMS)
VERBS = ("is", "was")
ADJECTIVES = (
    "new",
    "known",
    "single",
    "large",
    "small",
    "major",
    "French",
    "old",
    "short",
    "good",
)  # appendix A.3
TEMPLATES = tuple(
    f"{{pronoun}} {verb} {'an' if adjective[0] in 'aeiou' else 'a'} {adjective} "
    f"{{occupation}}."
    for verb, adjective in product(VERBS, ADJECTIVES)
)
WORD = r"[^\W\d_]+"
ANY = "(any)"  # in counts: every paragraph, or every sentence


def fill(score: Score, occupations: Sequence[str]) -> pd.DataFrame:
    """Fill the 20 templates in both directions; one row per template, occupation and pronoun.

    p_pronoun is P(pronoun | occupation), the blank in the pronoun's place, over the three pronouns; p_occupation is
    P(occupation | pronoun), over these occupations. Probabilities, not the likeliest word, as in appendix A.3.
    """
    frames = []
    for number, template in enumerate(TEMPLATES):
        blanks = [
            template.format(pronoun=MASK, occupation=occupation)
            for occupation in occupations
        ]
        p_pronoun = _shares(score(blanks, PRONOUNS))  # occupations x pronouns
        blanks = [
            template.format(pronoun=pronoun, occupation=MASK) for pronoun in PRONOUNS
        ]
        p_occupation = _shares(score(blanks, occupations))  # pronouns x occupations
        names = ["template", "occupation", "pronoun"]
        keys = pd.MultiIndex.from_product(
            [[number], occupations, PRONOUNS], names=names
        )
        values = {
            "p_pronoun": p_pronoun.ravel(),
            "p_occupation": p_occupation.T.ravel(),
        }
        frames.append(pd.DataFrame(values, index=keys))
    return pd.concat(frames).reset_index()


def count_together(
    paragraphs: Sequence[str], occupations: Sequence[str]
) -> pd.DataFrame:
    """Count the paragraphs that hold two words at once, among pronouns, occupations and the templates' words.

    Columns word, other, paragraphs, for each pair once; a word with itself is all its paragraphs, ANY all there are.
    Capitals do not matter; an occupation counts with an s added too, a pronoun in its other cases. O(text + words^2).
    """
    if several := [name for name in occupations if not re.fullmatch(WORD, name)]:
        raise ValueError(
            f"occupations must be single words of letters, found {several[0]!r}"
        )
    if not len(paragraphs):
        raise ValueError("paragraphs must hold at least one, found none")
    forms = {word: {word.lower()} for word in (*VERBS, *ADJECTIVES)} | FORMS
    forms |= {
        occupation: {occupation.lower(), f"{occupation.lower()}s"}
        for occupation in occupations
    }
    contents = [set(re.findall(WORD, paragraph.lower())) for paragraph in paragraphs]
    there = np.array(
        [
            [True, *(not words.isdisjoint(form) for form in forms.values())]
            for words in contents
        ],
        dtype=int,
    )
    both = there.T @ there
    names = np.array([ANY, *forms])
    first, second = np.triu_indices(len(names))
    return pd.DataFrame(
        {
            "word": names[first],
            "other": names[second],
            "paragraphs": both[first, second],
        }
    )


def count_model(counts: pd.DataFrame) -> Score:
    """Return the score function of a model that knows only `count_together`'s counts.

    P(word) times a factor for each known word of the sentence: (paragraphs with both + 1) / (expected if the two were
    independent + 1). So a word never seen is as likely beside one word as beside another, and a word seen once says
    little.
    """
    square = counts.pivot(index="word", columns="other", values="paragraphs")
    square = square.fillna(square.T).astype(float)
    if square.isna().any(axis=None):
        raise ValueError("counts must hold every pair of its words")
    place = {word.lower(): number for number, word in enumerate(square.index)}
    both = square.to_numpy()
    alone, everything = np.diag(both), both[place[ANY], place[ANY]]
    prior = (alone + 1.0) / (everything + 1.0)
    lift = (both + 1.0) / (np.outer(alone, alone) / everything + 1.0)

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        if unknown := [word for word in words if word.lower() not in place]:
            raise ValueError(
                f"words must be among those that were counted, found {unknown[0]!r}"
            )
        rows = [place[word.lower()] for word in words]
        contexts = [
            [place[w] for w in re.findall(r"\w+", text.lower()) if w in place]
            for text in sentences
        ]
        return np.stack(
            [
                prior[rows] * lift[np.ix_(rows, context)].prod(axis=1)
                for context in contexts
            ]
        )

    return score


def _shares(values: np.ndarray) -> np.ndarray:
    return values / values.sum(axis=1, keepdims=True)


@recipe(files=[OCCUPATIONS, WINOGENDER])
def occupation_rates() -> pd.DataFrame:
    """Percent women in the 32 occupations: labor force of 2016 and (Winogender)
    2015-16, and in web text.
    """
    columns = ["occupation", "stereotyped_as", "percent_women", "employed_thousands"]
    rates = require_columns(
        pd.read_csv(original(OCCUPATIONS)), columns, OCCUPATIONS.path
    )[columns]
    others = pd.read_csv(original(WINOGENDER), sep="\t")
    names = {
        "bls_pct_female": "percent_women_2015",
        "bergsma_pct_female": "percent_women_web",
    }
    others = require_columns(others, ["occupation", *names], WINOGENDER.path)[
        ["occupation", *names]
    ]
    return rates.merge(others.rename(columns=names), on="occupation", how="left")


@recipe(files=[*WIKITEXT, OCCUPATIONS])
def occupation_cooccurrence() -> pd.DataFrame:
    """Sentences of WikiText-2 with an occupation, and with words for one gender
    besides.
    """
    text = "\n".join(original(file).read_text(encoding="utf-8") for file in WIKITEXT)
    occupations = pd.read_csv(original(OCCUPATIONS))["occupation"]
    tables = [
        cooccurrence(text, occupations, matching=matching)
        for matching in ("words", "as released")
    ]
    return pd.concat(tables, ignore_index=True)


def cooccurrence(
    text: str, occupations: Sequence[str], *, matching: str
) -> pd.DataFrame:
    """Count sentences that name one occupation, and those of them that have words of `GENDERED` for one gender only.

    matching : "words" compares whole words, plurals and capitals included; "as released" finds an occupation inside
        other words ("cook" in "cookie") and no gendered word with a capital, as the authors' script does.

    The row ANY counts all sentences, whether they name an occupation or not.
    """
    counts = Counter()
    pieces = re.split(
        r"[.\n]", "\n".join(line for line in text.splitlines() if "=" not in line)
    )
    for sentence in filter(str.strip, pieces):
        if matching == "words":
            words = set(sentence.lower().split())
            named = [
                name for name in occupations if name in words or f"{name}s" in words
            ]
        else:
            words = set(sentence.split(" "))
            named = [name for name in occupations if name in sentence]
        genders = [gender for gender, gendered in GENDERED.items() if words & gendered]
        for name in [*named, ANY] if len(named) == 1 else [ANY]:
            counts[name, "sentences"] += 1
            if len(genders) == 1:
                counts[name, genders[0]] += 1
    columns = ["sentences", *GENDERED]
    rows = [
        (matching, name, *(counts[name, column] for column in columns))
        for name in [*occupations, ANY]
    ]
    return pd.DataFrame(rows, columns=["matching", "occupation", *columns])


@recipe(files=[*WIKITEXT, OCCUPATIONS])
def word_cooccurrence() -> pd.DataFrame:
    """Paragraphs of WikiText-2 with two of the words that the paper's templates are
    made of.
    """
    lines = "\n".join(
        original(file).read_text(encoding="utf-8") for file in WIKITEXT
    ).splitlines()
    paragraphs = [
        line for line in lines if line.strip() and not line.strip().startswith("=")
    ]
    return count_together(
        paragraphs, pd.read_csv(original(OCCUPATIONS))["occupation"].tolist()
    )


@recipe(files=[BERT_TITLES, OCCUPATIONS])
def occupation_bert() -> pd.DataFrame:
    """P(he), of he and she, that bert-base-uncased printed for job titles, by occupation.

    p_he is of the title that is the occupation and nothing else, p_he_within the mean over all titles that have it
    among their words (alone or with an s); both are empty where there is none.
    """
    titles = require_columns(
        pd.read_csv(original(BERT_TITLES)),
        ["title", "log_odds_he_she"],
        BERT_TITLES.path,
    )
    p_he, words = (
        1 / (1 + np.exp(-titles["log_odds_he_she"])),
        titles["title"].str.lower(),
    )
    rows = []
    for name in pd.read_csv(original(OCCUPATIONS))["occupation"]:
        within = p_he[words.str.contains(rf"\b{name}s?\b")]
        rows.append((name, p_he[words == name].mean(), len(within), within.mean()))
    return pd.DataFrame(
        rows, columns=["occupation", "p_he", "titles", "p_he_within"]
    ).round(4)


@recipe(files=[], costly=True)
def blanks_bert() -> pd.DataFrame:
    """Fill the paper's templates with its model, bert-base-uncased.

    It has no bundled table: call it, where there are torch, transformers and a network for the weights.
    """
    from fairlib.recipes.training.masked import load as masked_model

    filled = fill(
        masked_model("bert-base-uncased"),
        load("occupation_rates")["occupation"].tolist(),
    )
    return filled.round({"p_pronoun": 6, "p_occupation": 6})
