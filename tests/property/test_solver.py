"""The solver against an independent one, and its certificate against NumPy.

The independent solver (Clarabel) gets the problems written out: every ranking of a tiny list is a constraint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.exact import (
    LOSSES,
    RANKING,
    TIGHT,
    MaxOfPlanes,
    check_certificate,
    exact_hinge,
    exact_ranking,
    fit,
    risk_of,
    tiny,
)

from rankcut import BagRankSVM, Bags, InputError, PreferenceRankSVM, RankSVM
from rankcut.reference import cutting_plane
from rankcut.solvers import Status, minimise

# --- optimal, says somebody else ------------------------------------------------


@pytest.mark.parametrize("C", [0.5, 10.0, 1000.0])
@pytest.mark.parametrize("loss", RANKING)
def test_equals_an_independent_solver(rng: np.random.Generator, loss: str, C: float) -> None:
    for P, N, d in [(3, 3, 3), (1, 4, 2), (4, 1, 8), (2, 4, 1)]:
        X, y = tiny(rng, P, N, d)
        check_certificate(fit(X, y, loss=loss, C=C), exact_ranking(X, y, [np.arange(P + N)], loss, C), TIGHT)


@pytest.mark.parametrize("oracle", ["greedy", "search", "select"])
def test_published_oracles_train_the_same_model(rng: np.random.Generator, oracle: str) -> None:
    X, y = tiny(rng, 3, 3, 3)
    check_certificate(fit(X, y, oracle=oracle, C=30), exact_ranking(X, y, [np.arange(6)], "ap", 30), TIGHT)


@pytest.mark.parametrize("loss", RANKING)
def test_queries_equal_an_independent_solver(rng: np.random.Generator, loss: str) -> None:
    parts = [tiny(rng, P, N, 3) for P, N in [(2, 3), (1, 1), (3, 2)]]
    X, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    qid = np.repeat([3, 1, 2], [5, 2, 5])
    lists = [np.flatnonzero(qid == q) for q in (3, 1, 2)]
    order = rng.permutation(len(y))
    for C in (1.0, 100.0):
        optimum = exact_ranking(X, y, lists, loss, C)
        check_certificate(fit(X[order], y[order], loss=loss, C=C, qid=qid[order]), optimum, TIGHT)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("J", [None, 0.2, 6.0])
@pytest.mark.parametrize("C", [0.5, 50.0, 5000.0])
def test_hinge_equals_an_independent_solver(
    rng: np.random.Generator, C: float, J: float | None, intercept: bool
) -> None:
    y = (rng.random(60) < 0.3).astype(int)
    X = rng.normal(size=(60, 4)) + y[:, None] + 2.0
    model = fit(X, y, loss="hinge", C=C, positive_weight=J, fit_intercept=intercept)
    check_certificate(model, exact_hinge(X, y, C, J or 1.0, intercept), TIGHT)
    signs, weights = np.where(y == 1, 1.0, -1.0), np.where(y == 1, J or 1.0, 1.0)
    margins = signs * (X @ model.coef_[0] + model.intercept_[0])
    primal = 0.5 * model.coef_[0] @ model.coef_[0] + C * weights @ np.maximum(0, 1 - margins) / weights.sum()
    assert primal == pytest.approx(model.objective_, rel=1e-9)  # with intercept_: it is the best one
    assert intercept or model.intercept_[0] == 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_plain_cutting_plane_method(rng: np.random.Generator, loss: str) -> None:
    y = (rng.random(150) < 0.25).astype(int)
    X = rng.normal(size=(150, 5)) + 0.7 * y[:, None]
    for C in (1.0, 30.0):
        model = fit(X, y, loss=loss, C=C, fit_intercept=False)
        risk = risk_of(model, X, y, loss)
        twin = cutting_plane.minimise(risk, C, 5, tol=1e-7)
        check_certificate(model, twin.objective, TIGHT)
        value = risk(model.coef_[0])[0]
        assert 0.5 * model.coef_[0] @ model.coef_[0] + C * value == pytest.approx(model.objective_, rel=1e-10)
        np.testing.assert_allclose(model.coef_[0], twin.w, atol=1e-3 * np.linalg.norm(twin.w))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(400, 3), (60, 200), (300, 30)])
def test_the_certificate_closes_and_holds(
    rng: np.random.Generator, loss: str, shape: tuple[int, int]
) -> None:
    """Small gaps at large C and for d > n. The primal is recomputed; no point tried is below the dual."""
    n, d = shape
    y = (rng.random(n) < 0.2).astype(int)
    X = rng.normal(size=shape) + 0.4 * y[:, None]
    for C, tol in ((1.0, 1e-8), (100.0, 1e-6), (1e4, 1e-4)):
        model = fit(X, y, loss=loss, C=C, tol=tol, fit_intercept=False)
        risk, w = risk_of(model, X, y, loss), model.coef_[0]

        def primal(v: np.ndarray, risk: Any = risk, C: float = C) -> float:
            return float(0.5 * v @ v + C * risk(v)[0])

        assert model.status_ is Status.CONVERGED
        assert primal(w) == pytest.approx(model.objective_, rel=1e-10, abs=1e-9)
        assert model.dual_gap_ == pytest.approx(
            1 - model.dual_objective_ / model.objective_, rel=1e-6, abs=1e-15
        )
        for scale in (1e-6, 1e-3, 1.0):
            for v in (w + scale * rng.normal(size=d), (1 - scale) * w, (1 + scale) * w):
                assert primal(v) >= model.dual_objective_ * (1 - 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_bounds_never_go_back(rng: np.random.Generator, loss: str) -> None:
    y = (rng.random(500) < 0.1).astype(int)
    X = rng.normal(size=(500, 20)) + 0.3 * y[:, None]
    model = fit(X, y, loss=loss, C=300, tol=1e-6)
    objective, dual = ([getattr(r, name) for r in model.history_] for name in ("objective", "dual_objective"))
    passes = [(r.forward_passes, r.backward_passes, r.seconds) for r in model.history_]
    assert len(model.history_) == model.n_iter_
    assert np.all(np.diff(objective) <= 1e-10 * np.abs(objective[1:]))
    assert np.all(np.diff(dual) >= 0)
    assert np.all(np.diff(passes, axis=0) >= 0)
    assert objective[-1] == model.objective_
    assert dual[-1] == model.dual_objective_
    assert model.history_[-1].gap == model.dual_gap_
    assert passes[-1][:2] == tuple(model.n_passes_)


# --- any convex risk ------------------------------------------------


@pytest.mark.parametrize("nonnegative", [True, False])
def test_minimise_any_maximum_of_planes(rng: np.random.Generator, nonnegative: bool) -> None:
    for m, d, C in [(1, 1, 1.0), (5, 3, 0.1), (40, 6, 10.0), (200, 12, 3.0), (30, 50, 1e3)]:
        risk = MaxOfPlanes(rng, m, d, nonnegative)
        optimum = risk.optimum(C)
        found = minimise(risk, C, n_features=d, tol=1e-7, max_iter=5000)
        assert found.status is Status.CONVERGED
        assert found.objective == pytest.approx(optimum, rel=1e-6, abs=1e-8)
        assert found.dual_objective <= optimum + 1e-6 * abs(optimum) + 1e-8
        assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * risk(found.w)[0], rel=1e-12)
        again = minimise(risk, C, start=found.w, tol=1e-7, max_iter=5000)
        assert again.objective <= found.objective * (1 + 1e-9) + 1e-12 or found.objective < 0
        assert again.objective == pytest.approx(optimum, rel=1e-6, abs=1e-8)


def test_minimise_a_smooth_risk(rng: np.random.Generator) -> None:
    A, target = rng.normal(size=(20, 4)), rng.normal(size=20)

    def squares(w: np.ndarray) -> tuple[float, np.ndarray]:
        rest = A @ w - target
        return float(rest @ rest), 2 * A.T @ rest

    found = minimise(squares, 2.0, n_features=4, tol=1e-7, max_iter=5000)
    exact = np.linalg.solve(np.eye(4) + 4.0 * A.T @ A, 4.0 * A.T @ target)
    np.testing.assert_allclose(found.w, exact, atol=1e-3)
    assert found.objective == pytest.approx(0.5 * exact @ exact + 2.0 * squares(exact)[0], rel=1e-6)


def test_minimise_uses_the_risks_own_line() -> None:
    calls = {"risk": 0, "line": 0}

    class Distance:
        def __call__(self, w: np.ndarray) -> tuple[float, np.ndarray]:
            calls["risk"] += 1
            return float(np.abs(w - 1).sum()), np.sign(w - 1)

        def line(self, w0: np.ndarray, w1: np.ndarray) -> Any:
            calls["line"] += 1

            class Along:
                limit = float("inf")

                def __call__(self, t: float) -> tuple[float, float]:
                    w = w0 + t * (w1 - w0)
                    return float(np.abs(w - 1).sum()), float(np.sign(w - 1) @ (w1 - w0))

            return Along()

    found = minimise(Distance(), 0.5, n_features=3, tol=1e-8)
    np.testing.assert_allclose(found.w, 0.5, atol=1e-5)
    assert calls["risk"] == found.n_iter
    assert calls["line"] == found.n_iter - 1


def test_minimise_a_risk_that_is_zero_at_the_start() -> None:
    found = minimise(lambda w: (0.0, np.zeros(2)), 1.0, n_features=2)
    assert found.status is Status.CONVERGED
    assert (found.objective, found.gap, found.n_iter) == (0.0, 0.0, 1)


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({}, "n_features"),
        ({"n_features": 2, "C": 0}, "C"),
        ({"n_features": 2, "C": np.nan}, "C"),
        ({"n_features": 2, "C": "much"}, "C"),
        ({"n_features": 2, "tol": -1.0}, "tol"),
        ({"n_features": 2, "tol": np.nan}, "tol"),
        ({"n_features": 2, "max_iter": 0}, "max_iter"),
        ({"start": [0.0, np.nan]}, "start"),
        ({"n_features": 2, "nonpositive": 1}, "nonpositive"),
    ],
)
def test_minimise_refuses(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=rf"^{word}:"):
        minimise(lambda w: (float(np.abs(w).sum()), np.sign(w)), **arguments)


@pytest.mark.parametrize(
    "risk, words",
    [
        (None, "risk: came as None"),
        (lambda w: 1.0, "risk: returned 1.0; return"),
        (lambda w: (1.0, np.zeros(3)), r"risk: returned a subgradient of shape \(3,\)"),
        (lambda w: (1.0, None), "risk: returned"),
        (lambda w: (w[0] - 1.0, np.array([1.0, 0.0])), "risk: returned -1, .* `nonnegative`"),
    ],
)
def test_minimise_refuses_what_is_no_risk(risk: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        minimise(risk, n_features=2)


@pytest.mark.filterwarnings("ignore::rankcut.ConvergenceWarning")
@pytest.mark.parametrize("scale, C", [(1e10, 1e10), (1e15, 1e3), (1e20, 1e10), (1e30, 1.0), (1.0, 1e14)])
def test_a_risk_of_zero_is_not_below_it(rng: np.random.Generator, scale: float, C: float) -> None:
    """Where all is told apart, ½‖w‖² is all there is; the rounding of the risk, times C, must not hide it."""
    X = rng.normal(size=(200, 4))
    grades = np.round(X[:, 0], 1)
    bags = Bags(X * scale, np.arange(200) // 2)
    top = np.maximum.reduceat(X[:, 0], bags.offsets[:-1])
    for model in (
        PreferenceRankSVM(C, rescaling="margin").fit(X * scale, grades),
        RankSVM(C).fit(X * scale, X[:, 0] > 0.5),
        RankSVM(C, loss="hinge").fit(X * scale, X[:, 0] > 0.5),
        BagRankSVM(C, init=np.array([1.0, 0, 0, 0]) / scale).fit(bags, top > 0.5),
    ):
        assert model.objective_ >= model.dual_objective_ * (1 - 1e-9)
        assert model.objective_ >= 0.5 * float(model.coef_[0] @ model.coef_[0]) * (1 - 1e-12)


def test_float32_parameters_make_no_float32_objectives(rng: np.random.Generator) -> None:
    X, y = rng.normal(size=(80, 4)), np.arange(80) % 4 == 0
    plain, given = (RankSVM(C=C).fit(X, y) for C in (7.3, np.float32(7.3)))
    assert type(given.objective_) is type(plain.objective_) is float
    assert given.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    again = RankSVM(C=float(np.float32(7.3))).fit(X, y)
    assert (given.objective_, given.dual_gap_) == (again.objective_, again.dual_gap_)
    np.testing.assert_array_equal(given.coef_, again.coef_)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_minimise_says_when_the_risk_is_not_finite(bad: float) -> None:
    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        return (1.0 if not w.any() else bad), np.ones(2)

    with pytest.raises(InputError, match="risk"):
        minimise(risk, n_features=2)
