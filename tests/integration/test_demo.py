"""`rankcut demo` from end to end, on little data: tables, JSON, the page, exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from rankcut import InputError, RankSVM, metrics
from rankcut.cli import main
from rankcut.cli.progress import Progress
from rankcut.data.demo import demo_names, load_demo
from rankcut.report import Comparison, as_json, as_text, compare, default_methods, page

VOID = {"meta", "br", "hr", "img", "link"}
SMALL = ["--rows", "400", "--folds", "2"]


class Page(HTMLParser):
    """Checks that every tag is closed in its turn, and collects what the tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.fixture
def compared() -> Comparison:
    """Two folds of a small data set, done."""
    data = load_demo("breast_cancer")
    chosen = np.random.default_rng(0).permutation(len(data.y))[:200]
    small = replace(data, X=data.X[chosen], y=data.y[chosen])
    comparison = Comparison(small, default_methods(0), 2)
    assert len(list(compare(comparison))) == 2
    return comparison


# --- the data -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "relevant"),
    [("adult", (48_842, 123), 11_687), ("digits", (1_797, 64), 174), ("breast_cancer", (569, 30), 212)],
)
def test_bundled_data(name: str, shape: tuple[int, int], relevant: int) -> None:
    data = load_demo(name)
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    assert len(data.feature_names) == len(set(data.feature_names)) == shape[1]
    assert set(np.unique(data.y)) == {0, 1}
    assert data.y.sum() == relevant
    assert data.licence == "CC BY 4.0"
    assert "doi:10." in data.source
    assert name in repr(data)


def test_adult_is_what_it_was(load_shared: Any) -> None:
    data, original = load_demo("adult"), load_shared("tables/a9a")
    assert abs(data.X - original["X"]).nnz == 0
    assert np.array_equal(data.y, original["y"])
    assert np.array_equal(data.is_test, original["is_test"])


def test_adult_has_at_most_one_category_of_each_attribute() -> None:
    data = load_demo("adult")
    attributes = np.array([name.split(":")[0] for name in data.feature_names])
    assert len(np.unique(attributes)) == 14
    for attribute in np.unique(attributes):
        assert data.X[:, attributes == attribute].sum(axis=1).max() == 1
    female, male = (data.X[:, data.feature_names.index(name)].mean() for name in ("sex:1", "sex:2"))
    assert (round(female, 3), round(male, 3)) == (0.332, 0.668)


@pytest.mark.parametrize("name", ["iris", "", None, ["adult"]])
def test_unknown_data_names_the_choices(name: Any) -> None:
    with pytest.raises(InputError, match=r"name: came as .*; pass one of adult, digits, breast_cancer"):
        load_demo(name)


def test_licence_lies_beside_the_data() -> None:
    import rankcut.data

    text = (Path(rankcut.data.__file__).parent / "bundled" / "LICENCE.txt").read_text(encoding="utf-8")
    assert "CC BY 4.0" in text
    assert "Becker" in text


# --- the protocol ---------------------------------------------------------------------------------------


