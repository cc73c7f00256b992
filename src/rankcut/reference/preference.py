"""The most violated preferences by a double loop over all pairs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rankcut.reference.rankings import MostViolated

Pairs = list[tuple[int, int]]


def preferences(
    y: Sequence[float],
    rows: Sequence[int],
    graph: str = "complete",
    *,
    threshold: float | None = None,
    top: int | None = None,
    best: int | None = None,
) -> Pairs:
    """The pairs (i, j) of one list's rows in which i is preferred to j."""
    chosen = set(rows)
    if graph == "bipartite" and top is not None:
        last = sorted((y[i] for i in rows), reverse=True)[: top + 1][top - 1] if top < len(rows) else -np.inf
        chosen = {i for i in rows if y[i] >= last}
    elif graph == "bipartite":
        limit = min(y) if threshold is None else threshold
        chosen = {i for i in rows if y[i] > limit}
    elif graph == "star":
        chosen = {max(rows, key=lambda i: y[i]) if best is None else best}
    others = rows if graph == "complete" else [j for j in rows if j not in chosen]
    return [(i, j) for i in rows if i in chosen for j in others if y[i] > y[j]]


def most_violated_preferences(
    scores: ArrayLike,
    y: ArrayLike,
    qid: Sequence[Hashable] | None = None,
    *,
    graph: str = "complete",
    rescaling: str = "slack",
    threshold: float | None = None,
    top: int | None = None,
    best: Sequence[int] = (),
    reduce: str = "mean",
) -> MostViolated:
    """Lists without a preference are left out."""
    z, grades = np.asarray(scores, float).tolist(), np.asarray(y, float).tolist()
    queries = [0] * len(z) if qid is None else list(qid)
    lists = [[i for i, q in enumerate(queries) if q == query] for query in dict.fromkeys(queries)]
    found = []
    for rows in lists:
        named = next((i for i in best if i in rows), None)
        pairs = preferences(grades, rows, graph, threshold=threshold, top=top, best=named)
        if pairs:
            found.append(_of_pairs(z, grades, pairs, rescaling))
    share = 1.0 if reduce == "sum" else 1.0 / len(found)
    delta = share * sum(each for each, _ in found)
    alpha = share * np.sum([each for _, each in found], axis=0)
    return MostViolated(float(delta + alpha @ np.asarray(z)), float(delta), alpha)


def _of_pairs(
    z: Sequence[float], y: Sequence[float], pairs: Pairs, rescaling: str
) -> tuple[float, np.ndarray]:
    delta, alpha = 0.0, np.zeros(len(z))
    for i, j in pairs:
        if rescaling == "slack":
            violation, weight = 1.0 - (z[i] - z[j]), y[i] - y[j]
        else:
            violation, weight = (y[i] - y[j]) - (z[i] - z[j]), 1.0
        if violation > 0:
            delta += y[i] - y[j]
            alpha[i] -= weight
            alpha[j] += weight
    return delta / len(pairs), alpha / len(pairs)
