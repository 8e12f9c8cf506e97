"""What a printed table reveals: fractions of known counts can only take some values.

A mean of five runs over k images is a whole number divided by 5 k, and few of these
fractions round to the printed number; a printed standard deviation leaves fewer still.
Solving for the whole numbers turns a table of percentages into the authors' counts.

References: Brown, Heathers (2017), The GRIM test. Anaya (2016), The GRIMMER test. Wang,
Russakovsky (2021), Table 3.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairlib import ledger
from fairlib.recipes.originals import recipe
from fairlib.recipes.wang2021 import COCO_RATIOS, LABELS, image_labels

MASKS = ("none", "noisy", "full")
# Half of the interval of the third paper's scripts, in standard deviations of ddof 0.
PRINTED = 1.96 / np.sqrt(5)
_ROUNDING = 1e-6  # of sums of squares, which are whole numbers

# The objects that the third paper keeps, in the order of COCO's category numbers: the
# paper's data set labels them in this order.
_KEPT = """
person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant
bench cat dog horse cow elephant giraffe backpack umbrella handbag tie suitcase frisbee
skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard
tennis_racket bottle wine_glass cup fork knife spoon bowl banana sandwich hot_dog pizza
donut cake chair couch potted_plant bed dining_table toilet tv laptop mouse remote
keyboard cell_phone microwave oven sink refrigerator book clock teddy_bear toothbrush
"""
COCO_ORDER = tuple(_KEPT.split())


@dataclass(frozen=True)
class _Printing:
    """How the mean and the error of five runs were printed."""

    factor: float = PRINTED  # the error, in standard deviations
    ddof: int = 0  # of these standard deviations
    decimals: int = 2
    scale: int = 100  # 100 for per cent


def totals(
    printed: ArrayLike,
    images: ArrayLike,
    *,
    runs: int = 5,
    decimals: int = 2,
    scale: int = 100,
) -> tuple[np.ndarray, np.ndarray]:
    """Return which whole numbers, divided by runs times images, are printed like this.

    Where the smallest number is larger than the largest, no whole number is printed
    like this: the printed number is impossible. The arguments broadcast.

    Parameters
    ----------
    printed : array_like of float
        The printed means, in units of 1 / `scale`. A tie may round either way.
    images : array_like of int
        Number of images of each run.
    runs : int, default 5
        Number of runs.
    decimals : int, default 2
        Number of printed decimals.
    scale : int, default 100
        100 for per cent.

    Returns
    -------
    smallest, largest : numpy.ndarray of int
        The ends of the range of whole numbers.

    Examples
    --------
    10 / (5 * 30) is .0667, printed as 6.67; nothing is printed as 6.68.

    >>> [tuple(map(int, totals(printed, 30))) for printed in (6.67, 6.68)]
    [(10, 10), (11, 10)]
    """
    last_digits = np.asarray(printed, dtype=float) * 10**decimals
    last = np.rint(last_digits).astype(np.int64)
    cases = runs * np.asarray(images, dtype=np.int64)
    steps = 2 * scale * 10**decimals
    return -((1 - 2 * last) * cases // steps), (1 + 2 * last) * cases // steps


def _squares(
    total: np.ndarray, error: ArrayLike, images: ArrayLike, printing: _Printing
) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of the sum of five squares, by the printed error."""
    half = 10.0**-printing.decimals / 2
    printed_range = np.asarray(error, dtype=float) + np.array([[-half], [half]])
    deviations = np.maximum(printed_range, 0) / printing.scale / printing.factor
    spread = (5 - printing.ddof) * (deviations * images) ** 2
    lowest, highest = total**2 / 5 + spread

    # Of five numbers with this total, the most even ones have the smallest squares.
    shared, rest = np.divmod(total, 5)
    squares_of_even = 5 * shared**2 + rest * (2 * shared + 1)
    smallest = np.maximum(np.ceil(lowest - _ROUNDING), squares_of_even)
    return smallest, np.floor(highest + _ROUNDING)


