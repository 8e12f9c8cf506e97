"""How Sphinx makes a site of what `site/prepare.py` put into build/site/source."""

import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import fairlib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # Sphinx runs this file from elsewhere

import mathematics  # noqa: E402


def origin() -> str:
    """Return where this checkout came from; nothing if git does not know."""
    if not shutil.which("git"):
        return ""
    command = ["git", "-C", str(HERE), "remote", "get-url", "origin"]
    answer = subprocess.run(command, capture_output=True, text=True)
    return answer.stdout.strip()


project = "fairlib"
author = "the authors of fairlib"
release = fairlib.__version__
copyright = f"{date.today():%Y}, {author}"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.githubpages"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # they were executed by `make reproduce`
nb_ipywidgets_js = {}  # else every page asks another server for the widgets' scripts
nb_merge_streams = True
nb_code_prompt_show = "Show the solution"
nb_code_prompt_hide = "Hide the solution"

html_theme = "sphinx_book_theme"
html_title = "fairlib"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "home_page_in_toc": True,
    "show_navbar_depth": 1,
    # Each notebook links to the stored one, because the prepared copy lacks cells.
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # the search stands at the side already
    "footer_content_items": "",
}
# Where the origin is known, notebooks open in a hosted Jupyter.
address = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(\.git)?$", origin())
if address:
    html_theme_options["repository_url"] = f"https://github.com/{address[1]}"
    html_theme_options["repository_branch"] = "main"
    html_theme_options["launch_buttons"] = {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
    }
templates_path = ["_templates"]
html_sidebars = {
    "**": ["home.html", "search-button-field.html", "sbt-sidebar-nav.html"],
}
html_search_scorer = str(HERE / "search_order.js")
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
myst_html_meta = {
    "description": "Is a classifier unfair, or is it luck? A game, lessons, and "
    "intervals that keep their promise.",
    "property=og:title": "Bias or luck?",
    "property=og:description": "How unfair is a classifier, and how sure can one be?",
    "property=og:image": "pictures/bias_or_luck.svg",
}
html_js_files = [
    (name, {"defer": "defer"}) for name in ("site.js", "frames.js", "predictions.js")
]
html_extra_path = ["../build/site/extra"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = False  # the page of names has them all, in groups
html_math_renderer = "mathml"  # drawn without a script
suppress_warnings = ["misc.highlighting_failure"]  # csv has no colours

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False
python_use_unqualified_type_names = True


HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", flags=re.MULTILINE)
CODE = re.compile(r"(``.+?``|`[^`\n]+`)")
ITEM = re.compile(r"((?:\w+, )*\w+) : (.+)$")
SESSION = (">>>", "...")


# Sphinx calls it with these six arguments.
def as_rst(app, what, name, thing, options, lines) -> None:  # noqa: PLR0917
    """Turn the form of our docstrings into what Sphinx reads.

    Our docstrings are Markdown with numpydoc's sections, or with items of one line
    ("name : what it is") without sections.
    """
    text = HEADING.sub(r"**\1**" + "\n", "\n".join(lines))
    ours = text.splitlines()
    rst: list[str] = []
    in_section = False

    for line, after in zip(ours, [*ours[1:], ""], strict=False):
        before = rst[-1] if rst else ""
        if re.fullmatch(r"\*\*\w[\w ]*\*\*", line):
            in_section = True
            rst.append(line)
        elif line.lstrip().startswith(SESSION):
            rst.append(line)
        elif line and before.lstrip().startswith(SESSION):
            # The first line that a session prints
            rst.append(line)
        else:
            rst += _lines_of_text(line, after, in_section=in_section)

    lines[:] = rst


def _lines_of_text(line: str, after: str, *, in_section: bool) -> list[str]:
    """Return a line of text, or of a list of names, with its markup escaped."""
    escaped = _escaped(line)
    item = ITEM.match(line)
    if not item or not (not after or after.startswith("    ") or ITEM.match(after)):
        return [escaped]

    names = item[1]
    words = escaped.split(" : ", 1)[1]
    if in_section:
        return [f"``{names}`` : {words}"]
    return ["", f"``{names}``", f"    {words}"]


def _escaped(line: str) -> str:
    """Return a line in which only code is markup."""
    parts = CODE.split(line)
    parts[::2] = [re.sub(r"([*|_])", r"\\\1", part) for part in parts[::2]]
    # A letter directly behind code, as in `name`s
    parts[2::2] = [re.sub(r"^(?=\w)", r"\\ ", part) for part in parts[2::2]]
    return "".join(parts)


# The theme's script of icons has 1.5 MB; site.css has ours.
ICONS = r"scripts/fontawesome\.js"
# The theme loads what searches, 70 kB as sent, in every page; only one page searches.
SEARCHES = r"_static/searchtools\.js|_static/language_data\.js|searchindex\.js"


def without_unused_scripts(app, exception) -> None:
    """Take the scripts out of the pages that these do not use."""
    if exception:
        return
    for page in Path(app.outdir).rglob("*.html"):
        unused = ICONS if page.name == "search.html" else f"{ICONS}|{SEARCHES}"
        script = re.compile(rf'[ ]*<script[^>]*"[^"]*({unused})[^>]*></script>\n?')
        text = page.read_text(encoding="utf-8")
        page.write_text(script.sub("", text), encoding="utf-8")
    for path in Path(app.outdir, "_static").rglob("*"):
        if path.name.startswith("fontawesome.js") or path.suffix == ".map":
            path.unlink()


def setup(app) -> None:
    """Let Sphinx pass every docstring through `as_rst`, and formulas through MathML."""
    app.connect("autodoc-process-docstring", as_rst)
    app.connect("build-finished", without_unused_scripts)
    app.add_html_math_renderer(
        "mathml",
        (mathematics.visit_math, None),
        (mathematics.visit_displaymath, None),
    )
