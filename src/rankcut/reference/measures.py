"""The ranking measures by their definitions, with loops: the twin of ``rankcut.metrics``.

The functions ``*_of`` measure one ranking, given as its labels, best first. Those of ``(y, scores)`` say what
tied scores mean: tied rows come in every order equally often (we take the mean over all those orders, so keep
ties few here), except for average precision, where tied rows pass the threshold together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, permutations
from math import log2

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.rankings import relevant

Labels = Sequence[bool]


def average_precision_of(labels: Labels) -> float:
    """``(1/P) Σ_positives (positives so far) / rank``."""
    hits, total = 0, 0.0
    for rank, positive in enumerate(labels, start=1):
        if positive:
            hits += 1
            total += hits / rank
    return total / hits


def dcg_of(gains: Sequence[float], k: int | None = None) -> float:
    """``Σ_{rank ≤ k} gain / log2(1 + rank)``."""
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains[:k], start=1))


def ndcg_of(gains: Sequence[float], k: int | None = None) -> float:
    """DCG over the DCG of the best order."""
    return dcg_of(gains, k) / dcg_of(sorted(gains, reverse=True), k)


def auc_of(labels: Labels) -> float:
    """The share of pairs (positive, negative) with the positive first."""
    right = sum(1 for i, first in enumerate(labels) for second in labels[i + 1 :] if first and not second)
    positives = sum(labels)
    return right / (positives * (len(labels) - positives))


def mrr_of(labels: Labels) -> float:
    """One over the rank of the first positive."""
    return 1.0 / (1 + list(labels).index(True))


def precision_of(labels: Labels, k: int, attainable: bool = False) -> float:
    """Positives in the first k, over k (at most the list's length) or, if attainable, over ``min(k, P)``."""
    return sum(labels[:k]) / min(k, sum(labels) if attainable else len(labels))


def tie_orders(values: Sequence[float], scores: Sequence[float]) -> Iterator[list[float]]:
    """The values by falling score, once for every order of the tied rows."""
    ranked = sorted(zip(scores, values, strict=True), key=lambda row: -row[0])
    blocks = [[value for _, value in rows] for _, rows in groupby(ranked, key=lambda row: row[0])]

    def join(head: list[float], rest: list[list[float]]) -> Iterator[list[float]]:
        if not rest:
            yield head
            return
        for order in permutations(rest[0]):
            yield from join(head + list(order), rest[1:])

    return join([], blocks)


def expected(measure: Callable[[list[float]], float], values: ArrayLike, scores: ArrayLike) -> float:
    """The mean of a measure over all orders of tied rows."""
    orders = tie_orders(np.asarray(values, float).tolist(), np.asarray(scores, float).tolist())
    return float(np.mean([measure(order) for order in orders]))


def precision_recall(y: ArrayLike, scores: ArrayLike) -> list[tuple[int, int]]:
    """(positives, rows) that score at least as much as each distinct score, from the highest down."""
    labels, z = relevant(y), np.asarray(scores, float)
    thresholds = sorted(set(z.tolist()), reverse=True)
    return [(int(np.sum(labels & (z >= threshold))), int(np.sum(z >= threshold))) for threshold in thresholds]


def average_precision(y: ArrayLike, scores: ArrayLike, interpolation: str = "exact") -> float:
    """``Σ_thresholds (rise in recall) × precision``.

    ``precision`` is that at the threshold ("exact"), or the best at this recall or more ("voc2010").
    "voc2007" is the mean of the best precision at recall t or more for t = 0, 0.1, …, 1.
    """
    points = precision_recall(y, scores)
    total = points[-1][0]

    def best(at_least: float) -> float:
        return max(hits / rows for hits, rows in points if hits >= at_least)

    if interpolation == "voc2007":
        # Counts, not recalls: t * total is whole, so hits >= t * total / 10 is decided exactly.
        return sum(best(t * total / 10) for t in range(11)) / 11
    area, before = 0.0, 0
    for hits, rows in points:
        area += (hits - before) / total * (best(hits) if interpolation == "voc2010" else hits / rows)
        before = hits
    return area


def ndcg(gains: ArrayLike, scores: ArrayLike, k: int | None = None) -> float:
    """Expected NDCG of graded gains."""
    return expected(lambda order: ndcg_of(order, k), gains, scores)


def auc(y: ArrayLike, scores: ArrayLike) -> float:
    """Mean over pairs of 1 (positive higher), 1/2 (tied) or 0."""
    labels, z = relevant(y), np.asarray(scores, float)
    pairs = [(p > n) + 0.5 * (p == n) for p in z[labels] for n in z[~labels]]
    return float(np.mean(pairs))


def mrr(y: ArrayLike, scores: ArrayLike) -> float:
    """Expected reciprocal rank of the first positive."""
    return expected(lambda order: mrr_of([bool(v) for v in order]), relevant(y), scores)


def precision_at_k(y: ArrayLike, scores: ArrayLike, k: int, attainable: bool = False) -> float:
    """Expected precision in the first k."""
    return expected(lambda order: precision_of([bool(v) for v in order], k, attainable), relevant(y), scores)
