"""Python values as JSON, with arrays beside it: the only types that a model file can hold, and so can make.

What JSON has stays as it is. All else is an object with one "$" that names its kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.designs.base import Passes
from rankcut.errors import InputError
from rankcut.io.safetensors import NAMES
from rankcut.solvers import Record, Status

# Named tuples that estimators keep. A new one needs a line here.
TUPLES: dict[str, Any] = {"Record": Record, "Passes": Passes}
PLAIN = (bool, int, str, type(None))


class Unstorable(InputError):
    """A value of a type that no model file holds."""


def encode(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """JSON for the value; its arrays go to `arrays` under names that begin with `name`."""
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if type(value) in PLAIN:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$": "float", "of": str(value)}
    if isinstance(value, Status):
        return {"$": "status", "of": value.name}
    if isinstance(value, np.ma.MaskedArray):
        parts = {"data": np.asarray(value.data), "mask": np.ma.getmaskarray(value)}
        return {"$": "masked", **{key: encode(part, f"{name}.{key}", arrays) for key, part in parts.items()}}
    if isinstance(value, np.ndarray):
        return _array(value, name, arrays)
    if type(value).__name__ in TUPLES and type(value) is TUPLES[type(value).__name__]:
        of = [encode(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
        return {"$": type(value).__name__, "of": of}
    if type(value) is list and value and all(type(each) is Record for each in value):
        arrays[name] = np.array(value, dtype=np.float64)
        return {"$": "records", "of": name}
    if type(value) in (list, tuple):
        of = [encode(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
        return of if type(value) is list else {"$": "tuple", "of": of}
    if type(value) is dict:
        if all(type(key) is str for key in value) and "$" not in value:
            return {key: encode(each, f"{name}.{key}", arrays) for key, each in value.items()}
        pairs = [
            [encode(part, f"{name}.{i}", arrays) for part in pair] for i, pair in enumerate(value.items())
        ]
        return {"$": "dict", "of": pairs}
    raise Unstorable(f"{name}: is a {type(value).__name__}, which a model file cannot hold")


def _array(value: NDArray[Any], name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if value.dtype.kind in "US" or (
        value.dtype.kind == "O" and all(type(each) is str for each in value.flat)
    ):
        kind = "objects" if value.dtype.kind == "O" else "strings"
        return {"$": kind, "shape": list(value.shape), "of": value.astype(str).ravel().tolist()}
    if value.dtype.kind == "O":
        of = [encode(each, f"{name}.{i}", arrays) for i, each in enumerate(value.flat)]
        return {"$": "objects", "shape": list(value.shape), "of": of}
    if value.dtype.newbyteorder("<") not in NAMES:
        raise Unstorable(f"{name}: is an array of {value.dtype}, which a model file cannot hold")
    arrays[name] = value
    return {"$": "array", "of": name}


def decode(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The value that was encoded; ValueError, TypeError, KeyError or AttributeError if none was."""
    if isinstance(value, list):
        return [decode(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: decode(each, arrays) for key, each in value.items()}
    kind = value["$"]
    if kind in TUPLES:
        return TUPLES[kind](*decode(value["of"], arrays))
    return _KINDS[kind](value, arrays)


def _objects(value: Any, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    flat = np.empty(len(value["of"]), dtype=object)
    flat[:] = [decode(each, arrays) for each in value["of"]]
    return flat.reshape(value["shape"])


def _pairs(value: Any, arrays: Mapping[str, NDArray[Any]]) -> dict[Any, Any]:
    return {decode(key, arrays): decode(each, arrays) for key, each in value["of"]}


_KINDS: dict[str, Callable[[Any, Mapping[str, NDArray[Any]]], Any]] = {
    "float": lambda value, _: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["of"]],
    "status": lambda value, _: Status[value["of"]],
    "array": lambda value, arrays: arrays[value["of"]],
    "strings": lambda value, _: np.array(value["of"], dtype=str).reshape(value["shape"]),
    "objects": _objects,
    "masked": lambda value, arrays: np.ma.MaskedArray(
        decode(value["data"], arrays), mask=decode(value["mask"], arrays)
    ),
    "records": lambda value, arrays: [_record(row) for row in arrays[value["of"]].tolist()],
    "tuple": lambda value, arrays: tuple(decode(value["of"], arrays)),
    "dict": _pairs,
}


def _record(row: list[float]) -> Record:
    return Record(*row)
