"""The most violated ranking by looking at all rankings.

For a ranking π of P positives (scores s) and N negatives (scores t),

    R = max_π Δ(π) + c Σ_{pairs with negative j above positive i} (t_j − s_i),   c = 2/(PN)

With P, N ≤ 3 all (P + N)! orders are tried. Beyond that, up to 6, only the interleavings of the two classes,
each by falling score: Δ sees labels only, and for fixed labels the pair term weighs a negative by the
positives below it and a positive by minus the negatives above it, so sorting each class maximises it
(rearrangement). The tests check that theorem where both ways are possible.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.measures import Labels, auc_of, average_precision_of, mrr_of, ndcg_of, precision_of
from rankcut.reference.rankings import FloatArray, IntArray, MostViolated, relevant, split

Delta = Callable[[Labels], float]

LARGEST_CLASS = 6
LARGEST_HONEST_CLASS = 3


def most_violated(
    scores: ArrayLike, y: ArrayLike, loss: str = "ap", *, k: int = 1, positive_weight: float = 1.0
) -> MostViolated:
    """By name: "ap", "auc", "ndcg", "mrr", "precision@k" (with k, or as "precision@5"), "hinge"."""
    if loss == "hinge":
        return most_violated_labelling(scores, y, positive_weight)
    z, positives, negatives = split(scores, y)
    if "@" in loss and loss != "precision@k":
        loss, k = "precision@k", int(loss.removeprefix("precision@"))
    return _best(z, positives, negatives, _deltas(loss, k, len(positives), len(negatives)), None)


def most_violated_ranking(
    scores: ArrayLike, y: ArrayLike, delta: Delta, pair_weight: float | None = None
) -> MostViolated:
    """For any Δ of a ranking's labels, best first; ``pair_weight`` is c, by default 2/(PN)."""
    z, positives, negatives = split(scores, y)
    orders = _orders(len(positives), len(negatives))
    deltas = np.array([delta(tuple(labels)) for labels in (orders < len(positives)).tolist()])
    return _best(z, positives, negatives, deltas, pair_weight)


def most_violated_labelling(scores: ArrayLike, y: ArrayLike, positive_weight: float = 1.0) -> MostViolated:
    """The hinge over all sets of samples that may be called violated (their margin is below 1):

    ``R = max_S Σ_{i∈S} m_i (1 − ỹ_i z_i) / M``, ``m_i = J`` on positives and 1 on negatives, ``M = JP + N``.
    """
    z, labels = np.asarray(scores, float), relevant(y)
    weights = np.where(labels, positive_weight, 1.0)
    weights = weights / weights.sum()
    signs = np.where(labels, 1.0, -1.0)
    violated = _subsets(len(z))
    best = int(np.argmax(violated @ (weights * (1.0 - signs * z))))
    delta, alpha = float(violated[best] @ weights), -signs * weights * violated[best]
    return MostViolated(float(delta + alpha @ z), delta, alpha)


def delta_of(loss: str, labels: Labels, k: int = 0) -> float:
    """``Δ = 1 − measure``, from the ranking itself."""
    if loss == "precision@k":
        return 1.0 - precision_of(labels, k, attainable=True)
    measures: dict[str, Callable[[Labels], float]] = {
        "ap": average_precision_of,
        "auc": auc_of,
        "ndcg": ndcg_of,
        "mrr": mrr_of,
    }
    return 1.0 - measures[loss](labels)


def all_orders(n: int) -> IntArray:
    """All n! rankings of n samples, best first."""
    return np.array(list(permutations(range(n))))


def sorted_orders(P: int, N: int) -> IntArray:
    """All rankings of positives 0…P−1 and negatives P…P+N−1 that keep each class in its order."""
    orders = []
    for places in combinations(range(P + N), P):
        order = np.empty(P + N, dtype=np.int64)
        order[list(places)] = np.arange(P)
        order[[place for place in range(P + N) if place not in places]] = np.arange(P, P + N)
        orders.append(order)
    return np.array(orders)


def swapped_pairs(order: IntArray, P: int) -> IntArray:
    """Per sample its swapped pairs: minus the negatives above a positive, the positives below a negative."""
    swaps = np.zeros(len(order), dtype=np.int64)
    for above, below in combinations(order, 2):
        if above >= P > below:
            swaps[above] += 1
            swaps[below] -= 1
    return swaps


@cache
def _orders(P: int, N: int) -> IntArray:
    if max(P, N) > LARGEST_CLASS:
        raise ValueError(f"brute force: P, N ≤ {LARGEST_CLASS}; got P = {P}, N = {N}")
    return all_orders(P + N) if max(P, N) <= LARGEST_HONEST_CLASS else sorted_orders(P, N)


@cache
def _swaps(P: int, N: int) -> FloatArray:
    return np.array([swapped_pairs(order, P) for order in _orders(P, N)], dtype=np.float64)


@cache
def _deltas(loss: str, k: int, P: int, N: int) -> FloatArray:
    return np.array([delta_of(loss, labels, k) for labels in (_orders(P, N) < P).tolist()])


@cache
def _subsets(n: int) -> FloatArray:
    return np.array(list(product((0.0, 1.0), repeat=n)))


def _best(
    z: FloatArray, positives: IntArray, negatives: IntArray, deltas: FloatArray, pair_weight: float | None
) -> MostViolated:
    P, N = len(positives), len(negatives)
    weight = 2.0 / (P * N) if pair_weight is None else pair_weight
    rows, swaps = np.concatenate([positives, negatives]), _swaps(P, N)
    best = int(np.argmax(deltas + weight * (swaps @ z[rows])))
    alpha = np.empty_like(z)
    alpha[rows] = weight * swaps[best]
    return MostViolated(float(deltas[best] + alpha @ z), float(deltas[best]), alpha)
