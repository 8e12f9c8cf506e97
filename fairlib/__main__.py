"""The command line: `python -m fairlib COMMAND ...`, each command in a module of its own."""

import sys
from importlib import import_module

COMMANDS = {"audit": "auditing", "data": "data", "ledger": "ledger"}  # command -> module


def main(arguments: list[str]) -> None:
    """Hand the arguments to the command's own `main`; what went wrong is one line, not a traceback."""
    if not arguments or arguments[0] not in COMMANDS:
        sys.exit(f"usage: python -m fairlib {{{','.join(COMMANDS)}}} ...")
    try:
        import_module(f"fairlib.{COMMANDS[arguments[0]]}").main(arguments[1:])
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"fairlib {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
