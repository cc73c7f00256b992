"""Choose the design for a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rankcut.designs.base import Design
from rankcut.designs.dense import DenseDesign
from rankcut.designs.sparse import SparseDesign


def make_design(X: Any, *, n_threads: int) -> Design:
    """The design of X: an ndarray, a memory map, or a SciPy CSR or CSC matrix or array.

    X is not copied. Types other than float32 and float64 are a TypeError: converting them is the
    caller's decision. A sparse matrix with a broken structure is a ValueError that says where.
    """
    if issparse(X):
        return SparseDesign(X, n_threads=n_threads)
    if isinstance(X, np.ndarray):
        return DenseDesign(X, n_threads=n_threads)
    raise TypeError(f"X must be a NumPy array or a SciPy CSR or CSC matrix, got {type(X).__name__}")
