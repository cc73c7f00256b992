"""PreferenceRankSVM: linear scorers that put higher grades, any real numbers, before lower ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankcut.arguments import positive
from rankcut.data.arrays import check_X
from rankcut.designs import make_design
from rankcut.estimators.base import (
    Floats,
    LinearModel,
    enough,
    solve,
    starts,
    threads,
    warn_skipped,
    warn_unfinished,
)
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_solver
from rankcut.losses.preference import Preference
from rankcut.models import LinearRisk
from rankcut.solvers import Problem


class PreferenceRankSVM(LinearModel):
    """Linear scorer that learns from graded relevance: every pair of different grades is a preference.

    It minimises ``½‖w‖² + C·R(w)`` to a duality gap that is reported. R is the mean, over the pairs of a preference
    graph with ``y_i > y_j``, of a hinge that knows how much better the better one is:

    - ``rescaling="slack"``: ``(y_i − y_j) max(0, 1 − (z_i − z_j))``
    - ``rescaling="margin"``: ``max(0, (y_i − y_j) − (z_i − z_j))``

    for scores ``z = X w``. No pair is ever sampled or stored: the most violated constraint of all pairs takes
    O(n log n) for any real y.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk. It is a mean over pairs, so useful values are larger than with ``LinearSVC``: try 1 to 1000.
        The risk is proportional to the unit of y: twice the grades need half the C with slack rescaling.
    graph : {"complete", "bipartite", "star"}, default="complete"
        Which rows of a list are preferred: every row to all of smaller y; those above a threshold (or the best few)
        to the others; or the best one to the others.
    rescaling : {"slack", "margin"}, default="slack"
    threshold : float, default=None
        For graph="bipartite": rows with larger y are preferred to the others. Not needed if y has two values.
    top : int, default=None
        For graph="bipartite", instead of a threshold: the best ``top`` rows of each list (and those tied with the last
        of them) are preferred to the others. Lists that are no longer are left out.
    reduce : {"mean", "sum"}, default="mean"
        How lists, each the mean over its pairs, make the risk.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=1000
        Most cuts.
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
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
        0: preferences do not see a shift of the scores.
    objective_, dual_objective_, dual_gap_, status_
        The certificate: no w has an objective below ``dual_objective_``; ``dual_gap_`` is relative.
    n_iter_ : int
        Number of cuts.
    n_passes_ : Passes(forward, backward)
        Passes over X: of X w, and of Xᵀ α, a partial pass as its fraction of rows.
    history_ : list of Record
    n_lists_, n_skipped_lists_ : int
        Lists that were trained on, and lists left out because they have no preference.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X, y = StandardScaler().fit_transform(X), y / y.std()
    >>> model = PreferenceRankSVM(C=10).fit(X, y)
    >>> bool(model.dual_gap_ <= 1e-3), bool(model.score(X, y) > 0.85)
    (True, True)
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        graph: str = "complete",
        rescaling: str = "slack",
        threshold: float | None = None,
        top: int | None = None,
        reduce: str = "mean",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | None = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.C = C
        self.graph = graph
        self.rescaling = rescaling
        self.threshold = threshold
        self.top = top
        self.reduce = reduce
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(
        self, X: Any, y: Any, qid: ArrayLike | None = None, best: ArrayLike | None = None
    ) -> PreferenceRankSVM:
        """Train on the rows of X, graded by y: any real numbers, higher is better.

        qid: the query of each row, in any order and of any hashable values; pairs lie within a query. best: for
        graph="star", the row to prefer in each list; it must have the list's largest y, alone or not.
        """
        positive("C", self.C)
        check_solver(self)
        loss = self._loss()
        X = check_X(self, X, reset=True)
        grades = loss.grades(y, X.shape[0], qid, best)
        warn_skipped([grades])
        design = make_design(X, n_threads=threads(self.n_jobs))
        risk = LinearRisk(
            grades, loss.bind(grades), loss.sees, n_threads=design.n_threads, enough=enough(design)
        )
        with one_blas_thread():
            [start] = starts(self, 1, design)
            [(solution, _)] = solve(self, design, [Problem(risk, [self.C], start)])
        self._keep([solution])
        self.intercept_ = np.zeros(1)
        self.n_passes_ = design.passes
        self.n_lists_, self.n_skipped_lists_ = grades.n_lists, grades.n_skipped
        warn_unfinished([solution], self.tol)
        return self

    def predict(self, X: Any) -> Floats:
        """The scores; their order is what was learned, not their size."""
        return self.decision_function(X)

    def score(self, X: Any, y: Any, qid: ArrayLike | None = None, best: ArrayLike | None = None) -> float:
        """The share of the graph's preferences, each weighing y_i − y_j, that are in order; tied ones count half."""
        return self._loss().ordered(self.decision_function(X), y, qid, best)

    def _loss(self) -> Preference:
        return Preference(self.graph, self.rescaling, self.threshold, self.top, self.reduce)
