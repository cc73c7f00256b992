"""Where the outer loop starts: which instance each positive is scored by at first, or which w."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rankcut import losses
from rankcut.data.bags import mean_instances
from rankcut.data.lists import Lists
from rankcut.designs import Design, make_design
from rankcut.errors import InputError
from rankcut.models import LinearRisk
from rankcut.solvers import Problem, Status, minimise_together

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


class Start(NamedTuple):
    """The row of each bag's first instance (for positives at w = 0), and w if it is not 0."""

    first: Index
    w: Floats | None = None


def starts(
    estimator: Any,
    X: Any,
    design: Design,
    offsets: Index,
    lists: list[Lists],
    loss: losses.Loss,
    *,
    latent: bool,
) -> tuple[list[list[Start]], bool]:
    """The starts of each ranker, one if nothing is latent, as all would end the same; and whether an interrupt came
    while they were found, so that nothing but them is wanted."""
    K, first = len(lists), offsets[:-1]
    last = getattr(estimator, "coef_", None) if estimator.warm_start else None
    if last is not None and last.shape == (K, design.n_columns):
        return [[Start(first, w)] for w in last], False
    if not latent:
        return [[Start(first)]] * K, False
    init = estimator.init
    if isinstance(init, str) and init == "mean":
        means, stopped = mean_rankers(estimator, X, offsets, lists, loss, design.n_threads)
        return [[Start(first, w)] for w in means], stopped
    if isinstance(init, str) and init == "random":
        generator = _generator(estimator.random_state)
        sizes = np.diff(offsets)
        return [
            [Start(first + generator.randint(0, sizes)) for _ in range(estimator.n_init)] for _ in range(K)
        ], False
    return _given(init, offsets, K, design.n_columns), False


def _given(init: Any, offsets: Index, K: int, d: int) -> list[list[Start]]:
    """Whole numbers choose instances, others are coefficients; each row of a matrix is a start."""
    array, n = np.asarray(init), len(offsets) - 1
    if array.dtype.kind in "iu" and array.ndim in (1, 2) and array.shape[-1] == n:
        sizes = np.diff(offsets)
        if np.any((array < 0) | (array >= sizes)):
            raise InputError("init: came with an instance that its bag does not have; pass numbers from 0 up")
        return [[Start(offsets[:-1] + row) for row in np.atleast_2d(array)]] * K
    if array.dtype.kind == "f" and array.ndim in (1, 2) and array.shape[-1] == d and np.isfinite(array).all():
        rows = np.atleast_2d(array).astype(np.float64)
        if K > 1 and len(rows) == K:
            return [[Start(offsets[:-1], w)] for w in rows]
        return [[Start(offsets[:-1], w) for w in rows]] * K
    raise InputError(
        f"init: came as {init!r}; pass 'random', 'mean', an instance number for each of {n} bags (integers), or {d} "
        "coefficients (floats); a row for each start"
    )


def _generator(seed: Any) -> Any:
    try:
        return check_random_state(seed)
    except ValueError as error:
        raise InputError(
            f"random_state: came as {seed!r}; pass a whole number, a numpy RandomState, or None"
        ) from error


def mean_rankers(
    estimator: Any, X: Any, offsets: Index, lists: list[Lists], loss: losses.Loss, n_threads: int
) -> tuple[list[Floats], bool]:
    """Rankers of the bags' mean instances, and whether an interrupt has ended their training."""
    problems = [Problem(LinearRisk(part, loss.bind(part), loss.sees), [estimator.C]) for part in lists]
    shared = make_design(mean_instances(X, offsets), n_threads=n_threads)
    solved = minimise_together(shared, problems, tol=estimator.tol, max_iter=estimator.max_iter)
    return [path[0].w for path in solved], any(path[0].status is Status.INTERRUPTED for path in solved)
