"""The command line from end to end: every command, its JSON against the schemas, exit statuses, Ctrl-C."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import in_json, run, valid

from rankcut import PreferenceRankSVM, RankSVM, RankSVMCV, io, metrics
from rankcut.cli import main

# --- from a file to a ranking ---------------------------------------------------------------------------------


def test_fit_is_ranksvm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    about = in_json(capsys, "fit", "train.csv", "-o", "m.rankcut", "-C", "10")
    data = io.read("train.csv")
    model = RankSVM(C=10.0).fit(data.X, data.y)
    loaded = io.load("m.rankcut")
    assert np.array_equal(loaded.coef_, model.coef_)
    assert loaded.C == 10
    assert loaded.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    assert about["class"] == "RankSVM"
    assert about["training"]["rows"] == 200
    assert about["training"]["dual_gap"][0] <= 1e-3
    assert not about["interrupted"]


def test_predict_reads_the_models_features_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "train.csv", "-o", "m.rankcut")
    expected = io.load("m.rankcut").decision_function(io.read("test.csv").X).tolist()
    shuffled = pl.read_csv("test.csv").select("x2", "x0", "x3", pl.lit("text").alias("more"), "x1", "id")
    shuffled.write_csv("other.csv")
    shuffled.write_parquet("other.parquet")
    np.savez("other.npz", X=io.read("test.csv").X)
    for name in ("test.csv", "other.csv", "other.parquet", "other.npz"):
        out = run(capsys, "predict", "m.rankcut", name)
        assert [float(line) for line in out.splitlines()] == expected, name
    run(capsys, "predict", "m.rankcut", "test.csv", "-o", "scores.txt")
    assert np.array_equal(np.loadtxt("scores.txt"), expected)


def test_predict_writes_tables_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "train.csv", "-o", "m.rankcut")
    model, data = io.load("m.rankcut"), io.read("test.csv")
    scores = model.decision_function(data.X)
    table = [
        line.split("\t") for line in run(capsys, "predict", "m.rankcut", "test.csv", "--table").splitlines()
    ]
    assert table[0] == ["row", "id", "label", "score"]
    assert [float(line[3]) for line in table[1:]] == scores.tolist()
    assert [int(line[2]) for line in table[1:]] == model.predict(data.X).tolist()
    lines = run(capsys, "predict", "m.rankcut", "test.csv", "--top", "7", "--json").splitlines()
    records = [valid("predict", json.loads(line)) for line in lines]
    assert [record["row"] for record in records] == np.argsort(-scores, kind="stable")[:7].tolist()
    assert [record["id"] for record in records] == [f"test {record['row']}" for record in records]


def test_top_of_each_query(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "rows.svm", "-o", "m", "--relevant-from", "1")
    out = run(capsys, "predict", "m", "rows.svm", "--id", "docid", "--top", "3", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["qid"] for record in records] == np.repeat(np.arange(15), 3).tolist()
    scores = io.load("m").decision_function(io.read("rows.svm").X).reshape(15, 10)
    best = [query * 10 + row for query in range(15) for row in np.argsort(-scores[query], kind="stable")[:3]]
    assert [record["id"] for record in records] == [f"d{row}" for row in best]


def test_predict_streams(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are read in parts: the answers are the same whatever their size."""
    from rankcut.io import parquet, source

    run(capsys, "fit", "train.csv", "-o", "m.rankcut")
    pl.read_csv("test.csv").write_parquet("test.parquet")
    (folder / "test.csv.gz").write_bytes(gzip.compress((folder / "test.csv").read_bytes()))
    expected = run(capsys, "predict", "m.rankcut", "test.csv")
    monkeypatch.setattr(parquet, "BATCH", 32 * 11)
    defaults = {**source.blocks.__kwdefaults__, "size": 200}  # type: ignore[dict-item]
    monkeypatch.setattr(source.blocks, "__kwdefaults__", defaults)
    for name in ("test.csv", "test.csv.gz", "test.parquet"):
        assert run(capsys, "predict", "m.rankcut", name) == expected


