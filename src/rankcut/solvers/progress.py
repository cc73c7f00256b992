"""Progress on standard error, at most a few lines a second."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from rankcut.solvers.together import Event

EVERY = 0.5  # seconds


class Progress:
    """A callback that writes one line at a time; on a terminal, over the last one."""

    def __init__(self, n_problems: int, tol: float, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._n, self._tol = n_problems, tol
        self._last = time.perf_counter()
        self._gaps = [float("inf")] * n_problems

    def __call__(self, event: Event) -> None:
        self._gaps[event.problem] = event.record.gap
        now = time.perf_counter()
        if now - self._last < EVERY:
            return
        self._last = now
        done = sum(gap <= self._tol for gap in self._gaps)
        problems = f"{done}/{self._n} problems, " if self._n > 1 else ""
        self._stream.write(
            f"rankcut: {problems}cut {event.n_iter}, objective {event.record.objective:.6g}, "
            f"gap {max(self._gaps):.2g} (to reach {self._tol:g}), {event.record.seconds:.1f} s\n"
        )
        self._stream.flush()
