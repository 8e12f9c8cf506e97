"""How Sphinx makes a site of what `site/prepare.py` put into build/site/source: configuration only."""

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import fairlib

HERE = Path(__file__).resolve().parent


def origin() -> str:
    """Return where this checkout came from; nothing if git does not know."""
    asked = ["git", "-C", str(HERE), "remote", "get-url", "origin"]
    return (
        subprocess.run(asked, capture_output=True, text=True).stdout.strip()
        if shutil.which("git")
        else ""
    )


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
    "use_download_button": False,  # each notebook links to the stored one: the prepared copy lacks cells
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # the search stands at the side already
    "footer_content_items": "",
}
if address := re.search(
    r"github\.com[:/]([\w.-]+/[\w.-]+?)(\.git)?$", origin()
):  # notebooks then open in a hosted Jupyter
    html_theme_options |= {
        "repository_url": f"https://github.com/{address[1]}",
        "repository_branch": "main",
        "launch_buttons": {
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        },
    }
html_static_path = ["_static", "vendor"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"}), ("frames.js", {"defer": "defer"})]
html_extra_path = ["../build/site/extra"]
html_show_sourcelink = False
html_copy_source = False
mathjax_path = "tex-svg.js"
suppress_warnings = ["misc.highlighting_failure"]  # csv has no colours

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
add_module_names = False
python_use_unqualified_type_names = True


def as_rst(app, what, name, thing, options, lines) -> None:
    """Turn the form of our docstrings ("name : what it is", sections underlined with dashes) into what Sphinx reads."""
    text = re.sub(r"^(Parameters)\n-+\n", "", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(
        r"^(Returns|Notes|Columns)\n-+\n", r"**\1.** ", text, flags=re.MULTILINE
    )
    code, item = (
        re.compile(r"(``.+?``|`[^`\n]+`)"),
        re.compile(r"((?:\w+, )*\w+) : (.+)$"),
    )
    shown, given = [], text.splitlines()
    for line, after in zip(
        given, [*given[1:], ""], strict=False
    ):  # of an empty docstring nothing
        if line.lstrip().startswith((">>>", "...")) or (
            line and shown and shown[-1].lstrip().startswith((">>>", "..."))
        ):
            shown.append(line)  # a session, or the first line that it prints
            continue
        parts = code.split(line)
        parts[::2] = [re.sub(r"([*|_])", r"\\\1", part) for part in parts[::2]]
        parts[2::2] = [
            re.sub(r"^(?=\w)", r"\\ ", part) for part in parts[2::2]
        ]  # `name`s
        escaped, found = "".join(parts), item.match(line)
        if found and (not after or after.startswith("    ") or item.match(after)):
            shown += ["", f"``{found[1]}``", f"    {escaped.split(' : ', 1)[1]}"]
        else:
            shown.append(escaped)
    lines[:] = shown


def setup(app) -> None:
    """Let Sphinx pass every docstring through `as_rst`."""
    app.connect("autodoc-process-docstring", as_rst)
