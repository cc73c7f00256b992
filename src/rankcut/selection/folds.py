"""The folds of a cross-validation: any splitter, or pairs of row numbers or masks, checked."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from rankcut.errors import InputError
from rankcut.selection.splitters import QueryKFold

Rows = NDArray[np.intp]


def make_folds(
    cv: Any, labels: NDArray[Any], *, stratify: bool, qid: ArrayLike | None, groups: ArrayLike | None
) -> list[tuple[Rows, Rows]]:
    """(train, test) rows of each fold. A number means so many folds: of whole groups (or whole queries, where
    there are no groups), else stratified by the labels."""
    together = qid if groups is None else groups
    if isinstance(cv, Integral) and not isinstance(cv, bool) and together is not None:
        cv = QueryKFold(int(cv))
    n = len(labels)
    try:
        splitter = check_cv(cv, labels, classifier=stratify)
        splits: Iterable[Any] = list(splitter.split(np.empty((n, 1)), labels, together))
        pairs = [(_rows(train, n), _rows(test, n)) for train, test in splits]
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"cv: {error}") from error
    if not pairs:
        raise InputError("cv: came without any split; pass at least one pair of training and test rows")
    for fold, (train, _) in enumerate(pairs):
        if len(np.unique(train)) < len(train):
            raise InputError(
                f"cv: the training part of fold {fold} repeats rows; rows are masked, so that each can count only once"
            )
    return pairs


def _rows(part: Any, n: int) -> Rows:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or len(rows) == 0 or rows.dtype.kind not in "iu":
        raise InputError(
            f"cv: came with a part of shape {rows.shape} and type {rows.dtype}; pass row numbers, or a mask of {n} rows"
        )
    if rows.min() < 0 or rows.max() >= n:
        raise InputError(
            f"cv: came with row {rows.min() if rows.min() < 0 else rows.max()}, but rows go from 0 to {n - 1}"
        )
    return rows.astype(np.intp)
