"""LatentAPBaseline: the latent structural SVM with AP loss, the published baseline of latent AP-SVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import losses
from rankcut.data.known import check_bags, known_rows
from rankcut.data.labels import targets
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.estimators.bag_ranker import BagRanker
from rankcut.estimators.bag_starts import Start, starts
from rankcut.estimators.base import threads, warn_unfinished
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_bag_starts
from rankcut.estimators.intercept import balanced_intercept
from rankcut.losses import joint_ap
from rankcut.models import FrozenJointRisk, JointBagRisk
from rankcut.solvers import CccpSolution, Event, Record, Solution, Status, cccp
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


class LatentAPBaseline(BagRanker):
    """The latent structural SVM with AP loss, as published: what latent AP-SVM is measured against.

    Use ``BagRankSVM(loss="ap")`` for ranking: its risk is a tighter bound of the loss, its inference exact and
    faster. Here instances and ranking are chosen together, greedily over the ranks with an exact assignment of the
    samples to them, and the risk is understated where that misses the best. CCCP then promises nothing; a round
    that ends above its start is undone, and is the last (``Status.INEXACT``).

    Parameters
    ----------
    C : float, default=1.0
        Weight of the risk.
    n_init, init, fit_intercept, tol, max_iter, max_rounds, warm_start, verbose, random_state, callbacks
        As in :class:`BagRankSVM`; starts are solved one after the other.
    n_jobs : int, default=None
        Threads of the passes over the instances; the inference has one.

    Attributes
    ----------
    coef_, intercept_, classes_, latent_, objective_path_, n_iter_, n_passes_, status_, history_
        As in :class:`BagRankSVM`.
    objective_, dual_objective_, dual_gap_
        The objective as greedy inference sees it, so that the gap may be understated.
    n_inferences_ : int
        Loss-augmented inferences of all starts.
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        n_init: int = 5,
        init: Any = "random",
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
        self.n_init = n_init
        self.init = init
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_rounds = max_rounds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, bags: Any, y: Any, known: Any = None) -> LatentAPBaseline:
        """Train on bags; `known` gives the number of the instance of some bags, −1 for the others."""
        check_bag_starts(self)
        X, offsets = check_bags(self, bags, reset=True)
        goal = targets(y, len(offsets) - 1, "bags")
        lists = [Lists.build(relevant) for relevant in goal.relevant]
        rows = known_rows(known, offsets, len(lists))
        design = make_design(X, n_threads=threads(self.n_jobs))
        self.n_inferences_ = 0
        with one_blas_thread():
            begun, stopped = starts(
                self, X, design, offsets, lists, losses.get("ap"), latent=bool((rows < 0).any())
            )
            fits = []
            for relevant, given, these in zip(goal.relevant, rows, begun, strict=True):
                risk = JointBagRisk(design, joint_ap.most_violated, relevant, offsets, given)
                found = self._fit_one(design, risk, these, stop=stopped)
                stopped = found[-1].status is Status.INTERRUPTED
                best = min(found, key=lambda solution: solution.objective)
                fits.append((best, [np.array(one.objective_path) for one in found], risk.best(best.w)))
        self.classes_, self._kind = goal.classes, goal.kind
        solutions: list[Solution] = [best for best, _, _ in fits]
        self._keep(solutions)
        self.latent_ = np.stack([chosen - offsets[:-1] for _, _, chosen in fits], axis=1)
        self.latent_ = self.latent_[:, 0] if len(fits) == 1 else self.latent_
        self.objective_path_ = fits[0][1] if len(fits) == 1 else [paths for _, paths, _ in fits]
        self.intercept_ = np.zeros(len(fits))
        if self.fit_intercept:
            scores = design.scores(self.coef_)
            self.intercept_[:] = [
                balanced_intercept(z[chosen], relevant)
                for z, (_, _, chosen), relevant in zip(scores, fits, goal.relevant, strict=True)
            ]
        self.n_passes_ = design.passes
        warn_unfinished([found for found in solutions if found.status is not Status.INEXACT], self.tol)
        return self

    def _fit_one(
        self, design: Design, risk: JointBagRisk, begun: list[Start], *, stop: bool
    ) -> list[CccpSolution]:
        """The solution of each start, up to one that was interrupted; `stop`: of the first, as it began."""
        found: list[CccpSolution] = []
        for start in begun:
            w = np.zeros(design.n_columns) if start.w is None else start.w

            def freeze(w: Floats, first: Index = start.first) -> FrozenJointRisk:
                return risk.frozen(risk.best(w) if w.any() else first)

            calls: list[Any] = [_Calls(self, design)] if self.callbacks or self.verbose else []
            calls = [lambda *_: True] if stop else calls
            found.append(
                cccp(
                    freeze,
                    self.C,
                    start=w,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    max_rounds=self.max_rounds,
                    callbacks=calls,
                )
            )
            if found[-1].status is Status.INTERRUPTED:
                break
        self.n_inferences_ += risk.n_inferences
        return found


class _Calls:
    """The solver's plain callbacks as those of estimators."""

    def __init__(self, estimator: Any, design: Design) -> None:
        self._targets = list(estimator.callbacks or ())
        if estimator.verbose:
            self._targets.append(Progress(1, estimator.tol))
        self._design, self._n = design, 0

    def __call__(self, _round: int, record: Record, w: Floats) -> bool:
        self._n += 1
        forward, backward = self._design.passes
        record = record._replace(forward_passes=forward, backward_passes=backward)
        return any([target(Event(0, self._n, record, w)) for target in self._targets])
