"""Parameters of the estimators: checked at fit, each error naming the parameter and what to pass."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from rankcut.errors import InputError


def check_parameters(estimator: Any) -> None:
    positive("C", estimator.C)
    positive("tol", estimator.tol)
    if not isinstance(estimator.max_iter, Integral) or estimator.max_iter < 1:
        raise InputError(f"max_iter: came as {estimator.max_iter!r}; pass a whole number of at least 1")
    n_jobs = estimator.n_jobs
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(f"n_jobs: came as {n_jobs!r}; pass a number of threads, -1 or None for all cores")
    if estimator.positive_weight is not None:
        if estimator.loss != "hinge":
            raise InputError(f"positive_weight: came with loss={estimator.loss!r}; it only weighs in loss='hinge'")
        positive("positive_weight", estimator.positive_weight)
    if estimator.approx is not None:
        if estimator.loss != "ap":
            raise InputError(f"approx: came with loss={estimator.loss!r}; it only works with loss='ap'")
        if not isinstance(estimator.approx, Real) or not 0 < estimator.approx <= 1:
            raise InputError(f"approx: came as {estimator.approx!r}; pass a share in (0, 1], or None")


def positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not (math.isfinite(value) and value > 0):
        raise InputError(f"{name}: came as {value!r}; pass a positive finite number")
