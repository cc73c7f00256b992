"""Progress on a terminal, in a pipe, and not at all."""

from __future__ import annotations

import io
import re

from rankcut.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_and_in_a_pipe() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        progress = Progress(4, stream)
        progress.label = "digits"
        for _ in range(2):
            progress.step()
        progress.note("half")
    assert pipe.getvalue() == "half\n"
    assert re.search(r"\r\[#+\.+\]  25 % .* digits", terminal.getvalue())
    assert terminal.getvalue().endswith("\rhalf\n")


def test_quiet_progress_says_nothing() -> None:
    terminal = Terminal()
    progress = Progress(1, terminal, quiet=True)
    progress.step()
    progress.note("done")
    assert terminal.getvalue() == ""
