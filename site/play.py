"""Write the numbers that the games of the front page play with.

python site/play.py   (`make site` calls it, through prepare.py)

The crowds of "Bias or luck?" are the outcomes that Stanovsky, Smith and Zettlemoyer
(2019) released for WinoMT: how many sentences about women, and about men, each
translation system translated with the right gender.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy import ndarray
from numpy.random import Generator

import fairlib
from fairlib import ledger
from fairlib.intervals import proportions
from fairlib.intervals.sequential import FRACTIONS
from fairlib.recipes.printed_tables import COCO_ORDER, MASKS

LEVELS = (
    0,
    3,
    8,
    15,
    None,
)  # true differences in points; None leaves a system as it is
MATCHES = 200  # a match is one sentence about a woman and one about a man
MATCHES_BETWEEN_LOOKS = 5
BAND = 0.05
ALPHA = 0.05
WORLDS = 20_000  # simulated games; a share of .05 is then known to .0015
# A difference must leave room for the levels, and be one that people argue about.
SMALLEST, LARGEST = 0.20, 0.40
RACES = {"African-American": "Black people", "Caucasian": "White people"}
LANGUAGES = {
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "he": "Hebrew",
    "it": "Italian",
    "ru": "Russian",
    "uk": "Ukrainian",
}
SYSTEMS = {
    "bing": "Bing Microsoft Translator",
    "google": "Google Translate",
    "systran": "SYSTRAN",
}


class Crowd(NamedTuple):
    """A system's outcomes: how many sentences are right, and how many there are."""

    system: str
    level: int | None
    women: tuple[int, int]
    men: tuple[int, int]

    @property
    def difference(self) -> float:
        """Return the share of right sentences about men minus that about women."""
        return self.men[0] / self.men[1] - self.women[0] / self.women[1]


def crowds() -> list[Crowd]:
    """Return each suitable system at each level.

    To reach a level we exchange the gender in a share of the sentences. Such an
    exchange at random moves the right sentences of both groups towards their common
    share; we take its average, rounded to whole sentences.
    """
    table = fairlib.load("winomt_systems", source="bundled")
    by_group = table.groupby(["system", "language", "gold"])
    number = by_group["sentences"].sum().unstack()
    is_right = table["right"] == 1
    right = (
        table[is_right]
        .groupby(["system", "language", "gold"])["sentences"]
        .sum()
        .unstack()
    )
    difference = right["male"] / number["male"] - right["female"] / number["female"]
    suitable = difference.index[difference.between(SMALLEST, LARGEST)]

    result = []
    for system, language in suitable:
        name = f"{SYSTEMS[system]}, English to {LANGUAGES[language]}"
        counts = [
            tuple(int(part.loc[(system, language), gold]) for part in (right, number))
            for gold in ("female", "male")
        ]
        women, men = counts
        result += [_at_level(name, level, women, men) for level in LEVELS]
    return result


def _at_level(
    name: str, level: int | None, women: tuple[int, int], men: tuple[int, int]
) -> Crowd:
    """Return a system's counts after its difference was reduced to `level` points."""
    as_measured = Crowd(name, level, women, men)
    if level is None:
        return as_measured

    kept = level / 100 / as_measured.difference
    common = (women[0] + men[0]) / (women[1] + men[1])
    moved = [
        round(kept * right + (1 - kept) * common * number)
        for right, number in (women, men)
    ]
    return Crowd(name, level, (moved[0], women[1]), (moved[1], men[1]))


def simulated(crowd: Crowd, rng: Generator) -> dict[str, float]:
    """Return how often each robot and each way of looking calls a crowd unfair.

    The sentences that are checked are drawn without replacement, as in the game.
    """
    women, men = (_outcomes(counts, rng) for counts in (crowd.women, crowd.men))
    looks = np.arange(MATCHES_BETWEEN_LOOKS, MATCHES + 1, MATCHES_BETWEEN_LOOKS)
    right_women = np.cumsum(women, axis=1)[:, looks - 1]
    right_men = np.cumsum(men, axis=1)[:, looks - 1]

    low, high = proportions.newcombe(right_men, looks, right_women, looks, alpha=ALPHA)
    excludes_zero = (low > 0) | (high < 0)
    difference = (right_men[:, -1] - right_women[:, -1]) / MATCHES
    values = (1 + men - women) / 2
    ever_excludes_zero = _ever_rejected(values) | _ever_rejected(1 - values)

    return {
        "dashboard": float(np.mean(np.abs(difference) > BAND + 1e-12)),
        "onceAtTheEnd": float(excludes_zero[:, -1].mean()),
        "ordinaryEveryLook": float(excludes_zero.any(axis=1).mean()),
        "everyLook": float(ever_excludes_zero.mean()),
    }


