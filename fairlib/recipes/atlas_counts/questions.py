"""Benchmarks that ask questions: counts from the user's clones."""

import re
from itertools import combinations
from pathlib import Path

import pandas as pd

from fairlib.recipes.atlas_counts.counting import (
    WHOLE,
    Counts,
    delimited,
    joined,
    json_lines,
    tally,
    text_lines,
)

BBQ_CATEGORIES = (
    "Age",
    "Disability_status",
    "Gender_identity",
    "Nationality",
    "Physical_appearance",
    "Race_ethnicity",
    "Race_x_SES",
    "Race_x_gender",
    "Religion",
    "SES",
    "Sexual_orientation",
)
# In these, the words that describe an answer are also those that name the stereotyped
# groups. In the others, only a table of the release says which answer is meant.
_DESCRIBED_ALIKE = {
    "age",
    "disability_status",
    "nationality",
    "physical_appearance",
    "religion",
    "sexual_orientation",
}
MBBQ_CATEGORIES = (
    "Age",
    "Disability_status",
    "Gender_identity",
    "Physical_appearance",
    "SES",
    "Sexual_orientation",
)
_UNQOVER_SUBJECTS = ("country", "ethnicity", "religion")


def bbq(clone: Path) -> Counts:
    """Count BBQ: multiple-choice questions about two people.

    The whole is the ambiguous questions, on which the bias score is a mean. The part
    "disambiguated" is the other half, in two groups: the right answer agrees with the
    stereotype, or not. It has the six categories for which the questions themselves say
    so. A cluster is the template.

    The bundled counts of Gender_identity, Race_ethnicity, Race_x_SES, Race_x_gender and
    SES come from files that we wrote with the release's own generator and templates,
    because its files of these five are larger than 4 MiB and we could not get them.

    Parameters
    ----------
    clone : Path
        The clone of nyu-mll/BBQ.

    Returns
    -------
    dict
        The counts, as a whole and by category.
    """
    names = {category: f"{category}.jsonl" for category in BBQ_CATEGORIES}
    return _in_two_contexts(_bbq_questions(clone / "data", names))


def mbbq(clone: Path) -> Counts:
    """Count the English part of MBBQ, which has three more languages.

    Parameters
    ----------
    clone : Path
        The clone of Veranep/MBBQ.

    Returns
    -------
    dict
        The counts, as for `bbq`.
    """
    names = {category: f"{category}_en.jsonl" for category in MBBQ_CATEGORIES}
    return _in_two_contexts(_bbq_questions(clone / "data", names))


def kobbq(clone: Path) -> Counts:
    """Count the test samples of KoBBQ, BBQ's counterpart for Korea.

    The number of a template is the same for its variants, which are letters.

    Parameters
    ----------
    clone : Path
        The clone of naver-ai/KoBBQ.

    Returns
    -------
    dict
        The counts, as for `bbq`.
    """
    columns = ["sample_id", "biased_answer", "answer"]
    samples = delimited(clone / "data" / "KoBBQ_test_samples.tsv", columns)
    names = samples["sample_id"].str.extract(
        r"^(?P<category>.+)-(?P<number>\d+)[a-z]*-[^-]+-(?P<context>amb|dis)-[^-]+$"
    )
    names["cluster"] = joined(names, ["category", "number"])
    names["ambiguous"] = names["context"].eq("amb")
    names["agrees"] = samples["answer"].eq(samples["biased_answer"])
    return _in_two_contexts(names)


def _bbq_questions(folder: Path, names: dict[str, str]) -> pd.DataFrame:
    """Read questions in BBQ's form, and find out which answer agrees with prejudice."""
    categories = []
    for category, name in names.items():
        questions = json_lines(folder / name)
        about_target = [
            _is_about(answer[f"ans{label}"], metadata["stereotyped_groups"])
            for answer, label, metadata in zip(
                questions["answer_info"],
                questions["label"],
                questions["additional_metadata"],
                strict=True,
            )
        ]

        negative = questions["question_polarity"].eq("neg")
        questions["ambiguous"] = questions["context_condition"].eq("ambig")
        questions["agrees"] = pd.Series(about_target).eq(negative)
        questions["category"] = category.lower()

        number = questions["question_index"].astype(str)
        questions["cluster"] = questions["category"] + "|" + number
        categories.append(questions[["category", "cluster", "ambiguous", "agrees"]])

    every = pd.concat(categories, ignore_index=True)
    described_alike = every["category"].isin(_DESCRIBED_ALIKE)
    return every[every["ambiguous"] | described_alike]


