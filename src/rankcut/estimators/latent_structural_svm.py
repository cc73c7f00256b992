"""LatentStructuralSVM: structured outputs of which the training data does not show everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankcut.arguments import whole
from rankcut.data.problem import Samples
from rankcut.errors import InputError
from rankcut.estimators.base import threads, warn_unfinished
from rankcut.estimators.blas import one_blas_thread
from rankcut.estimators.checks import check_structural_parameters
from rankcut.estimators.structural_svm import Calls, StructuredPredictor
from rankcut.models import StructuralRisk
from rankcut.solvers import CccpSolution, Status, cccp

Floats = NDArray[np.float64]


class LatentStructuralSVM(StructuredPredictor):
    """Learns structured outputs with a part that the training data does not show.

    It minimises ``½‖w‖² + C·mean_i (max_y [loss(y_i, y) + w·ψ(x_i, y)] − max_h w·ψ(x_i, h))``, y over all complete
    outputs and h over the completions of y_i, by CCCP: the hidden parts are imputed, the convex problem with them
    as the truth is solved, and so on. The objective never rises.

    Parameters
    ----------
    problem : object
        With the methods of a ``StructuralSVM``'s problem and ``impute(w, x, y)``, the completion of the observed
        output y that maximises the score. ``joint_feature``, ``loss_augmented`` and ``predict`` speak of complete
        outputs; ``loss(y_true, y)`` compares an observed one with a complete one, and is 0 for its completions.
        An attribute ``n_features``, the length of ``joint_feature``, spares a search for it.
    C : float, default=1.0
        Weight of the risk, which is a mean over samples.
    n_init : int, default=1
        Starts; the fit with the lowest objective is kept. The first starts at `init`, the others at random.
    init : array of shape (d,), default=None
        Where to start; None means w = 0, where `impute` breaks the ties in its own way.
    tol : float, default=1e-3
        The fit ends at a point that no round improves by more than this share of the objective.
    max_iter : int, default=1000
        Most cuts for each start.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    n_jobs : int, default=1
        Threads that call the problem's methods; None means all cores. More than one asks that these can be called at
        the same time. The result is the same for any number.
    verbose : int, default=0
        Whether to write progress to standard error.
    random_state : int, default=None
        For the random starts.
    callbacks : iterable of callables, default=None
        Each is called with a ``rankcut.solvers.Event`` after every cut; a true answer stops the fit with the best w
        so far, as Ctrl-C does.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
        ``coef_[0]`` is w.
    latent_ : list
        The completion of each training output that w chooses.
    objective_path_ : list of list of float
        For each start the objective after each round; it never rises.
    objective_ : float
        Of the problem above, at w.
    dual_objective_, dual_gap_, status_
        Of the last round's convex problem: with the hidden parts that it froze, no w has an objective below
        ``dual_objective_``.
    n_iter_, n_passes_, history_
        As of ``StructuralSVM``; of the start that was kept, `n_passes_` of all together.
    """

    def __init__(
        self,
        problem: Any,
        C: float = 1.0,
        *,
        n_init: int = 1,
        init: ArrayLike | None = None,
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
        self.n_init = n_init
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Sequence[Any], y: Sequence[Any]) -> LatentStructuralSVM:
        """Train on the samples (X[i], y[i]); y[i] is whatever is known of the output."""
        check_structural_parameters(self)
        whole("n_init", self.n_init)
        samples = Samples(self.problem, X, y, latent=True)
        fits = []
        with one_blas_thread():
            for start in self._starts(samples.n_features):
                fits.append(self._fit_from(start, samples))
                if fits[-1][0].status is Status.INTERRUPTED:
                    break
        solution, history, _ = min(fits, key=lambda fit: fit[0].objective)
        self._keep(solution)
        self.history_ = history
        self.objective_path_ = [found.objective_path for found, _, _ in fits]
        self.n_passes_ = sum(passes for _, _, passes in fits)
        self.latent_ = samples.impute(solution.w)
        warn_unfinished([solution], self.tol)
        return self

    def _fit_from(self, start: Floats, samples: Samples) -> tuple[CccpSolution, list[Any], float]:
        frozen: list[StructuralRisk] = []

        def freeze(w: Floats) -> StructuralRisk:
            done = frozen[-1].n_calls if frozen else 0
            risk = StructuralRisk(samples, samples.impute(w), n_threads=threads(self.n_jobs), n_calls=done)
            frozen.append(risk)
            return risk

        calls = Calls(self, lambda: frozen[-1].passes)
        solution = cccp(freeze, self.C, start=start, tol=self.tol, max_iter=self.max_iter, callbacks=[calls])
        return solution, calls.history(solution.history), frozen[-1].passes

    def _starts(self, n_features: int) -> list[Floats]:
        first = self._last(n_features)
        if self.init is not None and not first.any():
            first = np.array(self.init, dtype=np.float64)
            if first.shape != (n_features,) or not np.all(np.isfinite(first)):
                raise InputError(
                    f"init: came with shape {first.shape}; pass {n_features} finite numbers, one per joint feature"
                )
        rng = np.random.default_rng(self.random_state)
        return [first, *rng.standard_normal((self.n_init - 1, n_features))]
