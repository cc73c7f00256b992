"""Is one ranker better than another? Tests on paired results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankcut.errors import InputError
from rankcut.metrics.arguments import FloatArray, numbers, same_length


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The mean of ``a − b`` with its confidence interval, and two-sided tests of no difference."""

    n: int
    mean_difference: float
    low: float
    high: float
    confidence: float
    t: float
    t_pvalue: float
    wilcoxon: float  # the smaller of the two rank sums
    wilcoxon_pvalue: float


def paired_test(
    a: ArrayLike, b: ArrayLike, *, confidence: float = 0.95, correction: float = 0.0
) -> PairedTest:
    """Paired t-test and Wilcoxon signed-rank test of results of two methods on the same folds, queries or data sets.

    ``correction`` widens the variance of the t-test from ``s²/n`` to ``s² (1/n + correction)``. Results on the folds of
    one data set share training rows and look surer than they are: there pass the size of a test fold over that
    of its training set, ``1 / (K − 1)`` for K folds (Nadeau and Bengio, 2003).
    """
    first, second = numbers("a", a, finite=True), numbers("b", b, finite=True)
    same_length("b", second, "a", len(first))
    if len(first) < 2:
        raise InputError("a: came with 1 entry; pass at least two paired results")
    if not 0 < confidence < 1:
        raise InputError(f"confidence: came as {confidence!r}; pass a number between 0 and 1, as 0.95")
    if not 0 <= correction < np.inf:
        raise InputError(f"correction: came as {correction!r}; pass 0, or test rows over training rows")
    difference = first - second
    mean = float(difference.mean())
    error = float(difference.std(ddof=1) * np.sqrt(1 / len(first) + correction))
    t, t_pvalue, margin = _student(mean, error, len(first) - 1, confidence)
    rank_sum, rank_pvalue = _wilcoxon(difference)
    return PairedTest(
        n=len(first),
        mean_difference=mean,
        low=mean - margin,
        high=mean + margin,
        confidence=float(confidence),
        t=t,
        t_pvalue=t_pvalue,
        wilcoxon=rank_sum,
        wilcoxon_pvalue=rank_pvalue,
    )


def holm(pvalues: ArrayLike) -> FloatArray:
    """p-values of several tests, corrected so that the chance of any false alarm keeps to each one's level: the
    k-th smallest of m is multiplied by m − k + 1, and none falls below a smaller one (Holm, 1979)."""
    p = numbers("pvalues", pvalues, finite=True)
    if len(p) and not (p.min() >= 0 and p.max() <= 1):
        raise InputError("pvalues: came with values outside [0, 1]; pass p-values")
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def _student(mean: float, error: float, freedom: int, confidence: float) -> tuple[float, float, float]:
    """t, its two-sided p-value and half the width of the interval."""
    from scipy.special import stdtr, stdtrit

    margin = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    if mean == 0:
        return 0.0, 1.0, margin
    t = mean / error if error else float(np.copysign(np.inf, mean))
    return t, float(2 * stdtr(freedom, -abs(t))), margin


def _wilcoxon(difference: FloatArray) -> tuple[float, float]:
    """Pairs without a difference are left out; if that is all of them, nothing speaks against equality."""
    from scipy.stats import wilcoxon  # slow to load

    if not difference.any():
        return 0.0, 1.0
    result = wilcoxon(difference[difference != 0])
    return float(result.statistic), float(result.pvalue)
