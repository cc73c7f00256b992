"""Studies: the same numbers however often they are stopped, whoever works on them, and refusals that teach."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rankcut.errors import FileError, InputError
from rankcut.metrics import average_precision
from rankcut.report import formats
from rankcut.report.study import Results, comparisons, document, tables
from rankcut.studies import Plan, Samples, Store, parse, run

METHODS = ("AP=ranksvm:C=1|10", "SVM=ranksvm:loss=hinge,C=10", "linearsvc:C=0.01|0.1")
WORK = """
import sys
from rankcut.studies import Plan, Store, run
run(Plan(sys.argv[1], {methods!r}, ("3", "8"), 3, 2), Store(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(path, X=X[:600], y=y[:600])
    return path


@pytest.fixture
def plan(data: Path) -> Plan:
    return Plan(str(data), METHODS, ("3", "8"), 3, 2)


def shown(store: Store) -> str:
    return formats.write(tables(Results.of(store)), "csv")


@pytest.fixture(scope="module")
def undisturbed(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("study") / "whole.sqlite")
    run(Plan(str(data), METHODS, ("3", "8"), 3, 2), store)
    return store


def test_scores_are_those_of_the_protocol(undisturbed: Store, plan: Plan) -> None:
    """One cell by hand: the folds, the scaling, the choice and the score."""
    from sklearn.preprocessing import StandardScaler

    from rankcut import RankSVM

    with np.load(plan.data) as stored:
        samples = Samples(stored["X"], stored["y"])
    relevant = samples.relevant("8")
    train, test = samples.folds(relevant, np.arange(600), 3, 0)[1]
    scaler = StandardScaler().fit(samples.X[train])
    model = RankSVM(C=10, loss="hinge").fit(scaler.transform(samples.X[train]), relevant[train])
    expected = average_precision(relevant[test], model.decision_function(scaler.transform(samples.X[test])))
    found = Results.of(undisturbed).scores("SVM")[1, 1]
    assert found == pytest.approx(expected, abs=1e-12)


def test_lockstep_chooses_as_one_by_one(data: Path, tmp_path: Path) -> None:
    """RankSVM's C is chosen in shared passes, unless another parameter is chosen with it."""
    results = []
    for k, spec in enumerate(("A=ranksvm:C=1|10|100,tol=1e-5", "A=ranksvm:C=1|10|100,tol=1e-5|1e-5")):
        store = Store(tmp_path / f"{k}.sqlite")
        run(Plan(str(data), (spec,), ("8",), 3, 2), store)
        results.append(Results.of(store))
    assert results[0].scores("A") == pytest.approx(results[1].scores("A"), abs=2e-3)


def test_goes_on_where_it_stopped(undisturbed: Store, plan: Plan, tmp_path: Path) -> None:
    store = Store(tmp_path / "study.sqlite")

    class Stop(Exception):
        pass

    def stop(step: object) -> None:
        raise Stop

    stops = 0
    while True:
        try:
            run(plan, store, stop)
            break
        except Stop:
            stops += 1
            assert store.counts()[0] == stops
    assert stops == store.counts()[1] == 18
    assert shown(store) == shown(undisturbed)


def kills(study: Path, data: Path, times: list[float]) -> None:
    """Run the study to its end in processes that are killed after so many seconds, but the last."""
    for seconds in [*times, 600.0]:
        command = [sys.executable, "-c", WORK.format(methods=METHODS), str(data), str(study)]
        process = subprocess.Popen(command)
        try:
            process.wait(timeout=seconds)
            assert process.returncode == 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        if study.exists():
            with sqlite3.connect(study) as base:
                assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_survives_kills(undisturbed: Store, data: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    kills(tmp_path / "study.sqlite", data, rng.uniform(1.5, 3.5, 2).tolist())
    assert shown(Store(tmp_path / "study.sqlite")) == shown(undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_survives_many_kills(
    undisturbed: Store, data: Path, tmp_path: Path, rng: np.random.Generator
) -> None:
    kills(tmp_path / "study.sqlite", data, rng.uniform(0.5, 3.5, 20).tolist())
    assert shown(Store(tmp_path / "study.sqlite")) == shown(undisturbed)


def test_two_processes_share_a_study(undisturbed: Store, data: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.sqlite"
    command = [sys.executable, "-c", WORK.format(methods=METHODS), str(data), str(study)]
    for process in [subprocess.Popen(command) for _ in range(2)]:
        assert process.wait(timeout=300) == 0
    assert shown(Store(study)) == shown(undisturbed)


def test_a_claim_without_signs_of_life_is_void(
    undisturbed: Store, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "study.sqlite"
    study.write_bytes(undisturbed.path.read_bytes())
    with sqlite3.connect(study) as base:
        base.execute("UPDATE cells SET outcome = NULL WHERE place <= 2")
    first, second = Store(study), Store(study)
    mine, theirs = first.claim(), second.claim()
    assert mine is not None
    assert theirs is not None
    assert mine != theirs
    assert second.claim() is None  # both are taken
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert second.claim() == mine


def test_changed_data_is_refused(plan: Plan, undisturbed: Store, tmp_path: Path) -> None:
    with np.load(plan.data) as stored:
        np.savez(tmp_path / "other.npz", X=stored["X"] + 1, y=stored["y"])
    with pytest.raises(FileError, match="data file has changed"):
        run(replace(plan, data=str(tmp_path / "other.npz")), Store(undisturbed.path))


@pytest.mark.parametrize("change", [{"folds": 4}, {"seed": 1}, {"methods": METHODS[:2]}, {"scale": False}])
def test_another_plan_is_refused(plan: Plan, undisturbed: Store, change: dict[str, object]) -> None:
    with pytest.raises(FileError, match=next(iter(change))):
        run(replace(plan, **change), Store(undisturbed.path))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nothing", "not known"),
        ("ranksvm:C", "no PARAMETER=VALUE"),
        ("ranksvm:D=1", "no parameter 'D'"),
        ("sklearn.svm.Nothing", "no 'Nothing'"),
        ("nowhere.at.All", "install"),
        ("sklearn.cluster.KMeans", "no scores"),
        ("=ranksvm", "LABEL=NAME"),
    ],
)
def test_method_errors_teach(plan: Plan, tmp_path: Path, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(replace(plan, methods=(spec,)), Store(tmp_path / "study.sqlite"))
    assert not (tmp_path / "study.sqlite").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "folds"),
        ({"methods": ()}, "methods"),
        ({"methods": ("ranksvm", "ranksvm")}, "twice"),
        ({"classes": ("11",)}, "classes"),
        ({"scoring": "beauty"}, "scoring"),
        ({"data": "nowhere.npz"}, "nowhere.npz"),
        ({"folds": 70}, "folds"),
    ],
)
def test_plan_errors_teach(plan: Plan, tmp_path: Path, change: dict[str, object], message: str) -> None:
    store = Store(tmp_path / "study.sqlite")
    if change == {"folds": 70}:  # known only once a class is split: noted in the cells
        run(replace(plan, **change, methods=METHODS[1:2], classes=("3",)), store)  # type: ignore[arg-type]
        assert "folds: 70 asked for" in Results.of(store).failures()["SVM"]
        return
    with pytest.raises(InputError, match=message):
        run(replace(plan, **change), store)  # type: ignore[arg-type]


def test_a_file_that_is_no_study_is_refused(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(FileError, match="no study"):
        run(plan, Store(path))
    assert path.read_bytes() == b"not a database" * 100


def test_a_method_that_fails_does_not_stop_the_others(plan: Plan, tmp_path: Path) -> None:
    store = Store(tmp_path / "study.sqlite")
    bad = "bad=sklearn.linear_model.SGDClassifier:alpha=-1"
    run(replace(plan, methods=(METHODS[1], bad)), store)
    results = Results.of(store)
    assert "alpha" in results.failures()["bad"]
    assert not np.isnan(results.scores("SVM")).any()
    assert np.isnan(results.scores("bad")).all()
    assert comparisons(results) == []
    assert store.forget_failures() == 6
    assert store.counts() == (6, 12)


def test_values_of_methods() -> None:
    method = parse("Mine=ranksvm:C=1|2.5,loss=auc,warm_start=True,callbacks=None")
    assert method.label == "Mine"
    assert method.grid == {"C": (1, 2.5)}
    assert method.fixed == {"loss": "auc", "warm_start": True, "callbacks": None}


def test_formats(undisturbed: Store) -> None:
    results = Results.of(undisturbed)
    latex_table = formats.write(tables(results), "latex")
    assert latex_table.count(r"\begin{tabular}") == latex_table.count(r"\end{tabular}") == 3
    assert "±" not in latex_table
    assert formats.write(tables(results), "csv").splitlines()[0] == "class,AP,SVM,linearsvc:C=0.01|0.1"
    assert "| linearsvc:C=0.01\\|0.1 |" in formats.write(tables(results), "markdown")
    with pytest.raises(InputError, match="format"):
        formats.write(tables(results), "word")
    found = document(results)
    assert found["complete"]
    assert found["scores"]["AP"].keys() == {"3", "8"}
    assert [each["against"] for each in found["tests"]] == ["SVM", "linearsvc:C=0.01|0.1"]


def test_bags_share_a_label(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "bags.npz"
    np.savez(path, X=np.eye(4), y=[0, 1, 1, 1], bag=[0, 0, 1, 1])
    with pytest.raises(InputError, match="differ"):
        run(Plan(str(path), ("ranksvm",)), Store(tmp_path / "study.sqlite"))
