"""The shared real data: halves of it, standardised. It lies beside the project; a user's clone lacks it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[1].parent / "shared" / "data"
TABLES = (
    "cover",
    "magic_gamma",
    "spambase",
    "mammography",
    "letter",
    "landsat",
    "aloi",
    "creditcard_50k",
    "a9a",
)
NAMES = (*TABLES, "CIFAR10_0", "cifar10_effnet", "bace", "hiv", "tox21")
MISSING = "The shared data (../shared/data beside the project) is not there: section skipped."


@dataclass(frozen=True)
class Halves:
    name: str
    X: Any  # float64, dense or CSR; standardised by the training half
    y: NDArray[np.int8]
    X_test: Any
    y_test: NDArray[np.int8]

    @property
    def shape(self) -> str:
        return f"{self.X.shape[0]:,} × {self.X.shape[1]}" + (" CSR" if sp.issparse(self.X) else "")


def available() -> bool:
    return (FOLDER / "load.py").exists()


def load(name: str) -> dict[str, Any]:
    """What shared/data/load.py returns for "tables/cover"."""
    spec = importlib.util.spec_from_file_location("shared_data_load", FOLDER / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.load(name))


def table(name: str) -> tuple[Any, NDArray[np.int8]]:
    """X in float64 (CSR if it is sparse by nature) and relevance as 0 and 1."""
    if name in ("bace", "hiv", "tox21"):
        return _molecules(name)
    found = load(f"tables/{name}")
    X = found["X"].astype(np.float64)
    y = found["y"] == 0 if name == "cifar10_effnet" else found["y"] > 0
    return X, y.astype(np.int8)


def halves(name: str, seed: int = 0) -> Halves:
    """A random half to train on and the other to test on.

    Dense columns are centred and divided by their standard deviation; sparse ones only divided, fingerprints
    (bits) left as they are. A constant column is not divided.
    """
    X, y = table(name)
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = order[: len(y) // 2], order[len(y) // 2 :]
    A, B = X[first], X[second]
    if name not in ("bace", "hiv", "tox21"):
        A, B = _standardise(A, B)
    return Halves(name, A, y[first], B, y[second])


def _standardise(A: Any, B: Any) -> tuple[Any, Any]:
    if sp.issparse(A):
        mean = np.asarray(A.mean(axis=0)).ravel()
        square = np.asarray(A.multiply(A).mean(axis=0)).ravel()
        scale = sp.diags(1.0 / _safe(np.sqrt(np.maximum(0.0, square - mean**2))))
        return sp.csr_matrix(A @ scale), sp.csr_matrix(B @ scale)
    mean, deviation = A.mean(axis=0), _safe(A.std(axis=0))
    return np.ascontiguousarray((A - mean) / deviation), np.ascontiguousarray((B - mean) / deviation)


def _safe(deviation: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(deviation > 1e-12, deviation, 1.0)


def _molecules(name: str) -> tuple[Any, NDArray[np.int8]]:
    """Fingerprints of 1,024 bits as CSR, and the first task; unknown labels are dropped."""
    found = load(f"molecules/{name}")
    y = found["Y"][:, 0]
    known = (y >= 0) & found["fp_ok"]
    bits = np.unpackbits(found["fp_packed"][known], axis=1)
    return sp.csr_matrix(bits, dtype=np.float64), (y[known] > 0).astype(np.int8)
