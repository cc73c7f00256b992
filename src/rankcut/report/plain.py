"""Comparisons as plain text for people, and as JSON for machines."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import sklearn

from rankcut import __version__
from rankcut.report import words
from rankcut.report.comparison import Comparison, Outcome
from rankcut.report.formats import text
from rankcut.report.tables import precision_table, seconds_table


def as_text(comparisons: Sequence[Comparison]) -> str:
    """Two tables and what follows from them."""
    shown = [each for each in comparisons if each.folds]
    if not shown:
        return "No fold was finished.\n"
    notes = [f"{each.data.name}: {words.verdict(each)}." for each in shown] + words.notes(shown)
    notes += [f"{each.data.name}: {words.missing(each)}." for each in comparisons if words.missing(each)]
    return "\n\n".join([*map(text, (precision_table(shown), seconds_table(shown))), "\n".join(notes)]) + "\n"


def as_json(comparisons: Sequence[Comparison]) -> str:
    """Everything that the text and the page show; numbers that are not finite become null."""
    document = {
        "complete": not any(words.missing(each) for each in comparisons),
        "environment": environment(),
        "protocol": words.protocol(comparisons[0]),
        "data": [_data(each) for each in comparisons],
    }
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def environment() -> dict[str, Any]:
    """What the seconds depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "rankcut": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores,
    }


def _data(comparison: Comparison) -> dict[str, Any]:
    data, test = comparison.data, comparison.test()
    names = [method.name for method in comparison.methods]
    return {
        "name": data.name,
        "title": data.title,
        "source": data.source,
        "licence": data.licence,
        "rows": len(data.y),
        "features": data.X.shape[1],
        "relevant": int(data.y.sum()),
        "n_folds": comparison.n_folds,
        "folds": [
            {name: _outcome(outcome) for name, outcome in zip(names, fold, strict=True)}
            for fold in comparison.folds
        ],
        "test": None if test is None else {"difference": f"{names[1]} - {names[0]}", **asdict(test)},
        "verdict": words.verdict(comparison) if comparison.folds else None,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "precision": outcome.precision.tolist()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
