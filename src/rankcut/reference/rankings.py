"""What every twin shares: how a ranking turns into a loss, a weight per sample and a value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class MostViolated(NamedTuple):
    """The most violated ranking: ``value = delta + alpha @ scores``, alpha a subgradient of value."""

    value: float
    delta: float
    alpha: FloatArray


def relevant(y: ArrayLike) -> NDArray[np.bool_]:
    """Of two labels the larger is the relevant one."""
    labels: NDArray[Any] = np.asarray(y)
    distinct = np.unique(labels)
    if len(distinct) != 2:
        raise ValueError(f"y must hold two labels; it holds {len(distinct)}")
    return np.asarray(labels == distinct[1])


def split(scores: ArrayLike, y: ArrayLike) -> tuple[FloatArray, IntArray, IntArray]:
    """Scores as floats, and the rows of the positives and of the negatives, each by falling score."""
    z = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-z, kind="stable")
    best_first = relevant(y)[order]
    return z, order[best_first], order[~best_first]


def pack(
    z: FloatArray, positives: IntArray, negatives: IntArray, above: IntArray, delta: float
) -> MostViolated:
    """The ranking with ``above[k]`` negatives above positive k (never falling in k), by its pair term

    ``2/(PN) Σ_k Σ_{j ≤ above[k]} (t_j − s_k)``.
    """
    weight = 2.0 / (len(positives) * len(negatives))
    alpha = np.zeros_like(z)
    alpha[positives] = -weight * above
    for j, row in enumerate(negatives, start=1):
        alpha[row] = weight * np.count_nonzero(above >= j)
    return MostViolated(float(delta + alpha @ z), float(delta), alpha)
