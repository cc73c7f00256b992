"""`rankcut COMMAND …`: runs the command, and turns what goes wrong into a message and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rankcut.cli import exits
from rankcut.errors import InputError, RankcutError
from rankcut.extras import need


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    try:
        for module in ("typer", "rich"):
            need(module, "cli", "by the command line")
        from rankcut.cli.app import build

        build()(args=list(sys.argv[1:] if argv is None else argv), prog_name="rankcut")
        return exits.DONE
    except SystemExit as end:  # Typer's way to end, also after a usage error, which it has shown
        sys.stdout.flush()
        return end.code if isinstance(end.code, int) else exits.DONE if end.code is None else exits.USAGE
    except InputError as error:
        return complain(str(error), exits.USAGE)
    except BrokenPipeError:  # the reader of our output has gone; there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED
    except (RankcutError, OSError, MemoryError) as error:
        return complain(str(error) or type(error).__name__, exits.FAILED)
    except KeyboardInterrupt:
        return complain("interrupted", exits.INTERRUPTED)


def complain(message: str, status: int) -> int:
    """Say what went wrong; hands the status on."""
    print(f"rankcut: {message}", file=sys.stderr)
    return status
