"""Training on sentiment and on named entities, and the outputs on the suites.

Sentiment is SemEval-2018's valence with 2 and 3 classes; named entities are those of
CoNLL-2003. The models are trained, scored, and run on the suites that were released
with the paper (`fairlib.suites`), so that only the encoder differs from the paper's.

Two families of models see the same data: a fine-tuned encoder with three seeds, and
counted words with logistic regression. The encoder is a setting: the environment
variable FAIRLIB_ENCODER names one on the Hugging Face hub or in a folder
(`roberta-base` is the paper's); by default it is the small encoder that comes as a
package and needs no network. Finished runs lie in `build/models/` and are not trained
again.

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
_SPLITS = ("dev", "test")
SUITE = ["attribute", "source", "group", "term", "label"]
ENTITY_SUITE = ["source", "group", "term", "position", "slot", "label", "released"]
_SCORES = ["split", "class", "gold", "predicted", "correct"]
_DIGITS = 5  # of a stored probability
_OUTCOMES: dict[str, list] = {}  # by task: three tables are made from the same runs


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of one run.

    Parameters
    ----------
    task, model : str
        Names of the task and of the model.
    seed : int
        Seed of the run.
    scores : pandas.DataFrame
        Counts on the dev and test splits.
    log_probability : numpy.ndarray
        Outputs on the suites.
    """

    task: str
    model: str
    seed: int
    scores: pd.DataFrame
    log_probability: np.ndarray


def suite_predictions() -> pd.DataFrame:
    """Return the outputs of the sentiment models on the eight suites, without texts.

    Returns
    -------
    pandas.DataFrame
        One row per model, classes (2 or 3), seed and sentence. `p_neutral` is missing
        for 2 classes. The 2-class models see the neutral sentences too.
    """
    runs = outcomes(("semeval2", "semeval3"))
    return _tidy([sentiment_table(outcome) for outcome in runs])


def country_predictions() -> pd.DataFrame:
    """Return the outputs of the taggers on the entity suite.

    Returns
    -------
    pandas.DataFrame
        One row per model, seed and token; no text but the countries' names.
    """
    return _tidy([entity_table(outcome) for outcome in outcomes(("conll2003",))])


def scores() -> pd.DataFrame:
    """Return what the models get right on the dev and test splits.

    Returns
    -------
    pandas.DataFrame
        One row per model, task, seed, split and class: examples (or entities) gold,
        predicted and correct. Accuracy is correct / gold over the classes, F1 = 2
        correct / (gold + predicted).
    """
    tables = [
        outcome.scores.assign(model=outcome.model, task=outcome.task, seed=outcome.seed)
        for outcome in outcomes()
    ]
    return pd.concat(tables, ignore_index=True)[["model", "task", "seed", *_SCORES]]


def outcomes(tasks: tuple[str, ...] = TASKS) -> list[Outcome]:
    """Run both families of models on tasks, each task once in a process.

    Parameters
    ----------
    tasks : tuple of str
        Some of `TASKS`.

    Returns
    -------
    list of Outcome
        One outcome per run. A finished run comes from its checkpoint.
    """
    missing = [task for task in tasks if task not in _OUTCOMES]
    for outcome in [*_fine_tuned(missing), *map(word_feature_run, missing)]:
        _OUTCOMES.setdefault(outcome.task, []).append(outcome)
    return [outcome for task in tasks for outcome in _OUTCOMES[task]]


def _fine_tuned(tasks: list[str]) -> list[Outcome]:
    """Return the runs of the encoder in a fixed order.

    They run in one process per core, or one after another on a GPU.
    """
    from fairlib.recipes.training import encoder

    # Fails here, in plain words, where the packaged encoder is not installed.
    encoder.location(encoder_settings(TASKS[0]).encoder)

    jobs = list(product(tasks, SEEDS))
    if encoder.on_gpu():
        return [encoder_run(*job) for job in jobs]

    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        # The last task takes longest, so that it starts first.
        running = {job: pool.submit(encoder_run, *job) for job in reversed(jobs)}
        return [running[job].result() for job in jobs]


def encoder_run(task: str, seed: int) -> Outcome:
    """Fine-tune the encoder, and apply it to the dev and test splits and the suites.

    What is finished is not done again. The weights and the outputs are kept apart, so
    that a change in the suites does not train anything again.

    Parameters
    ----------
    task : str
        One of `TASKS`.
    seed : int
        Seed of the run.

    Returns
    -------
    Outcome
        The results.
    """
    from fairlib.recipes.training import encoder

    settings = encoder_settings(task)
    examples, labels = training_data(task)
    model = Path(settings.encoder).name
    name = f"{task}-{model.lower()}-seed{seed}"

    def make() -> Outcome:
        numbers = {label: number for number, label in enumerate(CLASSES[task])}
        if settings.per_word:
            targets = [[numbers[tag] for tag in row] for row in labels]
        else:
            targets = [numbers[label] for label in labels]
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
            encoded = encoder.encode(sequences, settings)
            return encoder.predict(trained, encoded, settings=settings)

        return _outcome(task, model, seed, predict)

    what_decides = (task, model, seed, asdict(settings), examples, labels)
    facts = fingerprint(*what_decides, _sequences(task))
    return kept(CHECKPOINTS / f"{name}.npz", facts, make)


