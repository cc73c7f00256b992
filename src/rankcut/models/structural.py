"""The structured hinge of a user's own problem, as the solvers see it.

    R(w) = mean_i R_i(w),   R_i(w) = max_y [loss(y_i, y) + w·ψ(x_i, y)] − w·ψ(x_i, y_i)

Outputs with a hidden part have max over completions of y_i in the last term; frozen at the best one, h_i, the risk
is convex, an upper bound, and tight where h_i was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.data.problem import Samples

Floats = NDArray[np.float64]
CHUNK = 32  # samples summed by one thread; fixed, so that sums do not depend on the number of threads


class StructuralRisk:
    """The risk of these outputs as the truth: rankcut.solvers.Risk as a whole, SeparableRisk by its parts."""

    nonnegative = True

    def __init__(
        self, samples: Samples, truths: Sequence[Any], *, n_threads: int = 1, n_calls: int = 0
    ) -> None:
        self._samples, self._truths, self._threads = samples, truths, n_threads
        self.n_parts = len(samples)
        self.n_calls = n_calls  # loss-augmented inferences so far

    @property
    def passes(self) -> float:
        """Loss-augmented inferences per sample."""
        return self.n_calls / self.n_parts

    def part(self, i: int, w: Floats) -> tuple[float, Floats]:
        """The (offset, gradient) of a cut of R_i that is tight at w."""
        self.n_calls += 1
        return self._samples.violated(i, w, self._truths[i])

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        starts = range(0, self.n_parts, CHUNK)
        if self._threads == 1:
            sums = [self._sum(start, w) for start in starts]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                sums = list(pool.map(lambda start: self._sum(start, w), starts))
        self.n_calls += self.n_parts
        gradient = sum((g for _, g in sums), np.zeros(self._samples.n_features)) / self.n_parts
        return sum(loss for loss, _ in sums) / self.n_parts + float(gradient @ w), gradient

    def _sum(self, start: int, w: Floats) -> tuple[float, Floats]:
        total, gradient = 0.0, np.zeros(self._samples.n_features)
        for i in range(start, min(start + CHUNK, self.n_parts)):
            loss, difference = self._samples.violated(i, w, self._truths[i])
            total += loss
            gradient += difference
        return total, gradient
