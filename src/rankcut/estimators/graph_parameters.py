"""Parameters of GraphRankSVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import losses
from rankcut.arguments import positive, whole
from rankcut.errors import InputError
from rankcut.estimators.checks import check_solver

Floats = NDArray[np.float64]
LABELLING = "labelling"
INITS = (LABELLING, "zeros")


def check_graph_parameters(estimator: Any) -> None:
    positive("C", estimator.C)
    positive("eta", estimator.eta)
    positive("max_memory", estimator.max_memory)
    whole("max_rounds", estimator.max_rounds)
    check_solver(estimator)
    if estimator.loss != LABELLING:
        try:
            losses.get(estimator.loss)
        except InputError as error:
            raise InputError(f"{error}, or {LABELLING!r}") from error
    if estimator.positive_weight is not None:
        if estimator.loss not in (LABELLING, "hinge"):
            raise InputError(
                f"positive_weight: came with loss={estimator.loss!r}; it only weighs in loss='labelling' and 'hinge'"
            )
        positive("positive_weight", estimator.positive_weight)
    if isinstance(estimator.init, str) and estimator.init not in INITS:
        raise InputError(
            f"init: came as {estimator.init!r}; pass one of {', '.join(map(repr, INITS))}, or coefficients"
        )


def given_start(estimator: Any, n_rankers: int, d: int, q: int) -> list[Floats] | None:
    """The coefficients to start from, if there are any: the last fit's, or those of `init`."""
    coef, edge_coef = (getattr(estimator, name, None) for name in ("coef_", "edge_coef_"))
    if estimator.warm_start and coef is not None and edge_coef is not None:
        last = np.hstack((coef, edge_coef))
        if coef.shape == (n_rankers, d) and last.shape == (n_rankers, d + q):
            return list(last)
    if isinstance(estimator.init, str):
        return None
    try:
        given = np.array(estimator.init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"init: came as something that is not numbers ({error})") from error
    if given.ndim == 1 and n_rankers == 1:
        given = given[None]
    if given.shape != (n_rankers, d + q):
        raise InputError(
            f"init: came with shape {given.shape}; pass {n_rankers} rows of {d} coefficients and {q} of the edges"
        )
    if not np.isfinite(given).all():
        raise InputError("init: came with NaN or infinity; every coefficient has to be finite")
    if (given[:, d:] > 0).any():
        raise InputError(
            "init: came with positive coefficients of edges; they would make samples repel each other, which is beyond "
            "the exact method: pass values of 0 or less"
        )
    return list(given)
