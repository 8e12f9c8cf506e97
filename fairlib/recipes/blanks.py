"""Filling a blank: pronouns for occupations, and occupations for pronouns.

These are the measurements of Table 2 and Figure 5 for 32 occupations, with the share of
women in each occupation, and the words that occur together with it in WikiText-2.
`fill` asks any model that can score words for a blank: `count_model`, which knows only
how often two words occur in the same paragraph, or a masked language model
(`training.masked`) such as the paper's, bert-base-uncased.
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
_GENDERED = {
    "he": {"he", "man", "his", "boy", "son"},
    "she": {"she", "woman", "her", "girl", "daughter"},
}

# The words that count as a pronoun.
_FORMS = {
    "he": {"he", "him", "his", "himself"},
    "she": {"she", "her", "hers", "herself"},
    "they": {"they", "them", "their", "theirs", "themselves"},
}
PRONOUNS = tuple(_FORMS)

# Appendix A.3.
_VERBS = ("is", "was")
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
)


def _template(verb: str, adjective: str) -> str:
    article = "an" if adjective[0] in "aeiou" else "a"
    return f"{{pronoun}} {verb} {article} {adjective} {{occupation}}."


TEMPLATES = tuple(
    _template(verb, adjective) for verb, adjective in product(_VERBS, ADJECTIVES)
)
_WORD = r"[^\W\d_]+"
ANY = "(any)"  # in counts: every paragraph, or every sentence


def fill(score: Score, occupations: Sequence[str]) -> pd.DataFrame:
    """Fill the 20 templates in both directions.

    The result holds probabilities, not the likeliest word, as in appendix A.3.

    Parameters
    ----------
    score : callable
        Scores words for the blank of sentences, see `training.masked.Score`.
    occupations : sequence of str
        The occupations.

    Returns
    -------
    pandas.DataFrame
        One row per template, occupation and pronoun. `p_pronoun` is P(pronoun |
        occupation), over the three pronouns, with the blank in the place of the
        pronoun. `p_occupation` is P(occupation | pronoun), over these occupations.
    """
    tables = []
    for number, template in enumerate(TEMPLATES):
        of_occupations = [
            template.format(pronoun=MASK, occupation=occupation)
            for occupation in occupations
        ]
        of_pronouns = [
            template.format(pronoun=pronoun, occupation=MASK) for pronoun in PRONOUNS
        ]
        p_pronoun = _shares(score(of_occupations, PRONOUNS))
        p_occupation = _shares(score(of_pronouns, occupations))

        # The first is occupations x pronouns, the second is pronouns x occupations.
        keys = pd.MultiIndex.from_product(
            [[number], occupations, PRONOUNS],
            names=["template", "occupation", "pronoun"],
        )
        columns = {
            "p_pronoun": p_pronoun.ravel(),
            "p_occupation": p_occupation.T.ravel(),
        }
        tables.append(pd.DataFrame(columns, index=keys))
    return pd.concat(tables).reset_index()


def count_together(
    paragraphs: Sequence[str], occupations: Sequence[str]
) -> pd.DataFrame:
    """Count the paragraphs that hold two words at once.

    The words are pronouns, occupations and the words of the templates. Upper and lower
    case do not matter. An occupation also counts with an s added, a pronoun in its
    other cases.

    Parameters
    ----------
    paragraphs : sequence of str
        The text.
    occupations : sequence of str
        The occupations, single words.

    Returns
    -------
    pandas.DataFrame
        Columns word, other, paragraphs, for each pair of words once. A word with itself
        counts all its paragraphs, `ANY` with itself all paragraphs.

    Notes
    -----
    The cost is O(text + words^2).
    """
    not_words = [name for name in occupations if not re.fullmatch(_WORD, name)]
    if not_words:
        raise ValueError(
            f"occupations must be single words of letters, found {not_words[0]!r}"
        )
    if not len(paragraphs):
        raise ValueError("paragraphs must hold at least one, found none")

    forms = {word: {word.lower()} for word in (*_VERBS, *ADJECTIVES)}
    forms.update(_FORMS)
    for occupation in occupations:
        forms[occupation] = {occupation.lower(), f"{occupation.lower()}s"}

    # One row per paragraph: whether it holds each word. The first column is ANY.
    rows = []
    for paragraph in paragraphs:
        words = set(re.findall(_WORD, paragraph.lower()))
        rows.append([True, *(not words.isdisjoint(form) for form in forms.values())])
    there = np.array(rows, dtype=int)
    together = there.T @ there

    names = np.array([ANY, *forms])
    first, second = np.triu_indices(len(names))
    return pd.DataFrame(
        {
            "word": names[first],
            "other": names[second],
            "paragraphs": together[first, second],
        }
    )


def count_model(counts: pd.DataFrame) -> Score:
    """Return the score function of a model that knows only how often words co-occur.

    The score is P(word) times a factor for each known word of the sentence: (paragraphs
    with both + 1) / (expected number if the two were independent + 1). So a word that
    never occurs is as likely beside one word as beside another, and a word that occurs
    once carries little information.

    Parameters
    ----------
    counts : pandas.DataFrame
        As `count_together` returns them.

    Returns
    -------
    callable
        Scores words for the blank of sentences, see `training.masked.Score`.
    """
    half = counts.pivot(index="word", columns="other", values="paragraphs")
    square = half.fillna(half.T).astype(float)
    if square.isna().any(axis=None):
        raise ValueError("counts must hold every pair of its words")

    place = {word.lower(): number for number, word in enumerate(square.index)}
    together = square.to_numpy()
    alone = np.diag(together)
    paragraphs = together[place[ANY], place[ANY]]
    prior = (alone + 1.0) / (paragraphs + 1.0)
    expected = np.outer(alone, alone) / paragraphs
    lift = (together + 1.0) / (expected + 1.0)

    def score(sentences: Sequence[str], words: Sequence[str]) -> np.ndarray:
        unknown = [word for word in words if word.lower() not in place]
        if unknown:
            raise ValueError(
                f"words must be among those that were counted, found {unknown[0]!r}"
            )

        rows = [place[word.lower()] for word in words]
        scores = []
        for sentence in sentences:
            in_sentence = re.findall(r"\w+", sentence.lower())
            context = [place[word] for word in in_sentence if word in place]
            scores.append(prior[rows] * lift[np.ix_(rows, context)].prod(axis=1))
        return np.stack(scores)

    return score


def _shares(values: np.ndarray) -> np.ndarray:
    return values / values.sum(axis=1, keepdims=True)


@recipe(files=[OCCUPATIONS, WINOGENDER])
def occupation_rates() -> pd.DataFrame:
    """Percent women in the 32 occupations, in the labor force and in web text.

    The rates of the labor force are those of 2016 and (Winogender) of 2015-16.
    """
    columns = ["occupation", "stereotyped_as", "percent_women", "employed_thousands"]
    rates = pd.read_csv(original(OCCUPATIONS))
    rates = require_columns(rates, columns, OCCUPATIONS.path)[columns]

    names = {
        "bls_pct_female": "percent_women_2015",
        "bergsma_pct_female": "percent_women_web",
    }
    columns_of_others = ["occupation", *names]
    others = pd.read_csv(original(WINOGENDER), sep="\t")
    others = require_columns(others, columns_of_others, WINOGENDER.path)
    others = others[columns_of_others].rename(columns=names)
    return rates.merge(others, on="occupation", how="left")


@recipe(files=[*WIKITEXT, OCCUPATIONS])
def occupation_cooccurrence() -> pd.DataFrame:
    """Sentences of WikiText-2 that name an occupation and only one gender."""
    text = _wikitext()
    occupations = pd.read_csv(original(OCCUPATIONS))["occupation"]
    tables = [
        cooccurrence(text, occupations, matching=matching)
        for matching in ("words", "as released")
    ]
    return pd.concat(tables, ignore_index=True)


def _wikitext() -> str:
    """Return the text of WikiText-2's two files."""
    return "\n".join(original(file).read_text(encoding="utf-8") for file in WIKITEXT)


