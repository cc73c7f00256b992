"""Folds of whole connected components, so that no edge is cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankcut.data.graph import Graph
from rankcut.errors import InputError
from rankcut.selection.splitters import Folds, FoldsOfGroups


class ComponentKFold(FoldsOfGroups):
    """K folds of a ``Graph``: samples that are connected, be it through others, are all in one fold.

    Components go one after the other, the largest first, to the fold with the fewest samples so far; among components
    of one size the order is random (``random_state``), or that of their first samples if ``shuffle`` is False. A graph
    with one giant component gives very unequal folds: then split by sample, and lose the edges in between.
    """

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Folds:
        if not isinstance(X, Graph):
            raise InputError(f"X: came as {type(X).__name__}; ComponentKFold splits a rankcut.data.Graph")
        components = X.components
        sizes = np.bincount(components)
        order = self._order(len(sizes), f"a graph of {len(sizes)} components", ", or split by sample")
        order = order[np.argsort(-sizes[order], kind="stable")]
        fold_of = np.empty(len(sizes), dtype=np.intp)
        filled = np.zeros(self.n_splits, dtype=np.int64)
        for component in order:
            fold = int(np.argmin(filled))
            fold_of[component] = fold
            filled[fold] += sizes[component]
        yield from self._folds(fold_of[components])
