"""Bags: the loss-augmented step, a million instances, what re-based cuts save, and mislabelled bags."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data, isolated
from benchmarks.clock import side_by_side
from benchmarks.memory import MEBI, _status
from benchmarks.table import Table
from rankcut import BagRankSVM, Bags, losses, metrics
from rankcut.data.lists import Lists
from rankcut.designs import make_design
from rankcut.models import BagRisk, LatentBagRisk, LinearRisk

COLUMNS = 128
RATIOS = ["ratio", "ratio from scores", "ratio from scores, b"]


def run(full: bool = False) -> list[Table]:
    return [inference(full), large(full), rebasing(), mislabelled(full)]


# --- the loss-augmented step ------------------------------------------------


def inference(full: bool) -> Table:
    table = Table(
        "Loss-augmented inference over bags: latent AP-SVM beside latent SVM (µs)",
        ["bags × instances × columns", "relevant", "X w", "AP", "hinge", "hinge, b", *RATIOS],
        ["", ".0%", ".0f", ".0f", ".0f", ".0f", *[".2f"] * len(RATIOS)],
    )
    rng = np.random.default_rng(0)
    for n, size, share in ((200, 20, 0.1), (1940, 20, 0.1), (1940, 20, 0.5), (20_000, 20, 0.1)):
        offsets, y = np.arange(n + 1) * size, np.arange(n) < share * n
        lists = Lists.build(y)
        given = np.where(y, offsets[:-1], -1)
        X = rng.normal(size=(n * size, COLUMNS))
        X[offsets[:-1][y], 0] += 3.0
        design, w = make_design(X, n_threads=1), rng.normal(size=(1, COLUMNS)) + 4.0 * np.eye(1, COLUMNS)
        z = design.scores(w)[0]
        kinds = {"ap": losses.get("ap"), "hinge": losses.get("hinge"), "b": losses.get("hinge", shifted=True)}
        risks = {
            name: BagRisk(LinearRisk(lists, loss.bind(lists), ""), offsets, given)
            for name, loss in kinds.items()
        }
        runs: dict[str, Callable[[], object]] = {"X w": lambda d=design, v=w: d.scores(v)}
        runs |= {name: lambda r=risk, s=z: r.cut(s) for name, risk in risks.items()}
        taken = {name: 1e6 * times.least for name, times in side_by_side(runs, 40 if full else 20).items()}
        scores, ap, hinge, b = taken.values()
        ratio = (scores + ap) / (scores + hinge)
        table.add(f"{n:,} × {size} × {COLUMNS}", share, scores, ap, hinge, b, ratio, ap / hinge, ap / b)
    table.note(
        "Must: at most 2 (published: 5). ratio: the whole step, from features: X w, the best instances, the most "
        "violated ranking. From scores: without X w, that is the best instances and the ranking alone. hinge, b: with "
        "its best intercept, as latent SVM is trained here."
    )
    return table


# --- a million instances ------------------------------------------------


def large(full: bool) -> Table:
    table = Table(
        f"Many instances: {COLUMNS} columns float32, C = 1, 5 starts",
        [
            "instances",
            "bags",
            "seconds",
            "X w",
            "Xᵀ α",
            "cuts",
            "rounds",
            "gap",
            "added / data",
            "peak / data",
        ],
        [",", ",", ".1f", ".1f", ".2f", "d", "d", ".1e", ".2f", ".2f"],
    )
    for n, bags in ((200_000, 10_000), (1_000_000, 50_000)):
        for found in isolated.stream(_large, n, bags, limit=900.0):
            table.add(n, bags, *found)
    table.note(
        "All instances of relevant bags (one in ten) lean towards a direction, one of them strongly. Must: peak ≤ "
        "1.5 × data. added: what the fit adds to the resident process over the data; peak: data and what is added, "
        "without the interpreter and its libraries. cuts, rounds: of the best start."
    )
    return table


def _large(n: int, n_bags: int) -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(COLUMNS, dtype=np.float32)
    direction *= 4.0 / np.linalg.norm(direction)
    sizes = rng.multinomial(n - n_bags, np.full(n_bags, 1 / n_bags)) + 1
    y = rng.random(n_bags) < 0.1
    X = np.empty((n, COLUMNS), np.float32)
    for start in range(0, n, 65_536):
        rng.standard_normal(out=X[start : start + 65_536], dtype=np.float32)
    starts = np.cumsum(sizes) - sizes
    for i in np.flatnonzero(y):
        X[starts[i] : starts[i] + sizes[i]] += 0.7 * direction
        X[starts[i] + rng.integers(sizes[i])] += direction
    bags = Bags(X, np.repeat(np.arange(n_bags, dtype=np.int32), sizes))
    BagRankSVM(n_init=1).fit(rng.normal(size=(50, 3)), np.arange(50) % 2)  # loads all code
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    start = time.perf_counter()
    model = BagRankSVM(C=1.0, random_state=0).fit(bags, y)
    seconds = time.perf_counter() - start
    added, passes = (_status("VmHWM") - before) * MEBI / X.nbytes, model.n_passes_
    rounds = min(model.objective_path_, key=lambda path: path[-1])
    yield (
        seconds, passes.forward, passes.backward, model.n_iter_, len(rounds) - 1, model.dual_gap_, added, 1.0 + added
    )  # fmt: skip


# --- cuts that survive a round ------------------------------------------------


class _Forgetful(LatentBagRisk):
    """Loses its cuts whenever an instance changes."""

    def freeze(self, point: Any) -> Any:
        return super().freeze(point)._replace(shift=None)

    def turn(self, direction: Any) -> Any:
        return super().turn(direction)._replace(shift=None)


def rebasing() -> Table:
    from rankcut.estimators import bag_rank_svm

    table = Table(
        "Cuts from round to round: re-based, or lost (loss AP, 3 starts together)",
        ["data", "C", "X w", "lost", "Xᵀ α", "lost ", "seconds", "lost  ", "objective", "lost   "],
        ["", "g", ".0f", ".0f", ".1f", ".1f", ".2f", ".2f", ".4g", ".4g"],
    )
    kept = bag_rank_svm.LatentBagRisk
    for name, (bags, y) in _sets().items():
        for C in (30.0, 300.0):
            fits = []
            for kind in (kept, _Forgetful):
                bag_rank_svm.LatentBagRisk = kind  # type: ignore[misc]
                try:
                    model = BagRankSVM(C=C, random_state=0, n_init=3)
                    start = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model.fit(bags, y)
                    fits.append((model, time.process_time() - start))
                finally:
                    bag_rank_svm.LatentBagRisk = kept  # type: ignore[misc]
            (ours, seconds), (lost, slower) = fits
            a, b = ours.n_passes_, lost.n_passes_
            table.add(
                name, C, a.forward, b.forward, a.backward, b.backward, seconds, slower, ours.objective_, lost.objective_
            )  # fmt: skip
    table.note(
        "seconds are of the processor. A re-based cut costs two rows of a pass for each positive that changed. Lost "
        "cuts end the loop at the first proof; re-based ones go on until the end itself is stationary (docs/cccp.md)."
    )
    return table


def _sets() -> dict[str, tuple[Bags, Any]]:
    """Pages of digits, and the shared sets if they are there."""
    found = {"pages of digits": pages(600, 0)}
    if not data.available():
        return found
    for name in ("musk1", "elephant", "tiger"):
        loaded = data.load(f"bags/{name}")
        X = loaded["X"].toarray() if sp.issparse(loaded["X"]) else loaded["X"].astype(np.float64)
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        bags = Bags(X, loaded["bag"])
        found[name] = bags, np.asarray(loaded["y_bag"])[bags.ids] > 0
    loaded = data.load("words/iiit5k_bags")
    train = np.flatnonzero(~loaded["is_test"].astype(bool))
    words = Bags(loaded["X"].astype(np.float32) / 255, loaded["bag"])[train]
    found["word images: A"] = words, loaded["Y"][train, 10] > 0
    return found


def pages(n: int, seed: int) -> tuple[Bags, Any]:
    """Bags of 3 to 8 handwritten digits; one in four holds an 8."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(seed)
    X, digits = load_digits(return_X_y=True)
    others, eights = np.flatnonzero(digits != 8), np.flatnonzero(digits == 8)
    blocks = []
    for number in range(n):
        rows = rng.choice(others, rng.integers(3, 9))
        if number % 4 == 0:
            rows[0] = rng.choice(eights)
        blocks.append(X[rows] / 16.0)
    return Bags.from_list(blocks), np.arange(n) % 4 == 0


