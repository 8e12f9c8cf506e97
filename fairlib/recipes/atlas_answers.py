"""Answers of models to bias benchmarks, counted from the authors' own releases.

Published claims about bias are tested again in `fairlib.recipes.atlas_claims`. What the
tests need is counted here, from the user's clones of public repositories. No sentence,
question or prompt of a benchmark is kept: templates, terms and statements are numbers.
"""

import ast
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from fairlib.data import DataError
from fairlib.recipes.originals import File, original, recipe, require_columns


def _clone(repository: str, commit: str) -> File:
    """Return the folder of the user's clone of a public repository."""
    name = repository.replace("/", "+")
    return File(
        f"atlas/{name}",
        how=f"In the folder of originals, run `git clone https://github.com/"
        f"{repository} atlas/{name}`, and in the clone `git checkout {commit}`.",
    )


HATECHECK = _clone(
    "paul-rottger/hatecheck-experiments", "42fae2a422f63b7ecd7a43e6efb9596909df0fbe"
)
BBQ = _clone("nyu-mll/BBQ", "bea11bd97d79217245b5871acd247b9d6eb24598")
STEREOSET = _clone("moinnadeem/StereoSet", "ead7d086a64a192a1eca88e0dd2fd163de375218")
STEREOSET_LABELS = _clone("zjunlp/EditBias", "5ecfebcf154a40107cf7e885ab0a3c8274378a5b")
WINOMT = _clone(
    "gabrielStanovsky/mt_gender", "586292861cf2efdda2dec03c69c3408995a8b293"
)
DECODINGTRUST = _clone(
    "AI-secure/DecodingTrust", "161ae8321ced62f45fcd9ceb412e05b47c603cd4"
)

# The order of the groups in the column `errors` of `atlas_hatecheck`.
HATECHECK_GROUPS = (
    "women",
    "trans people",
    "gay people",
    "black people",
    "disabled people",
    "Muslims",
    "immigrants",
)
HATECHECK_SYSTEMS = {
    "BERT-D": "pred_BERT_davidson2017_weighted",
    "BERT-F": "pred_BERT_founta2018_weighted",
    "Perspective": "pred_perspective",
    "SiftNinja": "pred_siftninja",
}
BBQ_CATEGORIES = (
    "Age",
    "Disability_status",
    "Nationality",
    "Physical_appearance",
    "Religion",
    "Sexual_orientation",
)
BBQ_FORMATS = {"ARC": "unifiedqa-t5-11b_pred_arc", "RACE": "unifiedqa-t5-11b_pred_race"}
# The order of the models in the column `choices` of `atlas_stereoset`.
STEREOSET_MODELS = {
    "bert-base-cased": "bert-base-cased_BertNextSentence_BertLM",
    "bert-large-cased": "bert-large-cased_BertNextSentence_BertLM",
    "gpt2": "gpt2_ModelNSP_GPT2LM",
    "gpt2-medium": "gpt2-medium_ModelNSP_GPT2LM",
    "gpt2-large": "gpt2-large_ModelNSP_GPT2LM",
    "roberta-base": "roberta-base_ModelNSP_RoBERTaLM",
    "roberta-large": "roberta-large_ModelNSP_RoBERTaLM",
    "xlnet-base-cased": "xlnet-base-cased_ModelNSP_XLNetLM",
    "xlnet-large-cased": "xlnet-large-cased_ModelNSP_XLNetLM",
    "EnsembleModel": "EnsembleModel_",
    "SentimentModel": "SentimentModel",
}
_GOLD_LABELS = {
    "gender": "data/stereoset/syn/gender_test_syn.json",
    "race": "data/stereoset/race_test.json",
    "religion": "data/stereoset/religion_test.json",
}
WINOMT_SYSTEMS = {
    "google": "de es fr he it ru uk",
    "bing": "es fr he it ru uk",
    "systran": "es fr it ru uk",
}
DECODINGTRUST_MODELS = {"GPT-3.5": "gpt-3.5-turbo-0301", "GPT-4": "gpt-4-0314"}
_CELLS_OF_LOG = re.compile(
    r"<GENDER\.(\w+): \d>: defaultdict\([^{]*\{([^{}]*)\}", re.DOTALL
)
_COUNT_OF_LOG = re.compile(r"<GENDER\.(\w+): \d>: (\d+)")


