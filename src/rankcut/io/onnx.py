"""Export to ONNX of models whose score of a row is linear in it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankcut import __version__
from rankcut.errors import InputError
from rankcut.extras import need
from rankcut.io.atomic import written_whole

OPSET = 13
IR_VERSION = 8  # of the year 2021: any runtime since then reads it


def export(model: Any, path: str | os.PathLike[str], *, dtype: Any = np.float64) -> None:
    """Write the model's decision_function as an ONNX graph: `X` (rows, features) in, `scores` out, one a row, or a
    column for each of several rankers. dtype: "float64", or "float32" for runtimes that have no other."""
    coef, shift = _linear(model)
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise InputError(f"dtype: came as {dtype!r}; pass 'float32' or 'float64'")
    need("onnx", "io", "to export models")
    from onnx import TensorProto, checker, helper, numpy_helper

    kind = TensorProto.FLOAT if np.dtype(dtype) == np.float32 else TensorProto.DOUBLE
    one = len(coef) == 1
    nodes = [
        helper.make_node("Gemm", ["X", "coef", "intercept"], ["scores" if not one else "column"], transB=1)
    ]
    constants = [
        numpy_helper.from_array(coef.astype(dtype), "coef"),
        numpy_helper.from_array(shift.astype(dtype), "intercept"),
    ]
    if one:
        nodes.append(helper.make_node("Squeeze", ["column", "axis"], ["scores"]))
        constants.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
    graph = helper.make_graph(
        nodes,
        type(model).__name__,
        [helper.make_tensor_value_info("X", kind, ["rows", coef.shape[1]])],
        [helper.make_tensor_value_info("scores", kind, ["rows"] if one else ["rows", len(coef)])],
        constants,
    )
    built = helper.make_model(
        graph,
        producer_name="rankcut",
        producer_version=__version__,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(built, {"classes": str(np.asarray(getattr(model, "classes_", [])).tolist())})
    checker.check_model(built, full_check=True)
    with written_whole(path, binary=True) as file:
        file.write(built.SerializeToString())


def _linear(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients and intercepts, if they give the model's own scores of some rows."""
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise InputError(f"model: came as {type(model).__name__} without coef_; pass a fitted linear ranker")
    shift = np.broadcast_to(np.asarray(getattr(model, "intercept_", 0.0), np.float64), (len(coef),))
    rows = np.random.default_rng(0).standard_normal((5, coef.shape[1]))
    expected = rows @ coef.T + shift
    try:
        scores = np.asarray(model.decision_function(rows)).reshape(5, -1)
        linear = np.allclose(scores, expected, rtol=1e-6, atol=1e-9 * (1 + np.abs(expected).max()))
    except (TypeError, ValueError):  # it scores bags or graphs
        linear = False
    if not linear:
        raise InputError(
            f"model: a {type(model).__name__} does not score each row by itself, which ONNX export needs; "
            "use its coef_ for the rows' own scores"
        )
    return np.asarray(coef), shift
