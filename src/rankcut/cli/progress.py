"""Progress on standard error: a bar with rate and remaining time on a terminal, now and then a line in a pipe."""

from __future__ import annotations

import math
import shutil
import sys
import time
from typing import Any, TextIO

EVERY = 0.1  # seconds between drawings of the bar
EVERY_LINE = 10.0  # and between lines where there is no terminal
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

    @property
    def has_bar(self) -> bool:
        return self._bar

    def step(self) -> None:
        """One more step is done."""
        self._done += 1
        self.at(self._done / self._total)

    def at(self, share: float) -> None:
        """So much of the work is done."""
        now = time.perf_counter()
        if self._bar and now - self._drawn >= EVERY:
            self._drawn = now
            self._draw(min(1.0, share), now - self._began)

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

    def _draw(self, share: float, seconds: float) -> None:
        full = int(WIDTH * share)
        left = f", {seconds * (1 - share) / share:.0f} s left" if share > 0.01 else ""
        text = (
            f"[{'#' * full}{'.' * (WIDTH - full)}] {100 * share:3.0f} %  {seconds:3.0f} s{left}  {self.label}"
        )
        text = text[: max(1, shutil.get_terminal_size().columns - 1)]
        self._stream.write("\r" + text.ljust(self._shown))
        self._stream.flush()
        self._shown = len(text)


class Fitting:
    """A callback for fits: how far the gap has closed, on a logarithmic scale, as a bar or as lines."""

    def __init__(self, progress: Progress, tol: float) -> None:
        self._progress, self._tol = progress, tol
        self._gaps: dict[int, float] = {}
        self._noted = time.perf_counter()

    def __call__(self, event: Any) -> None:
        problem, record = (event.problem, event.record) if hasattr(event, "record") else (0, None)
        if record is None:
            return
        self._gaps[problem] = record.gap
        gap = max(self._gaps.values())
        self._progress.label = f"cut {event.n_iter}, gap {gap:.2g}"
        if 0 < gap < 1:
            self._progress.at(math.log(gap) / math.log(min(self._tol, 0.5)))
        now = time.perf_counter()
        if now - self._noted >= EVERY_LINE and not self._progress.has_bar:
            self._noted = now
            self._progress.note(
                f"cut {event.n_iter}, objective {record.objective:.6g}, gap {gap:.2g} (to reach {self._tol:g}), "
                f"{record.seconds:.0f} s"
            )
