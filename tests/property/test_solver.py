"""The solver against an independent one, and its certificate against NumPy.

The independent solver (Clarabel) gets the problems written out: every ranking of a tiny list is a constraint.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import ConvergenceWarning, InputError, RankSVM, losses
from rankcut.reference import brute_force, cutting_plane
from rankcut.solvers import Solution, Status, minimise

clarabel = pytest.importorskip("clarabel")

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
    ],
)
def test_minimise_refuses(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=rf"^{word}:"):
        minimise(lambda w: (float(np.abs(w).sum()), np.sign(w)), **arguments)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_minimise_says_when_the_risk_is_not_finite(bad: float) -> None:
    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        return (1.0 if not w.any() else bad), np.ones(2)

    with pytest.raises(InputError, match="risk"):
        minimise(risk, n_features=2)


# --- how a solve can end ------------------------------------------------


def hard_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = (rng.random(400) < 0.2).astype(int)
    return rng.normal(size=(400, 15)) + 0.3 * y[:, None], y


def test_max_iter_warns_and_names_the_parameter(rng: np.random.Generator) -> None:
    X, y = hard_case(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = fit(X, y, C=1e4, max_iter=5)
    assert model.status_ is Status.MAX_ITER
    assert "max_iter" in str(model.status_)
    assert model.n_iter_ == 5
    assert model.dual_gap_ > TIGHT
    full = fit(X, y, C=1e4, tol=1e-5)
    assert model.dual_objective_ <= full.objective_
    assert model.objective_ >= full.dual_objective_


def test_minimise_stops_at_max_iter(rng: np.random.Generator) -> None:
    found = minimise(MaxOfPlanes(rng, 300, 20, True), 100.0, n_features=20, tol=1e-10, max_iter=4)
    assert found.status is Status.MAX_ITER
    assert found.n_iter == 4


class Stop:
    """Answers true, or raises, at one iteration; keeps what it saw."""

    def __init__(self, at: int, error: type[BaseException] | None = None) -> None:
        self.at, self.error, self.seen = at, error, []  # type: ignore[var-annotated]

    def note(self, n: int, record: Any, w: np.ndarray) -> bool:
        self.seen.append((record.objective, w.copy()))
        if n >= self.at and self.error is not None:
            raise self.error
        return n >= self.at


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_interrupted_minimise_keeps_the_best(
    rng: np.random.Generator, error: type[BaseException] | None
) -> None:
    risk, stop = MaxOfPlanes(rng, 300, 20, True), Stop(6, error)
    found = minimise(
        risk,
        100.0,
        n_features=20,
        tol=1e-9,
        callbacks=[lambda _, record, w: stop.note(len(stop.seen), record, w)],
    )
    assert found.status is Status.INTERRUPTED
    assert found.objective == min(objective for objective, _ in stop.seen)
    assert found.objective == pytest.approx(0.5 * found.w @ found.w + 100.0 * risk(found.w)[0], rel=1e-12)


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
@pytest.mark.parametrize("loss", ["ap", "hinge"])
def test_interrupted_fit_keeps_the_best(
    rng: np.random.Generator, loss: str, error: type[BaseException] | None
) -> None:
    X, y = hard_case(rng)
    stop = Stop(7, error)
    with pytest.warns(ConvergenceWarning, match="warm_start"):
        model = fit(X, y, C=1e3, loss=loss, callbacks=[lambda e: stop.note(e.n_iter, e.record, e.w)])
    assert model.status_ is Status.INTERRUPTED
    assert model.objective_ == min(objective for objective, _ in stop.seen)
    np.testing.assert_array_equal(model.coef_[0], stop.seen[-1][1])
    full = fit(X, y, C=1e3, loss=loss, tol=1e-5)
    assert model.dual_objective_ <= full.objective_


def test_other_errors_of_callbacks_are_not_hidden(rng: np.random.Generator) -> None:
    def fails(event: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit(*tiny(rng), callbacks=[fails])


@pytest.mark.parametrize("loss", ["ap", "hinge"])
def test_an_interrupt_between_bookkeeping_leaves_a_consistent_model(
    rng: np.random.Generator, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C arrives while the next cut is being computed: objective_, coef_ and intercept_ belong together."""
    from rankcut.models import LinearRisk

    X, y = hard_case(rng)
    calls = 0
    plain = LinearRisk.cut

    def cut(self: Any, point: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return plain(self, point)

    monkeypatch.setattr(LinearRisk, "cut", cut)
    with pytest.warns(ConvergenceWarning):
        model = fit(X, y, C=1e3, loss=loss)
    w = model.coef_[0]
    if loss == "hinge":
        signs = np.where(y == 1, 1.0, -1.0)
        risk = np.maximum(0, 1 - signs * (X @ w + model.intercept_[0])).mean()
    else:
        risk = losses.get("ap").most_violated(X @ w, y).value
        scores = X @ w + model.intercept_[0]
        error = 0.5 * (np.mean(scores[y == 1] <= 0) + np.mean(scores[y == 0] > 0))
        assert error == pytest.approx(best_balanced_error(X @ w, y), abs=1e-12)
    assert model.objective_ == pytest.approx(0.5 * w @ w + 1e3 * risk, rel=1e-9)


def best_balanced_error(z: np.ndarray, y: np.ndarray) -> float:
    thresholds = np.concatenate(([-np.inf], np.unique(z)))
    return min(0.5 * (np.mean(z[y == 1] <= t) + np.mean(z[y == 0] > t)) for t in thresholds)


def test_an_interrupt_before_the_first_iteration_leaves_a_model(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With warm_start the first pass is over before any risk is known; Ctrl-C may arrive in it."""
    from rankcut.designs.dense import DenseDesign

    X, y = hard_case(rng)
    model = fit(X, y, C=1.0, tol=1e-3, warm_start=True)
    before = model.coef_.copy()

    def scores(self: Any, W: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(DenseDesign, "scores", scores)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
    except KeyboardInterrupt:
        return  # nothing was done: that is an answer too
    assert model.status_ is Status.INTERRUPTED
    np.testing.assert_array_equal(model.coef_, before)


def test_an_interrupt_in_the_first_stage_ends_the_fit(rng: np.random.Generator) -> None:
    """One Ctrl-C is enough with `approx`, whichever stage it meets."""
    X, y = hard_case(rng)
    events = []

    def interrupt(event: Any) -> None:
        events.append(event)
        if len(events) == 2:
            raise KeyboardInterrupt

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = fit(X, y, C=100, approx=0.5, callbacks=[interrupt])
    except KeyboardInterrupt:
        return
    assert model.status_ is Status.INTERRUPTED
    assert len(events) <= 3


def test_warm_start_goes_on_from_the_last_model(rng: np.random.Generator) -> None:
    X, y = hard_case(rng)
    model = fit(X, y, C=100, tol=1e-6, warm_start=True)
    objective, cuts = model.objective_, model.n_iter_
    model.fit(X, y)
    assert model.objective_ <= objective
    assert model.history_[0].objective == pytest.approx(objective, rel=1e-12)
    cold = fit(X, y, C=130, tol=1e-6)
    model.set_params(C=130).fit(X, y)
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-6)
    assert model.history_[0].objective < cold.history_[0].objective
    model.fit(X[:, :3], y)  # of another shape: a cold start
    assert model.coef_.shape == (1, 3)
    assert cuts > 3


# --- hard constraints ------------------------------------------------


def held(X: np.ndarray, y: np.ndarray, C: float, share: float, tol: float) -> tuple[np.ndarray, bool]:
    """Rows that approx holds by constraints, from the definition; and whether rounding decides which."""
    first = fit(X, y, loss="hinge", C=C, tol=tol)
    margin = np.where(y == 1, 1, -1) * first.decision_function(X)
    easy = np.flatnonzero(margin >= 1.0 - 1e-9)
    easy = easy[np.argsort(-margin[easy], kind="stable")]
    count = round(share * len(easy))
    torn = 0 < count < len(easy) and margin[easy[count - 1]] - margin[easy[count]] < 1e-9
    torn = torn or bool(np.any((margin < 1.0 - 1e-9) & (margin > 1.0 - 1e-8)))
    return easy[:count], torn


def approx_case(rng: np.random.Generator, n: int = 24) -> tuple[np.ndarray, np.ndarray]:
    y = (np.arange(n) % 3 == 0).astype(int)
    return rng.normal(size=(n, 3)) + 1.2 * y[:, None], y


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_approx_equals_an_independent_solver(rng: np.random.Generator, share: float) -> None:
    compared = 0
    for _ in range(40):
        X, y = approx_case(rng, int(rng.integers(8, 16)))
        C = float(rng.choice([1.0, 10.0, 300.0]))
        kept, torn = held(X, y, C, share, 1e-7)
        rest = np.setdiff1d(np.arange(len(y)), kept)
        binding = 0 < y[kept].sum() < len(kept)
        if torn or not 0 < y[rest].sum() < len(rest) or len(rest) > 7:
            continue
        hard = {}
        if binding:
            i, j = np.meshgrid(kept[y[kept] == 1], kept[y[kept] == 0])
            hard = {"A": X[j.ravel()] - X[i.ravel()], "b": np.full(i.size, -2.0)}
        optimum = exact_ranking(X, y, [rest], "ap", C, **hard)
        model = fit(X, y, C=C, approx=share, tol=1e-7)
        assert model.status_ is Status.CONVERGED
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
        assert model.dual_objective_ <= optimum * (1 + 1e-7)
        if binding:
            assert np.min(-hard["A"] @ model.coef_[0]) >= 2 - 1e-7
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_approx_converges_and_keeps_easy_samples_right(
    rng: np.random.Generator, C: float, tol: float
) -> None:
    for n, d in [(18, 5), (41, 5), (150, 2), (300, 10)]:
        for _ in range(6):
            y = (rng.random(n) < 0.3).astype(int)
            y[:2] = 0, 1
            X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
            for share in (0.4, 1.0):
                model = fit(X, y, C=C, approx=share, tol=tol)
                assert model.status_ is Status.CONVERGED
                assert np.isfinite(model.intercept_[0])
                (easy, torn), z = held(X, y, C, share, tol), X @ model.coef_[0]
                if torn:
                    continue
                if 0 < y[easy].sum() < len(easy):
                    assert z[easy][y[easy] == 1].min() - z[easy][y[easy] == 0].max() >= 2 - 1e-6
                # … and with intercept_ each one is right by at least 1.
                right = np.where(y == 1, 1, -1)[easy] * (z[easy] + model.intercept_[0])
                assert np.all(right >= 1 - 1e-6)


def test_approx_with_nothing_hard_is_the_largest_margin(rng: np.random.Generator) -> None:
    """All samples easy: R = 0, and what is left is min ½‖w‖² subject to the constraints."""
    X, y = approx_case(rng)
    X = X + 6.0 * y[:, None]
    model = fit(X, y, C=1e4, approx=1.0, tol=1e-7)
    assert model.status_ is Status.CONVERGED
    i, j = np.meshgrid(np.flatnonzero(y == 1), np.flatnonzero(y == 0))
    _, optimum = quadratic_program(np.eye(3), np.zeros(3), X[j.ravel()] - X[i.ravel()], np.full(i.size, -2.0))
    kept, _ = held(X, y, 1e4, 1.0, 1e-7)
    if len(kept) == len(y):
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert np.all(model.predict(X) == y)


@pytest.mark.parametrize("easy_class", [0, 1])
def test_approx_with_easy_samples_of_one_class(easy_class: int) -> None:
    """Two samples of the other class lie among them: all of that class is hard, R = 0, w = 0."""
    rng = np.random.default_rng(23)
    X, y = (
        np.concatenate((rng.normal(size=(16, 5)), 0.1 * rng.normal(size=(2, 5)))),
        np.array([0] * 16 + [1] * 2),
    )
    y = y if easy_class == 0 else 1 - y
    for C in (1e-3, 0.1, 1.0):
        model = fit(X, y, C=C, approx=1.0)
        assert model.status_ is Status.CONVERGED
        assert np.isfinite(model.intercept_[0])
        assert model.objective_ <= C


def test_approx_with_several_classes_and_queries(rng: np.random.Generator) -> None:
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 4)) + 1.5 * np.eye(4)[y]
    qid = np.repeat(np.arange(4), 30)
    together = fit(X, y, C=20, approx=0.6, tol=1e-6, qid=qid)
    for k in range(3):
        alone = fit(X, y == k, C=20, approx=0.6, tol=1e-6, qid=qid)
        # stage 1 ends somewhere within tol, so samples at the border may change sides
        assert together.objective_[k] == pytest.approx(alone.objective_, rel=1e-2)
        assert together.status_[k] is Status.CONVERGED


def test_approx_averages_over_all_lists(rng: np.random.Generator) -> None:
    """… also those whose hard samples are all of one kind, where R = 0."""
    compared = 0
    for _ in range(60):
        X, y = approx_case(rng, 18)
        qid, C = np.repeat([0, 1, 2], 6), 30.0
        first = fit(X, y, loss="hinge", C=C, tol=1e-7, qid=qid)
        margin = np.where(y == 1, 1, -1) * first.decision_function(X)
        if np.any(np.abs(margin - 1.0) < 1e-8) and np.any(
            (np.abs(margin - 1.0) < 1e-6) & (margin < 1.0 - 1e-9)
        ):
            continue
        kept = np.flatnonzero(margin >= 1.0 - 1e-9)
        rest = [np.setdiff1d(np.flatnonzero(qid == q), kept) for q in range(3)]
        lists = [rows for rows in rest if 0 < y[rows].sum() < len(rows)]
        if not 0 < len(lists) < 3:
            continue
        i, j = np.meshgrid(kept[y[kept] == 1], kept[y[kept] == 0])
        hard = {"A": X[j.ravel()] - X[i.ravel()], "b": np.full(i.size, -2.0)} if i.size else {}
        optimum = exact_ranking(X, y, lists, "ap", C * len(lists) / 3, **hard)
        model = fit(X, y, C=C, approx=1.0, tol=1e-7, qid=qid)
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
        compared += 1
    assert compared >= 3


def test_contradicting_constraints_are_reported() -> None:
    from rankcut.solvers.bundle import Bundle

    bundle = Bundle(1.0, np.zeros(2))
    bundle.begin(1.0, 1.0, np.array([1.0, 0.0]))
    bundle.tell_hard(1.0, np.array([1.0, 0.0]))  # w_1 ≤ −1
    bundle.tell_hard(1.0, np.array([-1.0, 0.0]))  # w_1 ≥ 1
    assert bundle.ask() is None
    assert bundle.status is Status.INFEASIBLE
    assert "approx" in str(bundle.status)


def test_solution_is_typed(rng: np.random.Generator) -> None:
    found = minimise(MaxOfPlanes(rng, 5, 2, True), n_features=2)
    assert isinstance(found, Solution)
    assert found.gap <= 1e-3
    assert len(found.history) >= 1
