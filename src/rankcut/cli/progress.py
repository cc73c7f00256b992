"""Progress on standard error: a bar on a terminal, now and then a line in a pipe."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

EVERY = 0.1  # seconds between drawings of the bar
WIDTH = 24


class Progress:
    """Counts steps of known number. Without a terminal only `note` writes."""

    def __init__(self, total: int, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total, self._done = total, 0
        self._began, self._drawn = time.perf_counter(), 0.0
        self._quiet = quiet
        self._bar = not quiet and self._stream.isatty()
        self._shown = 0
        self.label = ""

    def step(self) -> None:
        """One more step is done."""
        self._done += 1
        now = time.perf_counter()
        if self._bar and now - self._drawn >= EVERY:
            self._drawn = now
            self._draw()

    def note(self, line: str) -> None:
        """A line that stays."""
        if self._quiet:
            return
        self.clear()
        self._stream.write(line + "\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._stream.write("\r" + " " * self._shown + "\r")
            self._stream.flush()
            self._shown = 0

    def _draw(self) -> None:
        full = WIDTH * self._done // self._total
        seconds = time.perf_counter() - self._began
        share = f"{100 * self._done // self._total:3d} %  {seconds:3.0f} s"
        text = f"[{'#' * full}{'.' * (WIDTH - full)}] {share}  {self.label}"
        text = text[: max(1, shutil.get_terminal_size().columns - 1)]
        self._stream.write("\r" + text.ljust(self._shown))
        self._stream.flush()
        self._shown = len(text)
