"""`rankcut inspect`: what is in a model file or a data file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from rankcut import io
from rankcut.cli import exits
from rankcut.cli.options import Config, DataOptions, Json, shared
from rankcut.cli.output import finite, show, show_json, show_table
from rankcut.io.safetensors import is_ours

MOST_LABELS = 20


@shared
def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a model file of rankcut, or a data file")],
    reading: DataOptions,
    top: Annotated[
        int, typer.Option(min=0, metavar="K", help="models: features with the largest coefficients")
    ] = 10,
    as_json: Json = False,
    config: Config = None,
) -> int:
    """Show what a model file or a data file holds.

    Of a model: class, parameters, training, and the features that weigh most. Of data: rows, features, labels,
    queries, bags, edges; the whole file is read, so that its errors show.

    Examples:
      rankcut inspect model.rankcut --top 20
      rankcut inspect train.letor.gz
      rankcut inspect nodes.csv --edges links.csv --json
    """
    model = is_ours(file)
    about = _model(file, top) if model else _data(reading.read(file))
    if as_json:
        show_json({"file": str(file), "kind": "model" if model else "data", **about})
    else:
        _show(about)
    return exits.DONE


def _model(path: Path, top: int) -> dict[str, Any]:
    estimator = io.load(path)
    coef = np.asarray(getattr(estimator, "coef_", np.empty((0, 0))))
    names = getattr(estimator, "feature_names_in_", None)
    largest = []
    for k in range(len(coef)):
        for j in np.argsort(-np.abs(coef[k]), kind="stable")[:top].tolist():
            name = f"feature {j}" if names is None else str(names[j])
            largest.append({"ranker": k, "feature": name, "coefficient": float(coef[k, j])})
    return {**io.describe(path), "largest_coefficients": largest}


def _data(data: io.Dataset) -> dict[str, Any]:
    X = data.X
    entries = X.nnz if sp.issparse(X) else int(np.count_nonzero(X))
    about: dict[str, Any] = {
        "rows": data.n_rows,
        "features": data.n_features,
        "storage": "sparse" if sp.issparse(X) else "dense",
        "dtype": str(X.dtype),
        "nonzero_share": entries / max(1, data.n_rows * data.n_features),
        "holds": list(data.holds),
    }
    if data.y is not None and data.y.ndim == 1:
        labels, counts = np.unique(data.y, return_counts=True)
        about["n_labels"] = len(labels)
        about["labels"] = [
            {"label": finite(label), "rows": int(count)}
            for label, count in list(zip(labels.tolist(), counts.tolist(), strict=True))[:MOST_LABELS]
        ]
    for name in ("qid", "bag"):
        values = getattr(data, name)
        if values is not None:
            sizes = np.unique(values, return_counts=True)[1]
            about[name] = {"number": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    if data.edges is not None:
        about["edges"] = len(data.edges)
    if data.feature_names is not None:
        about["feature_names"] = list(data.feature_names)
    return about


def _show(about: dict[str, Any]) -> None:
    tables = []
    for key, value in about.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            tables.append((key, value))
        elif isinstance(value, dict):
            for inner, each in value.items():
                show(f"{key}.{inner}: {_short(each)}\n")
        else:
            show(f"{key}: {_short(value)}\n")
    for key, rows in tables:
        show("\n")
        show_table(
            list(rows[0]), [[_short(cell) for cell in row.values()] for row in rows], key.replace("_", " ")
        )


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = ", ".join(_short(each) for each in value[:12])
        return shown + (f", … {len(value)} in all" if len(value) > 12 else "")
    return str(value)


COMMANDS = (inspect,)
