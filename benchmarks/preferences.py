"""The preference oracle against sorting, its growth and memory, and training on a million graded rows."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import isolated
from benchmarks.table import Table
from rankcut import PreferenceRankSVM, losses
from rankcut.data import Grades

Floats = NDArray[np.float64]
ROWS = 1_000_000
COLUMNS = 16
PAIRS = 1_000_000  # sampled for LinearSVC
DLIB_LIMIT = 600.0  # seconds


def run(full: bool = False) -> list[Table]:
    return [_against_sorting(9 if full else 5), _growth(full), _training(full)]


# --- one evaluation ------------------------------------------------------------------------------------


def _against_sorting(repeat: int) -> Table:
    table = Table(
        f"The preference oracle against sorting, n = {ROWS:,}, one thread",
        ["case", "ours ms", "of stable argsort", "of minimums", "of default argsort", "must"],
        ["", ".1f", ".2f", ".2f", ".2f", ""],
    )
    rng = np.random.default_rng(0)
    y = np.sort(rng.standard_normal(ROWS))[::-1].copy()
    z = 0.5 * y + rng.standard_normal(ROWS)
    five = np.sort(rng.integers(0, 5, ROWS))[::-1].astype(np.float64)
    cases: list[tuple[str, Floats, Floats, int, str]] = [
        ("complete, slack, real y", y, z, 0, "slack"),
        ("complete, slack, real y, scores × 5", y, 5 * z, 0, "slack"),
        ("complete, slack, real y, scores / 100", y, 0.01 * z, 0, "slack"),
        ("complete, slack, 5 grades", five, z, 0, "slack"),
        ("bipartite, slack, best 1,000", y, z, 1000, "slack"),
        ("complete, margin, real y", y, z, 0, "margin"),
    ]
    for case, grades, scores, above, rescaling in cases:
        lists = Grades(ROWS, np.arange(ROWS), np.array([0, ROWS]), grades, np.array([above]), 0)
        risk, alpha = losses.get("preference", rescaling=rescaling).bind(lists), np.empty(ROWS)
        runs: dict[str, Callable[[], object]] = {
            "ours": lambda r=risk, s=scores: r.evaluate(s, alpha, 1),
            "stable": lambda s=scores: np.argsort(s, kind="stable"),
            "default": lambda s=scores: np.argsort(s),
        }
        for run in runs.values():
            run()  # to warm up
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(repeat):
            for name, run in runs.items():
                times[name] += [_cpu(run), _cpu(run)]
        middle = {name: float(np.median(taken)) for name, taken in times.items()}
        least = {name: min(taken) for name, taken in times.items()}
        ratios = middle["ours"] / middle["stable"], least["ours"] / least["stable"]
        table.add(case, 1e3 * middle["ours"], *ratios, least["ours"] / least["default"], "≤ 1.5")
    table.note(
        "ours: _core.preference_risk(…).evaluate, which sorts the scores itself; both argsorts take the same scores, "
        "the default one with vector instructions. CPU seconds, in turns; ratios of medians, then of minimums."
    )
    return table


def _cpu(run: Callable[[], object]) -> float:
    """CPU seconds of this process: what else runs on the machine disturbs them least."""
    start = time.process_time()
    run()
    return time.process_time() - start


# --- growth and memory ----------------------------------------------------------------------------------


def _growth(full: bool) -> Table:
    sizes = [10**5, 10**6, 10**7, *([5 * 10**7] if full else [])]
    table = Table(
        "Growth and memory: complete graph, slack, real y",
        ["n", "CPU seconds", "ns / (n log2 n)", "beyond inputs GiB", "must", "margin, CPU seconds"],
        [",d", ".3f", ".2f", ".2f", "", ".3f"],
    )
    logs: list[tuple[float, float]] = []
    for n in sizes:
        [(seconds, memory, margin)] = isolated.stream(evaluate_once, n, limit=3600.0)
        logs.append((np.log(n * np.log2(n)), np.log(seconds)))
        must = "< 12" if n == 5 * 10**7 else ""
        table.add(n, seconds, 1e9 * seconds / (n * np.log2(n)), memory, must, margin)
    slope = np.polyfit(*zip(*logs, strict=True), 1)[0]
    table.note(
        f"Fitted: seconds grow as (n log n)^{slope:.2f}. The fastest of three evaluations by one thread (of two from "
        "10⁷), with both inputs, scores and y, and the result already there; beyond inputs: the peak of the resident "
        "process, binding (a copy of y) included, less what it had with the inputs."
    )
    return table


def evaluate_once(n: int) -> Iterator[tuple[float, float, float]]:
    import resource

    rng = np.random.default_rng(0)
    y = rng.standard_normal(n)
    y.sort()
    y = y[::-1].copy()
    z = rng.standard_normal(n)
    z += 0.5 * y
    alpha = np.zeros(n)
    order = np.zeros(n, dtype=np.int32)  # of no account to the oracle, but part of the container
    before = _resident()
    seconds = []
    for rescaling in ("slack", "margin"):
        lists = Grades(n, order, np.array([0, n]), y, np.array([0]), 0)
        risk = losses.get("preference", rescaling=rescaling).bind(lists)
        best = np.inf
        for _ in range(3 if n < 10**7 else 2):
            best = min(best, _cpu(lambda r=risk: r.evaluate(z, alpha, 1)))
        seconds.append(best)
        if rescaling == "slack":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        del risk
    yield seconds[0], peak - before, seconds[1]


def _resident() -> float:
    """GiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**30


