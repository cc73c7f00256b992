"""The contract of a design. Every kind of matrix must pass all of it."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcut import _core
from rankcut.designs import Design, Passes, make_design

SHAPES = [(1, 1), (1, 9), (9, 1), (2, 3), (7, 8), (33, 17), (100, 5), (300, 130), (40, 2100)]
PROBLEMS = [1, 2, 3, 6, 7, 8, 9, 13, 70]


def _unsorted(X: Any) -> sp.csr_matrix:
    """Rows backwards, and every entry split into two halves."""
    X = X.tocsr()
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((-np.arange(2 * X.nnz), np.tile(row, 2)))
    data, indices = np.tile(X.data / 2, 2)[order], np.tile(X.indices, 2)[order]
    return sp.csr_matrix((data, indices, 2 * X.indptr), shape=X.shape)


def _int64(X: Any) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _wide_slice(X: np.ndarray) -> np.ndarray:
    wide = np.full((2 * X.shape[0], X.shape[1] + 5), np.nan, X.dtype)
    wide[::2, 2:-3] = X
    return wide[::2, 2:-3]


def _read_only(X: np.ndarray) -> np.ndarray:
    X.setflags(write=False)
    return X


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "C backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "C slice": _wide_slice,
    "F slice": lambda X: _wide_slice(X.T).T,
    "read-only": _read_only,
    "CSR": sp.csr_matrix,
    "CSC": sp.csc_matrix,
    "CSR array": sp.csr_array,
    "CSR int64": lambda X: _int64(sp.csr_matrix(X)),
    "CSC int64": lambda X: _int64(sp.csc_matrix(X)),
    "CSR unsorted, duplicates": lambda X: _unsorted(sp.csr_matrix(X)),
    "CSC unsorted, duplicates": lambda X: _unsorted(sp.csr_matrix(X.T)).T,
}


def _matrix(n: int, d: int, dtype: type, seed: int = 0) -> np.ndarray:
    """Two in five numbers are 0, and so is every seventh row."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[6::7] = 0
    return X.astype(dtype)


