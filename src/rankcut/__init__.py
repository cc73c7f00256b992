"""rankcut learns to rank so that the relevant samples come first."""

__version__ = "0.1.0"

from rankcut import data, graph, io, losses, metrics, selection, solvers
from rankcut.data import Graph
from rankcut.errors import ConvergenceWarning, InputError, RankcutError
from rankcut.estimators import (
    GraphRankSVM,
    LatentStructuralSVM,
    PreferenceRankSVM,
    RankSVM,
    RankSVMCV,
    StructuralSVM,
)

__all__ = [
    "ConvergenceWarning",
    "Graph",
    "GraphRankSVM",
    "InputError",
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
