"""Suites of sentences that differ in one identity term only.

A suite is a list of templates, each filled with every identity term of an attribute.
The templates are read in the form in which Czarnowska, Vyas and Shah released theirs,
and filled as their code fills them. A small example by this project ships in
`data/templates`; the genuine files (`ORIGINALS`, Apache-2.0) give the eight suites of
the paper. A slot is {identity_adj}, {Country} (begins with a capital) or {a:person}
("a" or "an").

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6, and the code
released with it.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import DATA
from fairlib.metrics import sequences
from fairlib.recipes.originals import File, at_hand, original
from fairlib.recipes.templates import ATTRIBUTES

_EXAMPLE = DATA / "templates"
_COMMIT = "4e24cf02101c86c960b2453406ab7c448d528753"
RELEASED = (
    "https://raw.githubusercontent.com/amazon-science/generalized-fairness-metrics/"
    f"{_COMMIT}"
)
_CHECKSUMS = {
    "templates": {
        "age_templates.csv": (
            "8e281bdab971570a9a1e4d408c9d5655f2fd2b978d7e73c865726ab3715955da"
        ),
        "disability_templates.csv": (
            "ac6cd39b297baab2ae280f3e46278002e1a6933668db0ca2ac52339e41b3660d"
        ),
        "ethnicity_templates.csv": (
            "d6184a081d97623e52f984b3c6caf07208f052a11788f853075c2d144c5a5a43"
        ),
        "gender_sexuality_templates.csv": (
            "52a1ee1438f0c23444d9cb69993e73a4ffdbfa33cd1f9e3127eb4a0fd94435d4"
        ),
        "generic_templates.csv": (
            "c3b1bd3d14524014ffd636ebab30fa434d5dedb10ff472cb899994fcfc7462fe"
        ),
        "generic_templates_adj_or_pp.csv": (
            "f15a212c2eb650751041132578fe0a309a3dd6dfa5b87403440467c7a7daf7bd"
        ),
        "nationality_templates.csv": (
            "6a3ac2443ddcc8a48030bd826676a87502a3b3c3e05e400813c1df317f8a6804"
        ),
        "people_templates.csv": (
            "ed1d6e1b21e5f8e570fbd0f8b3e675ea24c227aa7239f5aefbd7ae2eb0780ecf"
        ),
        "religion_templates.csv": (
            "746512da6296ab0b9484e9eab43e13d6f4de12109d2f8ab190917038e7da03a6"
        ),
    },
    "terms/identity_terms": {
        "age.csv": ("ab10c6ed910a2b048bd5085972bb8e77ebe202e23801a77653872a6befae20a3"),
        "countries.csv": (
            "a1d69603202b49945048782b581e47ed0b43c4624abc9b40a820627f1152075a"
        ),
        "disability.csv": (
            "17d3c0b76ab654c61550675a818693dd9789e31e0d553d710f09b3979d13547b"
        ),
        "gender.csv": (
            "3ba00c25312238d346ccdae6209e49aa044bf7ded7682354351ac338835b241b"
        ),
        "race.csv": (
            "bb9703c3bd5561b652685bca3246d3a094106a1f87ae85330fd32629261b7a06"
        ),
        "religion.csv": (
            "ac1ed0698f17f5f1b3c0dabd8b83b565d78f531f302a988551abc1f34b98bcee"
        ),
        "sexuality.csv": (
            "f9b3db0369ed2c1ef445bba0e52debe14ad0277d506fc912cd20b45251d12036"
        ),
    },
    "terms/identity_terms/wiktionary_names": {
        "only_female_names.txt": (
            "0eec713ef81a5ecf015626865468d84f4faf4d04b6f80b86bafe2213f9ba96dd"
        ),
        "only_male_names.txt": (
            "f1cc939af13f02b16edd20d60cb2aa6598c9769efec764ff5f87d4ad948c25c7"
        ),
    },
    "expanded_checklist/checklist/data/lexicons": {
        "basic.json": (
            "9d1368c1221d54a04d7eec97364fb57422969d2cd5bff7927565f3d6d8f7ffdf"
        ),
    },
}
# CheckList's (MIT), part of the same repository.
LEXICON = "expanded_checklist/checklist/data/lexicons/basic.json"
ORIGINALS = {
    f"{folder}/{name}": File(
        f"generalized/{folder}/{name}", sha256=sha256, url=f"{RELEASED}/{folder}/{name}"
    )
    for folder, names in _CHECKSUMS.items()
    for name, sha256 in names.items()
}
_FILES_OF_TERMS = {
    "gender": "gender",
    "sexual_orientation": "sexuality",
    "religion": "religion",
    "race": "race",
    "age": "age",
    "disability": "disability",
    "nationality": "countries",
}
# Templates are named after the attribute, but for these attributes.
_TEMPLATES_OF_ATTRIBUTE = {
    "gender": "gender_sexuality",
    "sexual_orientation": "gender_sexuality",
    "race": "ethnicity",
    "names": "people",
}
_LABELS = {0: "negative", 1: "neutral", 2: "positive"}
_KINDS = {"adj": "adjective", "pp": "phrase", "n": "noun"}
_HEADS = [
    "people",
    "friend",
    "athletes",
    "student",
    "liar",
    "writer",
    "researcher",
    "individuals",
    "folk",
    "activist",
    "writers",
    "lawyer",
    "students",
    "character",
]
_SLOT = re.compile(r"\{(?P<article>a:)?(?P<name>\w+)\}")
# A hyphen is a token of its own, as in the released suite.
TOKEN = re.compile(r"'s\b|\w+(?:'(?!s\b)\w+)*|[^\w\s]")


def suite(attribute: str, *, genuine: bool = False) -> pd.DataFrame:
    """Return an attribute's templates, each filled with every fitting identity term.

    Within a source only the identity term differs.

    Parameters
    ----------
    attribute : str
        A name in `fairlib.templates.ATTRIBUTES`.
    genuine : bool, default False
        Whether to read the released files (they are downloaded if need be) instead of
        the small example that ships.

    Returns
    -------
    pandas.DataFrame
        One row per sentence: attribute, source (the template: its file and number),
        group, term, label, text. A noun that is also an adjective is a term of its own,
        "gay (noun)". First names are numbered.

    Examples
    --------
    >>> sentences = suite("age").query("source == 'generic/03'")
    >>> sentences.query("term == 'elderly'")["text"].item()
    'I met an elderly person.'
    """
    templates = _templates(attribute, genuine)
    filled = templates.merge(fillers(attribute, genuine=genuine), on="slot")

    texts = [
        fill(text, words)
        for text, words in zip(filled["TEMPLATE"], filled["words"], strict=True)
    ]
    labels = filled["SENT"].map(_LABELS)
    filled = filled.assign(attribute=attribute, text=texts, label=labels)
    return filled[["attribute", "source", "group", "term", "label", "text"]]


def ner_suite(*, genuine: bool = False) -> pd.DataFrame:
    """Return the templates for named-entity recognition, filled, one row per token.

    Each template is filled with every country or its adjective.

    Parameters
    ----------
    genuine : bool, default False
        Whether to read the released files instead of the small example that ships.

    Returns
    -------
    pandas.DataFrame
        Columns source, group, term, position (from 0), token, slot (whether the token
        is part of what is filled in), label (BILOU tag) and released: the tag where the
        paper's code puts it.

    Notes
    -----
    The paper's code widens U-LOC to B-LOC L-LOC when a name has two tokens, but not for
    a slot with a capital ({Country}): there the U-LOC stays on the first token, and the
    tags behind it move forward.
    """
    templates = _templates("nationality", genuine)
    with_entities = templates[templates["NER"] != ""]
    words_of_slots = fillers("nationality", genuine=genuine)
    filled = with_entities.merge(words_of_slots, on="slot")

    keys = ["TEMPLATE", "NER", "words", "source", "group", "term"]
    rows = []
    for template, entities, words, *sentence in filled[keys].itertuples(index=False):
        tagged = _tagged(template, entities, words)
        rows += [(*sentence, position, *token) for position, token in enumerate(tagged)]

    columns = ["source", "group", "term", "position", "token", "slot"]
    return pd.DataFrame(rows, columns=[*columns, "label", "released"])


def _tagged(
    template: str, entities: str, words: str
) -> list[tuple[str, bool, str, str]]:
    """Return token, slot, label and released label of each token of a filled template.

    `entities` looks like "UK:U-LOC|{country}:U-LOC".
    """
    slot = _SLOT.search(template)
    expected = [pair.rsplit(":", 1) for pair in entities.split("|")]

    def next_tag(token: str) -> str:
        if expected and expected[0][0] == token:
            return expected.pop(0)[1]
        return sequences.OUTSIDE

    before = TOKEN.findall(template[: slot.start()])
    inside = TOKEN.findall(words)
    after = TOKEN.findall(template[slot.end() :])

    # The tags have to be looked up in the order of the tokens.
    tags_before = [next_tag(token) for token in before]
    tag = next_tag(slot.group())
    tags_after = [next_tag(token) for token in after]
    if expected:
        raise ValueError(
            f"template {template!r} lacks the token {expected[0][0]!r} that its "
            "entities name"
        )

    widened = fill_slot(tag, len(inside))
    labels = tags_before + widened + tags_after
    released = tags_before + widened + tags_after
    if slot["name"][0].isupper():
        # The paper's code gives a slot with a capital one tag, however many tokens it
        # has, so that the tags behind it move forward.
        missing = [sequences.OUTSIDE] * (len(inside) - 1)
        released = [*tags_before, tag, *tags_after, *missing]

    tokens = before + inside + after
    in_slot = [False] * len(before) + [True] * len(inside) + [False] * len(after)
    return [
        (token, in_slot[place], labels[place], released[place])
        for place, token in enumerate(tokens)
    ]


def fill_slot(tag: str, tokens: int) -> list[str]:
    """Return the tags of the tokens that fill a slot.

    A slot with the tag U-LOC that is filled with New Zealand becomes B-LOC L-LOC.

    Parameters
    ----------
    tag : str
        BILOU tag of the slot.
    tokens : int
        Number of tokens that fill it.

    Returns
    -------
    list of str
        One tag per token.

    Examples
    --------
    >>> fill_slot("U-LOC", 3)
    ['B-LOC', 'I-LOC', 'L-LOC']

    In the next example the slot was the end of a longer name.

    >>> fill_slot("L-ORG", 2)
    ['I-ORG', 'L-ORG']
    """
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, found {tokens}")

    (position,), (kind,) = sequences.split([tag])
    if kind == sequences.OUTSIDE or tokens == 1:
        return [tag] * tokens

    first, last = {"U": "BL", "B": "BI", "L": "IL", "I": "II"}[position]
    positions = [first] + ["I"] * (tokens - 2) + [last]
    return [f"{position_in_name}-{kind}" for position_in_name in positions]


def fillers(attribute: str, *, genuine: bool = False) -> pd.DataFrame:
    """Return the words that fill the slots of an attribute's templates.

    Adjectives fill {identity_adj}, "ADJ person", "person PHRASE" and nouns fill
    {identity_np}, and so on. Terms without a group are left out, and so are
    disability's terms that are not recommended, and a second entry of the same term.

    Parameters
    ----------
    attribute : str
        A name in `fairlib.templates.ATTRIBUTES`.
    genuine : bool, default False
        Whether to read the released files instead of the small example that ships.

    Returns
    -------
    pandas.DataFrame
        Columns slot, group, term, words.

    Examples
    --------
    >>> words = fillers("age").query("slot == 'identity_np'")
    >>> words.query("group == 'old'")["words"].tolist()
    ['elderly person']
    """
    _check_attribute(attribute)
    if attribute == "names":
        terms = _names(genuine)
    elif attribute == "nationality":
        terms = _countries(genuine)
    else:
        terms = _terms(attribute, genuine)
    kind = terms["kind"]

    def described(head: str) -> pd.DataFrame:
        """Combine a head with the adjectives before it and the phrases after it."""
        adjective_first = terms["words"] + f" {head}"
        phrase_last = f"{head} " + terms["words"]
        words = adjective_first.where(kind == "adjective", phrase_last)
        return terms.assign(words=words)[kind.isin(["adjective", "phrase"])]

    people = pd.concat([described("person"), terms[kind == "noun"]])
    adjectives = terms[kind == "adjective"]

    # The order of the slots is that of the rows.
    slots = {f"identity_{head}": described(head) for head in _HEADS}
    slots |= {f"disability_{head}": described(head) for head in _HEADS}
    slots |= {"identity_np": people, "disability_np": people, "person": people}
    slots["identity_adj"] = adjectives
    slots["country_adj"] = adjectives
    slots["religion_adj"] = adjectives
    slots["disability_adj_or_pp"] = terms[kind != "noun"]
    slots["country"] = terms[kind == "country"]
    slots["religion"] = terms[kind == "religion"]

    table = pd.concat(slots, names=["slot"]).reset_index("slot")
    return table[["slot", "group", "term", "words"]]


def fill(template: str, words: str) -> str:
    """Return the sentence that a template becomes with these words in its slot.

    The article follows the first letter, as in the released code ("an European").

    Parameters
    ----------
    template : str
        A sentence with a slot.
    words : str
        What is filled in.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> fill("I met {a:identity_np}.", "Asian person")
    'I met an Asian person.'
    >>> fill("{Country} is far.", "the Gambia")
    'The Gambia is far.'
    """

    def phrase(slot: re.Match) -> str:
        capitalised = slot["name"][0].isupper()
        text = words[0].upper() + words[1:] if capitalised else words
        if not slot["article"]:
            return text
        article = "an" if words[0].lower() in "aeiou" else "a"
        return f"{article} {text}"

    return _SLOT.sub(phrase, template)


def _check_attribute(attribute: str) -> None:
    """Raise unless there is a suite of this attribute."""
    if attribute not in ATTRIBUTES:
        raise ValueError(
            f"attribute must be one of {', '.join(ATTRIBUTES)}, found {attribute!r}"
        )


def _templates(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return an attribute's templates: TEMPLATE, SENT (0, 1, 2), NER, source, slot."""
    _check_attribute(attribute)

    names = [f"{_TEMPLATES_OF_ATTRIBUTE.get(attribute, attribute)}_templates"]
    if attribute == "disability":
        names.insert(0, "generic_templates_adj_or_pp")
    elif attribute != "names":
        names.insert(0, "generic_templates")

    parts = []
    for name in names:
        part = _read(f"templates/{name}.csv", genuine)[["TEMPLATE", "SENT", "NER"]]
        file = name.replace("_templates", "")
        numbers = [f"{file}/{number:02d}" for number in range(1, len(part) + 1)]
        parts.append(part.assign(source=numbers))
    table = pd.concat(parts, ignore_index=True)

    slots = table["TEMPLATE"].map(_slot_names)
    wrong = slots.str.len() != 1
    if wrong.any():
        raise ValueError(
            f"a template must have one slot, found {table['TEMPLATE'][wrong].iloc[0]!r}"
        )

    # {Country} is filled like {country}.
    name = slots.str[0]
    slot = name.str[0].str.lower() + name.str[1:]
    return table.assign(SENT=table["SENT"].astype(int), slot=slot)


