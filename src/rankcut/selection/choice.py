"""The choice among candidates from their scores in the folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RULES = ("best", "one-se")


def choose(scores: NDArray[np.float64], C: NDArray[np.float64], setting: NDArray[np.intp], rule: str) -> int:
    """The candidate with the best mean over folds (scores: candidates × folds; of equals the smallest C).

    "one-se": of the candidates of the same setting (a C regularises another loss differently) within one standard
    error of that mean, the one with the smallest C.
    """
    mean = fold_mean(scores)
    mean = np.where(np.isnan(mean), -np.inf, mean)
    best = int(np.lexsort((C, -mean))[0])
    if rule == "best":
        return best
    folds = scores[best][~np.isnan(scores[best])]
    error = float(np.std(folds, ddof=1) / np.sqrt(len(folds))) if len(folds) > 1 else 0.0
    near = np.flatnonzero((mean >= mean[best] - error) & (setting == setting[best]))
    return int(near[np.argmin(C[near])])


def fold_mean(scores: NDArray[np.float64], axis: int = 1) -> NDArray[np.float64]:
    """The mean of the scores there are; NaN where there are none."""
    known = ~np.isnan(scores)
    count = known.sum(axis=axis)
    total = np.where(known, scores, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
