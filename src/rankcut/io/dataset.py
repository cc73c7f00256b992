"""What was read: one type for all formats, which says what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut.errors import FileError, InputError
from rankcut.io.growing import Growing

PER_ROW = ("y", "qid", "bag", "known", "id")


@dataclass(frozen=True, repr=False)
class Dataset:
    """Rows and what is known of each. All but X may be None: not in the file.

    X: an array or CSR. y: labels. qid: the query of each row. bag: the bag of each row, then an instance. known:
    which instances are annotated as the relevant one of their bag. id: names of rows. edges: (m, 2) row numbers,
    with edge_features (m, f). feature_names: names of X's columns.
    """

    X: Any
    y: NDArray[Any] | None = None
    qid: NDArray[Any] | None = None
    bag: NDArray[Any] | None = None
    known: NDArray[np.bool_] | None = None
    id: NDArray[Any] | None = None
    edges: NDArray[np.int64] | None = None
    edge_features: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] | None = None
    source: str = "data"

    def __post_init__(self) -> None:
        for name in PER_ROW:
            values = getattr(self, name)
            if values is not None and len(values) != self.n_rows:
                raise InputError(
                    f"{name}: came with {len(values)} entries for {self.n_rows} rows; give one per row"
                )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise InputError(
                f"feature_names: came with {len(self.feature_names)} names for {self.n_features} features"
            )
        self._check_edges()

    def _check_edges(self) -> None:
        if self.edges is None:
            return
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise InputError(f"edges: came with shape {self.edges.shape}; give two row numbers for each edge")
        if len(self.edges) and (self.edges.min() < 0 or self.edges.max() >= self.n_rows):
            bad = int(
                np.flatnonzero((self.edges < 0).any(axis=1) | (self.edges >= self.n_rows).any(axis=1))[0]
            )
            raise InputError(
                f"edges: edge {bad} joins rows {self.edges[bad].tolist()}, but rows go from 0 to {self.n_rows - 1}"
            )
        if self.edge_features is not None and len(self.edge_features) != len(self.edges):
            raise InputError(
                f"edge_features: came with {len(self.edge_features)} rows for {len(self.edges)} edges"
            )

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def holds(self) -> tuple[str, ...]:
        """Names of the parts that are there."""
        names = (field.name for field in fields(self) if field.name != "source")
        return tuple(name for name in names if getattr(self, name) is not None)

    def rows(self, index: Any) -> Dataset:
        """Some of the rows; edges do not survive that."""
        held = {name: getattr(self, name) for name in PER_ROW}
        parts: dict[str, Any] = {name: None if each is None else each[index] for name, each in held.items()}
        return replace(self, X=self.X[index], edges=None, edge_features=None, **parts)

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self.X) else "dense"
        parts = ", ".join(self.holds)
        return (
            f"Dataset({self.source}: {self.n_rows} rows, {self.n_features} features ({kind}); holds {parts})"
        )


def combine(parts: Iterator[Dataset], source: object) -> Dataset:
    """The parts of one file, one below the other; X is dense where that takes less memory."""
    X = Growing()
    columns: dict[str, list[Any]] = {name: [] for name in PER_ROW}
    names: tuple[str, ...] | None = None
    for part in parts:
        X.add(part.X)
        names = part.feature_names
        for name, values in columns.items():
            values.append(getattr(part, name))
    if not columns["y"]:
        raise FileError(source, "without a row; give a file with rows")
    held: dict[str, Any] = {
        name: None if values[0] is None else np.concatenate(values) for name, values in columns.items()
    }
    return Dataset(X.matrix(), **held, feature_names=names, source=str(source))