@recipe(files=[HATECHECK])
def atlas_hatecheck() -> DataFrame:
    """HateCheck: templates by which of seven groups a system gets wrong.

    One row per system, functionality, label and pattern of errors. A pattern has an "x"
    for each group whose version of the template is classified wrongly, and a "." for
    each of the others, in the order of `HATECHECK_GROUPS`.
    """
    cases = _hatecheck_cases()
    cases = cases[cases["case_templ"].str.contains("IDENTITY", regex=False)]

    rows = []
    for system in HATECHECK_SYSTEMS:
        by_group = cases.pivot(
            index=["functionality", "label_gold", "templ_id"],
            columns="target_ident",
            values=system,
        )
        is_wrong = by_group[list(HATECHECK_GROUPS)]
        counts = _patterns(is_wrong, ".x").rename("errors").reset_index()
        rows.append(counts.assign(system=system))

    templates = pd.concat(rows)
    templates["hateful"] = templates["label_gold"].eq("hateful").astype(int)
    return _counted(
        templates, ["system", "functionality", "hateful", "errors"], "templates"
    )


@recipe(files=[HATECHECK])
def atlas_hatecheck_totals() -> DataFrame:
    """HateCheck: cases by system, label and whether the label was found.

    These are all 3,728 cases, with and without templates.
    """
    cases = _hatecheck_cases()
    long = cases.melt("label_gold", list(HATECHECK_SYSTEMS), "system", "wrong")
    long["hateful"] = long["label_gold"].eq("hateful").astype(int)
    long["wrong"] = long["wrong"].astype(int)
    return _counted(long, ["system", "hateful", "wrong"], "cases")


@recipe(files=[BBQ])
def atlas_bbq() -> DataFrame:
    """BBQ: UnifiedQA's answers to six categories, by template and kind of question.

    The answer is `biased` if it agrees with the stereotype that the question asks for,
    and `counter` if it names the other person. It is `unknown` if it says that the
    context does not tell, `unread` if it is none of the three, and `unclear` if the
    release does not say which of the two people the stereotype is about.
    """
    tables = [_bbq_answers(category) for category in BBQ_CATEGORIES]

    columns = [
        "category",
        "format",
        "context",
        "template",
        "polarity",
        "aligned",
        "answer",
        "right",
    ]
    return _counted(pd.concat(tables), columns, "questions")


@recipe(files=[STEREOSET, STEREOSET_LABELS])
def atlas_stereoset() -> DataFrame:
    """StereoSet: intrasentence items by term and by the models' choices.

    A pattern of choices has an "s" for each model that gives the stereotype a higher
    score than its opposite, and an "o" for each of the others, in the order of
    `STEREOSET_MODELS`.
    """
    folder = original(STEREOSET) / "code" / "predictions"
    scores = DataFrame(
        {
            model: _scores_of_sentences(folder / f"predictions_{name}.json")
            for model, name in STEREOSET_MODELS.items()
        }
    )

    tables = []
    for domain, path in _GOLD_LABELS.items():
        labels = _gold_labels(original(STEREOSET_LABELS) / path)
        stereotype = scores.loc[labels["stereotype"]].reset_index(drop=True)
        opposite = scores.loc[labels["anti-stereotype"]].reset_index(drop=True)
        choices = _patterns(stereotype > opposite, "os")
        tables.append(labels.assign(choices=choices, domain=domain))
    return _counted(pd.concat(tables), ["domain", "term", "choices"], "items")


@recipe(files=[WINOMT])
def atlas_winomt() -> DataFrame:
    """WinoMT: sentences by system, language, gender and translated gender."""
    rows = [
        (system, language, gold, predicted, sentences)
        for system, languages in WINOMT_SYSTEMS.items()
        for language in languages.split()
        for gold, predicted, sentences in _cells_of_log(system, language)
    ]
    columns = ["system", "language", "gold", "predicted", "sentences"]
    return DataFrame(rows, columns=columns).sort_values(columns[:-1], ignore_index=True)


@recipe(files=[DECODINGTRUST])
def atlas_income() -> DataFrame:
    """DecodingTrust: 200 people by sex, income and the answers of two models."""
    folder = original(DECODINGTRUST) / "data" / "fairness"
    people = DataFrame(
        {
            "sex": _array(folder, "sensitive_attr_adult_0_200_test_base_rate_0.0.npy"),
            "rich": _array(folder, "gt_labels_adult_0_200_test_base_rate_0.0.npy"),
        }
    )

    prompts = {}
    for model, name in DECODINGTRUST_MODELS.items():
        path = folder / "generations" / f"{name}_adult_0_200.jsonl"
        answers = json.loads(path.read_text(encoding="utf-8"))
        prompts[model] = [messages[-1]["content"] for messages, _ in answers]
        people[model] = [_yes_or_no(answer) for _, answer in answers]

    if len({tuple(texts) for texts in prompts.values()}) != 1:
        raise DataError(f"{folder} does not ask both models about the same people")
    return _counted(people, ["sex", "rich", *DECODINGTRUST_MODELS], "people")


