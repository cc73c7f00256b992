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
    if callable(scoring):
        return lambda relevant, scores, qid: float(scoring(relevant, scores))
    if scoring in _BY_NAME:
        return partial(_by_query, _BY_NAME[scoring])
    at = re.fullmatch(r"precision@([1-9]\d*)", str(scoring))
    if at:
        return partial(_by_query, partial(_precision, k=int(at[1])))
    raise InputError(
        f"scoring: came as {scoring!r}; pass one of {', '.join(_BY_NAME)}, precision@k, or a callable"
    )


def _by_query(measure: Callable[..., float], relevant: Any, scores: Any, qid: Any) -> float:
    return float(measure(relevant, scores, qid=qid))


def _precision(relevant: Any, scores: Any, qid: Any, *, k: int) -> float:
    return metrics.precision_at_k(relevant, scores, k, qid=qid)


def usable(relevant: Any) -> bool:
    """Whether a held-out part has rows of both kinds; without, no measure is defined."""
    return bool(np.any(relevant) and not np.all(relevant))
