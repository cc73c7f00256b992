"""The character experiment of the weak-label literature: which words contain a character?

A word image is a bag of windows; a ranker per character is trained on the words alone. C (and J, c for the hinge) by
5-fold cross-validation on the training words, 3 starts in the final fit, tested on the test words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.weak_fits import Fit, Job, Setting, chosen, climb, drawn, fit_all, means, stratified
from rankcut.data import Bags
from rankcut.metrics import average_precision

PATH = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
ENOUGH = 150  # positive training words
RIGHT = 0.5  # overlap above which a window is right
FOLDS, STARTS = 5, 3


class Grid(NamedTuple):
    """What a method chooses from; and if it starts from another ranker of the same words, of which setting and C."""

    settings: list[Setting]
    after: tuple[Setting, float] | None = None


GRID = {
    "latent AP-SVM": Grid([Setting("ap")]),
    "latent SVM": Grid([Setting("hinge", J, c) for J in (1.0, None) for c in (0.0, 0.3)]),
    "latent AP-SVM after SVM": Grid([Setting("ap")], after=(Setting("hinge", 1.0), 300.0)),
}


class Words(NamedTuple):
    train: Bags
    test: Bags
    Y: NDArray[np.bool_]  # (training words, characters)
    Y_test: NDArray[np.bool_]
    names: list[str]
    right: NDArray[np.bool_]  # (test windows, characters): it lies on that character, with an overlap above ½
    overlap_train: NDArray[
        np.float64
    ]  # (training windows, characters): with the character, if it lies on one


class Outcome(NamedTuple):
    """Of one method, by character."""

    ap: NDArray[np.float64]
    located: NDArray[np.float64]  # share of the test words with the character whose chosen window lies on it
    chosen: list[tuple[Setting, float]]
    validated: NDArray[np.float64]  # mean AP over the folds
    seconds: tuple[float, float]  # of the processor: cross-validation, final fits


def load_words(limit: int | None = None) -> Words:
    found = data.load("words/iiit5k_bags")
    is_test, bag = found["is_test"], found["bag"]
    X = found["X"].astype(np.float32) / np.float32(255)
    in_test = is_test[bag]
    Y = found["Y"] > 0
    frequent = np.flatnonzero(Y[~is_test].sum(axis=0) >= ENOUGH)
    if limit is not None:
        frequent = frequent[np.argsort(-Y[~is_test].sum(axis=0)[frequent], kind="stable")[:limit]]
    overlap = np.where(found["win_char"][:, None] == frequent, found["win_iou"][:, None].astype(float), 0.0)
    return Words(
        Bags(X[~in_test], bag[~in_test]),
        Bags(X[in_test], bag[in_test]),
        Y[~is_test][:, frequent],
        Y[is_test][:, frequent],
        [str(found["alphabet"][k]) for k in frequent],
        overlap[in_test] > RIGHT,
        overlap[~in_test],
    )


def folds_of(words: Words) -> NDArray[np.int64]:
    """(characters, words)"""
    rng = np.random.default_rng(0)
    rows = np.arange(len(words.train))
    return np.stack([stratified(y, rows, FOLDS, rng) for y in words.Y.T])


class Study:
    """Cross-validation and final fits of one method: all characters, folds and values of C of a setting in lockstep.
    `known`: (characters, words), the row of the instance that is known, or −1."""

    def __init__(
        self,
        words: Words,
        grid: Grid,
        *,
        known: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.words, self._threads = words, n_threads
        self.settings, self._after = grid
        bags, rng = words.train, np.random.default_rng(1)
        self._latent = len(bags) < bags.offsets[-1]
        self._begins = [means(bags), *(drawn(bags, rng) for _ in range(STARTS - 1))] if self._latent else []
        self._known = np.full((words.Y.shape[1], len(bags)), -1) if known is None else known

    def validate(self, setting: Setting) -> NDArray[np.float64]:
        """(characters, values of C, folds): average precision."""
        Y, folds = self.words.Y, folds_of(self.words)
        K = Y.shape[1]
        jobs = [self._job(k, folds[k] != fold, setting, PATH) for k in range(K) for fold in range(FOLDS)]
        score = np.empty((K, len(PATH), FOLDS))
        for number, path in enumerate(self._fit(jobs, 0, 3e-3)):
            k, fold = divmod(number, FOLDS)
            out = folds[k] == fold
            score[k, :, fold] = [average_precision(Y[out, k], each.scores[out]) for each in path]
        return score

    def finish(self, score: NDArray[np.float64], seconds: float = 0.0) -> Outcome:
        """The final fits, with what (characters, settings, values of C, folds) of scores have chosen."""
        began = time.process_time()
        best = [chosen(table, PATH) for table in score]
        every = np.ones(len(self.words.train), dtype=bool)
        jobs = [self._job(k, every, self.settings[s], PATH[: c + 1]) for k, (s, c) in enumerate(best)]
        fits = [self._fit(jobs, begin, 1e-3) for begin in range(max(1, len(self._begins)))]
        final = [min((paths[k][-1] for paths in fits), key=_objective) for k in range(len(jobs))]
        spent = time.process_time() - began
        return Outcome(
            *tested(self.words, np.stack([fit.w for fit in final])),
            [(self.settings[s], PATH[c]) for s, c in best],
            np.array([table[at].mean() for table, at in zip(score, best, strict=True)]),
            (seconds, spent),
        )

    def _job(self, k: int, train: NDArray[np.bool_], setting: Setting, path: Sequence[float]) -> Job:
        return Job(self.words.Y[:, k], train, setting, path, self.words.train.offsets[:-1], self._known[k])

    def _fit(self, jobs: list[Job], begin: int, tol: float) -> list[list[Fit]]:
        if not self._latent:
            return fit_all(self.words.train, jobs, tol=tol, n_threads=self._threads)
        if self._after is None:
            return climb(self.words.train, self._begins[begin], jobs, tol=tol, n_threads=self._threads)
        setting, C = self._after
        first = [replace(job, setting=setting, path=up_to(C)) for job in jobs]
        found = climb(self.words.train, self._begins[begin], first, tol=tol, n_threads=self._threads)
        started = [replace(job, start=path[-1].w) for job, path in zip(jobs, found, strict=True)]
        return fit_all(self.words.train, started, tol=tol, n_threads=self._threads)


def run_method(words: Words, grid: Grid) -> Outcome:
    study, began = Study(words, grid), time.process_time()
    score = np.stack([study.validate(setting) for setting in grid.settings], axis=1)
    return study.finish(score, time.process_time() - began)


def tested(words: Words, W: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test AP, and how often the chosen window is right, by character."""
    bags = words.test
    ap, located = np.empty(len(W)), np.empty(len(W))
    for k, w in enumerate(W):
        z = bags.instances @ w
        best = np.maximum.reduceat(z, bags.offsets[:-1])
        ap[k] = average_precision(words.Y_test[:, k], best)
        chosen = np.array(
            [a + np.argmax(z[a:b]) for a, b in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)]
        )
        located[k] = np.mean(words.right[chosen[words.Y_test[:, k]], k])
    return ap, located


