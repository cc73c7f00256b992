"""NumPy's .npz: arrays by name, without pickles; what a header claims is checked before memory is taken for it."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from rankcut.errors import FileError, InputError
from rankcut.io.columns import Columns, tidy
from rankcut.io.dataset import Dataset

DEFLATE = 1040  # zlib makes nothing smaller than by this factor
SPARSE = ("data", "indices", "indptr", "shape")


def read_npz(path: str | os.PathLike[str], columns: Columns, *, dtype: Any = None) -> Dataset:
    """X as an array, or CSR as X_data, X_indices, X_indptr, X_shape; with the arrays of the roles, and `edges`,
    `edge_features`, `feature_names`. Labels may be one per bag, in the order of the bags' ids."""
    arrays = Archive(path)
    X = _matrix(path, arrays, dtype)
    candidates = [name for name in arrays.names if not (name == "X" or name.startswith("X_"))]
    try:
        roles = columns.roles(candidates)
    except InputError as error:
        raise FileError(path, str(error)) from error
    parts: dict[str, Any] = {}
    for role, name in roles.items():
        values = arrays[name]
        if values.ndim != 1 and not (role == "label" and values.ndim == 2):  # an indicator matrix
            raise FileError(path, f"{name!r} has shape {values.shape}; {role} takes one entry per row")
        parts["y" if role == "label" else role] = values
    for name in ("edges", "edge_features", "feature_names"):
        if name in arrays.names:
            parts[name] = arrays[name]
    try:
        return _dataset(X, parts, columns, os.fspath(path))
    except InputError as error:
        raise FileError(path, str(error)) from error


def _dataset(X: Any, parts: dict[str, Any], columns: Columns, source: str) -> Dataset:
    y, bag = parts.get("y"), parts.get("bag")
    if y is not None and bag is not None and len(y) != X.shape[0]:
        ids, number = np.unique(bag, return_inverse=True)
        if len(y) == len(ids):
            parts["y"] = y[number.reshape(-1)]
    for name, values in parts.items():
        if name in ("qid", "bag", "known", "id") or (name == "y" and values.ndim == 1):
            parts[name] = tidy(values, "label" if name == "y" else name)
    if "feature_names" in parts:
        parts["feature_names"] = tuple(map(str, parts["feature_names"].ravel().tolist()))
    if "edges" in parts:
        if parts["edges"].dtype.kind not in "iu":
            raise InputError(f"edges: came with dtype {parts['edges'].dtype}; give row numbers")
        parts["edges"] = parts["edges"].astype(np.int64)
    if columns.features is not None:
        if "feature_names" not in parts:
            raise InputError("features: the file has no feature_names to choose from")
        chosen = columns.choose(parts["feature_names"], {})
        X = X[:, [parts["feature_names"].index(name) for name in chosen]]
        parts["feature_names"] = tuple(chosen)
    return Dataset(X, **parts, source=source)


def _matrix(path: Any, arrays: Archive, dtype: Any) -> Any:
    try:
        if "X" in arrays.names:
            X: Any = arrays["X"]
        elif all(f"X_{part}" in arrays.names for part in SPARSE):
            data, indices, indptr, shape = (arrays[f"X_{part}"] for part in SPARSE)
            X = sp.csr_matrix((data, indices, indptr), shape=tuple(int(n) for n in shape))
            X.check_format(full_check=True)
        else:
            raise FileError(
                path,
                f"no array X (or X_data, X_indices, X_indptr, X_shape); it has {', '.join(arrays.names)}",
            )
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise FileError(path, f"X is no matrix that can be used ({error})") from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise FileError(path, f"X has shape {X.shape} and dtype {X.dtype}; give rows and columns of numbers")
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise FileError(path, "X holds NaN or infinite values; fill them in or drop those rows")
    small = values.dtype.itemsize <= 2 or values.dtype == np.float32
    return X.astype(dtype or (np.float32 if small else np.float64), copy=False)


class Archive:
    """The arrays of the archive, each read when asked for."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        except OSError as error:
            raise InputError(f"path: {error.strerror or error}: {path}") from error
        except Exception as error:  # zipfile raises many kinds on a broken archive
            raise FileError(path, f"no .npz archive that can be read ({error})") from error
        self.names = list(self._members)

    def __getitem__(self, name: str) -> NDArray[Any]:
        info = self._members[name]
        if info.file_size > DEFLATE * (info.compress_size + 64):
            raise FileError(
                self._path, f"{name!r} claims {info.file_size} bytes, more than its compressed form can hold"
            )
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(info) as file:
                shape, fortran, dtype = _header(file)
                count = int(np.prod(shape, dtype=object)) if shape else 1
                if min(shape, default=0) < 0 or count * dtype.itemsize + 10 > info.file_size:
                    raise ValueError(f"its header claims shape {shape}, more than the file has")
                content = file.read(count * dtype.itemsize)
                if len(content) < count * dtype.itemsize or file.read(1):
                    raise ValueError("its size is not what its header claims")
        except FileError:
            raise
        except Exception as error:  # zipfile, zlib and NumPy raise many kinds on broken content
            raise FileError(self._path, f"{name!r} cannot be read ({error}); write the file again") from error
        array = np.frombuffer(content, dtype)
        return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(file)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the .npy format is not known")
    shape, fortran, dtype = read(file)
    if dtype.hasobject or dtype.kind not in "biufSU" or not dtype.itemsize:
        raise ValueError(f"holds {dtype}; numbers and text only")
    return shape, fortran, dtype
