"""Which columns of a table are what: labels, queries, bags, names of rows, and the features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut.errors import InputError

LABELS = ("label", "y")  # columns of these names are the labels, if no other is named
ROLES = ("label", "qid", "bag", "known", "id")


class Table(NamedTuple):
    """Some rows of a table: the features, and the column of each role."""

    X: NDArray[Any]
    held: dict[str, NDArray[Any]]
    names: tuple[str, ...]  # of the features


@dataclass(frozen=True)
class Columns:
    """The names that a user gave to roles. A role without one is taken from a column of the role's own name, if there
    is one; columns without a role are features, unless `features` names them or `drop` leaves them out."""

    given: Mapping[str, str] = field(default_factory=dict)
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()
    known: tuple[str, ...] = ROLES

    def roles(self, names: Sequence[str]) -> dict[str, str]:
        """The column of each role in a file with columns of these names."""
        counts = Counter(names)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise InputError(f"columns: {_list(twice)} comes more than once; rename it")
        for option, asked in [*self.given.items(), *(("drop", name) for name in self.drop)]:
            if asked not in counts:
                raise InputError(f"{option}: no column {asked!r}; the file has {_list(names)}")
        found = dict(self.given)
        for role in self.known:
            free = counts.keys() - {*self.drop, *found.values(), *(self.features or ())}
            usual = LABELS if role == "label" else (role,)
            name = next((each for each in usual if each in free), None)
            if role not in found and name is not None:
                found[role] = name
        return found

    def choose(self, names: Sequence[str], roles: Mapping[str, str]) -> list[str]:
        """The features, in order."""
        if self.features is not None:
            missing = set(self.features) - set(names)
            if missing:
                raise InputError(f"features: no column {_list(sorted(missing))}; the file has {_list(names)}")
            return list(self.features)
        taken = {*roles.values(), *self.drop}
        return [name for name in names if name not in taken]


def _list(names: Iterable[str], most: int = 12) -> str:
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def tidy(values: Any, role: str) -> NDArray[Any]:
    """A column of texts or numbers as the type that it is: integers, floats, or else text."""
    array = np.asarray(values)
    if role == "known":
        return marks(array)
    if array.dtype.kind in "biu":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return integers(array.astype(np.float64))
    text = array.astype(str)
    for kind in (np.int64, np.float64):
        try:
            numbers = text.astype(kind)
        except (ValueError, OverflowError):
            continue
        if kind is np.int64 and not np.array_equal(numbers.astype(str), np.char.lstrip(text, "+")):
            continue  # 007 and 7 may be two queries
        if kind is np.float64 and role != "label":
            continue  # names that look like numbers stay names
        return numbers
    return text


def integers(values: NDArray[np.float64]) -> NDArray[Any]:
    """As integers, if that changes nothing."""
    exact = np.abs(values).max(initial=0.0) < 2**53 and bool(np.all(values == np.rint(values)))
    return values.astype(np.int64) if exact else values


def marks(array: NDArray[Any]) -> NDArray[np.bool_]:
    """0 and 1, as numbers or text."""
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(array), np.nan)
    if not np.all((numbers == 0) | (numbers == 1)):
        bad = int(np.flatnonzero((numbers != 0) & (numbers != 1))[0])
        raise InputError(
            f"known: came with '{array[bad]}' in row {bad}; mark annotated instances with 1, others with 0"
        )
    return np.asarray(numbers == 1)