def summarised(words: Words, how: str) -> Words:
    """One instance a word: the mean of its windows, or the largest of each feature."""

    def squeeze(bags: Bags) -> Bags:
        if how == "mean":
            return means(bags)
        return Bags(np.maximum.reduceat(bags.instances, bags.offsets[:-1], axis=0), np.arange(len(bags)))

    none = np.zeros((len(words.test), words.Y.shape[1]), dtype=bool)
    return words._replace(train=squeeze(words.train), test=squeeze(words.test), right=none)


def up_to(C: float) -> tuple[float, ...]:
    """The path that ends at C."""
    return PATH[: PATH.index(C) + 1]


def _objective(fit: Fit) -> float:
    return fit.objective


def known_rows(words: Words, share: float, rng: Any) -> NDArray[np.int64]:
    """For each character the row of the window that overlaps it most, in a share of the training words that have one
    which is right."""
    bags = words.train
    known = np.full((words.Y.shape[1], len(bags)), -1)
    for k in range(words.Y.shape[1]):
        overlap = words.overlap_train[:, k]
        best = np.array(
            [a + np.argmax(overlap[a:b]) for a, b in zip(bags.offsets, bags.offsets[1:], strict=False)]
        )
        taken = words.Y[:, k] & (overlap[best] > RIGHT) & (rng.random(len(bags)) < share)
        known[k, taken] = best[taken]
    return known
