"""What a study is to do: everything that its numbers depend on, so that two plans can be compared."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from rankcut.arguments import whole
from rankcut.errors import InputError
from rankcut.selection.scoring import get_score
from rankcut.studies.methods import Method, parse

BLOCK = 2**20


class Cell(NamedTuple):
    """One number of the study: a method on a fold of a class."""

    method: str
    label: str  # the class that is relevant
    repeat: int
    fold: int


@dataclass(frozen=True)
class Plan:
    """Methods on data: in each of `repeats` × `folds` splits, parameters are chosen by `inner` folds of the training
    part, and the fit on the whole training part is scored once on the test part."""

    data: str
    methods: tuple[str, ...]  # specifications, see rankcut.studies.methods
    classes: tuple[str, ...] = ()  # the labels to make relevant in turn; none: all, or the larger of two
    folds: int = 5
    inner: int = 3
    repeats: int = 1
    scoring: str = "average_precision"
    scale: bool = True
    seed: int = 0
    reading: Mapping[str, Any] = field(default_factory=dict)  # options of rankcut.io.read

    def __post_init__(self) -> None:
        for name in ("folds", "inner", "repeats"):
            whole(name, getattr(self, name))
        for name in ("folds", "inner"):
            if getattr(self, name) < 2:
                raise InputError(f"{name}: came as {getattr(self, name)}; take at least 2")
        if not self.methods:
            raise InputError("methods: came empty; name at least one, as ranksvm")
        get_score(self.scoring)
        labels = [method.label for method in self.parsed]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise InputError(f"methods: {twice[0]!r} comes twice; give one another name, as in NAME=ranksvm")

    @property
    def parsed(self) -> tuple[Method, ...]:
        return tuple(map(parse, self.methods))

    def document(self, labels: tuple[str, ...]) -> dict[str, Any]:
        """All that the numbers depend on, as JSON has it: the data by content, not by name."""
        files = [self.data, *(str(self.reading[key]) for key in ("edges",) if self.reading.get(key))]
        return {
            "content": [digest(path) for path in files],
            "reading": {
                key: value for key, value in self.reading.items() if key != "edges" and value is not None
            },
            "methods": [method.document() for method in self.parsed],
            "classes": list(labels),
            "folds": self.folds,
            "inner": self.inner,
            "repeats": self.repeats,
            "scoring": self.scoring,
            "scale": self.scale,
            "seed": self.seed,
        }

    def cells(self, labels: tuple[str, ...]) -> Iterator[Cell]:
        """In an order that gives every method something early."""
        methods = [method.label for method in self.parsed]
        for repeat, fold, label, method in product(range(self.repeats), range(self.folds), labels, methods):
            yield Cell(method, label, repeat, fold)


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's content."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
    except OSError as error:
        raise InputError(f"data: {error.strerror or error}: {path}") from error
    return found.hexdigest()


def differences(kept: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Names of what two documents differ in."""
    return [key for key in {**kept, **asked} if _text(kept.get(key)) != _text(asked.get(key))]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
