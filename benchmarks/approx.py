"""The published approximation of AP-SVM (ap on hard samples only) against exact training."""

from __future__ import annotations

import numpy as np

from benchmarks import data, peers
from benchmarks.clock import Times, rounds_for
from benchmarks.peers import Fit
from benchmarks.table import Table

SHARES = (None, 0.25, 0.5, 0.75)
SLOW = ("bace", "hiv", "tox21", "CIFAR10_0")
C = 10.0


def run(full: bool = False) -> list[Table]:
    table = Table(
        "approx: time and test AP against exact training",
        ["data", "exact ms", ".25 ms", ".5 ms", ".75 ms", "exact AP", ".25 AP", ".5 AP", ".75 AP"],
        ["", *[".1f"] * 4, *[".4f"] * 4],
    )
    if not data.available():
        table.note(data.MISSING)
        return [table]
    seconds: list[list[float]] = []
    accuracy: list[list[float]] = []
    unfinished: list[str] = []
    for name in data.NAMES:
        if name in SLOW and not full:
            continue
        halves = data.halves(name)
        fits = _fits(halves, 5.0 if full else 1.0)
        seconds.append([Times(tuple(f.seconds for f in fits[share])).median for share in SHARES])
        accuracy.append([fits[share][0].ap for share in SHARES])
        unfinished += [f"{name} ({share})" for share in SHARES if not fits[share][0].converged]
        table.add(name, *(1e3 * s for s in seconds[-1]), *accuracy[-1])
    ratios = np.array(seconds)[:, 1:] / np.array(seconds)[:, :1]
    means = np.exp(np.log(ratios).mean(axis=0))
    table.add("mean", None, None, None, None, *np.mean(accuracy, axis=0).tolist())
    table.note(
        "Time over that of exact training, geometric mean: "
        + ", ".join(f"{mean:.2f} ({share:g})" for share, mean in zip(SHARES[1:], means, strict=True))
        + f". C = {C:g}, first half, medians of runs in turns."
    )
    table.note("Gap above tol: " + (", ".join(unfinished) or "none") + ".")
    return [table]


def _fits(halves: data.Halves, budget: float) -> dict[float | None, list[Fit]]:
    fits: dict[float | None, list[Fit]] = {share: [] for share in SHARES}
    rounds, turn = 1, 0
    while turn < rounds:
        for share in SHARES:
            fits[share].append(peers.rank_svm(halves, C, approx=share, max_iter=300))
        if turn == 0:
            rounds = rounds_for(sum(each[0].seconds for each in fits.values()), budget)
        turn += 1
    return fits