def kept(path: Path, facts: str, make: Callable[[], Outcome]) -> Outcome:
    """Return the outcome at a path, or make it and keep it there.

    Parameters
    ----------
    path : pathlib.Path
        Where the outcome is kept, with no pickles in it.
    facts : str
        Fingerprint of what decides the run. An outcome of other facts is made again.
    make : callable
        Returns the outcome.

    Returns
    -------
    Outcome
        The outcome.
    """
    if path.exists():
        with np.load(path) as saved:
            if saved["facts"] == facts:
                return Outcome(
                    task=str(saved["task"]),
                    model=str(saved["model"]),
                    seed=int(saved["seed"]),
                    scores=pd.DataFrame({name: saved[name] for name in _SCORES}),
                    log_probability=saved["logs"],
                )

    outcome = make()
    arrays = {
        "facts": facts,
        "task": outcome.task,
        "model": outcome.model,
        "seed": outcome.seed,
        "logs": outcome.log_probability,
    }
    for name in _SCORES:
        arrays[name] = np.array(outcome.scores[name].tolist())

    def write(beside: Path) -> None:
        np.savez_compressed(beside, **arrays)

    write_whole(path, write)
    return outcome


def encoder_settings(task: str):
    """Return the settings of a task; they are the same for every encoder.

    Parameters
    ----------
    task : str
        One of `TASKS`.

    Returns
    -------
    encoder.Settings
        The settings. An encoder that sees capitals needs no help to see them.
    """
    from fairlib.recipes.training.encoder import PACKAGED, Settings

    name = os.environ.get("FAIRLIB_ENCODER") or PACKAGED
    if task != "conll2003":
        return Settings(name, epochs=3)
    return Settings(
        name,
        per_word=True,
        cased="uncased" in name or name == PACKAGED,
        epochs=1,
        learning_rate=2e-4,
    )


def word_feature_run(task: str) -> Outcome:
    """Fit the second family on a task, and apply it to dev, test and the suites.

    It takes a minute or two for named entities.

    Parameters
    ----------
    task : str
        One of `TASKS`.

    Returns
    -------
    Outcome
        The results.
    """
    examples, labels = training_data(task)
    if task == "conll2003":
        name = wordfeatures.TAGGER
        model = wordfeatures.tagger_model()
        features = wordfeatures.word_features
    else:
        name = wordfeatures.SENTIMENT
        model = wordfeatures.sentiment_model()
        features = list
    model.fit(features(examples), np.hstack(labels))

    def predict(sequences: list) -> np.ndarray:
        return wordfeatures.log_probabilities(model, features(sequences), CLASSES[task])

    return _outcome(task, name, 0, predict)


def training_data(task: str, split: str = "train") -> tuple[list, list]:
    """Return examples and labels.

    Parameters
    ----------
    task : str
        One of `TASKS`.
    split : str, default "train"
        "train", "dev" or "test".

    Returns
    -------
    examples, labels : list
        Texts and classes, or lists of words and lists of tags.
    """
    if task == "conll2003":
        return by_sentence(corpora.conll(split))
    table = corpora.semeval(split, classes=len(CLASSES[task]))
    return table["text"].tolist(), table["label"].tolist()


def by_sentence(
    tokens: pd.DataFrame, keys: str | list[str] = "sentence"
) -> tuple[list, list]:
    """Return the words and the tags of a table of tokens, sentence by sentence.

    Parameters
    ----------
    tokens : pandas.DataFrame
        One row per token.
    keys : str or list of str, default "sentence"
        Columns that identify a sentence.

    Returns
    -------
    words, tags : list of lists of str
        One list per sentence, in the order of the table.
    """
    grouped = tokens.groupby(keys, sort=False)
    return grouped["token"].agg(list).tolist(), grouped["label"].agg(list).tolist()


def suite(task: str) -> pd.DataFrame:
    """Return the sentences that the models of a task are applied to.

    Parameters
    ----------
    task : str
        One of `TASKS`.

    Returns
    -------
    pandas.DataFrame
        All sentences of the released suites, or the entity suite.
    """
    if task == "conll2003":
        return suites.ner_suite(genuine=True)
    tables = [suites.suite(name, genuine=True) for name in templates.ATTRIBUTES]
    return pd.concat(tables, ignore_index=True)


