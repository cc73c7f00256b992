"""Small structured problems, and their optima by writing out every output."""

from __future__ import annotations

from itertools import product
from typing import Any

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from rankcut import InputError, StructuralSVM
from rankcut.reference.structural import Enumerated

MISSING = -1


class Multiclass:
    """One of K labels; a block of w for each."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels

    def joint_feature(self, x: np.ndarray, y: int) -> np.ndarray:
        feature = np.zeros((self.n_labels, len(x)))
        feature[y] = x
        return feature.ravel()

    def loss(self, y_true: int, y: int) -> float:
        return float(y != y_true)

    def loss_augmented(self, w: np.ndarray, x: np.ndarray, y_true: int) -> int:
        scores = w.reshape(self.n_labels, -1) @ x
        return int(np.argmax(scores + (np.arange(self.n_labels) != y_true)))

    def predict(self, w: np.ndarray, x: np.ndarray) -> int:
        return int(np.argmax(w.reshape(self.n_labels, -1) @ x))

    def outputs(self, x: np.ndarray) -> list[int]:
        return list(range(self.n_labels))


class Chain:
    """A label for each place of a sequence, with scores for neighbours; MISSING ones are not known."""

    def __init__(self, n_labels: int, n_inputs: int) -> None:
        self.n_labels, self.n_inputs = n_labels, n_inputs
        self.size = n_labels * n_inputs + n_labels * n_labels

    def joint_feature(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        labels = np.asarray(y)
        if (labels == MISSING).any():
            raise ValueError("an incomplete sequence has no joint feature")
        inputs, pairs = np.zeros((self.n_labels, self.n_inputs)), np.zeros((self.n_labels, self.n_labels))
        np.add.at(inputs, labels, x)
        np.add.at(pairs, (labels[:-1], labels[1:]), 1.0)
        return np.concatenate((inputs.ravel(), pairs.ravel()))

    def loss(self, y_true: np.ndarray, y: np.ndarray) -> float:
        known = np.asarray(y_true) != MISSING
        return float(np.mean(np.asarray(y)[known] != np.asarray(y_true)[known])) if known.any() else 0.0

    def loss_augmented(self, w: np.ndarray, x: np.ndarray, y_true: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(np.asarray(y_true) != MISSING)
        extra = np.zeros((len(x), self.n_labels))
        extra[known] = 1.0 / max(1, len(known))
        extra[known, np.asarray(y_true)[known]] = 0.0
        return self._best(w, x, extra)

    def predict(self, w: np.ndarray, x: np.ndarray) -> np.ndarray:
        return self._best(w, x, np.zeros((len(x), self.n_labels)))

    def impute(self, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(np.asarray(y) != MISSING)
        extra = np.zeros((len(x), self.n_labels))
        extra[known] = -1e9
        extra[known, np.asarray(y)[known]] = 0.0
        return self._best(w, x, extra)

    def outputs(self, x: np.ndarray) -> list[np.ndarray]:
        return [np.array(y) for y in product(range(self.n_labels), repeat=len(x))]

    def _best(self, w: np.ndarray, x: np.ndarray, extra: np.ndarray) -> np.ndarray:
        """Viterbi."""
        split = self.n_labels * self.n_inputs
        scores = x @ w[:split].reshape(self.n_labels, -1).T + extra
        pairs = w[split:].reshape(self.n_labels, -1)
        best, back = scores[0], []
        for place in scores[1:]:
            through = best[:, None] + pairs
            back.append(through.argmax(axis=0))
            best = through.max(axis=0) + place
        labels = [int(best.argmax())]
        for pointers in reversed(back):
            labels.append(int(pointers[labels[-1]]))
        return np.array(labels[::-1])


def enumerated(problem: Any, X: list[Any], y: list[Any]) -> Enumerated:
    """All outputs of all samples; those that agree with what is known of y_i complete it."""
    features, losses, truths = [], [], []
    for x, truth in zip(X, y, strict=True):
        outputs = problem.outputs(x)
        features.append(np.array([problem.joint_feature(x, each) for each in outputs]))
        losses.append(np.array([problem.loss(truth, each) for each in outputs]))
        known = np.asarray(truth) != MISSING
        agrees = [bool(np.all((np.asarray(each) == truth) | ~known)) for each in outputs]
        truths.append(np.flatnonzero(agrees).tolist())
    return Enumerated(features, losses, truths)


def labels(
    rng: np.random.Generator, n: int, n_labels: int, d: int
) -> tuple[Multiclass, list[Any], list[Any]]:
    y = rng.integers(0, n_labels, n)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n_labels, d))[y]
    return Multiclass(n_labels), list(X), [int(label) for label in y]


def chains(
    rng: np.random.Generator, n: int, n_labels: int, length: int, d: int, missing: float = 0.0
) -> tuple[Chain, list[Any], list[Any]]:
    X, y = [], []
    for _ in range(n):
        labels = rng.integers(0, n_labels, int(rng.integers(1, length + 1)))
        X.append(rng.normal(size=(len(labels), d)) + 2.0 * np.eye(n_labels, d)[labels])
        y.append(np.where(rng.random(len(labels)) < missing, MISSING, labels))
    return Chain(n_labels, d), X, y


def exact(problem: Enumerated, C: float) -> float:
    """min ½‖w‖² + C/n Σ ξ_i with a constraint for every output, by Clarabel."""
    n, d = len(problem.features), problem.features[0].shape[1]
    rows, limits = [], []
    for i, (features, losses, truths) in enumerate(
        zip(problem.features, problem.losses, problem.truths, strict=True)
    ):
        slack = np.zeros((len(losses), n))
        slack[:, i] = -1.0
        rows.append(np.hstack((features - features[truths[0]], slack)))
        limits.append(-losses)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sp.csc_matrix(np.diag([1.0] * d + [0.0] * n))
    q = np.array([0.0] * d + [C / n] * n)
    b = np.concatenate(limits)
    A = sp.csc_matrix(np.vstack(rows))
    found = clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(len(b))], settings).solve()
    assert "Solved" in str(found.status)
    return float(found.obj_val)


def draw(kind: str, rng: np.random.Generator, n: int = 6) -> tuple[Any, list[Any], list[Any]]:
    return labels(rng, n, 3, 4) if kind == "labels" else chains(rng, n, 3, 3, 3)


def refuse(words: str, problem: Any, X: Any = None, y: Any = None, **options: Any) -> None:
    X = [np.ones(2), np.zeros(2)] if X is None else X
    y = [0, 1] if y is None else y
    with pytest.raises(InputError, match=words):
        StructuralSVM(problem, **options).fit(X, y)