def _is_about(person: list[str], stereotyped: list[str]) -> bool:
    """Return whether an answer names a person of a group that is stereotyped."""
    names = {name.lower() for name in stereotyped}
    return any(str(word).lower() in names for word in person)


def _in_two_contexts(questions: pd.DataFrame) -> Counts:
    """Count the ambiguous questions and the others, as a whole and by category."""
    ambiguous = questions[questions["ambiguous"]]
    clear = questions[~questions["ambiguous"]]
    group = clear["agrees"].map({True: "agrees", False: "disagrees"})
    clear = clear.assign(group=group)

    # An ambiguous question is about both people, so its group is the category.
    ambiguous = ambiguous.assign(group=ambiguous["category"])
    counts = {WHOLE: tally(ambiguous), "disambiguated": tally(clear)}
    for category, rows in ambiguous.groupby("category"):
        counts[category] = tally(rows)
    for category, rows in clear.groupby("category"):
        counts[f"{category}_disambiguated"] = tally(rows)
    return counts


def unqover(clone: Path) -> Counts:
    """Count UnQover: contexts about two people, and no hint whom a question means.

    The release makes each context from a template, an ordered pair of subjects and an
    activity; here they are counted without being written out. Each is asked two
    questions. The contexts of the models for questions are counted, and not those of
    the masked language models.

    Parameters
    ----------
    clone : Path
        The clone of allenai/unqover.

    Returns
    -------
    dict
        The counts of each part; a cluster is the activity, and a pair is a context in
        its two orders. The parts have no sum; "gender" stands for the whole.
    """
    words = clone / "word_lists"
    women = _subjects(words / "nouns" / "subjects" / "female")
    men = _subjects(words / "nouns" / "subjects" / "male")

    counts = {
        "gender": _unqover_part(
            words,
            pairs=len(women) * len(men),
            slots="gender_noact",
            activities="occupation_rev1",
        )
        | {"groups": 2, "names": len(women) + len(men)}
    }

    for subject in _UNQOVER_SUBJECTS:
        subjects = _subjects(words / "nouns" / "subjects" / subject)
        pairs = len(list(combinations(subjects, 2)))
        counts[subject] = _unqover_part(
            words,
            pairs=pairs,
            slots=f"{subject}_noact",
            activities=f"biased_{subject}",
        ) | {"groups": len(subjects)}
    return {WHOLE: counts["gender"]} | counts


def _subjects(path: Path) -> list[str]:
    """Read the subjects of a list; other forms of the same subject are left out."""
    lines = _entries(path)
    return [line for line in lines if line.split(maxsplit=1)[0] == "[subj]"]


def _entries(path: Path) -> list[str]:
    """Read the lines of a list of words that are not comments."""
    return [line for line in text_lines(path) if not line.startswith("#")]


def _unqover_part(
    words: Path, *, pairs: int, slots: str, activities: str
) -> dict[str, int]:
    """Count the contexts of one kind of subjects."""
    heads = [
        line.split(maxsplit=1)[0]
        for line in _entries(words / "activities" / activities)
    ]
    # "[p_act:neg]" is another form of "[p_act]": the forms belong to one activity.
    kinds = pd.Series([head for head in heads if ":" not in head]).value_counts()
    templates = _entries(words / "slots" / slots)
    filled = 0
    for template in templates:
        used = {
            re.sub(r":.*", "]", slot)
            for slot in re.findall(r"\[\w+_act[^\]]*\]", template)
        }
        filled += sum(int(kinds.get(kind, 0)) for kind in used)

    unordered = filled * pairs
    return {
        "items": 2 * unordered,
        "pairs": unordered,
        "templates": len(templates),
        "clusters": int(kinds.max()),
        "smallest_cluster": 2 * pairs * filled // int(kinds.max()),
        "largest_cluster": 2 * pairs * filled // int(kinds.max()),
    }
