"""The intercept of rankers, whose losses do not see one: the threshold of the smallest balanced error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def balanced_intercept(
    scores: NDArray[np.float64], relevant: NDArray[np.bool_], low: float = -np.inf, high: float = np.inf
) -> float:
    """The b in [low, high] for which the sign of z + b has the smallest mean of the two classes' error rates.

    The threshold −b goes in the middle between two scores, of equals the widest gap, or 1 beyond all of them.
    """
    order = np.argsort(-scores)  # equal scores are never parted, so their order does not matter
    z, positive = scores[order], relevant[order]
    hits = np.concatenate(([0], np.cumsum(positive))) / positive.sum()
    alarms = np.concatenate(([0], np.cumsum(~positive))) / (~positive).sum()
    error = (1 - hits) + alarms  # twice the balanced error with the first i samples above the threshold
    edges = np.concatenate(([z[0] + 2.0], z, [z[-1] - 2.0]))
    gaps = edges[:-1] - edges[1:]
    error[gaps <= 0] = np.inf  # no threshold parts equal scores
    best = np.flatnonzero(error <= error.min() + 1e-12)
    i = best[np.argmax(gaps[best])]
    return float(np.clip(-0.5 * (edges[i] + edges[i + 1]), low, high))
