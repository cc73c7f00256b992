"""A user's own structured problem and its samples: every answer of the user's object is checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankcut.arguments import whole
from rankcut.errors import InputError

Floats = NDArray[np.float64]

METHODS = {
    "joint_feature": "joint_feature(x, y): the vector ψ(x, y)",
    "loss": "loss(y_true, y): how wrong y is, 0 for the truth",
    "loss_augmented": "loss_augmented(w, x, y_true): the y that maximises loss(y_true, y) + w·ψ(x, y)",
    "predict": "predict(w, x): the y that maximises w·ψ(x, y)",
    "impute": "impute(w, x, y): the completion of y that maximises w·ψ(x, y)",
}
ROUNDING = 1e-9  # relative, to which the user's own arithmetic is trusted
LONGEST_TRIED = 10_000  # of w, where nothing else tells the number of features


class StructuredProblem(Protocol):
    """What the user provides; x and y are whatever these methods understand."""

    def joint_feature(self, x: Any, y: Any, /) -> Any: ...
    def loss(self, y_true: Any, y: Any, /) -> float: ...
    def loss_augmented(self, w: Floats, x: Any, y_true: Any, /) -> Any: ...
    def predict(self, w: Floats, x: Any, /) -> Any: ...


class LatentProblem(StructuredProblem, Protocol):
    """Outputs with a part that the training data does not show: `joint_feature`, `loss_augmented` and
    `predict` speak of complete outputs, `loss` compares an observed one with a complete one."""

    def impute(self, w: Floats, x: Any, y: Any, /) -> Any: ...


class Samples:
    """The problem with its training samples (x_i, y_i)."""

    def __init__(self, problem: Any, X: Sequence[Any], y: Sequence[Any], *, latent: bool = False) -> None:
        check_methods(problem, latent=latent)
        self._problem = problem
        self.X = check_sequences("X", X)
        self.y = check_sequences("y", y, len(X))
        self.n_features = self._find_n_features() if latent else len(self._vector(0, self.y[0]))
        if not latent:
            for i in range(len(self)):
                self._check_truth(i, self.y[i], "the truth")

    def __len__(self) -> int:
        return len(self.X)

    def violated(self, i: int, w: Floats, truth: Any) -> tuple[float, Floats]:
        """The most violated output ŷ of sample i as (loss, ψ(x, ŷ) − ψ(x, truth)): its structured hinge is
        loss + w·difference, and never below 0, which is what the truth itself attains."""
        found = self._problem.loss_augmented(_guarded(w), self.X[i], self.y[i])
        loss = self._loss(i, found)
        wrong, right = self._vector(i, found), self._vector(i, truth)
        hinge = loss + float(w @ (wrong - right))
        if hinge < -ROUNDING * (loss + float(np.abs(w) @ (np.abs(wrong) + np.abs(right)))):
            raise InputError(
                f"problem: loss_augmented returned for sample {i} an output whose loss plus score is {-hinge:.3g} "
                "below that of the truth; it must return the y that maximises loss(y_true, y) + w·joint_feature(x, y)"
            )
        return loss, wrong - right

    def impute(self, w: Floats) -> list[Any]:
        """The best completion of every observed output."""
        return [self._impute(i, w) for i in range(len(self))]

    def _impute(self, i: int, w: Floats) -> Any:
        complete = self._problem.impute(_guarded(w), self.X[i], self.y[i])
        self._check_truth(i, complete, "what impute returned")
        return complete

    def _find_n_features(self) -> int:
        """The length of joint_feature. It takes complete outputs, which take a w to impute: without an attribute
        n_features, and if the observed output will not do, lengths are tried until one is accepted."""
        declared = getattr(self._problem, "n_features", None)
        if declared is not None:
            whole("problem.n_features", declared)
            return int(declared)
        x, y = self.X[0], self.y[0]
        try:
            return len(self._vector(0, y))
        except Exception:  # whatever it is that an incomplete output does to the user's code
            for length in range(1, LONGEST_TRIED + 1):
                try:
                    complete = self._problem.impute(np.zeros(length), x, y)
                except Exception as error:
                    refusal = error
                else:
                    return len(self._vector(0, complete))
        raise InputError(
            f"problem: impute failed for sample 0 and w = 0 of every length up to {LONGEST_TRIED} ({refusal}); "
            "if it is right, add an attribute n_features, the length of joint_feature(x, y)"
        ) from refusal

    def _vector(self, i: int, y: Any) -> Floats:
        came = self._problem.joint_feature(self.X[i], y)
        try:
            vector = np.asarray(came, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"problem: joint_feature returned {type(came).__name__} for sample {i}; return a vector of numbers"
            ) from None
        wanted = getattr(self, "n_features", None)
        if vector.ndim != 1 or (wanted is not None and len(vector) != wanted):
            length = "one-dimensional" if wanted is None else f"of length {wanted}, as for the first sample"
            raise InputError(
                f"problem: joint_feature returned shape {vector.shape} for sample {i}; it must be {length}"
            )
        if not np.all(np.isfinite(vector)):
            raise InputError(
                f"problem: joint_feature returned NaN or infinity for sample {i}; check its features"
            )
        return vector

    def _loss(self, i: int, y: Any) -> float:
        loss = self._problem.loss(self.y[i], y)
        number = isinstance(loss, Real) or (isinstance(loss, np.ndarray) and loss.ndim == 0)
        if not number or not np.isfinite(loss) or loss < 0:
            raise InputError(
                f"problem: loss returned {loss!r} for sample {i}; return a finite number that is not negative"
            )
        return float(loss)

    def _check_truth(self, i: int, truth: Any, name: str) -> None:
        loss = self._loss(i, truth)
        if loss != 0:
            raise InputError(
                f"problem: loss returned {loss:.6g} for sample {i} and {name}; it must be 0 there, "
                "or the hinge is no bound of the loss"
            )


def check_methods(problem: Any, *, latent: bool) -> None:
    wanted = [name for name in METHODS if latent or name != "impute"]
    missing = [name for name in wanted if not callable(getattr(problem, name, None))]
    if missing:
        raise InputError(
            f"problem: came as {type(problem).__name__} without {', '.join(missing)}; add "
            + "; ".join(METHODS[name] for name in missing)
        )


def check_sequences(name: str, values: Any, length: int | None = None) -> list[Any]:
    """Something with an entry per sample: as many as `length` says, if it does."""
    if (
        isinstance(values, str | bytes | Mapping)
        or hasattr(values, "columns")  # a frame is a sequence of columns
        or not hasattr(values, "__len__")
        or not hasattr(values, "__getitem__")
    ):
        raise InputError(f"{name}: came as {type(values).__name__}; pass a list with an entry per sample")
    if len(values) == 0:
        raise InputError(f"{name}: came without samples; pass at least one")
    if length is not None and len(values) != length:
        raise InputError(f"{name}: came with {len(values)} entries for {length} samples; pass one per sample")
    return list(values)


def _guarded(w: Floats) -> Floats:
    """The user's code must not change the solver's point."""
    view = w.view()
    view.flags.writeable = False
    return view
