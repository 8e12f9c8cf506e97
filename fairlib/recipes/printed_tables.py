"""What a printed table gives away: numbers that are fractions of known counts can only take some values.

A mean of five runs over k images is a whole number divided by 5 k, and few of those round to what is printed; a printed
standard deviation leaves fewer still. Solved for the whole numbers, a table of percentages becomes the authors' counts.

References: Brown, Heathers (2017), The GRIM test. Anaya (2016), The GRIMMER test. Wang, Russakovsky (2021), Table 3.
"""

import numpy as np
import pandas as pd

from fairlib import ledger
from fairlib.recipes.originals import recipe
from fairlib.recipes.wang2021 import COCO_RATIOS, LABELS, image_labels

MASKS = ("none", "noisy", "full")
PRINTED = 1.96 / np.sqrt(
    5
)  # half of the interval of the third paper's scripts, in standard deviations of ddof 0
# The objects that the third paper keeps, as COCO numbers its categories: the order in which its data set labels them.
_KEPT = """
person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant bench cat dog horse cow
elephant giraffe backpack umbrella handbag tie suitcase frisbee skis snowboard sports_ball kite baseball_bat
baseball_glove skateboard surfboard tennis_racket bottle wine_glass cup fork knife spoon bowl banana sandwich
hot_dog pizza donut cake chair couch potted_plant bed dining_table toilet tv laptop mouse remote keyboard
cell_phone microwave oven sink refrigerator book clock teddy_bear toothbrush
"""
COCO_ORDER = tuple(_KEPT.split())


