"""RankSVM: linear rankers that optimise average precision, or another measure, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import losses
from rankcut.data.arrays import check_X
from rankcut.data.labels import targets
from rankcut.data.lists import Lists
from rankcut.designs import make_design
from rankcut.estimators.approx import clamped_intercepts, hard_problem
from rankcut.estimators.base import (
    LinearRanker,
    each,
    enough,
    intercept,
    solve,
    starts,
    threads,
    warn_skipped,
    warn_unfinished,
)
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_parameters
from rankcut.models import LinearRisk
from rankcut.solvers import Problem

Floats = NDArray[np.float64]


class RankSVM(LinearRanker):
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
        loss = linear_loss(self.loss, self.oracle, self.positive_weight, self.fit_intercept)
        X = check_X(self, X, reset=True)
        goal = targets(y, X.shape[0])
        design = make_design(X, n_threads=threads(self.n_jobs))
        lists = [Lists.build(relevant, qid) for relevant in goal.relevant]
        warn_skipped(lists)
        inner = design.n_threads if len(lists) == 1 else 1
        with one_blas_thread():
            stopped = False
            if self.approx is None:
                risks = [
                    LinearRisk(part, loss.bind(part), loss.sees, n_threads=inner, enough=enough(design))
                    for part in lists
                ]
                first = starts(self, len(lists), design)
                problems = [Problem(risk, [self.C], start) for risk, start in zip(risks, first, strict=True)]
            else:
                risks, problems, stopped = hard_problem(self, design, lists, loss)
            results = solve(self, design, problems, stop=stopped)
        solutions = [solution for solution, _ in results]
        self.classes_, self._kind = goal.classes, goal.kind
        self._keep(solutions)
        self.intercept_ = np.zeros(len(risks))
        if self.approx is not None and self.fit_intercept:
            self.intercept_[:] = clamped_intercepts(design, lists, risks, results)
        elif self.fit_intercept:
            points = (point for _, point in results)
            self.intercept_[:] = [
                intercept(r, loss.sees, point) for r, point in zip(risks, points, strict=True)
            ]
        self.n_passes_ = design.passes
        self.n_lists_ = each([len(part.positives) for part in lists])
        self.n_skipped_lists_ = each([part.n_skipped for part in lists])
        warn_unfinished(solutions, self.tol)
        return self


def linear_loss(name: str, oracle: str, positive_weight: float | None, fit_intercept: bool) -> losses.Loss:
    """The loss of that name with the estimator's options for it."""
    options: dict[str, Any] = {}
    if name == "ap":
        options["oracle"] = oracle
    if name == "hinge":
        options = {
            "positive_weight": 1.0 if positive_weight is None else positive_weight,
            "shifted": fit_intercept,
        }
    return losses.get(name, **options)
