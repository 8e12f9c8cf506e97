"""How the code reads: one statement does one thing, steps are apart, names are words.

`ruff` checks the layout, the complexity and the number of positional parameters, and
mypy checks the types. This file checks what neither can see. CONTRIBUTING.md says why.
"""

import ast
import io
import tokenize

import pytest

from fairlib.data import ROOT

PACKAGE = ROOT / "fairlib"
MODULES = sorted(PACKAGE.glob("**/*.py"))
LARGEST_MODULE = 600  # lines; a larger one is two rooms
LONG_BODY = 12  # lines; a longer body has steps, and steps are apart
MOST_POSITIONAL = 3  # arguments of a call that has more than four
MOST_TOKENS_A_LINE = 10
# Words that say how a value was come by, or nothing; a name says what the value is.
NAMES_OF_NO_DATA = {"found", "said", "told", "own", "asked", "look", "each", "some"}
TEXTS_AND_LISTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
TRUTHS = (ast.Compare, ast.BoolOp)


def label(path):
    return path.relative_to(PACKAGE).as_posix()


def is_pair_of_assignments(node):
    if not isinstance(node, ast.Assign):
        return False
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def is_swap(node):
    """Whether `a, b = b, a`: the only pair that has to be assigned at once."""
    targets = sorted(
        ast.dump(target, annotate_fields=False) for target in node.targets[0].elts
    )
    values = sorted(ast.dump(value, annotate_fields=False) for value in node.value.elts)
    return [text.replace("Store", "Load") for text in targets] == values


def is_text_or_list(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, TEXTS_AND_LISTS)


def is_truth(node):
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, TRUTHS)


def problems_of_expressions(tree):
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)

        if is_pair_of_assignments(node) and not is_swap(node):
            yield line, "several values are assigned at once: a, b = x, y"

        if isinstance(node, ast.IfExp):
            inside = [other for other in ast.walk(node) if isinstance(other, ast.IfExp)]
            if len(inside) > 1:
                yield line, "a conditional expression inside another"

        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if is_text_or_list(one) and is_truth(other):
                    yield line, "a text or list times a truth value"

        if isinstance(node, ast.Call):
            positional = [one for one in node.args if not isinstance(one, ast.Starred)]
            arguments = len(node.args) + len(node.keywords)
            if arguments > 4 and len(positional) > MOST_POSITIONAL:
                yield (
                    line,
                    f"{arguments} arguments, {len(positional)} of them without a name",
                )


def parameters_of(function):
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {
        one.arg
        for one in [*named, arguments.vararg, arguments.kwarg]
        if one is not None
    }


def stored_names(body):
    """Yield the names that a body assigns; functions and classes inside are apart."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(
            node, ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.comprehension
        ):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        waiting.extend(ast.iter_child_nodes(node))


def problems_of_functions(tree, lines):
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue

        parameters = parameters_of(node)
        for line, name in stored_names(node.body):
            if name in parameters:
                yield line, f"the parameter {name!r} is bound again"

        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body:
            text = lines[body[0].lineno - 1 : node.end_lineno]
            if len(text) > LONG_BODY and all(line.strip() for line in text):
                yield (
                    node.lineno,
                    f"{len(text)} lines of {node.name!r} without a blank one",
                )


def problems_of_names(tree):
    for node in ast.walk(tree):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef):
            name = node.name
        if name is not None and name.strip("_") in NAMES_OF_NO_DATA:
            yield node.lineno, f"{name!r} does not say what it is"


def problems(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines()
    problems = [
        *problems_of_expressions(tree),
        *problems_of_functions(tree, lines),
        *problems_of_names(tree),
    ]
    if len(lines) > LARGEST_MODULE:
        problems.append((1, f"{len(lines)} lines: two rooms"))
    return [f"{label(path)}:{line}: {problem}" for line, problem in sorted(problems)]


def lines_of_docstrings(tree):
    lines = set()
    for node in ast.walk(tree):
        may_have_one = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if may_have_one and ast.get_docstring(node) is not None:
            lines |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def tokens_and_lines(path):
    """Count names, numbers, strings and operators, and the lines of code."""
    text = path.read_text(encoding="utf-8")
    inside_docstrings = lines_of_docstrings(ast.parse(text))
    counted = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP)
    tokens = sum(
        token.type in counted and token.start[0] not in inside_docstrings
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    lines = sum(
        bool(line.strip())
        and not line.strip().startswith("#")
        and number not in inside_docstrings
        for number, line in enumerate(text.splitlines(), 1)
    )
    return tokens, lines


@pytest.mark.parametrize("path", MODULES, ids=label)
def test_code_reads_as_it_would_be_explained(path):
    assert problems(path) == []


def test_lines_are_not_packed():
    paths = [path for path in MODULES if not {"recipes", "drawings"} & {*path.parts}]
    tokens, lines = map(sum, zip(*map(tokens_and_lines, paths), strict=True))
    assert tokens / lines <= MOST_TOKENS_A_LINE