def test_protocol_by_hand(compared: Comparison) -> None:
    """The outcome of a fold is that of the chosen C on dense data standardised by its training part."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler

    X, y = compared.data.X, compared.data.y
    splits = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
    for (train, test), (linear, rank) in zip(splits, compared.folds, strict=True):
        scaler = StandardScaler().fit(X[train])
        for model, outcome in [(LinearSVC(C=linear.C, random_state=0), linear), (RankSVM(C=rank.C), rank)]:
            scores = model.fit(scaler.transform(X[train]), y[train]).decision_function(
                scaler.transform(X[test])
            )
            assert metrics.average_precision(y[test], scores) == pytest.approx(
                outcome.average_precision, abs=1e-9
            )


def test_both_methods_choose_from_equally_many() -> None:
    first, second = default_methods(0)
    assert len(first.grid) == len(second.grid)


def test_area_below_the_curve_is_the_average_precision(compared: Comparison) -> None:
    for m in range(2):
        mean = compared.column(m, "average_precision").mean()
        assert compared.precision(m).mean() == pytest.approx(mean, abs=0.01)


def test_test_is_corrected_for_shared_rows(compared: Comparison) -> None:
    found, by_hand = compared.test(), compared.column(1, "average_precision")
    by_hand = by_hand - compared.column(0, "average_precision")
    assert found is not None
    assert found.t == pytest.approx(by_hand.mean() / (by_hand.std(ddof=1) * np.sqrt(1 / 2 + 1)))


def test_other_warnings_go_through() -> None:
    from rankcut.report.comparison import _fit

    class Noisy:
        def fit(self, X: Any, y: Any) -> None:
            import warnings

            warnings.warn("look here", RuntimeWarning, stacklevel=1)

    with pytest.warns(RuntimeWarning, match="look here"):
        assert not _fit(Noisy(), None, np.zeros(2, dtype=np.int64)).unfinished


# --- what is shown --------------------------------------------------------------------------------------


def test_tables_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert main(["demo", "digits", "breast_cancer", *SMALL, "-o", str(target)]) == 0
    shown = capsys.readouterr()
    assert "Test average precision, mean ± standard deviation" in shown.out
    for name in ("digits", "breast_cancer"):
        assert re.search(rf"^{name} +400 +\d+\.\d % +0\.\d{{4}} ± 0\.\d{{4}} +", shown.out, re.M)
        assert re.search(rf"^{name}: .*(ahead|equal)", shown.out, re.M)
        assert f"{name}, fold 2 of 2: LinearSVC" in shown.err
    assert "proven to be within" in shown.out
    assert str(target) in shown.err
    assert list(tmp_path.iterdir()) == [target]  # nothing half-written is left
    if os.name == "posix":
        umask = os.umask(0)
        os.umask(umask)
        assert target.stat().st_mode & 0o777 == 0o666 & ~umask

    parsed = Page(target.read_text(encoding="utf-8"))
    assert parsed.count("svg") == 4
    assert parsed.count("details") == 4  # a table behind each picture
    assert parsed.count("table") == 6
    assert parsed.count("title") == 5
    assert not {"script", "link", "img", "iframe"} & {name for name, _ in parsed.tags}
    for _, attributes in parsed.tags:
        assert not {"src", "onload", "onclick"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")  # nothing from the network
    text = target.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http-equiv", "")


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "page.html"
    assert main(["demo", "digits", *SMALL, "--json", "--quiet", "-o", str(target)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    document = json.loads(shown.out)
    assert document["complete"] is True
    (data,) = document["data"]
    assert (data["name"], data["rows"], data["n_folds"]) == ("digits", 400, 2)
    folds = [fold["RankSVM"] for fold in data["folds"]]
    assert len(folds) == 2
    for outcome in folds:
        assert 0 < outcome["average_precision"] <= 1
        assert outcome["certificate"]["gap"] <= 1e-3
        assert len(outcome["precision"]) == 100
    differences = [
        fold["RankSVM"]["average_precision"] - fold["LinearSVC"]["average_precision"]
        for fold in data["folds"]
    ]
    assert data["test"]["mean_difference"] == pytest.approx(np.mean(differences))
    assert target.exists()


def test_json_has_no_infinite_numbers(compared: Comparison) -> None:
    compared.folds = [compared.folds[0]] * 2  # equal differences: t is infinite, or there is none at all
    json.loads(as_json([compared]), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def test_text_is_escaped(compared: Comparison) -> None:
    bad = '<script>alert("x")</script>&'
    compared.data = replace(
        compared.data, title=bad, rows=bad, relevant=bad, source=bad, licence=bad, name=bad
    )
    text = page([compared])
    assert "<script" not in text
    assert bad in "".join(Page(text).words)


def test_same_numbers_in_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for _ in range(2):
        main(["demo", "breast_cancer", *SMALL, "--json", "-q", "-o", str(tmp_path / "page.html")])
        data = json.loads(capsys.readouterr().out)["data"][0]
        found.append([[o["average_precision"] for o in fold.values()] for fold in data["folds"]])
    assert found[0] == found[1]


def test_one_fold_makes_no_claim(compared: Comparison) -> None:
    del compared.folds[1:]
    assert "one fold is not enough" in as_text([compared])
    assert "stopped after 1 of 2 folds" in as_text([compared])
    assert json.loads(as_json([compared]))["complete"] is False
    Page(page([compared]))


def test_an_early_stop_makes_no_claim(compared: Comparison) -> None:
    compared.n_folds = 3
    text = as_text([compared])
    assert "on the 2 folds that were finished" in text
    assert "chance" not in text


def test_ascii_terminal(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "rankcut",
        "demo",
        "breast_cancer",
        *SMALL,
        "-q",
        "-o",
        str(tmp_path / "p.html"),
    ]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "+/-" in done.stdout


# --- exit statuses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        pytest.param([], "Missing command", id="no command"),
        pytest.param(["dome"], "No such command", id="unknown command"),
        pytest.param(["demo", "--flods", "3"], "No such option", id="unknown option"),
        pytest.param(["demo", "--folds", "1"], "--folds", id="one fold"),
        pytest.param(["demo", "--folds", "two"], "--folds", id="folds in words"),
        pytest.param(["demo", "--rows", "0"], "--rows", id="no rows"),
        pytest.param(["demo", "iris"], "pass one of adult, digits, breast_cancer", id="unknown data"),
        pytest.param(["demo", "digits", "--rows", "1"], "rows: 1 of 1797 are too few", id="one row"),
        pytest.param(
            ["demo", "digits", "--rows", "20"], "folds: 5 asked for", id="fewer positives than folds"
        ),
    ],
)
def test_wrong_usage(
    argv: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert complaint in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["missing/page.html", "."])
def test_unwritable_output_fails_before_the_work(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "rankcut.report.comparison.compare", lambda *_, **__: pytest.fail("has begun to work")
    )
    assert main(["demo", *SMALL, "-o", str(tmp_path / where)]) == 1
    assert capsys.readouterr().err.startswith("rankcut: ")


def test_failure_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("rankcut.report.comparison.compare", fail)
    assert main(["demo", *SMALL, "-q", "-o", str(target)]) == 1
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("after", [0, 20, 40])
def test_interruption_shows_what_is_done(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C after so many fits; a fold is 32 of them."""
    target = tmp_path / "page.html"
    steps = iter(range(1_000))
    original = Progress.step

    def step(self: Progress) -> None:
        original(self)
        if next(steps) == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", step)
    assert main(["demo", "digits", *SMALL, "-o", str(target)]) == 130
    shown = capsys.readouterr()
    assert "interrupted" in shown.err
    Page(target.read_text(encoding="utf-8"))
    if after < 32:
        assert "No fold was finished" in shown.out
    else:
        assert "digits: stopped after 1 of 2 folds." in shown.out
        assert "stopped after 1 of 2 folds" in target.read_text(encoding="utf-8")


def test_fit_that_took_the_interrupt_ends_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """RankSVM answers Ctrl-C with its best model so far."""
    from rankcut.report.comparison import _fit

    data = load_demo("breast_cancer")
    model = RankSVM(C=1000.0, callbacks=[lambda event: event.n_iter > 2])
    with pytest.raises(KeyboardInterrupt):
        _fit(model, data.X, data.y)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_real_interrupt(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    command = [sys.executable, "-m", "rankcut", "demo", "adult", "-o", str(target)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    part = None
    for _ in range(600):  # until the work has begun
        part = next(tmp_path.glob(".page.html.*.part"), None)
        if part is not None:
            break
        time.sleep(0.05)
    assert part is not None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "stopped after" in out or "No fold was finished" in out
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_output_to_a_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "breast_cancer", *SMALL, "-q", "-o", os.devnull]) == 0
    assert not os.path.isfile(os.devnull)


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    import rankcut

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rankcut {rankcut.__version__}\n"
    assert main(["demo", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in demo_names())
