"""The calculators of the site, in JavaScript, give fairlib's numbers."""

import itertools
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from fairlib import bernstein, bounds
from fairlib.amplification import Counts, from_counts
from fairlib.data import ROOT
from fairlib.intervals import cluster_planning
from fairlib.intervals.exact import exact_unconditional

FOLDER = ROOT / "site" / "_static" / "calculators"
PAGE = (ROOT / "site" / "calculators.md").read_text(encoding="utf-8")
CALL = """
const {module} = require(process.argv[1]);
const settings = JSON.parse(require("fs").readFileSync(0, "utf8"));
const isOdd = (value) => typeof value === "number" && !Number.isFinite(value);
const shown = (key, value) => (isOdd(value) ? String(value) : value);
console.log(JSON.stringify(settings.map((given) => ({expression})(...given)), shown));
"""
needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="needs node, which runs the calculators"
)


def in_javascript(expression, settings, *, module="numbers"):
    """Return what a function of a script gives; undefined comes back as "NaN"."""
    call = CALL.replace("{expression}", expression).replace("{module}", module)
    command = ["node", "-e", call, str(FOLDER / f"{module}.js")]
    found = subprocess.run(
        command, input=json.dumps(settings), capture_output=True, text=True, check=True
    )
    return json.loads(found.stdout)


SIZES = [
    (bias, {"bound": bound, "gamma": gamma, "confidence": confidence})
    for bias, gamma, confidence, bound in itertools.product(
        (0.01, 0.02, 0.035, 0.05, 0.1, 0.2, 0.3),
        (0.05, 0.2, 0.35, 0.5),
        (0.5, 0.9, 0.95, 0.999),
        ("paper", "centred"),
    )
]


def setting(bound, gamma, confidence):
    centred = {"variance": 1 / (4 * gamma * (1 - gamma)), "max_cost": 0.5}
    return {"gamma": gamma, "confidence": confidence} | (
        centred if bound == "centred" else {"variance": "maximal"}
    )


@needs_node
def test_sample_sizes_are_those_of_bernstein():
    expected = [
        bernstein.sample_size(bias, **setting(**options)) for bias, options in SIZES
    ]
    assert len(SIZES) == 224
    assert in_javascript("numbers.sampleSize", SIZES) == expected


@needs_node
def test_the_smallest_bias_is_that_of_bernstein():
    asked = [(n, options) for n in (50, 3160) for _, options in SIZES]
    expected = [
        bernstein.smallest_bias(n, **setting(**options)) for n, options in asked
    ]
    assert in_javascript("numbers.smallestBias", asked) == pytest.approx(
        expected, rel=0, abs=1e-9
    )


@needs_node
def test_hoeffding_needs_the_first_size_whose_interval_is_narrower_than_the_bias():
    asked = [(bias, options | {"bound": "hoeffding"}) for bias, options in SIZES]

    def reach(n, gamma, confidence):
        n_a, n_b = gamma * n, (1 - gamma) * n
        return bounds.METHODS["hoeffding"].counts(
            n_a / 2, n_a, n_b / 2, n_b, alpha=1 - confidence
        )[1]

    for (bias, options), n in zip(
        asked, in_javascript("numbers.sampleSize", asked), strict=True
    ):
        gamma, confidence = options["gamma"], options["confidence"]
        assert reach(n, gamma, confidence) < bias
        assert n == 1 or reach(n - 1, gamma, confidence) >= min(bias, 1.0)


@needs_node
@pytest.mark.parametrize(
    "method",
    [
        "bernstein_maximal",
        "hoeffding",
        "empirical_bernstein",
        "miettinen_nurminen",
        "newcombe",
    ],
)
def test_intervals_are_those_of_bounds(method):
    rng = np.random.default_rng(0)
    sizes = rng.choice([2, 3, 7, 30, 250, 1000, 40_000], size=(300, 2))
    errors = np.where(
        rng.random((300, 2)) < 0.2,
        sizes * rng.integers(0, 2, (300, 2)),
        rng.binomial(sizes, 0.2),
    )
    alpha = rng.choice([0.2, 0.1, 0.05, 0.01], 300)
    (n_a, n_b), (x_a, x_b) = sizes.T, errors.T
    low, high = zip(
        *(
            bounds.METHODS[method].counts(*counts[:4], alpha=counts[4])
            for counts in zip(x_a, n_a, x_b, n_b, alpha, strict=True)
        ),
        strict=True,
    )
    asked = np.column_stack([x_a, n_a, x_b, n_b, alpha]).tolist()
    found = in_javascript(f"numbers.METHODS.{method}", asked)
    np.testing.assert_allclose(found, np.column_stack([low, high]), rtol=0, atol=1e-9)


