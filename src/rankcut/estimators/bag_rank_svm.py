"""BagRankSVM: rankers of bags of which nobody knows the instance that makes them relevant."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut import losses
from rankcut.data.known import check_bags, known_rows
from rankcut.data.labels import targets
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.estimators.bag_ranker import BagRanker
from rankcut.estimators.bag_starts import Start, starts
from rankcut.estimators.base import (
    each,
    enough,
    intercept,
    threads,
    warn_skipped,
    warn_unfinished,
)
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_bag_parameters
from rankcut.estimators.rank_svm import linear_loss
from rankcut.models import BagRisk, LatentBagRisk, LinearRisk
from rankcut.solvers import CccpSolution, Problem, Solution, minimise_together
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
BUFFERS = 1e9  # bytes for score vectors; more problems than fit take turns
VECTORS = 8  # of the instances' scores, that a problem under way holds


class BagRankSVM(BagRanker):
    """Linear ranker of bags: each is scored by its best instance, which nobody needs to have marked.

    It minimises ``½‖w‖² + C·R(w)``, R being the structured hinge of the loss at the bags' scores. The problem is not
    convex: CCCP alternates between choosing the best instance of each relevant bag and a convex problem, from
    several starts at once, and keeps the best. The objective never rises. ``loss="ap"`` is the latent AP-SVM,
    ``loss="hinge"`` the latent SVM. A plain matrix X is taken as bags of one instance: then it is ``RankSVM``.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk, as in :class:`RankSVM`. With standardised columns try 0.01 to 10 for a hundred bags,
        1 to 10,000 for thousands.
    loss : str, default="ap"
        "ap", "auc", "ndcg", "mrr", "precision@k" for any k, or "hinge".
    n_init : int, default=5
        Starts, in lockstep on shared passes; the one with the lowest objective is kept. One is enough, and made, if
        nothing is left to chance.
    init : {"random", "mean"} or array, default="random"
        Where to start: from w = 0 with random instances of the relevant bags, from the ranker of the bags' mean
        instances, or from an array: integers are the number of an instance for each bag, floats are coefficients;
        each row of a matrix is a start.
    positive_weight : float, default=None
        Weight J of the relevant bags, for loss="hinge"; None means 1.
    outlier_fraction : float in [0, 1), default=0.0
        The share of the instances of irrelevant bags, those with the highest scores, that is left out; at least
        one of each bag is kept.
    trim : float in [0, 1), default=0.0
        The share of the bags of each label that may be mislabelled: those that contradict the ranker most are left
        out.
    fit_intercept, tol, max_iter, warm_start, n_jobs, verbose, callbacks
        As in :class:`RankSVM`; ``max_iter`` is for each start.
    max_rounds : int, default=100
        How often instances may be chosen anew for each start.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_passes_, status_, history_
        As in :class:`RankSVM`, of the best start.
    objective_, dual_objective_, dual_gap_
        The true objective, and the certificate of the last round: with the instances chosen where it began, no w is
        better than ``dual_objective_``.
    latent_ : ndarray of shape (n_bags,), or (n_bags, K) for K > 1
        The number of the instance in each training bag that it is scored by.
    objective_path_ : list of ndarray, or a list of lists for K > 1
        For each start the objective at the beginning and after each round.
    n_lists_, n_skipped_lists_
        As in :class:`RankSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from rankcut.data import Bags
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> X[::15] += 2.0  # one instance in each of the first half of the bags
    >>> bags = Bags(np.delete(X, np.s_[150::15], axis=0), np.delete(np.arange(300) // 15, np.s_[150::15]))
    >>> y = np.arange(20) < 10
    >>> model = BagRankSVM(C=10, random_state=0).fit(bags, y)
    >>> model.choose(bags)[:10].tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "ap",
        n_init: int = 5,
        init: Any = "random",
        positive_weight: float | None = None,
        outlier_fraction: float = 0.0,
        trim: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_rounds: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.n_init = n_init
        self.init = init
        self.positive_weight = positive_weight
        self.outlier_fraction = outlier_fraction
        self.trim = trim
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_rounds = max_rounds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, bags: Any, y: Any, known: Any = None, qid: ArrayLike | None = None) -> BagRankSVM:
        """Train on bags (:class:`rankcut.data.Bags`, a list of matrices, or a matrix of single instances).

        known: the number of the instance that each bag is known to be scored by, −1 where none is known; of relevant
        and of other bags; with a column for each ranker if they differ.
        qid: the query of each bag; bags are ranked within their query.
        """
        check_bag_parameters(self)
        loss = linear_loss(self.loss, "staircase", self.positive_weight, self.fit_intercept)
        X, offsets = check_bags(self, bags, reset=True)
        n = len(offsets) - 1
        goal = targets(y, n, "bags")
        lists = [Lists.build(relevant, qid) for relevant in goal.relevant]
        warn_skipped(lists)
        rows = known_rows(known, offsets, len(lists))
        alone = np.diff(offsets) == 1
        rows[:, alone] = offsets[:-1][alone]
        latent = bool((rows < 0).any() or (rows != rows[0]).any())
        trained = offsets
        if not latent:  # rank the instances that are given
            X = X if len(rows[0]) == X.shape[0] else X[rows[0]]
            trained = np.arange(n + 1)
        design = make_design(X, n_threads=threads(self.n_jobs))
        with one_blas_thread():
            begun, stopped = starts(self, X, design, trained, lists, loss, latent=latent)
            problems = [
                _Ranker(part, given if latent else trained[:-1], these)
                for part, given, these in zip(lists, rows, begun, strict=True)
            ]
            best = self._solve(design, problems, loss, trained, stop=stopped)
        self.classes_, self._kind = goal.classes, goal.kind
        self._keep([found.solution for found in best])
        self.intercept_ = np.zeros(len(lists))
        if self.fit_intercept:
            self.intercept_[:] = [intercept(found.risk, loss.sees, found.point) for found in best]
        chosen = [
            found.risk.chosen(found.point) if latent and isinstance(found.risk, BagRisk) else given
            for found, given in zip(best, rows, strict=True)
        ]
        self.latent_ = np.stack([row - offsets[:-1] for row in chosen], axis=1)
        self.latent_ = self.latent_[:, 0] if len(lists) == 1 else self.latent_
        self.objective_path_ = best[0].paths if len(lists) == 1 else [found.paths for found in best]
        self.n_passes_ = design.passes
        self.n_lists_ = each([len(part.positives) for part in lists])
        self.n_skipped_lists_ = each([part.n_skipped for part in lists])
        warn_unfinished([found.solution for found in best], self.tol)
        if latent and begun[0][0].w is None:
            _warn_stuck(best, self.tol)
        return self

    def _solve(
        self, design: Design, rankers: list[_Ranker], loss: losses.Loss, offsets: Index, *, stop: bool
    ) -> list[_Found]:
        """The best start of each ranker; `stop`: as it began."""
        owners = [k for k, ranker in enumerate(rankers) for _ in ranker.starts]
        inner = design.n_threads if len(owners) == 1 else 1

        def make(lists: Lists) -> LinearRisk:
            return LinearRisk(lists, loss.bind(lists), loss.sees, n_threads=inner, enough=enough(design))

        options = {"outlier_fraction": self.outlier_fraction, "trim": self.trim, "n_threads": inner}
        risks = [_risk(r, start, make, offsets, options) for r in rankers for start in r.starts]
        problems = [
            Problem(risk, [self.C], start.w)
            for risk, start in zip(risks, (s for r in rankers for s in r.starts), strict=True)
        ]
        found: list[_Found | None] = [None] * len(rankers)
        paths: list[NDArray[np.float64]] = [np.empty(0)] * len(owners)

        def solved(number: int, _place: int, solution: Solution, point: Floats) -> None:
            paths[number] = _path(solution)
            best = found[owners[number]]
            key = (solution.objective, number)
            if best is None or key < (best.solution.objective, best.number):
                found[owners[number]] = _Found(number, solution, risks[number], point, [])

        callbacks = [lambda _event: True] if stop else list(self.callbacks or ())
        if self.verbose:
            callbacks.append(Progress(len(problems), self.tol))
        minimise_together(
            design,
            problems,
            tol=self.tol,
            max_iter=self.max_iter,
            max_rounds=self.max_rounds,
            at_once=max(1, int(BUFFERS / (8.0 * VECTORS * design.n_rows))),
            callbacks=callbacks,
            solved=solved,
        )
        return [
            best._replace(paths=[paths[i] for i, owner in enumerate(owners) if owner == k])
            for k, best in enumerate(found)
            if best is not None
        ]


class _Ranker(NamedTuple):
    """One problem: its lists of bags, the row that is given for each bag (or −1), and where to start."""

    lists: Lists
    given: Index
    starts: list[Start]


class _Found(NamedTuple):
    number: int
    solution: Solution
    risk: LinearRisk | BagRisk
    point: Floats
    paths: list[Floats]


def _risk(
    ranker: _Ranker,
    start: Start,
    make: Callable[[Lists], LinearRisk],
    offsets: Index,
    options: dict[str, Any],
) -> LinearRisk | BagRisk:
    """The simplest risk that will do."""
    lists, given = ranker.lists, ranker.given
    left_out = options["trim"] or options["outlier_fraction"]
    if left_out or (given[lists.order[lists.relevant]] < 0).any():
        return LatentBagRisk(lists, make, offsets, given, start.first, **options)
    if (given < 0).any() or len(offsets) - 1 != offsets[-1]:
        return BagRisk(make(lists), offsets, given, n_threads=options["n_threads"])
    return make(lists)


def _path(solution: Solution) -> Floats:
    """The objective at the start and after each round; a convex problem has one."""
    if isinstance(solution, CccpSolution):
        return np.array(solution.objective_path)
    return np.array([solution.history[0].objective, solution.objective])


def _warn_stuck(best: list[_Found], tol: float) -> None:
    """Where most instances say nothing, random ones of the positives may not outweigh the best ones of the negatives:
    w = 0 is a local minimum then."""
    stuck = [f for f in best if all(path[-1] >= (1.0 - tol) * path[0] for path in f.paths)]
    if stuck:
        which = "" if len(best) == 1 else f" of {len(stuck)} of {len(best)} rankers"
        warnings.warn(
            f"Every start{which} ended where it began, near w = 0: the instances chosen at first do not tell the "
            "bags apart. Try init='mean', a larger C, or n_init.",
            UserWarning,
            stacklevel=3,
        )
