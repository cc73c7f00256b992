"""The samples of a study: rows, or bags of rows, maybe joined by edges; each method sees them in its own way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rankcut.data.bags import Bags
from rankcut.data.graph import Graph
from rankcut.errors import InputError
from rankcut.selection.splitters import QueryKFold

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Samples:
    """n samples with labels. `bags[i]` is the sample that row i of X belongs to; None: the rows are the samples."""

    X: Any
    y: NDArray[Any]
    qid: NDArray[Any] | None = None
    bags: NDArray[np.intp] | None = None
    edges: NDArray[np.int64] | None = None
    edge_features: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, data: Any) -> Samples:
        """The samples of a data set (rankcut.io.Dataset)."""
        if data.y is None:
            raise InputError("data: came without labels; name their column with label")
        if data.bag is None:
            return cls(data.X, data.y, data.qid, None, data.edges, data.edge_features)
        _, first, bags = np.unique(data.bag, return_index=True, return_inverse=True)
        bags = bags.reshape(-1)
        y = data.y[first]
        if np.any(y[bags] != data.y):
            raise InputError("label: came with rows of one bag that differ; give all rows of a bag its label")
        qid = None if data.qid is None else data.qid[first]
        return cls(data.X, y, qid, bags, data.edges, data.edge_features)

    def labels(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """The labels that are relevant in turn: those asked for, all of several, or the larger of two."""
        found = np.unique(self.y)
        names = [str(each) for each in found]
        if len(found) < 2:
            raise InputError(
                f"label: came with one label only ({names[0]}); ranking needs relevant and other rows"
            )
        for each in asked:
            if each not in names:
                raise InputError(
                    f"classes: no sample has the label {each!r}; there are {', '.join(names[:20])}"
                )
        return asked or (tuple(names) if len(names) > 2 else (names[-1],))

    def relevant(self, label: str) -> NDArray[np.bool_]:
        return np.asarray([str(each) == label for each in self.y.tolist()])

    def scaled(self, train: NDArray[np.intp]) -> Samples:
        """Features centred and divided by their standard deviation over the training rows; sparse ones divided by
        their largest magnitude, which keeps zeros."""
        rows = train if self.bags is None else np.flatnonzero(np.isin(self.bags, train))
        scaler = (MaxAbsScaler() if sp.issparse(self.X) else StandardScaler()).fit(self.X[rows])
        return replace(self, X=scaler.transform(self.X))

    def view(self, takes: str) -> Any:
        """What a method is trained on, indexable by sample."""
        if takes == "rows":
            return self.X if self.bags is None else self._means()
        if takes == "bags":
            if self.bags is None:
                raise InputError("method: needs bags, but the data has none; name their column with bag")
            return Bags(self.X, self.bags)
        if self.edges is None:
            raise InputError("method: needs edges, but the data has none; name their file with edges")
        inside = self.X if self.bags is None else Bags(self.X, self.bags)
        return Graph(inside, self.edges, edge_features=self.edge_features)

    def _means(self) -> Any:
        """The mean instance of each bag."""
        assert self.bags is not None
        counts = np.bincount(self.bags)
        average = sp.csr_matrix(
            (1.0 / counts[self.bags], (self.bags, np.arange(len(self.bags)))),
            shape=(len(counts), len(self.bags)),
        )
        return average @ self.X

    def folds(self, relevant: NDArray[np.bool_], among: NDArray[np.intp], n: int, seed: int) -> list[Fold]:
        """Splits of the samples `among`, with whole queries or else the same share of relevant samples in each."""
        if self.qid is not None:
            splits = QueryKFold(n, random_state=seed).split(among, groups=self.qid[among])
        else:
            rarest = int(min(relevant[among].sum(), (~relevant[among]).sum()))
            if rarest < n:
                raise InputError(
                    f"folds: {n} asked for, but of one kind there are only {rarest} samples to split; "
                    "take fewer folds, or leave that class out"
                )
            splits = StratifiedKFold(n, shuffle=True, random_state=seed).split(among, relevant[among])
        return [(among[train], among[test]) for train, test in splits]
