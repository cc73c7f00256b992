"""Times taken side by side: every round runs each candidate, so that all see the same machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A median so much above the minimum says that the machine was busy with something else.
NOISY = 1.5


@dataclass(frozen=True)
class Times:
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)

    @property
    def noisy(self) -> bool:
        return self.median > NOISY * self.least


def side_by_side(
    runs: Mapping[str, Callable[[], object]], repeat: int = 7, *, warm: int = 1, burst: int = 1
) -> dict[str, Times]:
    """`repeat` rounds after `warm` uncounted ones; in each round every candidate runs `burst` times in a row."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(-warm, repeat):
        for name, run in runs.items():
            seconds = [once(run) for _ in range(burst)]
            if turn >= 0:
                taken[name] += seconds
    return {name: Times(tuple(seconds)) for name, seconds in taken.items()}


def once(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def rounds_for(seconds: float, budget: float, most: int = 7) -> int:
    """As many rounds as fit the budget, at least one."""
    return int(max(1, min(most, budget / max(seconds, 1e-9))))