def fingerprint(*parts) -> str:
    """Return a checksum of what decides a run.

    It shows whether a finished run is the run that is asked for.
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _outcome(
    task: str, model: str, seed: int, predict: Callable[[list], np.ndarray]
) -> Outcome:
    """Apply a trained model to the dev and test splits, and to the suites."""
    tables = []
    for split in _SPLITS:
        examples, labels = training_data(task, split)
        tables.append(count(task, labels, predict(examples)).assign(split=split))
    return Outcome(
        task=task,
        model=model,
        seed=seed,
        scores=pd.concat(tables, ignore_index=True),
        log_probability=predict(_sequences(task)),
    )


def _sequences(task: str) -> list:
    """Return the suite as a model reads it: texts, or lists of words."""
    table = suite(task)
    if task != "conll2003":
        return table["text"].tolist()
    words, _ = by_sentence(table, ["source", "group", "term"])
    return words


def count(task: str, labels: list, log_probability: np.ndarray) -> pd.DataFrame:
    """Count examples per class, or entities per kind.

    Parameters
    ----------
    task : str
        One of `TASKS`.
    labels : list
        Classes, or lists of tags.
    log_probability : numpy.ndarray
        Outputs of a model, one row per example or token.

    Returns
    -------
    pandas.DataFrame
        Columns class, gold, predicted, correct.
    """
    if task == "conll2003":
        lengths = np.array([len(row) for row in labels])
        best = tags.best_sequence(log_probability, lengths)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return tags.span_counts(
            np.concatenate(labels), np.array(tags.TAGS)[best], sentence
        )

    classes = np.array(CLASSES[task])
    label = pd.Series(labels)
    predicted = pd.Series(classes[log_probability.argmax(axis=1)])
    counts = pd.DataFrame(
        {
            "gold": label.value_counts(),
            "predicted": predicted.value_counts(),
            "correct": label[label == predicted].value_counts(),
        }
    )
    of_classes = counts.reindex(CLASSES[task]).fillna(0).astype(int)
    return of_classes.rename_axis("class").reset_index()


def sentiment_table(outcome: Outcome) -> pd.DataFrame:
    """Return a run's outputs on the sentiment suites.

    Parameters
    ----------
    outcome : Outcome
        A run on one of the sentiment tasks.

    Returns
    -------
    pandas.DataFrame
        Keys, label, prediction and probabilities, one row per sentence.
    """
    names = CLASSES[outcome.task]
    table = suite(outcome.task)[SUITE]
    table = table.assign(model=outcome.model, classes=len(names), seed=outcome.seed)
    table["prediction"] = np.array(names)[outcome.log_probability.argmax(axis=1)]

    probability = rounded(outcome.log_probability)
    columns = [f"p_{name}" for name in CLASSES["semeval3"]]
    for name, column in zip(CLASSES["semeval3"], columns, strict=True):
        if name in names:
            table[column] = probability[:, names.index(name)]
        else:
            table[column] = np.float32("nan")
    return table[["model", "classes", "seed", *SUITE, "prediction", *columns]]


def entity_table(outcome: Outcome) -> pd.DataFrame:
    """Return a run's outputs on the entity suite.

    Parameters
    ----------
    outcome : Outcome
        A run on the entity task.

    Returns
    -------
    pandas.DataFrame
        Keys, labels, prediction (the best valid sequence) and probabilities, one row
        per token. The probability of a type is summed over its B, I, L and U.
    """
    table = suite(outcome.task)[ENTITY_SUITE]
    lengths = table.groupby(["source", "group", "term"], sort=False).size().to_numpy()
    best = tags.best_sequence(outcome.log_probability, lengths)
    table = table.assign(
        model=outcome.model, seed=outcome.seed, prediction=np.array(tags.TAGS)[best]
    )

    kinds = pd.Series([f"p_{tag.rpartition('-')[2]}" for tag in tags.TAGS])
    of_tags = pd.DataFrame(np.exp(outcome.log_probability))
    of_kinds = of_tags.T.groupby(kinds).sum().T
    probability = of_kinds.round(_DIGITS).astype(np.float32)
    columns = ["model", "seed", *ENTITY_SUITE, "prediction"]
    return pd.concat([table[columns], probability], axis=1)


def rounded(log_probability: np.ndarray) -> np.ndarray:
    """Return probabilities as float32, rounded.

    So they compress well, and do not differ between machines.
    """
    return np.round(np.exp(log_probability), _DIGITS).astype(np.float32)


def _tidy(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of several runs as one table that takes little memory.

    Texts become categories, whole numbers take two bytes.
    """
    table = pd.concat(tables, ignore_index=True)
    for name in table:
        if not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category")
        elif pd.api.types.is_integer_dtype(table[name]):
            table[name] = table[name].astype(np.int16)
    return table
