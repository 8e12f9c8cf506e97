"""Sentiment (SemEval-2018 valence, 2 and 3 classes) and named entities (CoNLL-2003): train, score, run on the suites.

The suites are those released with the paper (`fairlib.suites`), so that the encoder alone differs from it.

Two families of models see the same data: a fine-tuned encoder with three seeds, and counted words with logistic
regression. The encoder is a setting: the environment variable FAIRLIB_ENCODER names one on the Hugging Face hub or in
a folder (`roberta-base` is the paper's); by default it is the small one that comes as a package and needs no network.
Finished runs lie in `build/models/` and are not trained again.

Reference: Czarnowska, Vyas, Shah (2021), section 5 and Table 5.
"""

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from fairlib.data import ROOT, write_whole
from fairlib.recipes import corpora, suites, templates
from fairlib.recipes.training import tags, wordfeatures

CHECKPOINTS = ROOT / "build" / "models"
SEEDS = (0, 1, 2)
TASKS = ("semeval2", "semeval3", "conll2003")
CLASSES = {
    "semeval2": ("negative", "positive"),
    "semeval3": ("negative", "neutral", "positive"),
    "conll2003": tags.TAGS,
}
SPLITS = ("dev", "test")
SUITE = ["attribute", "source", "group", "term", "label"]
ENTITY_SUITE = ["source", "group", "term", "position", "slot", "label", "released"]
SCORES = ["split", "class", "gold", "predicted", "correct"]
DIGITS = 5  # of a stored probability
_OUTCOMES: dict[str, list] = {}  # by task: three tables are made from the same runs


@dataclass(frozen=True)
class Outcome:
    """What one run gives: counts on the dev and test splits, and log probabilities on
    the suites.
    """

    task: str
    model: str
    seed: int
    scores: pd.DataFrame
    log_probability: np.ndarray


def suite_predictions() -> pd.DataFrame:
    """Return one row per model, classes (2 or 3), seed and sentence of the eight suites; no text.

    p_neutral is missing for 2 classes. The 2-class models see the neutral sentences too.
    """
    return _tidy(
        [sentiment_table(outcome) for outcome in outcomes(("semeval2", "semeval3"))]
    )


def country_predictions() -> pd.DataFrame:
    """Return one row per model, seed and token of the entity suite; no text but the
    countries' names.
    """
    return _tidy([entity_table(outcome) for outcome in outcomes(("conll2003",))])


def scores() -> pd.DataFrame:
    """Return one row per model, task, seed, split and class: examples (or entities) gold, predicted and correct.

    Accuracy is correct / gold over the classes, F1 = 2 correct / (gold + predicted).
    """
    made = [
        outcome.scores.assign(model=outcome.model, task=outcome.task, seed=outcome.seed)
        for outcome in outcomes()
    ]
    return pd.concat(made, ignore_index=True)[["model", "task", "seed", *SCORES]]


def outcomes(tasks: tuple[str, ...] = TASKS) -> list[Outcome]:
    """Run both families on the tasks, each task once in a process; what is finished
    comes from its checkpoint.
    """
    missing = [task for task in tasks if task not in _OUTCOMES]
    for outcome in [*_fine_tuned(missing), *map(word_feature_run, missing)]:
        _OUTCOMES.setdefault(outcome.task, []).append(outcome)
    return [outcome for task in tasks for outcome in _OUTCOMES[task]]


def _fine_tuned(tasks: list[str]) -> list[Outcome]:
    """Return the runs of the encoder in a fixed order: one process per core, or one
    after another on a GPU.
    """
    from fairlib.recipes.training import encoder

    encoder.location(
        encoder_settings(TASKS[0]).encoder
    )  # fails here, in words, where the packaged encoder is not installed
    jobs = list(product(tasks, SEEDS))
    if encoder.on_gpu():
        return [encoder_run(*job) for job in jobs]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        running = {
            job: pool.submit(encoder_run, *job) for job in reversed(jobs)
        }  # the longest task first
        return [running[job].result() for job in jobs]


def encoder_run(task: str, seed: int) -> Outcome:
    """Fine-tune the encoder and let it see the dev and test splits and the suites; what is finished is not done again.

    The weights and the outputs are kept apart, so that a change in the suites does not train anything again.
    """
    from fairlib.recipes.training import encoder

    settings = encoder_settings(task)
    examples, labels = training_data(task)
    model = Path(settings.encoder).name
    name = f"{task}-{model.lower()}-seed{seed}"

    def make() -> Outcome:
        numbers = {label: number for number, label in enumerate(CLASSES[task])}
        targets = [
            [numbers[tag] for tag in row] if settings.per_word else numbers[row]
            for row in labels
        ]
        trained = encoder.trained(
            CHECKPOINTS / f"{name}.safetensors",
            encoder.encode(examples, settings),
            targets,
            classes=len(CLASSES[task]),
            settings=settings,
            seed=seed,
            facts={"data": fingerprint(examples, labels)},
            title=name,
        )

        def predict(sequences: list) -> np.ndarray:
            return encoder.predict(
                trained, encoder.encode(sequences, settings), settings=settings
            )

        return _outcome(task, model, seed, predict)

    facts = fingerprint(
        task, model, seed, asdict(settings), examples, labels, _sequences(task)
    )
    return kept(CHECKPOINTS / f"{name}.npz", facts, make)


def kept(path: Path, facts: str, make: Callable[[], Outcome]) -> Outcome:
    """Return the outcome at `path` if these facts decided it, else make it and keep it
    there (no pickles).
    """
    if path.exists():
        with np.load(path) as saved:
            if saved["facts"] == facts:
                scores = pd.DataFrame({name: saved[name] for name in SCORES})
                return Outcome(
                    str(saved["task"]),
                    str(saved["model"]),
                    int(saved["seed"]),
                    scores,
                    saved["logs"],
                )
    outcome = make()
    scores = {name: np.array(outcome.scores[name].tolist()) for name in SCORES}
    run = {
        "task": outcome.task,
        "model": outcome.model,
        "seed": outcome.seed,
        "logs": outcome.log_probability,
    }
    write_whole(
        path, lambda beside: np.savez_compressed(beside, facts=facts, **run, **scores)
    )
    return outcome


def encoder_settings(task: str):
    """Return the settings of a task; for whatever encoder is named, they are the same.

    An encoder that sees capitals needs no help to see them.
    """
    from fairlib.recipes.training.encoder import PACKAGED, Settings

    name = os.environ.get("FAIRLIB_ENCODER") or PACKAGED
    if task == "conll2003":
        return Settings(
            name,
            per_word=True,
            cased="uncased" in name or name == PACKAGED,
            epochs=1,
            learning_rate=2e-4,
        )
    return Settings(name, epochs=3)


def word_feature_run(task: str) -> Outcome:
    """Fit the second family on a task (a minute or two for named entities) and let it
    see dev, test and the suites.
    """
    examples, labels = training_data(task)
    if task == "conll2003":
        name, model, features = (
            wordfeatures.TAGGER,
            wordfeatures.tagger_model(),
            wordfeatures.word_features,
        )
    else:
        name, model, features = (
            wordfeatures.SENTIMENT,
            wordfeatures.sentiment_model(),
            list,
        )
    model.fit(features(examples), np.hstack(labels))

    def predict(sequences: list) -> np.ndarray:
        return wordfeatures.log_probabilities(model, features(sequences), CLASSES[task])

    return _outcome(task, name, 0, predict)


def training_data(task: str, split: str = "train") -> tuple[list, list]:
    """Return examples and labels: texts and classes, or lists of words and lists of
    tags.
    """
    if task == "conll2003":
        return by_sentence(corpora.conll(split))
    table = corpora.semeval(split, classes=len(CLASSES[task]))
    return table["text"].tolist(), table["label"].tolist()


def by_sentence(
    tokens: pd.DataFrame, keys: str | list[str] = "sentence"
) -> tuple[list, list]:
    """Return the words and the tags of a table of tokens as lists of lists, one per
    sentence, in order.
    """
    grouped = tokens.groupby(keys, sort=False)
    return grouped["token"].agg(list).tolist(), grouped["label"].agg(list).tolist()


