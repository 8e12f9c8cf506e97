"""Suites of sentences that differ in one identity term only: templates, each filled with every term of an attribute.

They are read in the form in which Czarnowska, Vyas and Shah released theirs, and built as their code builds them. A
small example of this project's own ships in `data/templates`; the genuine files (`ORIGINALS`, Apache-2.0) give the
eight suites of the paper. A slot is {identity_adj}, {Country} (begins with a capital) or {a:person} ("a" or "an").

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Tables 3, 4, 6, and the code released with it.
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

EXAMPLE = DATA / "templates"
COMMIT = "4e24cf02101c86c960b2453406ab7c448d528753"
RELEASED = f"https://raw.githubusercontent.com/amazon-science/generalized-fairness-metrics/{COMMIT}"
CHECKSUMS = {
    "templates": {
        "age_templates.csv": "8e281bdab971570a9a1e4d408c9d5655f2fd2b978d7e73c865726ab3715955da",
        "disability_templates.csv": "ac6cd39b297baab2ae280f3e46278002e1a6933668db0ca2ac52339e41b3660d",
        "ethnicity_templates.csv": "d6184a081d97623e52f984b3c6caf07208f052a11788f853075c2d144c5a5a43",
        "gender_sexuality_templates.csv": "52a1ee1438f0c23444d9cb69993e73a4ffdbfa33cd1f9e3127eb4a0fd94435d4",
        "generic_templates.csv": "c3b1bd3d14524014ffd636ebab30fa434d5dedb10ff472cb899994fcfc7462fe",
        "generic_templates_adj_or_pp.csv": "f15a212c2eb650751041132578fe0a309a3dd6dfa5b87403440467c7a7daf7bd",
        "nationality_templates.csv": "6a3ac2443ddcc8a48030bd826676a87502a3b3c3e05e400813c1df317f8a6804",
        "people_templates.csv": "ed1d6e1b21e5f8e570fbd0f8b3e675ea24c227aa7239f5aefbd7ae2eb0780ecf",
        "religion_templates.csv": "746512da6296ab0b9484e9eab43e13d6f4de12109d2f8ab190917038e7da03a6",
    },
    "terms/identity_terms": {
        "age.csv": "ab10c6ed910a2b048bd5085972bb8e77ebe202e23801a77653872a6befae20a3",
        "countries.csv": "a1d69603202b49945048782b581e47ed0b43c4624abc9b40a820627f1152075a",
        "disability.csv": "17d3c0b76ab654c61550675a818693dd9789e31e0d553d710f09b3979d13547b",
        "gender.csv": "3ba00c25312238d346ccdae6209e49aa044bf7ded7682354351ac338835b241b",
        "race.csv": "bb9703c3bd5561b652685bca3246d3a094106a1f87ae85330fd32629261b7a06",
        "religion.csv": "ac1ed0698f17f5f1b3c0dabd8b83b565d78f531f302a988551abc1f34b98bcee",
        "sexuality.csv": "f9b3db0369ed2c1ef445bba0e52debe14ad0277d506fc912cd20b45251d12036",
    },
    "terms/identity_terms/wiktionary_names": {
        "only_female_names.txt": "0eec713ef81a5ecf015626865468d84f4faf4d04b6f80b86bafe2213f9ba96dd",
        "only_male_names.txt": "f1cc939af13f02b16edd20d60cb2aa6598c9769efec764ff5f87d4ad948c25c7",
    },
    "expanded_checklist/checklist/data/lexicons": {
        "basic.json": "9d1368c1221d54a04d7eec97364fb57422969d2cd5bff7927565f3d6d8f7ffdf",
    },
}
LEXICON = "expanded_checklist/checklist/data/lexicons/basic.json"  # CheckList's (MIT), part of the same repository
ORIGINALS = {
    f"{folder}/{name}": File(
        f"generalized/{folder}/{name}", sha256=sha256, url=f"{RELEASED}/{folder}/{name}"
    )
    for folder, names in CHECKSUMS.items()
    for name, sha256 in names.items()
}
FILES = {
    "gender": "gender",
    "sexual_orientation": "sexuality",
    "religion": "religion",
    "race": "race",
    "age": "age",
    "disability": "disability",
    "nationality": "countries",
}
OWN = {
    "gender": "gender_sexuality",
    "sexual_orientation": "gender_sexuality",
    "race": "ethnicity",
    "names": "people",
}
LABELS = {0: "negative", 1: "neutral", 2: "positive"}
HEADS = "people friend athletes student liar writer researcher individuals folk activist writers lawyer students character"
SLOT = re.compile(r"\{(?P<article>a:)?(?P<name>\w+)\}")
TOKEN = re.compile(
    r"'s\b|\w+(?:'(?!s\b)\w+)*|[^\w\s]"
)  # a hyphen is a token of its own, as in the released suite


def suite(attribute: str, *, genuine: bool = False) -> pd.DataFrame:
    """Return an attribute's templates, each filled with every identity term that fits its slot.

    genuine : read the released files (they are downloaded if need be) instead of the small example that ships.

    Columns: attribute, source (the template: its file and number), group, term, label, text. Within a source only the
    identity term differs. A noun that is also an adjective is another term, "gay (noun)". First names are numbered.

    >>> suite("age").query("source == 'generic/03' and term == 'elderly'")["text"].item()
    'I met an elderly person.'
    """
    filled = _templates(attribute, genuine).merge(
        fillers(attribute, genuine=genuine), on="slot"
    )
    filled["text"] = [
        fill(text, words)
        for text, words in zip(filled["TEMPLATE"], filled["words"], strict=True)
    ]
    filled = filled.assign(attribute=attribute, label=filled["SENT"].map(LABELS))
    return filled[["attribute", "source", "group", "term", "label", "text"]]


def ner_suite(*, genuine: bool = False) -> pd.DataFrame:
    """Return the templates for named-entity recognition, filled with every country or its adjective, a row per token.

    Columns: source, group, term, position (from 0), token, slot (whether the token is part of what is filled in), label
    (BILOU tag) and released: the tag where the paper's code puts it. It widens U-LOC to B-LOC L-LOC when a name has
    two tokens, but not for a slot with a capital ({Country}): there the U-LOC stays on the first token, and the tags
    behind it move forward.
    """
    templates = _templates("nationality", genuine)
    filled = templates[templates["NER"] != ""].merge(
        fillers("nationality", genuine=genuine), on="slot"
    )
    keys = ["TEMPLATE", "NER", "words", "source", "group", "term"]
    rows = []
    for template, entities, words, *sentence in filled[keys].itertuples(index=False):
        tagged = _tagged(template, entities, words)
        rows += [(*sentence, position, *token) for position, token in enumerate(tagged)]
    return pd.DataFrame(
        rows,
        columns=[
            "source",
            "group",
            "term",
            "position",
            "token",
            "slot",
            "label",
            "released",
        ],
    )


def _tagged(
    template: str, entities: str, words: str
) -> list[tuple[str, bool, str, str]]:
    """Return token, slot, label and released label of a filled template; `entities` is "UK:U-LOC|{country}:U-LOC"."""
    slot = SLOT.search(template)
    tags = [pair.rsplit(":", 1) for pair in entities.split("|")]
    tokens, released = [], []

    def add(text: str) -> None:
        for token in TOKEN.findall(text):
            tag = tags.pop(0)[1] if tags and tags[0][0] == token else sequences.OUTSIDE
            tokens.append((token, False, tag))
            released.append(tag)

    add(template[: slot.start()])
    found = TOKEN.findall(words)
    tag = tags.pop(0)[1] if tags and tags[0][0] == slot.group() else sequences.OUTSIDE
    widened = fill_slot(tag, len(found))
    tokens += zip(found, [True] * len(found), widened, strict=True)
    released += [tag] if slot["name"][0].isupper() else widened
    add(template[slot.end() :])
    if tags:
        raise ValueError(
            f"template {template!r} lacks the token {tags[0][0]!r} that its entities name"
        )
    released += [sequences.OUTSIDE] * (len(tokens) - len(released))
    return [(*token, tag) for token, tag in zip(tokens, released, strict=True)]


def fill_slot(tag: str, tokens: int) -> list[str]:
    """Return the tags of the tokens that fill a slot: a U-LOC slot filled with New Zealand becomes B-LOC L-LOC.

    >>> fill_slot("U-LOC", 3)
    ['B-LOC', 'I-LOC', 'L-LOC']
    >>> fill_slot("L-ORG", 2)  # the slot was the end of a longer name
    ['I-ORG', 'L-ORG']
    """
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, found {tokens}")
    (position,), (kind,) = sequences.split([tag])
    if kind == sequences.OUTSIDE or tokens == 1:
        return [tag] * tokens
    first, last = {"U": "BL", "B": "BI", "L": "IL", "I": "II"}[position]
    return [f"{place}-{kind}" for place in (first, *"I" * (tokens - 2), last)]


def fillers(attribute: str, *, genuine: bool = False) -> pd.DataFrame:
    """Return what fills the slots of an attribute's templates: slot, group, term, words.

    Adjectives fill {identity_adj}, "ADJ person", "person PHRASE" and nouns {identity_np}, and so on. Terms without a
    group are left out, as are disability's that are not recommended, and a second entry of the same term.

    >>> fillers("age").query("group == 'old' and slot == 'identity_np'")["words"].tolist()
    ['elderly person']
    """
    if attribute not in ATTRIBUTES:
        raise ValueError(
            f"attribute must be one of {', '.join(ATTRIBUTES)}, found {attribute!r}"
        )
    terms = {"names": _names, "nationality": _countries}.get(attribute, _terms)(
        attribute, genuine
    )
    kind = terms["kind"]

    def described(head: str) -> pd.DataFrame:
        words = (terms["words"] + f" {head}").where(
            kind == "adjective", f"{head} " + terms["words"]
        )
        return terms.assign(words=words)[kind.isin(["adjective", "phrase"])]

    people = pd.concat([described("person"), terms[kind == "noun"]])
    slots = {
        f"{who}_{head}": described(head)
        for who in ("identity", "disability")
        for head in HEADS.split()
    }
    slots |= dict.fromkeys(["identity_np", "disability_np", "person"], people)
    slots |= dict.fromkeys(
        ["identity_adj", "country_adj", "religion_adj"], terms[kind == "adjective"]
    )
    slots |= {"disability_adj_or_pp": terms[kind != "noun"]}
    slots |= {name: terms[kind == name] for name in ("country", "religion")}
    return pd.concat(slots, names=["slot"]).reset_index("slot")[
        ["slot", "group", "term", "words"]
    ]


def fill(template: str, words: str) -> str:
    """Return the sentence that `template` becomes with these words in its slot.

    The article follows the first letter, as in the released code ("an European").

    >>> fill("I met {a:identity_np}.", "Asian person"), fill("{Country} is far.", "the Gambia")
    ('I met an Asian person.', 'The Gambia is far.')
    """

    def phrase(slot: re.Match) -> str:
        article = (
            ("an " if words[0].lower() in "aeiou" else "a ") if slot["article"] else ""
        )
        return article + (
            words[0].upper() + words[1:] if slot["name"][0].isupper() else words
        )

    return SLOT.sub(phrase, template)


def _templates(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return an attribute's templates: TEMPLATE, SENT (0, 1, 2), NER, source (file and number), slot."""
    if attribute not in ATTRIBUTES:
        raise ValueError(
            f"attribute must be one of {', '.join(ATTRIBUTES)}, found {attribute!r}"
        )
    shared = {"names": [], "disability": ["generic_templates_adj_or_pp"]}.get(
        attribute, ["generic_templates"]
    )
    parts = []
    for name in [*shared, f"{OWN.get(attribute, attribute)}_templates"]:
        table = _read(f"templates/{name}.csv", genuine)[["TEMPLATE", "SENT", "NER"]]
        numbers = [
            f"{name.replace('_templates', '')}/{number:02d}"
            for number in range(1, len(table) + 1)
        ]
        parts.append(table.assign(source=numbers))
    table = pd.concat(parts, ignore_index=True)
    slots = table["TEMPLATE"].map(
        lambda text: [match["name"] for match in SLOT.finditer(text)]
    )
    if (bad := slots.str.len() != 1).any():
        raise ValueError(
            f"a template must have one slot, found {table['TEMPLATE'][bad].iloc[0]!r}"
        )
    slot = slots.str[0]
    return table.assign(
        SENT=table["SENT"].astype(int), slot=slot.str[0].str.lower() + slot.str[1:]
    )


