"""RankSVMCV: the whole grid, all folds and all classes in shared passes over the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import ParameterGrid

from rankcut import losses
from rankcut.data.arrays import check_X
from rankcut.data.ids import query_codes
from rankcut.data.labels import targets
from rankcut.designs import Design, make_design
from rankcut.errors import InputError
from rankcut.estimators.base import (
    LinearRanker,
    each,
    enough,
    threads,
    warn_skipped,
    warn_unfinished,
)
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.board import Board, Key
from rankcut.estimators.checks import check_cv_parameters, check_loss
from rankcut.estimators.rank_svm import linear_loss
from rankcut.models import LinearRisk
from rankcut.selection.choice import fold_mean
from rankcut.selection.folds import make_folds
from rankcut.selection.scoring import get_score
from rankcut.solvers import Problem, minimise_together
from rankcut.solvers.progress import Progress
from rankcut.solvers.together import footprint

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
TUNABLE = ("loss", "oracle", "positive_weight")


class RankSVMCV(LinearRanker):
    """RankSVM with its C chosen by cross-validation, for little more than the cost of one fit.

    All problems (every fold, class and loss setting, and the full data) share each pass over X, which is one
    matrix product for all of them; rows outside a fold are masked, not copied. Each problem walks up the path
    of C and keeps its cuts, which are valid for every C. Folds are scored from products that are made anyway,
    and the full data's own path makes a refit unnecessary.

    Parameters
    ----------
    Cs : int or sequence of floats, default=10
        The path; an int means so many values from 1e-1 to 1e4, evenly on a log scale.
    cv : int, splitter or iterable of (train, test), default=5
        An int means so many folds of whole groups if ``groups`` or else ``qid`` is given (QueryKFold), StratifiedKFold
        otherwise, or KFold for an indicator matrix.
    loss, oracle, positive_weight, fit_intercept, tol, max_iter, n_jobs, verbose, random_state, callbacks
        As in :class:`RankSVM`.
    loss_grid : dict or list of dicts, default=None
        More to choose from, lists of values for "loss", "oracle" or "positive_weight", as in
        ``[{"loss": ["ap", "ndcg"]}, {"loss": ["hinge"], "positive_weight": [1, 10]}]``; every combination of a dict
        is tried with every C.
    scoring : str or callable, default="average_precision"
        Also "ndcg", "auc", "mrr", "precision@k", or a callable (relevant, scores) -> float. With ``qid`` the
        mean over the queries of the held-out part that have both kinds of rows.
    rule : {"best", "one-se"}, default="best"
        The candidate with the best mean, or the smallest C of the same setting within one standard error of it.
    error_score : "raise" or float, default=nan
        What stands for a score that could not be computed; a warning then counts them and shows the first error.
    max_memory : float, default=1e9
        Bytes that score buffers and Hessians may take; problems advance in groups if all would need more.

    Attributes
    ----------
    C_ : float, or ndarray of shape (K,)
        The chosen C of each ranker.
    best_params_ : dict, or list of dicts for K > 1
    best_score_ : float, or ndarray for K > 1
        Mean over folds of the chosen candidate.
    best_index_ : int, or ndarray for K > 1
        Of the chosen candidate in ``cv_results_``.
    cv_results_ : dict
        In scikit-learn's shape: ``params``, ``param_C``, ``split0_test_score``, …, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``; for K > 1 the scores are means over rankers. ``n_unfinished`` counts
        the fits, on folds and on the full data, that ended above ``tol``.
    cv_scores_ : ndarray of shape (n_candidates, n_splits, K)
    coef_path_ : ndarray of shape (n_candidates, K, n_features)
        Coefficients on the full data for every candidate, in the order of ``cv_results_``.
    history_path_ : list of lists of lists of Record
        By candidate and ranker, the iterations on the full data: ``rankcut.report.path_figures`` draws them.
    coef_, intercept_, classes_, objective_, dual_gap_, status_, n_iter_, history_
        Of the chosen candidate on the full data, as in :class:`RankSVM`.
    n_passes_ : Passes(forward, backward)
        Passes over X for everything together.
    """

    def __init__(
        self,
        Cs: int | Sequence[float] = 10,
        *,
        cv: Any = 5,
        loss: str = "ap",
        oracle: str = "staircase",
        positive_weight: float | None = None,
        loss_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fit_intercept: bool = True,
        scoring: Any = "average_precision",
        rule: str = "best",
        tol: float = 1e-3,
        max_iter: int = 1000,
        error_score: float | str = np.nan,
        max_memory: float = 1e9,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | None = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.loss = loss
        self.oracle = oracle
        self.positive_weight = positive_weight
        self.loss_grid = loss_grid
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.rule = rule
        self.tol = tol
        self.max_iter = max_iter
        self.error_score = error_score
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, groups: ArrayLike | None = None) -> RankSVMCV:
        """Train on the rows of X. qid: the query of each row; groups: for splitters that need them."""
        path = check_cv_parameters(self)
        settings = self._settings()
        score = get_score(self.scoring)
        X = check_X(self, X, reset=True)
        goal = targets(y, X.shape[0])
        codes = None if qid is None else query_codes(qid, X.shape[0])
        indicator = goal.kind == "indicator"
        labels = goal.relevant.T.astype(int) if indicator else np.asarray(y).ravel()
        splits = make_folds(self.cv, labels, stratify=not indicator, qid=codes, groups=groups)
        design = make_design(X, n_threads=threads(self.n_jobs))
        params = [params for params, _ in settings]
        board = Board(params, path, len(splits), goal, codes, design.n_columns, score, self.error_score)
        with one_blas_thread():
            self._run(design, path, [loss for _, loss in settings], splits, board)
        self.classes_, self._kind = goal.classes, goal.kind
        self.n_splits_ = len(splits)
        self.n_passes_ = design.passes
        self._report(board)
        return self

    def _settings(self) -> list[tuple[dict[str, Any], losses.Loss]]:
        """The losses to try, each with the parameters that make it."""
        try:
            grid = list(ParameterGrid(self.loss_grid or {}))
        except (TypeError, ValueError) as error:
            raise InputError(f"loss_grid: {error}") from error
        settings = []
        for params in grid:
            unknown = [name for name in params if name not in TUNABLE]
            if unknown:
                raise InputError(
                    f"loss_grid: came with {', '.join(unknown)}; it takes lists for {', '.join(TUNABLE)}"
                )
            chosen = {"loss": self.loss, **params}
            # What is fixed for all settings goes to the loss that it belongs to.
            if chosen["loss"] == "ap" or not params:
                chosen.setdefault("oracle", self.oracle)
            if chosen["loss"] == "hinge" or not params:
                chosen.setdefault("positive_weight", self.positive_weight)
            options = chosen["loss"], chosen.get("oracle", "staircase"), chosen.get("positive_weight")
            check_loss(*options)
            settings.append((params, linear_loss(*options, self.fit_intercept)))
        return settings

    def _run(
        self,
        design: Design,
        path: list[float],
        settings: list[losses.Loss],
        splits: list[Split],
        board: Board,
    ) -> None:
        n_folds = len(splits)
        masks = [_mask(train, design.n_rows) for train, _ in splits]
        keys: list[Key] = []
        for fold in (
            n_folds,
            *range(n_folds),
        ):  # the full data first: if only some fit into memory, the longest
            include, test = (masks[fold], splits[fold][1]) if fold < n_folds else (None, None)
            for setting, loss in enumerate(settings):
                for k in range(board.K):
                    lists = board.lists(fold, k, include)
                    risk = LinearRisk(
                        lists, loss.bind(lists), loss.sees, held_out=test, enough=enough(design)
                    )
                    keys.append(Key(setting, fold, k, risk, loss.sees, test))
        warn_skipped([board.lists(n_folds, k, None) for k in range(board.K)])
        callbacks = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(Progress(len(keys), self.tol))
        minimise_together(
            design,
            [Problem(key.risk, path, kin=key.setting * board.K + key.k) for key in keys],
            tol=self.tol,
            max_iter=self.max_iter,
            at_once=max(1, int(self.max_memory // footprint(design))),
            callbacks=callbacks,
            solved=lambda i, place, solution, point: board.note(keys[i], place, solution, point),
        )

    def _report(self, board: Board) -> None:
        best = board.best(self.rule)
        solutions = [board.solutions[candidate, k] for k, candidate in enumerate(best)]
        self._keep(solutions)
        shifts = [board.intercepts[candidate, k] for k, candidate in enumerate(best)]
        self.intercept_ = np.array(shifts) if self.fit_intercept else np.zeros(board.K)
        self.best_index_ = each(best)
        self.C_ = each([float(board.C[candidate]) for candidate in best])
        chosen = [board.candidates[candidate] for candidate in best]
        self.best_params_ = chosen[0] if board.K == 1 else chosen
        self.best_score_ = each([float(fold_mean(board.scores[c, :, k], axis=0)) for k, c in enumerate(best)])
        self.cv_scores_ = board.scores
        self.cv_results_ = board.results()
        self.coef_path_ = board.coefs
        self.history_path_ = [
            [board.solutions[c, k].history if (c, k) in board.solutions else [] for k in range(board.K)]
            for c in range(len(board.candidates))
        ]
        warn_unfinished(solutions, self.tol)


def _mask(rows: NDArray[np.intp], n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask
