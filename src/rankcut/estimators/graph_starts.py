"""Bags in a graph: the rankers of the bags alone, which no edge costs anything.

With all edges' coefficients at 0 they have the same objective in the graph. So what is found there need never be
worse than them; where it is, the fit goes on from them (docs/graphs.md).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.estimators.bag_starts import mean_rankers
from rankcut.estimators.base import enough, threads
from rankcut.losses import Loss
from rankcut.models import LatentBagRisk, LinearRisk
from rankcut.solvers import Problem, Solution, minimise_together


def without_edges(
    estimator: Any, X: Any, offsets: NDArray[np.int64], lists: list[Lists], loss: Loss
) -> tuple[list[Solution], Design]:
    """The latent ranker of each problem, from that of the mean instances; and the design of the instances."""
    design = make_design(X, n_threads=threads(estimator.n_jobs))
    means, stopped = mean_rankers(estimator, X, offsets, lists, loss, design.n_threads)
    inner = design.n_threads if len(lists) == 1 else 1
    unknown = np.full(len(offsets) - 1, -1)

    def make(part: Lists) -> LinearRisk:
        return LinearRisk(part, loss.bind(part), loss.sees, n_threads=inner, enough=enough(design))

    problems = [
        Problem(LatentBagRisk(part, make, offsets, unknown, offsets[:-1], n_threads=inner), [estimator.C], w)
        for part, w in zip(lists, means, strict=True)
    ]
    solved = minimise_together(
        design,
        problems,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        max_rounds=estimator.max_rounds,
        callbacks=[lambda _event: True] if stopped else list(estimator.callbacks or ()),
    )
    return [path[0] for path in solved], design


def warn_zero(solutions: Sequence[Solution]) -> None:
    """Where no instance is chosen yet, w = 0 can be a local minimum."""
    zero = sum(not solution.w.any() for solution in solutions)
    if zero:
        which = "" if len(solutions) == 1 else f" of {zero} of {len(solutions)} rankers"
        warnings.warn(
            f"The fit{which} ended at w = 0, where all samples tie. Try a larger C, or coefficients as init.",
            UserWarning,
            stacklevel=3,
        )
