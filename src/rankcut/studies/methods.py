"""Methods by name, or by the import path of any scikit-learn estimator, with the values to choose from.

    [LABEL=]NAME[:PARAMETER=VALUE[|VALUE…][,PARAMETER=…]]

as in `ranksvm`, `AUC-SVM=ranksvm:loss=auc,C=1|10|100` and `sklearn.linear_model.LogisticRegression:C=0.1|1`. A
parameter with several values is chosen by the inner folds, one with a single value is set.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.model_selection import ParameterGrid

from rankcut.errors import InputError

RISK = (0.1, 1.0, 10.0, 100.0, 1000.0)  # C of a mean over samples
SUM = (0.001, 0.01, 0.1, 1.0, 10.0)  # C of a sum


@dataclass(frozen=True)
class Kind:
    """A known method: where it is, what it is trained on, and what is set or tried unless the user says otherwise."""

    path: str
    takes: str  # "rows", "bags" or "graph"
    fixed: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]
    package: str = "rankcut"  # to install, if it is missing


KINDS: dict[str, Kind] = {
    "ranksvm": Kind("rankcut.RankSVM", "rows", {}, {"C": RISK}),
    "bagranksvm": Kind("rankcut.BagRankSVM", "bags", {}, {"C": RISK}),
    "latentap": Kind("rankcut.LatentAPBaseline", "bags", {}, {"C": RISK}),
    "graphranksvm": Kind("rankcut.GraphRankSVM", "graph", {}, {"C": RISK}),
    "linearsvc": Kind("sklearn.svm.LinearSVC", "rows", {}, {"C": SUM}, "scikit-learn"),
    "logistic": Kind(
        "sklearn.linear_model.LogisticRegression", "rows", {"max_iter": 1000}, {"C": SUM}, "scikit-learn"
    ),
    "lightgbm": Kind(
        "lightgbm.LGBMClassifier",
        "rows",
        {"deterministic": True, "force_row_wise": True, "verbose": -1},
        {"num_leaves": (7, 31)},
        "lightgbm",
    ),
    "xgboost": Kind("xgboost.XGBClassifier", "rows", {}, {"max_depth": (3, 6)}, "xgboost"),
}


def known() -> tuple[str, ...]:
    """The names of methods that need no import path."""
    return tuple(KINDS)


@dataclass(frozen=True)
class Method:
    """A way to make rankers, and the candidates to choose from."""

    label: str
    path: str
    takes: str
    fixed: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]
    package: str

    @property
    def candidates(self) -> list[dict[str, Any]]:
        return [
            dict(each) for each in ParameterGrid({name: list(values) for name, values in self.grid.items()})
        ]

    def make(self, params: Mapping[str, Any], seed: int) -> Any:
        """An estimator; its random_state is the study's seed, if it has one."""
        cls = self.load()
        options = {**self.fixed, **params}
        if "random_state" not in options and "random_state" in _parameters(cls):
            options["random_state"] = seed
        try:
            return cls(**options)
        except TypeError as error:
            raise InputError(f"method: {self.label} cannot be made: {error}") from error

    def load(self) -> Callable[..., Any]:
        """The class; an error that says what to install if it is missing."""
        module, _, name = self.path.rpartition(".")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise InputError(
                f"method: {self.label} needs {self.path} ({error}); install it with pip install {self.package}"
            ) from error
        except AttributeError as error:
            raise InputError(
                f"method: there is no {name!r} in {module}; name a class as package.module.Class"
            ) from error
        return found

    def check(self) -> None:
        """That it exists and has the parameters that are asked of it."""
        cls = self.load()
        takes = _parameters(cls)
        for name in (*self.fixed, *self.grid):
            if takes and name not in takes and "kwargs" not in takes:
                raise InputError(
                    f"method: {self.label} has no parameter {name!r}; it has {', '.join(sorted(takes))}"
                )
        if not hasattr(cls, "fit") or not (
            hasattr(cls, "decision_function") or hasattr(cls, "predict_proba")
        ):
            raise InputError(f"method: {self.path} gives no scores; name an estimator with decision_function")

    def document(self) -> dict[str, Any]:
        """What identifies it, as JSON has it."""
        grid = {name: list(values) for name, values in self.grid.items()}
        return {
            "label": self.label,
            "path": self.path,
            "takes": self.takes,
            "fixed": dict(self.fixed),
            "grid": grid,
        }


def parse(text: str) -> Method:
    """The method that a specification names."""
    head, _, tail = text.partition(":")
    label, equals, name = head.partition("=")
    if not equals:
        name, label = label, text
    if not name.strip() or not label.strip():
        raise InputError(f"method: came as {text!r}; write NAME or LABEL=NAME:PARAMETER=VALUE|VALUE")
    kind = _kind(name.strip())
    fixed, grid = dict(kind.fixed), dict(kind.grid)
    for part in filter(None, tail.split(",")):
        parameter, equals, values = part.partition("=")
        parameter = parameter.strip()
        if not equals or not parameter.isidentifier():
            raise InputError(f"method: came as {text!r}; {part!r} is no PARAMETER=VALUE")
        fixed.pop(parameter, None)
        grid.pop(parameter, None)
        found = tuple(_value(each) for each in values.split("|"))
        if len(found) > 1:
            grid[parameter] = found
        else:
            fixed[parameter] = found[0]
    return Method(label.strip(), kind.path, kind.takes, fixed, grid, kind.package)


def _kind(name: str) -> Kind:
    if name.lower() in KINDS:
        return KINDS[name.lower()]
    if "." in name and all(part.isidentifier() for part in name.split(".")):
        return Kind(name, "rows", {}, {}, name.split(".")[0])
    raise InputError(
        f"method: {name!r} is not known; take one of {', '.join(KINDS)}, or package.module.Class"
    )


def _value(text: str) -> Any:
    """Numbers, True, False, None and quoted text as Python writes them; other text as it is."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
    return value if isinstance(value, bool | int | float | str | None) else text.strip()


def _parameters(cls: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(cls).parameters)
    except ValueError:
        return set()
