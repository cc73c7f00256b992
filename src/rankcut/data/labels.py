"""Labels: which rows are relevant, in each of K ranking problems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from rankcut.data.ids import entries, missing
from rankcut.errors import InputError


class Targets(NamedTuple):
    """`relevant[k]` marks the relevant rows of problem k; `kind` is "binary", "multiclass" or "indicator"."""

    classes: NDArray[Any]
    relevant: NDArray[np.bool_]
    kind: str


def relevance(y: ArrayLike, n_rows: int) -> NDArray[np.bool_]:
    """Two labels, the larger is relevant."""
    labels = entries(y)
    if labels.shape != (n_rows,):
        raise InputError(f"y: came with shape {labels.shape} for {n_rows} rows; pass one label per row")
    low, high = _two(labels)
    if low == high:
        raise InputError(f"y: came with one label only ({low}); ranking needs relevant and other rows")
    return np.asarray(labels == high)


def _two(labels: NDArray[Any]) -> tuple[Any, Any]:
    """The two labels. Sorting all of them would cost more than the loss."""
    if labels.dtype == bool:
        return (bool(labels.min()), bool(labels.max()))
    if labels.dtype.kind in "iuf":
        low, high = labels.min(), labels.max()
        if bool(np.all((labels == low) | (labels == high))):
            return low, high
    if missing(labels):
        raise InputError("y: came with NaN or None; drop the rows without a label")
    try:
        found = np.unique(labels)
    except TypeError as error:
        raise InputError("y: came with labels of mixed types; pass labels of one type") from error
    if len(found) > 2:
        raise InputError(f"y: came with {len(found)} labels; pass two, of which the larger is relevant")
    return found[0], found[-1]


def targets(y: Any, n_rows: int, what: str = "rows of X") -> Targets:
    """Two labels make one problem, more classes one-vs-rest, an indicator matrix one problem a column."""
    if y is None:  # the words that scikit-learn's own estimators use
        raise InputError("y: requires y to be passed, but the target y is None; pass one label per row")
    if hasattr(y, "toarray"):
        y = y.toarray()
    y = entries(y)
    if y.ndim == 0:
        raise InputError(f"y: came as a single {type(y.item()).__name__}; pass one label per row")
    if missing(y):
        raise InputError("y: Input y contains NaN or None; drop the rows without a label")
    if len(y) != n_rows:
        raise InputError(f"y: came with {len(y)} entries for {n_rows} {what}; pass one each")
    if y.ndim == 2 and y.shape[1] > 1:
        return _indicator(y)
    if y.ndim == 2:
        y = column_or_1d(y, warn=True)
    try:
        if (
            y.dtype.kind not in "biu"
        ):  # whole numbers are labels; looking closer costs as much as a small fit's passes
            check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        mixed = y.dtype.kind == "O"  # scikit-learn would speak of regression
        found = (
            "Unknown label type: objects that are not all of one type" if mixed else str(error).rstrip(".")
        )
        raise InputError(f"y: {found}. Pass labels of classes, one per row") from error
    if len(classes) < 2:
        raise InputError(f"y: came with one class only ({classes[0]}); ranking needs relevant and other rows")
    codes = codes.reshape(-1)
    if len(classes) == 2:
        return Targets(classes, (codes == 1)[None], "binary")
    return Targets(classes, codes[None] == np.arange(len(classes))[:, None], "multiclass")


def _indicator(y: NDArray[Any]) -> Targets:
    if type_of_target(y) != "multilabel-indicator":
        raise InputError(f"y: came with shape {y.shape} but not as an indicator matrix; fill it with 0 and 1")
    relevant = np.ascontiguousarray((y > 0).T)
    counts = relevant.sum(axis=1)
    for k in np.flatnonzero((counts == 0) | (counts == y.shape[0])):
        which = "no row" if counts[k] == 0 else "every row"
        raise InputError(f"y: {which} of column {k} is relevant; leave that column out")
    return Targets(np.arange(y.shape[1]), relevant, "indicator")
