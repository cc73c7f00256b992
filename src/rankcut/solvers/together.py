"""Many problems on the same rows, in lockstep: each pass over X is one matrix product for all of them.

A problem is a risk and a path of values of C. Its cuts are cuts of the risk, whatever C is: the next C starts
from the last one's best point and keeps the whole model. Problems walk along their paths independently, and
those that have finished make room for others when memory allows only so many at a time.

A risk that freezes (protocol.FreezingRisk) is not convex: its problem goes from round to round (cccp.Rounds) as
others go from C to C, without a pass of its own: it is frozen at the best point, whose scores are known, and its
cuts are shifted by one product with the rows that have changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankcut.solvers.bundle import Bundle
from rankcut.solvers.cccp import Refrozen, Rounds
from rankcut.solvers.metric import NEAREST, Price
from rankcut.solvers.minimise import solution
from rankcut.solvers.protocol import Curvature, Floats, FreezingRisk, KeepingRisk, RawRisk, Shift
from rankcut.solvers.solution import Record, Solution

WIDEST_METRIC = 2048  # columns: a Hessian takes d² numbers and d³ operations
USUAL_SHARE = 0.3  # of the rows that bend the risk, before it is known
WORTH_A_POOL = 4096  # rows: with fewer, handing a problem to a thread costs more than the thread saves
DRIFT = 1e5  # rounding errors that the best point's scores may gather, in units of one
VECTORS = 9  # score vectors that a problem under way holds, kernels' own included


class SharedDesign(Protocol):
    """What the solver needs of a design (rankcut.designs)."""

    n_rows: int
    n_columns: int
    n_threads: int

    @property
    def work(self) -> float: ...
    @property
    def moments_work(self) -> float: ...
    @property
    def passes(self) -> tuple[float, float]: ...
    def scores(self, W: Floats, /) -> Floats: ...
    def pull(self, A: Floats, /) -> Floats: ...
    def rows(self, index: NDArray[np.intp], /) -> Floats: ...
    def pull_rows(self, index: NDArray[np.integer[Any]], A: Floats, /) -> Floats: ...
    def moments(
        self, rows: NDArray[np.integer[Any]], weights: Floats, vectors: Floats, /
    ) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True)
class Problem:
    """½‖w‖² + C·R(X w) for each C of a path, and where to start (zero if None; it has to satisfy the hard
    constraints). The parameters `w[nonpositive]`, if given, are kept at or below 0. Problems of one `kin` differ in
    few rows, as the folds of a cross-validation do: what bends one bends the others, and one Hessian does for all."""

    risk: RawRisk
    path: Sequence[float]
    start: Floats | None = None
    nonpositive: slice | None = None
    kin: int | None = None


class Event(NamedTuple):
    """What callbacks get after each iteration of each problem. Do not change `w` in place."""

    problem: int
    n_iter: int
    record: Record
    w: Floats


# Called at the end of each C: (problem, place on the path, solution, prepared raw numbers at the best point).
# The raw numbers are the solver's own: copy what is to be kept.
Solved = Callable[[int, int, Solution, Any], None]


class _Run:
    """One problem under way: its solver and the prepared raw numbers at the solver's best point."""

    def __init__(
        self,
        number: int,
        problem: Problem,
        design: SharedDesign,
        tol: float,
        max_iter: int,
        max_rounds: int,
    ) -> None:
        self.number, self.risk, self.design = number, problem.risk, design
        self.kin = ("alone", number) if problem.kin is None else ("kin", problem.kin)
        self.path, self.place = list(problem.path), 0
        self.started = problem.start is not None and bool(np.any(problem.start))
        start = np.zeros(design.n_columns) if problem.start is None else problem.start
        self._freezing: FreezingRisk | None = self.risk if hasattr(self.risk, "freeze") else None  # type: ignore[assignment]
        self.bundle = Bundle(
            self.path[0],
            start,
            tol=tol,
            max_iter=max_iter,
            metric=design.n_columns <= WIDEST_METRIC and problem.nonpositive is None,
            nonpositive=problem.nonpositive,
            rounds=self._freezing is not None,
            turns=hasattr(self.risk, "turn"),
            n_seats=self._freezing.n_seats if self._freezing else 0,
        )
        self._keeping: KeepingRisk | None = self.risk if hasattr(self.risk, "leave") else None  # type: ignore[assignment]
        self._rounds = Rounds(self.bundle, self._freeze, max_rounds) if self._freezing else None
        self.history: list[Record] = []
        self.best: Any = None
        self._ahead: Any = None  # prepared raw numbers of the last direction, as long as w = 0
        self._weights: Floats | None = None
        self._seats: Floats | None = None
        self._met: list[tuple[float, Floats]] = []  # cuts found on the last line, beside the one wanted
        self._point: Any = None
        self._share = USUAL_SHARE
        self._sloped = False
        self._drift = 1.0

    def solution(self) -> Solution:
        passes = self.design.passes
        if self._rounds is None:
            return solution(self.bundle, passes, self.history)
        self._rounds.end()
        return solution(self.bundle, passes, self.history, self._rounds.path)

    def next_round(self) -> bool:
        """Freeze a risk that is not convex where its round has ended; false at the end of this C."""
        return self._rounds is not None and self._rounds.go_on()

    def next_C(self) -> bool:
        """Go on to the next C of the path; false at its end."""
        if self.place + 1 == len(self.path):
            return False
        self.bundle.resume(self.path[self.place + 1])
        if self._rounds is not None:
            self._rounds.begin()
        self.history = []
        self.place += 1  # last: an interrupt before it finds a place that is finished
        return True

    def begin(self, raw: Floats) -> Floats:
        """Take the raw numbers at the start; returns the weights of the first cut."""
        self.best = self.risk.prepare(raw)
        if self._freezing is not None and self.started:
            self._freezing.freeze(self.best)
        self.bundle.begin_round(self._risk_at_best())
        if self._rounds is not None:
            self._rounds.begin()
        return self._cut_at(self.best)

    def advance(self, raw: Floats) -> Floats:
        """Take the raw numbers at the point asked for; returns the weights of the next cut."""
        target = self.risk.prepare(raw)
        for hard in self.risk.hard_cuts(target):
            self.bundle.tell_hard(hard.offset, hard.weights @ self.design.rows(hard.rows))
        step = target
        step -= self.best
        line = self.risk.line(self.best, step)
        # Moving to best + t·(target − best) takes 1 − t times the errors of the best scores along: far beyond the
        # target again and again, they would soon be those of no w.
        t = self.bundle.search(line, 1.0 + DRIFT / self._drift)
        self._ahead = None if self.bundle.w.any() else step.copy()
        if self.bundle.moved > 0:  # at once: an interrupt during the cut must find both at the same point
            self.best += self.bundle.moved * step
            self._drift = abs(1.0 - self.bundle.moved) * self._drift + 1.0 + self.bundle.moved
        step *= t - self.bundle.moved  # in place: there may be many problems, and each has as many scores
        step += self.best
        weights = self._cut_at(
            step, self._keeping.leave(line, self.bundle.moved, t) if self._keeping else None
        )
        self._met = [cut for cut in getattr(line, "cuts", list)() if cut[1] is not weights]
        return weights

    def tell_met(self) -> None:
        if not self._met:
            return
        gradients = self.design.pull(np.stack([weights for _, weights in self._met]))
        for (offset, weights), gradient in zip(self._met, gradients, strict=True):
            self.bundle.tell_too(offset, gradient, self._freezing.seats(weights) if self._freezing else None)
        self._met = []

    def weigh(self, weights: Floats) -> None:
        self._weights = weights

    def tell(self, gradient: Floats, sharing: int, relatives: int) -> None:
        self.bundle.tell(self._offset, gradient, self._seats)
        self.bundle.price = self._price(sharing, relatives)
        self._sloped = self.started  # at w = 0 all scores are tied, and there is no slope to see
        self.started = True

    def wants_curvature(self) -> bool:
        return self._sloped and self.bundle.wants_curvature()

    def hessian(self) -> Floats | None:
        """At the last cut. None if so few rows bend the risk that kinks decide: a few planes are not a surface."""
        assert self._weights is not None
        curvature = Curvature(*self.risk.curvature(self._point, self._weights))
        self._share = len(curvature.rows) / self.design.n_rows
        return _hessian(self.design, curvature) if len(curvature.rows) > self.design.n_columns else None

    def bend(self, hessian: Floats | None) -> None:
        assert self.bundle.metric is not None
        if hessian is None:
            self.bundle.metric = None
        else:
            self.bundle.metric.refresh(hessian, self.bundle.price.hessian)

    def leave_point(self) -> None:
        self._weights = self._point = None

    def note(self, began: float) -> Record:
        bundle = self.bundle
        passes = self.design.passes
        record = Record(
            bundle.objective, bundle.dual_objective, bundle.gap, *passes, time.perf_counter() - began
        )
        self.history.append(record)
        return record

    def _freeze(self) -> Refrozen:
        assert self._freezing is not None
        turn = None if self._ahead is None else getattr(self._freezing, "turn", None)
        changed, shift = self._freezing.freeze(self.best) if turn is None else turn(self._ahead)
        move = None if shift is None else lambda seats: _shifted(self.design, shift, seats)
        return Refrozen(self._risk_at_best(), changed, move)

    def _risk_at_best(self) -> float:
        return self.risk.line(self.best, self.best)(0.0)[0]

    def _cut_at(self, point: Any, found: tuple[float, Floats] | None = None) -> Floats:
        self._offset, weights = found or self.risk.cut(point)
        self._point, self._weights = point, weights
        self._seats = self._freezing.seats(weights) if self._freezing else None
        return weights

    def _price(self, sharing: int, relatives: int) -> Price:
        """What the metric costs in iterations, from a model of the time in nanoseconds (of which only ratios
        matter): passes take 0.14 a multiplication, less for each of several problems that share them, the line
        search 100 a row, and an iteration 2.5e5 whatever its size, as does a step; its dense algebra takes 0.05 a
        multiplication, of which there are d³/3 + NEAREST·d², and a Hessian 0.03, once for all relatives."""
        n, d = self.design.n_rows, self.design.n_columns
        plain = 0.14 * self.design.work / min(sharing, 5) + 100.0 * n + 2.5e5
        step = 0.05 * (d / 3 + NEAREST) * d * d + 2.5e5
        return Price(0.03 * self._share * self.design.moments_work / (relatives * plain), step / plain)