def possible(
    printed: ArrayLike,
    error: ArrayLike,
    images: ArrayLike,
    *,
    factor: float = PRINTED,
    ddof: int = 0,
    decimals: int = 2,
    scale: int = 100,
) -> np.ndarray:
    """Return whether five whole numbers can have this printed mean and printed error.

    Five runs each count some of the images; the mean and the error of the five shares
    are printed. Let S be the sum of the five whole numbers and Q the sum of their
    squares. The mean determines S (`totals`). Q = S²/5 + (5 - ddof) sd² must lie in a
    short interval, must be odd where S is odd, and cannot be smaller than the squares
    of the most even five numbers with the sum S. Five whole numbers exist for every
    such Q.

    Parameters
    ----------
    printed, error : array_like of float
        The printed means and errors, in units of 1 / `scale`.
    images : array_like of int
        Number of images of each run.
    factor : float, default `PRINTED`
        The error, in standard deviations.
    ddof : int, default 0
        Of these standard deviations.
    decimals : int, default 2
        Number of printed decimals.
    scale : int, default 100
        100 for per cent.

    Returns
    -------
    numpy.ndarray of bool
        One element per printed number.

    Examples
    --------
    >>> possible([1.33, 1.33, 1.34], [1.43, 1.5, 1.43], 30).tolist()
    [True, False, False]
    """
    printing = _Printing(factor=factor, ddof=ddof, decimals=decimals, scale=scale)
    means, errors, sizes = np.broadcast_arrays(np.atleast_1d(printed), error, images)
    low, high = totals(means, sizes, decimals=decimals, scale=scale)

    exists = np.zeros(low.shape, dtype=bool)
    for step in range(int(np.max(high - low, initial=-1)) + 1):
        total = low + step
        smallest, largest = _squares(
            total.ravel(), errors.ravel(), sizes.ravel(), printing
        )
        # The squares add up to an odd number exactly where the numbers do.
        largest_of_parity = largest - (largest - total.ravel()) % 2
        in_range = (largest_of_parity >= smallest).reshape(low.shape)
        exists |= (total <= high) & in_range
    return exists


def five_runs(
    printed: float,
    error: float,
    images: int,
    *,
    factor: float = PRINTED,
    ddof: int = 0,
    decimals: int = 2,
    scale: int = 100,
) -> np.ndarray:
    """Return all sets of five whole numbers that have this printed mean and error.

    Parameters
    ----------
    printed, error : float
        The printed mean and error, in units of 1 / `scale`.
    images : int
        Number of images of each run.
    factor : float, default `PRINTED`
        The error, in standard deviations.
    ddof : int, default 0
        Of these standard deviations.
    decimals : int, default 2
        Number of printed decimals.
    scale : int, default 100
        100 for per cent.

    Returns
    -------
    numpy.ndarray of int
        One row per set, its five numbers in rising order.

    Examples
    --------
    >>> five_runs(6.67, 0.0, 30)
    array([[2, 2, 2, 2, 2]])
    """
    printing = _Printing(factor=factor, ddof=ddof, decimals=decimals, scale=scale)
    low, high = totals(printed, images, decimals=decimals, scale=scale)

    sets = [np.empty((0, 5), dtype=np.int64)]
    for total in range(int(low), int(high) + 1):
        smallest, largest = _squares(np.array([total]), error, images, printing)
        if int(smallest[0]) <= int(largest[0]):
            sets.append(_rising(total, int(smallest[0]), int(largest[0])))
    return np.concatenate(sets)