def totals(printed, images, *, runs: int = 5, decimals: int = 2, scale: int = 100):
    """Return the smallest and the largest whole number that, divided by runs times images, is printed so.

    Where the smallest is larger than the largest there is none, and the printed number cannot be. Arrays broadcast.

    printed : as printed, in units of 1 / scale (100: per cent), with so many decimals; a tie may round either way.

    >>> [tuple(map(int, totals(printed, 30))) for printed in (6.67, 6.68)]  # 10 / (5 * 30) is .0667
    [(10, 10), (11, 10)]
    """
    last = np.rint(np.asarray(printed, dtype=float) * 10**decimals).astype(np.int64)
    cases, steps = runs * np.asarray(images, dtype=np.int64), 2 * scale * 10**decimals
    return -((1 - 2 * last) * cases // steps), (1 + 2 * last) * cases // steps


def _squares(total, error, images, factor, ddof, decimals, scale):
    """Return between which whole numbers the squares of five with this total add up, by their printed error."""
    half = 10.0**-decimals / 2
    ends = (
        np.maximum(np.asarray(error, dtype=float) + np.array([[-half], [half]]), 0)
        / scale
        / factor
    )
    least, most = total**2 / 5 + (5 - ddof) * (ends * images) ** 2
    shared, rest = np.divmod(total, 5)
    evenly = 5 * shared**2 + rest * (
        2 * shared + 1
    )  # no five whole numbers with this total have smaller squares
    return np.maximum(np.ceil(least - 1e-6), evenly), np.floor(most + 1e-6)


def possible(
    printed,
    error,
    images,
    *,
    factor: float = PRINTED,
    ddof: int = 0,
    decimals: int = 2,
    scale: int = 100,
):
    """Whether five whole numbers, each divided by images, have this printed mean and this printed error, an array.

    The error is `factor` standard deviations of `ddof`. Let S be the sum of the five and Q that of their squares. The
    mean gives S (`totals`), and Q = S²/5 + (5 - ddof) sd² must lie in a short interval, be odd where S is, and not lie
    below the squares of S shared out evenly. There are five whole numbers for every such Q.

    >>> possible([1.33, 1.33, 1.34], [1.43, 1.5, 1.43], 30).tolist()
    [True, False, False]
    """
    printed, error, images = np.broadcast_arrays(np.atleast_1d(printed), error, images)
    low, high = totals(printed, images, decimals=decimals, scale=scale)
    found = np.zeros(low.shape, dtype=bool)
    for more in range(int(np.max(high - low, initial=-1)) + 1):
        total = low + more
        least, most = _squares(
            total.ravel(), error.ravel(), images.ravel(), factor, ddof, decimals, scale
        )
        even = (most - (most - total.ravel()) % 2 >= least).reshape(low.shape)
        found |= (total <= high) & even
    return found


def five_runs(printed: float, error: float, images: int, **setting) -> np.ndarray:
    """Return all that the five runs can have been, a row each, in rising order; the arguments are those of `possible`.

    >>> five_runs(6.67, 0.0, 30)
    array([[2, 2, 2, 2, 2]])
    """
    setting = {"factor": PRINTED, "ddof": 0, "decimals": 2, "scale": 100} | setting
    low, high = totals(
        printed, images, decimals=setting["decimals"], scale=setting["scale"]
    )
    rows = [np.empty((0, 5), dtype=np.int64)]
    for total in range(int(low), int(high) + 1):
        least, most = (
            int(end[0]) for end in _squares(np.array([total]), error, images, **setting)
        )
        if least <= most:
            rows.append(_rising(total, least, most))
    return np.concatenate(rows)


def _rising(total: int, least: int, most: int) -> np.ndarray:
    """Return every five whole numbers in rising order with this total and squares that add up to least ... most."""
    shift = total // 5  # what they have beyond a number near their mean is small
    least, most = (end - 2 * shift * total + 5 * shift**2 for end in (least, most))
    left, reach = np.array([total - 5 * shift]), int(np.sqrt(most))
    rows, squares = np.empty((1, 0), dtype=np.int64), np.zeros(1)
    for place in range(4):
        first = rows[:, -1] if place else np.full(1, -reach)
        many = np.maximum(
            left // (5 - place) - first + 1, 0
        )  # the next one is at most the mean of what is left
        of = np.repeat(np.arange(len(rows)), many)
        value = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many) + first[of]
        rest = left[of] - value
        keep = squares[of] + value**2 + rest**2 / (4 - place) <= most + 1e-6
        rows, left = np.column_stack([rows[of], value])[keep], rest[keep]
        squares = (squares[of] + value**2)[keep]
    rows, squares = np.column_stack([rows, left]), squares + left**2
    return rows[(squares >= least) & (squares <= most)] + shift


@recipe(files=[LABELS, COCO_RATIOS])
def table3_integers() -> pd.DataFrame:
    """Table 3 of Wang and Russakovsky (2021) in whole numbers, under the names that its numbers have.

    Per object and mask: the images of the dev set that show it; in how many of them, five runs together, the gender was
    changed to that with which the object goes, less those changed away from it; how many sets of five numbers have the
    printed mean and error; and the five numbers where only one has. Row k of the printed table is object k in COCO's
    order. "person" is left out: with 5,367 images every printed value is possible.
    """
    labels = image_labels()
    images = labels[labels["split"] == "dev"][
        [name for name in COCO_ORDER if name in labels]
    ].sum()
    claims = ledger.published()
    ids = claims.index[claims.index.str.match(r"wang2021/table3/\w+/t_to_a/")]
    printed_as = dict(zip(COCO_ORDER, ids.str.split("/").str[2].unique(), strict=True))
    rows = []
    for name, count in images.items():
        for mask in MASKS:
            cell = claims.loc[f"wang2021/table3/{printed_as[name]}/t_to_a/{mask}"]
            found = five_runs(float(cell["printed"]), float(cell["error"]), count)
            net = round(float(cell["printed"]) / 100 * 5 * count)
            runs = " ".join(map(str, found[0])) if len(found) == 1 else None
            rows.append((name, printed_as[name], mask, count, net, len(found), runs))
    return pd.DataFrame(
        rows, columns=["object", "printed_as", "mask", "images", "net", "sets", "runs"]
    )
