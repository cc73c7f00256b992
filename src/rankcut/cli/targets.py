"""Which rows are relevant: the labels as they are, one of them, or those from a grade on."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from rankcut.errors import InputError


@dataclasses.dataclass(frozen=True)
class TargetOptions:
    """Rules that make two labels of many."""

    relevant: Annotated[
        str | None, typer.Option(metavar="LABEL", help="rows with this label are relevant")
    ] = None
    relevant_from: Annotated[
        float | None, typer.Option(metavar="GRADE", help="rows with this grade or a higher one are relevant")
    ] = None

    def rule(self) -> dict[str, Any]:
        """For a model file's notes."""
        if self.relevant is not None and self.relevant_from is not None:
            raise InputError("relevant: came together with relevant-from; pass one of them")
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}

    def labels(self, y: NDArray[Any] | None, source: str) -> NDArray[Any]:
        """The labels to train or measure with."""
        if y is None:
            raise InputError(f"label: {source} has no labels; name their column with --label")
        return apply(self.rule(), y)


def apply(rule: dict[str, Any], y: NDArray[Any]) -> NDArray[Any]:
    """Two labels, True for the relevant rows, if there is a rule."""
    if "relevant_from" in rule:
        if y.dtype.kind not in "biuf":
            raise InputError("relevant-from: the labels are no numbers; pass --relevant LABEL")
        return np.asarray(y >= rule["relevant_from"])
    if "relevant" in rule:
        chosen = np.asarray(y.astype(str) == rule["relevant"])
        if not chosen.any():
            found = ", ".join(map(str, np.unique(y)[:10].tolist()))
            raise InputError(f"relevant: no row has the label {rule['relevant']!r}; there are {found}")
        return chosen
    return y
