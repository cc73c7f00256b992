"""Reports: methods compared on the same folds, as a table, as JSON and as a page; the pictures of a path."""

from rankcut.report.comparison import RECALLS, Comparison, Method, Outcome, compare, default_methods
from rankcut.report.page import page
from rankcut.report.paths import Figure, PathFigures, path_figures
from rankcut.report.plain import as_json, as_text

__all__ = [
    "RECALLS",
    "Comparison",
    "Figure",
    "Method",
    "Outcome",
    "PathFigures",
    "as_json",
    "as_text",
    "compare",
    "default_methods",
    "page",
    "path_figures",
]
