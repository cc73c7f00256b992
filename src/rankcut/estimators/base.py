"""What all linear rankers share: scores, labels and rankings, intercepts, and honest warnings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rankcut.arguments import threads as threads
from rankcut.data.arrays import check_X
from rankcut.data.compact import Compact
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.errors import ConvergenceWarning
from rankcut.estimators.intercept import balanced_intercept
from rankcut.models import BagRisk, LinearRisk, ScoreRisk
from rankcut.solvers import Problem, Solution, Status, minimise_together
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]


class LinearModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A fitted linear scorer. Subclasses fit `coef_` and `intercept_`."""

    coef_: Floats
    intercept_: Floats
    n_jobs: int | None

    def decision_function(self, X: Any) -> Floats:
        """Scores X @ coef_.T + intercept_; higher means more relevant."""
        check_is_fitted(self)
        X = check_X(self, X, reset=False)
        scores = make_design(X, n_threads=threads(self.n_jobs)).scores(self.coef_).T + self.intercept_
        return scores.ravel() if len(self.coef_) == 1 else scores

    def rank(self, X: Any) -> NDArray[np.intp]:
        """Row numbers, best first; of shape (n, K) with a column per ranker for K > 1."""
        return np.argsort(-self.decision_function(X), axis=0, kind="stable")

    def _keep(self, solutions: list[Solution]) -> None:
        """The certificate: scalars for one problem, one entry per problem for several."""
        self.coef_ = np.stack([s.w for s in solutions])
        self.objective_ = each([s.objective for s in solutions])
        self.dual_objective_ = each([s.dual_objective for s in solutions])
        self.dual_gap_ = each([s.gap for s in solutions])
        self.status_ = solutions[0].status if len(solutions) == 1 else [s.status for s in solutions]
        self.n_iter_ = each([s.n_iter for s in solutions])
        self.history_ = solutions[0].history if len(solutions) == 1 else [s.history for s in solutions]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearRanker(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """A fitted linear ranker of classes. Subclasses also fit `classes_` and `_kind` of targets."""

    classes_: NDArray[Any]
    _kind: str

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by the sign of the score; for more than two classes the one with the highest."""
        scores = self.decision_function(X)
        if self._kind == "indicator":
            return (scores.reshape(len(scores), -1) > 0).astype(int)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[index]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def starts(estimator: Any, n_problems: int, design: Design) -> list[Floats | None]:
    """The last fit's coefficients for a warm start, if they fit."""
    last = getattr(estimator, "coef_", None) if estimator.warm_start else None
    if last is None or last.shape != (n_problems, design.n_columns):
        return [None] * n_problems
    return list(last)


def solve(
    estimator: Any, design: Design, problems: list[Problem], *, stop: bool = False
) -> list[tuple[Solution, Floats]]:
    """Each problem's solution, and its prepared scores; `stop`: only those of the start."""
    callbacks = [lambda _event: True] if stop else list(estimator.callbacks or ())
    if estimator.verbose:
        callbacks.append(Progress(len(problems), estimator.tol))
    scores: dict[int, Floats] = {}
    solutions = minimise_together(
        design,
        problems,
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        callbacks=callbacks,
        solved=lambda problem, _place, _solution, point: scores.update({problem: point}),
    )
    return [(path[0], scores[k]) for k, path in enumerate(solutions)]


def intercept(risk: LinearRisk | BagRisk | ScoreRisk, sees: str, point: Floats) -> float:
    """The loss's own choice if it sees the intercept, else the threshold of the smallest balanced error."""
    return risk.intercept(point) if sees == "shifted scores" else balanced_intercept(*risk.all_scores(point))


def enough(design: Design) -> int:
    """Samples of a class that are enough to estimate a Hessian from."""
    return max(4096, 64 * design.n_columns)


def each(values: list[Any]) -> Any:
    """A scalar for one problem, an array for several."""
    return values[0] if len(values) == 1 else np.array(values)


def warn_unfinished(solutions: list[Solution], tol: float) -> None:
    unfinished = [s for s in solutions if s.status is not Status.CONVERGED]
    if not unfinished:
        return
    which = "" if len(solutions) == 1 else f" for {len(unfinished)} of {len(solutions)} problems"
    warnings.warn(
        f"The fit ended with a relative duality gap of {max(s.gap for s in unfinished):.3g}{which}, tol={tol:g}; "
        f"{unfinished[0].status}.",
        ConvergenceWarning,
        stacklevel=3,
    )


def warn_skipped(lists: Sequence[Compact]) -> None:
    skipped = max(part.n_skipped for part in lists)
    if skipped:
        total = skipped + min(part.n_lists for part in lists)
        lack = (
            "no relevant row or no other row"
            if isinstance(lists[0], Lists)
            else "no preference among their rows"
        )
        warnings.warn(
            f"qid: {skipped} of {total} lists have {lack} and are left out of the mean; n_skipped_lists_ counts them.",
            UserWarning,
            stacklevel=3,
        )
