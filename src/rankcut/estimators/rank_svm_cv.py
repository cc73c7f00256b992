"""RankSVMCV: the whole grid, all folds and all classes in shared passes over the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import ParameterGrid, check_cv

from rankcut import losses
from rankcut.data.arrays import check_X
from rankcut.data.labels import Targets, targets
from rankcut.data.lists import Lists, query_codes
from rankcut.designs import Design, make_design
from rankcut.errors import InputError
from rankcut.estimators.base import (
    LinearRanker,
    each,
    enough,
    intercept,
    one_blas_thread,
    threads,
    warn_skipped,
    warn_unfinished,
)
from rankcut.estimators.checks import check_cv_parameters
from rankcut.estimators.rank_svm import linear_loss
from rankcut.models import LinearRisk
from rankcut.selection.choice import choose
from rankcut.selection.scoring import get_score, usable
from rankcut.selection.splitters import QueryKFold
from rankcut.solvers import Problem, Solution, minimise_together
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]
TUNABLE = ("loss", "oracle", "positive_weight")
VECTORS = 9  # score vectors that a problem under way holds, kernels' own included


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
        An int means StratifiedKFold, QueryKFold with ``qid``, or KFold for an indicator matrix.
    loss, oracle, positive_weight, fit_intercept, tol, max_iter, n_jobs, verbose, random_state, callbacks
        As in :class:`RankSVM`.
    loss_grid : dict, default=None
        More to choose from, lists of values for "loss", "oracle" or "positive_weight", as in
        ``{"loss": ["ap", "hinge"]}``; every combination is tried with every C.
    scoring : str or callable, default="average_precision"
        Also "ndcg", "auc", "mrr", "precision@k", or a callable (relevant, scores) -> float. With ``qid`` the
        mean over the queries of the held-out part.
    rule : {"best", "one-se"}, default="best"
        The candidate with the best mean, or the smallest C within one standard error of it.
    max_memory : float, default=1e9
        Bytes that the score buffers may take; problems advance in groups if all would need more.

    Attributes
    ----------
    C_ : float, or ndarray of shape (K,)
        The chosen C of each ranker.
    best_params_ : dict, or list of dicts for K > 1
    best_score_ : float, or ndarray for K > 1
        Mean over folds of the chosen candidate.
    cv_results_ : dict
        In scikit-learn's shape: ``params``, ``param_C``, ``split0_test_score``, …, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``; for K > 1 the scores are means over rankers.
    cv_scores_ : ndarray of shape (n_candidates, n_splits, K)
    coef_path_ : ndarray of shape (n_candidates, K, n_features)
        Coefficients on the full data for every candidate, in the order of ``cv_results_``.
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
        loss_grid: Mapping[str, Sequence[Any]] | None = None,
        fit_intercept: bool = True,
        scoring: Any = "average_precision",
        rule: str = "best",
        tol: float = 1e-3,
        max_iter: int = 1000,
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
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, qid: ArrayLike | None = None, groups: ArrayLike | None = None) -> RankSVMCV:
        """Train on the rows of X. qid: the query of each row; groups: for splitters that need them."""
        path = check_cv_parameters(self)
        settings = self._settings()
        get_score(self.scoring)
        X = check_X(self, X, reset=True)
        goal = targets(y, X.shape[0])
        codes = None if qid is None else query_codes(qid, X.shape[0])
        splits = self._splits(X, y, goal, codes, groups)
        design = make_design(X, n_threads=threads(self.n_jobs))
        board = _Board(
            len(settings), len(path), len(splits), goal, codes, design.n_columns, get_score(self.scoring)
        )
        with one_blas_thread():
            self._run(design, path, [loss for _, loss in settings], splits, board)
        self.classes_, self._kind = goal.classes, goal.kind
        self.n_splits_ = len(splits)
        self.n_passes_ = design.passes
        self._report(path, [params for params, _ in settings], board)
        return self

    def _settings(self) -> list[tuple[dict[str, Any], losses.Loss]]:
        """The losses to try, each with the parameters that make it."""
        grid = self.loss_grid or {}
        unknown = [name for name in grid if name not in TUNABLE]
        if unknown:
            raise InputError(
                f"loss_grid: came with {', '.join(unknown)}; it takes lists for {', '.join(TUNABLE)}"
            )
        fixed = {name: getattr(self, name) for name in TUNABLE}
        settings = []
        for params in ParameterGrid({name: list(values) for name, values in grid.items()}):
            chosen = {**fixed, **params}
            loss = linear_loss(
                chosen["loss"], chosen["oracle"], chosen["positive_weight"], self.fit_intercept
            )
            settings.append((params, loss))
        return settings

    def _splits(self, X: Any, y: Any, goal: Targets, codes: Any, groups: Any) -> list[Split]:
        cv = self.cv
        if codes is not None and isinstance(cv, int):
            cv, groups = QueryKFold(cv), codes
        elif codes is not None and groups is None:
            groups = codes
        labels = np.asarray(y).ravel() if goal.kind != "indicator" else goal.relevant.T.astype(int)
        splitter = check_cv(cv, labels, classifier=goal.kind != "indicator")
        try:
            return [
                (np.asarray(a), np.asarray(b))
                for a, b in splitter.split(np.empty((X.shape[0], 1)), labels, groups)
            ]
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"cv: {error}") from error

    def _run(
        self,
        design: Design,
        path: Sequence[float],
        settings: list[losses.Loss],
        splits: list[Split],
        board: _Board,
    ) -> None:
        keys: list[_Key] = []
        problems: list[Problem] = []
        masks = [_mask(train, design.n_rows) for train, _ in splits]
        for setting, loss in enumerate(settings):
            for fold in range(len(splits) + 1):  # the last one is the full data
                include, test = (masks[fold], splits[fold][1]) if fold < len(splits) else (None, None)
                for k in range(board.K):
                    lists = board.lists(fold, k, include)
                    risk = LinearRisk(
                        lists, loss.bind(lists), loss.sees, held_out=test, enough=enough(design)
                    )
                    keys.append(_Key(setting, fold, k, risk, loss.sees, test))
                    problems.append(Problem(risk, path))
        warn_skipped([board.lists(len(splits), k, None) for k in range(board.K)])
        callbacks = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(Progress(len(problems), self.tol))
        need = 8 * VECTORS * design.n_rows
        minimise_together(
            design,
            problems,
            tol=self.tol,
            max_iter=self.max_iter,
            at_once=max(1, int(self.max_memory // need)),
            callbacks=callbacks,
            solved=lambda i, place, solution, point: board.note(keys[i], place, solution, point),
        )

    def _report(self, path: Sequence[float], settings: list[dict[str, Any]], board: _Board) -> None:
        candidates = [{"C": C, **params} for params in settings for C in path]
        C = np.array([params["C"] for params in candidates])
        self.cv_scores_ = board.scores
        self.coef_path_ = board.coefs
        if np.all(np.isnan(board.scores)):
            raise InputError("cv: no held-out part has both a relevant and another row; use fewer folds")
        best = [choose(board.scores[:, :, k], C, self.rule) for k in range(board.K)]
        solutions = [board.solutions[candidate, k] for k, candidate in enumerate(best)]
        self._keep(solutions)
        shifts = [board.intercepts[candidate, k] for k, candidate in enumerate(best)]
        self.intercept_ = np.array(shifts) if self.fit_intercept else np.zeros(board.K)
        self.C_ = each([float(C[candidate]) for candidate in best])
        self.best_params_ = (
            candidates[best[0]] if board.K == 1 else [candidates[candidate] for candidate in best]
        )
        self.best_score_ = each([float(np.nanmean(board.scores[c, :, k])) for k, c in enumerate(best)])
        self.cv_results_ = _results(candidates, np.nanmean(board.scores, axis=2))
        warn_unfinished(solutions, self.tol)


class _Key(NamedTuple):
    """Which problem a solution belongs to."""

    setting: int
    fold: int
    k: int
    risk: LinearRisk
    sees: str
    test: NDArray[np.intp] | None


@dataclass
class _Board:
    """What comes out of the problems, by candidate (setting × C), fold and ranker."""

    n_settings: int
    n_path: int
    n_splits: int
    goal: Targets
    codes: Any
    n_columns: int
    score: Any
    solutions: dict[tuple[int, int], Solution] = field(default_factory=dict)
    intercepts: dict[tuple[int, int], float] = field(default_factory=dict)
    _lists: dict[tuple[int, int], Lists] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.K = len(self.goal.relevant)
        n_candidates = self.n_settings * self.n_path
        self.scores = np.full((n_candidates, self.n_splits, self.K), np.nan)
        self.coefs = np.full((n_candidates, self.K, self.n_columns), np.nan)

    def lists(self, fold: int, k: int, include: Any) -> Lists:
        """The training lists of a fold, shared by all losses."""
        if (fold, k) not in self._lists:
            try:
                self._lists[fold, k] = Lists.build(self.goal.relevant[k], self.codes, include)
            except InputError as error:
                raise InputError(f"cv: the training part of fold {fold} cannot be ranked: {error}") from error
        return self._lists[fold, k]

    def note(self, key: _Key, place: int, solution: Solution, point: Floats) -> None:
        candidate = key.setting * self.n_path + place
        if key.test is None:
            self.coefs[candidate, key.k] = solution.w
            self.solutions[candidate, key.k] = solution
            self.intercepts[candidate, key.k] = intercept(key.risk, key.sees, point)
            return
        relevant = self.goal.relevant[key.k][key.test]
        if usable(relevant):
            queries = None if self.codes is None else self.codes[key.test]
            self.scores[candidate, key.fold, key.k] = self.score(relevant, key.risk.held_out(point), queries)


def _mask(rows: NDArray[np.intp], n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _results(candidates: list[dict[str, Any]], scores: Floats) -> dict[str, Any]:
    """cv_results_ as scikit-learn's searches give it."""
    results: dict[str, Any] = {"params": candidates}
    for name in candidates[0]:
        results[f"param_{name}"] = np.ma.array([params[name] for params in candidates])
    for fold in range(scores.shape[1]):
        results[f"split{fold}_test_score"] = scores[:, fold]
    mean = np.nanmean(scores, axis=1)
    results["mean_test_score"] = mean
    results["std_test_score"] = np.nanstd(scores, axis=1)
    order = np.where(np.isnan(mean), -np.inf, mean)
    results["rank_test_score"] = np.array([1 + int(np.sum(order > value)) for value in order], dtype=np.int32)
    return results
