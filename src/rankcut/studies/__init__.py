"""Studies: methods × classes × folds × repeats on one data set, kept in a file that survives everything."""

from rankcut.studies.methods import Method, known, parse
from rankcut.studies.plan import Cell, Plan
from rankcut.studies.run import run
from rankcut.studies.samples import Samples
from rankcut.studies.store import Store

__all__ = ["Cell", "Method", "Plan", "Samples", "Store", "known", "parse", "run"]
