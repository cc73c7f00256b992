"""How a solve can end, and hard constraints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers.exact import (
    TIGHT,
    MaxOfPlanes,
    exact_ranking,
    fit,
    quadratic_program,
    tiny,
)

from rankcut import BagRankSVM, Bags, ConvergenceWarning, Graph, GraphRankSVM, LatentAPBaseline, losses
from rankcut.solvers import Solution, Status, minimise


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


def test_an_interrupt_before_any_risk_is_known_is_passed_on() -> None:
    def risk(w: np.ndarray) -> tuple[float, np.ndarray]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimise(risk, n_features=2)


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


@pytest.mark.parametrize("kind", ["bags", "published", "graph"])
def test_an_interrupt_while_the_start_is_found_ends_the_fit(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The rankers of bags begin with one of the mean instances; one Ctrl-C there is enough."""
    from rankcut.designs.dense import DenseDesign

    X, y = (part[:80] for part in hard_case(rng))  # an inference of the published method takes its time
    bags = Bags(X, np.arange(80) // 2)
    passes, pull = [0], DenseDesign.scores

    def scores(self: Any, W: Any) -> Any:
        passes[0] += 1
        if passes[0] == 2:
            raise KeyboardInterrupt
        return pull(self, W)

    model: Any = {
        "bags": BagRankSVM(C=100, init="mean"),
        "published": LatentAPBaseline(C=100, init="mean"),
        "graph": GraphRankSVM(C=100),
    }[kind]
    monkeypatch.setattr(DenseDesign, "scores", scores)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(Graph(bags, [(0, 1)]) if kind == "graph" else bags, y[::2])
    assert model.status_ is Status.INTERRUPTED
    assert model.n_iter_ <= 2
    assert np.isfinite(model.objective_)


def test_an_interrupt_of_one_ranker_ends_those_after_it(rng: np.random.Generator) -> None:
    X, _ = hard_case(rng)
    events: list[Any] = []

    def interrupt(event: Any) -> None:
        events.append(event)
        if len(events) == 2:
            raise KeyboardInterrupt

    model = LatentAPBaseline(C=100, n_init=2, random_state=0, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X[:60], np.arange(60) % 3)
    assert len(events) == 2
    assert set(model.status_) == {Status.INTERRUPTED}
    assert model.coef_.shape == (3, X.shape[1])


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
    for _ in range(120):
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
