"""The designs of graphs against the matrices they stand for, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rankcut.designs import ComplementDesign, Design, RelatedDesign, SimilarityDesign, make_design


def check(design: Design, full: np.ndarray, rng: np.random.Generator) -> None:
    """The contract of a design (tests/contract/test_designs.py), for one that equals `full`."""
    assert (design.n_rows, design.n_columns) == full.shape
    assert design.work >= 0
    for K in (1, 3):
        W, A = rng.normal(size=(K, full.shape[1])), rng.normal(size=(K, full.shape[0]))
        before = design.passes
        np.testing.assert_allclose(design.scores(W), W @ full.T, rtol=1e-6, atol=1e-6)
        assert design.passes.forward == before.forward + 1
        A[:, ::2] = 0.0
        np.testing.assert_allclose(design.pull(A), A @ full, rtol=1e-6, atol=1e-6)
        weighty = np.count_nonzero(A.any(axis=0))
        assert design.passes.backward - before.backward == pytest.approx(weighty / max(1, len(full)))
    if len(full):
        index = rng.integers(0, len(full), size=4)
        np.testing.assert_allclose(design.rows(index), full[index], rtol=1e-6, atol=1e-7)


def similarity(X: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.exp(-((X[edges[:, 0]] - X[edges[:, 1]]) ** 2))


def case(rng: np.random.Generator, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    n, d, m = int(rng.integers(2, 30)), int(rng.integers(1, 12)), int(rng.integers(0, 60))
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)).astype(dtype)
    edges = rng.integers(0, n, size=(m, 2))
    return X, edges[edges[:, 0] != edges[:, 1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.ascontiguousarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("max_memory", [1e9, 700.0, 1.0])
def test_similarity(kind: Any, dtype: Any, max_memory: float, rng: np.random.Generator) -> None:
    for _ in range(10):
        X, edges = case(rng, dtype)
        for n_threads in (1, 3):
            design = SimilarityDesign(kind(X), edges, n_threads=n_threads, max_memory=max_memory)
            check(design, similarity(X.astype(float), edges), rng)


def test_similarity_of_far_and_equal_rows() -> None:
    X = np.array([[1e200, 1.0], [-1e200, 1.0], [0.0, 1.0]])
    for kind in (np.asarray, sp.csr_matrix):
        design = SimilarityDesign(kind(X), np.array([[0, 1], [1, 2]]), n_threads=1, max_memory=1e9)
        np.testing.assert_array_equal(design.rows([0, 1]), [[0.0, 1.0], [0.0, 1.0]])
        np.testing.assert_array_equal(design.scores(np.array([[1.0, 2.0]])), [[2.0, 2.0]])


def test_sparse_similarity_is_not_written_out() -> None:
    """100,000 columns and 10,000 edges: Φ would take 8 GB, and 1 − Φ takes the few entries that differ."""
    rng = np.random.default_rng(0)
    places = (np.repeat(np.arange(2000), 2), rng.integers(0, 100_000, size=4000))
    X = sp.csr_matrix((rng.random(4000), places), shape=(2000, 100_000))
    edges = rng.integers(0, 2000, size=(10_000, 2))
    design = SimilarityDesign(X, edges, n_threads=1, max_memory=1e6)
    w = -rng.random((1, 100_000))
    e = 17
    difference = (X[edges[e, 0]] - X[edges[e, 1]]).toarray()
    assert design.scores(w)[0, e] == pytest.approx(float((np.exp(-(difference**2)) @ w[0])[0]))


def test_complement(rng: np.random.Generator) -> None:
    for _ in range(20):
        Q = sp.random(int(rng.integers(1, 20)), int(rng.integers(1, 20)), density=0.3, format="csr", rng=rng)
        check(ComplementDesign(Q, n_threads=1), 1.0 - Q.toarray(), rng)


def test_related(rng: np.random.Generator) -> None:
    for _ in range(30):
        X, edges = case(rng)
        eta = 10.0 ** rng.uniform(-2, 2, size=len(edges) if rng.random() < 0.5 else None)
        phi = similarity(X, edges)
        full = np.zeros((len(X) + len(edges), 2 * X.shape[1]))
        full[: len(X), : X.shape[1]] = X
        full[len(X) :, X.shape[1] :] = -np.reshape(eta, (-1, 1)) * phi
        for edge_design in (
            SimilarityDesign(X, edges, n_threads=2, max_memory=1e9),
            make_design(phi, n_threads=2),
        ):
            check(RelatedDesign(make_design(X, n_threads=2), edge_design, eta), full, rng)
