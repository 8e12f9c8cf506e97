"""What is public is on the page of names, and says what it takes and returns."""

import ast
import inspect
import json
import re
import tomllib
from types import ModuleType

import pytest

import fairlib
from fairlib.data import ROOT

GROUPS = tomllib.loads((ROOT / "site" / "api.toml").read_text("utf-8"))["group"]
NAMES = [name for group in GROUPS for name in group["names"]]
MODULES = {
    name for name in fairlib.__all__ if isinstance(getattr(fairlib, name), ModuleType)
}
TABLES = {"METRICS"}  # the page has them as tables
MADE_BY_OTHERS = {"auditing.Report"}  # classes that no user calls


def thing(name):
    """Return what a dotted name below `fairlib` stands for."""
    place = fairlib
    for part in name.split("."):
        place = getattr(place, part)
    return place


def cells_of_code():
    for path in ROOT.glob("notebooks/**/[0-9]*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "%pip" not in source:
                yield source


def names_that_notebooks_use():
    """Return the functions and classes of public modules that notebooks use."""
    used = set()
    for source in cells_of_code():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module = node.value.id
                name = f"{module}.{node.attr}"
                if module in MODULES and hasattr(getattr(fairlib, module), node.attr):
                    used.add(name)
    return {name for name in used if callable(thing(name))}


def test_everything_public_is_on_the_page_once():
    assert len(NAMES) == len(set(NAMES))
    assert {*fairlib.__all__} - MODULES - TABLES <= {*NAMES}
    assert MODULES - {"metrics"} <= {name.split(".")[0] for name in NAMES}


def test_what_notebooks_use_is_public():
    on_the_page = {thing(name) for name in NAMES}
    used = names_that_notebooks_use()
    assert len(used) > 40
    assert not [name for name in sorted(used) if thing(name) not in on_the_page]


def parameters_in(docstring):
    """Return the names under "Parameters"."""
    section = re.search(
        r"^(?:Parameters|Attributes)\n-{10}\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)",
        docstring,
        flags=re.DOTALL | re.MULTILINE,
    )
    if section is None:
        return []
    listed = re.findall(r"^([\w*][^\n:]*?)(?: : .*)?$", section[1], flags=re.MULTILINE)
    return [name.strip(" *") for line in listed for name in line.split(",")]


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_says_what_goes_in_and_what_comes_out(name):
    public = thing(name)
    docstring = inspect.getdoc(public)
    first = docstring.splitlines()[0]
    assert len(first) <= 88 and first.endswith((".", "?")), first

    if name not in MADE_BY_OTHERS:
        parameters = inspect.signature(public).parameters
        assert sorted(parameters_in(docstring)) == sorted(parameters)
    returns = inspect.signature(public).return_annotation
    if inspect.isfunction(public) and returns is not None:
        assert re.search(r"^(Returns|Yields)\n-{6,7}$", docstring, re.MULTILINE)
