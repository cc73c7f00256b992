"""Work on a study: cell after cell, each chosen by inner folds and scored once on rows that were left out."""

from __future__ import annotations

import inspect
import platform
import time
import warnings
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rankcut import metrics
from rankcut.errors import InputError
from rankcut.estimators import RankSVMCV
from rankcut.io import read
from rankcut.selection.scoring import get_score
from rankcut.solvers import Status
from rankcut.studies.methods import Method
from rankcut.studies.plan import Cell, Plan
from rankcut.studies.samples import Fold, Samples
from rankcut.studies.store import Store

Floats = NDArray[np.float64]
WAIT = 0.5  # seconds between two looks at what others do
RECALLS = (np.arange(100) + 0.5) / 100
LOCKSTEP = ("C",)  # what RankSVMCV walks along in shared passes


class Step(NamedTuple):
    """What the progress of a study is told: a cell that is done, and how many are, of all."""

    cell: Cell
    outcome: Mapping[str, Any]
    done: int
    total: int


def run(plan: Plan, store: Store, progress: Callable[[Step], object] = lambda _: None) -> None:
    """Do all cells that are not done. KeyboardInterrupt goes through; the cell under way is given up, and those that
    are done stay. A method that fails in a cell is noted there and does not stop the others."""
    for method in plan.parsed:
        method.check()
    samples = Samples.of(read(plan.data, **plan.reading))
    labels = samples.labels(plan.classes)
    for takes in {method.takes for method in plan.parsed}:
        samples.view(takes)
    store.begin(plan.document(labels), plan.cells(labels), {"data": plan.data, **_about(samples)})
    work = _Work(plan, samples)
    while True:
        cell = store.claim()
        if cell is None:
            done, total = store.counts()
            if done == total:
                return
            time.sleep(WAIT)  # others are at the last cells
            continue
        with store.held(cell):
            outcome, seconds = work.cell(cell)
            store.record(cell, outcome, seconds)
        progress(Step(cell, outcome, *store.counts()))


