"""Optima by an independent solver, with every ranking written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import RankSVM, losses
from rankcut.reference import brute_force
from rankcut.solvers import Status

RANKING = ["ap", "auc", "ndcg", "mrr", "precision@1", "precision@3"]


LOSSES = [*RANKING, "hinge"]


TIGHT = 1e-8


def quadratic_program(P: np.ndarray, q: np.ndarray, A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """min ½xᵀPx + q·x subject to A x ≤ b."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(b))]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), q, sp.csc_matrix(A), b, cones, settings).solve()
    assert "Solved" in str(found.status), found.status
    x = np.array(found.x)
    return x, float(0.5 * x @ P @ x + q @ x)


def rankings(y: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """(Δ, α) of every ranking of a tiny list, from the definition."""
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    P, N = len(positives), len(negatives)
    name, k = ("precision@k", int(loss[10:])) if "@" in loss else (loss, 0)
    orders = brute_force.all_orders(P + N)
    deltas = np.array([brute_force.delta_of(name, tuple(o < P), min(k, P + N)) for o in orders])
    swaps = np.array([brute_force.swapped_pairs(o, P) for o in orders])
    cuts = np.unique(np.column_stack((deltas, swaps)), axis=0)
    alphas = np.zeros((len(cuts), P + N))
    alphas[:, np.concatenate((positives, negatives))] = cuts[:, 1:] * 2.0 / (P * N)
    return cuts[:, 0], alphas


def exact_ranking(
    X: np.ndarray, y: np.ndarray, lists: list[np.ndarray], loss: str, C: float, **hard: Any
) -> float:
    """min ½‖w‖² + C·mean_l ξ_l, ξ_l ≥ Δ + α·Xw for every ranking of list l; `hard`: rows with A w ≤ b."""
    d, L = X.shape[1], len(lists)
    rows, limits = [np.hstack((np.zeros((L, d)), -np.eye(L)))], [np.zeros(L)]
    for number, index in enumerate(lists):
        delta, alpha = rankings(y[index], loss)
        xi = np.zeros((len(delta), L))
        xi[:, number] = -1.0
        rows.append(np.hstack((alpha @ X[index], xi)))
        limits.append(-delta)
    if hard:
        rows.append(np.hstack((hard["A"], np.zeros((len(hard["A"]), L)))))
        limits.append(hard["b"])
    P = np.diag([1.0] * d + [0.0] * L)
    return quadratic_program(P, np.array([0.0] * d + [C / L] * L), np.vstack(rows), np.concatenate(limits))[1]


def exact_hinge(X: np.ndarray, y: np.ndarray, C: float, J: float, intercept: bool) -> float:
    n, d = X.shape
    signs, weights = np.where(y == 1, 1.0, -1.0), np.where(y == 1, J, 1.0)
    shift = signs[:, None] if intercept else np.zeros((n, 0))
    A = np.hstack((-signs[:, None] * X, -shift, -np.eye(n)))
    A = np.vstack((A, np.hstack((np.zeros((n, d + shift.shape[1])), -np.eye(n)))))
    P = np.diag([1.0] * d + [0.0] * (n + shift.shape[1]))
    q = np.concatenate((np.zeros(d + shift.shape[1]), C * weights / weights.sum()))
    return quadratic_program(P, q, A, np.concatenate((-np.ones(n), np.zeros(n))))[1]


def tiny(rng: np.random.Generator, P: int = 3, N: int = 3, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    y = rng.permutation(np.arange(P + N) < P).astype(int)
    return rng.normal(size=(P + N, d)) + 0.5 * y[:, None], y


def fit(X: Any, y: Any, **options: Any) -> RankSVM:
    qid = options.pop("qid", None)
    return RankSVM(**{"tol": TIGHT, "n_jobs": 1, "max_iter": 5000, **options}).fit(X, y, qid=qid)


def risk_of(model: RankSVM, X: np.ndarray, y: np.ndarray, loss: str, **options: Any) -> Callable[..., Any]:
    oracle = losses.get(loss, **options)

    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        found = oracle.most_violated(X @ w, y)
        return found.value, X.T @ found.alpha

    return risk


def check_certificate(model: RankSVM, optimum: float, tol: float) -> None:
    assert model.status_ is Status.CONVERGED
    assert model.dual_objective_ <= optimum + 1e-7 * abs(optimum)
    assert model.objective_ >= optimum - 1e-7 * abs(optimum)
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.dual_objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.dual_gap_ <= tol


class MaxOfPlanes:
    """max_i b_i + g_i·w, never negative or free."""

    def __init__(self, rng: np.random.Generator, m: int, d: int, nonnegative: bool) -> None:
        self.G, self.b, self.nonnegative = rng.normal(size=(m, d)), rng.normal(size=m), nonnegative
        if nonnegative:
            self.G, self.b = np.vstack((self.G, np.zeros(d))), np.append(self.b, 0.0)

    def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        values = self.b + self.G @ w
        best = int(np.argmax(values))
        return float(values[best]), self.G[best]

    def optimum(self, C: float) -> float:
        m, d = self.G.shape
        P, q = np.diag([1.0] * d + [0.0]), np.array([0.0] * d + [C])
        return quadratic_program(P, q, np.hstack((self.G, -np.ones((m, 1)))), -self.b)[1]
