"""What a solver returns: the best point, the certificate, and what to do if it is not good enough."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Status(enum.Enum):
    """How a solve ended; the text says what to do."""

    CONVERGED = "converged: the duality gap is below tol"
    MAX_ROUNDS = "stopped at max_rounds: raise max_rounds, raise tol, or lower C"
    MAX_ITER = "stopped at max_iter: raise max_iter, raise tol, or lower C"
    INEXACT = "a round ended above where it began, so its bound was not tight there: the start is kept"
    INTERRUPTED = "interrupted: this is the best point so far; fit again with warm_start=True to go on"
    PRECISION = "stopped where rounding hides further progress: raise tol, or scale the features"
    INFEASIBLE = "the hard constraints contradict one another: lower approx"

    def __str__(self) -> str:
        return self.value


class Record(NamedTuple):
    """One iteration: the certificate after it, and what it had cost by then."""

    objective: float
    dual_objective: float
    gap: float
    forward_passes: float
    backward_passes: float
    seconds: float


@dataclass(frozen=True)
class Solution:
    """The best w found. `objective` is ½‖w‖² + C·R(w), `dual_objective` a proven lower bound of its minimum,
    `gap` their difference relative to the objective. `n_iter` counts cuts."""

    w: NDArray[np.float64]
    objective: float
    dual_objective: float
    gap: float
    status: Status
    n_iter: int
    n_passes: tuple[float, float]
    history: list[Record] = field(default_factory=list)


@dataclass(frozen=True)
class CccpSolution(Solution):
    """Of a risk that is not convex. `objective` is the true one at w; the lower bound is that of the last
    round, frozen where it began: at w, or at a point that is worse by at most `tol` of the objective.
    `objective_path` holds the true objective at the start and after each round; it never rises."""

    objective_path: list[float] = field(default_factory=list)
