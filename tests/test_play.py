"""The games of the front page: their numbers are fairlib's, their rules are fair."""

import json
import re
import shutil
import subprocess

import numpy as np
import picture
import play
import pytest

import fairlib
from fairlib.data import ROOT
from fairlib.intervals.proportions import newcombe
from fairlib.intervals.sequential import confidence_sequence
from fairlib.recipes import printed_tables

FOLDER = ROOT / "site" / "_static" / "play"
CALL = """
const chance = require(process.argv[1]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(({function})(given)));
"""
needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="needs node, which runs the games"
)


def in_javascript(function, given, *, module="chance"):
    code = CALL.replace("{function}", function).replace("const chance", "const module_")
    code = code.replace("module_", module)
    command = ["node", "-e", code, str(FOLDER / f"{module}.js")]
    answer = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)


def games():
    rng = np.random.default_rng(0)
    for rate_women, rate_men in ((0.5, 0.5), (0.4, 0.75), (0.05, 0.1), (1, 0), (0, 0)):
        for matches in (1, 7, 60, 200):
            women = rng.random(matches) < rate_women
            men = rng.random(matches) < rate_men
            yield women.astype(int).tolist(), men.astype(int).tolist()


@needs_node
def test_the_interval_at_every_look_is_fairlibs_confidence_sequence():
    looks_after = """(games) => games.map(([women, men]) => {
        const growing = chance.sequence();
        return women.map((woman, match) => {
            growing.extend(woman, men[match]);
            return growing.look();
        });
    })"""
    answers = in_javascript(looks_after, list(games()))
    for (women, men), limits in zip(games(), answers, strict=True):
        cost = np.ravel(np.column_stack([men, women]))
        sequence = confidence_sequence(
            cost, np.tile([1, -1], len(women)), at=2 * np.arange(1, len(women) + 1)
        )
        expected = sequence[["low", "high"]].to_numpy()
        assert np.allclose(limits, expected, atol=1e-6)


@needs_node
def test_the_ordinary_interval_is_newcombes():
    crowds = [{"women": women, "men": men} for women, men in games()]
    crowds = [crowd for crowd in crowds if len(crowd["women"]) == 200]
    limits = in_javascript(
        "(crowds) => crowds.map(chance.PLAYERS.onceAtTheEnd)", crowds
    )
    for crowd, ends in zip(crowds, limits, strict=True):
        counts = (sum(crowd["men"]), 200, sum(crowd["women"]), 200)
        assert np.allclose(ends, newcombe(*counts, alpha=0.05), atol=1e-9)


@needs_node
@pytest.mark.slow
def test_javascripts_players_are_wrong_as_often_as_pythons():
    """Python's simulation is apart: it draws its own worlds, and all at once."""
    number = 100
    share = """([kind, number]) => {
        const next = chance.random(3);
        const names = ["dashboard", ...Object.keys(chance.PLAYERS)];
        const result = Object.fromEntries(names.map((name) => [name, 0]));
        for (let game = 0; game < number; game += 1) {
            const crowd = chance.crowd(kind, next);
            result.dashboard += chance.dashboard(crowd).flag === "unfair";
            for (const [name, play] of Object.entries(chance.PLAYERS))
                result[name] += chance.verdict(play(crowd)) === "unfair";
        }
        return result;
    }"""
    first = play.crowds()[0].system
    for crowd in play.crowds():
        if crowd.system != first or crowd.level not in (0, 15):
            continue
        often = play.often_unfair(points=crowd.level)
        kind = {"women": crowd.women, "men": crowd.men}
        for name, unfair in in_javascript(share, [kind, number]).items():
            spread = np.sqrt(often[name] * (1 - often[name]) / number)
            assert abs(unfair / number - often[name]) < 4 * spread + 0.005, name


def test_a_fair_crowd_is_seldom_accused_at_every_look_and_often_otherwise():
    often = play.often_unfair(points=0)
    error = np.sqrt(0.05 * 0.95 / play.WORLDS)
    assert often["everyLook"] < 0.05
    assert often["onceAtTheEnd"] < 0.05 + 3 * error
    assert often["ordinaryEveryLook"] > 0.25
    assert often["dashboard"] > 0.25


