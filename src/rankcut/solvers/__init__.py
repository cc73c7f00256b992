"""Solvers: minimise ½‖w‖² + C·R(w), seeing nothing but the risk R. They end with a certificate."""

from rankcut.solvers.cccp import cccp
from rankcut.solvers.minimise import minimise
from rankcut.solvers.n_slack import SeparableRisk, minimise_parts
from rankcut.solvers.protocol import FreezingRisk, Frozen, HardCut, RawRisk, Risk, Shift
from rankcut.solvers.solution import CccpSolution, Record, Solution, Status
from rankcut.solvers.together import Event, Problem, minimise_together

__all__ = [
    "CccpSolution",
    "Event",
    "FreezingRisk",
    "Frozen",
    "HardCut",
    "Problem",
    "RawRisk",
    "Record",
    "Risk",
    "SeparableRisk",
    "Shift",
    "Solution",
    "Status",
    "cccp",
    "minimise",
    "minimise_parts",
    "minimise_together",
]
