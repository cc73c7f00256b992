"""Parameters that have to stay at or below 0: against an independent solver, and the certificate against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import InputError
from rankcut.solvers import Status, minimise
from rankcut.solvers.cone import ConeDual, project, reach
from rankcut.solvers.cuts import Cuts

clarabel = pytest.importorskip("clarabel")


def independent(A: np.ndarray, b: np.ndarray, C: float, first: int) -> float:
    """min ½‖w‖² + C·ξ, ξ ≥ 0, ξ ≥ b + A w, w[first:] ≤ 0."""
    K, n = A.shape
    P, q = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    P[:n, :n], q[n] = np.eye(n), C
    risk = np.hstack((A, -np.ones((K, 1))))
    slack = np.append(np.zeros(n), -1.0)[None]
    cone = np.hstack((np.eye(n)[first:], np.zeros((n - first, 1))))
    limits = np.concatenate((-b, np.zeros(1 + n - first)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    left = sp.csc_matrix(np.vstack((risk, slack, cone)))
    cones = [clarabel.NonnegativeConeT(len(limits))]
    found = clarabel.DefaultSolver(sp.csc_matrix(P), q, left, limits, cones, settings).solve()
    assert "Solved" in str(found.status), found.status
    return float(found.obj_val)


def largest_of(A: np.ndarray, b: np.ndarray) -> Any:
    """The risk max(0, max_i b_i + a_i·w)."""

    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        values = b + A @ w
        i = int(np.argmax(values))
        return (float(values[i]), A[i]) if values[i] > 0 else (0.0, np.zeros(A.shape[1]))

    return risk


def test_minimum_equals_an_independent_solver(rng: np.random.Generator) -> None:
    for _ in range(400):
        n, K = int(rng.integers(1, 30)), int(rng.integers(1, 60))
        first = int(rng.integers(0, n + 1))
        A, b = rng.normal(size=(K, n)) * 10 ** rng.uniform(-2, 1), rng.normal(size=K)
        if rng.random() < 0.2:
            A = np.round(A)  # ties, and rows of zeros
        C = 10 ** rng.uniform(-2, 3)
        found = minimise(
            largest_of(A, b), C, n_features=n, nonpositive=slice(first, n), tol=1e-7, max_iter=5000
        )
        assert found.status is Status.CONVERGED
        assert np.all(found.w[first:] <= 0)
        expected = independent(A, b, C, first)
        assert found.objective == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert found.dual_objective <= expected + 1e-7 * (1 + abs(expected))


def test_dual_value_is_below_the_model_everywhere(rng: np.random.Generator) -> None:
    """What the certificate rests on: any multipliers give a bound of the model's minimum over the cone."""
    for _ in range(300):
        n, K = int(rng.integers(1, 12)), int(rng.integers(1, 20))
        first = int(rng.integers(0, n + 1))
        cone, C = slice(first, n), 10 ** rng.uniform(-1, 2)
        A, b = rng.normal(size=(K, n)), rng.normal(size=K)
        cuts = Cuts(C, n, nonnegative=True, nonpositive=cone)
        for a, offset in zip(A, b, strict=True):
            cuts.add(float(offset), a)
        w, dual, feasible = cuts.solve(1e-9)
        assert feasible
        assert np.all(w[cone] <= 0)
        for point in (w, *(project(rng.normal(size=n), cone) for _ in range(5))):
            assert dual <= 0.5 * point @ point + C * max(0.0, float(np.max(b + A @ point))) + 1e-9
        assert dual >= 0.5 * w @ w + C * max(0.0, float(np.max(b + A @ w))) - 1e-8 * (1 + abs(dual))


def test_multipliers_are_feasible_and_outlive_cuts_that_go(rng: np.random.Generator) -> None:
    for _ in range(200):
        n, K, C = int(rng.integers(2, 10)), int(rng.integers(3, 25)), 10 ** rng.uniform(-1, 2)
        A, b = rng.normal(size=(K, n)), rng.normal(size=K)
        dual = ConeDual(slice(1, n))
        for _turn in range(4):
            mu = dual.solve(A, b, C, 1e-10)
            assert np.all(mu >= 0)
            assert mu.sum() == pytest.approx(C)
            w = project(-(mu @ A), slice(1, n))
            values = b + A @ w
            assert C * values.max() - mu @ values <= 1e-8 * (1 + C * np.abs(values).max())
            idle = np.flatnonzero(mu == 0)[:2]
            dual.remove(idle)
            A, b = np.delete(A, idle, axis=0), np.delete(b, idle)
            A, b = np.vstack((A, rng.normal(size=(2, n)))), np.append(b, rng.normal(size=2))
            C *= 1.5


def test_all_or_no_parameters_in_the_cone(rng: np.random.Generator) -> None:
    A, b = rng.normal(size=(30, 6)), rng.normal(size=30)
    free = minimise(largest_of(A, b), 5.0, n_features=6, tol=1e-9)
    none = minimise(largest_of(A, b), 5.0, n_features=6, nonpositive=slice(6, 6), tol=1e-9)
    assert none.objective == pytest.approx(free.objective, rel=1e-8)
    rising = minimise(largest_of(-np.abs(A), np.ones(30)), 5.0, n_features=6, nonpositive=slice(0, 6))
    assert np.all(rising.w == 0)  # every step that would help leaves the cone
    assert rising.objective == pytest.approx(5.0)
    assert rising.gap == pytest.approx(0.0, abs=1e-12)


def test_reach_ends_where_the_first_parameter_meets_its_bound() -> None:
    w, step = np.array([5.0, -2.0, -1.0, 0.0]), np.array([9.0, 1.0, 2.0, -1.0])
    assert reach(w, step, slice(1, 4)) == 0.5
    assert reach(w, -step, slice(1, 3)) == float("inf")


def test_start_outside_the_cone_is_refused() -> None:
    with pytest.raises(InputError, match=r"start: .*at most 0"):
        minimise(largest_of(np.eye(2), np.ones(2)), start=np.array([1.0, 1.0]), nonpositive=slice(1, 2))
