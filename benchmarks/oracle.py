"""The loss oracles against sorting and against one pass over the data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import once, side_by_side
from benchmarks.table import Table
from rankcut import RankSVM, _core, losses

Floats = NDArray[np.float64]
PUBLISHED = {"greedy": "13.2", "search": "1.57", "select": "0.94"}


def run(full: bool = False) -> list[Table]:
    return [_against_sorting(full), _published()]


def _against_sorting(full: bool) -> Table:
    table = Table(
        "The staircase oracle against sorting and against one pass",
        ["case", "through", "threads", "ours ms", "peer", "peer ms", "ratio", "ratio of minimums", "must"],
        ["", "", "d", ".2f", "", ".2f", ".2f", ".2f", ""],
    )
    repeat = 21 if full else 9
    rng = np.random.default_rng(0)
    scores, y = _shuffled(rng, rng.standard_normal(2_000) + 1.0, rng.standard_normal(100_000))
    _compare(table, "P 2,000, N 100,000", scores, y, "argsort", lambda: np.argsort(scores), "≤ 3", repeat)
    tied, labels = _shuffled(rng, np.ones(50_000), np.zeros(50_000))
    _compare(table, "P = N = 50,000, two ties", tied, labels, "20 ms", None, "≤ 1", repeat)
    X, relevant = _wide(rng)
    w = _train(table, X, relevant)
    weights = w.astype(np.float32)
    near = X @ weights
    _compare(
        table, "n 1,000,000, optimum", near.astype(np.float64), relevant, "X @ w", lambda: X @ weights, "≤ .5", repeat
    )
    random = rng.standard_normal(len(relevant))
    _compare(
        table,
        "n 1,000,000, random",
        random,
        relevant,
        "stable argsort",
        lambda: np.argsort(random, kind="stable"),
        "≤ .5",
        repeat,
    )
    table.note("Ratios are ours / peer: of medians, then of minimums. The rounds take turns. X is 1,000,000 × 128, float32.")
    table.note("evaluate: _core.ap_risk, samples with the positives first. losses.get: most_violated, rows in any order.")
    return table


def _compare(
    table: Table, case: str, scores: Floats, y: NDArray[np.bool_], peer: str, theirs: Any, must: str, repeat: int
) -> None:
    P, n = int(y.sum()), len(y)
    risk = _core.ap_risk(np.array([0, n]), np.array([P]))
    compact = np.concatenate((scores[y], scores[~y]))
    alpha = np.empty(n)
    loss = losses.get("ap")
    times = side_by_side(
        {
            "evaluate": lambda: risk.evaluate(compact, alpha, 1),
            "losses.get": lambda: loss.most_violated(scores, y),
            **({} if theirs is None else {"peer": theirs}),
        },
        repeat,
    )
    median, least = (0.020, 0.020) if theirs is None else (times["peer"].median, times["peer"].least)
    for through in ("evaluate", "losses.get"):
        ours = times[through]
        ratios = ours.median / median, ours.least / least
        table.add(case, through, 1, 1e3 * ours.median, peer, 1e3 * median, *ratios, must)


def _shuffled(rng: np.random.Generator, positive: Floats, negative: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    y = np.zeros(len(positive) + len(negative), dtype=bool)
    y[: len(positive)] = True
    order = rng.permutation(len(y))
    return np.concatenate((positive, negative))[order], y[order]


def _wide(rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """1,000,000 × 128 with 1 % positives, whose mean lies apart along a few directions."""
    X = rng.standard_normal((1_000_000, 128), dtype=np.float32)
    y = rng.random(len(X)) < 0.01
    X[y] += 0.25 * rng.standard_normal(128, dtype=np.float32)
    return X, y


def _train(table: Table, X: NDArray[np.float32], y: NDArray[np.bool_]) -> Floats:
    model = RankSVM(C=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = once(lambda: model.fit(X, y))
    table.note(
        f"optimum: scores of RankSVM(C=100) trained on it in {seconds:.1f} s "
        f"({model.n_iter_} cuts, gap {model.dual_gap_:.0e})."
    )
    return model.coef_[0]


def _published() -> Table:
    table = Table(
        "The four algorithms at the sizes of the literature, ms per call",
        ["samples", "scores", "greedy", "search", "select", "staircase"],
        ["", "", ".3f", ".3f", ".3f", ".4f"],
    )
    table.add("published", "its training", *PUBLISHED.values(), None)
    rng = np.random.default_rng(0)
    for what, P, N in (("3,347 samples (10 % positive)", 335, 3_012), ("4,703 negatives, 500 positives", 500, 4_703)):
        for kind, shift, scale in (("near an optimum", 2.0, 1.0), ("random", 0.0, 1.0), ("all zero (first call)", 0.0, 0.0)):
            z = scale * np.concatenate((rng.standard_normal(P) + shift, rng.standard_normal(N)))
            alpha = np.empty(P + N)
            risks = {
                name: _core.published_ap_risk(name, np.array([0, P + N]), np.array([P])) for name in PUBLISHED
            }
            risks["staircase"] = _core.ap_risk(np.array([0, P + N]), np.array([P]))
            times = side_by_side({name: lambda r=r: r.evaluate(z, alpha, 1) for name, r in risks.items()}, 15)
            table.add(what, kind, *(1e3 * t.median for t in times.values()))
    table.note("The publication gives no number of positives for these sizes; its machine is of 2014.")
    return table
