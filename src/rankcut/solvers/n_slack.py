"""The n-slack cutting-plane method, as published: a slack and a set of cuts for each part of the risk.

    minimise ½‖w‖² + (C/n) Σ_i R_i(w),   R_i(w) ≥ 0

A pass visits the parts in turn. A cut of part i that is violated by more than ε beyond what its set W_i says
joins W_i, and the problem over all sets is solved anew. ε falls with the violations that passes find, to half of
what the tolerance allows. A pass without a new cut has seen all R_i at one w, which closes the certificate; one
is made on purpose when the violations have become small.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from rankcut import _core
from rankcut.arguments import positive, whole
from rankcut.solvers.protocol import Floats
from rankcut.solvers.solution import Record, Solution, Status

IDLE = 10  # a cut without multiplier for so many passes is dropped
ACCURACY = 0.1  # of C·ε, to which the problem over the sets is solved
SLOW = 0.1  # a period that leaves more than this share of what was lacking is slow
TURNS = 30  # periods of the solve over the sets
FACES = 20  # that one climb may shrink to


class SeparableRisk(Protocol):
    """A mean of convex risks that are never negative."""

    n_parts: int

    @property
    def passes(self) -> float: ...
    def part(self, i: int, w: Floats, /) -> tuple[float, Floats]:
        """The (offset, gradient) of a cut of R_i that is tight at w."""
        ...


class WorkingSets:
    """The cuts of all parts and the dual over them:

    maximise D(μ) = δᵀμ − ½‖Σ μ_k g_k‖²,  μ ≥ 0,  Σ_{k in W_i} μ_k ≤ C/n,   with w = −Σ μ_k g_k.

    What is missing to the optimum splits by parts: part i lacks (C/n) ξ_i − Σ_{k in W_i} μ_k (δ_k + g_k·w).
    The part that lacks most is solved exactly, the others held, again and again.
    """

    def __init__(self, n_parts: int, n_features: int, capacity: float) -> None:
        self._capacity = capacity
        self._gradients = np.empty((64, n_features))
        self._offsets, self._multipliers = np.empty(64), np.zeros(64)
        self._owner, self._idle = np.empty(64, dtype=np.intp), np.zeros(64, dtype=np.intp)
        self.size = 0
        self._members: list[list[int]] = [[] for _ in range(n_parts)]
        self.w = np.zeros(n_features)

    @property
    def dual(self) -> float:
        multipliers = self._multipliers[: self.size]  # alone: an interrupt may find w behind them
        w = multipliers @ self._gradients[: self.size]
        return float(multipliers @ self._offsets[: self.size] - 0.5 * w @ w)

    def slack(self, i: int) -> float:
        """ξ_i: what W_i knows of R_i at w."""
        rows = self._members[i]
        return max(0.0, float(np.max(self._offsets[rows] + self._gradients[rows] @ self.w))) if rows else 0.0

    def add(self, i: int, offset: float, gradient: Floats) -> None:
        k = self.size
        if k == len(self._offsets):
            for name in ("_gradients", "_offsets", "_multipliers", "_owner", "_idle"):
                setattr(self, name, np.concatenate((getattr(self, name), np.zeros_like(getattr(self, name)))))
        self._gradients[k], self._offsets[k], self._owner[k] = gradient, offset, i
        self._multipliers[k], self._idle[k] = 0.0, 0
        self._members[i].append(k)
        self.size += 1

    def solve(self, tolerance: float) -> None:
        """Until no more than `tolerance` is lacking, or for so many turns that rounding must be at work. Parts
        that pull on each other converge slowly one by one: then all multipliers move together."""
        period, last = len(self._members) + 10, np.inf
        for turn in range(1, TURNS * period):
            n = self.size
            values = self._offsets[:n] + self._gradients[:n] @ self.w
            slacks = np.zeros(len(self._members))
            np.maximum.at(slacks, self._owner[:n], values)
            lacking = self._capacity * slacks
            np.subtract.at(lacking, self._owner[:n], self._multipliers[:n] * values)
            total = float(lacking.sum())
            if total <= tolerance:
                return
            if turn % period == 0 and total > SLOW * last:
                self._climb()
            else:
                self._solve_part(int(np.argmax(lacking)), tolerance / len(self._members))
            if turn % period == 1:
                last = total

    def _solve_part(self, i: int, tolerance: float) -> None:
        """The best multipliers of part i, all others held: the small quadratic program of one slack."""
        rows = self._members[i]
        G = self._gradients[rows]
        others = self.w + self._multipliers[rows] @ G
        linear, gram = self._offsets[rows] + G @ others, G @ G.T
        qp = _core.MasterQP(self._capacity)
        qp.add(np.zeros(1), 0.0)  # R_i ≥ 0
        for k in range(len(rows)):
            qp.add(np.concatenate(([0.0], gram[k, : k + 1])), float(linear[k]))
        qp.solve(0.1 * tolerance)
        self._multipliers[rows] = qp.multipliers()[1:]
        self.w = others - self._multipliers[rows] @ G

    def _climb(self) -> None:
        """To the best multipliers of the present face: those that are 0 stay so, and so do full sums. Where one
        reaches 0 or a sum becomes full on the way, the face shrinks."""
        for _ in range(FACES):
            rows = np.flatnonzero(self._multipliers[: self.size])
            if len(rows) == 0:
                return
            owners, group = np.unique(self._owner[rows], return_inverse=True)
            sums = np.bincount(group, self._multipliers[rows])
            full = np.flatnonzero(sums >= self._capacity * (1 - 1e-12))
            fixed = (group == full[:, None]).astype(float)
            G = self._gradients[rows]
            step = _newton(G @ G.T, self._offsets[rows] + G @ self.w, fixed)
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(step < 0, self._multipliers[rows] / -step, np.inf)
                rise = np.bincount(group, step, len(owners))
                rise[full] = 0.0
                space = np.where(rise > 0, (self._capacity - sums) / rise, np.inf)
            length = min(1.0, float(room.min()), float(space.min()))
            moved = np.maximum(self._multipliers[rows] + length * step, 0.0)
            moved[room <= length] = 0.0
            over = np.bincount(group, moved) / self._capacity
            moved /= np.maximum(over, 1.0)[group]  # rounding must not leave the feasible set
            self._multipliers[rows] = moved
            self.w = -(self._multipliers[: self.size] @ self._gradients[: self.size])
            if length == 1.0:
                return

    def end_pass(self) -> None:
        """Drop the cuts that have long had no multiplier; sum w anew, so that rounding does not add up."""
        n = self.size
        self._idle[:n] = np.where(self._multipliers[:n] > 0, 0, self._idle[:n] + 1)
        kept = np.flatnonzero(self._idle[:n] <= IDLE)
        if len(kept) < n:
            for name in ("_gradients", "_offsets", "_multipliers", "_owner", "_idle"):
                array = getattr(self, name)
                array[: len(kept)] = array[kept]
            self.size = len(kept)
            self._members = [[] for _ in self._members]
            for k, i in enumerate(self._owner[: self.size]):
                self._members[i].append(k)
        self.w = -(self._multipliers[: self.size] @ self._gradients[: self.size])


def _newton(gram: Floats, slope: Floats, fixed: Floats) -> Floats:
    """The step to the maximiser of slope·x − ½xᵀKx over fixed·x = 0. A faint ridge turns a flat direction that
    climbs (dependent cuts) into a long step, which the caller cuts."""
    n, m = len(slope), len(fixed)
    scale = float(np.trace(gram)) / n + 1e-300
    system = np.zeros((n + m, n + m))
    system[:n, :n] = gram / scale
    system.flat[: n * (n + m) : n + m + 1] += 1e-12
    system[n:, :n], system[:n, n:] = fixed, fixed.T
    right = np.concatenate((slope / scale, np.zeros(m)))
    return np.asarray(np.linalg.solve(system, right)[:n], dtype=np.float64)


def minimise_parts(
    risk: SeparableRisk,
    C: float,
    start: Floats,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    callbacks: Iterable[Callable[[int, Record, Floats], Any]] = (),
) -> Solution:
    """Until the duality gap is at most `tol` times the objective, or for `max_iter` passes.

    A pass at `start` comes before all others. Records hold the best objective known by then: a pass that adds
    cuts moves w on its way and has none of its own. A callback gets (0, record, w); a true answer stops the solve, as
    Ctrl-C does.
    """
    positive("C", C)
    C = float(C)  # of NumPy's float32 it would make objectives of float32
    positive("tol", tol)
    whole("max_iter", max_iter)
    began, callbacks = time.perf_counter(), list(callbacks)
    sets = WorkingSets(risk.n_parts, len(start), C / risk.n_parts)
    best, mean = np.array(start, dtype=np.float64), _evaluate(risk, start, sets)
    objective = 0.5 * float(best @ best) + C * mean
    epsilon = mean
    history: list[Record] = []
    status: Status | None = None

    def note() -> Record:
        gap = max(0.0, objective - sets.dual) / max(abs(objective), 1e-300)
        record = Record(objective, sets.dual, gap, risk.passes, 0.0, time.perf_counter() - began)
        history.append(record)
        return record

    try:
        while status is None:
            sets.solve(ACCURACY * C * epsilon)
            moved, mean, violation = _pass(risk, sets, C, epsilon)
            if moved and C * violation <= tol * sets.dual:  # close: it is worth to look from one w
                mean, moved = _evaluate(risk, sets.w, sets), False
            value = 0.5 * float(sets.w @ sets.w) + C * mean
            if not moved and value < objective:
                best, objective = sets.w, value
            record = note()
            stop = any([callback(0, record, best) for callback in callbacks])
            if record.gap <= tol:
                status = Status.CONVERGED
            elif stop:
                status = Status.INTERRUPTED
            elif len(history) >= max_iter:
                status = Status.MAX_ITER
            finest = 0.5 * tol * sets.dual / C  # then a pass without a new cut proves half the gap
            if status is None and epsilon <= finest and not moved and violation <= epsilon:
                status = Status.PRECISION
            epsilon = max(finest, min(epsilon, 0.5 * violation))
            sets.end_pass()
        if status is not Status.CONVERGED:  # w has moved since it was last looked at
            value = 0.5 * float(sets.w @ sets.w) + C * _evaluate(risk, sets.w)
            if value < objective:
                best, objective = sets.w, value
            history.pop()
            note()
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        note()
    last = history[-1]
    if last.gap <= tol and status is not Status.INTERRUPTED:
        status = Status.CONVERGED
    return Solution(
        best, objective, last.dual_objective, last.gap, status, len(history), (risk.passes, 0.0), history
    )


def _evaluate(risk: SeparableRisk, w: Floats, sets: WorkingSets | None = None) -> float:
    """The mean of all R_i at w; the cuts found on the way join the sets."""
    total = 0.0
    for i in range(risk.n_parts):
        offset, gradient = risk.part(i, w)
        value = offset + float(gradient @ w)
        total += max(0.0, value)
        if sets is not None and value > 0:
            sets.add(i, offset, gradient)
    return total / risk.n_parts


def _pass(risk: SeparableRisk, sets: WorkingSets, C: float, epsilon: float) -> tuple[bool, float, float]:
    """Visit all parts: whether cuts were added, the mean of the R_i as they were seen, and how far they were, in
    the mean, above what the sets said."""
    moved, total, violation = False, 0.0, 0.0
    for i in range(risk.n_parts):
        offset, gradient = risk.part(i, sets.w)
        value = offset + float(gradient @ sets.w)
        beyond = value - sets.slack(i)
        total += max(0.0, value)
        violation += max(0.0, beyond)
        if beyond > epsilon:
            sets.add(i, offset, gradient)
            sets.solve(ACCURACY * C * epsilon)
            moved = True
    return moved, total / risk.n_parts, violation / risk.n_parts