def minimise_together(
    design: SharedDesign,
    problems: Sequence[Problem],
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_rounds: int = 100,
    at_once: int | None = None,
    callbacks: Iterable[Callable[[Event], Any]] = (),
    solved: Solved = lambda *_: None,
) -> list[list[Solution]]:
    """Solve all problems for all C of their paths; solutions come by problem and C.

    At most `at_once` problems advance together. Results do not depend on the number of threads. Ctrl-C, or a
    callback that answers true, ends the solve with the best points so far: paths then end early.
    """
    began = time.perf_counter()
    waiting = [_Run(i, p, design, tol, max_iter, max_rounds) for i, p in enumerate(problems)][::-1]
    solutions: list[list[Solution]] = [[] for _ in problems]
    callbacks = list(callbacks)
    active: list[_Run] = []

    def finish(run: _Run) -> None:
        """Hand over the solution, once: an interrupt may come before, during or after the first time."""
        if len(solutions[run.number]) == run.place:
            found = run.solution()
            solved(run.number, run.place, found, run.best)
            solutions[run.number].append(found)

    with ExitStack() as stack:
        pool = None
        if design.n_threads > 1 and design.n_rows >= WORTH_A_POOL:
            pool = stack.enter_context(ThreadPoolExecutor(max_workers=design.n_threads))
        try:
            while waiting or active:
                room = (at_once or len(problems)) - len(active)
                fresh = [waiting.pop() for _ in range(min(room, len(waiting)))]
                if fresh:
                    _begin(design, fresh, pool)
                    active += fresh
                wanted = _ask(active, pool, began, callbacks, finish)
                active = [run for run in active if run.bundle.status is None]
                if wanted is None:
                    break
                if not active:
                    continue
                _tell(design, active, _each(pool, active, _Run.advance, design.scores(wanted)), pool)
        except KeyboardInterrupt:
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)  # nobody is at work on a problem from here on
            if not active and not any(solutions):
                raise  # there is nothing to return yet
            for run in active:
                finish(run)
    return solutions


