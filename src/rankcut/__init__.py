"""rankcut learns to rank so that the relevant samples come first."""

__version__ = "0.1.0"

import importlib
from typing import Any

from rankcut import data, graph, io, losses, metrics, selection, solvers
from rankcut.data import Bags, Graph
from rankcut.errors import ConvergenceWarning, InputError, RankcutError
from rankcut.estimators import (
    BagRankSVM,
    GraphRankSVM,
    LatentAPBaseline,
    LatentStructuralSVM,
    PreferenceRankSVM,
    RankSVM,
    RankSVMCV,
    StructuralSVM,
)

__all__ = [
    "BagRankSVM",
    "Bags",
    "ConvergenceWarning",
    "Graph",
    "GraphRankSVM",
    "InputError",
    "LatentAPBaseline",
    "LatentStructuralSVM",
    "PreferenceRankSVM",
    "RankSVM",
    "RankSVMCV",
    "RankcutError",
    "StructuralSVM",
    "data",
    "graph",
    "io",
    "losses",
    "metrics",
    "selection",
    "solvers",
]


def __getattr__(name: str) -> Any:
    """Rooms that most users do without are loaded on first use."""
    if name in ("reference", "report", "studies"):
        return importlib.import_module(f"rankcut.{name}")
    raise AttributeError(f"module 'rankcut' has no attribute {name!r}")
