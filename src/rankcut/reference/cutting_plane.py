"""The plain one-slack cutting-plane method, the solver's twin.

    min_w ½‖w‖² + C R(w),   R(w) ≥ b_i + g_i·w for every cut i

Each round adds the cut at the minimiser of the model, ``w = −Gᵀa``, whose multipliers solve the dual

    max_a b·a − ½‖Gᵀa‖²   with a ≥ 0 and Σ a = C

A risk that is never negative gives the cut 0 for free (then the other multipliers sum to at most C).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut.reference.rankings import FloatArray

Risk = Callable[[FloatArray], tuple[float, FloatArray]]


class Solution(NamedTuple):
    """``gap = objective − dual`` bounds how far w is from the best objective; ``n_iter`` counts cuts."""

    w: FloatArray
    objective: float
    dual: float
    gap: float
    n_iter: int


def minimise(
    risk: Risk,
    C: float,
    n_features: int,
    *,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    nonnegative: bool = True,
) -> Solution:
    """Until ``gap ≤ tol × objective``, or for max_iter cuts; w is the best point seen."""
    cuts = [np.zeros(n_features)] if nonnegative else []
    offsets = [0.0] if nonnegative else []
    w, best, objective, dual = np.zeros(n_features), np.zeros(n_features), np.inf, -np.inf
    a = np.full(len(cuts), float(C))
    for _ in range(max_iter):
        value, subgradient = risk(w)
        if 0.5 * w @ w + C * value < objective:
            best, objective = w, float(0.5 * w @ w + C * value)
        if objective - dual <= tol * abs(objective):
            break
        cuts.append(np.asarray(subgradient, dtype=np.float64))
        offsets.append(float(value - subgradient @ w))
        G, b = np.array(cuts), np.array(offsets)
        a = maximise_on_simplex(G @ G.T, b, C, np.append(a, C if len(a) == 0 else 0.0))
        w = -G.T @ a
        dual = max(dual, float(b @ a - 0.5 * w @ w))
    return Solution(best, objective, dual, objective - dual, len(cuts) - nonnegative)


def maximise_on_simplex(
    K: FloatArray, b: FloatArray, C: float, a: FloatArray, tol: float = 1e-13
) -> FloatArray:
    """``max b·a − ½aᵀKa`` over ``a ≥ 0, Σa = C`` by active sets, from a feasible a.

    Let in the coordinate with the largest slope; go to the maximiser over the coordinates let in, stopping
    where one reaches 0, which leaves; repeat until no slope is above the mean slope of those in.
    """
    a, inside = a.copy(), a > 0
    for _ in range(100 * len(b)):
        slope = b - K @ a
        level = slope @ a / C
        enter = int(np.argmax(np.where(inside, -np.inf, slope)))
        scale = np.abs(b).max() + np.abs(K @ a).max()
        if inside.all() or slope[enter] <= level + tol * scale:
            if np.ptp(slope[inside]) <= tol * scale:
                break
        else:
            inside[enter] = True
        _climb(K, b, C, a, inside)
    return a


def _climb(K: FloatArray, b: FloatArray, C: float, a: FloatArray, inside: NDArray[np.bool_]) -> None:
    """Move a, in place, to the maximiser of the face spanned by ``inside``, which shrinks on the way."""
    while True:
        rows = np.flatnonzero(inside)
        step = _newton(K[np.ix_(rows, rows)], (b - K @ a)[rows])
        falling = step < 0
        room = np.full(len(rows), np.inf)
        room[falling] = a[rows][falling] / -step[falling]
        length = min(1.0, room.min())
        a[rows] = np.maximum(a[rows] + length * step, 0.0)
        a[rows] *= C / a.sum()
        if length == 1.0:
            return
        leaving = rows[np.argmin(room)]
        a[leaving], inside[leaving] = 0.0, False


def _newton(K: FloatArray, slope: FloatArray) -> FloatArray:
    """The step to the maximiser of ``slope·x − ½xᵀKx`` over ``Σx = 0``.

    A faint ridge turns a flat direction that climbs (dependent cuts) into a long step, which the caller cuts.
    """
    n, scale = len(slope), np.trace(K) / len(slope) + 1e-300
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K / scale + 1e-13 * np.eye(n)
    system[n, n] = 0.0
    step: FloatArray = np.linalg.solve(system, np.append(slope / scale, 0.0))[:n]
    return step
