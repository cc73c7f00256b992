"""The choice among candidates from their scores in the folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RULES = ("best", "one-se")


def choose(scores: NDArray[np.float64], C: NDArray[np.float64], rule: str) -> int:
    """The candidate with the best mean over folds (scores: candidates × folds; of equals the smallest C).

    "one-se": of the candidates within one standard error of that mean, the one with the smallest C.
    """
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(scores, axis=1)
    mean = np.where(np.isnan(mean), -np.inf, mean)
    best = int(np.lexsort((C, -mean))[0])
    if rule == "best":
        return best
    folds = scores[best][~np.isnan(scores[best])]
    error = float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else 0.0
    near = np.flatnonzero(mean >= mean[best] - error)
    return int(near[np.lexsort((-mean[near], C[near]))[0]])
