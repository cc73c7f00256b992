"""The safetensors format: a JSON header and plain arrays, so that reading one runs no code.

8 bytes: the header's length, little-endian. The header: for each array dtype, shape and place, and `__metadata__`,
texts by name. Then the arrays, without gaps. Ours begins with a checksum (SHA-256) of the whole file, taken with the
checksum's own 64 digits as zeros.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut.errors import FileError, InputError
from rankcut.io.atomic import written_whole

DTYPES = {
    "BOOL": "|b1",
    "I8": "|i1",
    "U8": "|u1",
    **{f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (2, 4, 8)},
    **{f"F{8 * size}": f"<f{size}" for size in (2, 4, 8)},
}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
MOST_HEADER = 32 * 2**20
START = b'{"__metadata__":{"sha256":"'
DIGITS = 64
DIGEST = slice(8 + len(START), 8 + len(START) + DIGITS)


def write(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> None:
    """The path holds the old content or the new, whatever happens."""
    entries: dict[str, Any] = {"__metadata__": {"sha256": "0" * DIGITS, **metadata}}
    contents, at = [], 0
    for name, array in arrays.items():
        contents.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        place = [at, at + len(contents[-1])]
        entries[name] = {
            "dtype": NAMES[array.dtype.newbyteorder("<")],
            "shape": list(array.shape),
            "data_offsets": place,
        }
        at = place[1]
    header = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    header += b" " * (-len(header) % 8)
    if len(header) > MOST_HEADER:
        raise InputError(
            f"model: its description takes {len(header)} bytes, more than the {MOST_HEADER} of a model file"
        )
    file = bytearray(b"".join([struct.pack("<Q", len(header)), header, *contents]))
    file[DIGEST] = hashlib.sha256(file).hexdigest().encode("ascii")
    with written_whole(path, binary=True) as out:
        out.write(file)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Arrays and metadata of a file that is as it was written; any other is refused."""
    content = _content(path)
    digest = bytes(content[DIGEST])
    content[DIGEST] = b"0" * DIGITS
    if hashlib.sha256(content).hexdigest().encode("ascii") != digest:
        raise FileError(
            path, "altered or damaged: its checksum is not that of its content; save the model again"
        )
    length = struct.unpack("<Q", content[:8])[0]
    try:
        entries = json.loads(
            content[8 : 8 + length].decode("utf-8"), object_pairs_hook=_no_twins, parse_constant=_refuse
        )
        metadata = entries.pop("__metadata__")
        if not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("metadata that is no text")
        arrays = _arrays(entries, memoryview(content)[8 + length :])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise FileError(path, f"no model file that can be read ({error})") from error
    return arrays, metadata


def is_ours(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as our model files do."""
    try:
        with Path(path).open("rb") as file:
            return file.read(8 + len(START))[8:] == START
    except OSError as error:
        raise InputError(f"path: {error.strerror or error}: {path}") from error


def _content(path: str | os.PathLike[str]) -> bytearray:
    """The file, if its size is what its header says: nothing larger is ever read."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not len(START) + DIGITS < length <= MOST_HEADER:
                raise FileError(path, "no model file of rankcut")
            if 8 + length > size:
                raise FileError(path, "cut short: the file ends within its header; save the model again")
            header = file.read(length)
            if not header.startswith(START):
                raise FileError(path, "no model file of rankcut: it does not begin with a checksum")
            claimed = 8 + length + _claimed(path, header)
            if claimed != size:
                kind = "cut short" if size < claimed else "too long"
                raise FileError(path, f"{kind}: {size} bytes instead of {claimed}; save the model again")
            return bytearray(start + header + file.read(size))
    except OSError as error:
        raise InputError(f"path: {error.strerror or error}: {path}") from error


def _claimed(path: Any, header: bytes) -> int:
    """Bytes of arrays that the header speaks of."""
    try:
        entries = json.loads(header)
        return max(
            (int(each["data_offsets"][1]) for name, each in entries.items() if name != "__metadata__"),
            default=0,
        )
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise FileError(
            path, f"damaged: its header cannot be read ({error}); save the model again"
        ) from error


def _arrays(entries: Mapping[str, Any], data: memoryview) -> dict[str, NDArray[Any]]:
    arrays, at = {}, 0
    for name, entry in entries.items():
        dtype = np.dtype(DTYPES[entry["dtype"]])
        shape = tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)) or len(shape) > 8:
            raise ValueError(f"array {name!r} of impossible shape {shape}")
        if begin != at or end - begin != prod(shape) * dtype.itemsize or end > len(data):
            raise ValueError(f"array {name!r} is not where it should be")
        arrays[name] = np.frombuffer(data[begin:end], dtype).reshape(shape).astype(dtype.newbyteorder("="))
        at = end
    if at != len(data):
        raise ValueError("bytes that belong to no array")
    return arrays


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
