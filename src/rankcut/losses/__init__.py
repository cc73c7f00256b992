"""Losses in score space: from scores and relevance to the most violated ranking."""

from __future__ import annotations

import re
from typing import Any

from rankcut.errors import InputError
from rankcut.losses.ap import AveragePrecision
from rankcut.losses.auc import Auc
from rankcut.losses.base import Loss, MostViolated
from rankcut.losses.hinge import Hinge
from rankcut.losses.mrr import ReciprocalRank
from rankcut.losses.ndcg import Ndcg
from rankcut.losses.precision import PrecisionAtK
from rankcut.losses.preference import Preference

__all__ = ["Loss", "MostViolated", "get", "names"]

_BY_NAME: dict[str, type[Loss]] = {
    loss.name: loss for loss in (AveragePrecision, Auc, Ndcg, ReciprocalRank, Hinge, Preference)
}


def names() -> list[str]:
    """The names that `get` knows; "precision@k" stands for any k."""
    return [*_BY_NAME, PrecisionAtK.name]


def get(name: str, **options: Any) -> Loss:
    """The loss of that name, as in get("ap", oracle="greedy"), get("precision@10")."""
    text = name if isinstance(name, str) else ""
    at = re.fullmatch(r"precision@(\d+)", text)
    if at is None and text not in _BY_NAME:
        hint = "; put a number for k, as in 'precision@10'" if name == PrecisionAtK.name else ""
        raise InputError(f"loss: came as {name!r}; pass one of {', '.join(names())}{hint}")
    try:
        return PrecisionAtK(int(at[1]), **options) if at else _BY_NAME[name](**options)
    except TypeError as error:
        raise InputError(
            f"options: {', '.join(options)} came for loss {name!r}, which fails: {error}"
        ) from error
