"""Splitters that keep together what belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from rankcut.data.lists import query_codes
from rankcut.errors import InputError


class QueryKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn is untyped
    """K folds of whole queries: the rows of a query are all in the training part, or all in the test part.

    Queries are dealt out in random order (``random_state``), or in order of their ids if ``shuffle`` is False,
    so that folds differ by at most one query. Pass the queries as ``groups``.
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        if groups is None:
            raise InputError("groups: came as None; QueryKFold needs the query of each row")
        codes = query_codes(groups, X.shape[0] if hasattr(X, "shape") else len(X))
        n_queries = int(codes.max()) + 1
        if not 2 <= self.n_splits <= n_queries:
            raise InputError(
                f"n_splits: came as {self.n_splits} for {n_queries} queries; pass a number from 2 to {n_queries}"
            )
        order = np.arange(n_queries)
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        fold_of = np.empty(n_queries, dtype=np.intp)
        fold_of[order] = np.arange(n_queries) % self.n_splits
        for fold in range(self.n_splits):
            held_out = fold_of[codes] == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)
