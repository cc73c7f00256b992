"""The command line: data to standard output or `-o`, progress and messages to standard error."""

from rankcut.cli.main import main

__all__ = ["main"]
