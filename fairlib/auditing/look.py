"""One look for every page: the templates that pages share, and how text gets in.

A page is one file. It fetches nothing, it runs no script, and all that is filled in is
escaped.
"""

from pathlib import Path

import jinja2

_SHARED = Path(__file__).parent / "templates"


def environment(*folders: Path) -> jinja2.Environment:
    """Return the environment of templates, with those that all pages share.

    Parameters
    ----------
    *folders : Path
        Where the page's own templates are; they are searched first.

    Returns
    -------
    jinja2.Environment
        An environment that escapes what is filled in, and refuses unknown names.
    """
    created = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, _SHARED]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    created.filters.update(thousands="{:,}".format)
    return created
