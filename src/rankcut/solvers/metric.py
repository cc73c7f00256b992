"""Curvature: where to look next, when the risk can tell how it bends.

A piecewise linear risk of many samples looks smooth from afar. Near the best point w_b its Hessian Q says more
than the few cuts known there, so the next point minimises the cut model plus ½(w − w_b)ᵀ θCQ (w − w_b), with a
trust factor θ that follows the line search. With M = I + θCQ = LLᵀ that is the same small QP in other
coordinates. Cuts and certificate stay as they are: the metric only chooses where to look.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from rankcut import _core
from rankcut.solvers.cuts import Cuts
from rankcut.solvers.protocol import Floats

FIRST_TRUST = 0.2
LEAST_TRUST, MOST_TRUST = 0.02, 1.0
BUDGET = 2.0  # times the iterations so far: what all of the metric's work may cost
RENEW = 3  # steps that a Hessian serves
NEAREST = 120  # cuts with the largest values at w_b; the others hardly matter there


class Price(NamedTuple):
    """What the metric's work costs, in iterations of the plain method: a new Hessian, and a step."""

    hessian: float
    step: float


class Metric:
    def __init__(self) -> None:
        self._hessian: Floats | None = None
        self._trust = FIRST_TRUST
        self._age = 0
        self._spent = 0.0

    def affords(self, price: Price, n_iter: int) -> bool:
        """Whether a step by the metric is within its budget: all its work together may cost so many times
        the iterations so far."""
        return self._hessian is not None and self._spent + price.step <= BUDGET * n_iter

    def wants(self, price: Price, n_iter: int) -> bool:
        """Whether to refresh the Hessian now."""
        if self._hessian is not None and self._age < RENEW:
            return False
        return self._spent + price.hessian + price.step <= BUDGET * n_iter

    def refresh(self, hessian: Floats, cost: float) -> None:
        self._hessian = hessian
        self._age = 0
        self._spent += cost

    def next_point(
        self, cuts: Cuts, w_best: Floats, C: float, tolerance: float, cost: float
    ) -> Floats | None:
        """The minimiser of the model with curvature around `w_best`; None if the metric is unusable."""
        assert self._hessian is not None
        self._age += 1
        self._spent += cost
        matrix = (self._trust * C) * self._hessian
        matrix.flat[:: len(matrix) + 1] += 1.0
        try:
            lower = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            self._hessian = None
            return None
        values = cuts.offsets + cuts.gradients @ w_best
        nearest = np.sort(np.argsort(-values, kind="stable")[:NEAREST])
        nearest = np.union1d(nearest, np.flatnonzero(cuts.hard))
        # With v = Lᵀ(w − w_best): min ½‖v + c‖² + C max_i(values_i + h_i·v), h_i = L⁻¹ g_i, c = L⁻¹ w_best.
        h = solve_triangular(lower, cuts.gradients[nearest].T, lower=True, check_finite=False).T
        c = solve_triangular(lower, w_best, lower=True, check_finite=False)
        gram = h @ h.T
        linear = values[nearest] - h @ c
        if not (
            np.isfinite(gram).all() and np.isfinite(linear).all()
        ):  # C and X so large that products overflow
            self._hessian = None
            return None
        qp = _core.MasterQP(C)
        for i in range(len(nearest)):
            qp.add(np.ascontiguousarray(gram[i, : i + 1]), float(linear[i]), bool(cuts.hard[nearest[i]]))
        qp.solve(tolerance)
        step = c + qp.multipliers() @ h
        moved: Floats = w_best - solve_triangular(lower, step, lower=True, trans="T", check_finite=False)
        return moved

    def learn(self, t: float) -> None:
        """Trust the curvature less when the best point of the line lay beyond, more when it lay short."""
        if t >= 1.0:
            self._trust = max(LEAST_TRUST, 0.6 * self._trust)
        elif t < 0.6:
            self._trust = min(MOST_TRUST, 1.5 * self._trust)
