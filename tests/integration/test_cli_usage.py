"""The command line in use: help, wrong usage, configuration, exit statuses, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers.command_line import run

from rankcut import io, metrics
from rankcut.cli import main

COMMANDS = ("fit", "predict", "evaluate", "cv", "compare", "report", "inspect", "export", "demo", "doctor")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, command, "--help")
    assert f"Examples:\n    rankcut {command}" in text
    assert run(capsys, command, "-h") == text
    assert command in run(capsys, "--help")


def test_examples_name_options_that_exist() -> None:
    from rankcut.cli.app import MODULES
    from rankcut.cli.options import described

    for module in MODULES:
        for command in module.COMMANDS:
            main([command.__name__, "--help"])
            for option in re.findall(r" (--?[A-Za-z][\w-]*)", described(command)["epilog"]):
                assert option in ("-o", "-C") or option.startswith("--")


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["fti"], "Did you mean 'fit'"),
        (["fit"], "Try 'rankcut fit"),
        (["fit", "train.csv"], "Missing option '--output' / '-o'"),
        (["fit", "train.csv", "-o", "m", "--los", "ap"], "No such option: --los"),
        (["fit", "train.csv", "-o", "m", "--loss", "app"], "loss"),
        (["fit", "train.csv", "-o", "m", "--model", "tree"], "pass one of auto, rank"),
        (
            ["fit", "train.csv", "-o", "m", "--set", "depth=3"],
            "depth: is no parameter of RankSVM, which has C, loss",
        ),
        (["fit", "train.csv", "-o", "m", "--model", "bag"], "'bag' needs bag"),
        (["fit", "train.csv", "-o", "m", "--set", "depth"], "pass NAME=VALUE"),
        (["fit", "train.csv", "-o", "missing/m"], "output: cannot write missing/m"),
        (["fit", "train.csv", "-o", "m", "--label", "lable"], "no column 'lable'; the file has 'label'"),
        (["fit", "train.csv", "-o", "m", "--drop", "label"], "name their column with --label"),
        (["fit", "train.csv", "-o", "m", "--relevant", "7"], "no row has the label '7'; there are 0, 1"),
        (["fit", "train.csv", "-o", "m", "--relevant", "1", "--relevant-from", "1"], "pass one of them"),
        (["fit", "missing.csv", "-o", "m"], "No such file"),
        (["fit", "bad.csv", "-o", "m"], "bad.csv, line 3, column 'a': 'oops' is no finite number"),
        (["fit", "train.csv", "-o", "m", "-C", "-1"], "C: came as -1"),
        (["predict", "train.csv", "train.csv"], "no model file of rankcut"),
        (["evaluate", "good", "train.csv", "--at", "0"], "at: came as '0'"),
        (["evaluate", "good", "odd.csv"], "pass --relevant or --relevant-from"),
        (["predict", "good", "bad.csv"], "features: no column"),
        (["cv", "train.csv", "--Cs", "a"], "Cs: came as 'a'"),
        (["cv", "train.csv", "--folds", "1"], "--folds"),
        (["inspect", "missing"], "No such file"),
        (["compare", "train.csv", "--method", "nothing"], "'nothing' is not known; take one of ranksvm"),
        (["compare", "train.csv", "--drop", "id", "--as", "word"], "format: came as 'word'"),
        (["report", "good"], "a model's page needs labelled data"),
        (["report", "missing"], "No such file"),
        (["report", "good", "train.csv", "--link", "javascript:{id}"], "pass an http(s) address"),
        (["report", "good", "train.csv", "--thumbnail", "pictures"], "write {id}"),
    ],
)
def test_wrong_usage(argv: list[str], hint: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.csv").write_text("label,a\n0,1\n1,oops\n")
    pl.read_csv("train.csv").with_columns(pl.col("label") + 3).write_csv("odd.csv")
    if "good" in argv:
        main(["fit", "train.csv", "-o", "good", "-q"])
    before = {path.name for path in folder.iterdir()}
    capsys.readouterr()
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert hint in re.sub(r"\s+", " ", shown.err)
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert {path.name for path in folder.iterdir()} == before


def test_configuration_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "r.toml").write_text(
        '[fit]\noutput = "from-file"\nloss = "auc"\nC = 5\ndrop = ["x3", "id"]\nthreads = 1\n[cv]\nfolds = 3\n'
    )
    run(capsys, "fit", "train.csv", "--config", "r.toml", "--loss", "ndcg")
    model = io.load("from-file")
    assert (model.loss, model.C, model.n_jobs) == ("ndcg", 5, 1)  # the flag wins
    assert model.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    assert "over 3 folds" in run(capsys, "cv", "train.csv", "--Cs", "2", "--config", "r.toml")
    (folder / "r.json").write_text('{"fit": {"output": "m", "set": ["tol=0.01"]}}')
    run(capsys, "fit", "train.csv", "--config", "r.json")
    assert io.load("m").tol == 0.01
    for text, hint in [
        ("[fit]\nlos = 1\n", "[fit] has no option 'los'; it has"),
        ("[fit\n", "config: r.toml"),
        ("fit = 3\n", "has to be a table"),
        ("[fit]\nmax_iter = 'many'\n", "max-iter"),
    ]:
        (folder / "r.toml").write_text(text)
        assert main(["fit", "train.csv", "-o", "m", "--config", "r.toml"]) == 2
        assert hint in capsys.readouterr().err
    assert main(["fit", "train.csv", "-o", "m", "--config", "none.toml"]) == 2


def test_messages_go_to_standard_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "rows.svm", "-o", "m", "--relevant-from", "2", "--max-iter", "1", "-q"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "stopped at max_iter: raise max_iter" in shown.err  # warnings are shown though it is quiet
    assert all(line.startswith("rankcut: ") for line in shown.err.splitlines())


def test_missing_extra_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["doctor"]) == 1
    assert "typer is needed by the command line: pip install 'rankcut[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell: str) -> None:
    environment = {**os.environ, "_RANKCUT_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-c", "import sys; from rankcut.cli import main; sys.exit(main([]))"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "rankcut" in done.stdout


def test_bug_shows_its_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is nobody's input error must not be hidden."""
    monkeypatch.setattr(io, "read", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["fit", "train.csv", "-o", "m"])


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_reader_of_the_output_may_go(folder: Path) -> None:
    main(["fit", "train.csv", "-o", "m", "-q"])
    table = pl.read_csv("test.csv")
    pl.concat([table] * 400).write_csv("long.csv")
    command = f"{sys.executable} -m rankcut predict m long.csv | head -2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert len(done.stdout.splitlines()) == 2
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("command", ["fit", "cv"])
def test_interrupt_stores_the_best_model_so_far(command: str, folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 300)).astype(np.float32)  # minutes of work
    np.savez("many.npz", X=X, y=(X[:, 0] + rng.standard_normal(30_000) > 1.5).astype(int))
    options = ["--set", "C=1e9"] if command == "fit" else ["--Cs", "1e7,1e8,1e9"]
    argv = [sys.executable, "-m", "rankcut", command, "many.npz", "-o", "m", "--tol", "1e-13", *options]
    process = subprocess.Popen(
        [*argv, "--set", "max_iter=1000000"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    assert "read in" in process.stderr.readline()
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    error = process.stderr.read()
    assert process.wait(timeout=60) == 130, error
    assert "Traceback" not in error
    assert "interrupted; the best model so far is in m" in error
    assert metrics.average_precision(io.read("many.npz").y, io.load("m").decision_function(X)) > 0.3