def footprint(design: SharedDesign) -> float:
    """Bytes that a problem under way may hold: score vectors, and the metric's Hessian."""
    d = design.n_columns
    return 8.0 * (VECTORS * design.n_rows + (d * d if d <= WIDEST_METRIC else 0))


def _ask(
    active: list[_Run],
    pool: ThreadPoolExecutor | None,
    began: float,
    callbacks: list[Callable[[Event], Any]],
    finish: Callable[[_Run], None],
) -> Floats | None:
    """The next points of all problems that have one; those at the end of a C go on to the next first.
    None if a callback wants to stop."""
    points: dict[int, Floats] = {}
    asking = active
    stop = False
    while asking:
        answers = _each(pool, asking, lambda run, _: run.bundle.ask(), asking)
        stop = _report(asking, began, callbacks) or stop
        points.update((run.number, w) for run, w in zip(asking, answers, strict=True) if w is not None)
        ended = [run for run in asking if run.bundle.status is not None]
        if stop:
            for run in active:
                finish(run)
            return None
        again = _each(pool, ended, lambda run, _: run.next_round(), ended)
        asking = [run for run, goes_on in zip(ended, again, strict=True) if goes_on]
        ended = [run for run, goes_on in zip(ended, again, strict=True) if not goes_on]
        for run in ended:
            finish(run)
        asking += [run for run in ended if run.next_C()]
    return (
        np.stack([points[run.number] for run in active if run.number in points])
        if points
        else np.empty((0, 0))
    )


