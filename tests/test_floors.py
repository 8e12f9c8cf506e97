"""The house has five floors above `checks`, and imports run down only."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from fairlib.data import ROOT

FLOORS = (
    ("checks", "_door"),
    ("interval", "tables", "data"),
    ("bernstein", "metrics", "amplification", "plots"),
    ("intervals", "ledger"),
    ("auditing", "recipes", "drawings"),
    ("atlas",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
DOORS = {"__init__", "__main__"}  # they name rooms, and import none by themselves


def modules():
    """Map each module, as a path below fairlib, to the modules that it imports."""
    files = {
        path.relative_to(ROOT / "fairlib").with_suffix("").parts: path
        for path in ROOT.glob("fairlib/**/*.py")
    }
    known = {
        ".".join(part for part in parts if part != "__init__"): path
        for parts, path in files.items()
    }
    found = {}
    for name, path in known.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "fairlib"
            ):
                module = node.module.removeprefix("fairlib").removeprefix(".")
                inside = {
                    f"{module}.{alias.name}".removeprefix(".") for alias in node.names
                }
                imported |= (inside & known.keys()) or {module}
        found[name or "__init__"] = imported - {""}
    return found


MODULES = modules()


@pytest.mark.parametrize("module", sorted(MODULES.keys() - DOORS))
def test_arrows_run_down_and_never_beside(module):
    room = module.split(".")[0]
    for imported in MODULES[module]:
        other = imported.split(".")[0]
        assert other == room or FLOOR[other] < FLOOR[room], (
            f"{module} imports {imported}"
        )


def test_no_circles():
    list(
        TopologicalSorter(
            {name: imported - {name} for name, imported in MODULES.items()}
        ).static_order()
    )


def test_modules_are_imported_by_name_in_three_places_and_rows_are_seen_in_one():
    texts = {
        path.relative_to(ROOT / "fairlib").as_posix(): path.read_text()
        for path in ROOT.glob("fairlib/**/*.py")
    }
    assert {name for name, text in texts.items() if "import_module(" in text} == {
        "_door.py",
        "__main__.py",
        "data.py",
    }
    frames = {
        name
        for name, text in texts.items()
        if "from_native(" in text or ".collect()" in text
    }
    assert frames == {"tables/opening.py"}


def test_reading_a_bundled_table_imports_no_recipe_and_no_statistics():
    code = (
        "import fairlib, sys; fairlib.load('compas_scores', source='bundled'); "
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output(
        [sys.executable, "-c", code], cwd=ROOT, text=True
    ).split()
    assert "fairlib.data" in loaded
    assert not [
        name
        for name in loaded
        if name.startswith(("fairlib.recipes", "scipy", "statsmodels", "sklearn"))
    ]


def test_an_audit_is_imported_without_what_takes_longest_in_scipy():
    def loaded_by(name):
        code = f"import {name}, sys; print(*sys.modules)"
        command = [sys.executable, "-c", code]
        return {*subprocess.check_output(command, cwd=ROOT, text=True).split()}

    by_audit = loaded_by("fairlib.auditing.report")
    assert {"fairlib.auditing.odds", "scipy.special"} <= by_audit
    # Some versions of SciPy load sparse matrices with its special functions.
    added = by_audit - loaded_by("scipy.special")
    assert not {"scipy.stats", "scipy.optimize", "scipy.sparse"} & added