def test_crowds_have_the_differences_that_their_levels_say():
    crowds = play.crowds()
    assert {crowd.level for crowd in crowds} == set(play.LEVELS)
    for crowd in crowds:
        if crowd.level is None:
            assert play.SMALLEST <= crowd.difference <= play.LARGEST
        else:
            # The counts are whole sentences, of some 1,800.
            assert crowd.difference == pytest.approx(crowd.level / 100, abs=6e-4)


def test_crowds_as_measured_are_the_released_outcomes():
    table = fairlib.load("winomt_systems", source="bundled")
    right = table[table["right"] == 1].set_index(["system", "language", "gold"])
    hebrew = next(
        crowd
        for crowd in play.crowds()
        if crowd.system == "Google Translate, English to Hebrew" and crowd.level is None
    )
    assert hebrew.women[0] == right.loc[("google", "he", "female"), "sentences"]
    assert hebrew.men[0] == right.loc[("google", "he", "male"), "sentences"]
    assert round(100 * hebrew.difference) == 23


@needs_node
def test_scores_count_each_kind_of_mistake():
    flags = [
        {"flag": "unfair", "isFair": True, "checks": 400},
        {"flag": "unfair", "isFair": False, "checks": 100},
        {"flag": "fair", "isFair": False, "checks": 20},
        {"flag": "fair", "isFair": True, "checks": 30},
        {"flag": "open", "isFair": True, "checks": 400},
        {"flag": "open", "isFair": False, "checks": 400},
    ]
    assert in_javascript("chance.score", flags) == {
        "accused": 1,
        "missed": 1,
        "open": 2,
        "checks": 1350,
    }


@needs_node
def test_a_number_locks_where_python_finds_a_whole_number_behind_it():
    table = play.table3()
    counted = [images for images in table["images"] if images is not None]
    given = [
        [last, images] for row in table["rows"] for last in row for images in counted
    ]
    ends = in_javascript(
        "(given) => given.map((each) => combs.totals(...each))", given, module="combs"
    )
    last, images = np.transpose(given)
    assert np.array_equal(np.transpose(ends), printed_tables.totals(last / 100, images))


@needs_node
def test_in_cocos_order_all_numbers_lock_and_as_printed_few():
    table = play.table3()
    names = table["names"]
    orders = [list(range(66)), [names.index(name) for name in table["cocoOrder"]]]
    count = """([rows, images, orders]) => {
        const possible = combs.table(rows, images);
        return orders.map((order) => combs.locked(possible, order));
    }"""
    given = [table["rows"], table["images"], orders]
    assert in_javascript(count, given, module="combs") == [31, 195]


def test_the_people_are_those_of_the_compas_counts():
    scores = fairlib.load("compas_scores", source="bundled")
    for group, race in zip(
        play.compas(), ("African-American", "Caucasian"), strict=True
    ):
        of_race = scores[
            (scores["race"] == race) & scores["decile_score"].between(1, 10)
        ]
        charged = of_race["two_year_recid"] == 1
        assert sum(group["again"]) == of_race.loc[charged, "count"].sum()
        assert sum(group["not"]) == of_race.loc[~charged, "count"].sum()
        # The game never shows more people than there are.
        assert min(sum(group["again"]), sum(group["not"])) >= 0.9 * 1000


def test_the_picture_of_the_game_is_the_one_that_is_committed():
    assert picture.TARGET.read_text(encoding="utf-8") == picture.picture()


def test_the_games_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 50_000


@pytest.mark.parametrize("name", ["index", "games", "calculators"])
def test_no_game_has_the_address_of_a_heading(name):
    # A script that finds a heading's section instead of its own place would
    # replace the section, and the reader would lose the words that explain the game.
    page = (ROOT / "site" / f"{name}.md").read_text(encoding="utf-8")
    places = set(re.findall(r'<div class="[^"]*" id="([^"]+)"', page))
    titles = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    addresses = {re.sub(r"[^a-z0-9]+", "-", one.lower()).strip("-") for one in titles}
    assert places
    assert not places & addresses