def _begin(design: SharedDesign, runs: list[_Run], pool: ThreadPoolExecutor | None) -> None:
    if any(run.started for run in runs):
        raw: Iterable[Floats] = design.scores(np.stack([run.bundle.w for run in runs]))
    else:  # no pass is needed to know the scores of w = 0
        raw = (np.zeros(design.n_rows) for _ in runs)
    _tell(design, runs, _each(pool, runs, _Run.begin, raw), pool)


def _tell(
    design: SharedDesign, runs: list[_Run], weights: list[Floats], pool: ThreadPoolExecutor | None
) -> None:
    """`weights` are given up: each run keeps its row of the stack."""
    for run in runs:
        run.tell_met()
    stacked = weights[0][None] if len(weights) == 1 else np.stack(weights)
    weights.clear()
    for run, row in zip(runs, stacked, strict=True):
        run.weigh(row)
    gradients = design.pull(stacked)
    sharing, relatives = len(runs), Counter(run.kin for run in runs)
    _each(pool, runs, lambda run, gradient: run.tell(gradient, sharing, relatives[run.kin]), gradients)
    _bend(runs, pool)


def _bend(runs: list[_Run], pool: ThreadPoolExecutor | None) -> None:
    """Give a new Hessian to all who want one: of each kin, the first one's."""
    wanting = [run for run in runs if run.wants_curvature()]
    first: dict[Any, _Run] = {}
    for run in wanting:
        first.setdefault(run.kin, run)
    found = _each(pool, list(first.values()), lambda run, _: run.hessian(), first)
    hessians = dict(zip(first, found, strict=True))
    for run in wanting:
        run.bend(hessians[run.kin])
    for run in runs:
        run.leave_point()


def _each(
    pool: ThreadPoolExecutor | None, runs: list[_Run], work: Callable[[_Run, Any], Any], values: Any
) -> list[Any]:
    if pool is None or len(runs) == 1:
        return [work(run, value) for run, value in zip(runs, values, strict=True)]
    return list(pool.map(work, runs, values))


def _report(active: list[_Run], began: float, callbacks: list[Callable[[Event], Any]]) -> bool:
    """Note the state of each problem and call back; true if a callback wants to stop."""
    stop = False
    for run in active:
        event = Event(run.number, run.bundle.n_iter, run.note(began), run.bundle.w)
        answers = [callback(event) for callback in callbacks]
        stop = stop or any(answers)
    return stop


def _hessian(design: SharedDesign, curvature: Curvature) -> Floats:
    hessian, pulled = design.moments(curvature.rows, curvature.weights, curvature.vectors)
    hessian += (pulled * curvature.signs[:, None]).T @ pulled
    return hessian


def _shifted(design: SharedDesign, shift: Shift | Callable[[Floats], Floats], seats: Floats) -> Floats:
    if callable(shift):
        return design.pull(shift(seats))
    return design.pull_rows(shift.rows, seats[:, shift.seats] * shift.factors)
