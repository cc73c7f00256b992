"""`rankcut COMMAND …`: finds the command, and turns what goes wrong into a message and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from rankcut import __version__
from rankcut.cli import demo, exits
from rankcut.errors import InputError, RankcutError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as end:  # argparse has said what was wrong, or has shown the help
        return end.code if isinstance(end.code, int) else exits.USAGE
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except InputError as error:
        return _complain(str(error), exits.USAGE)
    except BrokenPipeError:  # the reader of our output has gone; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED
    except (RankcutError, OSError, MemoryError) as error:
        return _complain(str(error) or type(error).__name__, exits.FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", exits.INTERRUPTED)


def _complain(message: str, status: int) -> int:
    print(f"rankcut: {message}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rankcut", description="Linear rankers that put the relevant samples first.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"rankcut {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    demo.add(commands)
    return parser