def test_three_rankers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "rows.svm", "-o", "m")
    scores = io.load("m").decision_function(io.read("rows.svm").X)
    out = run(capsys, "predict", "m", "rows.svm")
    assert [[float(each) for each in line.split("\t")] for line in out.splitlines()] == scores.tolist()
    for line in run(capsys, "predict", "m", "rows.svm", "--json").splitlines():
        assert valid("predict", json.loads(line)).keys() == {
            "row",
            "qid",
            "label",
            "score_0",
            "score_1",
            "score_2",
        }
    found = in_json(capsys, "evaluate", "m", "rows.svm", "--bootstrap", "20")
    y, qid = io.read("rows.svm").y, io.read("rows.svm").qid
    assert y is not None
    for k, ranker in enumerate(found["rankers"]):
        expected = metrics.average_precision(y == k, scores[:, k], qid=qid)
        assert ranker["measures"]["AP"]["value"] == pytest.approx(expected)
    assert "mean" in run(capsys, "evaluate", "m", "rows.svm", "--bootstrap", "0")
    run(capsys, "predict", "m", "rows.svm", "--top", "2", status=2)


def test_scale_is_undone_in_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wild = pl.read_csv("train.csv").with_columns(pl.col("x1") * 1000 + 5, pl.col("x2") / 100)
    wild.write_csv("wild.csv")
    data = io.read("wild.csv")
    for scale, shift, width in [
        ("standard", data.X.mean(axis=0), data.X.std(axis=0)),
        ("max", 0.0, np.abs(data.X).max(axis=0)),
    ]:
        run(capsys, "fit", "wild.csv", "-o", "m", "--scale", scale)
        by_hand = RankSVM().fit((data.X - shift) / width, data.y).decision_function((data.X - shift) / width)
        assert np.allclose(io.load("m").decision_function(data.X), by_hand, atol=1e-9)
    run(capsys, "fit", "wild.csv", "-o", "m", "--scale", "minmax", status=2)


