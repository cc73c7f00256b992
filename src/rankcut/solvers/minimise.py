"""Minimise any convex risk given by value and subgradient: the user's own, or one of ours."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from rankcut.arguments import positive, whole
from rankcut.errors import InputError
from rankcut.solvers.bundle import Bundle
from rankcut.solvers.protocol import Floats, Risk
from rankcut.solvers.solution import CccpSolution, Record, Solution, Status

ROUNDING = 1e-9  # below 0, of a risk that is not


class Cut(NamedTuple):
    """The risk's value where it was evaluated, and the cut that is tight there."""

    value: float
    offset: float
    gradient: Floats


class _PlainLine:
    """The line of a risk that offers none: every point costs an evaluation."""

    limit = float("inf")

    def __init__(self, risk: Risk, start: Floats, step: Floats, at_start: Cut) -> None:
        self._risk, self._start, self._step = risk, start, step
        self.seen = {0.0: at_start}

    def at(self, t: float) -> Cut:
        if t not in self.seen:
            self.seen[t] = cut_at(self._risk, self._start + t * self._step)
        return self.seen[t]

    def __call__(self, t: float) -> tuple[float, float]:
        cut = self.at(t)
        return cut.value, float(cut.gradient @ self._step)


def minimise(
    risk: Risk,
    C: float = 1.0,
    *,
    n_features: int | None = None,
    start: Floats | None = None,
    nonpositive: slice | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    callbacks: Iterable[Callable[[int, Record, Floats], Any]] = (),
) -> Solution:
    """Minimise ½‖w‖² + C·risk(w) until the duality gap is at most `tol` times the objective.

    `risk(w)` returns the value and a subgradient. If it has a method `line(w0, w1)`, the line search uses it
    (see rankcut.solvers.protocol.Line); if it has an attribute `nonnegative` that is False, its multipliers
    sum to exactly C. Give `n_features` or a `start`. The parameters `w[nonpositive]`, if given, are kept at or below
    0. A callback gets (0, record, w); a true answer stops the solve, as Ctrl-C does, with the best point so far.
    """
    positive("C", C)
    positive("tol", tol)
    whole("max_iter", max_iter)
    callbacks = list(callbacks)
    first = first_point(start, n_features, nonpositive)
    bundle = Bundle(
        C,
        first,
        tol=tol,
        max_iter=max_iter,
        nonnegative=getattr(risk, "nonnegative", True),
        nonpositive=nonpositive,
    )
    history: list[Record] = []
    began = time.perf_counter()
    best = cut_at(risk, bundle.w)  # an interrupt before it finds nothing to return
    bundle.begin(*best)
    try:
        while (target := bundle.ask()) is not None:
            best = advance(risk, bundle, target, best)
            record = record_of(bundle, time.perf_counter() - began)
            history.append(record)
            if any([callback(0, record, bundle.w) for callback in callbacks]):
                bundle.status = Status.INTERRUPTED
                break
    except KeyboardInterrupt:
        bundle.status = Status.INTERRUPTED
    history.append(record_of(bundle, time.perf_counter() - began))
    return solution(bundle, (0.0, 0.0), history)


def first_point(start: Floats | None, n_features: int | None, nonpositive: slice | None = None) -> Floats:
    if nonpositive is not None and not isinstance(nonpositive, slice):
        raise InputError(f"nonpositive: came as {nonpositive!r}; pass a slice of w, as slice(5, None)")
    if start is None:
        if n_features is None:
            raise InputError("n_features: came as None without a start; pass the length of w")
        whole("n_features", n_features)
        return np.zeros(n_features)
    try:
        first = np.array(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"start: came as {start!r}; pass a vector of numbers") from None
    if first.ndim != 1 or not np.all(np.isfinite(first)):
        raise InputError(f"start: came as {start!r}; pass a vector of finite numbers")
    if nonpositive is not None and np.any(first[nonpositive] > 0):
        raise InputError(
            "start: came with positive entries in `nonpositive`; pass entries of at most 0 there"
        )
    return first


def solution(
    bundle: Bundle,
    n_passes: tuple[float, float],
    history: list[Record],
    objective_path: list[float] | None = None,
) -> Solution:
    """What the bundle has found; with a path of objectives, by several rounds."""
    parts: dict[str, Any] = {} if objective_path is None else {"objective_path": objective_path}
    return (Solution if objective_path is None else CccpSolution)(
        w=bundle.w,
        objective=bundle.objective,
        dual_objective=bundle.dual_objective,
        gap=bundle.gap,
        status=bundle.status or Status.INTERRUPTED,
        n_iter=bundle.n_iter,
        n_passes=n_passes,
        history=history,
        **parts,
    )


def advance(risk: Risk, bundle: Bundle, target: Floats, best: Cut) -> Cut:
    """Search the line to the target and cut; `best` is the cut at the best point, before and after.

    A risk without lines of its own is evaluated at each point of the search. All these are cuts as well: they
    halve the number of evaluations.
    """
    origin = bundle.w
    own = getattr(risk, "line", None)
    if own is not None:
        t = bundle.search(own(origin, target))
        bundle.tell(*cut_at(risk, origin + t * (target - origin))[1:])
        return best
    line = _PlainLine(risk, origin, target - origin, best)
    t = bundle.search(line)
    bundle.tell(*line.at(t)[1:])
    for place, cut in line.seen.items():
        if place not in (0.0, t):
            bundle.tell_too(cut.offset, cut.gradient)
    return line.at(bundle.moved)


def cut_at(risk: Risk, w: Floats) -> Cut:
    if not callable(risk):
        raise InputError(f"risk: came as {risk!r}; pass a function of w that returns (value, subgradient)")
    found = risk(w)
    try:
        value, gradient = float(found[0]), np.asarray(found[1], dtype=np.float64)
    except (IndexError, TypeError, ValueError) as error:
        raise InputError(f"risk: returned {found!r}; return (value, subgradient)") from error
    if gradient.shape != w.shape:
        raise InputError(f"risk: returned a subgradient of shape {gradient.shape} for w of shape {w.shape}")
    if not np.isfinite(value) or not np.all(np.isfinite(gradient)):
        raise InputError("risk: returned a value or subgradient that is not finite; check the problem's data")
    slope = float(gradient @ w)
    if value < -ROUNDING * (1.0 + abs(slope)) and not hasattr(risk, "nonnegative"):
        raise InputError(
            f"risk: returned {value:.6g}, and risks are taken to be 0 or more; say that yours is not by an attribute "
            "`nonnegative` that is False"
        )
    return Cut(value, value - slope, gradient)


def record_of(bundle: Bundle, seconds: float) -> Record:
    return Record(bundle.objective, bundle.dual_objective, bundle.gap, 0.0, 0.0, seconds)
