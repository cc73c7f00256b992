"""GraphRankSVM: rankers of samples that are related to each other (HOB-SVM, HOAP-SVM)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankcut.data.bags import mean_instances
from rankcut.data.graph import Graph
from rankcut.data.labels import targets
from rankcut.data.lists import Lists
from rankcut.designs import Design, Passes
from rankcut.estimators.base import (
    LinearRanker,
    intercept,
    threads,
    warn_unfinished,
)
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.graph_design import checked, edge_width, related_design
from rankcut.estimators.graph_parameters import LABELLING, check_graph_parameters, given_start
from rankcut.estimators.graph_starts import warn_zero, without_edges
from rankcut.estimators.rank_svm import linear_loss
from rankcut.losses import Loss
from rankcut.models import LabellingRisk, LatentLabellingRisk, Samples, ScoreRisk, marginals
from rankcut.solvers import Problem, Solution, Status, minimise_together
from rankcut.solvers.progress import Progress
from rankcut.solvers.search import search

Floats = NDArray[np.float64]
Solved = tuple[Solution, Floats]  # and the raw numbers there
STARTS = (1.0, 10.0, 100.0)  # times C: the labelling risk is a mean, small beside that of rankings
START_TOL = 1e-2


class GraphRankSVM(LinearRanker):
    """Ranker of the samples of a graph, in which samples that are linked tend to be relevant together.

    A labelling of all samples is worth the sum of ``x_i @ coef_`` over those that it calls relevant, less, for each
    edge whose ends it labels differently, ``c_ij = -eta * phi_ij @ edge_coef_ >= 0``. The score of a sample is the
    worth of the best labelling in which it is relevant, less that of the best in which it is not.

    It minimises ``½‖coef‖² + ½‖edge_coef‖² + C·R`` over ``edge_coef <= 0``. ``loss="labelling"`` (HOB-SVM) compares
    labellings, a convex problem; every other loss compares the scores ("ap": HOAP-SVM), which is not convex: the
    fit goes from a starting point to one that no round improves, and the objective never rises.

    With ``Graph(Bags(...), edges)`` each sample is scored by its best instance: the latent versions of both.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    loss : str, default="ap"
        "labelling", or a loss of the scores: "ap", "auc", "ndcg", "mrr", "precision@k", "hinge".
    eta : float, default=1.0
        Scale of the edge features: how cheap it is to use the edges.
    by_degree : bool, default=False
        Divide the cost of each edge by √(d_i d_j), the numbers of edges of its ends in the graph at hand. So
        neighbours weigh as much together where they are few, as in a training part that has lost edges, as where
        they are many.
    init : {"labelling", "zeros"} or array of shape (n_features + n_edge_features,), default="labelling"
        Where to start what is not convex: from the best of the fits with ``loss="labelling"`` and 1, 10 and 100
        times C (of bags, these start from the one of their mean instances; and where it is better, also from the
        ranker of the bags without edges), from zero, or from these coefficients (those of the edges, which have to be
        0 or less, last). One row for each ranker if there are several.
    positive_weight : float, default=None
        J of loss="labelling", what a missed positive costs; None means N/P. Weight of the positives in
        loss="hinge"; None means 1.
    fit_intercept : bool, default=True
        As in ``RankSVM``. loss="labelling" has none.
    tol : float, default=1e-3
        Relative duality gap to reach; of the last round, if the problem is not convex.
    max_iter : int, default=1000
        Most cuts for each problem.
    max_rounds : int, default=100
        How often what is not convex may be frozen anew, for each problem.
    max_memory : float, default=1e9
        Bytes that the default edge features may take; beyond that they are computed anew in each pass, in blocks.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    n_jobs, verbose, random_state, callbacks
        As in ``RankSVM``.

    Attributes
    ----------
    coef_ : ndarray of shape (K, n_features)
    edge_coef_ : ndarray of shape (K, n_edge_features), never positive
    intercept_ : ndarray of shape (K,)
    classes_ : ndarray
    objective_, dual_objective_, dual_gap_, status_, n_iter_, n_passes_, history_
        As in ``RankSVM``; of the last round, if the problem is not convex.
    objective_path_ : list of floats, or a list of lists for K > 1
        The objective at the start and after each round. It never rises.

    Examples
    --------
    >>> import numpy as np
    >>> from rankcut.data import Graph
    >>> X = np.array([[2.0], [0.1], [-2.0], [-0.1], [0.0]])
    >>> graph = Graph(X, [(0, 1), (2, 3)], edge_features=np.ones((2, 1)))
    >>> model = GraphRankSVM(C=10).fit(graph, [1, 1, 0, 0, 0])
    >>> bool(model.edge_coef_[0, 0] <= 0)
    True
    """

    edge_coef_: Floats

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "ap",
        eta: float = 1.0,
        by_degree: bool = False,
        init: Any = "labelling",
        positive_weight: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_rounds: int = 100,
        max_memory: float = 1e9,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | None = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.eta = eta
        self.by_degree = by_degree
        self.init = init
        self.positive_weight = positive_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_rounds = max_rounds
        self.max_memory = max_memory
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, graph: Graph, y: Any) -> GraphRankSVM:
        """Train on the samples of a graph; labels as in ``RankSVM``."""
        check_graph_parameters(self)
        X, offsets = checked(self, graph, reset=True)
        goal = targets(y, len(graph))
        starts = given_start(self, len(goal.relevant), X.shape[1], edge_width(graph))
        lists = [Lists.build(relevant) for relevant in goal.relevant]
        with one_blas_thread():
            alone: list[Solution] = []
            paths: list[list[Solved]] = []
            designs: list[Design] = []
            stopped = False
            if offsets is not None and starts is None and self.init == LABELLING != self.loss:
                alone, design = without_edges(self, X, offsets, lists, self._linear_loss())
                designs, stopped = [design], _interrupted(alone)
            for design, samples, loss, path in self._stages(graph, X, offsets, given=starts is not None):
                inner = design.n_threads if len(lists) == 1 else 1
                risks = [self._risk(loss, graph, samples, part, inner) for part in lists]
                if paths:
                    starts = [self._start(risk, found) for risk, found in zip(risks, paths, strict=True)]
                paths = self._solve(design, risks, path, starts, stop=stopped)
                stopped = _interrupted([found[-1][0] for found in paths])
                designs += [design] * (design not in designs)
            results = [found[-1] for found in paths]
            worse = [k for k, found in enumerate(alone) if found.objective < results[k][0].objective]
            if worse:
                begun = [np.pad(alone[k].w, (0, design.n_columns - len(alone[k].w))) for k in worse]
                again = self._solve(design, [risks[k] for k in worse], [self.C], begun, stop=stopped)
                for k, found in zip(worse, again, strict=True):
                    results[k] = found[-1]
        solutions = [solution for solution, _ in results]
        self.classes_, self._kind = goal.classes, goal.kind
        self._keep(solutions)
        self.coef_, self.edge_coef_ = np.split(self.coef_, [X.shape[1]], axis=1)
        objectives = [getattr(s, "objective_path", [s.objective]) for s in solutions]
        self.objective_path_ = objectives[0] if len(objectives) == 1 else objectives
        self.n_passes_ = Passes(*np.sum([design.passes for design in designs], axis=0).tolist())
        self.intercept_ = np.zeros(len(risks))
        for k, (risk, (_, point)) in enumerate(zip(risks, results, strict=True)):
            if self.fit_intercept and isinstance(risk, ScoreRisk):  # labellings have none
                self.intercept_[k] = intercept(risk, self._linear_loss().sees, point)
        warn_unfinished(solutions, self.tol)
        if offsets is not None:
            warn_zero(solutions)
        return self

    def decision_function(self, graph: Graph) -> Floats:
        """The scores of the graph's samples, max-marginal of relevant less that of not relevant, and the intercept."""
        plus, minus, _ = self._inference(graph, per_component=True)
        scores = (plus - minus).T + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def max_marginals(self, graph: Graph) -> tuple[Floats, Floats]:
        """What the best labelling in which a sample is relevant is worth, and the best in which it is not; a column
        for each ranker if there are several."""
        plus, minus, _ = self._inference(graph, per_component=False)
        return (plus[0], minus[0]) if len(plus) == 1 else (plus.T, minus.T)

    def label(self, graph: Graph) -> NDArray[np.int64]:
        """The best labelling of the whole graph, in 0 and 1; a column for each ranker if there are several."""
        labels = self._inference(graph, per_component=False)[2].astype(np.int64)
        return labels[0] if len(labels) == 1 else labels.T

    def _inference(self, graph: Graph, *, per_component: bool) -> tuple[Floats, Floats, NDArray[np.uint8]]:
        check_is_fitted(self)
        X, offsets = checked(self, graph, reset=False)
        design = self._design(graph, X, offsets, width=self.edge_coef_.shape[1])
        samples = Samples(len(graph), offsets)
        raw = design.scores(np.hstack((self.coef_, self.edge_coef_)))
        return marginals(raw, graph.edges, samples, per_component=per_component, n_threads=design.n_threads)

    def _design(
        self, graph: Graph, X: Any, offsets: NDArray[np.int64] | None, width: int | None = None
    ) -> Design:
        return related_design(
            graph,
            X,
            offsets,
            eta=self.eta,
            by_degree=self.by_degree,
            width=width,
            n_threads=threads(self.n_jobs),
            max_memory=self.max_memory,
        )

    def _stages(
        self, graph: Graph, X: Any, offsets: NDArray[np.int64] | None, *, given: bool
    ) -> list[tuple[Design, Samples, str, list[float]]]:
        """What is trained one after the other, and for which C: each starts from what the last one found."""
        design, samples = self._design(graph, X, offsets), Samples(len(graph), offsets)
        stages = [(design, samples, self.loss, [self.C])]
        if given or self.init != LABELLING:
            return stages
        if self.loss != LABELLING:
            stages.insert(0, (design, samples, LABELLING, [self.C * factor for factor in STARTS]))
        if offsets is not None:  # at zero all instances tie: their mean tells them apart, and is convex
            means = self._design(graph, mean_instances(X, offsets), None)
            stages.insert(0, (means, Samples(len(graph)), LABELLING, [self.C]))
        return stages

    def _start(self, risk: LabellingRisk | ScoreRisk, found: list[Solved]) -> Floats:
        """Of the coefficients found and their multiples, those of the smallest objective. The scores of t·w are t
        times those of w, and the labellings behind them the same."""
        if not isinstance(risk, ScoreRisk):
            return found[-1][0].w
        best, start = np.inf, found[-1][0].w
        for solution, point in found:
            square = float(solution.w @ solution.w)
            ray = search(risk.ray(point), np.inf, 0.0, 0.0, square, self.C, 1e-3 * self.C).best
            if ray.value < best:
                best, start = ray.value, ray.t * solution.w
        return start

    def _risk(
        self, loss: str, graph: Graph, samples: Samples, lists: Lists, n_threads: int
    ) -> LabellingRisk | ScoreRisk:
        if loss != LABELLING:
            bound = self._linear_loss().bind(lists)
            return ScoreRisk(lists, bound, graph.edges, samples, n_threads=n_threads)
        relevant = np.zeros(samples.n, dtype=bool)
        relevant[lists.order[lists.relevant]] = True
        J = float(np.sum(~relevant) / np.sum(relevant))
        if self.loss == LABELLING and self.positive_weight is not None:
            J = self.positive_weight
        risk = LatentLabellingRisk if samples.bags else LabellingRisk
        return risk(relevant, J, graph.edges, samples, n_threads=n_threads)

    def _linear_loss(self) -> Loss:
        return linear_loss(self.loss, "staircase", self.positive_weight, self.fit_intercept)

    def _solve(
        self,
        design: Design,
        risks: Sequence[Any],
        path: list[float],
        starts: Sequence[Floats] | None,
        *,
        stop: bool,
    ) -> list[list[Solved]]:
        """For each problem and C of the path the solution, and the raw numbers there; `stop`: only those of the
        start. Where there are several C it is to find a start, and need not be exact."""
        cone = slice(self.n_features_in_, design.n_columns)
        problems = [
            Problem(risk, path, None if starts is None else starts[k], cone) for k, risk in enumerate(risks)
        ]
        callbacks = [lambda _event: True] if stop else list(self.callbacks or ())
        tol = self.tol if len(path) == 1 else max(self.tol, START_TOL)
        if self.verbose:
            callbacks.append(Progress(len(problems), tol))
        found: list[list[Solved]] = [[] for _ in problems]
        minimise_together(
            design,
            problems,
            tol=tol,
            max_iter=self.max_iter,
            max_rounds=self.max_rounds,
            callbacks=callbacks,
            solved=lambda k, _place, solution, point: found[k].append((solution, point.copy())),
        )
        return found


def _interrupted(solutions: Sequence[Solution]) -> bool:
    return any(solution.status is Status.INTERRUPTED for solution in solutions)