def test_bags_are_samples(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankcut import BagRankSVM
    from rankcut.data.bags import Bags
    from rankcut.io import source

    rng = np.random.default_rng(3)
    bag = np.repeat(np.arange(40), 5)
    y = np.repeat(rng.integers(0, 2, 40), 5)
    known = (np.arange(200) % 5 == 3) & (bag < 6)
    X = rng.standard_normal((200, 3)).round(3)
    X[np.arange(200) % 5 == 3, 0] += 3 * y[::5]
    frame = pl.DataFrame(
        {"label": y, "bag": bag, "known": known.astype(int), "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    )
    frame.write_csv("bags.csv")
    about = in_json(capsys, "fit", "bags.csv", "-o", "m", "--set", "n_init=2", "--seed", "1")
    assert about["class"] == "BagRankSVM"
    bags = Bags(X, bag)
    model = BagRankSVM(n_init=2, random_state=1).fit(bags, y[::5], known=np.where(np.arange(40) < 6, 3, -1))
    expected = model.decision_function(bags).tolist()
    for size in (64, 1000, 10**6):
        monkeypatch.setattr(source.blocks, "__kwdefaults__", {**source.blocks.__kwdefaults__, "size": size})  # type: ignore[dict-item]
        out = run(capsys, "predict", "m", "bags.csv")
        assert [float(line) for line in out.splitlines()] == expected
    found = in_json(capsys, "evaluate", "m", "bags.csv", "--bootstrap", "0")
    assert found["rankers"][0]["measures"]["AP"]["value"] == pytest.approx(
        metrics.average_precision(y[::5], expected)
    )
    frame[rng.permutation(200)].write_csv("mixed.csv")
    monkeypatch.setattr(source.blocks, "__kwdefaults__", {**source.blocks.__kwdefaults__, "size": 300})  # type: ignore[dict-item]
    assert main(["predict", "m", "mixed.csv"]) == 2
    assert "are not together; sort the file by bag" in capsys.readouterr().err
    frame.with_columns(pl.lit(1).alias("known")).write_csv("bags.csv")
    assert main(["fit", "bags.csv", "-o", "m"]) == 2
    assert "bag 0 has more than one marked instance" in capsys.readouterr().err


def test_preferences(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    about = in_json(capsys, "fit", "rows.svm", "-o", "m", "--model", "preference", "-C", "10")
    assert about["class"] == "PreferenceRankSVM"
    data = io.read("rows.svm")
    expected = PreferenceRankSVM(C=10.0).fit(data.X, data.y, qid=data.qid).decision_function(data.X)
    out = run(capsys, "predict", "m", "rows.svm")
    assert [float(line) for line in out.splitlines()] == expected.tolist()
    assert valid("predict", json.loads(run(capsys, "predict", "m", "rows.svm", "--json").splitlines()[0]))
    (ranker,) = in_json(capsys, "evaluate", "m", "rows.svm")["rankers"]
    value = metrics.ndcg(data.y, expected, qid=data.qid, gain="linear")
    assert ranker["measures"]["NDCG, linear gain"]["value"] == pytest.approx(value)
    assert "AUC" in run(capsys, "evaluate", "m", "rows.svm", "--relevant-from", "1")


def test_graphs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rankcut import Graph, GraphRankSVM

    data = io.read("train.csv")
    edges = np.array([(i, i + 1) for i in range(0, 198, 3)])
    links = pl.DataFrame({"source": edges[:, 0], "target": edges[:, 1], "near": np.full(len(edges), 0.5)})
    links.write_csv("edges.csv")
    about = in_json(capsys, "fit", "train.csv", "-o", "m", "--edges", "edges.csv", "--set", "eta=2")
    assert about["class"] == "GraphRankSVM"
    graph = Graph(data.X, edges, np.full((len(edges), 1), 0.5))
    expected = GraphRankSVM(eta=2, random_state=0).fit(graph, data.y).decision_function(graph)
    out = run(capsys, "predict", "m", "train.csv", "--edges", "edges.csv")
    assert np.allclose([float(line) for line in out.splitlines()], expected)
    found = in_json(capsys, "evaluate", "m", "train.csv", "--edges", "edges.csv", "--bootstrap", "0")
    assert found["rankers"][0]["measures"]["AP"]["value"] == pytest.approx(
        metrics.average_precision(data.y, expected)
    )
    assert in_json(capsys, "inspect", "train.csv", "--edges", "edges.csv")["edges"] == len(edges)
    assert main(["predict", "m", "train.csv"]) == 2
    assert "needs them; pass --edges" in capsys.readouterr().err


# --- measuring ------------------------------------------------------------------------------------------------------


def test_evaluate_by_hand(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "train.csv", "-o", "m")
    found = in_json(capsys, "evaluate", "m", "test.csv", "--at", "2,4", "--bootstrap", "50")
    (ranker,) = found["rankers"]
    data = io.read("test.csv")
    scores = io.load("m").decision_function(data.X)
    expected = {
        "AP": metrics.average_precision(data.y, scores),
        "AP, VOC 2010": metrics.average_precision(data.y, scores, interpolation="voc2010"),
        "AP, VOC 2007": metrics.average_precision(data.y, scores, interpolation="voc2007"),
        "NDCG": metrics.ndcg(data.y, scores),
        "AUC": metrics.auc(data.y, scores),
        "MRR": metrics.mrr(data.y, scores),
        "P@2": metrics.precision_at_k(data.y, scores, 2),
        "P@4": metrics.precision_at_k(data.y, scores, 4),
    }
    assert ranker["measures"].keys() == expected.keys()
    for name, value in expected.items():
        interval = ranker["measures"][name]
        assert interval["value"] == pytest.approx(value)
        assert interval["low"] <= interval["high"]
    assert ranker["measures"]["AUC"]["low"] < expected["AUC"] < ranker["measures"]["AUC"]["high"]
    again = in_json(capsys, "evaluate", "m", "test.csv", "--at", "2,4", "--bootstrap", "50")
    assert again == found


def test_evaluate_per_query_with_the_models_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "rows.svm", "-o", "m", "--relevant-from", "1")
    found = in_json(capsys, "evaluate", "m", "rows.svm", "--per-query")
    data = io.read("rows.svm")
    assert data.y is not None
    scores, relevant = io.load("m").decision_function(data.X), data.y >= 1
    assert found["target"] == {"relevant_from": 1.0}
    (ranker,) = found["rankers"]
    for name, measure in (("AP", metrics.average_precision), ("AUC", metrics.auc)):
        assert ranker["measures"][name]["value"] == pytest.approx(measure(relevant, scores, qid=data.qid))
    for query in ranker["queries"]:
        rows = data.qid == query["qid"]
        assert query["MRR"] == pytest.approx(metrics.mrr(relevant[rows], scores[rows]))
    other = in_json(capsys, "evaluate", "m", "rows.svm", "--relevant-from", "2")
    value = metrics.average_precision(data.y >= 2, scores, qid=data.qid)
    assert other["rankers"][0]["measures"]["AP"]["value"] == pytest.approx(value)
    text = run(capsys, "evaluate", "m", "rows.svm", "--per-query")
    assert "150 samples in 15 queries" in text
    assert re.search(r"^AUC +0\.\d{4} \[0\.\d{4}, [01]\.\d{4}\]$", text, re.M)


def test_intervals_cover(capsys: pytest.CaptureFixture[str]) -> None:
    """Of many samples of queries with a known mean, about 95 % of the intervals hold it."""
    from rankcut.report.measures import _of_queries

    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        values = rng.random(60) ** 2
        low, high = np.percentile(_of_queries({"x": values}, 400, rng)["x"], [2.5, 97.5])
        covered += low <= 1 / 3 <= high
    assert 0.90 <= covered / 300 <= 0.98


def test_cv_is_ranksvmcv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = in_json(capsys, "cv", "train.csv", "-o", "m", "--Cs", "1,10,100", "--folds", "3")
    data = io.read("train.csv")
    model = RankSVMCV(Cs=[1.0, 10.0, 100.0], cv=3).fit(data.X, data.y)
    assert found["chosen"] == [{"ranker": "1", "C": model.C_}]
    assert [each["mean"] for each in found["candidates"]] == model.cv_results_["mean_test_score"].tolist()
    assert np.array_equal(io.load("m").coef_, model.coef_)
    text = run(
        capsys, "cv", "rows.svm", "--Cs", "2", "--folds", "3", "--relevant-from", "1", "--rule", "one-se"
    )
    assert re.search(r"average_precision over 3 folds; chosen: C = \S+", text)


# --- looking ----------------------------------------------------------------------------------------------------------


def test_inspect(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "fit", "train.csv", "-o", "m")
    about = in_json(capsys, "inspect", "m", "--top", "2")
    assert about["kind"] == "model"
    assert about["largest_coefficients"][0]["feature"] == "x0"
    data = in_json(capsys, "inspect", "rows.svm")
    assert (data["rows"], data["features"], data["qid"]["number"]) == (150, 3, 15)
    assert sum(each["rows"] for each in data["labels"]) == 150
    assert "class: RankSVM" in run(capsys, "inspect", "m")
    assert "holds: X, y, id, feature_names" in run(capsys, "inspect", "train.csv")


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    about = in_json(capsys, "doctor")
    assert about["healthy"]
    assert about["seconds"] < 20
    assert "All is well" in run(capsys, "doctor")
    from rankcut.reference import measures

    monkeypatch.setattr(measures, "average_precision", lambda *_: 0.123)
    broken = in_json(capsys, "doctor", status=1)
    assert "average precision (exact) is" in broken["checks"]["average precision against its definition"]
    assert "reinstall" in run(capsys, "doctor", status=1)


def test_export(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnxruntime

    run(capsys, "fit", "train.csv", "-o", "m")
    run(capsys, "export", "m", "-o", "m.onnx", "--float32")
    X = io.read("test.csv").X
    (scores,) = onnxruntime.InferenceSession("m.onnx").run(None, {"X": X.astype(np.float32)})
    assert np.allclose(scores, io.load("m").decision_function(X), atol=1e-4)


def test_demo_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_json(capsys, "demo", "breast_cancer", "--rows", "200", "--folds", "2", "-q", "-o", "page.html")