@recipe(files=[DECODINGTRUST])
def atlas_statements() -> DataFrame:
    """DecodingTrust: agreement of two models with 48 stereotypes, by statement.

    Each statement is made about 24 groups, and each model answers each of these
    sentences 25 times, under three system prompts.
    """
    folder = original(DECODINGTRUST) / "data" / "stereotype"
    prompts = pd.read_csv(folder / "dataset" / "user_prompts.csv")
    number = {}
    for template in prompts["stereotype_template"]:
        number.setdefault(template, len(number))
    statement_of = dict(
        zip(
            prompts["user_prompt"],
            prompts["stereotype_template"].map(number),
            strict=True,
        )
    )

    tables = []
    for model, name in DECODINGTRUST_MODELS.items():
        for kind in ("benign", "untargeted", "targeted"):
            paths = sorted((folder / "generations/openai" / kind).glob(f"{name}_*.csv"))
            answers = pd.concat(_agreements(path, statement_of) for path in paths)
            tables.append(answers.assign(model=model, prompt=kind))

    columns = ["model", "prompt", "statement", "answer"]
    return _counted(pd.concat(tables), columns, "answers")


def _counted(frame: DataFrame, columns: list[str], name: str) -> DataFrame:
    """Count rows by columns, in the order of the columns' values."""
    counts = frame[columns].value_counts().rename(name).reset_index()
    return counts.sort_values(columns, ignore_index=True)


def _patterns(is_so: DataFrame, letters: str) -> Series:
    """Write each row of truth values as a word of two letters, one for each column."""
    no, yes = letters
    written = is_so.astype(bool).replace({False: no, True: yes})
    return written.agg("".join, axis=1)


def _hatecheck_cases() -> DataFrame:
    """Return all cases of HateCheck, with a column of errors for each system."""
    folder = original(HATECHECK) / "Data" / "Test Suite"
    path = folder / "hatecheck_final_ACL.csv"
    columns = ["functionality", "case_id", "label_gold", "target_ident", "templ_id"]
    cases = require_columns(
        pd.read_csv(path, index_col=0), [*columns, "case_templ"], path
    )
    for name in ("BERT_weighted", "commercial_models"):
        answers = _pickled_frame(folder / f"results_{name}_ACL.pkl")
        cases = cases.merge(answers, how="left", on="case_id", validate="1:1")

    for system, column in HATECHECK_SYSTEMS.items():
        cases[system] = cases[column] != cases["label_gold"]
    return cases


class _Stored:
    """What a pickled pandas object is made of; none of its own code is run."""

    def __new__(cls, *arguments: Any, **_: Any) -> "_Stored":
        """Keep the arguments."""
        stored = super().__new__(cls)
        stored.arguments = arguments
        stored.state = None
        return stored

    def __init__(self, *_: Any, **__: Any) -> None:
        """Do nothing more."""

    def __setstate__(self, state: Any) -> None:
        """Keep the state."""
        self.state = state


class _Unpickler(pickle.Unpickler):
    """Reads arrays out of pickled tables, and builds nothing else.

    Current versions of pandas do not open these files of 2021. And a pickle may run any
    code: here, only NumPy's constructors of arrays are ever called.
    """

    _ARRAYS = ("_reconstruct", "_frombuffer", "ndarray", "dtype")

    def find_class(self, module: str, name: str) -> Any:
        """Return the constructor of an array, or a class that only stores."""
        if module.startswith("numpy") and name in self._ARRAYS:
            current = module.replace("numpy.core", "numpy._core")
            return super().find_class(current, name)
        if (module, name) == ("builtins", "slice"):
            return slice
        return type(name, (_Stored,), {})


def _pickled_frame(path: Path) -> DataFrame:
    """Return a pickled table as it was saved by a pandas of 2021."""
    with path.open("rb") as stream:
        stored = _Unpickler(stream).load()
    _, blocks, names, *_ = stored.state["_mgr"].state

    columns = {}
    for block, name_of_block in zip(blocks, names, strict=True):
        is_text = isinstance(block, _Stored)
        values = block.state["_ndarray"] if is_text else block
        for name, column in zip(
            name_of_block.arguments[1]["data"], np.atleast_2d(values), strict=True
        ):
            columns[name] = column
    return DataFrame(columns)


def _bbq_answers(category: str) -> DataFrame:
    """Return one row per question and format of a category of BBQ."""
    path = original(BBQ) / f"results/UnifiedQA/preds_{category}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = []
    for question in map(json.loads, lines):
        target = _stereotyped(question)
        for style, column in BBQ_FORMATS.items():
            rows.append(_bbq_row(question, style, question[column], target))
    return DataFrame(rows)


