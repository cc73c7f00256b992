"""Solvers: minimise ½‖w‖² + C·R(w), seeing nothing but the risk R. They end with a certificate."""

from rankcut.solvers.minimise import minimise
from rankcut.solvers.protocol import HardCut, RawRisk, Risk
from rankcut.solvers.solution import Record, Solution, Status
from rankcut.solvers.together import Event, Problem, minimise_together

__all__ = [
    "Event",
    "HardCut",
    "Problem",
    "RawRisk",
    "Record",
    "Risk",
    "Solution",
    "Status",
    "minimise",
    "minimise_together",
]
