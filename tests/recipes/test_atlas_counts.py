"""Each counting function reads a tiny invented release in the form of the real one."""

import csv
import json

import pandas as pd
import pytest

import fairlib
from fairlib.data import DataError
from fairlib.recipes import atlas_counts
from fairlib.recipes.atlas_counts import (
    BENCHMARKS,
    coreference,
    counting,
    people,
    questions,
    sentences,
    words,
)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_table(path, header, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    delimiter = "," if path.suffix == ".csv" else "\t"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows([header, *rows])


def write_json(path, content):
    write(path, json.dumps(content))


def write_json_lines(path, *entries):
    write(path, "".join(json.dumps(entry) + "\n" for entry in entries))


def values(counts, *quantities):
    return [counts.get(quantity) for quantity in quantities]


# --- counting ---


def test_an_item_without_a_group_is_counted_and_is_in_no_pair_and_no_cluster():
    items = pd.DataFrame(
        {
            "group": ["a", "b", None, "a"],
            "pair": ["p", "p", "q", "q"],
            "cluster": ["x", "x", "y", "z"],
        }
    )
    assert counting.tally(items) == {
        "items": 4,
        "items_without_group": 1,
        "groups": 2,
        "smallest_group": 1,
        "largest_group": 2,
        "group a": 2,
        "group b": 1,
        "pairs": 1,
        "clusters": 2,
        "smallest_cluster": 1,
        "largest_cluster": 2,
        "cluster 1": 2,
        "cluster 2": 1,
        "clusters_with_several_groups": 1,
    }


def test_matched_items_make_as_many_pairs_as_the_rarer_group_has_items():
    items = pd.DataFrame({"group": list("aaabb"), "pair": [1, 1, 1, 1, 1]})
    assert counting.tally(items)["pairs"] == 2


def test_many_groups_are_counted_but_not_listed():
    counts = counting.tally(pd.DataFrame({"group": [str(n) for n in range(25)]}))
    assert counts["groups"] == 25
    assert not [name for name in counts if name.startswith("group ")]


def test_a_missing_clone_is_named_with_the_command_that_makes_it(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRLIB_DATA", str(tmp_path))
    command = "git clone https://github.com/nyu-mll/BBQ nyu-mll.BBQ.* git checkout bea1"
    with pytest.raises(DataError, match=command):
        atlas_counts.counts_of("bbq")
    (tmp_path / "atlas" / "nyu-mll+BBQ").mkdir(parents=True)
    with pytest.raises(DataError, match=f"Age.jsonl is not there.*{command}"):
        atlas_counts.counts_of("bbq")


def test_the_bundled_table_has_every_benchmark_and_a_whole_of_each():
    table = fairlib.load("atlas_counts", source="bundled")
    assert sorted(table["benchmark"].unique()) == sorted(BENCHMARKS)
    wholes = table[table["part"].eq("whole") & table["quantity"].eq("items")]
    assert sorted(wholes["benchmark"]) == sorted(BENCHMARKS)
    assert not table.duplicated(["benchmark", "part", "quantity"]).any()


def test_the_suites_of_paper_2_are_counted_from_what_is_bundled():
    bundled = fairlib.load("atlas_counts", source="bundled")
    bundled = bundled[bundled["benchmark"].eq("identity_suites")]
    counted = atlas_counts.counts_of("identity_suites")
    assert counted["value"].tolist() == bundled["value"].tolist()


# --- pronouns ---


def test_winobias(tmp_path):
    folder = tmp_path / "WinoBias" / "wino" / "data"
    for stereotype, pronoun in (("pro", "he"), ("anti", "she")):
        for kind in "12":
            for split in ("dev", "test"):
                write(
                    folder / f"{stereotype}_stereotyped_type{kind}.txt.{split}",
                    f"1 [The miller] met the baker and [{pronoun}] left.\n\n"
                    f"2 The miller saw [a baker] lose [{pronoun}] {stereotype}.\n",
                )
    counts = coreference.winobias(tmp_path)
    wanted = ["items", "group pro", "pairs", "clusters", "smallest_cluster"]
    assert values(counts[""], *wanted) == [16, 8, 8, 2, 8]
    assert values(counts["type_1"], *wanted) == [8, 4, 4, 2, 4]
    assert counts[""]["pairs_that_differ_elsewhere"] == 4


def test_winogender(tmp_path):
    rows = [
        (f"miller.guest.{answer}.{gender}.txt", "text")
        for answer in "01"
        for gender in ("male", "female", "neutral")
    ]
    write_table(tmp_path / "data" / "all_sentences.tsv", ("sentid", "sentence"), *rows)
    counts = coreference.winogender(tmp_path)[""]
    assert values(counts, "items", "groups", "pairs", "clusters") == [6, 3, 2, 1]


def test_winomt_compares_men_with_women(tmp_path):
    lines = ['male\t1\tThe "miller.\tmiller', "female\t1\tA baker.\tbaker"]
    lines.append("neutral\t1\tSomeone.\tsomeone")
    write(tmp_path / "data" / "aggregates" / "en.txt", "\n".join(lines))
    counts = coreference.winomt(tmp_path)[""]
    wanted = ["items", "items_without_group", "groups", "clusters"]
    assert values(counts, *wanted) == [3, 1, 2, 2]


def test_gap(tmp_path):
    write_table(
        tmp_path / "gap-test.tsv",
        ("ID", "Pronoun", "URL"),
        ("1", "Her", "page"),
        ("2", "he", "page"),
        ("3", "they", "other"),
    )
    counts = coreference.gap(tmp_path)[""]
    wanted = ["items", "items_without_group", "group feminine", "clusters"]
    assert values(counts, *wanted) == [3, 1, 1, 1]


def test_bug_gold(tmp_path):
    write_table(
        tmp_path / "BUG" / "data" / "gold_BUG.csv",
        ("profession", "predicted gender", "stereotype"),
        ("Miller", "Male", "1"),
        ("miller", "Female", "-1"),
        ("guest", "Male", "0"),
    )
    counts = coreference.bug_gold(tmp_path)
    assert values(counts[""], "items", "group pro", "clusters") == [3, 1, 1]
    assert values(counts["gender"], "group male", "clusters") == [2, 2]


# --- questions ---


def bbq_question(*, ambiguous, negative, label, template=1):
    return {
        "example_id": 0,
        "question_index": template,
        "question_polarity": "neg" if negative else "nonneg",
        "context_condition": "ambig" if ambiguous else "disambig",
        "answer_info": {
            "ans0": ["x", "Old"],
            "ans1": ["y", "nonOld"],
            "ans2": ["z", "unknown"],
        },
        "additional_metadata": {"stereotyped_groups": ["old"]},
        "label": label,
    }


@pytest.mark.parametrize(
    ("count", "categories", "name"),
    [
        (questions.bbq, questions.BBQ_CATEGORIES, "{}.jsonl"),
        (questions.mbbq, questions.MBBQ_CATEGORIES, "{}_en.jsonl"),
    ],
)
def test_bbq_and_mbbq_find_the_answers_that_agree_with_prejudice(
    tmp_path, count, categories, name
):
    entries = [
        bbq_question(ambiguous=True, negative=True, label=2),
        bbq_question(ambiguous=False, negative=True, label=0),
        bbq_question(ambiguous=False, negative=True, label=1),
        bbq_question(ambiguous=False, negative=False, label=1, template=2),
    ]
    for category in categories:
        write_json_lines(tmp_path / "data" / name.format(category), *entries)
    counts = count(tmp_path)
    number = len(categories)
    assert values(counts[""], "items", "groups", "clusters") == [number] * 3
    wanted = ["items", "group agrees", "group disagrees", "clusters"]
    assert values(counts["age_disambiguated"], *wanted) == [3, 2, 1, 2]


def test_kobbq(tmp_path):
    write_table(
        tmp_path / "data" / "KoBBQ_test_samples.tsv",
        ("sample_id", "biased_answer", "answer"),
        ("age-001a-002-amb-bsd", "x", "z"),
        ("age-001b-002-dis-bsd", "x", "x"),
        ("sexual_orientation-001a-002-dis-cnt", "x", "y"),
    )
    counts = questions.kobbq(tmp_path)
    assert values(counts[""], "items", "clusters") == [1, 1]
    wanted = ["group agrees", "group disagrees", "clusters"]
    assert values(counts["disambiguated"], *wanted) == [1, 1, 2]


def test_unqover_is_counted_as_its_generator_writes_it(tmp_path):
    lists = tmp_path / "word_lists"
    subjects = lists / "nouns" / "subjects"
    write(subjects / "female", "[subj] female | A\n[subj] female | B\n")
    write(subjects / "male", "[subj] male | C\n")
    for name in ("country", "ethnicity", "religion"):
        write(
            subjects / name, "# comment\n[subj] A\n[subj] B\n[subj] C\n[subj:dem] a\n"
        )
        write(
            lists / "activities" / f"biased_{name}",
            "[p_act] x | did x\n[p_act:neg] x | no\n[p_act-single] x\n[p_act] y\n",
        )
        slots = "[subj1] met [subj2].\tWho [p_act]?\tWho [p_act:neg]?\n"
        write(lists / "slots" / f"{name}_noact", slots)
    write(lists / "activities" / "occupation_rev1", "[p_act] was a miller\n")
    write(lists / "slots" / "gender_noact", slots)
    counts = questions.unqover(tmp_path)
    # Two names by one name, two orders, one template, one occupation.
    assert values(counts[""], "items", "pairs", "groups") == [4, 2, 2]
    # Three pairs, two orders, one template, two activities.
    assert values(counts["religion"], "items", "clusters", "groups") == [12, 2, 3]


# --- sentences ---


def test_crows_pairs(tmp_path):
    write_table(
        tmp_path / "data" / "crows_pairs_anonymized.csv",
        ("bias_type", "anon_writer"),
        ("race-color", "a0"),
        ("age", "a0"),
    )
    counts = sentences.crows_pairs(tmp_path)
    assert values(counts[""], "items", "clusters", "pairs") == [2, 1, 0]
    assert counts["race_color"]["items"] == 1


def test_stereoset_counts_what_has_a_prediction_once(tmp_path):
    predictions = {"intrasentence": [{"id": "s1"}, {"id": "s2"}, {"id": "s3"}]}
    folder = tmp_path / "code" / "predictions"
    write_json(folder / "predictions_gpt2_ModelNSP_GPT2LM.json", predictions)

    def item(name, target, *ids):
        return {
            "id": name,
            "bias_type": "gender",
            "target": target,
            "sentences": [{"id": sentence} for sentence in ids],
        }

    lists = tmp_path / "lists"
    for name in ("gender_test", "race_test", "religion_test"):
        entries = [item("1", "x", "s1")]
        write_json(lists / "data" / "stereoset" / f"{name}.json", entries)
    of_another_form = {
        "id": "2",
        "bias_type": "gender",
        "target": "y",
        "data": {"a": {"id": "s2"}, "b": {"id": "s3"}},
    }
    unseen = item("3", "y", "s3", "s4")
    write_json(
        lists / "bias_tracing" / "data" / "domain" / "gender.json",
        [of_another_form, unseen],
    )
    counts = sentences.stereoset(tmp_path, lists)
    assert values(counts["gender"], "items", "clusters") == [2, 2]


def test_hatecheck_takes_templates_that_are_filled_once_for_each_group(tmp_path):
    write_table(
        tmp_path / "test_suite_cases.csv",
        ("functionality", "target_ident", "templ_id"),
        ("f", "women", "1"),
        ("f", "Muslims", "1"),
        ("slur", "women", "2"),
        ("slur", "women", "2"),
        ("slur", "Muslims", "2"),
        ("other", "", "3"),
    )
    counts = sentences.hatecheck(tmp_path)
    assert values(counts[""], "items", "groups", "pairs") == [2, 2, 1]
    assert values(counts["over_functionalities"], "items", "clusters") == [2, 1]
    wanted = ["items", "items_without_group", "pairs", "clusters"]
    assert values(counts["all_cases"], *wanted) == [6, 1, 2, 2]


def test_equity_evaluation_corpus(tmp_path):
    write_table(
        tmp_path / "data" / "Equity-Evaluation-Corpus.csv",
        ("Template", "Person", "Gender", "Race", "Emotion word"),
        ("t", "A", "female", "African-American", "glad"),
        ("t", "B", "female", "European", "glad"),
        ("t", "he", "male", "", "glad"),
        ("t", "she", "female", "", "glad"),
    )
    counts = sentences.equity_evaluation_corpus(tmp_path)
    assert values(counts[""], "items", "pairs", "clusters") == [4, 1, 1]
    assert values(counts["race"], "items_without_group", "pairs") == [2, 1]


def test_madlibs_takes_the_longest_term(tmp_path):
    folder = tmp_path / "archive" / "unintended_ml_bias"
    terms = folder / "bias_madlibs_data" / "adjectives_people.txt"
    write(terms, "green\ndeep green\nblue\n")
    write_table(
        folder / "eval_datasets" / "bias_madlibs_77k.csv",
        ("Text", "Label", "Template"),
        ("Ann is deep green", "BAD", "name_adj"),
        ("Ann is blue", "NOT_BAD", "name_adj"),
        ("You are a miller", "BAD", "you_occupation"),
    )
    counts = sentences.madlibs(tmp_path)
    wanted = ["items", "items_without_group", "group deep green", "pairs", "clusters"]
    assert values(counts[""], *wanted) == [3, 1, 1, 1, 1]
    assert values(counts["not_toxic"], "items", "groups") == [1, 1]


def test_reddit_bias(tmp_path):
    for kind, (target, other) in sentences._REDDIT_FILES.items():
        for group in (target, other):
            name = f"reddit_comments_{kind}_{group}_biased_test_reduced.csv"
            write_table(
                tmp_path / "data" / kind / name,
                ("initial_demo", "comments_processed"),
                ("['Girl']", "text"),
                ("['girl']", "text"),
            )
    counts = sentences.reddit_bias(tmp_path)
    assert values(counts[""], "items", "groups", "clusters") == [10, 5, 5]
    assert values(counts["race"], "items", "clusters") == [2, 1]
    name = "reddit_comments_race_white_biased_test_reduced.csv"
    write_table(tmp_path / "data" / "race" / name, ("initial_demo",))
    with pytest.raises(ValueError, match="race: 2 comments, but 0 counterfactuals"):
        sentences.reddit_bias(tmp_path)


def test_bec_pro_matches_the_first_man_with_the_first_woman(tmp_path):
    rows = [
        (template, person, gender, "miller")
        for template in ("t", "u")
        for person, gender in (
            ("he", "male"),
            ("uncle", "male"),
            ("she", "female"),
            ("aunt", "female"),
        )
    ]
    write_table(
        tmp_path / "BEC-Pro" / "data" / "BEC-Pro_EN.tsv",
        ("Template", "Person", "Gender", "Profession"),
        *rows,
    )
    counts = sentences.bec_pro(tmp_path)
    assert values(counts[""], "items", "pairs", "clusters") == [8, 4, 1]
    assert counts["over_templates"]["clusters"] == 2


def test_honest(tmp_path):
    for language in sentences._HONEST_LANGUAGES:
        write_table(
            tmp_path / "resources" / "binary" / f"{language}_template.tsv",
            ("raw", "category"),
            ("[I] is", "female"),
            ("[I] is", "male"),
        )
    write_table(
        tmp_path / "resources" / "queer_nonqueer" / "en_template.tsv",
        ("raw", "category"),
        ("[I] is", "queer_gender"),
        ("[I] is", "nonqueer"),
    )
    counts = sentences.honest(tmp_path)
    assert values(counts[""], "items", "clusters") == [2, 1]
    assert values(counts["queer"], "group queer", "group nonqueer") == [1, 1]


def test_holistic_bias(tmp_path):
    folder = tmp_path / "holistic_bias" / "dataset" / "v1.1"
    axes = {"age": {"old": ["x", {"descriptor": "y"}]}, "body": {"hair": ["x"]}}
    axes["nonce"] = {"all": ["blorp"]}
    write_json(folder / "descriptors.json", axes)
    write_json(folder / "sentence_templates.json", {"I am": {}, "You are": {}})
    write_json(folder / "nouns.json", {"female": ["woman"], "male": ["man", "boy"]})
    counts = sentences.holistic_bias(tmp_path)
    wanted = ["items", "groups", "clusters", "descriptors", "nouns"]
    assert values(counts[""], *wanted) == [8, 2, 3, 4, 3]
    assert counts["over_templates"]["clusters"] == 2


def test_bold(tmp_path):
    write_json(
        tmp_path / "prompts" / "gender_prompt.json",
        {"actors": {"A": ["1", "2"]}, "actresses": {"B": ["3"]}},
    )
    write_json(tmp_path / "prompts" / "race_prompt.json", {"x": {"C": ["4"]}})
    counts = sentences.bold(tmp_path)
    assert values(counts[""], "items", "groups", "clusters") == [3, 2, 2]
    assert counts["all_domains"]["items"] == 4


def test_regard(tmp_path):
    write(tmp_path / "data" / "demographics.txt", "The man\nThe woman\n")
    write(
        tmp_path / "data" / "generated_samples" / "small_gpt2_generated_samples.tsv",
        "The man had a job as a miller.\nThe woman had a job as x.\n"
        "The man was known for y.\n",
    )
    write(
        tmp_path / "scripts" / "constants.py",
        "MAN = 'man'\nJOB = 'had a job as'\nKNOWN = 'was known for'\n",
    )
    counts = sentences.regard(tmp_path)[""]
    assert values(counts, "items", "groups", "pairs", "clusters") == [3, 2, 0, 2]


def test_grep_biasir(tmp_path):
    write_table(
        tmp_path / "Grep-BiasIR" / "data" / "queries-documents_Career.csv",
        ("q_id", "relevant", "content_gender"),
        ("1", "1", "M"),
        ("1", "1", "F"),
        ("1", "1", "N"),
    )
    counts = sentences.grep_biasir(tmp_path)[""]
    assert values(counts, "items", "items_without_group", "pairs") == [3, 1, 1]


# --- words ---


def write_association_tests(folder, *, extra=()):
    for test in words._ABOUT_PEOPLE:
        targets = {
            "targ1": {"category": "Terms", "examples": ["her", "hers", "white lady"]},
            "targ2": {"category": "Others", "examples": ["man"]},
        }
        write_json(folder / "tests" / f"{test}.jsonl", targets)
        texts = ["This is her.", "It is hers.", "They are white ladies.", *extra]
        targets["targ1"]["examples"] = texts
        targets["targ2"]["examples"] = ["These are men.", "The man is here."]
        write_json(folder / "tests" / f"sent-{test}.jsonl", targets)


def test_words_and_the_sentences_around_them(tmp_path):
    write_association_tests(tmp_path)
    assert values(words.weat(tmp_path)[""], "items", "clusters") == [4, 4]
    counts = words.seat(tmp_path)
    wanted = ["items", "clusters", "largest_cluster"]
    assert values(counts["seat6"], *wanted) == [5, 4, 2]
    assert counts[""] == counts["seat6"]


def test_a_sentence_without_a_target_word_is_named(tmp_path):
    write_association_tests(tmp_path, extra=["This is a tree."])
    with pytest.raises(ValueError, match="in the sentence 'This is a tree.'"):
        words.seat(tmp_path)


# --- people ---


def test_compas(tmp_path):
    write_table(
        tmp_path / "compas-scores-two-years.csv",
        ("id", "race", "two_year_recid"),
        ("1", "African-American", "0"),
        ("2", "Caucasian", "1"),
        ("3", "Other", "0"),
        ("4", "Caucasian", "0"),
    )
    counts = people.compas(tmp_path)
    assert values(counts[""], "items", "groups", "clusters") == [2, 2, 2]
    assert counts["two_groups"]["items"] == 3
    assert values(counts["everybody"], "items", "groups") == [4, 3]


def test_decodingtrust(tmp_path):
    folder = tmp_path / "data" / "fairness" / "fairness_data"
    for share in ("0.0", "0.5", "1.0"):
        write_json_lines(
            folder / f"adult_0_200_test_base_rate_{share}.jsonl",
            {"input": "age 1, sex Female, x"},
            {"input": "age 2, sex Male, x"},
        )
    counts = people.decodingtrust_fairness(tmp_path)
    assert values(counts["base_rate_0_5"], "items", "group Female") == [2, 1]
    write_table(
        tmp_path / "data" / "stereotype" / "dataset" / "user_prompts.csv",
        ("stereotype_topic", "target_group", "stereotype_template"),
        ("x", "Old people", "[group] do x"),
        ("x", "Young people", "[group] do x"),
        ("x", "Young people", "[group] do y"),
    )
    counts = people.decodingtrust_stereotypes(tmp_path)
    assert values(counts[""], "items", "groups", "pairs", "clusters") == [3, 2, 1, 2]
    assert counts["over_topics"]["clusters"] == 1


def test_visogender_leaves_out_what_has_no_picture(tmp_path):
    header = (
        "Occupation",
        "Occupation_perceived_gender",
        "URL type (Type NA if can't find)",
    )
    folder = tmp_path / "data" / "visogender_data"
    rows = [("miller", "masculine", "x"), ("miller", "feminine", "y")]
    write_table(folder / "OO" / "OO_Visogender_10052025.tsv", header, *rows)
    rows.append(("baker", "feminine", "NA"))
    write_table(folder / "OP" / "OP_Visogender_11012024.tsv", header, *rows)
    counts = people.visogender(tmp_path)
    assert values(counts[""], "items", "groups", "clusters") == [4, 2, 1]
    assert counts["op"]["items"] == 2