def worlds():
    """Return counts of women and men with and without the task, and predictions."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        cells, shares = rng.integers(1, 61, (2, 2)), rng.integers(0, 101, 2) / 100
        yield cells.tolist(), shares.tolist()
    yield [[30, 10], [10, 30]], [0.0, 0.0]  # nobody is seen: MALS is undefined
    yield [[10, 10], [10, 10]], [1.0, 0.0]  # independent


@needs_node
@pytest.mark.parametrize("errs", ["seen", "taken"])
@pytest.mark.filterwarnings("ignore:. of 2 pairs are undefined")
def test_amplification_is_that_of_counts(errs):
    asked = list(worlds())
    found = in_javascript(
        "((cells, shares) => numbers.amplification("
        f"{{women: cells[0], men: cells[1], {errs}: shares}}))",
        asked,
    )
    for (cells, shares), measures in zip(asked, found, strict=True):
        (women, men), (first, second) = np.array(cells, dtype=float), shares
        n, sizes, task = (
            sum(women) + sum(men),
            [sum(women), sum(men)],
            women[0] + men[0],
        )
        labels = Counts(n, sizes, [task], [[women[0]], [men[0]]])
        of_task = of_attribute = both = labels
        if errs == "seen":
            seen = [sizes[0] * first, sizes[1] * second]
            of_task = both = Counts(n, sizes, [sum(seen)], np.transpose([seen]))
        else:
            taken = [task * first, task * (1 - first)]
            called = taken[0] + (n - task) * second
            of_attribute = both = Counts(
                n, [called, n - called], [task], np.transpose([taken])
            )
        expected = {
            "MALS": from_counts("MALS", labels, both),
            "A->T": from_counts("A->T", labels, of_task),
            "T->A": from_counts("T->A", labels, of_attribute),
        }
        assert {
            name: float(value) for name, value in measures.items()
        } == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_the_page_loads_scripts_that_are_there_and_no_others():
    loaded = re.findall(r'<script src="_static/calculators/([\w.]+)" defer>', PAGE)
    assert sorted(loaded) == sorted(path.name for path in FOLDER.glob("*.js"))
    # A script uses those before it; the last three are the calculators.
    assert loaded[:3] == ["numbers.js", "exact.js", "drawing.js"]
    assert "http" not in PAGE


def test_each_calculator_has_a_place_with_a_notebook_for_those_without_javascript():
    places = re.findall(
        r'<div class="calculator" id="([\w-]+)">\n\n([^<]+)\n\n</div>', PAGE
    )
    scripts = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js"))
    assert {name for name, _ in places} == set(
        re.findall(r'"([\w-]+-calculator)"', scripts)
    )
    for _, words in places:
        (notebook,) = re.findall(r"\((notebooks/[\w/]+\.ipynb)\)", words)
        assert (ROOT / notebook).exists()


@needs_node
def test_the_exact_verdict_is_that_of_the_default_interval():
    rng = np.random.default_rng(4)
    tables = [(0, 10, 10, 10), (5, 5, 0, 3), (30, 100, 18, 100), (75, 250, 50, 250)]
    for _ in range(60):
        n_a, n_b = (int(n) for n in rng.integers(2, 160, 2))
        rate = rng.random()
        rates = np.clip([rate, rate + rng.normal(0, 0.2)], 0, 1)
        x_a, x_b = (
            int(rng.binomial(n, p)) for n, p in zip((n_a, n_b), rates, strict=True)
        )
        tables.append((x_a, n_a, x_b, n_b))

    expected = []
    for table in tables:
        low, high = exact_unconditional(*table, alpha=0.05)
        expected.append("above" if low > 0 else "below" if high < 0 else "no")
    sides = in_javascript(
        "exact.side", [(*table, 0.05) for table in tables], module="exact"
    )
    assert set(expected) == {"above", "below", "no"}
    assert sides == expected


@needs_node
def test_groups_that_are_too_large_for_a_page_have_no_exact_verdict():
    tables = [(10, 2001, 20, 50, 0.05)]
    assert in_javascript("exact.side", tables, module="exact") == [None]


@needs_node
@pytest.mark.parametrize("clusters", [0, 61, 400])
def test_the_smallest_bias_of_a_benchmark_is_that_of_the_plan(clusters):
    size = 40
    settings, expected = [], []
    for paired, rate, effect, power, confidence in itertools.product(
        (True, False), (0.05, 0.2), (1.0, 7.5), (0.8, 0.9), (0.95, 0.99)
    ):
        n = size * (clusters or 61)
        plan = {"power": power, "confidence": confidence}
        if clusters:
            plan["design_effect"] = effect
        if paired:
            sizes = [size] * clusters if clusters else n
            smallest = cluster_planning.smallest_change(sizes, discordant=rate, **plan)
        else:
            a, b = ([0.25 * size] * clusters, [0.75 * size] * clusters)
            if not clusters:
                a, b = 0.25 * n, 0.75 * n
            smallest = cluster_planning.smallest_difference(a, b, error=rate, **plan)
        expected.append(smallest)
        options = {"n": n, "paired": paired, "gamma": 0.25, "clusters": clusters}
        options |= {"error": rate, "discordant": rate, "designEffect": effect}
        settings.append([options | {"power": power, "confidence": confidence}])

    smallest = in_javascript("design.smallestBias", settings, module="design")
    assert smallest == pytest.approx(expected, rel=1e-5)


@needs_node
@pytest.mark.parametrize(("clusters", "least"), [(0, 1), (100, 3)])
def test_the_number_needed_is_the_smallest_that_shows_the_bias(clusters, least):
    options = {"paired": True, "discordant": 0.2, "clusters": clusters}
    options |= {"designEffect": 4, "power": 0.8, "confidence": 0.95}
    biases = [0.02, 0.05, 0.3, 0.9]
    numbers = in_javascript(
        "design.needed", [[bias, options, 20] for bias in biases], module="design"
    )
    for bias, number in zip(biases, numbers, strict=True):
        tried = []
        for units in (number, number - 1):
            n = units * (20 if clusters else 1)
            tried.append([options | {"n": n, "clusters": units if clusters else 0}])
        shown = in_javascript("design.smallestBias", tried, module="design")
        assert float(shown[0]) <= bias
        assert number == least or not float(shown[1]) <= bias


@needs_node
def test_two_clusters_show_nothing():
    options = {"n": 200, "paired": True, "discordant": 0.2, "clusters": 2}
    options |= {"designEffect": 1, "power": 0.8, "confidence": 0.95}
    assert in_javascript("design.smallestBias", [[options]], module="design") == ["NaN"]
