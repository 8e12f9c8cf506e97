"""The code of a notebook, or the part on which its ledger rests, for tests."""

import ast
import dis

import nbformat

from fairlib.data import ROOT

LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]*_*.ipynb"))
DOSSIERS = sorted((ROOT / "notebooks" / "dossier").glob("[0-9][0-9]*_*.ipynb"))
NOTEBOOKS = [*LESSONS, *DOSSIERS]

# The 700 designs of dossier 05 that are counted only to be shown.
SHORTER = {"range(300, 1000)": "range(300, 301)"}


def tag_of(cell):
    """Return the one tag of a cell, or an empty text."""
    tags = cell.metadata.get("tags", [])
    assert len(tags) <= 1, cell.id
    return "".join(tags)


def name_of(path):
    """Return a notebook's place below `notebooks`: "05_x" or "dossier/05_x"."""
    return path.relative_to(ROOT / "notebooks").with_suffix("").as_posix()


def cells(name):
    """Return a dossier's code cells by id, without the one that installs."""
    path = ROOT / "notebooks" / "dossier" / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    return {
        cell.id: cell.source
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.id != "hosted"
    }


def behind_the_ledger(name):
    """Return the cells that the last one, which writes to the ledger, depends on."""
    sources = cells(name)
    return cells_behind(sources, {list(sources)[-1]})


def cells_behind(sources, wanted):
    """Return the wanted cells and those on which they rest, in order.

    Most figures fall away. If a cell falls away that was needed, a later one lacks a
    name or finds a table as it was before.
    """
    kept = []
    needed = {"ledger"}
    for cell, source in reversed(sources.items()):
        made, taken = bound_and_taken(compile(source, cell, "exec"))
        if cell in wanted or (made | altered(source)) & needed:
            kept.append(cell)
            needed = (needed - made) | taken
    return {cell: sources[cell] for cell in reversed(kept)}


def shortened(source):
    """Return the code of a cell without what takes long and is only shown."""
    for long, short in SHORTER.items():
        source = source.replace(long, short)
    return source


def bound_and_taken(code):
    """Return the names that code binds, and those that it reads but has not bound."""
    made, taken = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_NAME", "STORE_GLOBAL"):
            made.add(instruction.argval)
        elif (
            instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL")
            and instruction.argval not in made
        ):
            taken.add(instruction.argval)
        elif hasattr(
            instruction.argval, "co_code"
        ):  # the body of a function, run when all is bound
            taken |= bound_and_taken(instruction.argval)[1]
    return made, taken


def altered(source):
    """Return the variables whose objects may change: a.b = 1, a["b"] = 1, a.f(b)."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            node = node.value.func
        elif not isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
            found |= {node.id} if isinstance(node, ast.Name) else set()
    return found - {
        "plt",
        "plots",
    }  # modules: showing and saving a figure alters nothing
