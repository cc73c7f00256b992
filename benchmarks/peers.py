"""The peers, each as a function that trains on one half at one C and scores the other half."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.data import Halves
from rankcut import RankSVM
from rankcut.metrics import average_precision

OUR_CS = (1.0, 10.0, 100.0, 1000.0)
LINEAR_CS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
# dlib's risk is, as ours, a mean over pairs that lies in [0, 1] near w = 0: its C has our scale.
DLIB_CS = (1.0, 10.0, 100.0, 1000.0)


class Fit(NamedTuple):
    C: float
    seconds: float
    ap: float
    converged: bool = True


def rank_svm(halves: Halves, C: float, **options: Any) -> Fit:
    model = RankSVM(C=C, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(halves.X, halves.y)
        seconds = time.perf_counter() - start
    scores = halves.X_test @ model.coef_[0]
    return Fit(C, seconds, average_precision(halves.y_test, scores), bool(model.dual_gap_ <= model.tol))


def linear_svc(halves: Halves, C: float) -> Fit:
    """scikit-learn's LinearSVC with its defaults."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=C)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(halves.X, halves.y)
        seconds = time.perf_counter() - start
    scores = halves.X_test @ model.coef_[0]
    return Fit(C, seconds, average_precision(halves.y_test, scores), not caught)


def light_gbm(halves: Halves) -> Fit:
    """LightGBM, 100 trees, its defaults. Not linear: what a linear ranker gives away."""
    import lightgbm

    data = lightgbm.Dataset(halves.X, halves.y, params={"verbose": -1}, free_raw_data=False)
    start = time.perf_counter()
    model = lightgbm.train({"objective": "binary", "verbose": -1}, data, num_boost_round=100)
    seconds = time.perf_counter() - start
    scores = np.asarray(model.predict(halves.X_test))
    return Fit(0.0, seconds, average_precision(halves.y_test, scores))


def dlib_fits(
    X: Any, y: NDArray[np.int8], X_test: Any, y_test: NDArray[np.int8], Cs: tuple[float, ...], repeat: int
) -> Iterator[Fit]:
    """dlib's svm_rank_trainer with its defaults, in a process of its own: it cannot be interrupted.

    Only the training is timed, not the conversion of the data to dlib's vectors.
    """
    import dlib  # type: ignore[import-not-found]

    sparse = sp.issparse(X)
    if sparse:
        X.sort_indices()  # it crashes on rows whose columns are out of order
    trainer = dlib.svm_rank_trainer_sparse() if sparse else dlib.svm_rank_trainer()
    pair = dlib.sparse_ranking_pair() if sparse else dlib.ranking_pair()
    for i in range(len(y)):
        (pair.relevant if y[i] else pair.nonrelevant).append(_dlib_vector(dlib, X, i, sparse))
    for C in Cs:
        trainer.c = C
        for _ in range(repeat):
            start = time.perf_counter()
            ranker = trainer.train(pair)
            seconds = time.perf_counter() - start
            w = np.zeros(X.shape[1])
            if sparse:
                for entry in ranker.weights:
                    w[entry.first] = entry.second
            else:
                w[:] = np.array(ranker.weights).ravel()
            yield Fit(C, seconds, average_precision(y_test, X_test @ w))


def _dlib_vector(dlib: Any, X: Any, i: int, sparse: bool) -> Any:
    if not sparse:
        return dlib.vector(X[i])
    row = dlib.sparse_vector()
    low, high = X.indptr[i], X.indptr[i + 1]
    for j, value in zip(X.indices[low:high].tolist(), X.data[low:high].tolist(), strict=True):
        row.append(dlib.pair(j, value))
    return row