def cooccurrence(
    text: str, occupations: Sequence[str], *, matching: str
) -> pd.DataFrame:
    """Count sentences that name one occupation, and those that also name one gender.

    Parameters
    ----------
    text : str
        The text; lines with a "=" are headings, and left out.
    occupations : sequence of str
        The occupations.
    matching : str
        "words" compares whole words, plurals and capitals included. "as released" finds
        an occupation inside other words ("cook" in "cookie") and no gendered word with
        a capital, as the authors' script does.

    Returns
    -------
    pandas.DataFrame
        One row per occupation: how many sentences name it and no other occupation, and
        how many of these have words of `_GENDERED` for one gender only. The row `ANY`
        counts all sentences, whether they name an occupation or not.
    """
    lines = [line for line in text.splitlines() if "=" not in line]
    pieces = re.split(r"[.\n]", "\n".join(lines))
    sentences = [piece for piece in pieces if piece.strip()]

    counts: Counter = Counter()
    for sentence in sentences:
        if matching == "words":
            words = set(sentence.lower().split())
            named = [
                name for name in occupations if name in words or f"{name}s" in words
            ]
        else:
            words = set(sentence.split(" "))
            named = [name for name in occupations if name in sentence]

        genders = [gender for gender, gendered in _GENDERED.items() if words & gendered]
        for name in [*named, ANY] if len(named) == 1 else [ANY]:
            counts[name, "sentences"] += 1
            if len(genders) == 1:
                counts[name, genders[0]] += 1

    columns = ["sentences", *_GENDERED]
    rows = [
        (matching, name, *(counts[name, column] for column in columns))
        for name in [*occupations, ANY]
    ]
    return pd.DataFrame(rows, columns=["matching", "occupation", *columns])


