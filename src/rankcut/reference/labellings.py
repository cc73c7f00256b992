"""Max-marginals of a graph by looking at all labellings, and by one cut for each sample and label.

    E(Y) = Σ_{y_i=1} u_i − Σ_{edges (i,j), y_i≠y_j} c_ij

is the cost of a cut but for a constant: with Y the source's side, an arc from the source to i costs max(u_i, 0) if
y_i = 0 and an arc from i to the sink max(−u_i, 0) if y_i = 1, so max E = Σ max(u_i, 0) − the cheapest cut.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.reference.rankings import FloatArray, IntArray

MOST = 16  # samples whose labellings are enumerated


def energy(labels: ArrayLike, unary: ArrayLike, edges: ArrayLike, costs: ArrayLike) -> float:
    """Of one labelling."""
    y, (first, second) = np.asarray(labels), _ends(edges)
    return float(y @ np.asarray(unary) - (y[first] != y[second]) @ np.asarray(costs))


def max_marginals(
    unary: ArrayLike, edges: ArrayLike, costs: ArrayLike
) -> tuple[FloatArray, FloatArray, IntArray]:
    """(m⁺, m⁻, the best labelling with the fewest ones), by all 2ⁿ labellings."""
    u = np.asarray(unary, dtype=np.float64)
    if len(u) > MOST:
        raise ValueError(f"enumeration: at most {MOST} samples; got {len(u)}")
    Y = np.array(list(product((0, 1), repeat=len(u))))
    first, second = _ends(edges)
    E = Y @ u - (Y[:, first] != Y[:, second]) @ np.asarray(costs, dtype=np.float64)
    plus = np.where(Y == 1, E[:, None], -np.inf).max(axis=0)
    minus = np.where(Y == 0, E[:, None], -np.inf).max(axis=0)
    return plus, minus, Y[E.max() == E].min(axis=0)


def largest_energy(unary: ArrayLike, edges: ArrayLike, costs: ArrayLike) -> float:
    """By one cut: augmenting paths over a matrix of capacities, the shortest first."""
    u = np.asarray(unary, dtype=np.float64)
    n = len(u)
    capacity = np.zeros((n + 2, n + 2))
    source, sink = n, n + 1
    capacity[source, :n], capacity[:n, sink] = np.maximum(u, 0), np.maximum(-u, 0)
    for (i, j), c in zip(np.reshape(edges, (-1, 2)), np.asarray(costs), strict=True):
        capacity[i, j] += c
        capacity[j, i] += c
    total = float(capacity[source].sum())
    while (path := _shortest_path(capacity, source, sink)) is not None:
        flow = capacity[path[:-1], path[1:]].min()
        capacity[path[:-1], path[1:]] -= flow
        capacity[path[1:], path[:-1]] += flow
        total -= float(flow)
    return total


def max_marginals_by_cuts(
    unary: ArrayLike, edges: ArrayLike, costs: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """(m⁺, m⁻), by 2n independent cuts: a score that no edges outweigh forces a label."""
    u = np.asarray(unary, dtype=np.float64)
    force = 1.0 + 2.0 ** np.ceil(np.log2(1.0 + np.abs(u).sum() + np.sum(costs)))
    plus, minus = np.empty(len(u)), np.empty(len(u))
    for i in range(len(u)):
        forced = u.copy()
        forced[i] = u[i] + force
        plus[i] = largest_energy(forced, edges, costs) - force
        forced[i] = u[i] - force
        minus[i] = largest_energy(forced, edges, costs)
    return plus, minus


def _ends(edges: ArrayLike) -> tuple[IntArray, IntArray]:
    pairs = np.reshape(np.asarray(edges, dtype=np.int64), (-1, 2))
    return pairs[:, 0], pairs[:, 1]


def _shortest_path(capacity: FloatArray, source: int, sink: int) -> NDArray[np.int64] | None:
    before = np.full(len(capacity), -1)
    before[source] = source
    level = [source]
    while level and before[sink] < 0:
        following = []
        for v in level:
            for w in np.flatnonzero((capacity[v] > 0) & (before < 0)):
                before[w] = v
                following.append(int(w))
        level = following
    if before[sink] < 0:
        return None
    path = [sink]
    while path[-1] != source:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])
