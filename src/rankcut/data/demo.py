"""Real data that comes with rankcut or with scikit-learn: no download, and free to pass on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rankcut.errors import InputError

DIGIT = 8  # the digit that a linear model tells from the others worst


@dataclass(frozen=True)
class Demo:
    """A small real data set with two labels; y is 1 for the relevant rows and 0 for the others."""

    name: str
    title: str
    X: Any  # float64: an array, or CSR
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    rows: str  # what a row is
    relevant: str  # which rows are relevant
    source: str
    licence: str
    is_test: NDArray[np.bool_] | None = None  # the test rows of the set's own split, if it has one

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Demo({self.name!r}: {n} {self.rows}, {d} features; relevant: {self.y.sum()} {self.relevant})"


def load_demo(name: str) -> Demo:
    """A bundled data set by name: "adult", "digits" or "breast_cancer"."""
    if not isinstance(name, str) or name not in _LOADERS:
        raise InputError(f"name: came as {name!r}; pass one of {', '.join(demo_names())}")
    return _LOADERS[name]()


def demo_names() -> tuple[str, ...]:
    """The names that `load_demo` knows."""
    return tuple(_LOADERS)


def _adult() -> Demo:
    with (
        (files(__package__) / "bundled" / "adult.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        values, sizes, attributes = (
            stored["values"],
            stored["sizes"].astype(np.int32),
            stored["names"].tolist(),
        )
        relevant, is_test = stored["relevant"], stored["is_test"]
    # values[a, i] is the category of attribute a in row i, from 1; 0 is missing. One column for each category.
    n = values.shape[1]
    first = np.cumsum(sizes) - sizes
    row, attribute = np.nonzero(values.T)
    columns = first[attribute] + values[attribute, row] - 1
    starts = np.concatenate(([0], np.cumsum(np.count_nonzero(values, axis=0)))).astype(np.int32)
    return Demo(
        name="adult",
        title="Adult",
        X=sp.csr_matrix(
            (np.ones(len(columns)), columns.astype(np.int32), starts), shape=(n, int(sizes.sum()))
        ),
        y=np.unpackbits(relevant, count=n).astype(np.int64),
        feature_names=tuple(
            f"{attribute}:{k}"
            for attribute, size in zip(attributes, sizes, strict=True)
            for k in range(1, size + 1)
        ),
        rows="people in a census",
        relevant="who earn more than $50,000 a year",
        source="Becker and Kohavi (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20; "
        "as 123 binary features (a9a)",
        licence="CC BY 4.0",
        is_test=np.unpackbits(is_test, count=n).astype(bool),
    )


def _digits() -> Demo:
    from sklearn.datasets import load_digits

    stored = load_digits()
    return Demo(
        name="digits",
        title=f"Digits: {DIGIT} against the rest",
        X=stored.data,
        y=(stored.target == DIGIT).astype(np.int64),
        feature_names=tuple(stored.feature_names),
        rows="images of handwritten digits",
        relevant=f"that show an {DIGIT}",
        source="Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine Learning "
        "Repository, doi:10.24432/C50P49; the test part, as scikit-learn has it",
        licence="CC BY 4.0",
    )


def _breast_cancer() -> Demo:
    from sklearn.datasets import load_breast_cancer

    stored = load_breast_cancer()
    return Demo(
        name="breast_cancer",
        title="Breast cancer",
        X=stored.data,
        y=(stored.target == 0).astype(np.int64),  # scikit-learn's 0 is malignant
        feature_names=tuple(stored.feature_names.tolist()),
        rows="images of cell nuclei",
        relevant="of malignant tumours",
        source="Wolberg, Mangasarian, Street and Street (1993), Breast Cancer Wisconsin (Diagnostic), UCI Machine "
        "Learning Repository, doi:10.24432/C5DW2B; as scikit-learn has it",
        licence="CC BY 4.0",
    )


_LOADERS: dict[str, Callable[[], Demo]] = {
    "adult": _adult,
    "digits": _digits,
    "breast_cancer": _breast_cancer,
}
