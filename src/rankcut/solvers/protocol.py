"""What a risk is to the solvers. They know nothing of ranking, bags or graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Line(Protocol):
    """The risk along a line, t ↦ (R, dR/dt), and the largest t that hard constraints allow. Where evaluating it is
    dear beside a pass, a line may offer `cuts() -> list[(offset, weights)]`, those at all points met so far but its
    start: the solver takes them all."""

    @property
    def limit(self) -> float: ...

    def __call__(self, t: float) -> tuple[float, float]: ...


class Risk(Protocol):
    """A convex risk of parameters. It may also offer `line(w0, w1) -> Line`, if that is cheaper than
    evaluating it again, and `nonnegative` (True unless said otherwise)."""

    def __call__(self, w: Floats, /) -> tuple[float, Floats]:
        """The risk at w and a subgradient."""
        ...


class HardCut(NamedTuple):
    """`offset + weights · raw[rows] ≤ 0`, to hold at every solution."""

    offset: float
    rows: NDArray[np.intp]
    weights: Floats


class Curvature(NamedTuple):
    """An estimate of a risk's Hessian in raw numbers: diag(weights) + Σ_k signs_k v_k v_kᵀ, which bends only in
    some rows."""

    rows: NDArray[np.integer[Any]]
    weights: Floats  # ≥ 0, one for each of the rows
    vectors: Floats  # (k, len(rows))
    signs: Floats  # (k,)


class RawRisk(Protocol):
    """A convex risk of raw numbers X w, which are linear in w: the solver computes them, so that problems
    can share passes over X. `prepare` selects and orders what the risk needs of them, linearly."""

    def prepare(self, raw: Floats, /) -> Any: ...

    def line(self, start: Any, direction: Any, /) -> Line:
        """The risk along start + t · direction, both prepared."""
        ...

    def cut(self, point: Any, /) -> tuple[float, Floats]:
        """The (offset, weights) of a cut that is tight at a prepared point: R(raw) ≥ offset + weights · raw."""
        ...

    def hard_cuts(self, point: Any, /) -> list[HardCut]:
        """Cuts of the hard constraints that are violated at a prepared point, none if all hold."""
        ...

    def curvature(
        self, point: Any, weights: Floats, /
    ) -> tuple[NDArray[np.integer[Any]], Floats, Floats, Floats]:
        """The fields of a Curvature at a prepared point whose cut has these weights."""
        ...


class KeepingRisk(RawRisk, Protocol):
    """A risk that keeps what it computed at the point of a line that it was last asked for."""

    def leave(self, line: Any, best: float, cut: float, /) -> tuple[float, Floats] | None:
        """The line has been searched: the next one starts at its point `best`. The cut at its point `cut`, if
        that need not be computed again."""
        ...


class Shift(NamedTuple):
    """How freezing anew changes the cuts that there are: a cut with these weights at the seats gains
    Σ_k factors_k · weights[seats_k] · X[rows_k] in its gradient, and stays valid."""

    seats: NDArray[np.integer[Any]]
    rows: NDArray[np.integer[Any]]
    factors: Floats


class Frozen(NamedTuple):
    """What freezing did: nothing; cuts can be shifted; or, changed without a shift, they are lost. Where the change is
    not one of rows, `shift` is a function: from seats (one row for each cut) to what the cuts' weights gain."""

    changed: bool
    shift: Shift | Callable[[Floats], Floats] | None = None


class FreezingRisk(RawRisk, Protocol):
    """A risk that is not convex, of which it shows a convex upper bound: tight at the point where it was frozen.
    It comes frozen at w = 0. There all choices are tight; with `turn(direction) -> Frozen` it may offer to make them by
    a direction, given as prepared raw numbers."""

    n_seats: int  # numbers kept with each cut to shift it by; 0 if cuts are always lost

    def freeze(self, point: Any, /) -> Frozen:
        """Make the bound tight at a prepared point. It must not be above the last bound there."""
        ...

    def seats(self, weights: Floats, /) -> Floats:
        """Of a cut's weights, those that a shift needs."""
        ...
