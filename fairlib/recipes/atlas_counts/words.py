"""Tests of word associations: counts from the user's clone."""

from pathlib import Path

import pandas as pd

from fairlib.recipes.atlas_counts.counting import WHOLE, Counts, json_file, tally

# Tests about flowers, musical instruments and diseases compare no groups of people.
_ABOUT_PEOPLE = (
    "weat3",
    "weat3b",
    "weat4",
    "weat5",
    "weat5b",
    "weat6",
    "weat6b",
    "weat7",
    "weat7b",
    "weat8",
    "weat8b",
    "weat10",
)
_IRREGULAR = {"man": "men", "woman": "women"}
_TARGETS = ("targ1", "targ2")


def weat(clone: Path) -> Counts:
    """Count the Word Embedding Association Tests that concern people.

    An item is a target word, which is its own cluster. In tests 7 and 8 the target
    words are school subjects, and the groups of people are the attributes.

    Parameters
    ----------
    clone : Path
        The clone of W4ngatang/sent-bias.

    Returns
    -------
    dict
        The counts of each test. The tests share words, so they have no sum; the
        numbers of test 6 (names, careers and families) stand for the whole.
    """
    counts = {test: tally(_words(clone, test)) for test in _ABOUT_PEOPLE}
    return {WHOLE: counts["weat6"]} | counts


def seat(clone: Path) -> Counts:
    """Count the Sentence Encoder Association Tests that concern people.

    An item is a simple sentence around a target word; a cluster is the word.

    Parameters
    ----------
    clone : Path
        The clone of W4ngatang/sent-bias.

    Returns
    -------
    dict
        The counts of each test; those of test 6 stand for the whole, as for `weat`.
    """
    counts = {}
    for test in _ABOUT_PEOPLE:
        words = _words(clone, test)
        forms = {word: _forms(word.lower()) for word in words["cluster"]}
        sentences = json_file(clone / "tests" / f"sent-{test}.jsonl")

        items = [
            {
                "group": sentences[target]["category"],
                "cluster": _word_in(sentence, forms),
            }
            for target in _TARGETS
            for sentence in sentences[target]["examples"]
        ]
        counts[test.replace("weat", "seat")] = tally(pd.DataFrame(items))
    return {WHOLE: counts["seat6"]} | counts


def _words(clone: Path, test: str) -> pd.DataFrame:
    """Read the target words of a test."""
    lists = json_file(clone / "tests" / f"{test}.jsonl")
    return pd.DataFrame(
        [
            {"group": lists[target]["category"], "cluster": word}
            for target in _TARGETS
            for word in lists[target]["examples"]
        ]
    )


def _word_in(sentence: str, forms: dict[str, set[str]]) -> str:
    """Return the word that a sentence contains, as it is or in another number."""
    text = f" {' '.join(sentence.lower().strip(' .').split())} "
    as_it_is = [word for word in forms if f" {word.lower()} " in text]
    in_another_form = [
        word
        for word, spellings in forms.items()
        if any(f" {spelling} " in text for spelling in spellings)
    ]

    # "This is her." holds "her" as it is, and "hers" without its last letter.
    fitting = as_it_is or in_another_form
    if not fitting:
        raise ValueError(
            f"no target word is in the sentence {sentence!r} of a SEAT test; "
            f"the words are {', '.join(forms)}"
        )
    return max(fitting, key=len)


def _forms(word: str) -> set[str]:
    """Return a word in singular and plural."""
    *before, last = word.split()
    forms = {last, f"{last}s", f"{last}es", _IRREGULAR.get(last, last)}
    forms.add(last.removesuffix("s"))
    forms.add(f"{last.removesuffix('y')}ies")
    return {" ".join([*before, form]) for form in forms}
