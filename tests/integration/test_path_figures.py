"""The pictures of a path: well formed, alone, and with the numbers that they were drawn from."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

from rankcut import ConvergenceWarning, InputError, RankSVM, RankSVMCV
from rankcut.report import Figure, path_figures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def model() -> RankSVMCV:
    X, y = load_breast_cancer(return_X_y=True, as_frame=False)
    return RankSVMCV(6, cv=4).fit(StandardScaler().fit_transform(X), y)


def lines(figure: Figure, style: str) -> list[np.ndarray]:
    """The points of every line of a style."""
    root = ET.fromstring(figure.svg)
    found = [line for line in root.iter(f"{SVG}polyline") if line.get("class") == style]
    return [
        np.array([[float(v) for v in p.split(",")] for p in (f.get("points") or "").split()]) for f in found
    ]


def column(figure: Figure, name: str) -> np.ndarray:
    at = figure.table.heads.index(name)
    return np.array([float(row[at]) for row in figure.table.rows])


def linear(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether b is a + constant times some slope, as pixels are of numbers."""
    return bool(np.abs(np.polyval(np.polyfit(a, b, 1), a) - b).max() < 0.2)


def well_formed(figure: Figure) -> None:
    root = ET.fromstring(figure.svg)
    assert root.tag == f"{SVG}svg"
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert "url(" not in figure.svg  # nothing from elsewhere
    assert "nan" not in figure.svg
    styles = set(re.findall(r'class="(\w+)"', figure.svg))
    assert all(f".{style} " in figure.svg for style in styles - {"quiet"})
    for style in styles:
        for points in lines(figure, style):
            assert (points >= 0).all()
            assert (points <= [width, height]).all()
    assert all(len(row) == len(figure.table.heads) for row in figure.table.rows)
    assert figure.caption in figure._repr_html_()


def test_every_figure_is_a_file_of_its_own(model: RankSVMCV) -> None:
    for figure in path_figures(model):
        well_formed(figure)


def test_scores(model: RankSVMCV) -> None:
    figure = path_figures(model).scores
    folds = model.cv_scores_[:, :, 0]
    np.testing.assert_allclose(column(figure, "mean"), folds.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(column(figure, "fold 2"), folds[:, 2], rtol=1e-5)
    np.testing.assert_allclose(column(figure, "standard error"), folds.std(axis=1, ddof=1) / 2, rtol=1e-4)
    chosen = [float(row[0]) for row in figure.table.rows if row[-1] == "chosen"]
    assert chosen == pytest.approx([model.C_], rel=1e-5)
    (drawn,) = lines(figure, "second")
    assert linear(np.log10(column(figure, "C")), drawn[:, 0])
    assert linear(folds.mean(axis=1), drawn[:, 1])
    (choice,) = lines(figure, "chosen")
    assert choice[0, 0] == drawn[model.best_index_, 0]
    assert len(lines(figure, "interval")) == 6
    assert figure.svg.count('class="fold"') == 24


def test_objectives_and_gaps(model: RankSVMCV) -> None:
    figures = path_figures(model)
    figure = figures.objectives
    np.testing.assert_allclose(column(figure, "objective"), [r.objective for r in model.history_], rtol=1e-6)
    assert column(figure, "objective")[-1] == pytest.approx(model.objective_, rel=1e-6)
    (above,), (below,) = lines(figure, "second"), lines(figure, "first")
    assert linear(column(figure, "objective"), above[:, 1])
    assert (above[:, 1] <= below[:, 1] + 0.2).all()  # pixels count downwards
    figure = figures.gaps
    assert len(figure.table.rows) == sum(len(history) for (history,) in model.history_path_)
    assert len(lines(figure, "second")) + len(lines(figure, "other")) == 6
    gaps = [r.gap for (history,) in model.history_path_ for r in history]
    np.testing.assert_allclose(column(figure, "gap"), gaps, rtol=1e-3)
    passes = column(figure, "passes")
    assert (np.diff(passes) >= 0).all()
    assert passes[-1] <= sum(model.n_passes_) + 0.01


def test_coefficients(model: RankSVMCV) -> None:
    figure = path_figures(model).coefficients
    for j in (3, 21):
        np.testing.assert_allclose(column(figure, str(j)), model.coef_path_[:, 0, j], rtol=1e-5)
    drawn = lines(figure, "second") + lines(figure, "other")
    assert len(drawn) == 30
    words = {text.text for text in ET.fromstring(figure.svg).iter(f"{SVG}text")}
    largest = np.argsort(-np.abs(model.coef_[0]))[:8]
    assert {str(j) for j in largest} <= words


def test_rankers_settings_and_names() -> None:
    X, y = load_digits(return_X_y=True)
    pytest.importorskip("pandas")
    import pandas as pd

    frame = pd.DataFrame(X[:300] / 16.0, columns=[f"pixel <{j}>" for j in range(64)])
    grid = {"loss": ["ap", "auc"]}
    model = RankSVMCV([1.0, 100.0], cv=3, loss_grid=grid).fit(frame, y[:300])
    for k in (0, 7):
        figures = path_figures(model, ranker=k)
        loss = model.best_params_[k]["loss"]
        assert f"loss={loss}, class {k}" in figures.scores.caption
        at = [i for i, params in enumerate(model.cv_results_["params"]) if params["loss"] == loss]
        np.testing.assert_allclose(
            column(figures.scores, "mean"), model.cv_scores_[at, :, k].mean(axis=1), rtol=1e-5
        )
        assert any(head.startswith("pixel <") for head in figures.coefficients.table.heads)
        for figure in figures:
            well_formed(figure)


def test_one_value_one_feature_and_an_unfinished_path(rng: np.random.Generator) -> None:
    X = rng.normal(size=(90, 1))
    y = (X[:, 0] + rng.normal(size=90) > 0.5).astype(int)
    for figure in path_figures(RankSVMCV([3.0], cv=3).fit(X, y)):
        well_formed(figure)
    for figure in path_figures(RankSVMCV([3.0, 3.5], cv=[(np.arange(60), np.arange(60, 90))]).fit(X, y)):
        well_formed(figure)
    count = [0]

    def enough(event: Any) -> bool:
        count[0] += 1
        return count[0] >= 12

    with pytest.warns(ConvergenceWarning):
        model = RankSVMCV(8, cv=3, callbacks=[enough]).fit(X, y)
    assert np.isnan(model.cv_scores_).any()
    for figure in path_figures(model):
        well_formed(figure)
    assert any("–" in row for row in path_figures(model).scores.table.rows)


@pytest.mark.parametrize("ranker", [1, -1, "a", True])
def test_what_is_no_ranker_is_named(model: RankSVMCV, ranker: Any) -> None:
    with pytest.raises(InputError, match="ranker: came as"):
        path_figures(model, ranker)


def test_what_is_no_search_is_named() -> None:
    with pytest.raises(InputError, match="model: came as RankSVM;"):
        path_figures(RankSVM())  # type: ignore[arg-type]
