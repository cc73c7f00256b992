"""What screening could save at most: an experiment, whose result is that the product leaves it out.

A negative whose score at w₀ is known cannot matter at w if z_i(w₀) + ‖x_i‖·‖w − w₀‖ (Cauchy–Schwarz) stays below
the scores of all negatives that weigh something there. Its row could be left out of the pass. A real rule does
not know these scores before the pass; here they are taken from the pass itself, and only two points of each line
are looked at. So the shares below are the most that any rule with this bound could save.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.table import Table
from rankcut import losses
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.estimators.base import enough
from rankcut.estimators.blas import one_blas_thread
from rankcut.models import LinearRisk
from rankcut.solvers import Event, Problem, minimise_together

Floats = NDArray[np.float64]
PATH = tuple(float(C) for C in np.logspace(-1, 4, 10))


class Screening:
    """Follows one solve; counts the rows that a pass could have left out."""

    def __init__(self, design: Design, risk: LinearRisk, relevant: NDArray[np.bool_], norms: Floats) -> None:
        self._design, self._risk, self._norms = design, risk, norms
        self._negative = np.flatnonzero(~relevant)
        self._best = np.zeros(design.n_columns)
        self._known = np.zeros(design.n_rows)  # a score of each row …
        self._points = [self._best]
        self._when = np.zeros(design.n_rows, dtype=np.intp)  # … and the number of the point that it is of
        self.looks, self.skipped = 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._design, name)  # the solver sees a design

    def scores(self, W: Floats) -> Floats:
        raw = self._design.scores(W)
        self._look(W[0], raw[0])
        return raw

    def note(self, event: Event) -> None:
        self._best = event.w.copy()

    def _look(self, w: Floats, raw: Floats) -> None:
        low = min(self._lowest(w, raw), self._lowest(self._best, self._design.scores(self._best[None])[0]))
        moved = np.array([np.linalg.norm(w - point) for point in self._points])
        rows = self._negative
        bound = self._known[rows] + self._norms[rows] * moved[self._when[rows]]
        skip = np.zeros(len(raw), dtype=bool)
        skip[rows[bound < low]] = True
        self.looks += 1
        self.skipped += int(skip.sum())
        self._points.append(w.copy())
        self._known[~skip] = raw[~skip]
        self._when[~skip] = len(self._points) - 1

    def _lowest(self, w: Floats, raw: Floats) -> float:
        """The lowest score of a negative that weighs something at w."""
        _, weights = self._risk.cut(self._risk.prepare(raw))
        weighty = self._negative[weights[self._negative] > 0]
        return float(raw[weighty].min()) if len(weighty) else float("inf")


def run(full: bool = False) -> list[Table]:
    table = Table(
        "What screening could save at most",
        [
            *("data", "rows", "relevant", "passes X w", "their share of the time"),
            *(f"C = {PATH[i]:.3g}" for i in (0, 4, 7, 9)),
            "path",
        ],
        ["", ",", ".2%", "d", ".0%", *[".1%"] * 5],
    )
    for name, X, y in _cases(full):
        shares, passes = saved(X, y)
        part = share_of_time(X, y)
        table.add(name, len(y), float(y.mean()), passes, part, *(shares[i] for i in (0, 4, 7, 9)), shares[-1])
    table.note(
        "Share of the rows of all passes X w that the bound alone would have let us leave out, for one problem "
        "walking up 10 values of C from 0.1 to 10,000 (loss ap, tol 1e-3), at single values of it and on the whole "
        "path. An upper bound: the threshold is known only after the pass. Problems that share a pass could "
        "leave out only what all of them can."
    )
    return [table]


def saved(X: Any, y: NDArray[Any]) -> tuple[list[float], int]:
    """The share of rows saved at each C of the path, then on all of it, and the number of passes."""
    design = make_design(X, n_threads=1)
    lists, loss = Lists.build(y > 0), losses.get("ap")
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else (X * X).sum(axis=1))
    watch = Screening(design, LinearRisk(lists, loss.bind(lists), loss.sees), y > 0, norms.astype(np.float64))
    risk = LinearRisk(lists, loss.bind(lists), loss.sees, enough=enough(design))
    marks = [(0, 0)]
    with one_blas_thread():
        minimise_together(
            watch,
            [Problem(risk, PATH)],
            callbacks=[watch.note],
            solved=lambda *_: marks.append((watch.looks, watch.skipped)),
        )
    steps = [
        (b[0] - a[0], b[1] - a[1])
        for a, b in zip([*marks[:-1], marks[0]], [*marks[1:], marks[-1]], strict=True)
    ]
    return [skipped / (passes * len(y)) if passes else float("nan") for passes, skipped in steps], watch.looks


class Timed:
    """A design that notes the processor time of its products X w."""

    def __init__(self, design: Design) -> None:
        self._design, self.seconds = design, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._design, name)

    def scores(self, W: Floats) -> Floats:
        began = time.process_time()
        raw = self._design.scores(W)
        self.seconds += time.process_time() - began
        return raw


def share_of_time(X: Any, y: NDArray[Any]) -> float:
    """Of one walk up the path, what the passes X w take of the processor time."""
    design = Timed(make_design(X, n_threads=1))
    lists, loss = Lists.build(y > 0), losses.get("ap")
    risk = LinearRisk(lists, loss.bind(lists), loss.sees, enough=max(2048, 8 * X.shape[1]))
    began = time.process_time()
    with one_blas_thread():
        minimise_together(design, [Problem(risk, PATH)])
    return design.seconds / (time.process_time() - began)


def _cases(full: bool) -> Iterator[tuple[str, Any, NDArray[np.bool_]]]:
    rng = np.random.default_rng(0)
    for d in (10, 100):
        y = rng.random(50_000) < 0.01
        X = rng.standard_normal((len(y), d))
        X[y] += 2.5 / np.sqrt(d)
        yield f"normal, d = {d}", X, y
    if data.available():
        for name in ("cover", "creditcard_50k", "mammography", "hiv", *(("aloi", "a9a") if full else ())):
            half = data.halves(name)
            yield name, half.X, half.y > 0
