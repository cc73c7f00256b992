"""Which estimator a data set asks for, and what it gives that estimator: rows, bags, or a graph of either."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.data.bags import Bags
from rankcut.data.graph import Graph
from rankcut.errors import InputError
from rankcut.io import Dataset
from rankcut.io.store import models

# For each kind of model the estimator, and what a data set has to hold for it.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rank": ("RankSVM", ()),
    "bag": ("BagRankSVM", ("bag",)),
    "graph": ("GraphRankSVM", ("edges",)),
    "preference": ("PreferenceRankSVM", ()),
}
CHOOSER = "RankSVMCV"


def kinds() -> tuple[str, ...]:
    """Those that are installed."""
    return tuple(kind for kind, (name, _) in KINDS.items() if name in models())


def kind_for(data: Dataset, asked: str) -> str:
    """The kind asked for, or with "auto" that of the data."""
    if asked == "auto":
        asked = "graph" if data.edges is not None else "bag" if data.bag is not None else "rank"
    if asked not in kinds():
        raise InputError(f"model: came as {asked!r}; pass one of auto, {', '.join(kinds())}")
    for part in KINDS[asked][1]:
        if getattr(data, part) is None:
            raise InputError(
                f"model: {asked!r} needs {part}, and {data.source} holds {', '.join(data.holds)} only"
            )
    return asked


def make(kind: str, options: dict[str, Any], settings: list[str]) -> Any:
    """The estimator of a kind (or "cv") with the options that are not None, and settings such as "tol=1e-4"."""
    name = CHOOSER if kind == "cv" else KINDS[kind][0]
    cls = models()[name]
    known = signature(cls).parameters
    chosen = {key: value for key, value in options.items() if value is not None}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"set: came as {setting!r}; pass NAME=VALUE, as tol=1e-4")
        chosen[key.strip().replace("-", "_")] = value_of(text.strip())
    for key in chosen:
        if key not in known:
            raise InputError(f"{key}: is no parameter of {name}, which has {', '.join(known)}")
    return cls(**chosen)


def value_of(text: str) -> Any:
    """A number, list or null as JSON has it, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return {"None": None, "True": True, "False": False}.get(text, text)


@dataclass(frozen=True)
class Samples:
    """`inputs` for fit and decision_function; the others have an entry for each sample, or are None."""

    inputs: Any
    y: NDArray[Any] | None
    qid: NDArray[Any] | None
    id: NDArray[Any] | None
    known: NDArray[np.int64] | None = None  # number of the annotated instance of each bag, or -1

    def __len__(self) -> int:
        return int(self.inputs.shape[0])


def samples_for(estimator: Any, data: Dataset) -> Samples:
    """The samples as a fitted estimator takes them."""
    for name, parts in KINDS.values():
        missing = [part for part in parts if type(estimator).__name__ == name and getattr(data, part) is None]
        if missing:
            raise InputError(f"{missing[0]}: the model is a {name} and needs them; pass --{missing[0]}")
    return samples(data)


def samples(data: Dataset) -> Samples:
    """A sample is a row, or a bag if the data set has bags; edges join samples."""
    found = Samples(data.X, data.y, data.qid, data.id) if data.bag is None else _bags(data)
    if data.edges is None:
        return found
    ends = data.edges
    if data.bag is not None:  # they name rows
        ends = np.unique(data.bag, return_inverse=True)[1].reshape(-1)[ends]
    return replace(found, inputs=Graph(found.inputs, ends, data.edge_features))


def _bags(data: Dataset) -> Samples:
    bags = Bags(data.X, np.asarray(data.bag))

    def each(name: str) -> Any:
        values = getattr(data, name)
        try:
            return None if values is None else bags.per_bag(values)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error

    return Samples(bags, each("y"), each("qid"), bags.ids, _annotated(data))


def _annotated(data: Dataset) -> NDArray[np.int64] | None:
    """The place of the marked row within its bag; bags are sorted by id, rows in a bag keep their order."""
    if data.known is None:
        return None
    ids, number = np.unique(np.asarray(data.bag), return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(ids)))
    place = np.empty(len(number), dtype=np.int64)
    place[order] = np.arange(len(number)) - starts[number[order]]
    marked = np.flatnonzero(data.known)
    counts = np.bincount(number[marked], minlength=len(ids))
    if counts.max() > 1:
        raise InputError(f"known: bag {ids[counts.argmax()]} has more than one marked instance")
    known = np.full(len(ids), -1, dtype=np.int64)
    known[number[marked]] = place[marked]
    return known