def _slot_names(template: str) -> list[str]:
    return [slot["name"] for slot in _SLOT.finditer(template)]


def _terms(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return the terms of an attribute: group, kind, term and words.

    A kind is adjective, phrase, noun or religion.
    """
    table = _read(f"terms/identity_terms/{_FILES_OF_TERMS[attribute]}.csv", genuine)
    table = table.assign(
        words=table["TERM"].str.strip(), group=table["GROUP"].map(_group)
    )

    # The file of races lists only adjectives, and does not say so.
    table["POS"] = table.get("POS", "adj")
    if attribute == "age":
        # The paper's code takes only the adjectives.
        table = table[table["POS"] == "adj"]
    if attribute == "disability":
        table = table[table["TYPE"] != "nonrec"]

    table["kind"] = table["POS"].map(_KINDS)
    if attribute == "religion":
        table["kind"] = table["kind"].mask(table["SEM"] == "religion", "religion")
    usable = table["kind"].notna() & (table["group"] != "")
    table = table[usable].drop_duplicates(["group", "kind", "words"])

    # A noun that is also an adjective gets a name of its own.
    adjectives = table.loc[table["kind"] == "adjective", "words"]
    is_twin = (table["kind"] == "noun") & table["words"].isin(adjectives)
    return table.assign(term=table["words"].mask(is_twin, table["words"] + " (noun)"))


def _countries(genuine: bool) -> pd.DataFrame:
    """Return countries and their adjectives in six equal groups by *total* GDP.

    GDP is at purchasing power; group 1q has the smallest economies. Countries without a
    figure are left out. Spaces in an adjective become hyphens.
    """
    name = _FILES_OF_TERMS["nationality"]
    table = _read(f"terms/identity_terms/{name}.csv", genuine)

    product = pd.to_numeric(table["GDP_PPP"])
    sixths = [f"{sixth}q" for sixth in range(1, 7)]
    group = pd.qcut(product, 6, labels=sixths).astype(object)
    table = table.assign(term=table["TERM"], group=group)[product.notna()]

    countries = table.assign(kind="country", words=table["TERM"])
    hyphenated = table["COUNTRY_ADJ"].str.replace(" ", "-")
    adjectives = table.assign(kind="adjective", words=hyphenated)
    both = pd.concat([countries, adjectives])
    return both.query("words != ''")[["group", "kind", "term", "words"]]


def _names(genuine: bool) -> pd.DataFrame:
    """Return first names of both genders, numbered.

    They are the 100 of each gender in CheckList's lexicon, as in the paper's code.
    Where the lexicon is not at hand, up to 100 are drawn with a fixed seed from the
    released lists, and their numbers say so.
    """
    lexicon = ORIGINALS[LEXICON]

    parts = []
    for gender in ("female", "male"):
        if genuine and at_hand(lexicon):
            names = json.loads(original(lexicon).read_text(encoding="utf-8"))[gender]
            label = gender
        else:
            path = f"terms/identity_terms/wiktionary_names/only_{gender}_names.txt"
            words = _path(path, genuine).read_text("utf-8").split()
            known = sorted({name for name in words if name.isalpha()})
            names = np.random.default_rng(2021).permutation(known)[:100]
            label = f"{gender}, drawn"

        numbers = [f"{label} {number:03d}" for number in range(1, len(names) + 1)]
        columns = {"group": gender, "kind": "noun", "term": numbers, "words": names}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _group(name: str) -> str:
    """Return a group's name as in Table 3.

    "many genders" becomes many-genders, "chronic_illness" becomes chronic illness.
    """
    return name.lower().replace(" ", "-").replace("_", " ")


def _path(name: str, genuine: bool) -> Path:
    return original(ORIGINALS[name]) if genuine else _EXAMPLE / name


def _read(name: str, genuine: bool) -> pd.DataFrame:
    return pd.read_csv(_path(name, genuine), dtype=str, keep_default_na=False)
