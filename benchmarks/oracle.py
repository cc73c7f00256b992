"""The loss oracles against sorting and against one pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Times, once, side_by_side
from benchmarks.table import Table
from rankcut import RankSVM, _core, losses
from rankcut.arguments import threads
from rankcut.metrics import average_precision

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
PUBLISHED = {"greedy": 13.2, "search": 1.57, "select": 0.94}  # ms per call
ONE, ALL = "evaluate, 1 thread", "evaluate"
ROWS, COLUMNS = 1_000_000, 128
BURST = 3  # runs in a row: the solver's line search, too, calls the oracle several times between passes


def run(full: bool = False) -> list[Table]:
    return [_against_sorting(15 if full else 5), _published()]


def _against_sorting(repeat: int) -> Table:
    table = Table(
        "The staircase oracle against sorting and against one pass",
        ["case", "through", "ours ms", "peer", "peer ms", "ratio", "of minimums", "must"],
        ["", "", ".2f", "", ".2f", ".2f", ".2f", ""],
    )
    rng = np.random.default_rng(0)
    z, y = _shuffled(rng, rng.standard_normal(2_000) + 1.0, rng.standard_normal(100_000))
    _compare(table, "P 2,000, N 100,000", z, y, "argsort", lambda: np.argsort(z), "≤ 3", repeat)
    tied, labels = _shuffled(rng, np.ones(50_000), np.zeros(50_000))
    _compare(table, "P = N = 50,000, two ties", tied, labels, "", None, "≤ 20 ms", repeat)
    X = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    relevant = rng.random(ROWS) < 0.01
    direction = rng.standard_normal(COLUMNS, dtype=np.float32)
    apart = 0.0
    for distance in (3.0, 5.0):
        X[relevant] += (distance - apart) / np.linalg.norm(direction) * direction
        apart = distance
        _near_optimum(table, X, relevant, repeat)
    random = rng.standard_normal(ROWS)
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
    table.note(
        f"ratio: ours / peer, of medians, then of minimums, over {BURST * repeat} runs in turns of {BURST}. "
        f"n 1,000,000: X is {ROWS:,} × {COLUMNS} float32, 1 % of the rows are relevant."
    )
    table.note(
        "evaluate: _core.ap_risk(…).evaluate, samples with the positives first, as the solver keeps them. losses.get: "
        "losses.get('ap').most_violated, rows in any order, checks included. It and X @ w use all cores."
    )
    return table


def _near_optimum(table: Table, X: NDArray[np.float32], y: Labels, repeat: int) -> None:
    """Scores of a model that is trained on X, and one pass over the same X."""
    model = RankSVM(C=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = once(lambda: model.fit(X, y))
    w = model.coef_[0].astype(np.float32)
    z = (X @ w).astype(np.float64)
    case = f"n 1,000,000, optimum with AP {average_precision(y, z):.2f}"
    _compare(table, case, z, y, "X @ w", lambda: X @ w, "≤ .5", repeat)
    active = np.count_nonzero(losses.get("ap").most_violated(z, y).alpha[~y])
    table.note(
        f"{case}: RankSVM(C=100) took {seconds:.1f} s for {model.n_iter_} cuts; "
        f"{active:,} negatives are above a positive in the most violated ranking."
    )


def _compare(
    table: Table,
    case: str,
    scores: Floats,
    y: Labels,
    peer: str,
    theirs: Callable[[], object] | None,
    must: str,
    repeat: int,
) -> None:
    P, n = int(y.sum()), len(y)
    risk = _core.ap_risk(np.array([0, n]), np.array([P]))
    compact = np.concatenate((scores[y], scores[~y]))
    alpha = np.empty(n)
    loss = losses.get("ap")
    runs: dict[str, Callable[[], object]] = {
        ONE: lambda: risk.evaluate(compact, alpha, 1),
        ALL: lambda: risk.evaluate(compact, alpha, threads(None)),
        "losses.get": lambda: loss.most_violated(scores, y),
    }
    if theirs is not None:
        runs["peer"] = theirs
    times = side_by_side(runs, repeat, burst=BURST)
    for through in (ONE, ALL, "losses.get"):
        _row(table, case, through, times[through], peer, times.get("peer"), must)


def _row(
    table: Table, case: str, through: str, ours: Times, peer: str, theirs: Times | None, must: str
) -> None:
    if theirs is None:
        table.add(case, through, 1e3 * ours.median, None, None, None, None, must)
    else:
        ratios = ours.median / theirs.median, ours.least / theirs.least
        table.add(case, through, 1e3 * ours.median, peer, 1e3 * theirs.median, *ratios, must)


def _shuffled(rng: np.random.Generator, positive: Floats, negative: Floats) -> tuple[Floats, Labels]:
    y = np.zeros(len(positive) + len(negative), dtype=bool)
    y[: len(positive)] = True
    order = rng.permutation(len(y))
    return np.concatenate((positive, negative))[order], y[order]


def _published() -> Table:
    table = Table(
        "The four algorithms at the sizes of the literature, ms per call",
        ["samples", "scores", *PUBLISHED, "staircase"],
        ["", "", ".2f", ".2f", ".2f", ".3f"],
    )
    table.add("published", "its training", *PUBLISHED.values(), None)
    rng = np.random.default_rng(0)
    for what, P, N in (("3,347, of which 335 relevant", 335, 3_012), ("500 and 4,703 negatives", 500, 4_703)):
        for kind, shift, scale in (
            ("near an optimum", 2.0, 1.0),
            ("random", 0.0, 1.0),
            ("all equal", 0.0, 0.0),
        ):
            z = scale * np.concatenate((rng.standard_normal(P) + shift, rng.standard_normal(N)))
            table.add(what, kind, *_four(z, P))
    table.note(
        "One thread, medians of 45 calls. The number of relevant samples is our choice: the published times come "
        "without it. They were taken on a machine of 2014."
    )
    return table


def _four(z: Floats, P: int) -> list[float]:
    offsets, positives, alpha = np.array([0, len(z)]), np.array([P]), np.empty(len(z))
    risks = {name: _core.published_ap_risk(name, offsets, positives) for name in PUBLISHED}
    risks["staircase"] = _core.ap_risk(offsets, positives)
    runs = {name: lambda r=risk: r.evaluate(z, alpha, 1) for name, risk in risks.items()}
    return [1e3 * times.median for times in side_by_side(runs, 15, burst=3).values()]