@recipe(files=[*WIKITEXT, OCCUPATIONS])
def word_cooccurrence() -> pd.DataFrame:
    """Paragraphs of WikiText-2 with two of the words of the paper's templates."""
    paragraphs = []
    for line in _wikitext().splitlines():
        is_heading = line.strip().startswith("=")
        if line.strip() and not is_heading:
            paragraphs.append(line)

    occupations = pd.read_csv(original(OCCUPATIONS))["occupation"].tolist()
    return count_together(paragraphs, occupations)


@recipe(files=[BERT_TITLES, OCCUPATIONS])
def occupation_bert() -> pd.DataFrame:
    """P(he), of he and she, that bert-base-uncased printed for job titles.

    `p_he` is that of the title that is the occupation and nothing else. `p_he_within`
    is the mean over all titles that have the occupation among their words (alone or
    with an s). Both are empty where there is no such title.
    """
    titles = pd.read_csv(original(BERT_TITLES))
    titles = require_columns(titles, ["title", "log_odds_he_she"], BERT_TITLES.path)
    p_he = 1 / (1 + np.exp(-titles["log_odds_he_she"]))
    words = titles["title"].str.lower()

    rows = []
    for name in pd.read_csv(original(OCCUPATIONS))["occupation"]:
        within = p_he[words.str.contains(rf"\b{name}s?\b")]
        row = {
            "occupation": name,
            "p_he": p_he[words == name].mean(),
            "titles": len(within),
            "p_he_within": within.mean(),
        }
        rows.append(row)
    return pd.DataFrame(rows).round(4)


@recipe(files=[], costly=True)
def blanks_bert() -> pd.DataFrame:
    """Fill the paper's templates with its model, bert-base-uncased.

    This recipe has no bundled table. Call it where torch, transformers and a network
    for the weights are available.
    """
    from fairlib.recipes.training.masked import load as masked_model

    occupations = load("occupation_rates")["occupation"].tolist()
    filled = fill(masked_model("bert-base-uncased"), occupations)
    return filled.round({"p_pronoun": 6, "p_occupation": 6})