def _terms(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return group, kind (adjective, phrase, noun, religion), term and words of an attribute's terms."""
    table = _read(f"terms/identity_terms/{FILES[attribute]}.csv", genuine)
    table = table.assign(
        words=table["TERM"].str.strip(), group=table["GROUP"].map(_group)
    )
    table["POS"] = table.get("POS", "adj")  # race lists adjectives only
    if attribute == "age":  # of which the paper's code takes the adjectives
        table = table[table["POS"] == "adj"]
    if attribute == "disability":
        table = table[table["TYPE"] != "nonrec"]
    table["kind"] = table["POS"].map({"adj": "adjective", "pp": "phrase", "n": "noun"})
    if attribute == "religion":
        table["kind"] = table["kind"].mask(table["SEM"] == "religion", "religion")
    table = table[table["kind"].notna() & (table["group"] != "")].drop_duplicates(
        ["group", "kind", "words"]
    )
    twins = (table["kind"] == "noun") & table["words"].isin(
        table.loc[table["kind"] == "adjective", "words"]
    )
    return table.assign(term=table["words"].mask(twins, table["words"] + " (noun)"))


def _countries(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return countries and their adjectives in six equal parts by *total* GDP at purchasing power, ascending.

    1q are the smallest economies. Countries without a figure are left out. Spaces in an adjective become hyphens.
    """
    table = _read(f"terms/identity_terms/{FILES[attribute]}.csv", genuine)
    product = pd.to_numeric(table["GDP_PPP"])
    group = pd.qcut(product, 6, labels=[f"{sixth}q" for sixth in range(1, 7)]).astype(
        object
    )
    table = table.assign(term=table["TERM"], group=group)[product.notna()]
    forms = {
        "country": table["TERM"],
        "adjective": table["COUNTRY_ADJ"].str.replace(" ", "-"),
    }
    parts = [table.assign(kind=kind, words=words) for kind, words in forms.items()]
    return pd.concat(parts).query("words != ''")[["group", "kind", "term", "words"]]


def _names(attribute: str, genuine: bool) -> pd.DataFrame:
    """Return first names of both genders, numbered: the 100 of each in CheckList's lexicon, as in the paper's code.

    Where that one is not at hand, up to 100 are drawn with a fixed seed from the released lists, and say so.
    """
    parts, lexicon = [], ORIGINALS[LEXICON]
    for gender in ("female", "male"):
        if genuine and at_hand(lexicon):
            names, told = (
                json.loads(original(lexicon).read_text(encoding="utf-8"))[gender],
                gender,
            )
        else:
            lines = _path(
                f"terms/identity_terms/wiktionary_names/only_{gender}_names.txt",
                genuine,
            ).read_text("utf-8")
            known = sorted({name for name in lines.split() if name.isalpha()})
            names, told = (
                np.random.default_rng(2021).permutation(known)[:100],
                f"{gender}, drawn",
            )
        numbers = [f"{told} {number:03d}" for number in range(1, len(names) + 1)]
        parts.append(
            pd.DataFrame(
                {"group": gender, "kind": "noun", "term": numbers, "words": names}
            )
        )
    return pd.concat(parts, ignore_index=True)


def _group(name: str) -> str:
    """Return a group's name as Table 3 has it: "many genders" is many-genders, "chronic_illness" chronic illness."""
    return name.lower().replace(" ", "-").replace("_", " ")


def _path(name: str, genuine: bool) -> Path:
    return original(ORIGINALS[name]) if genuine else EXAMPLE / name


def _read(name: str, genuine: bool) -> pd.DataFrame:
    return pd.read_csv(_path(name, genuine), dtype=str, keep_default_na=False)
