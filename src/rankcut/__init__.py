"""rankcut learns to rank so that the relevant samples come first."""

__version__ = "0.1.0"

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
