"""What every estimator promises of its model file, and what the loader promises of every file."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.model_selection import KFold

from rankcut import (
    BagRankSVM,
    Bags,
    Graph,
    GraphRankSVM,
    InputError,
    PreferenceRankSVM,
    RankSVM,
    RankSVMCV,
    io,
)
from rankcut.errors import FileError
from rankcut.io import safetensors, store

STORED = Path(__file__).parents[1] / "golden" / "models"


def data(classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((80, 4))
    return X, np.argmax(X[:, :classes] + 0.5 * rng.standard_normal((80, classes)), axis=1)


def fit(model: Any, classes: int = 2, labels: Any = None) -> Any:
    X, y = data(classes)
    return model.fit(rows_for(model, X), y if labels is None else np.array(labels)[y])


def rows_for(model: Any, X: np.ndarray) -> Any:
    """X as this kind of model takes it."""
    if isinstance(model, GraphRankSVM):
        return Graph(X, np.arange(len(X)).reshape(-1, 2))
    if isinstance(model, BagRankSVM):
        return Bags(np.vstack((X, X[::-1])), np.tile(np.arange(len(X)), 2))
    return X


# Each fitted estimator, and what it answers; a new one needs a line here.
FITTED: dict[str, Callable[[], Any]] = {
    "RankSVM": lambda: fit(RankSVM(C=3.0)),
    "RankSVM, text labels": lambda: fit(RankSVM(loss="ndcg"), labels=["bad", "good"]),
    "RankSVM, three classes": lambda: fit(RankSVM(loss="precision@3"), classes=3),
    "RankSVM, approx": lambda: fit(RankSVM(C=10.0, approx=0.5)),
    "RankSVM, hinge": lambda: fit(RankSVM(loss="hinge", positive_weight=2.0)),
    "RankSVMCV": lambda: fit(RankSVMCV(Cs=[1.0, 10.0], cv=2, loss_grid={"loss": ["ap", "auc"]})),
    "RankSVMCV, three classes": lambda: fit(RankSVMCV(Cs=2, cv=2), classes=3),
    "PreferenceRankSVM": lambda: fit(PreferenceRankSVM(C=3.0)),
    "PreferenceRankSVM, bipartite margin": lambda: fit(
        PreferenceRankSVM(graph="bipartite", rescaling="margin", threshold=0.5, reduce="sum")
    ),
    "BagRankSVM": lambda: fit(BagRankSVM(C=10.0, random_state=0)),
    "BagRankSVM, hinge, three classes": lambda: fit(
        BagRankSVM(loss="hinge", positive_weight=2.0, outlier_fraction=0.2, trim=0.1, init="mean"), classes=3
    ),
    "GraphRankSVM": lambda: fit(GraphRankSVM(C=3.0)),
    "GraphRankSVM, labelling, three classes": lambda: fit(GraphRankSVM(loss="labelling"), classes=3),
}
LINEAR = [name for name in FITTED if not name.startswith("GraphRankSVM")]


def answers(model: Any) -> list[np.ndarray]:
    X = rows_for(model, data()[0])
    return [model.decision_function(X), model.predict(X), model.rank(X)]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b or (a != a and b != b))


@pytest.mark.parametrize("name", FITTED)
def test_loaded_is_what_was_saved(name: str, tmp_path: Path) -> None:
    model, path = FITTED[name](), tmp_path / "model.rankcut"
    io.save(model, path)
    loaded = io.load(path)
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    for key, value in vars(model).items():
        assert same(value, vars(loaded)[key]), key
    for before, after in zip(answers(model), answers(loaded), strict=True):
        assert np.array_equal(before, after)
    assert list(tmp_path.iterdir()) == [path]  # nothing half-written is left
    load_file(path)  # the format is safetensors


@pytest.mark.parametrize("name", FITTED)
def test_description(name: str, tmp_path: Path) -> None:
    model, path = FITTED[name](), tmp_path / "model.rankcut"
    io.save(model, path, notes={"data": "rows.csv", "rows": 80})
    about = io.describe(path)
    assert about["class"] == type(model).__name__
    assert about["schema"] == store.SCHEMA
    assert about["training"]["data"] == "rows.csv"
    assert about["training"]["status"][0].startswith("converged")
    assert about["arrays"]["coef_"] == list(model.coef_.shape)
    assert about["parameters"]["tol"] == model.tol
    json.dumps(about["training"], allow_nan=False)


def test_every_estimator_is_tested() -> None:
    # With a problem to give again: test_structural.py; slow: test_latent_ssvm.py.
    elsewhere = {"StructuralSVM", "LatentStructuralSVM", "LatentAPBaseline"}
    assert set(store.models()) - elsewhere <= {name.split(",")[0] for name in FITTED}


def test_feature_names_stay(tmp_path: Path) -> None:
    import pandas as pd

    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    io.save(RankSVM().fit(frame, y), tmp_path / "model")
    loaded = io.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert io.describe(tmp_path / "model")["feature_names"] == ["a", "b", "c", "d"]
    loaded.decision_function(frame)


def test_infinite_and_missing_numbers_stay(tmp_path: Path) -> None:
    model = FITTED["RankSVM"]()
    model.extra_ = [
        float("inf"),
        float("nan"),
        {"$": 1},
        {2: (3, None)},
        np.array(["a", 1, None], dtype=object),
    ]
    io.save(model, tmp_path / "model")
    assert same(model.extra_[:4], io.load(tmp_path / "model").extra_[:4])
    assert io.load(tmp_path / "model").extra_[4].tolist() == ["a", 1, None]


def test_what_cannot_be_stored_is_named(tmp_path: Path) -> None:
    X, y = data()
    path = tmp_path / "model"
    io.save(RankSVM(callbacks=[lambda event: False]).fit(X, y), path)  # callbacks belong to the fit alone
    assert io.load(path).callbacks is None
    assert io.describe(path)["training"]["not_stored"] == ["callbacks"]
    with pytest.warns(
        UserWarning, match=r"save: cv cannot be stored; pass it again, as in load\(path, cv=…\)"
    ):
        io.save(RankSVMCV(Cs=2, cv=KFold(2)).fit(X, y), path)
    assert io.load(path).cv == 5
    assert isinstance(io.load(path, cv=KFold(3)).cv, KFold)
    assert io.load(path, n_jobs=1).n_jobs == 1
    with pytest.raises(FileError, match="no parameter 'jobs'; it has Cs, "):
        io.load(path, jobs=1)
    model = RankSVM().fit(X, y)
    model.odd_ = object()
    with pytest.raises(InputError, match="odd_: is a object, which a model file cannot hold"):
        io.save(model, path)
    with pytest.raises(InputError, match="notes: cannot be written as JSON"):
        io.save(RankSVM().fit(X, y), path, notes={"a": float("inf")})
    with pytest.raises(InputError, match="came as dict"):
        io.save({}, path)
    with pytest.raises(Exception, match="not fitted"):
        io.save(RankSVM(), path)


@pytest.mark.parametrize("name", ["schema-1-ranksvm", "schema-1-ranksvmcv"])
def test_stored_files_load_for_ever(name: str) -> None:
    """Written by the first release that had the schema; never write them anew."""
    import pandas as pd

    model = io.load(STORED / f"{name}.rankcut")
    expected = json.loads((STORED / f"{name}.json").read_text())
    X = np.array(expected["X"])
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame(X, columns=model.feature_names_in_)
    assert np.allclose(model.decision_function(X), expected["scores"], rtol=1e-12, atol=0)
    assert model.predict(X).tolist() == expected["labels"]
    assert io.describe(STORED / f"{name}.rankcut")["schema"] == 1


# --- files that are not whole, or not ours ------------------------------------------------------------------


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "model"
    io.save(FITTED["RankSVMCV, three classes"](), path)
    return path.read_bytes()


def test_every_cut_and_every_longer_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model"
    for size in [*range(400), *range(400, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(FileError):
            io.load(path)
    for more in (b"\0", b"x" * 1000):
        path.write_bytes(content + more)
        with pytest.raises(FileError, match="too long"):
            io.load(path)


def test_every_altered_byte_is_noticed(content: bytes, tmp_path: Path) -> None:
    path, rng = tmp_path / "model", random.Random(0)
    for place in [*range(120), *(rng.randrange(len(content)) for _ in range(400))]:
        altered = bytearray(content)
        altered[place] ^= 1 << rng.randrange(8)
        path.write_bytes(altered)
        with pytest.raises(FileError):
            io.load(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    import pickle

    from safetensors.numpy import save_file

    path = tmp_path / "model"
    save_file({"coef_": np.ones((1, 3))}, path)
    with pytest.raises(FileError, match="no model file of rankcut"):
        io.load(path)
    save_file({"coef_": np.ones((1, 3))}, path, {"sha": "1" * 200})
    with pytest.raises(FileError, match="does not begin with a checksum"):
        io.load(path)
    path.write_bytes(pickle.dumps(FITTED["RankSVM"]()))
    with pytest.raises(FileError, match="no model file of rankcut"):
        io.load(path)
    with pytest.raises(InputError, match="path: No such file"):
        io.load(tmp_path / "missing")


def forge(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """A file with other metadata and a checksum that is right."""
    arrays, metadata = safetensors.read(path)
    metadata.pop("sha256")
    change(metadata)
    safetensors.write(path, arrays, metadata)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda m: m.update(schema="2"), "in schema 2; this one reads up to 1: upgrade it"),
        (lambda m: m.update(schema="x"), "description cannot be read"),
        (lambda m: m.update(format="other"), "no model file of rankcut"),
        (lambda m: m.update({"class": "NextSVM"}), "does not have; install a newer one"),
        (lambda m: m.update({"class": "BaseEstimator"}), "does not have; install a newer one"),
        (lambda m: m.update(state='{"predict": 1}'), "no attribute can be 'predict'"),
        (lambda m: m.update(state='{"__class__": 1}'), "no attribute can be '__class__'"),
        (lambda m: m.update(state='{"coef_": {"$": "array", "of": "nowhere"}}'), "nowhere"),
        (lambda m: m.update(state='{"coef_": {"$": "pickle", "of": "x"}}'), "pickle"),
        (lambda m: m.update(state='{"coef_": 3}'), "no matrix of finite numbers"),
        (lambda m: m.update(state="[]"), "its parts are no objects"),
        (lambda m: m.update(state="{" * 10_000), "cannot be read"),
        (lambda m: m.update(state="[" * 100_000 + "]" * 100_000), "cannot be read"),
        (lambda m: m.update(parameters='{"D": 1}'), "no parameter 'D'"),
        (lambda m: m.pop("state"), "cannot be read"),
    ],
)
def test_forged_files(
    change: Callable[[dict[str, Any]], Any], what: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    forge(path, change)
    with pytest.raises(FileError, match=what):
        io.load(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [1, 4], "data_offsets": [0, 31]},
        {"dtype": "F64", "shape": [2**62, 4], "data_offsets": [0, 32]},
        {"dtype": "F64", "shape": [-1, -4], "data_offsets": [0, 32]},
        {"dtype": "F64", "shape": [1, 4.0], "data_offsets": [0, 32]},
        {"dtype": "F64", "shape": [4], "data_offsets": [8, 40]},
        {"dtype": "C64", "shape": [4], "data_offsets": [0, 32]},
        {"dtype": "F64", "shape": 4, "data_offsets": [0, 32]},
        {"dtype": "F64", "shape": [4], "data_offsets": [0, 2**70]},
        {"dtype": "F64", "shape": [4]},
        [],
    ],
)
def test_impossible_arrays(entry: Any, tmp_path: Path) -> None:
    import hashlib

    header = json.dumps({"__metadata__": {"sha256": "0" * 64}, "x": entry}, separators=(",", ":")).encode()
    file = bytearray(struct.pack("<Q", len(header)) + header + bytes(32))
    file[safetensors.DIGEST] = hashlib.sha256(file).hexdigest().encode()
    path = tmp_path / "model"
    path.write_bytes(file)
    with pytest.raises(FileError):
        io.load(path)


# --- a crash while saving --------------------------------------------------------------------------------------

SAVER = """
import sys, numpy as np
from rankcut import RankSVM, io
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 4)), rng.random(60) < 0.3
models = [RankSVM(C=C).fit(X, y) for C in (1.0, 2.0)]
for model in models:
    model.padding_ = np.full(300_000, model.C)