def _about(samples: Samples) -> dict[str, Any]:
    versions = {}
    for package in ("rankcut", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    counts = {str(label): int(np.sum(samples.y == label)) for label in np.unique(samples.y)}
    return {
        "samples": len(samples.y),
        "rows": int(samples.X.shape[0]),
        "features": int(samples.X.shape[1]),
        "labels": counts,
        "versions": {"python": platform.python_version(), **versions},
    }


class _Work:
    """Does cells. What a split of a class needs is made once for all methods."""

    def __init__(self, plan: Plan, samples: Samples) -> None:
        self._plan, self._samples = plan, samples
        self._methods = {method.label: method for method in plan.parsed}
        self._score = get_score(plan.scoring)
        self._last: tuple[Any, Any] = (None, None)

    def cell(self, cell: Cell) -> tuple[dict[str, Any], dict[str, float]]:
        try:
            return self._outcome(cell)
        except (ValueError, TypeError, RuntimeError, ArithmeticError, np.linalg.LinAlgError) as error:
            return {"error": f"{type(error).__name__}: {error}"}, {}

    def _outcome(self, cell: Cell) -> tuple[dict[str, Any], dict[str, float]]:
        method = self._methods[cell.method]
        samples, relevant, (train, test), inner = self._split(cell)
        data = samples.view(method.takes)
        seed = self._plan.seed + cell.repeat
        found = _choose(method, data, samples, relevant, train, inner, self._plan.scoring, seed)
        queries = None if samples.qid is None else samples.qid[test]
        scores = score_of(found.model, data[test])
        y = relevant[test]
        outcome = {
            "score": self._score(y, scores, queries),
            "measures": {
                "average_precision": metrics.average_precision(y, scores, qid=queries),
                "ndcg": metrics.ndcg(y, scores, qid=queries),
                "auc": metrics.auc(y, scores, qid=queries),
            },
            "params": found.params,
            "inner": found.inner,
            "unfinished": found.unfinished,
            "gap": _gap(found.model),
            "precision": None if queries is not None else _precision(y, scores),
        }
        return outcome, {"training": found.seconds}

    def _split(self, cell: Cell) -> tuple[Samples, NDArray[np.bool_], Fold, list[Fold]]:
        key = cell.label, cell.repeat, cell.fold
        if self._last[0] != key:
            plan, samples = self._plan, self._samples
            relevant = samples.relevant(cell.label)
            seed = plan.seed + cell.repeat
            everyone = np.arange(len(samples.y))
            outer = samples.folds(relevant, everyone, plan.folds, seed)[cell.fold]
            inner = samples.folds(relevant, outer[0], plan.inner, seed)
            self._last = key, (samples.scaled(outer[0]) if plan.scale else samples, relevant, outer, inner)
        found: tuple[Samples, NDArray[np.bool_], Fold, list[Fold]] = self._last[1]
        return found


class _Found(NamedTuple):
    model: Any
    params: dict[str, Any]
    inner: float | None
    unfinished: int
    seconds: float  # of training: the choice and the last fit


def _choose(
    method: Method,
    data: Any,
    samples: Samples,
    relevant: NDArray[np.bool_],
    train: NDArray[np.intp],
    inner: list[Fold],
    scoring: str,
    seed: int,
) -> _Found:
    """The candidate with the best mean over the inner folds, of equals the first, fitted on the whole training part."""
    if method.path == "rankcut.RankSVM" and tuple(method.grid) == LOCKSTEP and "approx" not in method.fixed:
        return _in_lockstep(method, data, samples, relevant, train, inner, scoring)
    candidates, score = method.candidates, get_score(scoring)
    means, spent, unfinished = [0.0] * len(candidates), 0.0, 0
    for i, params in enumerate(candidates if len(candidates) > 1 else []):
        for part, rest in inner:
            fit = _fit(method.make(params, seed), data, samples, relevant, part)
            queries = None if samples.qid is None else samples.qid[rest]
            means[i] += score(relevant[rest], score_of(fit.model, data[rest]), queries) / len(inner)
            spent += fit.seconds
            unfinished += fit.unfinished
    best = int(np.argmax(means))
    fit = _fit(method.make(candidates[best], seed), data, samples, relevant, train)
    inner_score = means[best] if len(candidates) > 1 else None
    return _Found(fit.model, candidates[best], inner_score, unfinished + fit.unfinished, spent + fit.seconds)


def _in_lockstep(
    method: Method,
    data: Any,
    samples: Samples,
    relevant: NDArray[np.bool_],
    train: NDArray[np.intp],
    inner: list[Fold],
    scoring: str,
) -> _Found:
    """All values of C and all inner folds in shared passes."""
    place = np.empty(len(relevant), dtype=np.intp)
    place[train] = np.arange(len(train))
    folds = [(place[part], place[rest]) for part, rest in inner]
    model = RankSVMCV(method.grid["C"], cv=folds, scoring=scoring, **method.fixed)
    fit = _fit(model, data, samples, relevant, train)
    return _Found(fit.model, {"C": fit.model.C_}, float(fit.model.best_score_), fit.unfinished, fit.seconds)


class _Fit(NamedTuple):
    model: Any
    seconds: float
    unfinished: int


def _fit(
    model: Any, data: Any, samples: Samples, relevant: NDArray[np.bool_], rows: NDArray[np.intp]
) -> _Fit:
    options = {}
    if samples.qid is not None and _takes_queries(model):
        options["qid"] = samples.qid[rows]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        began = time.perf_counter()
        model.fit(data[rows], relevant[rows].astype(int), **options)
        seconds = time.perf_counter() - began
    if getattr(model, "status_", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt  # a fit takes Ctrl-C as "enough": here it means the whole study
    return _Fit(model, seconds, sum(issubclass(each.category, ConvergenceWarning) for each in caught))


def _takes_queries(model: Any) -> bool:
    return "qid" in inspect.signature(model.fit).parameters


def score_of(model: Any, data: Any) -> Floats:
    """Scores of samples, larger for what is more likely relevant."""
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(data), dtype=np.float64)
    else:
        found = np.asarray(model.predict_proba(data), dtype=np.float64)[:, 1]
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(
            f"method: {type(model).__name__} gave scores of shape {found.shape} or not finite ones"
        )
    return found


def _gap(model: Any) -> float | None:
    found = getattr(model, "dual_gap_", None)
    return None if found is None else float(np.max(found))


def _precision(y: NDArray[np.bool_], scores: Floats) -> list[float]:
    curve = metrics.precision_recall_curve(y, scores)
    return [float(each) for each in curve.precision[np.searchsorted(curve.recall, RECALLS)]]
