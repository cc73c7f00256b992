"""Many problems on the same rows, in lockstep: each pass over X is one matrix product for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankcut.solvers.bundle import Bundle
from rankcut.solvers.minimise import solution
from rankcut.solvers.protocol import Curvature, Floats, RawRisk
from rankcut.solvers.solution import Record, Solution, Status

WIDEST_METRIC = 2048  # columns: a Hessian takes d² numbers and d³ operations
USUAL_SHARE = 0.3  # of the rows that bend the risk, before it is known


class SharedDesign(Protocol):
    """What the solver needs of a design (rankcut.designs)."""

    n_rows: int
    n_columns: int
    n_threads: int

    @property
    def passes(self) -> tuple[float, float]: ...
    def scores(self, W: Floats, /) -> Floats: ...
    def pull(self, A: Floats, /) -> Floats: ...
    def rows(self, index: NDArray[np.intp], /) -> Floats: ...
    def gram(self, weights: Floats, /) -> Floats: ...


@dataclass(frozen=True)
class Problem:
    """½‖w‖² + C·R(X w), and where to start (zero if None; it has to satisfy the hard constraints)."""

    risk: RawRisk
    C: float
    start: Floats | None = None


class Event(NamedTuple):
    """What callbacks get after each iteration of each problem. Do not change `w` in place."""

    problem: int
    n_iter: int
    record: Record
    w: Floats


class _Run:
    """One problem under way: its solver and the prepared raw numbers at the solver's best point."""

    def __init__(self, number: int, problem: Problem, design: SharedDesign, tol: float, max_iter: int) -> None:
        self.number, self.risk, self.design = number, problem.risk, design
        self.started = problem.start is not None and bool(np.any(problem.start))
        start = np.zeros(design.n_columns) if problem.start is None else problem.start
        self.bundle = Bundle(
            problem.C, start, tol=tol, max_iter=max_iter, metric=design.n_columns <= WIDEST_METRIC
        )
        self.history: list[Record] = []
        self.best: Any = None
        self._weights: Floats | None = None
        self._place: Any = None

    def begin(self, raw: Floats) -> Floats:
        """Take the raw numbers at the start; returns the weights of the first cut."""
        self.best = self.risk.prepare(raw)
        risk, _ = self.risk.line(self.best, self.best)(0.0)
        self.bundle.risk = risk
        return self._cut_at(self.best)

    def advance(self, raw: Floats) -> Floats:
        """Take the raw numbers at the point asked for; returns the weights of the next cut."""
        target = self.risk.prepare(raw)
        for hard in self.risk.hard_cuts(target):
            self.bundle.tell_hard(hard.offset, hard.weights @ self.design.rows(hard.rows))
        step = target
        step -= self.best
        t = self.bundle.search(self.risk.line(self.best, step))
        weights = self._cut_at(self.best + t * step)
        if self.bundle.moved > 0:
            step *= self.bundle.moved
            self.best += step
        return weights

    def tell(self, gradient: Floats, sharing: int) -> None:
        self.bundle.tell(self._offset, gradient)
        cost = self._metric_cost(USUAL_SHARE, sharing)
        if self.started and self.bundle.wants_curvature(cost):
            assert self._weights is not None and self.bundle.metric is not None
            curvature = Curvature(*self.risk.curvature(self._place, self._weights))
            share = np.count_nonzero(curvature.weights) / self.design.n_rows
            self.bundle.metric.refresh(_hessian(self.design, curvature), self._metric_cost(share, sharing))
        self.started = True  # at w = 0 all scores are tied, and there is no slope to see
        self._weights = self._place = None

    def note(self, began: float) -> Record:
        bundle = self.bundle
        passes = self.design.passes
        record = Record(
            bundle.objective, bundle.dual_objective, bundle.gap, *passes, time.perf_counter() - began
        )
        self.history.append(record)
        return record

    def _cut_at(self, place: Any) -> Floats:
        self._offset, weights = self.risk.cut(place)
        self._place, self._weights = place, weights
        return weights

    def _metric_cost(self, share: float, sharing: int) -> float:
        """A Hessian's price in iterations. Its n d² multiplications run at about ten times the rate of a
        pass's for one problem; passes that several problems share are cheaper for each."""
        n, d = self.design.n_rows, self.design.n_columns
        return (share * d / 40 + d * d / (60 * n)) * min(sharing, 8)


def minimise_together(
    design: SharedDesign,
    problems: Sequence[Problem],
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    callbacks: Iterable[Callable[[Event], Any]] = (),
) -> list[tuple[Solution, Any]]:
    """Solve all problems; each returns with the prepared raw numbers at its best point.

    Results do not depend on the number of threads. Ctrl-C, or a callback that answers true, ends the solve
    with the best points so far.
    """
    began = time.perf_counter()
    runs = [_Run(i, p, design, tol, max_iter) for i, p in enumerate(problems)]
    active = list(runs)
    callbacks = list(callbacks)
    with ThreadPoolExecutor(max_workers=design.n_threads) as pool:
        try:
            _begin(design, runs, pool)
            while active:
                wanted = _each(pool, active, lambda run, _: run.bundle.ask(), active)
                stop = _report(active, began, callbacks)
                active = [run for run in active if run.bundle.status is None]
                if stop or not active:
                    break
                raw = design.scores(np.stack([w for w in wanted if w is not None]))
                weights = _each(pool, active, _Run.advance, raw)
                del raw
                _tell(design, active, weights, pool)
        except KeyboardInterrupt:
            pass
    return [(solution(run.bundle, design.passes, run.history), run.best) for run in runs]


def _begin(design: SharedDesign, runs: list[_Run], pool: ThreadPoolExecutor) -> None:
    if any(run.started for run in runs):
        raw: Iterable[Floats] = design.scores(np.stack([run.bundle.w for run in runs]))
    else:  # no pass is needed to know the scores of w = 0
        raw = (np.zeros(design.n_rows) for _ in runs)
    _tell(design, runs, _each(pool, runs, _Run.begin, raw), pool)


def _tell(design: SharedDesign, runs: list[_Run], weights: list[Floats], pool: ThreadPoolExecutor) -> None:
    gradients = design.pull(weights[0][None] if len(weights) == 1 else np.stack(weights))
    sharing = len(runs)
    _each(pool, runs, lambda run, gradient: run.tell(gradient, sharing), gradients)


def _each(pool: ThreadPoolExecutor, runs: list[_Run], work: Callable[[_Run, Any], Any], values: Any) -> list[Any]:
    if len(runs) == 1:
        return [work(run, value) for run, value in zip(runs, values, strict=True)]
    return list(pool.map(work, runs, values))


def _report(active: list[_Run], began: float, callbacks: list[Callable[[Event], Any]]) -> bool:
    """Note the state of each problem and call back; true if a callback wants to stop."""
    stop = False
    for run in active:
        event = Event(run.number, run.bundle.n_iter, run.note(began), run.bundle.w)
        answers = [callback(event) for callback in callbacks]
        stop = stop or any(answers)
    if stop:
        for run in active:
            run.bundle.status = run.bundle.status or Status.INTERRUPTED
    return stop


def _hessian(design: SharedDesign, curvature: Curvature) -> Floats:
    hessian = design.gram(curvature.weights)
    if len(curvature.vectors):
        pulled = design.pull(curvature.vectors)
        hessian += (pulled * curvature.signs[:, None]).T @ pulled
    return hessian
