"""Related samples by enumeration of all labellings: the twin of the graph models.

S(Y) = Σ_{y_i=1} u_i − Σ_{edges with y_i≠y_j} c. Everything here is exponential in the number of samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankcut.reference.rankings import FloatArray

Labels = NDArray[np.bool_]
Pairs = Sequence[tuple[int, int]]


def labellings(n: int) -> Labels:
    """All 2ⁿ of them, one a row."""
    return np.asarray((np.arange(2**n)[:, None] >> np.arange(n)) % 2 == 1)


def joint_features(Y: Labels, edges: Pairs) -> FloatArray:
    """What S is linear in, one row for each labelling: y, then −1 for each edge that it cuts."""
    cut = np.array([Y[:, i] != Y[:, j] for i, j in edges]).reshape(len(edges), len(Y)).T
    return np.hstack((Y.astype(float), -cut.astype(float)))


def component_of(i: int, edges: Pairs) -> set[int]:
    """The samples that are connected with i."""
    found, grown = {i}, True
    while grown:
        near = {b for e in edges for a, b in (e, e[::-1]) if a in found}
        grown = not near <= found
        found |= near
    return found


def max_marginals(unary: FloatArray, edges: Pairs, costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best S with y_i = 1, and with y_i = 0, for each i."""
    Y = labellings(len(unary))
    values = joint_features(Y, edges) @ np.concatenate((unary, costs))
    plus = np.array([values[Y[:, i]].max() for i in range(len(unary))])
    minus = np.array([values[~Y[:, i]].max() for i in range(len(unary))])
    return plus, minus


def labelling_risk(
    unary: FloatArray, edges: Pairs, costs: FloatArray, relevant: Labels, positive_weight: float
) -> float:
    """max over Y of Δ(Y) + (S(Y) − S(Y*))/M."""
    delta, features = labelling_cuts(edges, relevant, positive_weight)
    return float(np.max(delta + features @ np.concatenate((unary, costs))))


def labelling_cuts(edges: Pairs, relevant: Labels, positive_weight: float) -> tuple[FloatArray, FloatArray]:
    """(Δ(Y), (Ψ(Y) − Ψ(Y*))/M) of every labelling Y."""
    Y = labellings(len(relevant))
    price = np.where(relevant, positive_weight, 1.0)
    features = joint_features(Y, edges) - joint_features(relevant[None], edges)
    return (relevant != Y) @ price / price.sum(), features / price.sum()
