"""The most violated ranking by divide and conquer over its staircase, for any concave φ.

With a_k the negatives above positive k (a_1 ≤ … ≤ a_P),

    R = max_a Σ_k F_k(a_k),   F_k(a) = φ_k(a) − 2/(PN) Σ_{j ≤ a} (s_k − t_j),

and each F_k concave: its increment f_k(j) = φ_k(j) − φ_k(j−1) − 2 (s_k − t_j)/(PN) falls in j. The positives
with a_k ≥ m are then, whatever else a does, the suffix that maximises Σ f_k(m).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log2

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.rankings import FloatArray, MostViolated, pack, split

Phi = Callable[[int, int], float]


def phi(loss: str, P: int, N: int) -> Phi:
    """φ_k(a), k from 1: what a negatives above positive k add to the loss."""
    ideal = sum(1.0 / log2(1 + k) for k in range(1, P + 1))
    table: dict[str, Phi] = {
        "ap": lambda k, a: a / (P * (k + a)),
        "auc": lambda k, a: a / (P * N),
        "ndcg": lambda k, a: (1.0 / log2(1 + k) - 1.0 / log2(1 + k + a)) / ideal,
        "mrr": lambda k, a: a / (1 + a) if k == 1 else 0.0,
    }
    return table[loss]


def staircase(s: FloatArray, t: FloatArray, phi: Phi) -> list[int]:
    """The best a_1 ≤ … ≤ a_P (of equally good ones the lowest) for falling s and t."""
    P, N = len(s), len(t)
    a = [0] * P

    def increment(k: int, j: int) -> float:
        return phi(k + 1, j) - phi(k + 1, j - 1) - 2.0 * float(s[k] - t[j - 1]) / (P * N)

    def solve(begin: int, end: int, low: int, high: int) -> None:
        """Positives [begin, end) have a in [low, high]."""
        if begin == end or low == high:
            a[begin:end] = [low] * (end - begin)
            return
        middle = (low + high + 1) // 2
        cut, best, total = end, 0.0, 0.0
        for k in reversed(range(begin, end)):
            total += increment(k, middle)
            if total > best:
                cut, best = k, total
        solve(begin, cut, low, middle - 1)
        solve(cut, end, middle, high)

    solve(0, P, 0, N)
    return a


def most_violated(scores: ArrayLike, y: ArrayLike, loss: str = "ap") -> MostViolated:
    """For "ap", "auc", "ndcg" and "mrr"."""
    z, positives, negatives = split(scores, y)
    cost = phi(loss, len(positives), len(negatives))
    above = staircase(z[positives], z[negatives], cost)
    delta = sum(cost(k, a) for k, a in enumerate(above, start=1))
    return pack(z, positives, negatives, np.array(above), delta)