# --- mislabelled bags ------------------------------------------------


def mislabelled(full: bool) -> Table:
    """Labels of the training half flipped; average precision on the other half, whose labels are true."""
    methods: dict[str, Callable[[float], list[float]]] = {
        "plain": lambda _rate: [0.0],
        "trim = rate / 2": lambda rate: [rate / 2],
        "trim = rate": lambda rate: [rate],
        "trim = 2 rate": lambda rate: [2 * rate],
        "self-paced": lambda _rate: [0.5, 0.25, 0.0],
        "self-paced to rate": lambda rate: [0.5, 0.25, rate],
    }
    table = Table(
        "Mislabelled bags: test average precision by share of flipped training labels (loss AP)",
        ["data", "C", "flipped", *methods],
        ["", "g", ".0%", *[".3f"] * len(methods)],
    )
    sums: dict[float, list[np.ndarray]] = {}
    sets = {k: v for k, v in _sets().items() if "word" not in k or full}
    for name, (bags, y) in sets.items():
        for C in (3.0, 30.0) if full else (10.0,):
            for rate in (0.1, 0.2, 0.3):
                runs = [
                    [_noisy(bags, y, C, rate, stages(rate), seed) for stages in methods.values()]
                    for seed in range(10)
                ]
                means = np.mean(runs, axis=0)
                sums.setdefault(rate, []).append(means)
                table.add(name, C, rate, *means)
    for rate, found in sums.items():
        table.add("mean", None, rate, *np.mean(found, axis=0))
    table.note(
        "self-paced: a first fit that leaves out half of the bags of each label, then a quarter, then none (or the "
        "rate), each from the last one's w."
    )
    return table


def _noisy(bags: Bags, y: Any, C: float, rate: float, stages: list[float], seed: int) -> float:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    flipped = y[train] ^ (rng.random(len(train)) < rate)
    part = bags[train]
    model = BagRankSVM(C=C, tol=1e-2, n_init=2, random_state=seed, warm_start=len(stages) > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trim in stages:
            model.set_params(trim=trim).fit(part, flipped)
    return metrics.average_precision(y[test], model.decision_function(bags[test]))
