"""The numbers in the answers of docs/teaching/quiz.md follow from their questions.

Questions are found by words that they contain, so that new ones can be added in
between; each test reads the question's numbers off the page, computes the answer from
them, and looks for it in the printed answer.
"""

import math
import re

import pytest
from scipy import stats

from fairlib.data import ROOT

QUIZ = (ROOT / "docs" / "teaching" / "quiz.md").read_text(encoding="utf-8")


def question_with(words):
    """The question that holds these words, and its answer."""
    parts = re.split(r"^\*\*\d+\.\*\* ", QUIZ, flags=re.M)[1:]
    (part,) = (part for part in parts if words in part)
    question, answer = part.split("<summary>Answer</summary>")
    return question, answer.replace("−", "-")


def numbers(text):
    """The numbers of a text, in order; a comma may separate thousands."""
    printed = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text.replace("−", "-"))
    return [float(number.replace(",", "")) for number in printed]


def test_questions_are_numbered_without_gaps_and_each_has_one_answer():
    printed = [int(number) for number in re.findall(r"^\*\*(\d+)\.\*\* ", QUIZ, re.M)]

    assert printed == list(range(1, len(printed) + 1))
    assert QUIZ.count("<summary>Answer</summary>") == len(printed)


def test_twice_the_bias_needs_a_quarter_of_the_examples():
    question, answer = question_with("examples show a bias of five points")
    examples = numbers(question)[0]

    assert numbers(answer)[0] == examples * (5 / 10) ** 2


def test_the_two_differences_of_qualified_and_unqualified_cancel():
    question, answer = question_with("qualified women")
    women_missed, men_missed, women_accepted, men_accepted = numbers(question)[:4]
    misses = women_missed - men_missed
    acceptances = women_accepted - men_accepted

    assert misses + acceptances == 0
    assert f"{misses:+.0f} and {acceptances:+.0f} points" in answer


def test_the_difference_and_the_ratio_of_two_rates_of_misses():
    question, answer = question_with("Give the difference and the ratio")
    first, of_first, second, of_second = numbers(question)[:4]

    assert f"difference is {second / of_second - first / of_first:.3f}" in answer
    assert f"ratio is {(second / of_second) / (first / of_first):.0f}" in answer


def test_the_half_width_over_five_training_runs():
    question, answer = question_with("Which factor belongs into the half-width")
    deviation = numbers(question)[1]
    factor = stats.t.ppf(0.975, df=4)

    assert f"{factor:.2f}" in answer
    assert f"about {factor * deviation / math.sqrt(5):.3f}" in answer


def test_no_count_of_the_images_gives_the_printed_share():
    question, answer = question_with("five runs of a share of")
    share, images = numbers(question)[:2]
    total = int(5 * images)
    possible = [round(100 * count / total, 2) for count in range(total + 1)]

    assert share not in possible
    below = max(value for value in possible if value < share)
    above = min(value for value in possible if value > share)
    assert f"{below:.2f} %" in answer
    assert f"{above:.2f} %" in answer


def test_the_threshold_follows_from_the_two_costs():
    question, answer = question_with("An overlooked fraud")
    missed, needless = numbers(question)[:2]

    assert f"From {100 * needless / (missed + needless):.0f} % on" in answer
    assert f"as {missed / needless:.0f} needless checks" in answer


def test_the_gap_of_the_pairs_of_letters():
    question, answer = question_with("pair of letters to each of 500 landlords")
    pairs, nobody, both, only_first, only_second = numbers(question)[:5]
    assert nobody + both + only_first + only_second == pairs

    gap = (only_first - only_second) / pairs
    variance = (only_first + only_second) / pairs - gap**2
    error = math.sqrt(variance / pairs)

    assert f"{100 * gap:.1f} points" in answer
    assert f"about {100 * error:.1f} points" in answer
    low, high = 100 * (gap - 1.96 * error), 100 * (gap + 1.96 * error)
    assert f"about {low:.1f} to {high:.1f} points" in answer
    detectable = 100 * (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error
    printed = re.search(r"true gap of ([\d.]+) points", answer)
    assert float(printed[1]) == pytest.approx(detectable, abs=0.06)


def test_the_smallest_bias_of_pairs_and_of_templates():
    question, answer = question_with("800 pairs from 50 templates")
    pairs, templates, differ = numbers(question)[:3]
    factor = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)

    for number in (pairs, templates):
        error = math.sqrt(differ / number / 100) * 100
        assert f"{error:g} points" in answer
        assert f"about {factor * error:.1f} points" in answer


def test_the_design_effect_says_how_many_questions_a_benchmark_is_worth():
    question, answer = question_with("its design effect is 25")
    questions, _, effect = numbers(question)[:3]

    assert f"which is {questions / effect:.0f} independent questions" in answer
