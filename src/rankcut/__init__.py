"""rankcut learns to rank so that the relevant samples come first."""

from rankcut import data, losses, metrics, selection, solvers
from rankcut.errors import ConvergenceWarning, InputError, RankcutError
from rankcut.estimators import RankSVM, RankSVMCV

__version__ = "0.1.0"
__all__ = [
    "ConvergenceWarning",
    "InputError",
    "RankSVM",
    "RankSVMCV",
    "RankcutError",
    "data",
    "losses",
    "metrics",
    "selection",
    "solvers",
]