# --- training -------------------------------------------------------------------------------------------


def _training(full: bool) -> Table:
    rows = ROWS if full else ROWS // 10
    table = Table(
        f"Training on {rows:,} × {COLUMNS} graded rows to a gap of 1e-3",
        ["method", "C", "CPU seconds", "cuts", "X w", "Xᵀα", "gap", "pairs in order"],
        ["", "g", ".2f", "d", ".1f", ".1f", ".0e", ".4f"],
    )
    X, y = _graded(rows)
    X_test, y_test = _graded(rows // 10, seed=1)
    test = losses.get("preference")
    for graph, rescaling in (("complete", "slack"), ("complete", "margin"), ("bipartite", "slack")):
        for C in (1.0, 100.0):
            model = PreferenceRankSVM(C=C, graph=graph, rescaling=rescaling, threshold=_half(graph), n_jobs=1)
            seconds = _cpu(lambda m=model: m.fit(X, y))
            reached = test.ordered(model.decision_function(X_test), y_test)
            table.add(
                f"{graph}, {rescaling}",
                C,
                seconds,
                model.n_iter_,
                *model.n_passes_,
                float(model.dual_gap_),
                reached,
            )
    seconds, w = _pairs_svc(X, y)
    table.add(
        f"LinearSVC on {PAIRS:,} sampled pairs",
        1.0,
        seconds,
        None,
        None,
        None,
        None,
        test.ordered(X_test @ w, y_test),
    )
    try:
        for found_seconds, found_w in isolated.stream(dlib_bipartite, rows, limit=DLIB_LIMIT):
            table.add(
                "dlib, bipartite",
                1.0,
                found_seconds,
                None,
                None,
                None,
                None,
                test.ordered(X_test @ found_w, y_test),
            )
    except isolated.TimeLimit:
        table.add("dlib, bipartite", 1.0, None, None, None, None, None, None)
        table.note(f"dlib did not end within {DLIB_LIMIT:.0f} s.")
    except RuntimeError as error:
        table.note(f"dlib: {error}; left out.")
    table.note(
        "y = x·w + noise; bipartite: the better half over the other. pairs in order: on fresh rows, over all pairs, "
        "each weighing y_i − y_j. X w and Xᵀα: passes over X, a partial one as its fraction. LinearSVC's time includes "
        "the sampling and the differences; dlib's leaves out the conversion of the rows, and its eps is the default."
    )
    return table


def _half(graph: str) -> float | None:
    return 0.0 if graph == "bipartite" else None


def _graded(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    direction = np.random.default_rng(7).standard_normal(COLUMNS)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, COLUMNS))
    return X, X @ direction / np.linalg.norm(direction) + rng.standard_normal(rows)


def _pairs_svc(X: Floats, y: Floats) -> tuple[float, Floats]:
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    start = time.process_time()
    i, j = rng.integers(0, len(y), (2, PAIRS))
    sign = np.where(np.arange(PAIRS) % 2 == 0, 1, -1)  # both classes
    better = np.where(y[i] > y[j], i, j)
    difference = sign[:, None] * (X[better] - X[np.where(better == i, j, i)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(fit_intercept=False).fit(difference, sign, sample_weight=np.abs(y[i] - y[j]))
    return time.process_time() - start, model.coef_[0]


def dlib_bipartite(rows: int) -> Iterator[tuple[float, Any]]:
    import dlib  # type: ignore[import-not-found]

    X, y = _graded(rows)
    pair = dlib.ranking_pair()
    for i in range(rows):
        (pair.relevant if y[i] > 0 else pair.nonrelevant).append(dlib.vector(X[i]))
    trainer = dlib.svm_rank_trainer()
    trainer.c = 1.0
    start = time.process_time()
    ranker = trainer.train(pair)
    yield time.process_time() - start, np.array(ranker.weights).ravel()
