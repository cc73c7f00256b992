"""Lockstep paths: every problem of a random grid comes out as if it had been solved alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from rankcut import RankSVM, RankSVMCV, losses, metrics
from rankcut.data.lists import Lists
from rankcut.designs import make_design
from rankcut.models import LinearRisk
from rankcut.solvers import Problem, Status, minimise_together, together
from rankcut.solvers.bundle import Bundle
from rankcut.solvers.together import footprint


@pytest.fixture(autouse=True, scope="module")
def threads_for_few_rows() -> Iterator[None]:
    """The problems here go to threads as large ones do, which is not worth it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(together, "WORTH_A_POOL", 0)
        yield


class Point(NamedTuple):
    """Where a problem ended at one C."""

    objective: float
    dual_objective: float
    gap: float
    w: np.ndarray


class Ends:
    """A callback that notes where each problem ended at each C: cuts are counted anew for each."""

    def __init__(self) -> None:
        self.paths: dict[int, list[Point]] = {}

    def __call__(self, event: Any) -> None:
        path = self.paths.setdefault(event.problem, [])
        if event.n_iter == 0 or not path:
            path.append(Point(0, 0, 0, np.empty(0)))
        record = event.record
        path[-1] = Point(record.objective, record.dual_objective, record.gap, event.w.copy())


@dataclass
class Grid:
    """Data, folds and settings drawn at random."""

    X: Any
    dense: np.ndarray
    y: np.ndarray
    relevant: np.ndarray  # (K, n)
    qid: np.ndarray | None
    splits: list[tuple[np.ndarray, np.ndarray]]
    settings: list[dict[str, Any]]
    Cs: list[float]
    fit_intercept: bool
    tol: float

    def model(self, **options: Any) -> RankSVMCV:
        grid: dict[str, list[Any]] = {}
        for params in self.settings:
            for name, value in params.items():
                grid.setdefault(name, [])
                if value not in grid[name]:
                    grid[name].append(value)
        defaults: dict[str, Any] = {"tol": self.tol, "n_jobs": 2, "fit_intercept": self.fit_intercept}
        return RankSVMCV(self.Cs, cv=self.splits, loss_grid=grid, **{**defaults, **options})

    def fit(self, **options: Any) -> RankSVMCV:
        return self.model(**options).fit(self.X, self.y, qid=self.qid)

    def part(self, rows: np.ndarray) -> Any:
        return None if self.qid is None else self.qid[rows]


