"""The character experiment of the weak-label literature: which words contain a character?

A word image is a bag of windows; a ranker per character is trained on the words alone. C (and J, c for the hinge) by
5-fold cross-validation on the training words, 3 starts in the final fit, tested on the test words.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.weak_fits import Fit, Job, Setting, drawn, fit_all, fit_latent, means, stratified
from rankcut.data import Bags
from rankcut.metrics import average_precision

PATH = (10.0, 30.0, 100.0, 300.0)
ENOUGH = 150  # positive training words
RIGHT = 0.5  # overlap above which a window is right
FOLDS, STARTS = 3, 3
GRID = {
    "latent AP-SVM": [Setting("ap")],
    "latent SVM": [Setting("hinge", J, c) for J in (1.0, None) for c in (0.0, 0.3)],
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
    seconds: tuple[float, float]  # cross-validation, final fits


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


def run_method(
    words: Words,
    settings: list[Setting],
    *,
    known: NDArray[np.int64] | None = None,
    n_threads: int = 1,
    log: Callable[[str], None] = print,
) -> Outcome:
    """`known`: (characters, words), the row of the instance that is known, or −1."""
    bags, Y = words.train, words.Y
    folds, rng = folds_of(words), np.random.default_rng(1)
    K, first = Y.shape[1], bags.offsets[:-1]
    latent = len(bags) < bags.offsets[-1]
    if known is None:
        known = np.full((K, len(bags)), -1)
    begins = [means(bags), drawn(bags, rng), drawn(bags, rng)]
    began = time.perf_counter()
    score = np.zeros((K, len(settings), len(PATH)))

    def fit(jobs: list[Job], begin: Bags, tol: float) -> list[list[Fit]]:
        if latent:
            return fit_latent(bags, begin, jobs, tol=tol, n_threads=n_threads)
        return fit_all(bags, jobs, tol=tol, n_threads=n_threads)

    for s, setting in enumerate(settings):
        jobs = [
            Job(Y[:, k], folds[k] != fold, setting, PATH, first, known[k])
            for k in range(K)
            for fold in range(FOLDS)
        ]
        for number, path in enumerate(fit(jobs, begins[0], 3e-3)):
            k, fold = divmod(number, FOLDS)
            out = folds[k] == fold
            score[k, s] += [average_precision(Y[out, k], each.scores[out]) / FOLDS for each in path]
        log(f"cross-validation of {setting}: {time.perf_counter() - began:.0f} s")
    middle = time.perf_counter()
    best = [np.unravel_index(int(np.argmax(table)), table.shape) for table in score]
    every = np.ones(len(bags), dtype=bool)
    jobs = [Job(Y[:, k], every, settings[s], (PATH[c],), first, known[k]) for k, (s, c) in enumerate(best)]
    fits = [fit(jobs, begin, 1e-3) for begin in (begins[:STARTS] if latent else begins[:1])]
    final = [min((paths[k][0] for paths in fits), key=_objective) for k in range(K)]
    done = time.perf_counter()
    ap, located = tested(words, np.stack([fit.w for fit in final]))
    return Outcome(
        ap,
        located,
        [(settings[s], PATH[c]) for s, c in best],
        score.max(axis=(1, 2)),
        (middle - began, done - middle),
    )


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
