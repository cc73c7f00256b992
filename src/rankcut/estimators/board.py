"""What comes out of a search: solutions, scores and choices, by candidate (setting × C), fold and ranker."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankcut.data.labels import Targets
from rankcut.data.lists import Lists
from rankcut.errors import ConvergenceWarning, InputError, RankcutError
from rankcut.estimators.base import intercept
from rankcut.models import LinearRisk
from rankcut.selection.choice import choose, fold_mean
from rankcut.selection.scoring import Score, usable
from rankcut.solvers import Solution, Status

Floats = NDArray[np.float64]


class Key(NamedTuple):
    """Which problem a solution belongs to: a fold's, or that of the full data, which has no rows to test."""

    setting: int
    fold: int
    k: int
    risk: LinearRisk
    sees: str
    test: NDArray[np.intp] | None


class Board:
    def __init__(
        self,
        params: list[dict[str, Any]],
        path: list[float],
        n_splits: int,
        goal: Targets,
        codes: NDArray[np.int64] | None,
        n_columns: int,
        score: Score,
        error_score: Any,
    ) -> None:
        self.candidates = [{"C": C, **each} for each in params for C in path]
        self.C = np.array(path * len(params))
        self.setting = np.repeat(np.arange(len(params)), len(path))
        self.K, self.n_splits = len(goal.relevant), n_splits
        self._goal, self._codes, self._score, self._error_score = goal, codes, score, error_score
        n, K = len(self.candidates), self.K
        self.scores = np.full((n, n_splits, K), np.nan)
        self.coefs = np.full((n, K, n_columns), np.nan)
        self.solutions: dict[tuple[int, int], Solution] = {}
        self.intercepts: dict[tuple[int, int], float] = {}
        self.unfinished = np.zeros(n, dtype=np.int64)  # fits that ended above tol, folds and full data
        self._done = np.zeros((n, K, n_splits + 1), dtype=bool)  # not interrupted
        self._lists: dict[tuple[int, int], Lists] = {}
        self._n_measured = 0
        self._errors: list[str] = []

    def lists(self, fold: int, k: int, include: NDArray[np.bool_] | None) -> Lists:
        """The training lists of a fold, shared by all losses."""
        if (fold, k) not in self._lists:
            try:
                self._lists[fold, k] = Lists.build(self._goal.relevant[k], self._codes, include)
            except InputError as error:
                raise InputError(f"cv: the training part of fold {fold} cannot be ranked: {error}") from error
        return self._lists[fold, k]

    def note(self, key: Key, place: int, solution: Solution, point: Floats) -> None:
        candidate = int(np.flatnonzero(self.setting == key.setting)[place])
        self._done[candidate, key.k, key.fold] = solution.status is not Status.INTERRUPTED
        self.unfinished[candidate] += solution.status is not Status.CONVERGED
        if key.test is None:
            self.coefs[candidate, key.k] = solution.w
            self.solutions[candidate, key.k] = solution
            self.intercepts[candidate, key.k] = intercept(key.risk, key.sees, point)
            return
        relevant = self._goal.relevant[key.k][key.test]
        queries = None if self._codes is None else self._codes[key.test]
        if usable(relevant, queries):
            found = self._measure(candidate, key.fold, relevant, key.risk.held_out(point), queries)
            self.scores[candidate, key.fold, key.k] = found

    def _measure(self, candidate: int, fold: int, relevant: Any, scores: Floats, queries: Any) -> float:
        """As in scikit-learn's searches: a score that fails is raised, or replaced and told of at the end."""
        self._n_measured += 1
        try:
            return self._score(relevant, scores.copy(), queries)
        except Exception as error:
            if isinstance(self._error_score, str):  # "raise"
                raise
            self._errors.append(f"fold {fold}, {self.candidates[candidate]}: {type(error).__name__}: {error}")
            return float(self._error_score)

    def best(self, rule: str) -> list[int]:
        """The chosen candidate of each ranker: of those that were not interrupted, if there are any."""
        n = len(self.candidates)
        if self._errors:
            told = f"{len(self._errors)} of {self._n_measured} scores failed. The first, at {self._errors[0]}"
            if len(self._errors) == self._n_measured:
                raise InputError(f"scoring: {told}")
            warnings.warn(
                f"scoring: {told}. error_score={self._error_score!r} stands for them; "
                "error_score='raise' shows where it happens.",
                UserWarning,
                stacklevel=4,
            )
        complete: NDArray[np.bool_] = np.all(self._done, axis=2)
        if complete.all() and np.isnan(self.scores).all():
            raise InputError("cv: no held-out part has both a relevant and another row; use fewer folds")
        chosen = []
        for k in range(self.K):
            eligible = np.flatnonzero(complete[:, k])
            if len(eligible) == 0:
                eligible = np.array([c for c in range(n) if (c, k) in self.solutions], dtype=np.intp)
            if len(eligible) == 0:
                raise RankcutError("The fit was interrupted before every ranker had a model.")
            pick = choose(self.scores[eligible, :, k], self.C[eligible], self.setting[eligible], rule)
            chosen.append(int(eligible[pick]))
        if not complete.all():
            warnings.warn(
                f"The search was interrupted: {int(np.sum(np.all(complete, axis=1)))} of {n} candidates were fitted on "
                "all folds; the choice is among these, or among what there is if there are none.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return chosen

    def results(self) -> dict[str, Any]:
        """cv_results_ as scikit-learn's searches give it; scores are means over rankers."""
        results: dict[str, Any] = {"params": self.candidates}
        for name in dict.fromkeys(name for params in self.candidates for name in params):
            missing = [name not in params for params in self.candidates]
            values = [params.get(name) for params in self.candidates]
            results[f"param_{name}"] = np.ma.array(values, mask=missing if any(missing) else False)
        scores = fold_mean(self.scores, axis=2)
        for fold in range(self.n_splits):
            results[f"split{fold}_test_score"] = scores[:, fold]
        mean = fold_mean(scores)
        results["mean_test_score"] = mean
        results["std_test_score"] = np.sqrt(fold_mean((scores - mean[:, None]) ** 2))
        order = np.where(np.isnan(mean), -np.inf, mean)
        ranks = [1 + int(np.sum(order > value)) for value in order]
        results["rank_test_score"] = np.array(ranks, dtype=np.int32)
        results["n_unfinished"] = self.unfinished
        return results
