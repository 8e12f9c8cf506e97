"""Random tables with fixed margins, as `scipy.stats.random_table` draws them.

An audit draws such tables in a few milliseconds, but `import scipy.stats` takes half a
second of processor time, a third of a whole audit. The compiled function that draws
needs nothing else of `scipy.stats`, so only its file is loaded. Where SciPy keeps it
elsewhere, `scipy.stats` draws the same tables from the same random numbers.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import numpy as np
import scipy
from numpy import ndarray
from numpy.random import Generator

_COMPILED = "scipy.stats._rcont.rcont"


def tables_with_margins(
    of_rows: ndarray, of_columns: ndarray, size: int, rng: Generator
) -> ndarray:
    """Draw tables of counts whose rows and columns have given sums.

    Every way to exchange the cases between the rows is equally likely (Patefield 1981,
    algorithm AS 159).

    Parameters
    ----------
    of_rows, of_columns : ndarray of whole numbers
        The sum of each row and of each column, with the same total.
    size : int
        The number of tables.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int64
        The tables, as an array of tables x rows x columns.

    Examples
    --------
    >>> tables_with_margins(np.array([1, 5]), np.array([2, 4]), 1, 0).sum(axis=2)
    array([[1, 5]])
    """
    rows = np.array(of_rows, dtype=np.int64)
    columns = np.array(of_columns, dtype=np.int64)
    generator = np.random.default_rng(rng)

    draw = _compiled_function()
    if draw is None:
        from scipy.stats import random_table

        margins = random_table(rows, columns)
        return margins.rvs(size, method="patefield", random_state=generator)

    # SciPy passes them in this order too.
    arguments = (rows, columns, rows.sum(), size, generator)
    return draw(*arguments).reshape(size, len(rows), len(columns))


@cache
def _compiled_function() -> Callable | None:
    """Return SciPy's compiled function, or None if this SciPy keeps it elsewhere."""
    module = sys.modules.get(_COMPILED)
    if module is None:
        folder = Path(scipy.__file__).parent / "stats" / "_rcont"
        spec = PathFinder.find_spec(_COMPILED, [str(folder)])
        if spec is None or spec.loader is None:
            return None

        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        # A later `import scipy.stats` finds it here, and does not load it again.
        sys.modules[_COMPILED] = module

    return getattr(module, "rvs_rcont2", None)