LOSS_SETTINGS = [
    [{"loss": "ap"}],
    [{"loss": "hinge"}],
    [{"loss": "ndcg"}, {"loss": "auc"}],
    [{"loss": "ap", "oracle": "greedy"}, {"loss": "ap", "oracle": "select"}],
    [{"loss": "hinge", "positive_weight": 0.5}, {"loss": "hinge", "positive_weight": 4.0}],
    [{"loss": "mrr"}, {"loss": "precision@3"}, {"loss": "hinge"}],
]


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_splits = draw(st.integers(2, 4))
    kind = draw(st.sampled_from(["binary", "multiclass", "indicator"]))
    K = (
        1
        if kind == "binary"
        else draw(st.integers(3, 4))
        if kind == "multiclass"
        else draw(st.integers(2, 3))
    )
    with_qid = draw(st.booleans())
    n = draw(st.integers(12 * n_splits, 120))
    d = draw(st.integers(1, 12))
    dense = rng.normal(size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    dense[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.7]))] = 0.0
    truth = dense @ rng.normal(size=(d, K)) + rng.normal(size=(n, K))
    if kind == "binary":
        y = (truth[:, 0] > np.quantile(truth, draw(st.sampled_from([0.5, 0.8])))).astype(int)
    elif kind == "multiclass":
        y = truth.argmax(axis=1)
    else:
        y = (truth > np.quantile(truth, 0.6, axis=0)).astype(int)
    fold = rng.permutation(np.arange(n) % n_splits)
    # both kinds of rows, of every class, in every fold
    for part in range(n_splits):
        rows = rng.permutation(np.flatnonzero(fold == part))
        if kind == "indicator":
            y[rows[:2]] = [[1] * K, [0] * K]
        else:
            y[rows[: max(2, K)]] = np.arange(max(2, K))
    qid = None
    if with_qid:
        qid = rng.integers(0, 3, size=n) * n_splits + fold  # queries within folds
    relevant = y.T > 0 if kind == "indicator" else (y == np.arange(K)[:, None] if K > 1 else y[None] == 1)
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    dense = dense.astype(dtype)
    form = draw(st.sampled_from(["C", "F", "csr", "csc"]))
    X: Any = {"C": np.ascontiguousarray, "F": np.asfortranarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}[
        form
    ](dense)
    splits = [(np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(n_splits)]
    if draw(st.booleans()):  # splits need neither cover all rows nor be disjoint from one another
        splits = [(a, b) for a, b in splits[: max(1, n_splits - 1)]]
    Cs = draw(st.lists(st.sampled_from([0.01, 0.3, 1.0, 10.0, 300.0]), min_size=1, max_size=3, unique=True))
    return Grid(
        X,
        dense.astype(np.float64),
        y,
        relevant,
        qid,
        splits,
        draw(st.sampled_from(LOSS_SETTINGS)),
        sorted(Cs),
        draw(st.booleans()),
        draw(st.sampled_from([1e-3, 1e-5])),
    )


def rankable(relevant: np.ndarray, qid: Any) -> bool:
    """Whether some list has both kinds of rows."""
    lists = [np.arange(len(relevant))] if qid is None else [np.flatnonzero(qid == q) for q in np.unique(qid)]
    return any(0 < relevant[rows].sum() < len(rows) for rows in lists)


def risk(grid: Grid, params: dict[str, Any], k: int, rows: np.ndarray, w: np.ndarray) -> float:
    options = {name: value for name, value in params.items() if name != "loss"}
    if params["loss"] == "hinge":
        options["shifted"] = grid.fit_intercept
    loss = losses.get(params["loss"], **options)
    return loss.most_violated(grid.dense[rows] @ w, grid.relevant[k][rows], grid.part(rows)).value


@pytest.mark.filterwarnings("ignore:qid. .* lists have no relevant row:UserWarning")
@settings(max_examples=40)
@given(grids())
def test_every_problem_equals_its_separate_fit(grid: Grid) -> None:
    K, n = grid.relevant.shape
    parts = [np.arange(n)] + [train for train, _ in grid.splits]  # in the order of the problems
    assume(all(rankable(grid.relevant[k][rows], grid.part(rows)) for rows in parts for k in range(K)))
    ends = Ends()
    model = grid.fit(callbacks=[ends])
    candidates = [{k: v for k, v in p.items() if k != "C"} for p in model.cv_results_["params"]]
    settings_ = candidates[:: len(grid.Cs)]
    assert len(ends.paths) == len(settings_) * len(parts) * K
    order = itertools.product(enumerate(parts, -1), enumerate(settings_), range(K))
    for problem, ((fold, rows), (number, params), k) in enumerate(order):
        assert len(ends.paths[problem]) == len(grid.Cs)
        for place, (C, point) in enumerate(zip(grid.Cs, ends.paths[problem], strict=True)):
            note(f"{params}, fold {fold}, ranker {k}, C={C}")
            alone = RankSVM(C, tol=grid.tol, n_jobs=1, fit_intercept=grid.fit_intercept, **params)
            alone.fit(grid.X[rows], grid.relevant[k][rows].astype(int), qid=grid.part(rows))
            by_hand = 0.5 * point.w @ point.w + C * risk(grid, params, k, rows, point.w)
            assert point.gap <= grid.tol
            assert point.objective == pytest.approx(by_hand, rel=1e-8, abs=1e-9)
            # each is above the other's proven lower bound, and so within the tolerance of it
            slack = 1e-6 * abs(alone.objective_) + 1e-12
            assert point.objective >= alone.dual_objective_ - slack
            assert alone.objective_ >= point.dual_objective - slack
            # ½‖w − w*‖² is at most the absolute gap, of either
            apart = np.linalg.norm(point.w - alone.coef_[0])
            far = np.sqrt(2 * point.gap * point.objective)
            far += np.sqrt(2 * alone.dual_gap_ * alone.objective_)
            assert apart <= far * (1 + 1e-3) + 1e-5
            candidate = number * len(grid.Cs) + place
            if fold < 0:  # the full data
                np.testing.assert_array_equal(model.coef_path_[candidate, k], point.w)
            else:
                check_score(grid, model.cv_scores_[candidate, fold, k], k, fold, point.w)


def check_score(grid: Grid, score: float, k: int, fold: int, w: np.ndarray) -> None:
    """The fold's score is the measure of exactly the model that was found there."""
    test = grid.splits[fold][1]
    relevant, qid = grid.relevant[k][test], grid.part(test)
    if not rankable(relevant, qid):
        assert np.isnan(score)
        return
    scores = grid.dense[test] @ w
    # rounding may part or join scores that are equal but for it: accept what lies between
    jitter = 1e-5 * np.abs(scores).max()
    low = metrics.average_precision(relevant, scores - jitter * relevant, qid)
    high = metrics.average_precision(relevant, scores + jitter * relevant, qid)
    assert min(low, high) - 1e-9 <= score <= max(low, high) + 1e-9


@pytest.mark.filterwarnings("ignore:qid. .* lists have no relevant row:UserWarning")
@settings(max_examples=15)
@given(grids(), st.integers(1, 3))
def test_problems_in_groups_reach_the_same(grid: Grid, at_once: int) -> None:
    """max_memory only decides how many problems advance together."""
    K, n = grid.relevant.shape
    parts = [train for train, _ in grid.splits] + [np.arange(n)]
    assume(all(rankable(grid.relevant[k][rows], grid.part(rows)) for rows in parts for k in range(K)))
    together, grouped = Ends(), Ends()
    first = grid.fit(callbacks=[together])
    second = grid.fit(callbacks=[grouped], max_memory=at_once * footprint(make_design(grid.X, n_threads=1)))
    assert first.cv_results_["params"] == second.cv_results_["params"]
    assert together.paths.keys() == grouped.paths.keys()
    for problem, path in together.paths.items():
        for a, b in zip(path, grouped.paths[problem], strict=True):
            assert a.objective >= b.dual_objective - 1e-9 * abs(b.objective)
            assert b.objective >= a.dual_objective - 1e-9 * abs(a.objective)
            assert max(a.gap, b.gap) <= grid.tol


@settings(max_examples=10)
@given(grids())
@pytest.mark.filterwarnings("ignore:qid. .* lists have no relevant row:UserWarning")
def test_threads_do_not_matter(grid: Grid) -> None:
    K, n = grid.relevant.shape
    parts = [train for train, _ in grid.splits] + [np.arange(n)]
    assume(all(rankable(grid.relevant[k][rows], grid.part(rows)) for rows in parts for k in range(K)))
    first, *others = [grid.fit(n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in others:
        np.testing.assert_array_equal(first.coef_path_, other.coef_path_)
        np.testing.assert_array_equal(first.cv_scores_, other.cv_scores_)
        np.testing.assert_array_equal(first.intercept_, other.intercept_)
        assert first.n_passes_ == other.n_passes_


@pytest.mark.parametrize("loss", ["ap", "auc", "hinge", "precision@3"])
def test_what_a_line_search_found_is_what_would_be_computed_again(
    rng: np.random.Generator, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search leaves its last weights to the cut and to the next line, if they are of the right point."""
    leave = LinearRisk.leave
    cuts, starts, again = [0], [0], [0]

    def weights(risk: Any, line: Any, t: float) -> tuple[float, np.ndarray]:
        z = np.ascontiguousarray(line.origin + t * line.direction)
        alpha = np.empty(len(z))
        return risk._risk.evaluate(z, alpha), alpha

    def checked(self: Any, line: Any, best: float, cut: float) -> Any:
        found = leave(self, line, best, cut)
        if found is None:
            again[0] += 1
        else:
            cuts[0] += 1
            offset, alpha = weights(self, line, cut)
            assert found[0] == pytest.approx(offset, rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(found[1], self._lists.scatter(alpha), rtol=1e-9, atol=1e-12)
        if self._start_known:
            starts[0] += 1
            kept = np.empty(len(line.origin))
            offset, alpha = weights(self, line, best)
            assert self._risk.last(kept) == pytest.approx(offset, rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(kept, alpha, rtol=1e-9, atol=1e-12)
        return found

    def line(self: Any, start: Any, direction: Any) -> Any:
        made = plain(self, start, direction)
        made.origin, made.direction = (
            start[: self._size].copy(),
            direction[: self._size].copy(),
        )  # the solver's change
        return made

    plain = LinearRisk.line
    monkeypatch.setattr(LinearRisk, "line", line)
    monkeypatch.setattr(LinearRisk, "leave", checked)
    fits = []
    for C in (1.0, 10.0, 100.0, 1e3, 1e4):
        X = rng.normal(size=(300, 8))
        y = (X @ rng.normal(size=8) + 2 * rng.normal(size=300) > 2).astype(int)
        fits.append((X, y, RankSVM(C, loss=loss, tol=1e-5).fit(X, y)))
    assert cuts[0] > 5
    assert again[0] > 5 or loss == "precision@3"
    assert starts[0] > 5 or loss == "precision@3"
    monkeypatch.setattr(LinearRisk, "leave", lambda *_: None)
    for X, y, model in fits:
        plainly = RankSVM(model.C, loss=loss, tol=1e-5).fit(X, y)
        assert model.objective_ == pytest.approx(plainly.objective_, rel=2e-5)
        assert model.status_ is plainly.status_ is Status.CONVERGED


# --- the driver itself, on a risk that needs no data ----------------------------------------------------------


class Distance:
    """R(z) = mean |z_i − target_i|, the simplest risk that has kinks."""

    def __init__(self, target: np.ndarray) -> None:
        self.target = target

    def prepare(self, raw: np.ndarray) -> np.ndarray:
        return raw.copy()

    def line(self, start: np.ndarray, step: np.ndarray) -> Any:
        risk = self

        class Line:
            limit = float("inf")

            def __call__(self, t: float) -> tuple[float, float]:
                off = start + t * step - risk.target
                return float(np.abs(off).mean()), float(np.sign(off) @ step / len(off))

        return Line()

    def cut(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        weights = np.sign(point - self.target) / len(point)
        return float(-weights @ self.target), weights

    def hard_cuts(self, point: np.ndarray) -> list[Any]:
        return []

    def curvature(self, point: np.ndarray, weights: np.ndarray) -> Any:
        n = len(point)
        return np.arange(n), np.ones(n) / n, np.empty((0, n)), np.empty(0)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_problems=st.integers(1, 6),
    lengths=st.lists(st.integers(1, 4), min_size=6, max_size=6),
    at_once=st.sampled_from([None, 1, 2, 5]),
    n_threads=st.integers(1, 3),
    rising=st.booleans(),
)
def test_driver_solves_paths_of_any_length_in_any_order(
    seed: int, n_problems: int, lengths: list[int], at_once: int | None, n_threads: int, rising: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    targets = rng.normal(size=(n_problems, 30))
    paths = [sorted(10 ** rng.uniform(-2, 3, size=lengths[i]), reverse=not rising) for i in range(n_problems)]
    problems = [Problem(Distance(target), path) for target, path in zip(targets, paths, strict=True)]
    seen = []
    results = minimise_together(
        make_design(X, n_threads=n_threads),
        problems,
        tol=1e-4,
        at_once=at_once,
        solved=lambda i, place, solution, raw: seen.append((i, place, solution, raw.copy())),
    )
    assert [len(path) for path in results] == [len(path) for path in paths]
    assert sorted(entry[:2] for entry in seen) == [
        (i, p) for i in range(n_problems) for p in range(lengths[i])
    ]
    for i, place, solution, raw in seen:
        assert solution is results[i][place]
        np.testing.assert_allclose(raw, X @ solution.w, atol=1e-7 * (1 + np.abs(raw).max()))
        assert solution.status is Status.CONVERGED
        C = paths[i][place]
        by_hand = 0.5 * solution.w @ solution.w + C * np.abs(X @ solution.w - targets[i]).mean()
        assert solution.objective == pytest.approx(by_hand, rel=1e-8)
        (alone,) = minimise_together(
            make_design(X, n_threads=1), [Problem(Distance(targets[i]), [C])], tol=1e-4
        )[0]
        assert solution.objective >= alone.dual_objective - 1e-9
        assert alone.objective >= solution.dual_objective - 1e-9


def test_problems_of_one_kin_share_their_hessians(rng: np.random.Generator) -> None:
    X = rng.normal(size=(6000, 5))
    relevant = X[:, 0] + 3 * rng.normal(size=6000) > 4
    loss = losses.get("ap")

    def solve(kin: int | None) -> tuple[int, list[Any]]:
        design = make_design(X, n_threads=1)
        taken = []
        design._moments = lambda *given: taken.append(1) or type(design)._moments(design, *given)  # type: ignore[method-assign]
        masks = [np.arange(6000) % 4 != fold for fold in range(4)]
        lists = [Lists.build(relevant, None, mask) for mask in masks]
        problems = [
            Problem(LinearRisk(each, loss.bind(each), loss.sees), [10.0, 100.0], kin=kin) for each in lists
        ]
        solutions = [solution for path in minimise_together(design, problems) for solution in path]
        return len(taken), solutions

    (few, shared), (many, alone) = solve(0), solve(None)
    assert 0 < few < many
    for one, other in zip(shared, alone, strict=True):
        assert one.status is other.status is Status.CONVERGED
        assert one.dual_objective <= other.objective * (1 + 1e-12)
        assert other.dual_objective <= one.objective * (1 + 1e-12)


def test_scores_stay_those_of_w_however_far_beyond_the_points_the_best_lies(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step takes errors of the scores along, and a long one multiplies them."""
    ask = Bundle.ask

    def timid(self: Bundle) -> np.ndarray | None:
        point = ask(self)
        if point is not None:
            self._next = self.w + 0.004 * (point - self.w)
        return None if point is None else self._next

    monkeypatch.setattr(Bundle, "ask", timid)
    X = rng.normal(size=(200, 30))
    lists = Lists.build(X[:, 0] + rng.normal(size=200) > 1, None)
    loss = losses.get("ap")
    moved = []
    search = Bundle.search
    monkeypatch.setattr(
        Bundle, "search", lambda self, *given: (search(self, *given), moved.append(self.moved))[0]
    )
    ends: list[tuple[np.ndarray, np.ndarray]] = []
    minimise_together(
        make_design(X, n_threads=1),
        [Problem(LinearRisk(lists, loss.bind(lists), loss.sees), [1000.0])],
        max_iter=60,
        solved=lambda _problem, _place, solution, point: ends.append((solution.w, point.copy())),
    )
    [(w, scores)] = ends
    assert sum(t > 4 for t in moved) > 5
    np.testing.assert_allclose(scores, (X @ w)[lists.order], rtol=0, atol=1e-10 * np.abs(scores).max())
