"""Pages: what is on them, that user text is escaped, and that they work in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

from rankcut import RankSVM, RankSVMCV
from rankcut.cli import main
from rankcut.report import alerts
from rankcut.report.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.csv and test.csv, whose ids and feature names try to break out; a model, a study, and their pages."""
    path = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(3)
    for name, n in (("train", 240), ("test", 160)):
        X = rng.standard_normal((n, 4)).round(4)
        label = (X[:, 0] + 0.5 * rng.standard_normal(n) > 0.8).astype(int)
        ids = [f"{EVIL}{name} {i}" for i in range(n)]
        features = {f"x{j}{EVIL if j == 0 else ''}": X[:, j] for j in range(4)}
        pl.DataFrame({"label": label, "id": ids, **features}).write_csv(path / f"{name}.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        commands = (
            "fit train.csv -o model --scale standard -C 100 -q",
            "report model test.csv -o model.html --train train.csv --link https://example.org/{id}?a=1&b=2 -q",
            "compare train.csv --drop id --folds 3 --inner 2 --study study.sqlite --report study.html -q",
        )
        for command in commands:
            assert main(command.split(" ")) == 0
    return path


class Page(HTMLParser):
    """Tags, balanced or not, and the text of each table."""

    void = frozenset(("meta", "img", "br", "path", "polyline", "circle", "image"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.void:
            assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["model.html", "study.html"])
def test_a_page_is_whole_and_needs_nothing(folder: Path, name: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not any(tag in ("link", "iframe", "object") for tag, _ in page.tags)
    for tag, attributes in page.tags:
        assert not any(key.startswith("on") for key in attributes)
        if tag in ("img", "image"):
            source = attributes.get("src") or attributes.get("href") or ""
            assert source.startswith("data:image/png;base64,")
    assert "alert(1)" in text or name == "study.html"
    assert EVIL not in text
    figures = text.count("<figure>")
    assert figures
    assert figures == len(re.findall(r"</figcaption><details>.*?<table", text))


def test_a_models_page_says_what_it_is_about(folder: Path) -> None:
    text = (folder / "model.html").read_text(encoding="utf-8")
    for words in (
        "160 samples of test.csv",
        "AP, VOC 2007",
        "Interleaving ranks",
        "Scores by class",
        "converged",
        "train.csv",
        "relevant, far down",
        "https://example.org/%3Cscript",
    ):
        assert words in text
    assert re.search(r"<td>0\.\d{4} \[0\.\d{4}, [01]\.\d{4}\]</td>", text)  # a measure with its interval


def test_thumbnails_are_inside_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankcut.report.charts import _png

    monkeypatch.chdir(folder)
    frame = pl.read_csv("test.csv").with_columns(id=pl.Series([f"s{i}" for i in range(160)]))
    frame.write_csv("named.csv")
    import base64

    content = base64.b64decode(_png(np.zeros((2, 2, 3), np.uint8)).split(",")[1])
    for i in range(159):  # one is missing
        (folder / f"s{i}.png").write_bytes(content)
    assert main(["report", "model", "named.csv", "-o", "named.html", "--thumbnail", "{id}.png", "-q"]) == 0
    assert (folder / "named.html").read_text().count("<img ") >= 20


def test_compare_in_json(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    argv = [
        "compare",
        "train.csv",
        "--drop",
        "id",
        "--folds",
        "3",
        "--inner",
        "2",
        "--study",
        "study.sqlite",
        "--json",
        "-q",
    ]
    assert main(argv) == 0  # all is done already
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads((ROOT / "docs" / "schemas" / "compare.json").read_text()))
    assert found["complete"]
    assert set(found["scores"]) == {"AP-SVM", "SVM", "LinearSVC"}
    assert main([*argv[:-2], "--seed", "1"]) == 2
    assert "begun with other seed" in capsys.readouterr().err


def test_page_of_a_study_from_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert main(["report", "study.sqlite", "-o", "again.html", "-q"]) == 0
    assert (folder / "again.html").read_text() == (folder / "study.html").read_text()


# --- alerts ---------------------------------------------------------------------------------------------------


def test_alerts_of_rankings() -> None:
    relevant = np.array([True, False, False, False])
    scores = np.array([3.0, 2.0, 1.0, 0.0])
    assert alerts.of_ranking("", relevant, scores, None) == []
    assert "all scores are equal" in alerts.of_ranking("", relevant, np.zeros(4), None)[0]
    assert (
        "3 of 4 rows have the same score"
        in alerts.of_ranking("", relevant, np.array([1.0, 0, 0, 0]), None)[0]
    )
    assert "no row is relevant" in alerts.of_ranking("x", ~relevant & False, scores, None)[0]
    found = alerts.of_ranking("", relevant, scores, np.array([1, 1, 2, 2]))
    assert "1 of 2 queries have no relevant row" in found[0]


def test_alerts_of_models(rng: np.random.Generator) -> None:
    from rankcut.errors import ConvergenceWarning

    X = rng.standard_normal((80, 3))
    y = X[:, 0] > 0.5
    assert alerts.of_model(RankSVM(C=10).fit(X, y)) == []
    with pytest.warns(ConvergenceWarning):
        open_one = RankSVM(C=10, max_iter=1).fit(X, y)
    assert "not proven optimal" in alerts.of_model(open_one)[0]
    path = RankSVMCV(Cs=[1e-3, 1e-2], cv=2).fit(X, y)
    assert "that was tried" in alerts.of_model(path)[0]

    class Starts:
        objective_path_ = ([5.0, 4.0], [5.0, 4.5])

    assert "12.5 % apart" in alerts.of_model(Starts())[0]


def test_alerts_of_overlaps(rng: np.random.Generator) -> None:
    assert alerts.of_overlap(["a", "b"], ["c"]) == []
    assert "1 ids are in both" in alerts.of_overlap(["a", "b"], ["b", "c"])[0]
    X = rng.standard_normal((50, 3))
    assert alerts.of_rows(X[:25], X[25:]) == []
    assert "5 of 30 test rows" in alerts.of_rows(X[:25], X[20:])[0]


def test_trace_has_the_published_ranks(rng: np.random.Generator) -> None:
    from rankcut import losses
    from rankcut.designs import make_design

    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(60) > 0.8
    trace, seen = Trace(), []
    RankSVM(C=100, callbacks=[trace, lambda event: seen.append(event.w.copy()) and False]).fit(X, y)
    found = trace.ranks(make_design(X, n_threads=1), y)
    assert found is not None
    assert found.positives == y.sum()
    assert len(found.cuts) == len(seen)
    last = losses.get("ap").interleaving(X @ seen[-1], y)  # type: ignore[attr-defined]
    assert sorted(found.ranks[-1]) == sorted(last)
    assert np.all(np.diff(found.ranks[-1]) >= 0)  # the hardest first


# --- a real browser -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"):
        options.add_argument(f"--{flag}")
    options.add_argument("--window-size=1000,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.mark.parametrize("name", ["model.html", "study.html"])
def test_in_a_browser(folder: Path, browser: Any, name: str) -> None:
    """It renders without a console error; tabs switch and tables sort; on a phone nothing is wider than the screen."""
    browser.get((folder / name).as_uri())
    tabs = browser.find_elements("css selector", "[role=tab]")
    panels = browser.find_elements("css selector", "[role=tabpanel]")
    assert len(tabs) == len(panels) >= 4
    for chosen, tab in enumerate(tabs):
        tab.click()
        assert [panel.is_displayed() for panel in panels] == [i == chosen for i in range(len(panels))]
    tabs[0].click()
    head = browser.find_element("css selector", "table.sortable th:nth-child(2) button")
    column = "table.sortable tbody tr td:nth-child(2)"
    shown = []
    for _ in range(2):
        head.click()
        first = browser.find_element("css selector", "table.sortable")
        cells = first.find_elements("css selector", "tbody tr td:nth-child(2)")
        shown.append([float(re.split("[ ±]", cell.text)[0].replace("−", "-")) for cell in cells])
    assert shown[0] == sorted(shown[0])
    assert shown[1] == sorted(shown[0], reverse=True)
    assert browser.find_elements("css selector", column)
    assert browser.get_log("browser") == []
    browser.set_window_size(500, 900)
    width = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]
    browser.set_window_size(1000, 1400)
