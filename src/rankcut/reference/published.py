"""The published algorithms for the most violated ranking of AP-SVM, with their errata repaired.

With s_1 ≥ … ≥ s_P the positives and t_1 ≥ … ≥ t_N the negatives, placing negative j just above positive i
is worth

    δ_j(i) = Σ_{k ≥ i} f_k(j),   f_k(j) = (1/P) (j/(j+k) − (j−1)/(j+k−1)) − 2 (s_k − t_j) / (PN)

against leaving it below all positives, and δ_j(P + 1) = 0: the paper's eq. (5) leaves that place out. The
best place never falls in j ("opt_k ≥ opt_j for k < j" should read ≤). Of equally good places we take the
lowest in the ranking, so that ties cannot break that order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.rankings import FloatArray, IntArray, pack, split


class Published(NamedTuple):
    """``interleaving``: the positives above each negative, in input order; the paper's opt_j is one more."""

    interleaving: IntArray
    value: float
    delta: float
    alpha: FloatArray


def gains(s: FloatArray, t_j: float, j: int, N: int) -> FloatArray:
    """f_1(j) … f_P(j), what it is worth to move negative j (from 1) above each positive."""
    P = len(s)
    k = np.arange(1, P + 1)
    # j/(j+k) − (j−1)/(j+k−1), without the cancellation
    return k / ((j + k) * (j + k - 1.0)) / P - 2.0 * (s - t_j) / (P * N)


def greedy(scores: ArrayLike, y: ArrayLike) -> Published:
    """Algorithm 1 (Yue et al. 2007): every negative scans every place. O(PN)."""
    z, positives, negatives = split(scores, y)
    s = z[positives]
    above = [_scan(gains(s, z[row], j, len(negatives))) for j, row in enumerate(negatives, start=1)]
    return _publish(z, positives, negatives, np.array(above))


def search(scores: ArrayLike, y: ArrayLike) -> Published:
    """Algorithm 2 for every negative: binary search among the first min(P, j) positives, a scan beyond."""
    z, positives, negatives = split(scores, y)
    s = z[positives]
    above = [_search(gains(s, z[row], j, len(negatives)), j) for j, row in enumerate(negatives, start=1)]
    return _publish(z, positives, negatives, np.array(above))


def select(scores: ArrayLike, y: ArrayLike) -> Published:
    """Algorithm 3: only the negatives that are not below all positives are sorted and searched.

    How many those are is found by bisection, asking for the j-th highest negative by selection. The paper's
    step 3 keeps ``t_j < ŝ``; it must keep the highest: ``t_j ≥ ŝ``, ŝ the score of the last that is kept.
    """
    z, positives, negatives = split(scores, y)
    negatives = np.sort(negatives)  # as they came: what follows must not need them sorted by score
    s, t = z[positives], z[negatives]
    P, N = len(s), len(t)

    def below_all(j: int) -> bool:
        t_j = np.partition(t, N - j)[N - j]
        return _search(gains(s, t_j, j, N), j) == P

    kept, least_below = 0, N + 1
    while least_below - kept > 1:
        middle = (kept + least_below) // 2
        kept, least_below = (kept, middle) if below_all(middle) else (middle, least_below)
    s_hat = np.partition(t, N - kept)[N - kept] if kept else np.inf
    hard = np.flatnonzero(t >= s_hat)
    above = np.full(N, P)
    for j, column in enumerate(hard[np.argsort(-t[hard], kind="stable")], start=1):
        above[column] = _search(gains(s, t[column], j, N), j)
    return _publish(z, positives, negatives, above)


def _scan(f: FloatArray) -> int:
    """The number of positives above: the last argmax of δ over all places."""
    worth = np.append(np.cumsum(f[::-1])[::-1], 0.0)
    return len(f) - int(np.argmax(worth[::-1]))


def _search(f: FloatArray, j: int) -> int:
    """As ``_scan``; but f_k(j) never falls in k ≤ min(P, j), where δ_j is thus unimodal: bisect for f > 0."""
    p = min(len(f), j)
    first, last = 0, p
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if f[middle] > 0 else (middle + 1, last)
    beyond = p + _scan(f[p:])
    return first if f[first:beyond].sum() > 0 else beyond


def _publish(z: FloatArray, positives: IntArray, negatives: IntArray, above: IntArray) -> Published:
    """``above[j]`` positives are above negative j, in whatever order the negatives come."""
    k = np.arange(1, len(positives) + 1)
    negatives_above = np.array([np.count_nonzero(above < i) for i in k])
    delta = 1.0 - float(np.mean(k / (k + negatives_above)))
    by_score = negatives[np.argsort(-z[negatives], kind="stable")]
    found = pack(z, positives, by_score, negatives_above, delta)
    return Published(above[np.argsort(negatives)], *found)
