"""Ranking measures: how well scores put the relevant rows first. (For boxes in images: rankcut.metrics.boxes; a
bound on what is to come: rankcut.metrics.bounds.)

Shared by all measures of scores:

- ``y`` holds two labels of any kind; the larger is the relevant one. (``ndcg`` also takes grades.)
- ``qid`` gives one entry per row, in any order; the measure is the mean over queries. A query whose rows all have
  the same label has nothing to rank and is left out, as it is in training. None: all rows are one list.
- Tied scores never make the result depend on the order of the rows. ``average_precision``: tied rows pass the
  threshold together, as in scikit-learn. All others: the expectation over a random order of tied rows.
"""

from rankcut.metrics.bounds import stability_bound
from rankcut.metrics.boxes import (
    RecallOverlap,
    intersection_over_union,
    non_maximum_suppression,
    recall_overlap,
)
from rankcut.metrics.comparison import PairedTest, holm, paired_test
from rankcut.metrics.gain import ndcg
from rankcut.metrics.pairs import auc
from rankcut.metrics.precision import (
    PrecisionRecallCurve,
    average_precision,
    precision_at_k,
    precision_recall_curve,
)
from rankcut.metrics.reciprocal import mrr

__all__ = [
    "PairedTest",
    "PrecisionRecallCurve",
    "RecallOverlap",
    "auc",
    "average_precision",
    "holm",
    "intersection_over_union",
    "mrr",
    "ndcg",
    "non_maximum_suppression",
    "paired_test",
    "precision_at_k",
    "precision_recall_curve",
    "recall_overlap",
    "stability_bound",
]
