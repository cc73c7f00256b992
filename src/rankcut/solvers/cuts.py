"""The model of the risk: a bundle of cuts R(w) ≥ δ_i + g_i·w, and hard cuts δ_j + g_j·w ≤ 0."""

from __future__ import annotations

import numpy as np

from rankcut import _core
from rankcut.errors import InputError
from rankcut.solvers.cone import ConeDual, project
from rankcut.solvers.protocol import Floats

IDLE = 60  # a cut without multiplier for so many solves is dropped
SPARE = 20  # … once so many of them have come together
ARRAYS = ("_gradients", "_offsets", "_hard", "_idle", "_seats")  # one row for each cut
HARD_ACCURACY = 1e-9  # to which the model's minimiser keeps hard cuts


class Cuts:
    """Holds the cuts and solves the dual of min ½‖w‖² + C max_i(δ_i + g_i·w) subject to the hard cuts:

        maximise D(μ) = δᵀμ − ½‖Σ μ_i g_i‖²,  μ ≥ 0,  Σ_soft μ_i = C,   with w = −Σ μ_i g_i.

    Any feasible μ proves a lower bound of the problem, so dropping cuts never loses the certificate. If the
    parameters `nonpositive` have to stay at or below 0, w is the projection of that combination, and so it is in D
    (rankcut.solvers.cone); hard cuts are not taken then.
    """

    def __init__(
        self,
        C: float,
        n: int,
        *,
        nonnegative: bool,
        nonpositive: slice | None = None,
        n_seats: int = 0,
    ) -> None:
        self._qp, self._C = _core.MasterQP(C), C
        self._nonpositive = nonpositive
        self._cone = None if nonpositive is None else ConeDual(nonpositive)
        self._gradients = np.empty((16, n))
        self._offsets = np.empty(16)
        self._hard = np.empty(16, dtype=bool)
        self._idle = np.empty(16, dtype=np.int64)
        self._seats = np.zeros((16, n_seats))  # what it takes to shift a cut
        self.size = 0
        self._pinned = int(nonnegative)
        if nonnegative:  # R ≥ 0 is a cut like any other, and turns Σ μ = C into Σ μ ≤ C for the rest
            self.add(0.0, np.zeros(n))

    @property
    def gradients(self) -> Floats:
        return self._gradients[: self.size]

    @property
    def offsets(self) -> Floats:
        return self._offsets[: self.size]

    @property
    def hard(self) -> np.ndarray:
        return self._hard[: self.size]

    @property
    def seats(self) -> Floats:
        return self._seats[: self.size]

    @property
    def empty(self) -> bool:
        """Whether there is no cut but R ≥ 0."""
        return self.size <= self._pinned

    def add(
        self, offset: float, gradient: Floats, *, hard: bool = False, seats: Floats | None = None
    ) -> None:
        i = self.size
        if i == len(self._offsets):
            self._grow()
        self._gradients[i], self._offsets[i], self._hard[i], self._idle[i] = gradient, offset, hard, 0
        self._seats[i] = 0.0 if seats is None else seats
        self.size += 1
        self._enter(i)

    def shift(self, gradients: Floats) -> None:
        """Add to all gradients: the cuts of another risk that is known to lie above them."""
        self.gradients[:] += gradients
        self._enter_all()

    def forget(self) -> None:
        """Drop all cuts of the risk; R ≥ 0 and hard cuts stay."""
        self._keep(np.flatnonzero(self.hard | (np.arange(self.size) < self._pinned)))
        self._enter_all()

    def _enter_all(self) -> None:
        self._qp = _core.MasterQP(self._C)
        self._cone = None if self._nonpositive is None else ConeDual(self._nonpositive)
        for i in range(self.size):
            self._enter(i)

    def _enter(self, i: int) -> None:
        """Cut i enters the quadratic program, after those before it."""
        first = 0 if self._cone is None else i  # the cone takes its products from the free parameters alone
        with np.errstate(over="ignore", invalid="ignore"):
            gram_row = self._gradients[first : i + 1] @ self._gradients[i]
        if not np.isfinite(gram_row).all():
            raise InputError(
                "X: came so large that products of rows overflow; scale it, as with StandardScaler (or y, or the "
                "features of edges, if it is they that are large)"
            )
        if self._cone is None:
            self._qp.add(gram_row, float(self._offsets[i]), bool(self._hard[i]))

    def set_capacity(self, C: float) -> None:
        self._C = C
        self._qp.set_capacity(C)

    def solve(self, tolerance: float) -> tuple[Floats, float, bool]:
        """The model's minimiser, the dual value there, and whether the hard cuts can be satisfied."""
        if self.hard.any():  # what the QP leaves open is at least C times a constraint's violation
            tolerance = min(tolerance, HARD_ACCURACY * self._C)
        feasible = True
        if self._cone is None or self._nonpositive is None:
            feasible = self._qp.solve(tolerance) != _core.MasterQP.Status.unbounded
            multipliers = self._qp.multipliers()
            w = -(multipliers @ self.gradients)
        else:
            multipliers = self._cone.solve(self.gradients, self.offsets, self._C, tolerance)
            w = project(-(multipliers @ self.gradients), self._nonpositive)
        dual = float(multipliers @ self.offsets - 0.5 * (w @ w))
        self._drop_idle(multipliers)
        return w, dual, feasible

    def _grow(self) -> None:
        double = 2 * len(self._offsets)
        for name in ARRAYS:
            old = getattr(self, name)
            new = np.empty((double, *old.shape[1:]), dtype=old.dtype)
            new[: self.size] = old[: self.size]
            setattr(self, name, new)

    def _drop_idle(self, multipliers: Floats) -> None:
        idle = self._idle[: self.size]
        idle += 1
        idle[multipliers > 0] = 0
        idle[: self._pinned] = 0
        dead = idle > IDLE
        if dead.sum() < SPARE:
            return
        (self._qp if self._cone is None else self._cone).remove(np.flatnonzero(dead))
        self._keep(np.flatnonzero(~dead))

    def _keep(self, kept: np.ndarray) -> None:
        for name in ARRAYS:
            array = getattr(self, name)
            array[: len(kept)] = array[kept]
        self.size = len(kept)
