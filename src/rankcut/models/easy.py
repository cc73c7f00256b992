"""Easy samples, which `approx` keeps right by hard constraints instead of ranking them.

Their constraints y_i (w·x_i + b) ≥ 1 hold for some b exactly if the lowest easy positive lies at least 2 above
the highest easy negative: a constraint without b. Easy samples of one class alone constrain nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MARGIN = 2.0
ACCURACY = 1e-8  # to which it holds: the solver's own answers keep known constraints to a tenth of that


class PairCut(NamedTuple):
    """offset + weights · raw[rows] ≤ 0 (rankcut.solvers.HardCut)."""

    offset: float
    rows: NDArray[np.intp]
    weights: Floats


class EasySamples:
    def __init__(self, positive: NDArray[np.intp], negative: NDArray[np.intp]) -> None:
        self.rows = np.concatenate((positive, negative))
        self._P = len(positive)
        self._binding = len(positive) > 0 and len(negative) > 0

    def violated(self, scores: Floats) -> list[PairCut]:
        """The most violated pair, if any is."""
        if not self._binding:
            return []
        low, high = self._closest(scores)
        if scores[low] - scores[high] >= MARGIN - ACCURACY:
            return []
        return [PairCut(MARGIN, self.rows[[low, high]], np.array([-1.0, 1.0]))]

    def reach(self, start: Floats, direction: Floats) -> float:
        """The largest t at which start + t · direction satisfies all; from t = 1 backwards, each violated pair
        says how far back to go, and the margin is concave in t, so that none before it can be violated."""
        if not self._binding:
            return float("inf")
        t = 1.0
        while t > 0:
            scores = start + t * direction
            low, high = self._closest(scores)
            if scores[low] - scores[high] >= MARGIN - ACCURACY:
                return t
            slope = direction[low] - direction[high]
            slack = start[low] - start[high] - (MARGIN - 0.5 * ACCURACY)  # half: rounding must not miss it
            back = max(0.0, slack / -slope) if slope < 0 else 0.0
            t = back if back < t else np.nextafter(t, 0.0)
        return 0.0

    def interval(self, scores: Floats) -> tuple[float, float]:
        """The intercepts b that satisfy all y_i (z_i + b) ≥ 1."""
        low = 1.0 - float(np.min(scores[: self._P])) if self._P else -float("inf")
        high = -1.0 - float(np.max(scores[self._P :])) if len(scores) > self._P else float("inf")
        return low, high

    def _closest(self, scores: Floats) -> tuple[int, int]:
        return int(np.argmin(scores[: self._P])), self._P + int(np.argmax(scores[self._P :]))
