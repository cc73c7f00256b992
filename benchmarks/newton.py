"""Would a squared hinge with truncated Newton need fewer passes over X than the hinge with the bundle?

The pairs are listed here one by one: only passes are compared, and on small data. Newton steps are by conjugate
gradients to a tenth of the gradient, as in liblinear, with a line search in score space, which costs no pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.table import Table
from rankcut import PreferenceRankSVM, losses

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    better: NDArray[np.intp]
    worse: NDArray[np.intp]
    weight: Floats  # y_i − y_j, over the number of pairs of the list and of lists


def run(full: bool = False) -> list[Table]:
    table = Table(
        "The squared hinge by truncated Newton, the hinge by the bundle",
        ["data", "C", "bundle passes", "Newton passes", "bundle in order", "Newton in order"],
        ["", "g", ".1f", "d", ".4f", ".4f"],
    )
    test = losses.get("preference")
    for name, X, y, qid in _sets():
        pairs = _pairs(y, qid)
        for C in (1.0, 10.0, 100.0, 1000.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = PreferenceRankSVM(C=C).fit(X, y, qid=qid)
            passes, w = _newton(X, pairs, C)
            scores = model.decision_function(X), X @ w
            table.add(name, C, sum(model.n_passes_), passes, *(test.ordered(z, y, qid) for z in scores))
    table.note(
        "Complete graph, slack rescaling. Passes: X w and Xᵀα, a partial one as its fraction. The bundle stops at a "
        "certified gap of 1e-3; Newton's passes are those until 1e-3 above its own minimum, which it cannot certify. "
        "in order: the share of the training pairs, each weighing y_i − y_j."
    )
    return [table]


def _newton(X: Floats, pairs: Pairs, C: float) -> tuple[int, Floats]:
    """(passes until 1e-3 above the minimum, w) for ½‖w‖² + C Σ weight · max(0, 1 − (z_i − z_j))²."""
    n, d = X.shape
    w, z, passes = np.zeros(d), np.zeros(n), 0
    trail: list[tuple[int, float]] = []
    first = 0.0
    for _ in range(50):
        value, missing = _value(w, z, pairs, C)
        trail.append((passes + 1, value))
        g = w - X.T @ _spread(2.0 * C * pairs.weight * missing, pairs, n)
        passes += 1
        first = first or float(np.linalg.norm(g))
        if np.linalg.norm(g) <= 1e-6 * first:
            break
        step, moved, used = _conjugate_gradients(X, g, 2.0 * C * pairs.weight * (missing > 0), pairs)
        passes += used
        ts = [t for t in 0.5 ** np.arange(6) if _value(w + t * step, z + t * moved, pairs, C)[0] < value]
        if not ts:
            break
        w, z = w + ts[0] * step, z + ts[0] * moved
    least = min(value for _, value in trail)
    return next(used for used, value in trail if value <= least * (1.0 + 1e-3)), w


def _conjugate_gradients(X: Floats, g: Floats, weight: Floats, pairs: Pairs) -> tuple[Floats, Floats, int]:
    """The Newton step, what it does to the scores, and its passes."""
    step, moved = np.zeros_like(g), np.zeros(len(X))
    residual, direction, passes = -g, -g, 0
    for _ in range(50):
        along = X @ direction
        bent = direction + X.T @ _spread(weight * (along[pairs.better] - along[pairs.worse]), pairs, len(X))
        passes += 2
        size = residual @ residual
        t = size / (direction @ bent)
        step, moved, residual = step + t * direction, moved + t * along, residual - t * bent
        if residual @ residual <= 0.01 * (g @ g):
            break
        direction = residual + (residual @ residual) / size * direction
    return step, moved, passes


def _value(w: Floats, z: Floats, pairs: Pairs, C: float) -> tuple[float, Floats]:
    missing = np.maximum(0.0, 1.0 - (z[pairs.better] - z[pairs.worse]))
    return float(0.5 * w @ w + C * (pairs.weight @ missing**2)), missing


def _spread(values: Floats, pairs: Pairs, n: int) -> Floats:
    return np.bincount(pairs.better, values, n) - np.bincount(pairs.worse, values, n)


def _pairs(y: Floats, qid: NDArray[Any]) -> Pairs:
    lists = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    lists = [rows for rows in lists if np.ptp(y[rows]) > 0]

    def of_list(rows: NDArray[np.intp]) -> Pairs:
        gain = y[rows][:, None] - y[rows]
        i, j = np.nonzero(gain > 0)
        return Pairs(rows[i], rows[j], gain[i, j] / (len(i) * len(lists)))

    return Pairs(*(np.concatenate(parts) for parts in zip(*map(of_list, lists), strict=True)))


def _sets() -> Iterator[tuple[str, Floats, Floats, NDArray[Any]]]:
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import StandardScaler

    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", StandardScaler().fit_transform(X), y / y.std(), np.zeros(len(y))
    if data.available():
        for name in ("mq2008", "lightgbm_lambdarank"):
            found = data.load(f"ranking/{name}")
            rows = found["part"] <= 3 if name == "mq2008" else ~found["is_test"]
            X = found["X"][rows]
            X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
            yield name, X, found["y"][rows].astype(np.float64), found["qid"][rows]
