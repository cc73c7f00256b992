"""Parameters of the estimators: checked at fit, each error naming the parameter and what to pass."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankcut.arguments import positive, whole
from rankcut.errors import InputError
from rankcut.losses.ap import ORACLES
from rankcut.selection.choice import RULES

FLAGS = ("fit_intercept", "warm_start", "by_degree")


def check_parameters(estimator: Any) -> None:
    """Of RankSVM."""
    positive("C", estimator.C)
    check_solver(estimator)
    check_loss(estimator.loss, estimator.oracle, estimator.positive_weight)
    if estimator.approx is not None:
        if estimator.loss != "ap":
            raise InputError(f"approx: came with loss={estimator.loss!r}; it only works with loss='ap'")
        share = isinstance(estimator.approx, Real) and not isinstance(estimator.approx, bool)
        if not share or not 0 < float(estimator.approx) <= 1:
            raise InputError(f"approx: came as {estimator.approx!r}; pass a share in (0, 1], or None")


def check_loss(loss: Any, oracle: Any, positive_weight: Any) -> None:
    """That a loss's options are possible, and its own."""
    if oracle not in ORACLES:
        raise InputError(f"oracle: came as {oracle!r}; pass one of {', '.join(ORACLES)}")
    if loss != "ap" and oracle != ORACLES[0]:
        raise InputError(f"oracle: came as {oracle!r} with loss={loss!r}; it is for loss='ap'")
    if positive_weight is not None:
        if loss != "hinge":
            raise InputError(f"positive_weight: came with loss={loss!r}; it only weighs in loss='hinge'")
        positive("positive_weight", positive_weight)


def check_structural_parameters(estimator: Any) -> None:
    """Of StructuralSVM and LatentStructuralSVM."""
    positive("C", estimator.C)
    check_solver(estimator)


def check_bag_starts(estimator: Any) -> None:
    """What all latent rankers of bags have."""
    positive("C", estimator.C)
    check_solver(estimator)
    whole("max_rounds", estimator.max_rounds)
    whole("n_init", estimator.n_init)
    if estimator.init is None or (
        isinstance(estimator.init, str) and estimator.init not in ("random", "mean")
    ):
        raise InputError(f"init: came as {estimator.init!r}; pass 'random', 'mean', or an array")


def check_bag_parameters(estimator: Any) -> None:
    """Of BagRankSVM."""
    check_bag_starts(estimator)
    check_loss(estimator.loss, ORACLES[0], estimator.positive_weight)
    for name in ("outlier_fraction", "trim"):
        value = getattr(estimator, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < 1:
            raise InputError(f"{name}: came as {value!r}; pass a share from 0 to less than 1")


def check_cv_parameters(estimator: Any) -> list[float]:
    """Of RankSVMCV; returns the path of C, rising."""
    check_solver(estimator)
    positive("max_memory", estimator.max_memory)
    error_score = estimator.error_score
    if error_score != "raise" and (not isinstance(error_score, Real) or isinstance(error_score, bool)):
        raise InputError(f"error_score: came as {error_score!r}; pass 'raise' or a number")
    if estimator.rule not in RULES:
        raise InputError(f"rule: came as {estimator.rule!r}; pass one of {', '.join(RULES)}")
    Cs = estimator.Cs
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if Cs < 1:
            raise InputError(f"Cs: came as {Cs!r}; pass a number of values of at least 1, or the values")
        return [float(C) for C in np.logspace(-1, 4, int(Cs))]
    if isinstance(Cs, str) or not hasattr(Cs, "__len__") or len(Cs) == 0:
        raise InputError(f"Cs: came as {Cs!r}; pass a number of values, or a sequence of positive values")
    for C in Cs:
        positive("Cs", C)
    return sorted({float(C) for C in Cs})


def check_solver(estimator: Any) -> None:
    positive("tol", estimator.tol)
    whole("max_iter", estimator.max_iter)
    for name in FLAGS:
        value = getattr(estimator, name, False)
        if not isinstance(value, Integral | np.bool_) or value not in (0, 1):
            raise InputError(f"{name}: came as {value!r}; pass True or False")
    n_jobs = estimator.n_jobs
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(f"n_jobs: came as {n_jobs!r}; pass a number of threads, -1 or None for all cores")
    callbacks = estimator.callbacks
    if callbacks is not None and not (isinstance(callbacks, Iterable) and all(map(callable, callbacks))):
        raise InputError(f"callbacks: came as {callbacks!r}; pass a list of callables")