def _bbq_row(question: dict, style: str, text: str, target: int | None) -> dict:
    """Return what is counted of one answer."""
    given = _option_given(question, text)
    is_negative = question["question_polarity"] == "neg"
    is_ambiguous = question["context_condition"] == "ambig"
    aligned = "none"
    if not is_ambiguous and target is not None:
        agrees = (question["label"] == target) == is_negative
        aligned = "yes" if agrees else "no"

    return {
        "category": question["category"],
        "format": style,
        "context": question["context_condition"],
        "template": int(question["question_index"]),
        "polarity": question["question_polarity"],
        "aligned": aligned,
        "answer": _kind_of_answer(question, given, target),
        "right": int(given == question["label"]),
    }


def _kind_of_answer(question: dict, given: int | None, target: int | None) -> str:
    """Say in one word how an answer relates to the stereotype."""
    if given is None:
        return "unread"
    if question["answer_info"][f"ans{given}"][1] == "unknown":
        return "unknown"
    if target is None:
        return "unclear"
    is_negative = question["question_polarity"] == "neg"
    return "biased" if (given == target) == is_negative else "counter"


def _stereotyped(question: dict) -> int | None:
    """Return which option names the stereotyped person, if exactly one does."""
    groups = {
        str(group) for group in question["additional_metadata"]["stereotyped_groups"]
    }
    options = [
        option
        for option in range(3)
        if groups.intersection(map(str, question["answer_info"][f"ans{option}"]))
    ]
    return options[0] if len(options) == 1 else None


def _option_given(question: dict, text: str) -> int | None:
    """Return the option that an answer names, by the rules of the authors' script.

    An answer counts if it equals an option, up to a full stop at its end, or else if it
    contains the first two words of an option's short name.
    """
    answer = _plain(text.replace("o'brien", "obrien"))
    answer = re.sub("pantsu$", "pantsuit", answer)
    for option in range(3):
        if answer == _plain(question[f"ans{option}"].replace("}", "")):
            return option

    for option in range(3):
        short = question["answer_info"][f"ans{option}"][0].lower().split(" ")
        # The script's function gives no words where there are not two.
        if len(short) >= 2 and " ".join(short[:2]) in answer:
            return option
    return None


def _plain(text: str) -> str:
    """Return a text in small letters, without a full stop or spaces at its ends."""
    return re.sub(r"\.$", "", text.strip()).strip().lower()


def _scores_of_sentences(path: Path) -> Series:
    """Return a model's score of each sentence, by the sentence's id."""
    answers = json.loads(path.read_text(encoding="utf-8"))["intrasentence"]
    return Series({answer["id"]: answer["score"] for answer in answers})


def _gold_labels(path: Path) -> DataFrame:
    """Return the ids of the stereotype and of its opposite, and the term's number."""
    items = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for item in items:
        ids = {sentence["gold_label"]: sentence["id"] for sentence in item["sentences"]}
        rows.append({"target": item["target"], **ids})

    labels = DataFrame(rows)
    terms = sorted(set(labels["target"]))
    return labels.assign(term=labels["target"].map(terms.index) + 1)


def _cells_of_log(system: str, language: str) -> list[tuple[str, str, int]]:
    """Return gender, translated gender and number of sentences, from a log."""
    path = original(WINOMT) / "logs" / system / f"{language}.log"
    cells = [
        (gold, predicted, int(sentences))
        for gold, row in _CELLS_OF_LOG.findall(path.read_text(encoding="utf-8"))
        for predicted, sentences in _COUNT_OF_LOG.findall(row)
    ]
    if not cells:
        raise DataError(f"{path} holds no table of genders")
    return cells


def _array(folder: Path, name: str) -> np.ndarray:
    """Return an array of the folder with the people."""
    return np.load(folder / "fairness_data" / name, allow_pickle=False)


def _yes_or_no(answer: dict) -> str:
    """Return an answer in one small word: "yes", "no" or "other"."""
    word = answer["choices"][0]["message"]["content"].strip().strip(".").lower()
    return word if word in ("yes", "no") else "other"


def _agreements(path: Path, statement_of: dict[str, int]) -> DataFrame:
    """Return one row per answer: the statement's number, and agreement in a word."""
    frame = pd.read_csv(path)
    unknown = set(frame["user_prompt"]) - set(statement_of)
    if unknown:
        raise DataError(f"{path} holds {len(unknown)} prompt(s) that no one asked")

    given = [column for column in frame if column.startswith("gen_")]
    long = frame.assign(statement=frame["user_prompt"].map(statement_of)).melt(
        "statement", given, value_name="text"
    )
    words = {1: "agrees", -1: "disagrees", 0: "neither"}
    long["answer"] = [
        words[ast.literal_eval(text)["agreeability_num"]] for text in long["text"]
    ]
    return long[["statement", "answer"]]
