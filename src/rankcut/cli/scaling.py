"""Features on a common scale for the fit, and the model back on the scale of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut.errors import InputError

SCALES = ("none", "standard", "max")


def scale(X: Any, kind: str) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """(X − shift) / width, in place, with shift and width of each column: mean and standard deviation, or 0 and the
    largest magnitude. Columns that are constant keep width 1."""
    if kind not in SCALES:
        raise InputError(f"scale: came as {kind!r}; pass one of {', '.join(SCALES)}")
    if kind == "standard" and sp.issparse(X):
        raise InputError("scale: 'standard' would fill a sparse matrix; pass 'max'")
    shift = np.zeros(X.shape[1])
    if kind == "standard":
        shift, width = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
        X -= shift.astype(X.dtype)
    else:
        width = np.asarray(abs(X).max(axis=0).todense()).ravel() if sp.issparse(X) else np.abs(X).max(axis=0)
        width = width.astype(np.float64)
    width[width == 0] = 1.0
    if sp.issparse(X):
        X.data /= width[X.indices].astype(X.dtype)
    else:
        X /= width.astype(X.dtype)
    return X, shift, width


def fold(model: Any, shift: NDArray[np.float64], width: NDArray[np.float64]) -> None:
    """Make a model of scaled features one of the features as they are: the scores stay what they were."""
    model.coef_ = model.coef_ / width
    model.intercept_ = model.intercept_ - model.coef_ @ shift
    if hasattr(model, "coef_path_"):
        model.coef_path_ = model.coef_path_ / width
