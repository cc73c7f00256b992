"""The master problem with a cone: some parameters have to stay at or below 0.

With Π clipping those parameters at 0, the dual of min ½‖w‖² + C max_i(δ_i + g_i·w) over the cone is

    maximise D(μ) = δᵀμ − ½‖Π(p)‖²,   p = −Σ μ_i g_i,   μ ≥ 0,  Σ μ_i = C,   with w = Π(p).

D is concave and smooth: its gradient is r = δ + Gw, the cuts' values at w. It is quadratic as long as no parameter
meets its bound, so Newton's method with an exact line search ends after a few steps, each a small QP without a cone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankcut import _core
from rankcut.errors import InputError
from rankcut.solvers.protocol import Floats

STEPS = 100
# A step shorter than SHORT met a bend that its quadratic does not know; after one longer than LONG, all is forgotten.
SHORT, LONG = 0.5, 0.9
FRESH = 30  # changes of the bounds after which the Gram matrix is summed anew


def project(p: Floats, nonpositive: slice) -> Floats:
    """The nearest point of the cone."""
    w = p.copy()
    np.minimum(w[nonpositive], 0.0, out=w[nonpositive])
    return w


def reach(w: Floats, step: Floats, nonpositive: slice) -> float:
    """The largest t at which w + t·step lies in the cone."""
    rising = step[nonpositive] > 0
    if not rising.any():
        return float("inf")
    return float(np.min(-w[nonpositive][rising] / step[nonpositive][rising]))


class ConeDual:
    """Holds the multipliers between solves; the caller holds the cuts."""

    def __init__(self, nonpositive: slice) -> None:
        self._cone = nonpositive
        self._mu = np.empty(0)
        self._gram: Floats | None = None  # of the cuts' free parameters: those that are not at their bound
        self._free: NDArray[np.bool_] | None = None
        self._age = 0

    def remove(self, items: NDArray[np.intp]) -> None:
        self._mu = np.delete(self._mu, items)
        if self._gram is not None:  # it lags behind if the last solves needed no step
            items = items[items < len(self._gram)]
            self._gram = np.delete(np.delete(self._gram, items, axis=0), items, axis=1)

    def solve(self, gradients: Floats, offsets: Floats, C: float, tolerance: float) -> Floats:
        """Multipliers whose dual value is within `tolerance` of the best."""
        mu = self._resume(len(offsets), C)
        p = -(mu @ gradients)
        ahead = np.zeros(p[self._cone].shape, dtype=bool)
        for _ in range(STEPS):
            r = offsets + gradients @ project(p, self._cone)
            if C * r.max() - mu @ r <= tolerance:
                break
            gram = self._gram_of(gradients, (p[self._cone] <= 0.0) | ahead)
            step = _maximise(gram, r + gram @ mu, C, 0.1 * tolerance) - mu
            move = -(step @ gradients)
            t = self._best(p, move, float(offsets @ step))
            if t == 0.0 and ahead.all():
                break  # rounding
            if t > LONG:
                ahead[:] = False
            elif t < SHORT:
                ahead |= _bends(p[self._cone], move[self._cone], 2.0 * t, ahead)
            mu += t * step
            p += t * move
        self._mu = mu
        return mu

    def _resume(self, n: int, C: float) -> Floats:
        """The last multipliers; new cuts have none yet."""
        mu = np.zeros(n)
        mu[: len(self._mu)] = np.maximum(self._mu, 0.0)
        total = mu.sum()
        if total > 0:
            mu *= C / total
        else:
            mu[0] = C
        return mu

    def _best(self, p: Floats, move: Floats, linear: float) -> float:
        """The t in [0, 1] with the largest D(μ + t·step): its slope, linear − move·Π(p + t·move), falls in t and bends
        where a parameter meets its bound."""

        def slope(t: float) -> float:
            return linear - float(move @ project(p + t * move, self._cone))

        if slope(1.0) >= 0:
            return 1.0
        a, b = p[self._cone], move[self._cone]
        with np.errstate(divide="ignore", invalid="ignore"):
            bends = -a / b
        bends = np.sort(bends[(bends > 0) & (bends < 1)])
        bends = np.concatenate(([0.0], bends, [1.0]))
        low, high = 0, len(bends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if slope(bends[middle]) >= 0 else (low, middle)
        left, right = slope(bends[low]), slope(bends[high])
        if left <= 0:
            return float(bends[low])
        return float(bends[low] + (bends[high] - bends[low]) * left / (left - right))

    def _gram_of(self, gradients: Floats, free: NDArray[np.bool_]) -> Floats:
        """The products of the cuts over the parameters outside the cone and the free ones in it. From one call to
        the next few bounds change and few cuts come."""
        inside = gradients[:, self._cone]
        if self._gram is None or self._free is None or self._age >= FRESH:
            masked = gradients.copy()
            masked[:, self._cone][:, ~free] = 0.0
            self._gram, self._age = masked @ gradients.T, 0
        else:
            known = len(self._gram)
            grown = np.empty((len(gradients), len(gradients)))
            grown[:known, :known] = self._gram
            if known < len(gradients):
                fresh = gradients[known:].copy()
                fresh[:, self._cone][:, ~self._free] = 0.0
                grown[known:] = fresh @ gradients.T
                grown[:known, known:] = grown[known:, :known].T
            for changed, sign in ((free & ~self._free, 1.0), (self._free & ~free, -1.0)):
                if changed.any():
                    part = inside[:, changed]
                    grown += sign * (part @ part.T)
                    self._age += 1
            self._gram = grown
        self._free = free
        return self._gram


def _bends(p: Floats, move: Floats, t: float, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Parameters that come down to their bound within t of a step, or else the next one; all if there is none. A
    quadratic that has them free already lies below D that far: it may go too short, but not astray."""
    falling = (p > 0) & (move < 0) & ~known
    when = np.full(len(p), np.inf)
    when[falling] = -p[falling] / move[falling]
    if not falling.any():
        return np.ones_like(known)
    return when <= max(t, float(when.min()))


def _maximise(gram: Floats, linear: Floats, C: float, tolerance: float) -> Floats:
    if not (np.isfinite(gram).all() and np.isfinite(linear).all()):
        raise InputError("C: came so large for this X that their product overflows; lower C, or scale X")
    np.maximum(gram.diagonal(), 0.0, out=np.einsum("ii->i", gram))  # sums that came and went leave rounding
    qp = _core.MasterQP(C)
    for i in range(len(linear)):
        qp.add(np.ascontiguousarray(gram[i, : i + 1]), float(linear[i]), False)
    qp.solve(tolerance)
    return qp.multipliers()
