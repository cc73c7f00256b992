"""RankSVM: linear rankers that optimise average precision, or another measure, exactly."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rankcut import losses
from rankcut.data.arrays import check_X
from rankcut.data.labels import Targets, targets
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.errors import ConvergenceWarning, InputError
from rankcut.estimators.approx import hard_problem
from rankcut.estimators.checks import check_parameters
from rankcut.estimators.intercept import balanced_intercept
from rankcut.models import LinearRisk
from rankcut.solvers import Problem, Solution, Status, minimise_together
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]


class RankSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Linear ranker that puts the relevant samples first, by optimising the ranking measure itself.

    It minimises ``½‖w‖² + C·R(w)`` to a duality gap that is reported, R being the structured hinge of the
    loss: a convex upper bound of one minus the measure. Two labels make one ranker (the larger label is
    relevant), more classes one ranker each against the rest, an indicator matrix one a column; all are trained
    together, with one matrix product a pass.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk. Ranking risks lie in [0, 1] at w = 0 whatever the number of samples, so useful
        values are larger than with ``LinearSVC``: try 1 to 1000.
    loss : str, default="ap"
        "ap" (average precision), "auc", "ndcg", "mrr", "precision@k" for any k (as in "precision@10"), or
        "hinge" (the binary SVM).
    oracle : {"staircase", "greedy", "search", "select"}, default="staircase"
        Algorithm for the most violated ranking, for loss="ap". All are exact and give the same model; the last
        three are the published ones.
    approx : float in (0, 1], default=None
        Only for loss="ap": first train a binary SVM, then keep this share of the samples that it gets right
        most clearly by hard constraints, and optimise average precision on the rest.
    positive_weight : float, default=None
        Weight J of the positives, for loss="hinge"; None means 1.
    fit_intercept : bool, default=True
        For loss="hinge": with an unregularised intercept. Ranking losses do not see a shift; their intercept is
        chosen on the training data for the smallest balanced error, or is 0 if this is False.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=1000
        Most cuts for each problem.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    n_jobs : int, default=None
        Threads; None means all cores. The result is the same for any number.
    verbose : int, default=0
        Whether to write progress to standard error.
    random_state : int, default=None
        Unused: the solver is deterministic. For a signature that is the same for all estimators.
    callbacks : iterable of callables, default=None
        Each is called with a ``rankcut.solvers.Event`` after every iteration; a true answer stops the fit with
        the best model so far, as Ctrl-C does.

    Attributes
    ----------
    coef_ : ndarray of shape (K, n_features)
    intercept_ : ndarray of shape (K,)
    classes_ : ndarray
    objective_, dual_objective_, dual_gap_, status_ : scalars for K = 1, else one per problem
        The certificate: no w has an objective below ``dual_objective_``; ``dual_gap_`` is relative.
    n_iter_ : int, or ndarray for K > 1
        Number of cuts.
    n_passes_ : Passes(forward, backward)
        Passes over X: of X w, and of Xᵀ α, a partial pass as its fraction of rows.
    history_ : list of Record, or a list of lists for K > 1
    n_lists_ : int or ndarray; n_skipped_lists_ : int or ndarray
        Lists that were trained on, and lists left out because all their rows are (or are not) relevant.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RankSVM(C=10).fit(StandardScaler().fit_transform(X), y)
    >>> bool(model.dual_gap_ <= 1e-3)
    True
    """

    __metadata_request__fit = {"qid": None}

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "ap",
        oracle: str = "staircase",
        approx: float | None = None,
        positive_weight: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | None = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.oracle = oracle
        self.approx = approx
        self.positive_weight = positive_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None) -> RankSVM:
        """Train on the rows of X.

        qid: the query of each row, in any order and of any hashable values; samples are ranked within their
        query, and the risk is the mean over queries. None makes one list of all rows.
        """
        check_parameters(self)
        loss = self._loss()
        X = check_X(self, X, reset=True)
        goal = targets(y, X.shape[0])
        design = make_design(X, n_threads=_threads(self.n_jobs))
        lists = [Lists.build(relevant, qid) for relevant in goal.relevant]
        _warn_skipped(lists)
        inner = design.n_threads if len(lists) == 1 else 1
        with threadpool_limits(limits=1, user_api="blas"):  # our threads, and the same result for any number
            if self.approx is None:
                risks = [LinearRisk(each, loss.bind(each), loss.sees, n_threads=inner) for each in lists]
                results = self._solve(design, [Problem(r, self.C, s) for r, s in zip(risks, self._starts(design, goal), strict=True)])
            else:
                risks, problems = hard_problem(self, design, lists, loss)
                results = self._solve(design, problems)
        self._keep(goal, design, [solution for solution, _ in results])
        self.intercept_ = self._intercepts(lists, risks, [point for _, point in results])
        self.n_lists_ = _each([len(each.positives) for each in lists])
        self.n_skipped_lists_ = _each([each.n_skipped for each in lists])
        self._warn_unfinished()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Scores X @ coef_.T + intercept_; higher means more relevant."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        scores = make_design(X, n_threads=_threads(self.n_jobs)).scores(self.coef_).T + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by the sign of the score; for more than two classes the one with the highest."""
        scores = self.decision_function(X)
        if self._kind == "indicator":
            return (scores.reshape(len(scores), -1) > 0).astype(int)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Row numbers, best first; of shape (n, K) with a column per ranker for K > 1."""
        return np.argsort(-self.decision_function(X), axis=0, kind="stable")

    def _loss(self) -> losses.Loss:
        options: dict[str, Any] = {}
        if self.loss == "ap":
            options["oracle"] = self.oracle
        if self.loss == "hinge":
            options["positive_weight"] = 1.0 if self.positive_weight is None else self.positive_weight
            options["shifted"] = self.fit_intercept
        return losses.get(self.loss, **options)

    def _starts(self, design: Design, goal: Targets) -> list[Floats | None]:
        last = getattr(self, "coef_", None) if self.warm_start else None
        if last is None or last.shape != (len(goal.relevant), design.n_columns):
            return [None] * len(goal.relevant)
        return list(last)

    def _solve(self, design: Design, problems: list[Problem]) -> list[tuple[Solution, Floats]]:
        callbacks = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(Progress(len(problems), self.tol))
        return minimise_together(design, problems, tol=self.tol, max_iter=self.max_iter, callbacks=callbacks)

    def _keep(self, goal: Targets, design: Design, solutions: list[Solution]) -> None:
        self._kind = goal.kind
        self.classes_ = goal.classes
        self.coef_ = np.stack([s.w for s in solutions])
        self.objective_ = _each([s.objective for s in solutions])
        self.dual_objective_ = _each([s.dual_objective for s in solutions])
        self.dual_gap_ = _each([s.gap for s in solutions])
        self.status_ = solutions[0].status if len(solutions) == 1 else [s.status for s in solutions]
        self.n_iter_ = _each([s.n_iter for s in solutions])
        self.n_passes_ = design.passes
        self.history_ = solutions[0].history if len(solutions) == 1 else [s.history for s in solutions]

    def _intercepts(self, lists: list[Lists], risks: list[LinearRisk], points: list[Floats]) -> Floats:
        if not self.fit_intercept:
            return np.zeros(len(lists))
        if self.loss == "hinge":
            return np.array([risk.intercept(point) for risk, point in zip(risks, points, strict=True)])
        return np.array([balanced_intercept(*risk.all_scores(point)) for risk, point in zip(risks, points, strict=True)])

    def _warn_unfinished(self) -> None:
        statuses = [self.status_] if isinstance(self.status_, Status) else self.status_
        open_ones = [status for status in statuses if status is not Status.CONVERGED]
        if not open_ones:
            return
        which = "" if len(statuses) == 1 else f" for {len(open_ones)} of {len(statuses)} problems"
        warnings.warn(
            f"The fit ended with a relative duality gap of {np.max(self.dual_gap_):.3g}{which}, tol={self.tol:g}; "
            f"{open_ones[0]}.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _each(values: list[Any]) -> Any:
    """A scalar for one problem, an array for several."""
    return values[0] if len(values) == 1 else np.array(values)


def _threads(n_jobs: int | None) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


def _warn_skipped(lists: list[Lists]) -> None:
    skipped = max(each.n_skipped for each in lists)
    if skipped:
        total = skipped + min(len(each.positives) for each in lists)
        warnings.warn(
            f"qid: {skipped} of {total} lists have no relevant row or no other row and are left out of the mean; "
            "n_skipped_lists_ counts them.",
            UserWarning,
            stacklevel=3,
        )
