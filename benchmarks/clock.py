"""Times taken side by side: every round runs each candidate once, so that all see the same machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A ratio of medians and a ratio of minimums that differ by more than this say that the machine was busy.
NOISY = 1.25


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


def side_by_side(runs: Mapping[str, Callable[[], object]], repeat: int = 7, warm: int = 1) -> dict[str, Times]:
    """`repeat` rounds after `warm` uncounted ones."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(-warm, repeat):
        for name, run in runs.items():
            seconds = once(run)
            if turn >= 0:
                taken[name].append(seconds)
    return {name: Times(tuple(seconds)) for name, seconds in taken.items()}


def once(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def rounds_for(seconds: float, budget: float, most: int = 7) -> int:
    """As many rounds as fit the budget, odd, at least one."""
    rounds = int(max(1, min(most, budget / max(seconds, 1e-9))))
    return rounds if rounds % 2 else rounds - 1
