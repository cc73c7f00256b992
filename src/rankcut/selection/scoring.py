"""Scores of a ranking by name, for choosing models."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rankcut import metrics
from rankcut.errors import InputError

# (relevant, scores, qid) -> float, larger is better
Score = Callable[[Any, Any, Any], float]

_BY_NAME: dict[str, Callable[..., float]] = {
    "average_precision": metrics.average_precision,
    "ndcg": metrics.ndcg,
    "auc": metrics.auc,
    "roc_auc": metrics.auc,
    "mrr": metrics.mrr,
}


def get_score(scoring: Any) -> Score:
    """A measure by name ("average_precision", "ndcg", "auc", "mrr", "precision@10"), or a callable
    (relevant, scores) -> float. Larger is better."""
    if hasattr(scoring, "_score_func"):
        raise InputError(
            f"scoring: came as scikit-learn's {scoring!r}, which wants an estimator; pass its metric function "
            "(relevant, scores) -> float instead, as sklearn.metrics.average_precision_score"
        )
    if callable(scoring):
        return partial(_own, scoring)
    if isinstance(scoring, str) and scoring in _BY_NAME:
        return partial(_by_query, _BY_NAME[scoring])
    at = re.fullmatch(r"precision@([1-9]\d*)", str(scoring))
    if at:
        return partial(_by_query, partial(_precision, k=int(at[1])))
    raise InputError(
        f"scoring: came as {scoring!r}; pass one of {', '.join(_BY_NAME)}, precision@k, or a callable"
    )


def _own(measure: Callable[[Any, Any], Any], relevant: Any, scores: Any, qid: Any) -> float:
    """A measure that knows no queries; with qid its mean over those that have rows of both kinds."""
    if qid is None:
        return float(measure(relevant, scores))
    lists = [np.flatnonzero(qid == query) for query in np.unique(qid)]
    return float(np.mean([measure(relevant[rows], scores[rows]) for rows in lists if usable(relevant[rows])]))


def _by_query(measure: Callable[..., float], relevant: Any, scores: Any, qid: Any) -> float:
    return float(measure(relevant, scores, qid=qid))


def _precision(relevant: Any, scores: Any, qid: Any, *, k: int) -> float:
    return metrics.precision_at_k(relevant, scores, k, qid=qid)


def usable(relevant: Any, qid: Any = None) -> bool:
    """Whether a held-out part has rows of both kinds, in one query at least; without, no measure is defined."""
    if qid is not None:
        return any(usable(relevant[qid == query]) for query in np.unique(qid))
    return bool(np.any(relevant) and not np.all(relevant))
