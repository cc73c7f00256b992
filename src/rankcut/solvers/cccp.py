"""The one outer loop for risks that are not convex: freeze, minimise the convex bound, freeze again (CCCP).

Frozen at w_t, the risk has a convex upper bound that is tight at w_t. Whatever lowers the bound's objective from
there lowers the true one at least as much, so the true objective never rises. A round need not be solved to the
end: it is over once the gap is no more than what the round has gained. The last one proves that its start is optimal
for its own bound to within tol; if cuts survive, rounds go on until that holds for the end as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from rankcut.arguments import positive, whole
from rankcut.errors import InputError
from rankcut.solvers.bundle import Bundle
from rankcut.solvers.minimise import advance, cut_at, first_point, record_of, solution
from rankcut.solvers.protocol import Floats, Risk
from rankcut.solvers.solution import CccpSolution, Record, Status

ROUNDING = 1e-12  # of the objective: no rise
PROOFS = 10  # rounds in a row that gain less than tol


class Refrozen(NamedTuple):
    """The risk at the bundle's best point, frozen there; whether its bound is another one than before; and how
    cuts of the last bound are shifted, None if they are lost. `inexact`: the objective would have risen, and the
    best point is the round's start again."""

    risk: float
    changed: bool
    shift: Callable[[Floats], Floats] | None = None
    inexact: bool = False


class Rounds:
    """The outer loop of one problem around its bundle. `freeze` freezes the risk at the bundle's best point."""

    def __init__(self, bundle: Bundle, freeze: Callable[[], Refrozen], max_rounds: int) -> None:
        self._bundle, self._freeze, self._max_rounds = bundle, freeze, max_rounds
        self.begin()

    def begin(self) -> None:
        """At the start, or at another C; the risk is frozen at the best point."""
        self.path = [self._bundle.objective]
        self._changes = self._proofs = 0
        self._over = False

    def go_on(self) -> bool:
        """Freeze anew where a round has ended; false if that was the last."""
        bundle, status = self._bundle, self._bundle.status
        if status not in (Status.CONVERGED, Status.PRECISION):
            return self.end()
        proved = bundle.stationary
        risk, changed, shift, inexact = self._freeze()
        if inexact:
            bundle.risk, status, over = risk, Status.INEXACT, True
        elif not changed:  # then the best point's own bound is the one that the cuts are of
            bundle.begin_round(risk)
            over = status is Status.PRECISION or bundle.gap <= bundle.tol
        elif self._changes == self._max_rounds or (proved and (shift is None or self._proofs == PROOFS)):
            bundle.risk = risk
            over, status = True, status if proved else Status.MAX_ROUNDS
        else:
            bundle.change(risk, shift)
            self._changes += 1
            self._proofs = self._proofs + 1 if proved else 0
            over = False
        if over:
            bundle.status = status
        self._over = over
        self._note()
        return not over

    def end(self) -> bool:
        """Stop where we are; the objective becomes the true one. Always false."""
        if not self._over:
            if self._bundle.status is Status.CONVERGED and not self._bundle.stationary:
                self._bundle.status = None  # only the round had converged
            self._bundle.risk = self._freeze().risk
            self._over = True
            self._note()
        return False

    def _note(self) -> None:
        before, now = self.path[-1], self._bundle.objective
        self.path.append(before if 0 <= now - before <= ROUNDING * abs(before) else now)


def cccp(
    freeze: Callable[[Floats], Risk],
    C: float = 1.0,
    *,
    n_features: int | None = None,
    start: Floats | None = None,
    nonpositive: slice | None = None,
    tol: float = 1e-3,
    max_rounds: int = 100,
    max_iter: int = 1000,
    callbacks: Iterable[Callable[[int, Record, Floats], Any]] = (),
) -> CccpSolution:
    """Minimise ½‖w‖² + C·R(w) for a risk R that is not convex, to a point that no round improves by more than
    `tol` of the objective.

    `freeze(w)` returns a convex upper bound of R that is tight at w: a `Risk`, as `minimise` takes it. Give
    `n_features` or a `start`. The parameters `w[nonpositive]`, if given, are kept at or below 0. `max_iter` is the
    most cuts in all rounds together. A callback gets (round, record, w) after each cut; a true answer stops the
    solve, as Ctrl-C does, with the best point so far.

    If a round should end above where it began, which a tight bound rules out (an inexact oracle does not), its
    start is kept and the solve is over.
    """
    positive("C", C)
    positive("tol", tol)
    whole("max_rounds", max_rounds)
    whole("max_iter", max_iter)
    if not callable(freeze):
        raise InputError(f"freeze: came as {freeze!r}; pass a function that returns a convex risk for w")
    first = first_point(start, n_features, nonpositive)
    return _Plain(freeze, C, first, nonpositive, tol, max_rounds, max_iter).solve(list(callbacks))


class _Plain:
    """CCCP for a risk given by value and subgradient: each round starts without cuts."""

    def __init__(
        self,
        freeze: Callable[[Floats], Risk],
        C: float,
        start: Floats,
        nonpositive: slice | None,
        tol: float,
        max_rounds: int,
        max_iter: int,
    ) -> None:
        self._freeze, self._risk = freeze, freeze(start)
        self._bundle = Bundle(
            C,
            start,
            tol=tol,
            max_iter=max_iter,
            nonnegative=getattr(self._risk, "nonnegative", True),
            nonpositive=nonpositive,
            rounds=True,
        )
        self._kept = start
        self._best = self._first = cut_at(self._risk, start)  # at the best point, and where the round began
        self._bundle.begin(*self._first)
        self._rounds = Rounds(self._bundle, self._refreeze, max_rounds)

    def solve(self, callbacks: list[Callable[[int, Record, Floats], Any]]) -> CccpSolution:
        bundle, history = self._bundle, []
        began = time.perf_counter()
        try:
            while self._advance():
                record = record_of(bundle, time.perf_counter() - began)
                history.append(record)
                place = len(self._rounds.path) - 1
                if any([callback(place, record, bundle.w) for callback in callbacks]):
                    break
        except KeyboardInterrupt:
            pass
        self._rounds.end()
        history.append(record_of(bundle, time.perf_counter() - began))
        return cast(CccpSolution, solution(bundle, (0.0, 0.0), history, self._rounds.path))

    def _advance(self) -> bool:
        """One cut; false at the end."""
        bundle = self._bundle
        while (target := bundle.ask()) is None:
            if not self._rounds.go_on():
                return False
            bundle.tell(self._first.offset, self._first.gradient)
        self._best = advance(self._risk, bundle, target, self._best)
        return True

    def _refreeze(self) -> Refrozen:
        bundle = self._bundle
        risk = self._freeze(bundle.w)
        cut = cut_at(risk, bundle.w)
        objective = 0.5 * float(bundle.w @ bundle.w) + bundle.C * cut.value
        if objective > self._rounds.path[-1] + ROUNDING * abs(objective):
            bundle.w = self._kept
            return Refrozen(self._first.value, False, inexact=True)
        self._risk, self._kept, self._best, self._first = risk, bundle.w, cut, cut
        return Refrozen(cut.value, True)
