"""The options of an audit as a table, for the command line and the documentation.

This module imports nothing heavy, so that `fairlib audit --help` answers at once.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of an audit.

    Attributes
    ----------
    name : str
        Its name in `fairlib.audit`; "--name" on the command line.
    help : str
        One sentence without a period that says what it is.
    default : str, int, float, bool or None
        Its value where it is not given, as in `fairlib.audit`.
    kind : {"str", "int", "float"}
        The type of its value where there is no default.
    metavar : str
        What stands for the value in the help.
    several : bool
        Whether several values may be given.
    required : bool
        Whether it must be given.
    """

    name: str
    help: str
    default: str | int | float | bool | None = None
    kind: str = "str"
    metavar: str = "COLUMN"
    several: bool = False
    required: bool = False

    @property
    def type(self) -> type:
        """The type of its value."""
        if self.default is not None:
            return type(self.default)
        return {"str": str, "int": int, "float": float}[self.kind]


_TEXT = Path(__file__).with_name("options.toml").read_text(encoding="utf-8")
OPTIONS = tuple(
    Option(name=name, **fields) for name, fields in tomllib.loads(_TEXT).items()
)
