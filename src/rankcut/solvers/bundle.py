"""The bundle method as a state machine that is asked for the next point and told the risk there.

It keeps the best point w_b, a model of the risk made of cuts, and a metric if the risk offers curvature. In
each iteration the driver
    1. asks for the next point w_q:      `w = bundle.ask()`        (None when the solve has ended)
    2. lets it search the line w_b → w_q: `t = bundle.search(line)`  and gets the place of the new cut
    3. tells it the cut there:           `bundle.tell(offset, gradient)`
so that many problems can advance in lockstep, and no pass over the data is made here.

A risk that is not convex shows a convex bound for one round after the other (rankcut.solvers.cccp). Then a round
ends, with the status CONVERGED, once the gap is no more than what the round has gained; `stationary` says whether
it has proved that its own start is as good as optimal.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankcut.solvers.cone import project, reach
from rankcut.solvers.cuts import Cuts
from rankcut.solvers.metric import Metric, Price
from rankcut.solvers.protocol import Floats, Line
from rankcut.solvers.search import search
from rankcut.solvers.solution import Status

LINE_ACCURACY = 0.01  # of the gap
OUTWARD = (
    0.1  # how far beyond the line's minimum to cut, towards the model's minimiser, once progress is slow
)
REACH = 2.0  # times the best point of the last line: where the next one is looked at first
LOOK_BACK, SLOW = 4, 0.6  # progress is slow if the gap fell to no less than this share in so many iterations
SHARE = 1.0  # a round of several ends once the gap is this share of what it has gained
FIRST = 20  # … or after so many cuts, if it began at w = 0, where it was frozen by chance (docs/cccp.md)
STUCK = 25  # iterations without any change of either bound


class Bundle:
    def __init__(
        self,
        C: float,
        start: Floats,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        nonnegative: bool = True,
        metric: bool = False,
        nonpositive: slice | None = None,
        rounds: bool = False,
        turns: bool = False,
        n_seats: int = 0,
    ) -> None:
        # Of NumPy's float32, C would make objectives of float32.
        self.C, self.tol, self.max_iter = float(C), float(tol), max_iter
        self.w = np.array(start, dtype=np.float64)  # the best point
        self.risk = math.inf
        self.dual_objective = -math.inf
        self.n_iter = self._all_iter = 0  # cuts for this C, and for all so far
        self.status: Status | None = None
        self.metric = Metric() if metric else None
        self.price = Price(0.0, 0.0)  # the driver's to set
        self._metric_led = False
        self._nonpositive = nonpositive  # parameters that have to stay ≤ 0, from the start on
        self._cuts = Cuts(
            self.C, len(self.w), nonnegative=nonnegative, nonpositive=nonpositive, n_seats=n_seats
        )
        self._rounds, self._turns = rounds, turns
        self._by_chance, self._round_iter = False, 0
        self.round_began = -math.inf  # the objective there
        self._next = self.w
        self._gaps: list[float] = []
        self._still = 0
        self._firsts = [1.0, 1.0]  # where the next line is looked at first: the model's, the metric's

    @property
    def objective(self) -> float:
        return 0.5 * float(self.w @ self.w) + self.C * self.risk

    @property
    def gap(self) -> float:
        """Relative to the objective."""
        difference = self.objective - self.dual_objective
        return max(0.0, difference) / max(abs(self.objective), 1e-300)

    @property
    def stationary(self) -> bool:
        """Whether the point where the round began is optimal to within tol for the round's own risk. At w = 0 all
        choices are tight, so that one of them proves nothing, as long as there is another."""
        if self._by_chance and self._can_turn:
            return False
        return self.round_began - self.dual_objective <= self.tol * abs(self.round_began)

    @property
    def _can_turn(self) -> bool:
        """Whether there is a direction to freeze in."""
        return self._turns or bool(self.w.any())

    def begin(self, risk: float, offset: float, gradient: Floats) -> None:
        """Told the risk at the start, and a cut that is tight there."""
        self.begin_round(risk)
        self.tell(offset, gradient)

    def begin_round(self, risk: float) -> None:
        """Told the risk at the best point, where it was frozen. All cuts hold as before."""
        self.risk, self.status = risk, None
        self.round_began = self.objective
        self._by_chance, self._round_iter = not self.w.any(), self.n_iter

    def change(self, risk: float, shift: Callable[[Floats], Floats] | None) -> None:
        """Begin a round with another risk: `shift` says by how much the gradients of cuts with these seats
        move; without it they are dropped."""
        self.dual_objective, self._gaps, self._still = -math.inf, [], 0
        if shift is None:
            self._cuts.forget()
        else:
            self._cuts.shift(shift(self._cuts.seats))
        self.begin_round(risk)

    def resume(self, C: float) -> None:
        """Go on with another C from the best point. The cuts are cuts of the risk: all stay valid."""
        self.C = float(C)
        self._cuts.set_capacity(self.C)
        self.dual_objective = -math.inf
        self.n_iter, self.status, self._gaps, self._still = 0, None, [], 0
        self.begin_round(self.risk)

    def ask(self) -> Floats | None:
        """Solve the model: a new lower bound, and the next point to look at. None if the solve has ended."""
        if self._cuts.empty:  # all were dropped: the first cut is due where we stand
            self._gaps.append(max(abs(self.objective), 1e-300))
            self._next, self._metric_led = self.w, False
            return self._next
        scale = abs(self.objective)
        model_minimiser, dual, feasible = self._cuts.solve(0.01 * self.tol * scale)
        if not feasible:
            self.status = Status.INFEASIBLE
            return None
        self._note_progress(dual)
        if self._round_is_over() if self._rounds else self.gap <= self.tol:
            self.status = Status.CONVERGED
        elif self.n_iter >= self.max_iter:
            self.status = Status.MAX_ITER
        elif self._still >= STUCK:
            self.status = Status.PRECISION
        if self.status is not None:
            return None
        self._next = model_minimiser
        self._metric_led = False
        if self.metric is not None and self._metric_leads():
            cost = self.price.step
            point = self.metric.next_point(self._cuts, self.w, self.C, 0.01 * self._gaps[-1], cost)
            self._metric_led = point is not None
            self._next = model_minimiser if point is None else point
        return self._next

    def wants_curvature(self) -> bool:
        """Whether the Hessian at the last cut would pay. Asked before `ask`."""
        return self.metric is not None and self.metric.wants(self.price, self._all_iter)

    def search(self, line: Line, farthest: float = math.inf) -> float:
        """Move to the best point of the line to the point asked for, no farther than so many times the way there;
        returns where on it the cut is wanted."""
        step = self._next - self.w
        limit = min(line.limit, farthest)
        if self._nonpositive is not None:
            limit = min(limit, max(1.0, reach(self.w, step, self._nonpositive)))
        found = search(
            line,
            limit,
            0.5 * float(self.w @ self.w),
            float(self.w @ step),
            float(step @ step),
            self.C,
            LINE_ACCURACY * self._gaps[-1],
            self._firsts[self._metric_led],
        )
        if found.best.t > 0:
            self._firsts[self._metric_led] = min(1.0, REACH * found.best.t)
        if self._slow():
            cut = found.best.t + OUTWARD * max(0.0, 1.0 - found.best.t)
        else:
            cut = found.right.t
            if self.metric is not None and self._metric_led:
                self.metric.learn(found.best.t)
        self.moved = found.best.t
        if found.best.t > 0:
            self.w = self.w + found.best.t * step
            if self._nonpositive is not None:  # rounding alone can have left the cone
                self.w = project(self.w, self._nonpositive)
            self.risk = found.best.risk
        # Where hard constraints end the line, the best point may stand at its beginning: a cut there would
        # only repeat another. What they forbid is as good a place to learn about the risk.
        return 1.0 if found.best.t >= line.limit else min(cut, limit)

    def tell(self, offset: float, gradient: Floats, seats: Floats | None = None) -> None:
        """A cut: R(w) ≥ offset + gradient·w everywhere; `seats` is what it takes to shift it."""
        self._cuts.add(offset, gradient, seats=seats)
        self.n_iter += 1
        self._all_iter += 1

    def tell_too(self, offset: float, gradient: Floats, seats: Floats | None = None) -> None:
        """A cut that was found on the way, beside the one wanted: it makes no iteration."""
        self._cuts.add(offset, gradient, seats=seats)

    def tell_hard(self, offset: float, gradient: Floats) -> None:
        """A constraint: offset + gradient·w ≤ 0 at every solution."""
        self._cuts.add(offset, gradient, hard=True)

    def _round_is_over(self) -> bool:
        """What is left is little beside what was gained, or the start cannot be improved. Half of tol: a round
        that ends there has gained the other half, so that there cannot be many."""
        left, gained = self._gaps[-1], self.round_began - self.objective
        if self._by_chance and self._can_turn and self.n_iter - self._round_iter >= FIRST:
            return True
        return self.stationary or left <= max(SHARE * gained, 0.5 * self.tol * abs(self.objective))

    def _slow(self) -> bool:
        gaps = self._gaps
        return len(gaps) > LOOK_BACK and gaps[-1] > SLOW * gaps[-1 - LOOK_BACK]

    def _metric_leads(self) -> bool:
        """With slow progress, every other point is the plain model's: kinks decide then, not curvature."""
        affordable = self.metric is not None and self.metric.affords(self.price, self._all_iter)
        return affordable and not (self._slow() and self.n_iter % 2)

    def _note_progress(self, dual: float) -> None:
        before = self._gaps[-1] if self._gaps else math.inf
        self.dual_objective = max(self.dual_objective, dual)
        self._gaps.append(max(self.objective - self.dual_objective, 1e-300))
        self._still = self._still + 1 if self._gaps[-1] >= before * (1 - 1e-12) else 0