def _weights(k: int, n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((k, n))


def _pull_weights(k: int, n: int, share: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(2)
    return _weights(k, n) * (rng.random((k, n)) < 0.7) * (rng.random(n) < share)


def _assert_close(got: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Equal to left @ right up to 1e-12 of the size of what was summed."""
    size = np.abs(left) @ np.abs(right)
    assert got.dtype == np.float64
    assert got.flags.c_contiguous
    assert np.all(np.abs(got - left @ right) <= 1e-12 * size)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Callable[[np.ndarray], Any]:
    return KINDS[request.param]


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_numpys(kind: Any, dtype: type, shape: tuple[int, int]) -> None:
    X = _matrix(*shape, dtype)
    design = make_design(kind(X.copy()), n_threads=2)
    exact = X.astype(np.float64)
    assert (design.n_rows, design.n_columns) == shape
    for k in PROBLEMS if shape[1] < 1000 else (1, 10):
        W, A = _weights(k, shape[1]), _pull_weights(k, shape[0])
        _assert_close(design.scores(W), W, exact.T)
        _assert_close(design.pull(A), A, exact)


@pytest.mark.parametrize("share", [0.0, 0.02, 1.0])
def test_few_rows_pull(kind: Any, dtype: type, share: float) -> None:
    X = _matrix(5000, 40, dtype)
    design = make_design(kind(X.copy()), n_threads=2)
    for k in (1, 4, 9):
        A = _pull_weights(k, 5000, share)
        _assert_close(design.pull(A), A, X.astype(np.float64))


@pytest.mark.parametrize("shape", [(60_000, 40), (300, 9000), (9000, 12)])
def test_threads_change_no_bit(kind: Any, dtype: type, shape: tuple[int, int]) -> None:
    X = kind(_matrix(*shape, dtype))
    one, *others = (make_design(X, n_threads=t) for t in (1, 2, 3))
    for k in (1, 5, 10):
        W, A = _weights(k, shape[1]), _pull_weights(k, shape[0])
        scores, pulled = one.scores(W), one.pull(A)
        for other in others:
            assert np.array_equal(other.scores(W), scores)
            assert np.array_equal(other.pull(A), pulled)


def test_scores_do_not_depend_on_the_problems_beside_them(kind: Any, dtype: type) -> None:
    design = make_design(kind(_matrix(3000, 130, dtype)), n_threads=2)
    W = _weights(23, 130)
    together = design.scores(W)
    for k in range(23):
        assert np.array_equal(design.scores(W[k : k + 1])[0], together[k])
    assert np.array_equal(design.scores(W[5:12]), together[5:12])


def test_passes_are_counted(kind: Any) -> None:
    design = make_design(kind(_matrix(100, 5, np.float64)), n_threads=1)
    assert design.passes == Passes(0.0, 0.0)
    design.scores(_weights(7, 5))
    assert design.passes == Passes(1.0, 0.0)
    A = np.zeros((3, 100))
    design.pull(A)
    A[0, 10:20] = 1.0
    A[2, 15:25] = -1.0
    design.pull(A)
    assert design.passes == pytest.approx((1.0, 0.15))
    design.pull(np.ones((1, 100)))
    assert design.passes == pytest.approx((1.0, 1.15))


@pytest.mark.parametrize("shape", SHAPES)
def test_moments(kind: Any, dtype: type, shape: tuple[int, int]) -> None:
    X = _matrix(*shape, dtype)
    rng = np.random.default_rng(2)
    index = np.sort(rng.choice(shape[0], size=rng.integers(0, shape[0] + 1), replace=False))
    weights, vectors = rng.random(len(index)), rng.standard_normal((3, len(index)))
    design = make_design(kind(X), n_threads=2)
    second, first = design.moments(index, weights, vectors)
    rows = X[index].astype(np.float64)
    np.testing.assert_allclose(second, (rows.T * weights) @ rows, atol=1e-5 if dtype is np.float32 else 1e-12)
    np.testing.assert_allclose(first, vectors @ rows, atol=1e-5 if dtype is np.float32 else 1e-12)
    assert design.passes == Passes(0.0, len(index) / shape[0])
    assert design.moments_work > 0 or not X.any()


def test_rows(kind: Any, dtype: type) -> None:
    X = _matrix(30, 6, dtype)
    design = make_design(kind(X.copy()), n_threads=1)
    rows = design.rows([4, 0, 29, 4])
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous
    assert np.array_equal(rows, X[[4, 0, 29, 4]])
    assert design.rows(np.array([], dtype=np.intp)).shape == (0, 6)
    assert design.passes == Passes(0.0, 0.0)


def test_nothing_is_copied(kind: Any, dtype: type) -> None:
    X = kind(_matrix(20_000, 40, dtype))
    size = X.data.nbytes if sp.issparse(X) else X.nbytes
    W, A = _weights(1, 40), _pull_weights(1, 20_000)
    tracemalloc.start()
    design = make_design(X, n_threads=2)
    design.scores(W)
    design.pull(A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * size + 20_000 * 8  # one score vector


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_empty(kind: Any, shape: tuple[int, int]) -> None:
    design = make_design(kind(np.zeros(shape)), n_threads=2)
    assert np.array_equal(design.scores(np.ones((2, shape[1]))), np.zeros((2, shape[0])))
    assert np.array_equal(design.pull(np.ones((2, shape[0]))), np.zeros((2, shape[1])))
    assert design.scores(np.ones((0, shape[1]))).shape == (0, shape[0])


@pytest.mark.parametrize("wrong", [(1, 4), (1, 6), (5,), (2, 1, 5)])
def test_wrong_shapes_of_weights(kind: Any, wrong: tuple[int, ...]) -> None:
    design = make_design(kind(_matrix(5, 5, np.float64)), n_threads=1)
    with pytest.raises(ValueError, match=r"W must have shape \(K, 5\)"):
        design.scores(np.ones(wrong))
    with pytest.raises(ValueError, match=r"A must have shape \(K, 5\)"):
        design.pull(np.ones(wrong))


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(list(KINDS)),
    dtype=st.sampled_from([np.float32, np.float64]),
    n=st.integers(1, 70),
    d=st.integers(1, 70),
    k=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_adjoint(kind: str, dtype: type, n: int, d: int, k: int, seed: int) -> None:
    X = _matrix(n, d, dtype, seed)
    design = make_design(KINDS[kind](X.copy()), n_threads=2)
    W, A = _weights(k, d, seed), _weights(k, n, seed + 1)
    size = float(np.sum(np.abs(A) * (np.abs(W) @ np.abs(X.T.astype(np.float64)))))
    assert abs(np.sum(design.scores(W) * A) - np.sum(W * design.pull(A))) <= 1e-12 * size


@pytest.mark.parametrize("which", range(len(_core.instruction_sets())))
def test_every_instruction_set(kind: Any, dtype: type, which: int) -> None:
    X = _matrix(300, 61, dtype)
    design = make_design(kind(X.copy()), n_threads=2)
    _core.use_instruction_set(which)
    try:
        for k in PROBLEMS:
            W, A = _weights(k, 61), _pull_weights(k, 300)
            _assert_close(design.scores(W), W, X.T.astype(np.float64))
            _assert_close(design.pull(A), A, X.astype(np.float64))
            assert np.array_equal(design.scores(W)[-1], design.scores(W[-1:])[0])
    finally:
        _core.use_instruction_set(0)


def test_memory_map(tmp_path: Path) -> None:
    X = _matrix(500, 30, np.float32)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", dtype=np.float32, mode="r", shape=X.shape)
    design = make_design(mapped, n_threads=2)
    W, A = _weights(3, 30), _pull_weights(3, 500)
    assert np.array_equal(design.scores(W), make_design(X, n_threads=1).scores(W))
    assert np.array_equal(design.pull(A), make_design(X, n_threads=1).pull(A))


def test_after_fork() -> None:
    design = make_design(_matrix(20_000, 40, np.float32), n_threads=2)
    expected = design.scores(_weights(1, 40))
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, pickle.dumps(np.array_equal(design.scores(_weights(1, 40)), expected)))
        os._exit(0)
    os.waitpid(child, 0)
    assert pickle.loads(os.read(reader, 100)) is True


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("type_", [np.int64, np.float16, np.complex128, object, bool, ">f8"])
def test_other_types_are_the_callers(type_: Any) -> None:
    with pytest.raises(TypeError, match="float32 or float64"):
        make_design(np.zeros((3, 3), dtype=type_), n_threads=1)


def test_other_layouts_are_the_callers() -> None:
    X = np.zeros((6, 6))
    with pytest.raises(TypeError, match="ascontiguousarray"):
        make_design(X[::2, ::2], n_threads=1)
    packed = np.zeros(6, dtype=[("flag", "i1"), ("x", "f8", 3)])["x"]
    with pytest.raises(TypeError, match="ascontiguousarray"):
        make_design(packed, n_threads=1)
    for other in (sp.coo_matrix(X), sp.lil_matrix(X), [[1.0]], None):
        with pytest.raises(TypeError):
            make_design(other, n_threads=1)
    with pytest.raises(ValueError, match="2 dimensions"):
        make_design(np.zeros(3), n_threads=1)
    with pytest.raises(ValueError, match="n_threads"):
        make_design(X, n_threads=0)


def _broken(part: str, at: int, value: int, kind: Any = sp.csr_matrix) -> Any:
    X = kind(np.ones((4, 3)))
    getattr(X, part)[at] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (_broken("indices", 4, 3), "row 1 has column index 3"),
        (_broken("indices", 11, -1), "row 3 has column index -1"),
        (_broken("indices", 4, 4, sp.csc_matrix), "column 1 has row index 4"),
        (_broken("indices", 0, 2**31 - 1), "row 0"),
        (_broken("indptr", 2, 2), "falls from 3 to 2 at row 1"),
        (_broken("indptr", 2, 2, sp.csc_matrix), "at column 1"),
        (_broken("indptr", 0, 1), "starts at 1"),
        (_broken("indptr", 0, -1), "starts at -1"),
        (_broken("indptr", 4, 13), "only 12 entries"),
        (_broken("indptr", 4, 2**31 - 1), "only 12 entries"),
        (_broken("indptr", 2, -(2**31)), "falls"),
    ],
)
def test_broken_sparse_structure(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_design(X, n_threads=1)


@pytest.mark.parametrize("part", ["indices", "data", "indptr"])
def test_sparse_lengths_that_differ(part: str) -> None:
    X = sp.csr_matrix(np.ones((4, 3)))
    setattr(X, part, getattr(X, part)[:-1])
    with pytest.raises(ValueError, match=r"length|entr"):
        make_design(X, n_threads=1)


def test_sparse_with_indices_of_two_types() -> None:
    X = sp.csr_matrix(_matrix(20, 7, np.float64))
    X.indptr = X.indptr.astype(np.int64)
    design: Design = make_design(X, n_threads=1)
    W = _weights(2, 7)
    _assert_close(design.scores(W), W, X.toarray().T)
    X.indptr[-1] = 2**40
    with pytest.raises(ValueError, match="indptr"):
        make_design(X, n_threads=1)
