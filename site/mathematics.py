"""Mathematics as MathML, which browsers draw without a script.

A page with formulas would otherwise send more than 2 MB of MathJax.
"""

import re

from latex2mathml import converter


def mathml(tex: str, *, display: str = "inline") -> str:
    """Return a formula as a <math> element.

    Parameters
    ----------
    tex : str
        The formula, without dollar signs.
    display : {"inline", "block"}
        Within a line, or on a line of its own.

    Raises
    ------
    ValueError
        If some command is not known, so that it would be shown as it is.
    """
    element = converter.convert(tex.strip(), display=display)
    if "\\" in re.sub(r"<[^>]*>", "", element):
        raise ValueError(f"MathML cannot be made of: {tex}")
    return element


def visit_math(self, node) -> None:
    """Write a formula within a line."""
    _write(self, f'<span class="math">{mathml(node.astext())}</span>')


def visit_displaymath(self, node) -> None:
    """Write a formula on a line of its own, which scrolls where it is too wide."""
    formula = mathml(node.astext(), display="block")
    _write(self, f'<div class="math" tabindex="0">{formula}</div>')


def _write(translator, html: str) -> None:
    """Write the HTML of a node, and tell docutils that the node is done."""
    # Only Sphinx needs docutils; the tests of the pages run without it.
    from docutils.nodes import SkipNode

    translator.body.append(html)
    raise SkipNode
