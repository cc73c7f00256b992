"""Weak labels on real bags: nested cross-validation of the family and of RankSVM on the mean instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.weak_fits import Fit, Job, Setting, chosen, drawn, fit_all, fit_latent, means, stratified
from rankcut.data import Bags
from rankcut.metrics import average_precision

INNER = 3
PATH = tuple(10.0**power for power in range(-2, 5))  # small sets want the smallest, large ones the largest
GRID = {
    "latent AP-SVM": [Setting("ap")],
    "latent SVM": [Setting("hinge", J, c) for J in (1.0, None) for c in (0.0, 0.3)],
    "latent AUC-SVM": [Setting("auc")],
    "RankSVM, mean": [Setting("ap")],
}
STARTS = 3  # of the final fits: from the mean instances, and from two random draws


class Sets(NamedTuple):
    """Bags with K labellings, each a class against the rest."""

    name: str
    bags: Bags
    Y: NDArray[np.bool_]  # (bags, K)
    known: NDArray[np.int64]  # (K, bags): the row of an instance of that class, at random of several, or −1


class Pooled(NamedTuple):
    """Of one labelling, for each repeat: average precision and accuracy of the pooled held-out scores, and the mean
    over folds of the average precision in each. Before they are pooled, each model's scores are divided by their root
    mean square over its training bags, as ten rankers with other values of C share no scale; `unscaled` is the average
    precision without that."""

    ap: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    within: NDArray[np.float64]
    unscaled: NDArray[np.float64]


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
    bags = Bags(X, found["bag"])
    known = np.full(Y.T.shape, -1)
    if name == "birdsong_hja":
        shuffled = np.random.default_rng(4).permutation(len(X))
        for k in range(len(known)):
            rows = shuffled[found["species_inst"][shuffled] == k + 1]
            known[k, found["bag"][rows]] = rows
        known[~Y.T] = -1
    return Sets(name, bags, Y, known)


class Nested:
    """Cross-validation within cross-validation of one method; folds, classes and settings in lockstep."""

    def __init__(self, sets: Sets, method: str, *, repeats: int, n_folds: int, n_threads: int = 1) -> None:
        self.Y, self.grid, self._threads = sets.Y, GRID[method], n_threads
        self.bags = means(sets.bags) if method == "RankSVM, mean" else sets.bags
        rng = np.random.default_rng(2)
        latent = len(self.bags) < self.bags.offsets[-1]
        self._begins = (
            [means(self.bags), *(drawn(self.bags, rng) for _ in range(STARTS - 1))] if latent else []
        )
        self.folds = _outer(sets.Y, repeats, n_folds)
        self.cells = [
            (r, k, fold) for r in range(repeats) for k in range(sets.Y.shape[1]) for fold in range(n_folds)
        ]

    def validate(self) -> NDArray[np.float64]:
        """(cells, settings, values of C, inner folds): average precision."""
        score = np.empty((len(self.cells), len(self.grid), len(PATH), INNER))
        for s, setting in enumerate(self.grid):
            jobs, held = [], []
            for r, k, fold in self.cells:
                folds = _inner(self.Y[:, k], self.folds[r, k] != fold, (r, k, fold))
                for part in range(INNER):
                    jobs.append(self._job(k, (folds >= 0) & (folds != part), setting, PATH))
                    held.append(folds == part)
            for number, path in enumerate(self._fit(jobs, 0, 3e-3)):
                y, out = jobs[number].relevant[held[number]], held[number]
                found = [average_precision(y, each.scores[out]) for each in path]
                score[number // INNER, s, :, number % INNER] = found
        return score

    def held_out(self, score: NDArray[np.float64], known: NDArray[np.int64] | None = None) -> list[Pooled]:
        """The outer folds' scores, each from the setting and the C that it has chosen. `known`: (labellings, bags),
        the row of the instance that is known, or −1."""
        best = [chosen(table, PATH) for table in score]
        jobs = [
            self._job(
                k,
                self.folds[r, k] != fold,
                self.grid[s],
                (PATH[c],),
                None if known is None else known[k],
            )
            for (r, k, fold), (s, c) in zip(self.cells, best, strict=True)
        ]
        fits = [self._fit(jobs, begin, 1e-3) for begin in range(max(1, len(self._begins)))]
        scores, size = (np.empty((len(self.folds), self.Y.shape[1], len(self.bags))) for _ in range(2))
        for number, (r, k, fold) in enumerate(self.cells):
            found = min((each[number][0] for each in fits), key=lambda one: one.objective)
            out, shifted = self.folds[r, k] == fold, found.scores + found.intercept
            scores[r, k, out] = shifted[out]
            size[r, k, out] = np.sqrt(np.mean(shifted[~out] ** 2))
        return [
            pooled(self.Y[:, k], scores[:, k], size[:, k], self.folds[:, k]) for k in range(self.Y.shape[1])
        ]

    def _job(
        self,
        k: int,
        train: NDArray[np.bool_],
        setting: Setting,
        path: Sequence[float],
        known: NDArray[np.int64] | None = None,
    ) -> Job:
        known = np.full(len(self.bags), -1) if known is None else known
        return Job(self.Y[:, k], train, setting, path, self.bags.offsets[:-1], known)

    def _fit(self, jobs: list[Job], begin: int, tol: float) -> list[list[Fit]]:
        if not self._begins:
            return fit_all(self.bags, jobs, tol=tol, n_threads=self._threads)
        return fit_latent(self.bags, self._begins[begin], jobs, tol=tol, n_threads=self._threads)


def nested(sets: Sets, method: str, *, repeats: int, n_folds: int) -> list[Pooled]:
    """Of each labelling, what a method reaches."""
    study = Nested(sets, method, repeats=repeats, n_folds=n_folds)
    return study.held_out(study.validate())


def supervised(
    study: Nested, score: NDArray[np.float64], known: NDArray[np.int64], shares: Sequence[float]
) -> list[float]:
    """Mean pooled average precision by the share of relevant bags whose instance is known."""
    drawn = np.random.default_rng(5).random(known.shape)
    found = [study.held_out(score, np.where(drawn < share, known, -1)) for share in shares]
    return [float(np.mean([each.ap.mean() for each in outcomes])) for outcomes in found]


def pooled(
    y: NDArray[np.bool_], scores: NDArray[np.float64], size: NDArray[np.float64], folds: NDArray[np.int64]
) -> Pooled:
    """Of the held-out scores of each repeat, what they are divided by, and the folds."""
    return Pooled(
        np.array([average_precision(y, row) for row in scores / size]),
        np.array([np.mean((row > 0) == y) for row in scores]),
        np.array([_within(y, row, fold) for row, fold in zip(scores, folds, strict=True)]),
        np.array([average_precision(y, row) for row in scores]),
    )


def _within(y: NDArray[np.bool_], scores: NDArray[np.float64], folds: NDArray[np.int64]) -> float:
    """Within a fold all scores are one model's."""
    parts = [folds == fold for fold in np.unique(folds)]
    return float(np.mean([average_precision(y[part], scores[part]) for part in parts if y[part].any()]))


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