def _rising(total: int, smallest: int, largest: int) -> np.ndarray:
    """Return every rising five whole numbers with this total and a sum of squares.

    The sum of squares lies from `smallest` to `largest`. The numbers are chosen one
    after another; each row of `rows` holds those that are already chosen.
    """
    # Subtracting a number near the mean leaves five small numbers.
    shift = total // 5
    change_of_squares = 5 * shift**2 - 2 * shift * total
    smallest_shifted = smallest + change_of_squares
    largest_shifted = largest + change_of_squares

    rows = np.empty((1, 0), dtype=np.int64)
    squares = np.zeros(1)
    left = np.array([total - 5 * shift])  # what the numbers still to come add up to
    reach = int(np.sqrt(largest_shifted))

    for place in range(4):
        # The next number is at least the one before it, and at most the mean of what is
        # left.
        lowest = rows[:, -1] if place else np.full(1, -reach)
        choices = np.maximum(left // (5 - place) - lowest + 1, 0)

        row = np.repeat(np.arange(len(rows)), choices)
        first_of_row = np.repeat(np.cumsum(choices) - choices, choices)
        value = np.arange(len(row)) - first_of_row + lowest[row]

        # Leave out the rows whose squares are already too large, however evenly the
        # rest is shared out.
        rest = left[row] - value
        chosen_squares = squares[row] + value**2
        keep = chosen_squares + rest**2 / (4 - place) <= largest_shifted + _ROUNDING
        rows = np.column_stack([rows[row], value])[keep]
        squares = chosen_squares[keep]
        left = rest[keep]

    rows = np.column_stack([rows, left])
    squares = squares + left**2
    in_range = (squares >= smallest_shifted) & (squares <= largest_shifted)
    return rows[in_range] + shift


def printed_table3() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the T→A columns of Table 3 of Wang and Russakovsky (2021) as printed.

    Returns
    -------
    means, errors : pandas.DataFrame
        The printed means and what is printed behind ±, in per cent. One row per printed
        name, in the printed order, and one column per mask.
    """
    claims = ledger.published()
    ids = claims.index[claims.index.str.match(r"wang2021/table3/\w+/t_to_a/")]
    parts = ids.str.split("/")
    cells = claims.loc[ids, ["printed", "error"]].astype(float)
    cells = cells.assign(printed_as=parts.str[2], mask=parts.str[4])

    order = cells["printed_as"].unique()
    table = cells.pivot(index="printed_as", columns="mask").loc[order]
    return table["printed"][list(MASKS)], table["error"][list(MASKS)]


@recipe(files=[LABELS, COCO_RATIOS])
def table3_integers() -> pd.DataFrame:
    """Table 3 of Wang and Russakovsky (2021) in whole numbers, under its true names.

    Row k of the printed table is object k in COCO's order, whatever name is printed
    there. "person" is left out: with 5,367 images every printed value is possible.

    Returns
    -------
    pandas.DataFrame
        One row per object and mask. `images`: images of the dev set that show the
        object. `net`: in how many of them, in five runs together, the gender was
        changed to the gender that goes with the object, minus those changed away from
        it.
        `sets`: how many sets of five numbers have the printed mean and error. `runs`:
        the five numbers, where only one set has them.
    """
    labels = image_labels()
    objects = [name for name in COCO_ORDER if name in labels]
    images = labels.loc[labels["split"] == "dev", objects].sum()

    claims = ledger.published()
    ids = claims.index[claims.index.str.match(r"wang2021/table3/\w+/t_to_a/")]
    printed_names = ids.str.split("/").str[2].unique()
    printed_as = dict(zip(COCO_ORDER, printed_names, strict=True))

    rows = []
    for name, count in images.items():
        for mask in MASKS:
            cell = claims.loc[f"wang2021/table3/{printed_as[name]}/t_to_a/{mask}"]
            printed = float(cell["printed"])
            sets = five_runs(printed, float(cell["error"]), count)
            row = {
                "object": name,
                "printed_as": printed_as[name],
                "mask": mask,
                "images": count,
                "net": round(printed / 100 * 5 * count),
                "sets": len(sets),
                "runs": " ".join(map(str, sets[0])) if len(sets) == 1 else None,
            }
            rows.append(row)
    return pd.DataFrame(rows)
