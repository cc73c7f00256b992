"""Test AP and time against LinearSVC, dlib's svm_rank_trainer and LightGBM, on the shared data."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks import data, isolated, peers
from benchmarks.clock import Times, rounds_for
from benchmarks.peers import Fit
from benchmarks.table import Table
from rankcut.metrics import paired_test

Floats = NDArray[np.float64]
FLOOR = 0.050  # seconds that are added to both times of a ratio
OURS, SVC, DLIB, TREES = "RankSVM", "LinearSVC", "dlib", "LightGBM"
LINEAR = (OURS, SVC, DLIB)


@dataclass
class Result:
    """One method on one data set: by split, the best test AP, its C and its time, and the time of the grid."""

    ap: list[float] = field(default_factory=list)
    C: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    grid: list[float] = field(default_factory=list)
    unfinished: int = 0

    def add(self, fits: Sequence[Fit]) -> None:
        """The fits of one split: each C as often as there were rounds; times are the least of the rounds."""
        seconds: dict[float, list[float]] = {}
        for fit in fits:
            seconds.setdefault(fit.C, []).append(fit.seconds)
        first = {fit.C: fit for fit in reversed(fits)}
        winner = max(first.values(), key=lambda fit: fit.ap)
        self.ap.append(winner.ap)
        self.C.append(winner.C)
        self.best.append(Times(tuple(seconds[winner.C])).least)
        self.grid.append(sum(Times(tuple(each)).least for each in seconds.values()))
        self.unfinished += sum(not fit.converged for fit in first.values())


def run(full: bool = False) -> list[Table]:
    if not data.available():
        return [Table("Test AP and time against the peers", [], [], notes=[data.MISSING])]
    splits = 5 if full else 3
    found: dict[str, dict[str, Result]] = {}
    shapes = {}
    for name in data.NAMES:
        results = {method: Result() for method in (*LINEAR, TREES)}
        for seed in range(splits):
            halves = data.halves(name, seed)
            shapes[name] = f"{halves.shape}, {int(halves.y.sum()):,}"
            for method, fits in _linear(halves, budget=2.0 if full else 0.5).items():
                results[method].add(fits)
            fits = _dlib(halves)
            if fits:
                results[DLIB].add(fits)
            cheap = sp.issparse(halves.X) or halves.X.shape[1] < 128
            if seed == 0 and (cheap or full):
                results[TREES].add([peers.light_gbm(halves)])
        found[name] = results
    return [_accuracy(found, shapes, splits), _times(found, "best"), _times(found, "grid")]


def _linear(halves: data.Halves, budget: float) -> dict[str, list[Fit]]:
    """RankSVM and LinearSVC in turns, both over their whole grids in every round."""
    fits: dict[str, list[Fit]] = {OURS: [], SVC: []}
    rounds, turn = 1, 0
    while turn < rounds:
        fits[OURS] += [peers.rank_svm(halves, C) for C in peers.OUR_CS]
        fits[SVC] += [peers.linear_svc(halves, C) for C in peers.LINEAR_CS]
        if turn == 0:
            rounds = rounds_for(sum(fit.seconds for each in fits.values() for fit in each), budget)
        turn += 1
    return fits


def _dlib(halves: data.Halves) -> list[Fit]:
    """Empty if it is not installed, or not through its grid in a minute."""
    arrays = halves.X, halves.y, halves.X_test, halves.y_test
    try:
        return list(isolated.stream(peers.dlib_fits, *arrays, peers.DLIB_CS, 3, limit=60.0))
    except isolated.TimeLimit:
        return []
    except RuntimeError as error:
        if "ModuleNotFoundError" in str(error):
            return []
        raise


def _accuracy(found: dict[str, dict[str, Result]], shapes: dict[str, str], splits: int) -> Table:
    table = Table(
        "Test AP, best of each method's grid",
        ["data", "training half, relevant", OURS, SVC, DLIB, TREES, "difference", "C ours", "C theirs"],
        ["", "", ".4f", ".4f", ".4f", ".4f", "+.4f", "g", "g"],
    )
    means = {m: np.array([_mean(results[m].ap) for results in found.values()]) for m in (*LINEAR, TREES)}
    for i, (name, results) in enumerate(found.items()):
        Cs = (statistics.median_low(results[m].C) for m in (OURS, SVC))
        cells = [float(means[m][i]) for m in (*LINEAR, TREES)]
        table.add(name, shapes[name], *cells, cells[0] - cells[1], *Cs)
    overall = [float(means[m].mean()) for m in (*LINEAR, TREES)]
    table.add("mean", "", *overall, overall[0] - overall[1], None, None)
    for peer in (SVC, DLIB):
        _compare(table, list(found), means[OURS], means[peer], peer)
    table.note(
        f"Means over {splits} random halves; the other half is the test. difference: {OURS} − {SVC}; C: the median "
        f"best. The best C is chosen by test AP for all, {OURS} and dlib in {peers.OUR_CS}, {SVC} in "
        f"{peers.LINEAR_CS}. {TREES} is not linear: 100 trees, defaults, first half only."
    )
    for method in (OURS, SVC):
        open_ones = {name: results[method].unfinished for name, results in found.items()}
        listed = ", ".join(f"{name} ({count} fits)" for name, count in open_ones.items() if count)
        table.note(f"{method} did not converge in: {listed or 'none'}.")
    return table


def _compare(table: Table, names: list[str], ours: Floats, theirs: Floats, peer: str) -> None:
    both = ~np.isnan(theirs)
    if both.sum() < 2:
        return
    test = paired_test(ours[both], theirs[both])
    wins = [name for name, a, b in zip(names, ours, theirs, strict=True) if a > b]
    losses = [name for name, a, b in zip(names, ours, theirs, strict=True) if a <= b]
    table.note(
        f"{OURS} − {peer} over {test.n} data sets: mean {test.mean_difference:+.4f} "
        f"[{test.low:+.4f}, {test.high:+.4f}], t-test p = {test.t_pvalue:.3f}, "
        f"Wilcoxon p = {test.wilcoxon_pvalue:.3f}; better on {len(wins)} ({', '.join(wins)}), "
        f"worse on {len(losses)} ({', '.join(losses)})."
    )


def _times(found: dict[str, dict[str, Result]], which: str) -> Table:
    what = "the best C" if which == "best" else "the whole grid"
    table = Table(
        f"Training time of {what}, ms",
        ["data", *LINEAR, TREES, f"ratio to {SVC}", "ratio to dlib", "plain ratio"],
        ["", ".1f", ".1f", ".1f", ".0f", ".2f", ".2f", ".2f"],
    )
    ratios: dict[str, list[float]] = {SVC: [], DLIB: []}
    bad = []
    for name, results in found.items():
        seconds = {m: statistics.median(getattr(r, which)) if r.ap else math.nan for m, r in results.items()}
        for peer, values in ratios.items():
            values.append((seconds[OURS] + FLOOR) / (seconds[peer] + FLOOR))
        if seconds[SVC] > 0.1 and ratios[SVC][-1] > 3:
            bad.append(f"{name} ({ratios[SVC][-1]:.1f})")
        last = (ratios[SVC][-1], ratios[DLIB][-1], seconds[OURS] / seconds[SVC])
        table.add(name, *(1e3 * s for s in seconds.values()), *last)
    for peer, values in ratios.items():
        table.note(f"Geometric mean of the ratios to {peer}: {np.exp(np.nanmean(np.log(values))):.2f}.")
    table.note(
        f"Above 3 × {SVC} where that takes over 100 ms: {', '.join(bad) or 'none'} (must: none, and a mean ≤ 1)."
    )
    table.note(
        f"ratio: (ours + 50 ms) / (theirs + 50 ms); plain: ours / {SVC}. Medians over the halves of the least times of "
        f"each fit. {len(peers.OUR_CS)} values of C for {OURS} and dlib, {len(peers.LINEAR_CS)} for {SVC}. {OURS} uses "
        f"all cores, {SVC} and dlib have one thread. dlib: training alone, without converting the data."
    )
    return table


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan
