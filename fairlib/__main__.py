"""The command line: `fairlib COMMAND ...`, or `python -m fairlib COMMAND ...`; each command in a module of its own."""

import argparse
import sys
from importlib import import_module

from fairlib import __doc__ as purpose
from fairlib import __version__

COMMANDS = {  # name -> (module, what it does)
    "audit": (
        "auditing.command",
        "which groups a classifier treats differently, and how sure that is",
    ),
    "data": (
        "recipes.originals",
        "list the tables, or compute them again from genuine files",
    ),
    "ledger": ("ledger", "put together what the notebooks say of every printed number"),
}


def main(arguments: list[str] | None = None) -> None:
    """Hand the arguments to the command's own `main`; what went wrong is one line, not a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="fairlib", description=purpose.splitlines()[0]
    )
    parser.add_argument("--version", action="version", version=f"fairlib {__version__}")
    listed = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, does) in COMMANDS.items():
        listed.add_parser(name, help=f"{does} (fairlib {name} --help)", add_help=False)
    command = parser.parse_args(arguments[:1]).command
    try:
        import_module(f"fairlib.{COMMANDS[command][0]}").main(arguments[1:])
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"fairlib {command}: {error}")
    except KeyboardInterrupt:
        print(f"fairlib {command}: interrupted", file=sys.stderr)
        sys.exit(130)  # as shells say it


if __name__ == "__main__":
    main()
