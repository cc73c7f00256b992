"""Latent SSVM beside the others on musk1, the set that it finishes: nested cross-validation on a grid for its sake."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Table
from benchmarks.weak_fits import chosen, stratified
from benchmarks.weak_sets import INNER, Pooled, load_sets, pooled
from rankcut import BagRankSVM, LatentAPBaseline
from rankcut.data import Bags
from rankcut.metrics import average_precision

PATH = (0.01, 0.1, 1.0)
OPTIONS = {"init": "mean", "tol": 1e-2, "n_jobs": 1}
METHODS = {
    "latent AP-SVM": BagRankSVM(loss="ap", **OPTIONS),
    "latent SVM": BagRankSVM(loss="hinge", **OPTIONS),
    "latent SSVM": LatentAPBaseline(n_init=1, **OPTIONS),
}


def beside(name: str = "musk1", folds: int = 10) -> Table:
    table = Table(
        f"weak: latent SSVM on {name}",
        ["method", "pooled AP", "AP in each fold", "accuracy", "CPU seconds"],
        ["", ".3f", ".3f", ".3f", ".1f"],
    )
    bags, y = load_sets(name)[1:3]
    for method, model in METHODS.items():
        began = time.process_time()
        found = nested(model, bags, y[:, 0], folds)
        table.add(
            method,
            *(float(getattr(found, part)[0]) for part in ("ap", "within", "accuracy")),
            time.process_time() - began,
        )
    table.note(
        f"{folds} folds outside, {INNER} inside, C in {', '.join(map(str, PATH))}, J = 1, c = 0, one start (the mean "
        "instances), tol = 0.01. On larger sets latent SSVM does not finish a nested cross-validation."
    )
    return table


def nested(model: Any, bags: Bags, y: NDArray[np.bool_], n_folds: int) -> Pooled:
    everything = np.arange(len(bags))
    outer = stratified(y, everything, n_folds, np.random.default_rng((0, 0)))
    scores, size = np.empty(len(bags)), np.empty(len(bags))
    for fold in range(n_folds):
        inside, out = np.flatnonzero(outer != fold), np.flatnonzero(outer == fold)
        parts = stratified(y, inside, INNER, np.random.default_rng((0, 0, fold, 7)))
        score = np.empty((1, len(PATH), INNER))
        for place, C in enumerate(PATH):
            for part in range(INNER):
                held = np.flatnonzero(parts == part)
                found = _fit(model, C, bags, y, np.setdiff1d(inside, held)).decision_function(bags[held])
                score[0, place, part] = average_precision(y[held], found)
        best = _fit(model, PATH[chosen(score, PATH)[1]], bags, y, inside)
        scores[out] = best.decision_function(bags[out])
        size[out] = np.sqrt(np.mean(best.decision_function(bags[inside]) ** 2))
    return pooled(y, scores[None], size[None], outer[None])


def _fit(model: Any, C: float, bags: Bags, y: NDArray[np.bool_], rows: NDArray[np.intp]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of its fits end at max_iter
        return model.set_params(C=C).fit(bags[rows], y[rows])
