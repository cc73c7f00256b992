"""One thread and two: the same coef_ bit for bit, and what the second one gains."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.clock import once, rounds_for, side_by_side
from benchmarks.table import Table
from rankcut import RankSVM

LOSSES = ("ap", "auc", "ndcg", "mrr", "precision@50", "hinge")
NAMES = ("spambase", "landsat", "a9a", "CIFAR10_0", "hiv")


def run(full: bool = False) -> list[Table]:
    table = Table(
        "One thread against two",
        ["data", "loss", "same coef_", "1 thread ms", "2 threads ms", "speed-up"],
        ["", "", "", ".1f", ".1f", ".2f"],
    )
    different = 0
    for name, X, y, losses in _cases(full):
        for loss in losses:
            one, two = (RankSVM(C=10.0, loss=loss, max_iter=100, n_jobs=k) for k in (1, 2))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first = once(lambda: one.fit(X, y))
                two.fit(X, y)
                rounds = rounds_for(2 * first, 4.0 if full else 0.8, most=5)
                times = side_by_side({"1": lambda: one.fit(X, y), "2": lambda: two.fit(X, y)}, rounds, warm=0)
            same = one.coef_.tobytes() == two.coef_.tobytes()
            different += not same
            a, b = times["1"].median, times["2"].median
            table.add(name, loss, same, 1e3 * a, 1e3 * b, a / b)
    table.note(
        f"Must: the same bit for bit. Different: {different or 'none'}. C = 10, at most 100 cuts, medians."
    )
    return [table]


def _cases(full: bool) -> Iterator[tuple[str, Any, Any, tuple[str, ...]]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000 if full else 300_000, 128), dtype=np.float32)
    y = rng.random(len(X)) < 0.01
    X[y] += np.float32(0.3) * rng.standard_normal(128, dtype=np.float32)
    yield f"normal {len(X):,} × 128 f32", X, y, ("ap", "ndcg", "hinge") if full else ("ap", "hinge")
    if not data.available():
        return
    for name in NAMES:
        half = data.halves(name)
        yield name, half.X, half.y, LOSSES if full or name != "hiv" else ("ap", "hinge")
    half = data.halves("cifar10_effnet")
    labels = data.load("tables/cifar10_effnet")["y"]
    order = np.random.default_rng(0).permutation(len(labels))[
        : len(half.y)
    ]  # the same rows as in data.halves
    yield "cifar10_effnet, 10 classes", half.X, labels[order], ("ap", "hinge")
