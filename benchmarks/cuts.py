"""Cuts to a relative gap of 1e-3, next to the prototype's."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks import data
from benchmarks.clock import once
from benchmarks.table import Table
from rankcut import RankSVM

# Of the issue: cuts that a quick prototype needed, by C.
PROTOTYPE = {
    "cover": (6, 9),
    "landsat": (14, 25),
    "letter": (18, 37),
    "magic_gamma": (8, 14),
    "mammography": (7, 9),
    "spambase": (11, 41),
    "CIFAR10_0": (27, 242),
}


def run(full: bool = False) -> list[Table]:
    """The issue's protocol: one random half, seed 0, standardised, float64, tol=1e-3."""
    table = Table(
        "Cuts to a relative gap of 1e-3",
        ["data", "C", "cuts", "prototype", "share", "X w", "Xᵀ α", "gap", "seconds"],
        ["", ",", "d", "d", ".2f", ".1f", ".1f", ".1e", ".3f"],
    )
    if not data.available():
        table.note(data.MISSING)
        return [table]
    shares: dict[float, list[float]] = {}
    for name, prototype in PROTOTYPE.items():
        half = data.halves(name)
        for C, reference in zip((10.0, 1000.0, 10_000.0), (*prototype, None), strict=True):
            if reference is None and not full:
                continue
            model = RankSVM(C=C, tol=1e-3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds = once(lambda: model.fit(half.X, half.y))
            share = None if reference is None else model.n_iter_ / reference
            if share is not None:
                shares.setdefault(C, []).append(share)
            passes = model.n_passes_
            table.add(
                name,
                C,
                model.n_iter_,
                reference,
                share,
                passes.forward,
                passes.backward,
                model.dual_gap_,
                seconds,
            )
    for C, values in shares.items():
        table.note(
            f"C = {C:g}: share of the prototype's cuts {np.exp(np.mean(np.log(values))):.2f} "
            f"(geometric mean), worst {max(values):.2f}."
        )
    table.note(
        "Must: no more cuts than the prototype; try for half. Passes count a partial one as its share of rows."
    )
    return [table]
