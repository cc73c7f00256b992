"""Two methods on the same folds, by a protocol that favours neither.

For each of K stratified folds: C is chosen from a grid of the same length for both methods, by the mean average
precision over inner folds of the training part; the method is then fitted on the whole training part and scored once
on the test part. Features are scaled by the rows that are trained on: dense ones centred and divided by their standard
deviation; sparse ones divided by their largest magnitude, which leaves zeros and the usual 0/1 features as they are.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from rankcut.data.demo import Demo
from rankcut.errors import InputError
from rankcut.estimators import RankSVM
from rankcut.metrics import PairedTest, average_precision, paired_test, precision_recall_curve
from rankcut.solvers import Status

Floats = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
INNER_FOLDS = 3
RECALLS = (
    np.arange(100) + 0.5
) / 100  # the mean precision at these is the average precision, but for rounding


@dataclass(frozen=True)
class Method:
    """A way to make a ranker, and the values of C to choose from."""

    name: str
    grid: tuple[float, ...]
    make: Callable[[float], Any]


@dataclass(frozen=True)
class Certificate:
    """What a RankSVM says about its own optimum."""

    gap: float
    status: str
    cuts: int
    passes: float


@dataclass(frozen=True)
class Outcome:
    """One method on one fold."""

    C: float
    average_precision: float
    fit_seconds: float  # the fit on the whole training part
    all_seconds: float  # that and those that chose C
    unfinished: int  # fits that warned that they had not converged
    precision: Floats  # at RECALLS
    certificate: Certificate | None


@dataclass
class Comparison:
    """What is known of one data set: an outcome for each method, in each fold that is done."""

    data: Demo
    methods: tuple[Method, Method]
    n_folds: int
    folds: list[tuple[Outcome, Outcome]] = field(default_factory=list)

    def column(self, method: int, name: str) -> Floats:
        """One number of every fold's outcome."""
        return np.array([getattr(fold[method], name) for fold in self.folds], dtype=np.float64)

    def precision(self, method: int) -> Floats:
        """The mean over folds of the precision at RECALLS."""
        return np.asarray(np.mean([fold[method].precision for fold in self.folds], axis=0))

    def test(self) -> PairedTest | None:
        """The second method less the first; None while fewer than two folds are done. Folds share training rows:
        the variance is that of Nadeau and Bengio (2003)."""
        if len(self.folds) < 2:
            return None
        second, first = (self.column(m, "average_precision") for m in (1, 0))
        return paired_test(second, first, correction=1 / (self.n_folds - 1))


def default_methods(seed: int) -> tuple[Method, Method]:
    """LinearSVC and RankSVM, defaults but for C. LinearSVC's C counts each sample, RankSVM's their mean."""
    from sklearn.svm import LinearSVC

    return (
        Method("LinearSVC", (0.001, 0.01, 0.1, 1.0, 10.0), lambda C: LinearSVC(C=C, random_state=seed)),
        Method("RankSVM", (0.1, 1.0, 10.0, 100.0, 1000.0), lambda C: RankSVM(C=C)),
    )


def n_fits(methods: Sequence[Method], n_folds: int) -> int:
    """How often `compare` will report progress."""
    return n_folds * sum(INNER_FOLDS * len(method.grid) + 1 for method in methods)


def compare(
    comparison: Comparison, *, seed: int = 0, progress: Callable[[], object] = lambda: None
) -> Iterator[tuple[Outcome, Outcome]]:
    """Run fold after fold; each is added to the comparison and handed out. `progress` is called after
    each fit. KeyboardInterrupt goes through: the folds done by then are in the comparison."""
    X, y = comparison.data.X, comparison.data.y
    first, second = comparison.methods
    for train, test in _folds(y, comparison.n_folds, seed):
        inner = [(train[a], train[b]) for a, b in _folds(y[train], INNER_FOLDS, seed)]
        outcome = (
            _outcome(first, X, y, (train, test), inner, progress),
            _outcome(second, X, y, (train, test), inner, progress),
        )
        comparison.folds.append(outcome)
        yield outcome


def _folds(y: NDArray[np.int64], n_folds: int, seed: int) -> list[Fold]:
    rarest = int(np.bincount(y, minlength=2).min())
    if rarest < n_folds:
        raise InputError(
            f"folds: {n_folds} asked for, but of one label there are only {rarest} rows; take fewer folds or more rows"
        )
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def _outcome(
    method: Method,
    X: Any,
    y: NDArray[np.int64],
    outer: Fold,
    inner: list[Fold],
    progress: Callable[[], object],
) -> Outcome:
    seconds, unfinished, scores = 0.0, 0, np.zeros(len(method.grid))
    for train, test in inner:
        fitted_on, tried_on = _scaled(X, train, test)
        for i, C in enumerate(method.grid):
            fit = _fit(method.make(C), fitted_on, y[train])
            scores[i] += average_precision(y[test], fit.model.decision_function(tried_on))
            seconds += fit.seconds
            unfinished += fit.unfinished
            progress()
    C = method.grid[int(np.argmax(scores))]  # of equals the smallest
    train, test = outer
    fitted_on, tried_on = _scaled(X, train, test)
    fit = _fit(method.make(C), fitted_on, y[train])
    progress()
    found = fit.model.decision_function(tried_on)
    return Outcome(
        C=C,
        average_precision=average_precision(y[test], found),
        fit_seconds=fit.seconds,
        all_seconds=seconds + fit.seconds,
        unfinished=unfinished + fit.unfinished,
        precision=_precision_at(y[test], found),
        certificate=_certificate(fit.model),
    )


def _scaled(X: Any, train: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[Any, Any]:
    """Centring would fill sparse features, and a rare bit divided by its deviation weighs as much as its common
    fellows together."""
    scaler = (MaxAbsScaler() if sp.issparse(X) else StandardScaler()).fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])


@dataclass(frozen=True)
class _Fit:
    model: Any
    seconds: float
    unfinished: bool


def _fit(model: Any, X: Any, y: NDArray[np.int64]) -> _Fit:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
    if getattr(model, "status_", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt  # a fit takes Ctrl-C as "enough": here it means the whole comparison
    unfinished = [each for each in caught if issubclass(each.category, ConvergenceWarning)]
    for each in caught:
        if each not in unfinished:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return _Fit(model, seconds, bool(unfinished))


def _precision_at(y: NDArray[np.int64], scores: Floats) -> Floats:
    curve = precision_recall_curve(y, scores)
    return curve.precision[np.searchsorted(curve.recall, RECALLS)]


def _certificate(model: Any) -> Certificate | None:
    if not isinstance(model, RankSVM):
        return None
    return Certificate(
        float(model.dual_gap_), str(model.status_), int(model.n_iter_), float(sum(model.n_passes_))
    )
