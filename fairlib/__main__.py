"""The command line: `fairlib COMMAND ...`, or `python -m fairlib COMMAND ...`.

Each command lives in a module of its own, which is imported only if it is called.
"""

import argparse
import sys
from importlib import import_module
from typing import NamedTuple

from fairlib import __doc__ as purpose
from fairlib import __version__

_INTERRUPTED = 130  # the exit status that shells use for Ctrl+C


class _Command(NamedTuple):
    """A command: the module with its own `main`, and its line in the help."""

    module: str
    help: str


_COMMANDS = {
    "audit": _Command(
        "fairlib.auditing.command",
        "which groups a classifier treats differently, and how sure that is",
    ),
    "benchmark": _Command(
        "fairlib.atlas.command",
        "what a bias benchmark can show, and what answers to it show",
    ),
    "data": _Command(
        "fairlib.recipes.originals",
        "list the tables, or compute them again from genuine files",
    ),
    "ledger": _Command(
        "fairlib.ledger.page",
        "put together what the notebooks say of every printed number",
    ),
}


def main(arguments: list[str] | None = None) -> None:
    """Run a command; an error of the user is answered in one line.

    Parameters
    ----------
    arguments : list of str, optional
        The words after `fairlib`; by default those of the command line.

    Raises
    ------
    SystemExit
        If the command fails or is interrupted, and after `--help` and `--version`.
    """
    words = sys.argv[1:] if arguments is None else arguments
    # Only the first word is read here. The command reads the others itself, so that
    # the help of one command does not import the modules of the others.
    command = _parser().parse_args(words[:1]).command

    try:
        import_module(_COMMANDS[command].module).main(words[1:])
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"fairlib {command}: {error}")
    except KeyboardInterrupt:
        print(f"fairlib {command}: interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the first word, with the help of `fairlib --help`."""
    first_line, *_ = purpose.splitlines()
    parser = argparse.ArgumentParser(prog="fairlib", description=first_line)
    parser.add_argument("--version", action="version", version=f"fairlib {__version__}")

    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in _COMMANDS.items():
        commands.add_parser(
            name, help=f"{command.help} (fairlib {name} --help)", add_help=False
        )
    return parser


if __name__ == "__main__":
    main()
