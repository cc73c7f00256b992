"""StructuralSVM: outputs of any kind, given by the user's own joint features, loss and inference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankcut.data.problem import Samples, check_sequences
from rankcut.errors import InputError
from rankcut.estimators.base import threads, warn_unfinished
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_structural_parameters
from rankcut.models import StructuralRisk
from rankcut.solvers import Event, Record, Solution, Status, minimise, minimise_parts
from rankcut.solvers.progress import Progress

Floats = NDArray[np.float64]
FORMULATIONS = ("one-slack", "n-slack")


class StructuredPredictor(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A fitted w and the user's problem: what the structural estimators share."""

    problem: Any
    coef_: Floats
    tol: float
    warm_start: bool
    verbose: int
    callbacks: Iterable[Any] | None

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The output that `problem.predict` finds for each sample; a complete one for latent problems."""
        check_is_fitted(self)
        check_sequences("X", X)
        return [self.problem.predict(self.coef_[0].copy(), x) for x in X]

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """Minus the mean loss of the predictions, so that higher is better."""
        predicted = self.predict(X)
        check_sequences("y", y, len(X))
        return -float(np.mean([self.problem.loss(t, p) for t, p in zip(y, predicted, strict=True)]))

    def _keep(self, solution: Solution) -> None:
        self.coef_ = solution.w[None].copy()
        self.objective_, self.dual_objective_ = solution.objective, solution.dual_objective
        self.dual_gap_, self.status_ = solution.gap, solution.status
        self.n_iter_, self.history_ = solution.n_iter, solution.history

    def _last(self, n_features: int) -> Floats:
        """Where to start: the last fit's w if warm_start asks for it and it fits, else 0."""
        last = getattr(self, "coef_", None) if self.warm_start else None
        return last[0] if last is not None and last.shape[1] == n_features else np.zeros(n_features)


class Calls:
    """Turns the solvers' plain callbacks into those of estimators, and notes the passes made by each record."""

    def __init__(self, estimator: Any, passes: Callable[[], float]) -> None:
        self._targets = list(estimator.callbacks or ())
        if estimator.verbose:
            self._targets.append(Progress(1, estimator.tol))
        self._made = passes
        self.passes: list[float] = []

    def __call__(self, _number: int, record: Record, w: Floats) -> bool:
        self.passes.append(self._made())
        event = Event(0, len(self.passes), record._replace(forward_passes=self.passes[-1]), w)
        return any([target(event) for target in self._targets])

    def history(self, records: list[Record]) -> list[Record]:
        """The records with their passes; a last one, made after the last call, has all of them."""
        passes = [*self.passes, *[self._made()] * (len(records) - len(self.passes))]
        return [r._replace(forward_passes=p) for r, p in zip(records, passes, strict=True)]


class StructuralSVM(StructuredPredictor):
    """Learns to predict outputs of any kind: trees, sequences, rankings, labels.

    It minimises ``½‖w‖² + C·mean_i (max_y [loss(y_i, y) + w·ψ(x_i, y)] − w·ψ(x_i, y_i))`` to a duality gap that is
    reported. The user's object says what outputs are.

    Parameters
    ----------
    problem : object
        With the methods ``joint_feature(x, y)`` (the vector ψ), ``loss(y_true, y)`` (not negative, 0 for the truth),
        ``loss_augmented(w, x, y_true)`` (the y that maximises loss plus score, exactly) and ``predict(w, x)`` (the y
        that maximises the score). x and y are whatever these understand. Their answers are checked.
    C : float, default=1.0
        Weight of the risk, which is a mean over samples.
    formulation : {"one-slack", "n-slack"}, default="one-slack"
        The same problem in two ways. "one-slack" makes one cut of the mean risk from a pass over the samples, and
        searches lines. "n-slack" is the published method with a slack and a set of cuts for each sample: it needs
        fewer inferences where the samples are few, and memory for at least a joint feature each.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=1000
        Most cuts of the one-slack formulation, or passes of the other.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    n_jobs : int, default=1
        Threads that call the problem's methods in the one-slack formulation; None means all cores. More than one
        asks that these can be called at the same time. The result is the same for any number.
    verbose : int, default=0
        Whether to write progress to standard error.
    random_state : int, default=None
        Unused: the solvers are deterministic. For a signature that is the same for all estimators.
    callbacks : iterable of callables, default=None
        Each is called with a ``rankcut.solvers.Event`` after every iteration; a true answer stops the fit with the
        best w so far, as Ctrl-C does.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
        ``coef_[0]`` is w.
    objective_, dual_objective_, dual_gap_, status_
        The certificate: no w has an objective below ``dual_objective_``; the gap is relative. It stands on the
        problem's `loss_augmented` being exact.
    n_iter_ : int
        Cuts, or passes of the n-slack formulation.
    n_passes_ : float
        Loss-augmented inferences per sample.
    history_ : list of Record
        One record per iteration; its `forward_passes` are those inferences.

    Examples
    --------
    See docs/structural.md for multiclass classification and sequence labelling.
    """

    def __init__(
        self,
        problem: Any,
        C: float = 1.0,
        *,
        formulation: str = "one-slack",
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_jobs: int | None = 1,
        verbose: int = 0,
        random_state: int | None = None,
        callbacks: Iterable[Any] | None = None,
    ) -> None:
        self.problem = problem
        self.C = C
        self.formulation = formulation
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> StructuralSVM:
        """Train on the samples (X[i], y[i])."""
        check_structural_parameters(self)
        if self.formulation not in FORMULATIONS:
            raise InputError(
                f"formulation: came as {self.formulation!r}; pass one of {', '.join(FORMULATIONS)}"
            )
        samples = Samples(self.problem, X, y)
        risk = StructuralRisk(samples, samples.y, n_threads=threads(self.n_jobs))
        calls = Calls(self, lambda: risk.passes)
        solver = minimise if self.formulation == "one-slack" else minimise_parts
        with one_blas_thread():
            solution = solver(
                risk,
                self.C,
                start=self._last(samples.n_features),
                tol=self.tol,
                max_iter=self.max_iter,
                callbacks=[calls],
            )
        self._keep(solution)
        self.history_ = calls.history(solution.history)
        self.n_passes_ = risk.passes
        if solution.status is not Status.CONVERGED:
            warn_unfinished([solution], self.tol)
        return self