def _outcomes(counts: tuple[int, int], rng: Generator) -> ndarray:
    """Return the first outcomes of `WORLDS` shuffled groups, one row a world."""
    right, number = counts
    drawn = np.empty((WORLDS, MATCHES), dtype=np.int8)
    left = np.full(WORLDS, right)
    for match in range(MATCHES):
        drawn[:, match] = rng.random(WORLDS) < left / (number - match)
        left = left - drawn[:, match]
    return drawn


def _ever_rejected(values: ndarray) -> ndarray:
    """Return whether a bettor against "no difference" ever reaches her goal."""
    money = np.ones((len(FRACTIONS), len(values)))
    has_reached = np.zeros(len(values), dtype=bool)
    for match in range(values.shape[1]):
        money *= 1 + FRACTIONS[:, None] * (values[:, match] / 0.5 - 1)
        has_reached |= money.mean(axis=0) >= 2 / ALPHA
    return has_reached


def long_run(every_crowd: list[Crowd], *, rng: Generator | int = 0) -> pd.DataFrame:
    """Return, for each level, how often the robots call crowds of it unfair."""
    rng = np.random.default_rng(rng)
    one_system = [
        crowd for crowd in every_crowd if crowd.system == every_crowd[0].system
    ]
    rows = {
        round(100 * crowd.difference): simulated(crowd, rng) for crowd in one_system
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("points")


def table3() -> dict:
    """Return the T→A columns of Wang and Russakovsky's Table 3, as printed.

    A printed number is given in hundredths of a per cent. `images` counts the images of
    the dev set that show the object; every image shows a person, so that any number is
    possible for it.
    """
    claims = ledger.published()
    cells = claims.loc[
        claims.index.str.match(r"wang2021/table3/\w+/t_to_a/"), "printed"
    ].astype(float)
    names = cells.index.str.split("/").str[2].unique()
    labels = fairlib.load("coco_objects", source="bundled")
    on_dev = labels[labels["split"] == "dev"].set_index("object")
    images = on_dev[["man", "woman"]].sum(axis=1)

    rows = [
        [round(100 * cells[f"wang2021/table3/{name}/t_to_a/{mask}"]) for mask in MASKS]
        for name in names
    ]
    return {
        "names": list(names),
        "images": [int(images[name]) if name in images else None for name in names],
        "rows": rows,
        "cocoOrder": list(COCO_ORDER),
    }


def compas() -> list[dict]:
    """Return two groups of defendants: how many have each score, by what came later."""
    table = fairlib.load("compas_scores", source="bundled")
    groups = []
    for race, name in {
        "African-American": "Black people",
        "Caucasian": "White people",
    }.items():
        counts = (
            table[table["race"] == race]
            .pivot_table(index="decile_score", columns="two_year_recid", values="count")
            .reindex(range(1, 11))
            .fillna(0)
            .astype(int)
        )
        groups.append(
            {
                "name": name,
                "again": counts[1].tolist(),
                "not": counts[0].tolist(),
                "rate": round(float(counts[1].sum() / counts.to_numpy().sum()), 2),
            }
        )
    return groups


@cache
def data() -> dict:
    """Return what the games need to know, ready for JSON."""
    every_crowd = crowds()
    table = long_run(every_crowd)
    return {
        "crowds": [crowd._asdict() for crowd in every_crowd],
        "table3": table3(),
        "compas": compas(),
        "longRun": {"worlds": WORLDS, "unfair": table.to_dict("index")},
    }


def often_unfair(*, points: int) -> dict[str, float]:
    """Return how often each robot calls a crowd with this true difference unfair."""
    return data()["longRun"]["unfair"][points]


def write(folder: Path) -> None:
    """Write the numbers as a script, which a page can read without a server."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = json.dumps(data(), separators=(",", ":"))
    (folder / "data.js").write_text(f"const playData = {numbers};\n", encoding="utf-8")


if __name__ == "__main__":
    print(long_run(crowds()).round(4))
