"""X as the designs take it: float32 or float64, dense or sparse, finite; never copied without need."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from rankcut.errors import InputError


def check_X(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Validate X as scikit-learn does, with errors that say what to do."""
    if np.ma.is_masked(X):
        raise InputError("X: came with masked entries, which would count as what lies below; fill them first")
    if hasattr(X, "collect") and not hasattr(X, "__len__"):
        raise InputError(f"X: came as {type(X).__name__}, which holds no data yet; pass X.collect()")
    if sp.issparse(X):
        _check_structure(X)
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            accept_large_sparse=True,
            dtype=_dtypes(X),
        )
    except (TypeError, ValueError) as error:
        kind = type(error) if isinstance(error, TypeError) else InputError
        raise kind(f"X: {error}{_hint(str(error))}") from error
    if isinstance(checked, np.ndarray) and checked.itemsize not in checked.strides:
        return np.ascontiguousarray(checked)  # a view with gaps both ways cannot be read in place
    return checked


def _dtypes(X: Any) -> list[type[np.floating[Any]]]:
    """float32 stays; whatever fits in it exactly (16 bits and less) becomes it; all else becomes float64."""
    dtype = getattr(X, "dtype", None)
    small = isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 2
    return [np.float32, np.float64] if small else [np.float64, np.float32]


def _hint(message: str) -> str:
    if "NaN" in message or "infinity" in message:
        return " Impute or drop those entries, for example with sklearn.impute.SimpleImputer."
    if "convert" in message and "string" in message:
        return " Encode text columns as numbers first, for example with sklearn.preprocessing.OneHotEncoder."
    return ""


def _check_structure(X: Any) -> None:
    """Refuse a sparse matrix with wrong indices before anything reads through them."""
    if X.format == "coo":
        for axis, name in enumerate(("row", "col")):
            _check_indices(getattr(X, name), X.shape[axis])
    if X.format not in ("csr", "csc", "bsr"):
        return
    lines, width = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        lines, width = lines // max(1, X.blocksize[0]), width // max(1, X.blocksize[1])
    pointers, indices = X.indptr, X.indices
    if len(pointers) != lines + 1:
        raise InputError(
            f"X: came as a sparse matrix whose indptr has {len(pointers)} entries for {lines} lines; "
            f"it needs {lines + 1}"
        )
    if pointers[0] != 0 or np.any(np.diff(pointers) < 0) or pointers[-1] > len(indices):
        raise InputError(
            "X: came as a sparse matrix whose indptr does not rise from 0 to its number of entries"
        )
    if len(indices) != len(X.data):
        raise InputError(f"X: came as a sparse matrix with {len(indices)} indices for {len(X.data)} entries")
    _check_indices(indices, width)


def _check_indices(indices: Any, width: int) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= width):
        bad = int(indices.max()) if indices.max() >= width else int(indices.min())
        raise InputError(f"X: came as a sparse matrix with index {bad} where 0 to {width - 1} are possible")
