"""Many problems, one pass: what a cross-validated path and many classes cost beside one fit, and beside the peers."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks import data, screening
from benchmarks.clock import once
from benchmarks.table import Table
from rankcut import RankSVM, RankSVMCV, losses
from rankcut.data.lists import Lists
from rankcut.designs import make_design
from rankcut.estimators.base import enough
from rankcut.estimators.blas import one_blas_thread
from rankcut.metrics import average_precision, paired_test
from rankcut.models import LinearRisk
from rankcut.solvers import Problem, minimise_together

PATH = tuple(float(C) for C in np.logspace(-1, 4, 10))
LINEAR_PATH = tuple(float(C) for C in np.logspace(-4, 1, 10))
TABLES = (
    "letter",
    "landsat",
    "mammography",
    "spambase",
    "magic_gamma",
    "creditcard_50k",
    "aloi",
    "a9a",
    "bace",
)
LOSSES = ["ap", "ndcg", "auc", "hinge"]
ACCURACY = (*TABLES, "cover", "hiv", "CIFAR10_0", "tox21")


def run(full: bool = False) -> list[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables = [_one_fit(full), _grid_search(full), _classes(full)]
        if data.available():
            tables += [_accuracy(full), _real_classes(), _orders(full)]
        return [*tables, *screening.run(full)]


def normal(
    n: int, d: int, shift: float, share: float = 0.05
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Rows in float32 of which some are shifted at random: overlapping for small shifts, separable for large."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < share
    X = rng.standard_normal((n, d), dtype=np.float32)
    X[y] += np.float32(shift) * rng.standard_normal(d, dtype=np.float32)
    return X, y


def _one_fit(full: bool) -> Table:
    table = Table(
        "10 values of C × 5 folds against the slowest fit among them (20,000 × 2,000 float32, 5 % relevant)",
        ["data", "search s", "slowest fit s", "its C", "ratio", "must", "X w", "sum of all 50 fits s"],
        ["", ".2f", ".2f", "g", ".2f", "", ".0f", ".1f"],
    )
    for shift in (0.03, 0.1) if full else (0.03,):
        X, y = normal(20_000, 2_000, shift)
        train, _ = next(StratifiedKFold(5).split(X, y))
        part, labels = X[train], y[train]
        search, slowest, total, worst = float("inf"), 0.0, 0.0, 0.0
        for _ in range(2):
            search = min(search, once(lambda: RankSVMCV(PATH).fit(X, y)))
        for C in PATH:
            seconds = min(once(lambda C=C: RankSVM(C).fit(part, labels)) for _ in range(2))  # type: ignore[misc]
            total += 5 * seconds
            if seconds > slowest:
                slowest, worst = seconds, C
        passes = RankSVMCV(PATH).fit(X, y).n_passes_.forward
        table.add(f"shift {shift:g}", search, slowest, worst, search / slowest, "≤ 8", passes, total)
    table.note(
        "The slowest of RankSVM(C) on the first fold's training rows, C from 0.1 to 10,000; minima of two runs each. "
        "The search also fits the full data: 6 problems in lockstep, 10 values of C each."
    )
    return table


def _grid_search(full: bool) -> Table:
    table = Table(
        "10 values of C × 5 folds against GridSearchCV(LinearSVC), n_jobs=2 (20,000 × 100, 5 % relevant)",
        [
            "X",
            "RankSVMCV s",
            "four losses s",
            "GridSearchCV s",
            "ratio",
            "must",
            "test AP",
            "four losses",
            "its test AP",
        ],
        ["", ".2f", ".2f", ".2f", ".3f", "", ".4f", ".4f", ".4f"],
    )
    X, y = normal(40_000, 100, 0.2)
    half = slice(0, 20_000)
    for dtype in (np.float32, np.float64):
        A = X.astype(dtype)
        searches = [RankSVMCV(PATH), RankSVMCV(PATH, loss_grid={"loss": LOSSES}), _their_search()]
        _warm_workers(searches[2])
        seconds = [min(once(lambda m=m: m.fit(A[half], y[half])) for _ in range(2)) for m in searches]  # type: ignore[misc]
        found = [average_precision(y[20_000:], m.decision_function(A[20_000:])) for m in searches]
        table.add(np.dtype(dtype).name, *seconds, seconds[0] / seconds[2], "≤ 0.2", *found)
    table.note("Minima of two runs each, worker processes started before.")
    return table


def _their_search() -> GridSearchCV:
    return GridSearchCV(LinearSVC(), {"C": LINEAR_PATH}, cv=5, n_jobs=2, scoring="average_precision")


def _warm_workers(search: Any) -> None:
    rng = np.random.default_rng(0)
    search.fit(rng.standard_normal((200, 2)), np.arange(200) % 2)


def _classes(full: bool) -> Table:
    table = Table(
        "10 classes against one (20,000 × 2,000 float32)",
        ["C", "10 classes s", "one class s", "ratio", "must", "cuts of the 10", "one after the other s"],
        ["g", ".3f", ".3f", ".2f", "", "", ".2f"],
    )
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 20_000)
    X = rng.standard_normal((20_000, 2_000), dtype=np.float32)
    for k in range(10):
        X[labels == k] += np.float32(0.04) * rng.standard_normal(2_000, dtype=np.float32)
    for C in (1.0, 10.0, 100.0):
        together, alone = float("inf"), [float("inf")] * 10
        for _ in range(5 if full else 3):
            model = RankSVM(C)
            together = min(together, once(lambda: model.fit(X, labels)))
            for k in range(10):
                alone[k] = min(alone[k], once(lambda k=k: RankSVM(C).fit(X, labels == k)))  # type: ignore[misc]
        cuts = f"{model.n_iter_.min()}–{model.n_iter_.max()}"
        table.add(C, together, max(alone), together / max(alone), "≤ 3", cuts, sum(alone))
    table.note("One class: the slowest of the ten, alone. Minima of interleaved runs.")
    return table


def _accuracy(full: bool) -> Table:
    heads = [f"{who} {what}" for what in ("AP", "s") for who in ("RankSVMCV", "four losses", "GridSearchCV")]
    table = Table(
        "Test AP and time of a search on real tables (10 values of C, 5 folds)",
        ["data", *heads, "best AP on the path", "of four losses", "of GridSearchCV", "losses chosen"],
        ["", *[".4f"] * 3, *[".2f"] * 3, *[".4f"] * 3, ""],
    )
    means = []
    for name in ACCURACY if full else TABLES:
        found, chosen = [], []
        for seed in range(3 if full else 1):
            half = data.halves(name, seed)
            searches = [RankSVMCV(PATH), RankSVMCV(PATH, loss_grid={"loss": LOSSES}), _their_search()]
            _warm_workers(searches[2])
            seconds = [once(lambda m=m: m.fit(half.X, half.y)) for m in searches]  # type: ignore[misc]
            aps = [average_precision(half.y_test, m.decision_function(half.X_test)) for m in searches]
            best = [max(_on_path(m, half)) for m in searches[:2]]
            found.append((*aps, *seconds, *best, max(_their_path(half))))
            chosen.append(searches[1].best_params_["loss"])
        means.append(np.mean(found, axis=0))
        table.add(name, *(float(value) for value in means[-1]), ", ".join(chosen))
    overall = np.mean(means, axis=0)
    table.add("mean", *map(float, overall[:3]), *[None] * 3, *map(float, overall[6:]), "")
    table.note(
        "All choose by average precision in 5 folds of the training half, refit, and are tested on the other half. "
        f"Four losses: {', '.join(LOSSES)}, in the same passes. LinearSVC: defaults, C from 1e-4 to 10, n_jobs=2. "
        "Best AP: of the C (and loss) that turns out best on the test half. Must: at least as good as LinearSVC's on "
        "average."
    )
    for who, ours, theirs in (
        ("RankSVMCV", 0, 2),
        ("four losses", 1, 2),
        ("best on the path", 6, 8),
        ("best of four losses", 7, 8),
    ):
        test = paired_test(np.array(means)[:, ours], np.array(means)[:, theirs])
        table.note(
            f"{who} − LinearSVC's: {test.mean_difference:+.4f} [{test.low:+.4f}, {test.high:+.4f}], "
            f"t-test p = {test.t_pvalue:.3f}."
        )
    return table


def _on_path(model: RankSVMCV, half: data.Halves) -> list[float]:
    return [average_precision(half.y_test, half.X_test @ w[0]) for w in model.coef_path_]


def _their_path(half: data.Halves) -> list[float]:
    fits = [LinearSVC(C=C).fit(half.X, half.y) for C in LINEAR_PATH]
    return [average_precision(half.y_test, fit.decision_function(half.X_test)) for fit in fits]


def _real_classes() -> Table:
    table = Table(
        "The 10 classes of cifar10_effnet, 10 values of C and 5 folds (50,000 × 128)",
        ["what", "seconds", "X w", "Xᵀ α", "mean test AP"],
        ["", ".1f", ".0f", ".1f", ".4f"],
    )
    found = data.load("tables/cifar10_effnet")
    test = np.asarray(found["is_test"], dtype=bool)
    X, labels = found["X"].astype(np.float32), found["y"]
    mean, deviation = X[~test].mean(axis=0), X[~test].std(axis=0)
    X = (X - mean) / deviation
    for name, model in (
        ("search: 600 problems", RankSVMCV(PATH)),
        ("one fit, C = 100: 10 problems", RankSVM(100.0)),
    ):
        seconds = once(lambda m=model: m.fit(X[~test], labels[~test]))  # type: ignore[misc]
        scores = model.decision_function(X[test])
        aps = [average_precision(labels[test] == k, scores[:, k]) for k in range(10)]
        table.add(name, seconds, *model.n_passes_, float(np.mean(aps)))
    return table


def _orders(full: bool) -> Table:
    table = Table(
        "The order along C: cuts, passes X w, and processor seconds",
        [
            "data",
            *(f"{what}: {how}" for what in ("cuts", "X w", "s") for how in ("up", "down", "each alone")),
        ],
        ["", *[",d"] * 3, *[".0f"] * 3, *[".2f"] * 3],
    )
    for name in (*TABLES, "cover", "hiv") if full else TABLES[:-1]:
        half = data.halves(name)
        walks = [_walk(half.X, half.y > 0, order) for order in ("up", "down", "alone")]
        table.add(name, *(walk[i] for i in range(3) for walk in walks))
    table.note(
        "6 problems (5 folds and the full data), loss ap, tol 1e-3. up, down: the next C starts from the last one's "
        "best point and keeps its cuts; alone: all 60 problems start at 0, in lockstep."
    )
    return table


def _walk(X: Any, relevant: NDArray[np.bool_], order: str) -> tuple[int, float, float]:
    design, loss = make_design(X, n_threads=1), losses.get("ap")
    masks: list[Any] = [None]
    for train, _ in StratifiedKFold(5).split(np.zeros(len(relevant)), relevant):
        masks.append(np.isin(np.arange(len(relevant)), train))

    def problem(mask: Any, kin: int, path: tuple[float, ...]) -> Problem:
        lists = Lists.build(relevant, None, mask)
        return Problem(LinearRisk(lists, loss.bind(lists), loss.sees, enough=enough(design)), path, kin=kin)

    paths = {"up": [PATH], "down": [PATH[::-1]], "alone": [(C,) for C in PATH]}[order]
    problems = [problem(mask, kin, path) for mask in masks for kin, path in enumerate(paths)]
    began = time.process_time()
    with one_blas_thread():
        solutions = minimise_together(design, problems)
    seconds = time.process_time() - began
    return sum(s.n_iter for path in solutions for s in path), design.passes.forward, seconds
