"""The two products of a design, X w and Xᵀ a, against NumPy and SciPy (bench_products.py as a table)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from operator import matmul

import numpy as np

from benchmarks.bench_products import cases
from benchmarks.clock import side_by_side
from benchmarks.table import Table
from rankcut.designs import make_design

Run = Callable[[], object]


def run(full: bool = False) -> list[Table]:
    threads = os.cpu_count() or 1
    table = Table(
        "Products of the design against NumPy and SciPy",
        ["X", "problems", "product", "ours ms", "theirs ms", "ratio", "of minimums"],
        ["", "d", "", ".2f", ".2f", ".2f", ".2f"],
    )
    rng = np.random.default_rng(0)
    for name, make, problems in cases(rng):
        X = make()
        design = make_design(X, n_threads=threads)
        for k in problems if full else problems[:2]:
            W, A = rng.standard_normal((k, X.shape[1])), rng.standard_normal((k, X.shape[0]))
            V, B = W.T.astype(X.dtype), A.T.astype(X.dtype)
            V, B = (V[:, 0], B[:, 0]) if k == 1 else (V, B)  # a vector is their faster way
            runs: dict[str, list[Run]] = {
                "X w": [partial(design.scores, W), partial(matmul, X, V)],
                "Xᵀ a": [partial(design.pull, A), partial(matmul, X.T, B)],
            }
            for product, (ours, theirs) in runs.items():
                times = side_by_side({"ours": ours, "theirs": theirs}, 7 if full else 3)
                a, b = times["ours"], times["theirs"]
                ratios = a.median / b.median, a.least / b.least
                table.add(name, k, product, 1e3 * a.median, 1e3 * b.median, *ratios)
    table.note(
        f"{threads} threads for ours and for BLAS; SciPy's sparse products have one. Ours always sum in float64, "
        "NumPy and SciPy in the type of X. Medians, then minimums, of runs in turns."
    )
    return [table]