def suite(task: str) -> pd.DataFrame:
    """Return what the models are run on: all sentences of the released suites, or the
    entity suite.
    """
    if task == "conll2003":
        return suites.ner_suite(genuine=True)
    return pd.concat(
        [suites.suite(name, genuine=True) for name in templates.ATTRIBUTES],
        ignore_index=True,
    )


def fingerprint(*parts) -> str:
    """Return a checksum of what decides a run, so that a finished run is only taken for
    what it is.
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _outcome(task: str, model: str, seed: int, predict) -> Outcome:
    tables = []
    for split in SPLITS:
        examples, labels = training_data(task, split)
        tables.append(count(task, labels, predict(examples)).assign(split=split))
    return Outcome(
        task,
        model,
        seed,
        pd.concat(tables, ignore_index=True),
        predict(_sequences(task)),
    )


def _sequences(task: str) -> list:
    """Return the suite as a model reads it: texts, or lists of words."""
    frame = suite(task)
    return (
        by_sentence(frame, ["source", "group", "term"])[0]
        if task == "conll2003"
        else frame["text"].tolist()
    )


def count(task: str, labels: list, log_probability: np.ndarray) -> pd.DataFrame:
    """Count examples per class, or entities per kind: gold, predicted, correct."""
    if task == "conll2003":
        lengths = np.array([len(row) for row in labels])
        predicted = np.array(tags.TAGS)[tags.best_sequence(log_probability, lengths)]
        return tags.span_counts(
            np.concatenate(labels),
            predicted,
            np.repeat(np.arange(len(lengths)), lengths),
        )
    label, predicted = (
        pd.Series(labels),
        pd.Series(np.array(CLASSES[task])[log_probability.argmax(axis=1)]),
    )
    counts = {
        "gold": label,
        "predicted": predicted,
        "correct": label[label == predicted],
    }
    table = pd.DataFrame(
        {name: values.value_counts() for name, values in counts.items()}
    )
    return (
        table.reindex(CLASSES[task])
        .fillna(0)
        .astype(int)
        .rename_axis("class")
        .reset_index()
    )


def sentiment_table(outcome: Outcome) -> pd.DataFrame:
    """Return a run's outputs on the sentiment suites: keys, label, prediction and
    probabilities.
    """
    names = CLASSES[outcome.task]
    table = suite(outcome.task)[SUITE]
    table = table.assign(model=outcome.model, classes=len(names), seed=outcome.seed)
    table["prediction"] = np.array(names)[outcome.log_probability.argmax(axis=1)]
    probability = rounded(outcome.log_probability)
    for name in CLASSES["semeval3"]:
        table[f"p_{name}"] = (
            probability[:, names.index(name)] if name in names else np.float32("nan")
        )
    return table[
        ["model", "classes", "seed", *SUITE, "prediction", *table.columns[-3:]]
    ]


def entity_table(outcome: Outcome) -> pd.DataFrame:
    """Return a run's outputs on the entity suite: keys, labels, prediction (best valid sequence) and probabilities.

    The probability of a type is summed over its B, I, L and U.
    """
    table = suite(outcome.task)[ENTITY_SUITE]
    lengths = table.groupby(["source", "group", "term"], sort=False).size().to_numpy()
    best = tags.best_sequence(outcome.log_probability, lengths)
    table = table.assign(
        model=outcome.model, seed=outcome.seed, prediction=np.array(tags.TAGS)[best]
    )
    kinds = pd.Series([f"p_{tag.rpartition('-')[2]}" for tag in tags.TAGS])
    probability = pd.DataFrame(np.exp(outcome.log_probability)).T.groupby(kinds).sum().T
    probability = probability.round(DIGITS).astype(np.float32)
    return pd.concat(
        [table[["model", "seed", *ENTITY_SUITE, "prediction"]], probability], axis=1
    )


def rounded(log_probability: np.ndarray) -> np.ndarray:
    """Return probabilities, rounded so that they compress well and do not differ
    between machines; float32.
    """
    return np.round(np.exp(log_probability), DIGITS).astype(np.float32)


def _tidy(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of several runs as one, with texts as categories and whole
    numbers in two bytes.
    """
    table = pd.concat(tables, ignore_index=True)
    for name in table:
        if not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category")
        elif pd.api.types.is_integer_dtype(table[name]):
            table[name] = table[name].astype(np.int16)
    return table