io.save(models[0], sys.argv[1])
print("begun", flush=True)
i = 0
while True:
    i += 1
    io.save(models[i % 2], sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_while_saving_leaves_the_old_or_the_new(times: int, tmp_path: Path) -> None:
    path, rng = tmp_path / "model", random.Random(times)
    seen = set()
    for _ in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        model = io.load(path)
        assert np.all(model.padding_ == model.C)
        seen.add(model.C)
    assert seen <= {1.0, 2.0}


def test_failed_save_leaves_the_old(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        io.save(FITTED["RankSVM"](), path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


# --- ONNX ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx_gives_the_same_scores(name: str, dtype: str, tmp_path: Path) -> None:
    import onnxruntime

    model, path = FITTED[name](), tmp_path / "model.onnx"
    io.export(model, path, dtype=dtype)
    session = onnxruntime.InferenceSession(path.read_bytes())
    X, _ = data()
    (scores,) = session.run(None, {"X": X.astype(dtype)})
    expected = model.decision_function(X)
    assert scores.shape == expected.shape
    assert scores.dtype == dtype
    assert np.allclose(scores, expected, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)


def test_onnx_refuses_what_is_not_linear(tmp_path: Path) -> None:
    class Bent(RankSVM):
        def decision_function(self, X: Any) -> Any:
            return np.abs(super().decision_function(X))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="does not score each row by itself"):
            io.export(fit(Bent()), tmp_path / "model.onnx")
        with pytest.raises(InputError, match="does not score each row by itself"):
            io.export(FITTED["GraphRankSVM"](), tmp_path / "model.onnx")
    with pytest.raises(InputError, match="without coef_"):
        io.export(RankSVM(), tmp_path / "model.onnx")
    with pytest.raises(InputError, match="dtype: came as 'int8'"):
        io.export(fit(RankSVM()), tmp_path / "model.onnx", dtype="int8")
    assert not list(tmp_path.iterdir())
