"""Two models on the same items."""

import numpy as np
import pandas as pd
import pytest

import fairlib
from fairlib import atlas
from fairlib.atlas import command

MINE = {"name": "mine", "score": {"kind": "share", "fixed": 0.5}}
GROUPS = {"name": "groups", "score": {"kind": "difference"}}


def table(outcome, **more):
    return pd.DataFrame({"item": range(len(outcome)), "outcome": outcome} | more)


def two_models(rng, *, clusters=20, size=6, lead=0.0):
    """Models that find the same clusters hard, so that pairing helps."""
    hard = np.repeat(rng.normal(0, 0.2, clusters), size)
    n = clusters * size
    keys = {
        "cluster": np.repeat(np.arange(clusters), size),
        "group": np.tile(["a", "b"], n // 2),
    }
    return [
        table((rng.random(n) < 0.6 + hard + gain).astype(int), **keys)
        for gain in (lead, 0)
    ]


def test_the_difference_is_that_of_the_scores():
    first, second = two_models(np.random.default_rng(0), lead=0.1)
    for card in (MINE, GROUPS):
        result = atlas.compare(card, first, second)
        of_each = [fairlib.benchmark(card, one).score for one in (first, second)]
        expected = of_each[0].estimate - of_each[1].estimate
        assert result.difference.estimate == pytest.approx(expected)
        assert result.difference_these.estimate == pytest.approx(expected)
        assert result.ties == (first["outcome"] == second["outcome"]).sum()


def test_exchanging_the_models_turns_the_sign():
    first, second = two_models(np.random.default_rng(1), lead=0.1)
    for card in (MINE, GROUPS):
        one = atlas.compare(card, first, second).difference
        other = atlas.compare(card, second, first).difference
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_equal_models_are_seldom_called_different():
    rng = np.random.default_rng(2)
    runs = 60
    wrong = sum(
        atlas.compare(MINE, *two_models(rng)).difference.excludes(0)
        for _ in range(runs)
    )
    assert wrong / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_items_of_one_model_do_not_count_and_are_said():
    first, second = two_models(np.random.default_rng(3), lead=0.3)
    first["outcome"] = first["outcome"].astype(object)
    first.loc[0, "outcome"] = "refused"
    result = atlas.compare(MINE, first, second.iloc[:-5])
    assert (result.items, result.only_first, result.only_second) == (114, 5, 1)
    assert "6 items were answered by one model only" in str(result)
    assert result.smallest_difference > result.difference.half_width


@pytest.mark.parametrize(
    ("first", "second", "card", "message"),
    [
        (table([1, 0]), table([1, 0]).assign(item=[7, 8]), MINE, "items in common"),
        (table([1, 0]).drop(columns="item"), table([1, 0]), MINE, "column 'item'"),
        (
            table([1, 0], cluster=[1, 2]),
            table([1, 0], cluster=[1, 3]),
            MINE,
            "cluster must be the same in first and second, found two of item '1'",
        ),
        (
            table([1, 0, 1], group=list("abc")),
            table([1, 0, 1], group=list("abc")),
            GROUPS,
            "must have two groups",
        ),
    ],
)
def test_wrong_input_is_named(first, second, card, message):
    with pytest.raises(ValueError, match=message):
        atlas.compare(card, first, second)


def test_the_command_compares_two_models(tmp_path, capsys):
    """With --compare the answer is about the difference, also in its exit status."""
    first, second = two_models(np.random.default_rng(4), lead=0.3)
    paths = [tmp_path / name for name in ("first.csv", "second.csv")]
    for frame, path in zip((first, second), paths, strict=True):
        frame.to_csv(path, index=False)
    card = tmp_path / "mine.toml"
    card.write_text('name = "mine"\n[score]\nkind = "share"\n', encoding="utf-8")
    arguments = ["--card", str(card), str(paths[0]), "--compare", str(paths[1])]

    command.main(arguments)
    assert "The two models differ" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        command.main([*arguments, "--fail-on-shown"])
    assert left.value.code == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--refused", "0"], "compare must be without refused"),
    ],
)
def test_the_command_says_what_does_not_go_with_compare(more, message, capsys):
    with pytest.raises(SystemExit) as left:
        command.main(["bbq", "one.csv", "--compare", "other.csv", *more])
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_compares_with_a_file():
    with pytest.raises(SystemExit):
        command.main(["bbq", "--compare", "other.csv"])
