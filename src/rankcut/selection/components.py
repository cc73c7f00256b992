"""Folds of whole connected components, so that no edge is cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from rankcut.data.graph import Graph
from rankcut.errors import InputError


class ComponentKFold(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn is untyped
    """K folds of a ``Graph``: samples that are connected, be it through others, are all in one fold.

    Components go one after the other, the largest first, to the fold with the fewest samples so far; among components
    of one size the order is random (``random_state``), or that of their first samples if ``shuffle`` is False. A graph
    with one giant component gives very unequal folds: then split by sample, and lose the edges in between.
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
        if not isinstance(X, Graph):
            raise InputError(f"X: came as {type(X).__name__}; ComponentKFold splits a rankcut.data.Graph")
        components = X.components
        sizes = np.bincount(components)
        if not 2 <= self.n_splits <= len(sizes):
            raise InputError(
                f"n_splits: came as {self.n_splits} for a graph of {len(sizes)} components; pass a number from 2 to "
                f"{len(sizes)}, or split by sample"
            )
        order = np.arange(len(sizes))
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        order = order[np.argsort(-sizes[order], kind="stable")]
        fold_of = np.empty(len(sizes), dtype=np.intp)
        filled = np.zeros(self.n_splits, dtype=np.int64)
        for component in order:
            fold = int(np.argmin(filled))
            fold_of[component] = fold
            filled[fold] += sizes[component]
        for fold in range(self.n_splits):
            held_out = fold_of[components] == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)
