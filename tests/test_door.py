"""What `fairlib` offers: editors see it, `import` finds it, and it can be pickled."""

import ast
import pickle
import re
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import jedi
import pytest
from locales import needs_more_than_ascii

import fairlib
from fairlib import _door
from fairlib.data import ROOT

SOURCE = (ROOT / "fairlib" / "__init__.py").read_text(encoding="utf-8")
OBJECTS = [
    name
    for name in fairlib.__all__
    if not isinstance(getattr(fairlib, name), ModuleType)
]


def completions(code):
    return {completion.name for completion in jedi.Script(code).complete()}


def names_for_type_checkers():
    """Return the names that `fairlib` imports where only tools look."""
    names = set()
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.If):
            for statement in node.body:
                names |= {alias.asname or alias.name for alias in statement.names}
    return names


def test_tools_and_the_interpreter_see_the_same_names():
    (written,) = (
        node.value
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert ast.literal_eval(written) == fairlib.__all__
    assert names_for_type_checkers() == {*fairlib.__all__} == {*dir(fairlib)}


@needs_more_than_ascii
@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import fairlib\nfairlib.", "audit"),
        ("import fairlib\nfairlib.bounds.", "METHODS"),
        ("import fairlib\nfairlib.metrics.", "measure"),
        ("from fairlib import audit\naudit(", "probability="),
        ("from fairlib import measure\nmeasure(", "prediction="),
        ("import fairlib\nfairlib.audit({}).", "to_html"),
    ],
)
def test_an_editor_completes(code, name):
    assert name in completions(code)


@pytest.mark.parametrize("name", ["bounds", "suites"])
def test_public_modules_can_be_imported_by_name(name):
    code = (
        f"import fairlib.{name} as module; print(module.__name__, module.__spec__.name)"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)
    module, specification = printed.split()
    assert module == specification == fairlib._MODULES[name]
    assert import_module(f"fairlib.{name}") is import_module(module)


def test_a_module_that_does_not_exist_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"fairlib\.nothing"):
        import_module("fairlib.nothing")
    get_attribute, _ = _door.lazy_names("fairlib.metrics", {})
    with pytest.raises(AttributeError, match="'fairlib.metrics' has no attribute 'x'"):
        get_attribute("x")


@pytest.mark.parametrize("name", OBJECTS)
def test_everything_public_can_be_pickled(name):
    value = getattr(fairlib, name)
    again = pickle.loads(pickle.dumps(value))
    assert again == value


def test_help_is_a_tour():
    words = re.findall(r"\w+", fairlib.__doc__)
    assert {*fairlib.__all__} <= {*words}
    assert max(map(len, fairlib.__doc__.splitlines())) <= 88


def test_types_are_shipped():
    assert (ROOT / "fairlib" / "py.typed").exists()
