"""rankcut learns to rank so that the relevant samples come first."""

from rankcut import losses, metrics, solvers
from rankcut.errors import ConvergenceWarning, InputError, RankcutError
from rankcut.estimators import RankSVM

__version__ = "0.1.0"
__all__ = [
    "ConvergenceWarning",
    "InputError",
    "RankSVM",
    "RankcutError",
    "losses",
    "metrics",
    "solvers",
]
