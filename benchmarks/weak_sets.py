"""Weak labels on real bags: nested cross-validation of the family and of RankSVM on the mean instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.weak_fits import Fit, Job, Setting, drawn, fit_all, fit_latent, means, stratified
from rankcut.data import Bags
from rankcut.metrics import average_precision

PATH = (1.0, 10.0, 100.0, 1000.0, 10000.0)
INNER = 3
GRID = {
    "latent AP-SVM": [Setting("ap")],
    "latent SVM": [Setting("hinge", J, c) for J in (1.0, None) for c in (0.0, 0.3)],
    "RankSVM, mean": [Setting("ap")],
}
STARTS = 3  # of the final fits: from the mean instances, and from two random draws


class Sets(NamedTuple):
    """Bags with K labellings, each a class against the rest."""

    name: str
    bags: Bags
    Y: NDArray[np.bool_]  # (bags, K)


class Pooled(NamedTuple):
    """Of one labelling: average precision and accuracy of the pooled held-out scores, a row for each repeat."""

    ap: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def load_sets(name: str) -> Sets:
    """Columns of the instances are centred and divided by their standard deviation, over all bags: what needs no
    labels may be taken from all, as is usual on these sets."""
    found = data.load(f"bags/{name}")
    X = found["X"].astype(np.float64)
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1.0)
    if name == "corel2000":
        Y = found["y_class"][:, None] == np.arange(20)
    elif name == "birdsong_hja":
        Y = found["y_multi"] > 0
    else:
        Y = found["y_bag"][:, None] > 0
    return Sets(name, Bags(X, found["bag"]), Y)


def nested(
    sets: Sets,
    method: str,
    *,
    repeats: int,
    n_folds: int,
    n_threads: int = 1,
    log: Callable[[str], None] = print,
) -> list[Pooled]:
    """Cross-validation within cross-validation; folds, classes and settings in lockstep."""
    bags = means(sets.bags) if method == "RankSVM, mean" else sets.bags
    latent = len(bags) < bags.offsets[-1]
    rng = np.random.default_rng(2)
    begins = [means(bags), drawn(bags, rng), drawn(bags, rng)] if latent else []
    first, none = bags.offsets[:-1], np.full(len(bags), -1)

    def fit(jobs: list[Job], begin: int, tol: float) -> list[list[Fit]]:
        if latent:
            return fit_latent(bags, begins[begin], jobs, tol=tol, n_threads=n_threads)
        return fit_all(bags, jobs, tol=tol, n_threads=n_threads)

    outer = _outer(sets.Y, repeats, n_folds)
    inner = [_inner(sets.Y[:, k], outer[r, k] != fold, (r, k, fold)) for r, k, fold in _cells(outer, n_folds)]
    cells = list(_cells(outer, n_folds))
    score = np.zeros((len(cells), len(GRID[method]), len(PATH)))
    for s, setting in enumerate(GRID[method]):
        jobs, held = [], []
        for (_, k, _), folds in zip(cells, inner, strict=True):
            for fold in range(INNER):
                jobs.append(Job(sets.Y[:, k], (folds >= 0) & (folds != fold), setting, PATH, first, none))
                held.append(folds == fold)
        for number, path in enumerate(fit(jobs, 0, 3e-3)):
            y, out = jobs[number].relevant, held[number]
            score[number // INNER, s] += [average_precision(y[out], each.scores[out]) for each in path]
        log(f"{sets.name}, {method}: {setting} done")
    best = [np.unravel_index(int(np.argmax(table)), table.shape) for table in score]
    jobs = [
        Job(sets.Y[:, k], outer[r, k] != fold, GRID[method][s], (PATH[c],), first, none)
        for (r, k, fold), (s, c) in zip(cells, best, strict=True)
    ]
    fits = [fit(jobs, begin, 1e-3) for begin in range(STARTS if latent else 1)]
    scores = np.empty((repeats, sets.Y.shape[1], len(bags)))
    for number, (r, k, fold) in enumerate(cells):
        found = min((each[number][0] for each in fits), key=lambda one: one.objective)
        out = outer[r, k] == fold
        scores[r, k, out] = (found.scores + found.intercept)[out]
    return [pooled(sets.Y[:, k], scores[:, k]) for k in range(sets.Y.shape[1])]


def pooled(y: NDArray[np.bool_], scores: NDArray[np.float64]) -> Pooled:
    return Pooled(
        np.array([average_precision(y, row) for row in scores]),
        np.array([np.mean((row > 0) == y) for row in scores]),
    )


def _outer(Y: NDArray[np.bool_], repeats: int, n_folds: int) -> NDArray[np.int64]:
    """(repeats, labellings, bags): the fold of each bag."""
    rows = np.arange(len(Y))
    return np.stack(
        [
            np.stack([stratified(y, rows, n_folds, np.random.default_rng((r, k))) for k, y in enumerate(Y.T)])
            for r in range(repeats)
        ]
    )


def _inner(y: NDArray[np.bool_], train: NDArray[np.bool_], seed: Sequence[int]) -> NDArray[np.int64]:
    return stratified(y, np.flatnonzero(train), INNER, np.random.default_rng([*seed, 7]))


def _cells(outer: NDArray[np.int64], n_folds: int) -> Any:
    return ((r, k, fold) for r in range(len(outer)) for k in range(outer.shape[1]) for fold in range(n_folds))
