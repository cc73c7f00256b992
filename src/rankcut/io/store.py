"""Model files: save, load, and what is in one."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankcut import __version__, estimators
from rankcut.errors import FileError, InputError
from rankcut.io import safetensors
from rankcut.io.values import Unstorable, decode, encode

FORMAT = "rankcut model"
SCHEMA = 1
PARTS = ("parameters", "feature_names", "training", "state")

# From a schema to the next: changes metadata and arrays in place. A file of every schema is kept in the tests.
UPGRADES: dict[int, Callable[[dict[str, Any], dict[str, Any]], None]] = {}


def models() -> dict[str, type[BaseEstimator]]:
    """The classes that can be stored, by name: all estimators."""
    found = {name: getattr(estimators, name) for name in estimators.__all__}
    return {
        name: each
        for name, each in found.items()
        if isinstance(each, type) and issubclass(each, BaseEstimator)
    }


def save(model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator of rankcut to a file, which holds the old content or the new, whatever happens.

    Parameters that are no numbers, texts or arrays (callbacks, splitters, your own objects) are not stored: a
    warning names them, unless they are callbacks. `notes`: what else to keep of the training, as JSON.
    """
    name = type(model).__name__
    if models().get(name) is not type(model):
        raise InputError(f"model: came as {name}; pass a fitted estimator of rankcut ({', '.join(models())})")
    check_is_fitted(model)
    arrays: dict[str, Any] = {}
    parameters, left_out = _parameters(model, arrays)
    state = {
        key: value for key, value in vars(model).items() if key not in parameters and key not in left_out
    }
    feature_names = getattr(model, "feature_names_in_", None)
    document = {
        "parameters": parameters,
        "feature_names": None if feature_names is None else [str(each) for each in feature_names],
        "training": {**_summary(model), **(notes or {}), "not_stored": left_out},
        "state": {key: encode(value, key, arrays) for key, value in state.items()},
    }
    head = {"format": FORMAT, "schema": str(SCHEMA), "rankcut": __version__, "class": name}
    try:
        texts = {key: json.dumps(document[key], allow_nan=False) for key in PARTS}
    except (TypeError, ValueError) as error:
        raise InputError(
            f"notes: cannot be written as JSON ({error}); pass numbers, texts, lists and dicts"
        ) from error
    safetensors.write(path, arrays, {**head, **texts})
    missing = [each for each in left_out if each != "callbacks"]
    if missing:
        warnings.warn(
            f"save: {', '.join(missing)} cannot be stored; pass it again, as in load(path, {missing[0]}=…)",
            UserWarning,
            stacklevel=2,
        )


def load(path: str | os.PathLike[str], **parameters: Any) -> Any:
    """The estimator in a file. Reading one runs no code; a file that is cut short, too long or altered is refused.

    `parameters` replace those in the file, and give those that were not stored.
    """
    arrays, document = _document(path)
    name = document["class"]
    cls = models().get(name)
    if cls is None:
        raise FileError(
            path, f"a model of class {name!r}, which this rankcut does not have; install a newer one"
        )
    try:
        stored = {key: decode(value, arrays) for key, value in document["parameters"].items()}
        state = {key: decode(value, arrays) for key, value in document["state"].items()}
        _check_state(cls, state)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise FileError(path, f"damaged: its content makes no {name} ({error})") from error
    model = _made(path, cls, stored, parameters)
    for key, value in state.items():
        setattr(model, key, value)
    return model


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a model file: schema, rankcut (the version that wrote it), class, parameters, feature_names,
    training, and the shape of each array."""
    arrays, document = _document(path)
    about = {key: document[key] for key in ("schema", "rankcut", "class", "feature_names", "training")}
    try:
        parameters = {key: decode(value, arrays) for key, value in document["parameters"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FileError(path, f"damaged: its parameters cannot be read ({error})") from error
    return {
        **about,
        "parameters": parameters,
        "arrays": {key: list(each.shape) for key, each in arrays.items()},
    }


def _document(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays, metadata = safetensors.read(path)
    if metadata.get("format") != FORMAT or not metadata.get("schema", "").isascii():
        raise FileError(path, "no model file of rankcut")
    try:
        document: dict[str, Any] = {**metadata, **{key: json.loads(metadata[key]) for key in PARTS}}
        document["schema"] = schema = int(metadata["schema"])
        if not all(isinstance(document[key], dict) for key in ("parameters", "training", "state")):
            raise ValueError("its parts are no objects")
        document["class"], document["rankcut"] = metadata["class"], metadata["rankcut"]
    except (ValueError, KeyError, RecursionError) as error:
        raise FileError(path, f"damaged: its description cannot be read ({error})") from error
    if schema > SCHEMA or schema < 1:
        what = f"written by rankcut {document['rankcut']} in schema {schema}; this one reads up to {SCHEMA}: upgrade it"
        raise FileError(path, what)
    for step in range(schema, SCHEMA):
        UPGRADES[step](document, arrays)
    return arrays, document


def _parameters(model: Any, arrays: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    stored, left_out = {}, []
    for key, value in model.get_params(deep=False).items():
        mine: dict[str, Any] = {}
        try:
            stored[key] = encode(value, f"parameters.{key}", mine)
        except Unstorable:
            left_out.append(key)
        else:
            arrays.update(mine)
    return stored, left_out


def _summary(model: Any) -> dict[str, Any]:
    """The certificate in words and numbers, as far as the model has one."""
    summary: dict[str, Any] = {}
    for key in ("objective_", "dual_objective_", "dual_gap_", "n_iter_", "C_", "best_score_"):
        if hasattr(model, key):
            summary[key.rstrip("_")] = [_finite(each) for each in np.ravel(getattr(model, key)).tolist()]
    if hasattr(model, "status_"):
        statuses = model.status_ if isinstance(model.status_, list) else [model.status_]
        summary["status"] = [str(each) for each in statuses]
    return summary


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _check_state(cls: type, state: Mapping[str, Any]) -> None:
    for key in state:
        if not key.isidentifier() or key.startswith("__") or callable(getattr(cls, key, None)):
            raise ValueError(f"no attribute can be {key!r}")
    coef, width = state.get("coef_"), state.get("n_features_in_")
    if coef is not None and not (
        isinstance(coef, np.ndarray)
        and coef.dtype == np.float64
        and coef.ndim == 2
        and np.isfinite(coef).all()
    ):
        raise ValueError("coef_ is no matrix of finite numbers")
    if coef is not None and width is not None and coef.shape[1] != width:
        raise ValueError(f"coef_ has {coef.shape[1]} columns for {width} features")


def _made(path: Any, cls: Any, stored: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    parameters = {**stored, **given}
    known = inspect.signature(cls).parameters
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        do = (
            f"it has {', '.join(known)}" if unknown[0] in given else "install the rankcut that wrote the file"
        )
        raise FileError(path, f"{cls.__name__} has no parameter {unknown[0]!r}; {do}")
    needed = [key for key, each in known.items() if each.default is each.empty and key not in parameters]
    if needed:
        raise InputError(
            f"{needed[0]}: is not in the file, since it could not be stored; pass it, as in load(path, {needed[0]}=…)"
        )
    return cls(**parameters)
