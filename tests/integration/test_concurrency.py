"""Several fits at a time, in threads and in forked processes, and what they leave behind."""

from __future__ import annotations

import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rankcut import BagRankSVM, Bags, Graph, GraphRankSVM, RankSVM
from rankcut.estimators.blas import one_blas_thread


def blas_threads() -> list[int]:
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def coefficients(_: int = 0) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    models = (
        RankSVM(C=10, n_jobs=2).fit(X, y),
        BagRankSVM(C=10, random_state=0, n_jobs=2).fit(Bags(X, np.arange(200) // 2), y[::2]),
        GraphRankSVM(C=10, n_jobs=2).fit(Graph(X, np.c_[np.arange(199), np.arange(1, 200)]), y),
    )
    return np.concatenate([model.coef_[0] for model in models])


def test_fits_at_the_same_time_are_as_alone_and_leave_blas_as_it_was() -> None:
    alone = coefficients()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(6) as pool:
            for found in pool.map(coefficients, range(12)):
                np.testing.assert_array_equal(found, alone)
        assert blas_threads() == before


def test_the_last_to_leave_puts_the_threads_of_blas_back() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert set(blas_threads()) <= {1}
        first.__exit__(None, None, None)
        assert set(blas_threads()) <= {1}
        with one_blas_thread():
            pass
        assert set(blas_threads()) <= {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
def test_a_fork_during_a_fit() -> None:
    alone = coefficients()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads
        with one_blas_thread(), multiprocessing.get_context("fork").Pool(2) as pool:
            for found in pool.map(coefficients, range(2)):
                np.testing.assert_array_equal(found, alone)
